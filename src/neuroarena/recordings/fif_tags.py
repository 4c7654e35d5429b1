"""The tags of a FIF file: enough to tell a complete file from a truncated one."""

from __future__ import annotations

import struct
from pathlib import Path

_HEADER = struct.Struct(">iiii")  # kind, type, bytes of content, place of the next tag
_BLOCK_START, _BLOCK_END = 104, 105
_FOLLOWS, _LAST = 0, -1


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
