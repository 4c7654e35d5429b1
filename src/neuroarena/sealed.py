"""Folders whose entries cannot lie: each carries a checksum of its content and of its own name.

An entry ends in a seal: eight bytes that say so, then the SHA-256 of the entry's name and content. It is checked
whenever the entry is read. A damaged entry is set aside and reported, and counts as missing from then on.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import logging
import mmap
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from neuroarena.atomic import naming_full_disk, replacing, sweep

UNFINISHED, DAMAGED = "unfinished", "damaged"
MARK = b"\nNASEAL1"
SEAL_BYTES = len(MARK) + hashlib.sha256().digest_size

_CHUNK = 2**20
_Identity = tuple[str, int, int, int, int]
# What is wrong with an entry, or its content.
_Found = tuple[str | None, memoryview | None]


class SealedWriter:
    """What the content of an entry is written to; it is hashed on the way."""

    def __init__(self, file: BinaryIO, name: str) -> None:
        self._file, self._hash = file, _begin_hash(name)

    def write(self, data: bytes | memoryview) -> int:
        """Write some bytes."""
        self._hash.update(data)
        return self._file.write(data)

    def close_with_seal(self) -> None:
        """Write the seal."""
        self._file.write(MARK + self._hash.digest())


@dataclass(frozen=True)
class SealedFolder:
    """A folder of sealed entries, found by their names: paths below it, with slashes.

    Several processes, on several machines too, may use it at once: an entry appears whole, the first writer wins,
    and what is read is checked.

    Parameters
    ----------
    root : Path
        Made when something is first written.

    Examples
    --------
    >>> import tempfile
    >>> folder = SealedFolder(Path(tempfile.mkdtemp()))
    >>> folder.write("notes/one", b"content")
    >>> bytes(folder.read("notes/one")), folder.read("notes/two")
    (b'content', None)
    """

    root: Path

    def path(self, name: str) -> Path:
        """Return the file of an entry."""
        return self.root / name

    def __contains__(self, name: str) -> bool:
        return self.path(name).exists()

    @contextlib.contextmanager
    def writing(self, name: str, is_good: Callable[[], bool] | None = None) -> Iterator[SealedWriter]:
        """Yield a writer; the entry is there, completely, when the block ends without an error.

        An entry that another writer finished meanwhile stays if it is good: by default, if it is not damaged.

        Raises
        ------
        DiskFull
            When there is no room; nothing is left of the entry then.
        """
        with (
            naming_full_disk(self.root, name),
            replacing(
                self.path(name), self.root / UNFINISHED, is_good or (lambda: self.check(name) is None)
            ) as temporary,
            open(temporary, "wb", buffering=2**20) as file,
        ):
            writer = SealedWriter(file, name)
            yield writer
            writer.close_with_seal()

    def write(self, name: str, content: bytes | memoryview) -> None:
        """Store an entry, completely or not at all; other content of another writer stays and is reported."""

        def is_good() -> bool:
            found = self.read(name)
            if found is not None and found != content:
                report(
                    f"{self.path(name)}: two processes computed different content for this entry; the first stays."
                )
            return found is not None

        with self.writing(name, is_good) as writer:
            writer.write(content)

    def read(self, name: str) -> memoryview | None:
        """Return the content of an entry, or None when there is none or when it was damaged."""
        return self._take(name, _read_content)

    def map(self, name: str) -> memoryview | None:
        """Return the content of an entry without copying it into memory; None as in :meth:`read`.

        It is checked when this process first maps it, and again after it changed.
        """
        return self._take(name, _map_content)

    def check(self, name: str) -> str | None:
        """Return what is wrong with an entry, or None; nothing is changed."""
        try:
            with open(self.path(name), "rb") as file:
                return _fault_of_file(name, file)
        except FileNotFoundError:
            return None
        except OSError as error:
            return f"it cannot be read ({error.strerror})"

    def remove(self, name: str) -> None:
        """Remove an entry, if it is there."""
        self.path(name).unlink(missing_ok=True)

    def set_aside(self, name: str, why: str, identity: _Identity | None = None) -> None:
        """Move a damaged entry to the folder ``damaged``, and report it.

        Parameters
        ----------
        name : str
        why : str
            What is wrong with it.
        identity : tuple, optional
            The file that was read; if another process has replaced it since then, the new one stays.
        """
        path, shelf = self.path(name), self.root / DAMAGED
        now = f"it was moved to {shelf} and is computed again"
        try:
            if identity is None or identity == _identity(path):
                shelf.mkdir(exist_ok=True)
                os.replace(path, shelf / name.replace("/", "--"))
            else:
                now = "another process has replaced it since then"
        except FileNotFoundError:
            now = "another process has removed it since then"
        except OSError:
            # No room for the move, or no right to it: what is computed again takes its place.
            now = "it is computed again and replaced"
        report(f"{path}: this entry of the cache is damaged: {why}; {now}.")

    def sweep(self) -> list[Path]:
        """Remove unfinished files of processes that are gone."""
        return sweep(self.root / UNFINISHED)

    def _take(self, name: str, take: Callable[[str, BinaryIO, _Identity], _Found]) -> memoryview | None:
        """Open an entry and take its content; set it aside when there is something wrong with it."""
        path, identity = self.path(name), None
        try:
            with open(path, "rb") as file:
                identity = _identity(path, file.fileno())
                fault, content = take(name, file, identity)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EIO:
                raise
            fault, content = f"the disk cannot read it ({error.strerror})", None
        if fault is not None:
            self.set_aside(name, fault, identity)
        return content


_checked: set[_Identity] = set()
_listeners: list[Callable[[str], None]] = []


def report(text: str) -> None:
    """Report a damaged entry to the innermost listener, or as a warning of the logger ``neuroarena``."""
    if _listeners:
        _listeners[-1](text)
    else:
        logging.getLogger("neuroarena").warning("%s", text)


@contextlib.contextmanager
def reporting_to(listener: Callable[[str], None]) -> Iterator[None]:
    """Send reports of damaged entries to a function while the block runs."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.pop()


def _begin_hash(name: str) -> hashlib._Hash:
    return hashlib.sha256(MARK + name.encode("utf-8") + b"\0")


def _fault(name: str, seal: bytes | memoryview, content: Iterable[bytes | memoryview]) -> str | None:
    """Return what is wrong with an entry: the one rule of what a seal must be."""
    if seal[: len(MARK)] != MARK:
        return "it does not end in a seal, so it was cut or overwritten"
    found = _begin_hash(name)
    for chunk in content:
        found.update(chunk)
    return None if found.digest() == seal[len(MARK) :] else "its content does not match its checksum"


def _read_content(name: str, file: BinaryIO, _: _Identity) -> _Found:
    data = memoryview(file.read())
    fault = _fault(name, data[-SEAL_BYTES:], [data[:-SEAL_BYTES]])
    return fault, None if fault else data[:-SEAL_BYTES]


def _map_content(name: str, file: BinaryIO, identity: _Identity) -> _Found:
    if identity not in _checked:
        # Read, not mapped: where the disk fails, reading is an error, and touching a map ends the process.
        fault = _fault_of_file(name, file)
        if fault is not None:
            return fault, None
        _checked.add(identity)
    return None, memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))[:-SEAL_BYTES]


def _fault_of_file(name: str, file: BinaryIO) -> str | None:
    size = os.fstat(file.fileno()).st_size - SEAL_BYTES
    if size < 0:
        return _fault(name, b"", ())
    file.seek(size)
    seal = file.read()
    file.seek(0)
    return _fault(name, seal, (file.read(min(_CHUNK, size - at)) for at in range(0, size, _CHUNK)))


def _identity(path: Path, descriptor: int | None = None) -> _Identity:
    status = os.stat(path if descriptor is None else descriptor)
    return str(path), status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino
