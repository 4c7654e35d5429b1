"""The guest's end of the channel, taken from standard input and output before anyone else can write there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from neuroarena.sandbox.guest.wire import PREFIX_BYTES, Message, frame, message, prefix
else:
    # By its plain name: in here nothing is called neuroarena.
    from wire import PREFIX_BYTES, Message, frame, message, prefix

_MOST_BODY = 2**31
_MOST_HEADER = 2**20


class Channel:
    """Messages to and from the host.

    Anything printed from now on goes to the log: descriptors 0 and 1 are taken away, and the copies are closed
    in programs that are started.
    """

    def __init__(self) -> None:
        self._in, self._out = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)

    def receive(self) -> Message | None:
        """Wait for the next message; None when the host is done."""
        begin = self._read(PREFIX_BYTES)
        if begin is None:
            return None
        header, body = prefix(begin, _MOST_BODY, _MOST_HEADER)
        head, rest = self._read(header), self._read(body)
        return None if head is None or rest is None else message(head, rest)

    def send(
        self, kind: str, fields: Mapping[str, Any] | None = None, array: np.ndarray | None = None
    ) -> None:
        """Send a message."""
        data = memoryview(frame(kind, fields, array))
        while data:
            data = data[os.write(self._out, data) :]

    def _read(self, length: int) -> bytes | None:
        parts, missing = [], length
        while missing:
            part = os.read(self._in, min(missing, 2**20))
            if not part:
                return None
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)
