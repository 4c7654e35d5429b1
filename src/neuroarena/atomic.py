"""Write files and folders completely or not at all, and clear away what a killed process left."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import shutil
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from neuroarena.errors import DiskFull

try:
    import fcntl
except ImportError:  # no such locks on Windows; leftovers are then known by their age alone
    fcntl = None  # type: ignore[assignment]

PART = ".part"
# Of another machine, or of a disk without locks, nobody can ask whether the writer still lives.
_OLD_S = 24 * 3600.0
# What disks without hard links say.
_NO_LINKS = {
    errno.EPERM,
    errno.ENOTSUP,
    errno.EOPNOTSUPP,
    errno.ENOSYS,
    errno.EMLINK,
    errno.EXDEV,
    errno.EACCES,
}
FULL_DISK = {errno.ENOSPC: "the disk is full", errno.EDQUOT: "the quota on this disk is used up"}


@contextlib.contextmanager
def replacing(
    path: str | Path, workshop: Path | None = None, is_good: Callable[[], bool] | None = None
) -> Iterator[Path]:
    """Yield a temporary path that replaces `path` when the block ends without an error.

    The file is flushed to disk before it is renamed, so that after a crash `path` holds either
    its old content or all of the new content. While it is written, the temporary file is locked:
    :func:`sweep` removes those whose writer is gone.

    Parameters
    ----------
    path : path
    workshop : Path, optional
        Folder for the temporary file, if it is on the same disk; by default the folder of `path`, from which
        leftovers of earlier attempts to write `path` are removed.
    is_good : callable, optional
        Where several machines write the same content: the first one to finish wins, and a `path` that exists by then
        stays if this returns True. Replacing a file that another machine has mapped could take it away there.

    Raises
    ------
    DiskFull
        When there is no room; `path` is as it was.

    Examples
    --------
    >>> import tempfile
    >>> target = Path(tempfile.mkdtemp()) / "table.csv"
    >>> with replacing(target) as temporary:
    ...     _ = temporary.write_text("a,b")
    >>> target.read_text()
    'a,b'
    """
    path = Path(path)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, "Is a directory, expected a file", str(path))
    with naming_full_disk(path.parent, path.name):
        path.parent.mkdir(parents=True, exist_ok=True)
        place = _workshop(path, workshop)
        with holding(place, path.name) as temporary:
            yield temporary
            with open(temporary, "rb") as written:
                os.fsync(written.fileno())
            # mkstemp makes the file private; what is published gets the mode any new file would have.
            temporary.chmod(0o666 & ~_umask())
            _publish(temporary, path, is_good)


@contextlib.contextmanager
def holding(folder: Path, name: str) -> Iterator[Path]:
    """Yield a private temporary file in a folder, locked as long as its writer lives, and gone after the block.

    For files whose name is known only when they are written, such as those kept by their content.
    """
    descriptor, temporary = _make(_make_file, folder, name)
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)
        _close(descriptor)


def _publish(temporary: Path, path: Path, is_good: Callable[[], bool] | None) -> None:
    if is_good is not None:
        try:
            os.link(temporary, path)
            return
        except FileExistsError:
            # Another writer was first, or a file server answered a link that it had made already.
            if is_good():
                return
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
    os.replace(temporary, path)


def write_bytes(path: str | Path, data: bytes) -> None:
    """Write `data` to `path`, completely or not at all."""
    with replacing(path) as temporary:
        temporary.write_bytes(data)


def write_text(path: str | Path, text: str) -> None:
    """Write `text` to `path` as UTF-8, completely or not at all."""
    write_bytes(path, text.encode("utf-8"))


def write_json(path: str | Path, value: Any) -> None:
    """Write `value` to `path` as indented JSON; NaN and infinity are refused."""
    write_text(path, json.dumps(value, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


@contextlib.contextmanager
def building(target: Path) -> Iterator[Path]:
    """Yield an empty folder beside `target`, to be filled and renamed to it within the block.

    What is left of it at the end of the block is removed. It is locked as temporary files are, and
    leftovers of earlier attempts to build `target` are removed.

    Raises
    ------
    DiskFull
        When there is no room.
    """
    with naming_full_disk(target.parent, target.name):
        target.parent.mkdir(parents=True, exist_ok=True)
        sweep(target.parent, target.name)
        descriptor, folder = _make(_make_folder, target.parent, target.name)
        try:
            folder.chmod(0o777 & ~_umask())
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)
            _close(descriptor)


@contextlib.contextmanager
def naming_full_disk(folder: Path, what: str) -> Iterator[None]:
    """Turn the system's complaint that a disk is full into one sentence about a folder.

    Raises
    ------
    DiskFull
        Instead of any error that means this, also of one that names another folder.
    """
    try:
        yield
    except DiskFull as error:
        raise DiskFull(_full_sentence(folder, what, error.errno), error.errno) from error
    except OSError as error:
        if error.errno not in FULL_DISK:
            raise
        raise DiskFull(_full_sentence(folder, what, error.errno), error.errno) from error


def _full_sentence(folder: Path, what: str, number: int) -> str:
    return (
        f"{folder}: {FULL_DISK[number]}, so {what} was not written; make room or name another folder, and run the same "
        "command again: what was finished is kept."
    )


def sweep(
    folder: Path, name: str | None = None, before: Callable[[Path], object] | None = None
) -> list[Path]:
    """Remove the temporary files and folders of processes that are gone, and return their paths.

    Those of a living process are locked by it and stay. Where locks cannot tell (another machine, a disk without
    locks), what was not touched for a day goes.

    Parameters
    ----------
    folder : Path
        Only what is directly in it is looked at.
    name : str, optional
        Only leftovers of this target.
    before : callable, optional
        Called with each leftover before it is removed.
    """
    start = "." if name is None else f".{_short(name)}."
    try:
        found = [entry for entry in os.listdir(folder) if entry.startswith(start) and entry.endswith(PART)]
    except OSError:
        return []
    return [folder / entry for entry in sorted(found) if _remove_if_abandoned(folder / entry, before)]


def _remove_if_abandoned(path: Path, before: Callable[[Path], object] | None) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return False
    try:
        if not _is_abandoned(path, descriptor):
            return False
        if before is not None:
            before(path)
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)
    except OSError:  # removed by another sweep, or not ours to remove
        return False
    finally:
        os.close(descriptor)
    return not path.exists()


def _is_abandoned(path: Path, descriptor: int) -> bool:
    """Ask the lock, if it can be asked, else the age; the lock stays taken until the descriptor is closed."""
    can_tell = fcntl is not None and path.name.removesuffix(PART)[:-_RANDOM_LENGTH].endswith(_HERE)
    if fcntl is not None:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            can_tell = False
    return can_tell or _is_old(path)


def _is_old(path: Path) -> bool:
    newest = max(
        (each.lstat().st_mtime for each in (path, *(path.rglob("*") if path.is_dir() else ()))), default=0.0
    )
    return time.time() - newest > _OLD_S


# Machines that share a folder tell their temporary files apart by this.
_HERE = hashlib.sha256(socket.gethostname().encode("utf-8", "replace")).hexdigest()[:6] + "-"
_RANDOM_LENGTH = 8


def _short(name: str) -> str:
    return name[:60]


def _workshop(path: Path, workshop: Path | None) -> Path:
    """Choose where the temporary file goes: a rename works within one disk only."""
    if workshop is not None:
        workshop.mkdir(parents=True, exist_ok=True)
        if workshop.stat().st_dev == path.parent.stat().st_dev:
            return workshop
    sweep(path.parent, path.name)
    return path.parent


def _make(make: Callable[[str, Path], tuple[int, str]], folder: Path, name: str) -> tuple[int | None, Path]:
    """Make something temporary and lock it; a sweep that came between the two costs another try."""
    while True:
        descriptor, made = make(f".{_short(name)}.{_HERE}", folder)
        if fcntl is None:  # an open file can be neither renamed nor removed on Windows
            os.close(descriptor)
            return None, Path(made)
        with contextlib.suppress(OSError):  # a disk without locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor, Path(made)
        os.close(descriptor)


def _make_file(prefix: str, folder: Path) -> tuple[int, str]:
    return tempfile.mkstemp(prefix=prefix, suffix=PART, dir=folder)


def _make_folder(prefix: str, folder: Path) -> tuple[int, str]:
    made = tempfile.mkdtemp(prefix=prefix, suffix=PART, dir=folder)
    return os.open(made if fcntl is not None else os.devnull, os.O_RDONLY), made


def _close(descriptor: int | None) -> None:
    if descriptor is not None:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
