"""A worker: claim, do the work, write under the fence, and go on; stop when asked."""

from __future__ import annotations

import contextlib
import datetime
import logging
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator, Sequence

from neuroarena.competition.arena import Arena
from neuroarena.competition.intake import check_received
from neuroarena.competition.queue import LEASE, Fenced, Job, claim, give_back, keep_alive
from neuroarena.competition.scorer import score_run

LABELS = ("intake", "scorer")
BEATS = 4  # of the heart, in one lease
POLL_S = 0.5

log = logging.getLogger(__name__)


def work(
    arena: Arena,
    labels: Sequence[str] = LABELS,
    *,
    until_idle: bool = False,
    stop: threading.Event | None = None,
    report: Callable[[Job, str], None] | None = None,
    lease: datetime.timedelta = LEASE,
) -> int:
    """Do jobs until told to stop, and return how many were done.

    Parameters
    ----------
    arena : Arena
    labels : sequence of str
        The kinds of work to take: "intake" checks files, "scorer" scores predictions.
    until_idle : bool
        Whether to return when there is nothing to do.
    stop : Event, optional
        Set from outside to stop after the job under way.
    report : callable, optional
        Told of each job and how it ended.
    lease : timedelta
        How long a worker may be silent before another takes its job.
    """
    owner = f"{socket.gethostname()[:30]}-{os.getpid()}-{secrets.token_hex(3)}"
    stop = stop or threading.Event()
    done = 0
    while not stop.is_set():
        job = claim(arena.store, owner, labels, lease=lease)
        if job is None:
            if until_idle:
                break
            stop.wait(POLL_S)
            continue
        outcome = do_job(arena, job, lease)
        if report is not None:
            report(job, outcome)
        done += 1
    return done


def do_job(arena: Arena, job: Job, lease: datetime.timedelta = LEASE) -> str:
    """Do one job and say how it ended; whatever goes wrong here is ours, and is tried again."""
    try:
        with _heartbeat(arena, job, lease):
            if job.state == "received":
                check_received(arena, job)
            else:
                score_run(arena, job)
    except Fenced as error:
        return str(error)
    except Exception as error:  # the border of the job runner: recorded, retried, then broken
        log.exception("Run %s failed on our side.", job.run)
        with contextlib.suppress(Fenced):
            # The reason goes to the team, so that it names the kind of failure and nothing it may hold of the truth.
            give_back(arena.store, job, f"The platform failed ({type(error).__name__}).")
        return "ours"
    return "done"


@contextlib.contextmanager
def _heartbeat(arena: Arena, job: Job, lease: datetime.timedelta) -> Iterator[None]:
    """Prolong the lease from a thread while the work goes on."""
    ended = threading.Event()

    def beat() -> None:
        while not ended.wait(lease.total_seconds() / BEATS):
            try:
                keep_alive(arena.store, job, lease)
            except Fenced:
                return  # the write at the end of the work is refused by the fence

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
