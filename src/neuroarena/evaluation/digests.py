"""Digests of a kept result: its record says the SHA-256 of each file beside it, and of its own content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest

RECORD = "record.json"
DIGESTS = "digests"


class DamagedResult(InputError):
    """A kept result is not what was written."""

    def __init__(self, path: Path, what: str) -> None:
        super().__init__(
            f"{path}: this result is damaged: {what}. Run or score it again, which puts a good one in its place, "
            f"or take it off the boards with: neuroarena results remove {path.parent}"
        )


def add_digests(plain: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Return a record with the digests of all files in its folder and of itself."""
    files = {path.name: _hash_file(path) for path in sorted(folder.iterdir()) if path.name != RECORD}
    return replace_digests(plain, files)


def replace_digests(plain: Mapping[str, Any], digests: Mapping[str, str]) -> dict[str, Any]:
    """Return a record with these digests of files, and the digest of what it says now."""
    files = {name: value for name, value in digests.items() if name != RECORD}
    said = {**plain, DIGESTS: files}
    return {**said, DIGESTS: {**files, RECORD: digest(said)}}


def take_digests(plain: Any, path: Path) -> tuple[Any, dict[str, str]]:
    """Separate a record from its digests, and check the one of the record itself.

    Parameters
    ----------
    plain
        What the file holds.
    path : Path
        The file.

    Returns
    -------
    plain, digests
        The record, and file name -> SHA-256: empty for a record of a version that wrote none.

    Raises
    ------
    DamagedResult
        When the record is not what was written.
    """
    if not isinstance(plain, dict) or DIGESTS not in plain:
        return plain, {}
    rest = {name: value for name, value in plain.items() if name != DIGESTS}
    digests = plain[DIGESTS]
    try:
        whole = replace_digests(rest, digests) == plain
    except (AttributeError, TypeError, ValueError, RecursionError):
        whole = False
    if not whole:
        raise DamagedResult(path, "the record does not match its own SHA-256")
    return rest, dict(digests)


def check_file(path: Path, digests: Mapping[str, str]) -> bool:
    """Return whether a file of a result is there, and check it where its digest is known.

    Raises
    ------
    DamagedResult
        When it is not what was written, or is gone.
    """
    known = digests.get(path.name)
    there = path.exists()
    if known is not None and not there:
        raise DamagedResult(path, f"the file is missing, and {RECORD} names it")
    if known is not None and _hash_file(path) != known:
        raise DamagedResult(path, f"its content does not match the SHA-256 in {RECORD}")
    return there


def _hash_file(path: Path) -> str:
    # Never a remembered digest: a disk changes bytes without changing times.
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
