"""The local engine: jobs run in processes with one numerical thread each; a failure never stops the rest."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

from neuroarena.errors import DiskFull, NeuroarenaError
from neuroarena.sealed import report, reporting_to

# Many small operations on several threads take longer than on one, and sums in another order move
# the last digit of a score: every worker computes on one thread.
_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


class Job(Protocol):
    """Something that can be sent to a worker and leaves its product in the cache."""

    @property
    def label(self) -> str:
        """A description of this work for people."""
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


def available_cores() -> int:
    """Count the cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def run_jobs(jobs: Sequence[Job], cache: Path, workers: int, done: Callable[[Outcome], None]) -> None:
    """Run jobs and report each outcome as it comes.

    Parameters
    ----------
    jobs : sequence of Job
    cache : Path
        Passed to every job.
    workers : int
        Number of processes; with one, the jobs run in this process. The numbers are the same.
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
    if workers <= 1 or len(jobs) <= 1:
        with _one_thread():
            for job in jobs:
                take(_attempt(job, cache))
    else:
        _run_on_workers(list(jobs), cache, min(workers, len(jobs)), take)


def _attempt(job: Job, cache: Path) -> Outcome:
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
def _one_thread() -> Iterator[None]:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


class _Worker:
    """A process that takes one job at a time."""

    def __init__(self, cache: Path) -> None:
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, cache, os.getpid()), daemon=True)
        with _environment(dict.fromkeys(_THREAD_LIMITS, "1")):
            self.process.start()
        theirs.close()
        self.job: Job | None = None
        self.started = 0.0

    def give(self, job: Job) -> None:
        self.job, self.started = job, time.perf_counter()
        self.connection.send(job)

    def collect(self) -> Outcome:
        """Return the outcome of the job, or report that the process died."""
        assert self.job is not None
        job, self.job = self.job, None
        seconds = time.perf_counter() - self.started
        try:
            told: dict[str, Any] = self.connection.recv()
        except (EOFError, ConnectionResetError):
            self.process.join(timeout=10)
            return Outcome(job, seconds, _death(self.process.exitcode))
        return Outcome(job, **told)

    def stop(self) -> None:
        self.connection.close()
        self.process.terminate()
        self.process.join(timeout=5)
        if self.process.is_alive():
            self.process.kill()


def _death(exit_code: int | None) -> str:
    if exit_code is not None and exit_code < 0:
        name = signal.Signals(-exit_code).name
        why = " It may have run out of memory." if -exit_code == signal.SIGKILL else ""
        return f"the worker process was ended by {name}.{why}"
    return (
        f"the worker process ended with exit code {exit_code}. In a script, what starts a run with several workers "
        "must be under if __name__ == '__main__':"
    )


def _run_on_workers(waiting: list[Job], cache: Path, n: int, done: Callable[[Outcome], None]) -> None:
    waiting.reverse()
    pool = [_Worker(cache) for _ in range(n)]
    try:
        for worker in list(pool):
            _feed(worker, waiting, done)
        while busy := [worker for worker in pool if worker.job is not None]:
            for connection in wait([worker.connection for worker in busy]):
                worker = next(each for each in busy if each.connection is connection)
                outcome = worker.collect()
                if not worker.process.is_alive() and waiting:
                    pool.remove(worker)
                    worker.stop()
                    worker = _Worker(cache)
                    pool.append(worker)
                done(outcome)
                _feed(worker, waiting, done)
    finally:
        for worker in pool:
            worker.stop()


def _feed(worker: _Worker, waiting: list[Job], done: Callable[[Outcome], None]) -> None:
    """Send a worker its next job; a job that cannot be sent has failed, and the next one is tried."""
    while waiting and worker.process.is_alive():
        job = waiting.pop()
        try:
            worker.give(job)
            return
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            worker.job = None
            done(Outcome(job, 0.0, f"it cannot be sent to a worker process: {error}"))


@contextlib.contextmanager
def _environment(values: dict[str, str]) -> Iterator[None]:
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _serve(connection: Connection, cache: Path, parent: int) -> None:
    """Run jobs until the parent closes the pipe; exit immediately when the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    with _one_thread():
        while True:
            try:
                job: Any = connection.recv()
            except (EOFError, OSError):
                return
            outcome = _attempt(job, cache)
            try:
                connection.send({name: value for name, value in vars(outcome).items() if name != "job"})
            except OSError:
                return  # the parent is gone; what was computed is in the cache


def _end_with_parent(parent: int) -> None:
    # A parent killed with -9 cannot notify its children; they must not continue alone.
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
