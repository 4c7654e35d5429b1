"""The tags of a FIF file: enough to tell a complete file from a truncated one, and a part from a whole."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from pathlib import Path

_HEADER = struct.Struct(">iiii")  # kind, type, bytes of content, place of the next tag
_BLOCK_START, _BLOCK_END = 104, 105
_FOLLOWS, _LAST = 0, -1
# A reference to another file: what it is for, and its name.
_ROLE, _NAME, _NEXT_FILE = 115, 118, 2
_NUMBER = struct.Struct(">i")


def check_fif(path: Path) -> None:
    """Walk the tags of a FIF file from its first to its last.

    MNE-Python reads a truncated file as if it were a shorter one; a complete file ends with a tag
    that says so, or at least has closed every block it opened.

    Raises
    ------
    ValueError
        When the file ends inside a tag or an open block.
    """
    size = path.stat().st_size
    place, depth = 0, 0
    with open(path, "rb") as file:
        while place < size:
            file.seek(place)
            header = file.read(_HEADER.size)
            if len(header) < _HEADER.size:
                break
            kind, _, length, following = _HEADER.unpack(header)
            depth += (kind == _BLOCK_START) - (kind == _BLOCK_END)
            end = place + _HEADER.size + length
            if length < 0 or end > size:
                break
            if following == _LAST:
                return
            if following != _FOLLOWS and following <= place:
                raise ValueError(f"{path.name} has a tag at {place} that leads back to {following}")
            place = end if following == _FOLLOWS else following
    if depth or place != size:
        raise ValueError(f"{path.name} ends inside a tag or block: it is cut short after {size} bytes")


def leave_out_parts(files: Iterable[Path]) -> list[Path]:
    """Leave out files that another one names as its continuation: MNE-Python reads them with that one.

    A recording, or epochs, of more than 2 GB is saved in parts: ``x_raw.fif``, ``x_raw-1.fif`` and so on. Read by
    itself, a part would hold windows a second time, and a split could put one of the two on each side.
    """
    listed = list(files)
    parts = {name for file in listed for name in _parts_of(file)}
    return [file for file in listed if file.absolute() not in parts]


def _parts_of(file: Path) -> Iterator[Path]:
    if file.suffix.lower() != ".fif" or not file.is_file():
        return
    wanted = False
    for kind, content in _read_small(file, (_ROLE, _NAME)):
        if kind == _ROLE:
            wanted = len(content) == _NUMBER.size and _NUMBER.unpack(content)[0] == _NEXT_FILE
        elif wanted:
            yield file.absolute().with_name(Path(content.decode("latin-1")).name)


def _read_small(path: Path, kinds: tuple[int, ...]) -> Iterator[tuple[int, bytes]]:
    """Iterate over tags of some kinds, as far as a file can be followed."""
    size, place = path.stat().st_size, 0
    with open(path, "rb") as file:
        while 0 <= place <= size - _HEADER.size:
            file.seek(place)
            kind, _, length, following = _HEADER.unpack(file.read(_HEADER.size))
            end = place + _HEADER.size + length
            if length < 0 or end > size or (following not in (_FOLLOWS, _LAST) and following <= place):
                return
            if kind in kinds and length:
                yield kind, file.read(length)
            if following == _LAST:
                return
            place = end if following == _FOLLOWS else following
