"""Files whose content is kept elsewhere: links and pointers of git-annex (DataLad) and pointers of Git LFS."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from neuroarena.errors import InputError

# A pointer of git-annex holds "/annex/objects/<key>"; one of Git LFS begins with the address of its specification.
_ANNEX_POINTER = b"/annex/objects/"
_ANNEX_LINK = "annex/objects"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_POINTER_BYTES = 32 * 1024
_COMMANDS = {"git-annex": "datalad get", "Git LFS": "git lfs pull --include"}
# The samples of these headers lie in a file of their own.
_SAMPLES = {".vhdr": (".eeg", ".dat"), ".set": (".fdt",)}
_ROOT_MARKS = (".datalad", ".git", "dataset_description.json")


class ContentNotFetched(InputError):
    """A file is listed but its content was never fetched."""


def keeper_of(path: str | Path) -> str | None:
    """Return who keeps the content of a file that is not here: "git-annex", "Git LFS", or None when it is here.

    A link of git-annex that leads to nothing counts, and so does a small file that holds only a pointer.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "sub-01_eeg.bdf"
    >>> _ = file.write_text("/annex/objects/MD5E-s233096448--10ef3d91e5dcfef46ae3f82ed5fcab3e.bdf")
    >>> keeper_of(file)
    'git-annex'
    """
    try:
        if os.path.islink(path) and not os.path.exists(path):
            return "git-annex" if _ANNEX_LINK in os.readlink(path).replace("\\", "/") else None
        if not os.path.isfile(path) or os.path.getsize(path) > _POINTER_BYTES:
            return None
        with open(path, "rb") as file:
            begin = file.read(len(_LFS_POINTER))
    except (OSError, ValueError):
        return None  # whoever reads the file says why it cannot be read
    if begin.startswith(_ANNEX_POINTER):
        return "git-annex"
    return "Git LFS" if begin == _LFS_POINTER else None


def check_content(path: Path) -> None:
    """Check that the content of a file is here, and that of the file with its samples where it has one.

    Raises
    ------
    ContentNotFetched
        Naming the file, how many others of the dataset lack theirs too, and the command that fetches them.
    """
    parts = (path, *(path.with_suffix(suffix) for suffix in _SAMPLES.get(path.suffix.lower(), ())))
    for part in parts:
        keeper = keeper_of(part)
        if keeper is not None:
            root = _dataset_of(part)
            others = sum(other.suffix == part.suffix for other, _ in iter_unfetched(root)) - 1
            like = f", nor that of {others} other {part.suffix} files of {root}" if others > 0 else ""
            raise ContentNotFetched(
                f"{part}: content not fetched from {keeper}{like}. "
                f"Run `{_COMMANDS[keeper]} {part.relative_to(root).as_posix()}` in {root}."
            )


def describe_unfetched(folder: str | Path) -> str | None:
    """Return one sentence on how many files of a folder lack their content; None when they all have it."""
    absent = list(iter_unfetched(Path(folder)))
    if not absent:
        return None
    first, keeper = absent[0]
    count = "1 file" if len(absent) == 1 else f"{len(absent)} files"
    return (
        f"content not fetched: {count} of the folder {'is' if len(absent) == 1 else 'are'} only a link or a pointer "
        f"of {keeper}, the first is {first.relative_to(folder).as_posix()}. Run `{_COMMANDS[keeper]} .` in the folder."
    )


def iter_unfetched(folder: Path) -> Iterator[tuple[Path, str]]:
    """Iterate over the files below a folder that lack their content, with who keeps it, in the order of names."""
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place, name)
            keeper = keeper_of(path)
            if keeper is not None:
                yield path, keeper


def _dataset_of(path: Path) -> Path:
    """Find the folder of the dataset that a file belongs to; its own folder when nothing marks one."""
    for folder in path.parents:
        if any((folder / mark).exists() for mark in _ROOT_MARKS):
            return folder
    return path.parent
