"""Progress of a download on standard error: bytes, speed and the time that remains."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Protocol


class FetchProgress(Protocol):
    """Something that is told how far a download has come."""

    def begin(self, file: str, size: int | None, have: int) -> None:
        """Start a file of `size` bytes (None: unknown), of which `have` are here already."""
        ...

    def move(self, count: int) -> None:
        """So many bytes of the file came in; less than none when it starts over."""
        ...

    def say(self, text: str) -> None:
        """Tell something about the file in a line."""
        ...


class NoProgress:
    """Progress that says nothing."""

    def begin(self, file: str, size: int | None, have: int) -> None:
        """Say nothing."""

    def move(self, count: int) -> None:
        """Say nothing."""

    def say(self, text: str) -> None:
        """Say nothing."""


class TerminalFetchProgress:
    """A bar on a terminal, a line every ten seconds elsewhere; both with the time all files still need.

    Parameters
    ----------
    total : int or None
        Bytes of all files together; None when the server did not tell.
    have : int
        Bytes that are here already.
    """

    _LINE_EVERY_S = 10.0

    def __init__(self, total: int | None, have: int = 0) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.progress import Progress as Bars

        console = Console(stderr=True)
        self._total, self._have, self._came = total, have, 0
        self._started = self._said = time.monotonic()
        self._file, self._done = "", 0
        self._size: int | None = None
        self._bars: Bars | None = None
        self._task: Any = None
        if console.is_terminal:
            columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
            self._bars = Bars(*columns, TimeRemainingColumn(), console=console, transient=True)
            self._task = self._bars.add_task("", total=total, completed=have)

    def __enter__(self) -> TerminalFetchProgress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def begin(self, file: str, size: int | None, have: int) -> None:
        """Show a file."""
        self._file, self._size, self._done = file.rpartition("/")[2], size, have
        if self._bars is not None:
            self._bars.update(self._task, description=self._file)
        else:
            before = f", {readable_size(have)} here already" if have else ""
            self.say(f"{readable_size(size)}{before}")

    def move(self, count: int) -> None:
        """Move the bar, or print a line when it is time for one."""
        self._came += count
        self._done += count
        if self._bars is not None:
            self._bars.advance(self._task, count)
            return
        now = time.monotonic()
        if now - self._said >= self._LINE_EVERY_S:
            self._said = now
            self.say(self._line(now - self._started))

    def _line(self, elapsed_s: float) -> str:
        speed = max(self._came, 1) / max(elapsed_s, 1e-3)
        line = f"{readable_size(self._done)} of {readable_size(self._size)}, {readable_size(int(speed))}/s"
        if self._total is not None:
            left_s = max(self._total - self._have - self._came, 0) / speed
            line += f", about {readable_time(left_s)} to go for all files"
        return line

    def say(self, text: str) -> None:
        """Print a line about the file."""
        if self._bars is not None:
            self._bars.console.print(f"{self._file}: {text}", markup=False, highlight=False)
        else:
            print(f"{self._file}: {text}", file=sys.stderr, flush=True)


def readable_size(count: int | None) -> str:
    """Write a number of bytes for people.

    Examples
    --------
    >>> readable_size(999), readable_size(5_234_000_000), readable_size(None)
    ('999 B', '5.2 GB', 'unknown size')
    """
    if count is None:
        return "unknown size"
    if count < 1000:
        return f"{count} B"
    for power, unit in ((9, "GB"), (6, "MB")):
        if count >= 999.95 * 10 ** (power - 3):
            return f"{count / 10**power:.1f} {unit}"
    return f"{count / 1000:.1f} kB"


def readable_time(seconds: float) -> str:
    """Write a stretch of time for people.

    Examples
    --------
    >>> readable_time(42), readable_time(600), readable_time(8000)
    ('42 s', '10 min', '2.2 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
