"""What to fetch: files of a server, and where their content belongs in a dataset's folder."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from neuroarena.errors import DiskFull, InputError, NeuroarenaError
from neuroarena.fingerprint import file_digest

_SHA256, _SHA1 = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")


class FetchError(NeuroarenaError):
    """One file could not be fetched; the others still can."""


class FetchStopped(FetchError):
    """Fetching ended early: no network, no space, or stopped by hand. Complete files were kept."""


class NoRoom(FetchStopped, DiskFull):
    """Fetching ended because the disk is full; as wherever a disk is full, the exit code is 2."""


@dataclass(frozen=True)
class RemoteFile:
    """One file of a server.

    Attributes
    ----------
    path : str
        Path below the server's base address; also the file's name in records.
    products : tuple of str
        Files of the dataset's folder that are wanted from it.
    archive : bool
        Whether it is a zip archive to unpack; else it is itself the one product.
    folder : str or None
        For an archive: the folder that all its content belongs in. None: only the products are unpacked,
        found by their names.
    unpacked_limit : int
        For an archive: the most bytes it may unpack to.
    sha256, sha1 : str or None
        Hash of the file as the server has it, where known; some publishers state a SHA-1 only.
    size : int or None
        Its size in bytes, where known.
    checked : bool
        Whether we ever tried the address.
    """

    path: str
    products: tuple[str, ...]
    archive: bool = False
    folder: str | None = None
    unpacked_limit: int = 2**30
    sha256: str | None = None
    size: int | None = None
    checked: bool = True
    sha1: str | None = None

    def __post_init__(self) -> None:
        for name in (self.path, *self.products, *([self.folder] if self.folder else [])):
            if not is_inside(name):
                raise InputError(f'"{name}" is not a path inside a folder: no "..", no "\\", not absolute.')
        if self.sha256 is not None and not _SHA256.fullmatch(self.sha256):
            raise InputError(
                f"{self.path}: sha256 must be 64 lower-case hexadecimal digits, got {self.sha256!r}."
            )
        if self.sha1 is not None and not _SHA1.fullmatch(self.sha1):
            raise InputError(
                f"{self.path}: sha1 must be 40 lower-case hexadecimal digits, got {self.sha1!r}."
            )
        if not self.archive and len(self.products) != 1:
            raise InputError(f"{self.path}: a file that is not an archive must have exactly one product.")

    @property
    def known_hash(self) -> str | None:
        """The hash that is stated, with its kind in front, as in ``sha1:13d2...``; None when none is."""
        if self.sha256 is not None:
            return f"sha256:{self.sha256}"
        return None if self.sha1 is None else f"sha1:{self.sha1}"

    def has_stated_hash(self, path: Path) -> bool:
        """Return whether a file has the hash that is stated; True when none is."""
        if self.sha256 is not None:
            return file_digest(path) == self.sha256
        if self.sha1 is None:
            return True
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha1").hexdigest() == self.sha1


@dataclass(frozen=True)
class FetchPlan:
    """What to fetch, and from where.

    Attributes
    ----------
    title : str
        The dataset's name, for people.
    base_url : str
        Address that the paths continue; http or https, ending in a slash.
    files : tuple of RemoteFile
        The files, in the order in which they are fetched.

    Raises
    ------
    InputError
        When the address is not one of http or https, or two files have the same path.
    """

    title: str
    base_url: str
    files: tuple[RemoteFile, ...]

    def __post_init__(self) -> None:
        try:
            parts = urlsplit(self.base_url)
        except ValueError:
            parts = urlsplit("")
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise InputError(
                f'"{self.base_url}" is not an address to fetch from. Expected http(s)://host/folder/, without ? and #.'
            )
        if not self.base_url.endswith("/"):
            object.__setattr__(self, "base_url", f"{self.base_url}/")
        paths = [file.path for file in self.files]
        if len(set(paths)) != len(paths):
            raise InputError(f"{self.title}: a file is in the plan twice.")

    def url(self, file: RemoteFile) -> str:
        """Return the address of a file.

        Examples
        --------
        >>> FetchPlan("Some", "https://example.org/data", ()).url(RemoteFile("a/b.json", ("b.json",)))
        'https://example.org/data/a/b.json'
        """
        return f"{self.base_url}{file.path}"


def is_inside(name: str) -> bool:
    r"""Return whether a relative path with forward slashes stays inside the folder it starts from.

    Examples
    --------
    >>> [is_inside(name) for name in ("a/b.csv", "../b", "/b", "a/../../b", "C:/b", "a\\b", "")]
    [True, False, False, False, False, False, False]
    """
    if not name or "\\" in name or "\0" in name or name.startswith("/"):
        return False
    parts = PurePosixPath(name).parts
    # A colon is a drive or an alternate stream on Windows; no published file needs one.
    return bool(parts) and ".." not in parts and not any(":" in part for part in parts)
