"""The local engine: jobs run in processes with one numerical thread each; a failure never stops the rest."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from neuroarena.evaluation.engines.jobs import Job, Outcome, Take, attempt, on_one_thread
from neuroarena.evaluation.leases import Leases

_POLL_S = 0.2
_THREAD_LIMITS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Local:
    """Processes of this machine; with one, the jobs run in this process. The numbers are the same.

    Parameters
    ----------
    workers : int
    apart : bool
        Use processes of their own also where one is enough: a job that is killed does not take this one along.
    """

    workers: int = 1
    apart: bool = False

    def run(self, jobs: Sequence[Job], cache: Path, take: Take) -> None:
        """Run every job and pass on each outcome as it comes; what another run is computing is waited for."""
        leases = Leases(cache)
        with leases.renewed():
            queue = _Queue(jobs, cache, leases, take)
            if not self.apart and (self.workers <= 1 or len(jobs) <= 1):
                with on_one_thread():
                    _run_here(queue, cache)
            else:
                _run_on_workers(queue, cache, min(self.workers, len(jobs)))


class _Queue:
    """The jobs that wait, in their order, without those that another process is at."""

    def __init__(self, jobs: Sequence[Job], cache: Path, leases: Leases, take: Take) -> None:
        self._waiting = deque(jobs)
        self._cache, self._leases, self._take = cache, leases, take

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def next(self) -> Job | None:
        """Return a job that is now ours; None when there is none at the moment."""
        for _ in range(len(self._waiting)):
            job = self._waiting.popleft()
            if not self._leases.take(job.key):
                self._waiting.append(job)
            elif job.is_done(self._cache):
                # Finished by another process since it was planned.
                self.finish(Outcome(job, 0.0))
            else:
                return job
        return None

    def finish(self, outcome: Outcome) -> None:
        """Release a job and pass on how it ended."""
        self._leases.release(outcome.job.key)
        self._take(outcome)


def _run_here(queue: _Queue, cache: Path) -> None:
    while queue:
        job = queue.next()
        if job is not None:
            queue.finish(attempt(job, cache))
        elif queue:
            time.sleep(_POLL_S)


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


def _run_on_workers(queue: _Queue, cache: Path, n: int) -> None:
    pool = [_Worker(cache) for _ in range(n)]
    try:
        while True:
            for at, worker in enumerate(pool):
                if worker.job is None and queue:
                    if not worker.process.is_alive():
                        worker.stop()
                        pool[at] = worker = _Worker(cache)
                    _feed(worker, queue)
            busy = {worker.connection: worker for worker in pool if worker.job is not None}
            if not busy and not queue:
                return
            # What others are computing ends without a word: while there is such work, look again soon.
            for connection in wait(list(busy), _POLL_S if queue else None) if busy else ():
                queue.finish(busy[connection].collect())  # type: ignore[index]
            if not busy:
                time.sleep(_POLL_S)
    finally:
        for worker in pool:
            worker.stop()


def _feed(worker: _Worker, queue: _Queue) -> None:
    """Send a worker its next job; a job that cannot be sent has failed, and the next one is tried."""
    while (job := queue.next()) is not None:
        try:
            worker.give(job)
            return
        except (pickle.PicklingError, TypeError, AttributeError) as error:
            worker.job = None
            queue.finish(Outcome(job, 0.0, f"it cannot be sent to a worker process: {error}"))


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
