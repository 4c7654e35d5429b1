"""Remove runtimes of guests that nobody names and nobody uses."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox.runtime import CARD, name_installed, read_card, runtime_home


@dataclass(frozen=True)
class Shelved:
    """A runtime that stands on this machine.

    Attributes
    ----------
    folder : Path
    digest : str
        Empty for what a killed build left.
    n_bytes : int
    kept : str or None
        Why it is kept; None when it was removed, or would be.
    """

    folder: Path
    digest: str
    n_bytes: int
    kept: str | None


def prune_runtimes(
    named: Collection[str] = (), *, home: Path | None = None, dry_run: bool = False
) -> list[Shelved]:
    """Remove every runtime but those that are named, in use, or this interpreter's own; and what builds left.

    Parameters
    ----------
    named : collection of str
        Digests to keep.
    home : Path, optional
        Where runtimes are kept on this machine.
    dry_run : bool
        Say what would be done, and remove nothing.

    Raises
    ------
    NeuroarenaError
        When a folder cannot be removed.
    """
    home = home or runtime_home()
    found = []
    for card in sorted(home.glob(f"*/{CARD}")):
        place, digest = card.parent, str(read_card(card.parent)["digest"])
        kept = "named" if digest in named else None
        kept = kept or ("this interpreter's own" if place.name == name_installed() else None)
        kept = kept or ("in use" if _is_locked(card) else None)
        found.append(Shelved(place, digest, _measure(place), kept))
    for place in sorted(home.glob(".building-*")):
        name = place.name.removeprefix(".building-").rpartition("-")[0]
        busy = _is_locked(home / f".{name}.lock")
        found.append(Shelved(place, "", _measure(place), "being built" if busy else None))
    for each in found:
        if each.kept is None and not dry_run:
            _remove(each.folder)
    return found


def _is_locked(file: Path) -> bool:
    """Return whether a process holds a lock on a file: it uses a runtime, or builds one."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def _remove(place: Path) -> None:
    try:
        # The card goes first: a tree that is half gone is not found any more.
        (place / CARD).unlink(missing_ok=True)
        shutil.rmtree(place)
    except OSError as error:
        raise NeuroarenaError(f"{place}: this runtime cannot be removed: {error.strerror}.") from error


def _measure(place: Path) -> int:
    return sum(path.lstat().st_size for path in place.rglob("*"))
