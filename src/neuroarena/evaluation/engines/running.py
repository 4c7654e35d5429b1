"""The one function through which jobs are run, whatever the engine."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from pathlib import Path

from neuroarena.errors import DiskFull, NeuroarenaError
from neuroarena.evaluation.engines.jobs import Engine, Job, Outcome
from neuroarena.sealed import report


def run_jobs(jobs: Sequence[Job], cache: Path, engine: Engine, done: Callable[[Outcome], None]) -> None:
    """Run jobs and report each outcome as it comes.

    Parameters
    ----------
    jobs : sequence of Job
    cache : Path
        Passed to every job.
    engine : Engine
        Where they run.
    done : callable
        Called in this process with the outcome of each job.

    Raises
    ------
    DiskFull
        When a job found no room for what it made; what was finished before is in the cache.
    """

    def take(outcome: Outcome) -> None:
        for text in outcome.reports:
            report(text)
        if outcome.disk_is_full:
            raise DiskFull(outcome.error or "The disk is full.")
        done(outcome)

    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise NeuroarenaError(
            "A worker process ran this script again from its start. Put what starts the run under "
            "if __name__ == '__main__': or use workers=1."
        )
    if jobs:
        engine.run(jobs, cache.absolute(), take)
