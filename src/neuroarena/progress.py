"""Progress of long work, on standard error, with the time that remains."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Protocol


class Progress(Protocol):
    """Something that is told how far a run has come."""

    def begin(self, stage: str, total: int, done: int = 0) -> None:
        """Start a stage of `total` steps, of which `done` need no work."""
        ...

    def advance(self, stage: str) -> None:
        """One step of a stage has ended."""
        ...


class Silence:
    """Progress that says nothing."""

    def begin(self, stage: str, total: int, done: int = 0) -> None:
        """Say nothing."""

    def advance(self, stage: str) -> None:
        """Say nothing."""


class TerminalProgress:
    """A bar for each stage on a terminal; a line every ten seconds elsewhere."""

    _LINE_EVERY_S = 10.0

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        console = Console(stderr=True)
        self._bars = None
        if console.is_terminal:
            self._bars = Bars(
                TextColumn("{task.description:>9}"),
                BarColumn(),
                MofNCompleteColumn(),
                TimeRemainingColumn(),
                console=console,
                transient=True,
            )
        self._tasks: dict[str, Any] = {}
        self._steps: dict[str, list[float]] = {}

    def __enter__(self) -> TerminalProgress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def begin(self, stage: str, total: int, done: int = 0) -> None:
        """Show a stage."""
        if self._bars is not None:
            self._tasks[stage] = self._bars.add_task(stage, total=total, completed=done)
        elif total > done:
            now = time.monotonic()
            self._steps[stage] = [total, done, done, now, now]
            print(f"{stage}: {total - done} to do, {done} done before", file=sys.stderr)

    def advance(self, stage: str) -> None:
        """Move a stage on by one step."""
        if self._bars is not None:
            self._bars.advance(self._tasks[stage])
            return
        state = self._steps[stage]
        state[2] += 1
        total, before, done, started, said = state
        now = time.monotonic()
        if now - said >= self._LINE_EVERY_S or done == total:
            state[4] = now
            remaining = (now - started) / (done - before) * (total - done)
            print(f"{stage}: {done:.0f} of {total:.0f}, about {remaining:.0f} s to go", file=sys.stderr)
