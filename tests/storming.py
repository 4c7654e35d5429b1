"""Workers for storms: forked from a process that has everything imported, killed by themselves after a transition."""

from __future__ import annotations

import contextlib
import datetime
import multiprocessing
import os
import random
import signal
import time
from collections.abc import Iterator
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from neuroarena.competition import intake, queue
from neuroarena.competition.arena import open_arena
from neuroarena.competition.store import Store
from neuroarena.competition.worker import work

LEASE = datetime.timedelta(seconds=4)
# What a worker writes; a storm kills one after each of them.
TRANSITIONS = ("checked", "queued", "refused", "scoring", "scored")


def start_worker(folder: Path, dies_after: str | None = None, times: int = 1) -> BaseProcess:
    """Start a worker that kills itself when the so many-th change to a state has been committed."""
    process = multiprocessing.get_context("fork").Process(target=_serve, args=(folder, dies_after, times))
    process.start()
    return process


def stop_worker(process: BaseProcess) -> None:
    """Ask a worker to end, and make it end if it does not."""
    process.terminate()
    process.join(30)
    if process.is_alive():
        process.kill()
        process.join()


def _serve(folder: Path, dies_after: str | None, times: int) -> None:
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 1)
    os.dup2(null, 2)
    if dies_after is not None:
        arm(dies_after, times)
    try:
        work(open_arena(folder), lease=LEASE)
    finally:
        os._exit(0)


def arm(dies_after: str, times: int) -> None:
    """Let this process kill itself after a transaction that moved a run to a state, so many times."""
    seen: list[str] = []
    left = [times]
    plain_writing, plain_transition = Store.writing, queue.write_transition

    def transition(connection: Connection, now: Any, run: str, state: Any, by: str, reason: Any) -> None:
        plain_transition(connection, now, run, state, by, reason)
        seen.append(state)

    @contextlib.contextmanager
    def writing(self: Store, *locks: str) -> Iterator[Connection]:
        seen.clear()
        with plain_writing(self, *locks) as connection:
            yield connection
        if dies_after in seen:
            left[0] -= 1
            if left[0] <= 0:
                os.kill(os.getpid(), signal.SIGKILL)

    Store.writing = writing  # type: ignore[method-assign]
    queue.write_transition = intake.write_transition = transition


class Storm:
    """Some workers of which one after the other kills itself, and another one is stopped beyond its lease and woken.

    Parameters
    ----------
    folder : Path
        Of the competition.
    n_workers, n_kills : int
    """

    def __init__(self, folder: Path, n_workers: int = 3, n_kills: int = 20) -> None:
        self.folder, self.n_kills, self.killed = folder, n_kills, 0
        self.chance = random.Random(0)
        self.workers = [self._replace() for _ in range(n_workers)]

    def look(self) -> None:
        """Count the dead, and start others in their place; the last ones live."""
        for place, worker in enumerate(self.workers):
            if not worker.is_alive():
                worker.join()
                self.killed += worker.exitcode == -signal.SIGKILL
                self.workers[place] = self._replace()

    def wake_a_zombie(self) -> None:
        """Stop a worker until its lease is over, and let it go on as if nothing had been."""
        worker = self.chance.choice(self.workers)
        if worker.pid is None or not worker.is_alive():
            return
        os.kill(worker.pid, signal.SIGSTOP)
        time.sleep(LEASE.total_seconds() + 0.3)
        with contextlib.suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGCONT)

    def end(self) -> None:
        """Stop every worker."""
        for worker in self.workers:
            stop_worker(worker)

    def _replace(self) -> BaseProcess:
        if self.killed >= self.n_kills:
            return start_worker(self.folder)
        state = TRANSITIONS[self.killed % len(TRANSITIONS)]
        return start_worker(self.folder, state, 1 if state == "refused" else self.chance.randint(2, 9))
