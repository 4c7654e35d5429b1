"""What an engine runs: jobs that leave their product in the cache, and how each of them ended."""

from __future__ import annotations

import contextlib
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from neuroarena.errors import DiskFull
from neuroarena.sealed import reporting_to


class Job(Protocol):
    """Something that can be sent to a worker and leaves its product in the cache."""

    @property
    def label(self) -> str:
        """A description of this work for people."""
        ...

    @property
    def key(self) -> str:
        """A name for the product: two jobs with one key make the same bytes."""
        ...

    def is_done(self, cache: Path) -> bool:
        """Return whether the product is in the cache already."""
        ...

    def run(self, cache: Path) -> None:
        """Do the work."""
        ...


@dataclass(frozen=True)
class Outcome:
    """How a job ended.

    Attributes
    ----------
    job : Job
    seconds : float
        0 where the product was in the cache already.
    error, details : str or None
        None when it went well; else one sentence, and the last lines of the traceback.
    reports : tuple of str
        What it said about damaged entries of the cache, which were computed again.
    disk_is_full : bool
        Whether it failed because there was no room: the next job would fail as well.
    """

    job: Job
    seconds: float
    error: str | None = None
    details: str | None = None
    reports: tuple[str, ...] = ()
    disk_is_full: bool = False


Take = Callable[[Outcome], None]


class Engine(Protocol):
    """Where jobs are run. The numbers are the same on every engine."""

    def run(self, jobs: Sequence[Job], cache: Path, take: Take) -> None:
        """Run every job and pass on each outcome, in this process, as it comes."""
        ...


def available_cores() -> int:
    """Count the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def attempt(job: Job, cache: Path) -> Outcome:
    """Run a job; whatever it raises becomes part of the outcome."""
    started = time.perf_counter()
    reports: list[str] = []
    error: BaseException | None = None
    details = None
    try:
        with reporting_to(reports.append):
            job.run(cache)
    except (
        Exception,
        SystemExit,
    ) as raised:  # a decoder's own code may raise anything: recorded with its reason
        error, details = raised, traceback.format_exc(limit=-6)
    seconds = time.perf_counter() - started
    if isinstance(error, DiskFull):
        return Outcome(job, seconds, str(error), details, tuple(reports), disk_is_full=True)
    said = None if error is None else f"{type(error).__name__}: {error}"
    return Outcome(job, seconds, said, details, tuple(reports))


@contextlib.contextmanager
def on_one_thread() -> Iterator[None]:
    """Let numerical libraries use one thread.

    Many small operations on several threads take longer than on one, and sums in another order move the last digit of a
    score: wherever a job runs, it computes on one thread.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield
