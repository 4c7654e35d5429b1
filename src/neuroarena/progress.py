"""Report the progress of long work on standard error, with the time that remains."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol


class Progress(Protocol):
    """An observer of a piece of work: stages made of steps, or files made of bytes."""

    def begin(self, stage: str, total: int | None, done: int = 0) -> None:
        """Start a stage of `total` steps (None: unknown), of which `done` need no work."""
        ...

    def advance(self, stage: str, count: int = 1) -> None:
        """Record that `count` steps of a stage have ended; a negative number when it starts over."""
        ...

    def say(self, stage: str, text: str) -> None:
        """Report one line about a stage."""
        ...


class Silence:
    """Progress that says nothing."""

    def begin(self, stage: str, total: int | None, done: int = 0) -> None:
        """Show nothing."""

    def advance(self, stage: str, count: int = 1) -> None:
        """Show nothing."""

    def say(self, stage: str, text: str) -> None:
        """Show nothing."""


@dataclass
class _Stage:
    """The state of a stage: steps in total, before this run, and now; when it began and was last reported."""

    total: int | None
    before: int
    done: int
    started: float
    said: float


class TerminalProgress:
    """A bar for each stage on a terminal; a line every ten seconds elsewhere."""

    _LINE_EVERY_S = 10.0

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import Progress as Bars

        console = Console(stderr=True)
        self._bars = None
        if console.is_terminal:
            self._bars = Bars(*self._columns(), console=console, transient=True)
        self._tasks: dict[str, Any] = {}
        self._stages: dict[str, _Stage] = {}

    def _columns(self) -> tuple[Any, ...]:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn

        return (
            TextColumn("{task.description:>9}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
        )

    def __enter__(self) -> TerminalProgress:
        if self._bars is not None:
            self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bars is not None:
            self._bars.stop()

    def begin(self, stage: str, total: int | None, done: int = 0) -> None:
        """Show a stage."""
        now = time.monotonic()
        self._stages[stage] = _Stage(total, done, done, now, now)
        if self._bars is not None:
            self._tasks[stage] = self._show_bar(stage)
        elif total is None or total > done:
            self.say(stage, self._opening(self._stages[stage]))

    def advance(self, stage: str, count: int = 1) -> None:
        """Move a stage on, or print a line when it is time for one."""
        state = self._stages[stage]
        state.done += count
        if self._bars is not None:
            self._bars.advance(self._tasks[stage], count)
            return
        now = time.monotonic()
        if now - state.said >= self._LINE_EVERY_S or state.done == state.total:
            state.said = now
            self.say(stage, self._standing(state))

    def say(self, stage: str, text: str) -> None:
        """Print a line about a stage."""
        if self._bars is not None:
            self._bars.console.print(f"{self._name(stage)}: {text}", markup=False, highlight=False)
        else:
            print(f"{self._name(stage)}: {text}", file=sys.stderr, flush=True)

    def _name(self, stage: str) -> str:
        return stage

    def _show_bar(self, stage: str) -> Any:
        assert self._bars is not None
        state = self._stages[stage]
        return self._bars.add_task(stage, total=state.total, completed=state.done)

    def _opening(self, state: _Stage) -> str:
        return f"{(state.total or 0) - state.done} to do, {state.done} done before"

    def _standing(self, state: _Stage) -> str:
        elapsed_s = max(time.monotonic() - state.started, 1e-3)
        total = state.total or state.done
        remaining = elapsed_s / max(state.done - state.before, 1) * (total - state.done)
        return f"{state.done} of {total}, about {remaining:.0f} s to go"


class DownloadProgress(TerminalProgress):
    """Files of bytes under one bar, with their speed and the time that all of them still need.

    Parameters
    ----------
    total : int or None
        Bytes of all files together; None when the server did not say.
    have : int
        Bytes that are already here.
    """

    def __init__(self, total: int | None, have: int = 0) -> None:
        super().__init__()
        self._total, self._have = total, have
        self._started = time.monotonic()
        self._task: Any = self._bars.add_task("", total=total, completed=have) if self._bars else None

    def _columns(self) -> tuple[Any, ...]:
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )

        text = TextColumn("{task.description}")
        return text, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn()

    def _name(self, stage: str) -> str:
        return stage.rpartition("/")[2]

    def _show_bar(self, stage: str) -> Any:
        assert self._bars is not None
        self._bars.update(self._task, description=self._name(stage))
        return self._task

    def _opening(self, state: _Stage) -> str:
        before = f", {readable_size(state.done)} here already" if state.done else ""
        return f"{readable_size(state.total)}{before}"

    def _standing(self, state: _Stage) -> str:
        came = sum(each.done - each.before for each in self._stages.values())
        speed = max(came, 1) / max(time.monotonic() - self._started, 1e-3)
        line = f"{readable_size(state.done)} of {readable_size(state.total)}, {readable_size(int(speed))}/s"
        if self._total is None:
            return line
        left_s = max(self._total - self._have - came, 0) / speed
        return f"{line}, about {readable_time(left_s)} to go for all files"


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
