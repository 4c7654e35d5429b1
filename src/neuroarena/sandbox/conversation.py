"""Talk to a guest: ask, wait for one answer, and trust nothing about it that was not checked."""

from __future__ import annotations

from collections.abc import Mapping
from types import TracebackType
from typing import Any

import numpy as np

from neuroarena.sandbox.backends import choose_backend
from neuroarena.sandbox.child import Child
from neuroarena.sandbox.guest.wire import MOST_HEADER, PREFIX_BYTES, Message, frame, message, prefix
from neuroarena.sandbox.job import Control, Job
from neuroarena.sandbox.limits import Isolation, Limits, Outcome


class Silent(Exception):
    """The guest ended without an answer; the outcome says how."""


class Conversation:
    """A channel to a guest that runs in isolation. Use it in a ``with`` block: leaving ends the guest.

    Parameters
    ----------
    job : Job
        What to run: a guest that speaks the messages of `neuroarena.sandbox.guest.wire`.
    limits : Limits
        What it may use.
    isolation : {"bubblewrap", "none"} or None, default None
        How it is isolated; by default in bubblewrap.
    control : Control, optional
        How the caller can end it early.
    """

    def __init__(
        self, job: Job, limits: Limits, isolation: Isolation | None = None, control: Control | None = None
    ) -> None:
        self._child = Child(job, limits, choose_backend(isolation), talk=True, control=control)

    def __enter__(self) -> Conversation:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._child.close()

    def ask(
        self,
        kind: str,
        fields: Mapping[str, Any] | None = None,
        array: np.ndarray | None = None,
        *,
        most_bytes: int = 0,
    ) -> Message:
        """Send a message and wait for the answer; a guest that spoke before it was asked is stopped.

        Parameters
        ----------
        kind, fields, array
            The message.
        most_bytes : int, default 0
            Most bytes of numbers the answer may hold.

        Raises
        ------
        Stopped
            When a limit was exceeded.
        Silent
            When the guest ended instead of answering.
        BadFrame
            When what it sent is not a message, or is too long.
        """
        self._child.take_unasked()
        return self._receive(frame(kind, fields, array), most_bytes)

    def listen(self, *, most_bytes: int = 0) -> Message:
        """Wait for a message without asking; raises as `ask` does."""
        return self._receive(b"", most_bytes)

    def _receive(self, outgoing: bytes, most_bytes: int) -> Message:
        buffer = self._child.incoming
        self._child.room = PREFIX_BYTES + MOST_HEADER + most_bytes

        def complete() -> bool:
            if len(buffer) < PREFIX_BYTES:
                return False
            return len(buffer) >= PREFIX_BYTES + sum(prefix(bytes(buffer[:PREFIX_BYTES]), most_bytes))

        if not self._child.pump(outgoing, complete):
            raise Silent
        header, body = prefix(bytes(buffer[:PREFIX_BYTES]), most_bytes)
        middle, end = PREFIX_BYTES + header, PREFIX_BYTES + header + body
        received = message(bytes(buffer[PREFIX_BYTES:middle]), bytes(buffer[middle:end]))
        del buffer[:end]
        return received

    def outcome(self) -> Outcome:
        """End the guest immediately and return the outcome."""
        return self._child.outcome()
