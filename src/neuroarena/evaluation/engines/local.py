"""The local engine: jobs run in processes with one numerical thread each; a failure never stops the rest."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from neuroarena.evaluation.engines.jobs import Job, Outcome, Take, attempt, on_one_thread

_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Local:
    """Processes of this machine; with one, the jobs run in this process. The numbers are the same."""

    workers: int = 1

    def run(self, jobs: Sequence[Job], cache: Path, take: Take) -> None:
        """Run every job and pass on each outcome as it comes."""
        if self.workers <= 1 or len(jobs) <= 1:
            with on_one_thread():
                for job in jobs:
                    take(attempt(job, cache))
        else:
            _run_on_workers(list(jobs), cache, min(self.workers, len(jobs)), take)


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


def _run_on_workers(waiting: list[Job], cache: Path, n: int, take: Take) -> None:
    waiting.reverse()
    pool = [_Worker(cache) for _ in range(n)]
    try:
        for worker in list(pool):
            _feed(worker, waiting, take)
        while busy := [worker for worker in pool if worker.job is not None]:
            for connection in wait([worker.connection for worker in busy]):
                worker = next(each for each in busy if each.connection is connection)
                outcome = worker.collect()
                if not worker.process.is_alive() and waiting:
                    pool.remove(worker)
                    worker.stop()
                    worker = _Worker(cache)
                    pool.append(worker)
                take(outcome)
                _feed(worker, waiting, take)
    finally:
        for worker in pool:
            worker.stop()


def _feed(worker: _Worker, waiting: list[Job], take: Take) -> None:
    """Send a worker its next job; a job that cannot be sent has failed, and the next one is tried."""
    while waiting and worker.process.is_alive():
        job = waiting.pop()
        try:
            worker.give(job)
            return
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            worker.job = None
            take(Outcome(job, 0.0, f"it cannot be sent to a worker process: {error}"))


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
    with on_one_thread():
        while True:
            try:
                job: Any = connection.recv()
            except (EOFError, OSError):
                return
            outcome = attempt(job, cache)
            try:
                connection.send({name: value for name, value in vars(outcome).items() if name != "job"})
            except OSError:
                return  # the parent is gone; what was computed is in the cache


def _end_with_parent(parent: int) -> None:
    # A parent killed with -9 cannot notify its children; they must not continue alone.
    while os.getppid() == parent:
        time.sleep(0.5)
    os._exit(1)
