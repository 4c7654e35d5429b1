"""A worker: claim, do the work, write under the fence, and go on; stop when asked."""

from __future__ import annotations

import contextlib
import datetime
import logging
import os
import secrets
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence

from sqlalchemy.exc import DBAPIError

from neuroarena import __version__
from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.audit.advancing import score_replayed
from neuroarena.competition.audit.replaying import run_replay
from neuroarena.competition.audit.requests import PURPOSE
from neuroarena.competition.intake import check_received
from neuroarena.competition.machines import pin_reference, record_self_test
from neuroarena.competition.queue import LEASE, Fenced, Job, claim, give_back, has_unfinished, keep_alive
from neuroarena.competition.requests import carry_out, end_request, find_waiting
from neuroarena.competition.runner import run_code
from neuroarena.competition.runtimes import read_chosen_runtime
from neuroarena.competition.schedules import DUTIES, claim_duty, enter_duties, finish_duty
from neuroarena.competition.scorer import score_run
from neuroarena.competition.tables import WORKER
from neuroarena.errors import InputError
from neuroarena.sandbox.runtime import find_runtime, using_runtime
from neuroarena.sandbox.selftest import WallsOpen, require_walls

JUDGES = ("intake", "scorer")
RUNNERS = ("cpu", "gpu")
LABELS = (*JUDGES, *RUNNERS)
BEATS = 4  # of the heart, in one lease
POLL_S = 0.5
LOOK_S = 0.5  # from one look whether to stop to the next
OUTAGE_S = 1.0
ROUND_S = 5.0  # from one look at the duties to the next

log = logging.getLogger(__name__)


def work(
    arena: Arena,
    labels: Sequence[str] = JUDGES,
    *,
    until_idle: bool = False,
    stop: threading.Event | None = None,
    report: Callable[[Job, str], None] | None = None,
    lease: datetime.timedelta = LEASE,
    duties: bool = True,
    beside: Sequence[str] = (),
) -> int:
    """Do jobs until told to stop, and return how many were done.

    Parameters
    ----------
    arena : Arena
    labels : sequence of str
        The kinds of work to take: "intake" checks files, "cpu" and "gpu" run code, "scorer" scores predictions.
    until_idle : bool
        Whether to return when there is nothing to do.
    stop : Event, optional
        Set from outside to stop after the job under way.
    report : callable, optional
        Told of each job and how it ended.
    lease : timedelta
        How long a worker may be silent before another takes its job.
    duties : bool
        Whether boards, retention and other duties that are due are done as well.
    beside : sequence of str
        Labels of workers that were started together with this one. With `until_idle`, it stays while they have
        something to do, because what they do may come to it next.

    Raises
    ------
    InputError
        When the store belongs to another version of neuroarena.
    WallsOpen
        When it is to run code and a wall of the sandbox does not hold on this machine.
    """
    owner = _name_worker()
    stop = stop or threading.Event()
    done, looked = 0, -ROUND_S
    if duties:
        enter_duties(arena)
    runs_code = bool(set(labels) & set(RUNNERS))
    proven = False
    with _signed_on(arena, owner, labels):
        while not stop.is_set():
            try:
                if time.monotonic() - looked >= ROUND_S:
                    _look_round(arena, owner, labels, duties)
                    looked = time.monotonic()
                if runs_code:
                    proven = _prove_walls(arena, owner, proven)
                job = claim(arena.store, owner, labels, lease=lease)
                outcome = None if job is None else do_job(arena, job, lease, stop)
            except DBAPIError:
                # The database restarts, or its disk is full: what was under way is taken up again after its lease.
                log.exception("The database does not answer; trying again.")
                stop.wait(OUTAGE_S)
                continue
            if job is None or outcome is None:
                if until_idle and not (beside and has_unfinished(arena.store, {*labels, *beside})):
                    break
                stop.wait(POLL_S)
                continue
            if report is not None:
                report(job, outcome)
            done += 1
    return done


def work_on(
    arena: Arena,
    list_runs: Callable[[], Sequence[str]],
    *,
    report: Callable[[Job, str], None] | None = None,
    lease: datetime.timedelta = LEASE,
) -> None:
    """Do certain runs, whatever their label, until none of them is left; what other workers hold is waited for.

    Parameters
    ----------
    arena : Arena
    list_runs : callable
        Returns those that have not ended; runs may come to them on the way.
    report, lease
        As for :func:`work`.

    Raises
    ------
    InputError, WallsOpen
        As for :func:`work`.
    """
    owner = _name_worker()
    with _signed_on(arena, owner, LABELS):
        _prove_walls(arena, owner, proven=False)
        while runs := list_runs():
            claims = (claim(arena.store, owner, LABELS, run=run, lease=lease) for run in runs)
            job = next((each for each in claims if each is not None), None)
            if job is None:
                time.sleep(POLL_S)
                continue
            outcome = do_job(arena, job, lease)
            if report is not None:
                report(job, outcome)


def _name_worker() -> str:
    return f"{socket.gethostname()[:30]}-{os.getpid()}-{secrets.token_hex(3)}"


def _prove_walls(arena: Arena, owner: str, proven: bool) -> bool:
    """Try the walls of the sandbox when that is due, write into the worker's row how it went, and measure the machine.

    Raises
    ------
    WallsOpen
        When one does not hold: the worker ends, and its row says why.
    NoRuntime
        When this machine does not have the runtime that the competition names.
    """
    with using_runtime(read_chosen_runtime(arena)):
        find_runtime()
        try:
            test = require_walls([arena.vault.folder, arena.folder])
        except WallsOpen as error:
            record_self_test(arena, owner, error)
            raise
        if test is not None or not proven:
            record_self_test(arena, owner, test)
            pin_reference(arena)
    return True


def check_version(arena: Arena) -> None:
    """Refuse to work where the store belongs to another version.

    Raises
    ------
    InputError
    """
    with arena.store.reading() as connection:
        found = read_about(connection, "version")
    if found != __version__:
        raise InputError(
            f"The store of {arena.competition.title} belongs to neuroarena {found}, and this is {__version__}. "
            f"Install that version here, or bring the store up to date: neuroarena admin upgrade {arena.folder}"
        )


def do_job(
    arena: Arena, job: Job, lease: datetime.timedelta = LEASE, stop: threading.Event | None = None
) -> str:
    """Do one job and say how it ended; whatever goes wrong here is ours, and is tried again.

    A worker that is asked to stop finishes what is short, and gives code that is running back without counting a try.
    """
    try:
        with _heartbeat(arena, job, lease, stop) as lost:
            if job.state == "received":
                check_received(arena, job)
            elif job.state == "running":
                run = run_replay if job.purpose == PURPOSE else run_code
                run(arena, job, lost)
            else:
                judge = score_replayed if job.purpose == PURPOSE else score_run
                judge(arena, job)
    except Fenced as error:
        return str(error)
    except Exception as error:  # the border of the job runner: recorded, retried, then broken
        if job.state == "running" and stop is not None and stop.is_set():
            with contextlib.suppress(Fenced):
                give_back(arena.store, job, "The worker was stopped.", counts=False)
            return "given back"
        log.exception("Run %s failed on our side.", job.run)
        with contextlib.suppress(Fenced):
            # The reason goes to the team, so that it names the kind of failure and nothing it may hold of the truth.
            give_back(arena.store, job, f"The platform failed ({type(error).__name__}).")
        return "ours"
    return "done"


def _look_round(arena: Arena, owner: str, labels: Sequence[str], duties: bool) -> None:
    """Record that this worker lives, and do what organisers ask for and each duty that is due."""
    check_version(arena)
    with arena.store.writing() as connection:
        seen = {"seen": arena.store.clock(connection)}
        connection.execute(WORKER.update().where(WORKER.c.owner == owner).values(**seen))
    if duties:
        _do_request(arena, labels)
    for _ in DUTIES if duties else ():
        claimed = claim_duty(arena, owner, labels)
        if claimed is None:
            return
        try:
            outcome = DUTIES[claimed.name].act(arena)
        except Exception as error:  # the border of the job runner: recorded, and tried again next time
            log.exception("The duty %s failed.", claimed.name)
            outcome = f"failed ({type(error).__name__})"
        with contextlib.suppress(Fenced):
            finish_duty(arena, claimed, outcome)


def _do_request(arena: Arena, labels: Sequence[str]) -> None:
    """Do the oldest request of the organisers that these labels may."""
    asked = find_waiting(arena, labels)
    if asked is None:
        return
    try:
        outcome = carry_out(arena, asked)
    except DBAPIError:
        raise  # an outage is waited for, and the request tried again
    except (
        Exception
    ) as error:  # the border of the job runner: recorded; its sentence may hold something of the truth
        log.exception("The request %s failed.", asked["id"])
        outcome = f"failed ({type(error).__name__})"
    end_request(arena, asked, outcome)


@contextlib.contextmanager
def _signed_on(arena: Arena, owner: str, labels: Sequence[str]) -> Iterator[None]:
    """List this worker among those that are seen, until it ends."""
    check_version(arena)
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        row = {"owner": owner, "labels": ",".join(labels), "version": __version__}
        connection.execute(WORKER.insert().values(**row, started=now, seen=now))
    try:
        yield
    finally:
        with contextlib.suppress(DBAPIError), arena.store.writing() as connection:
            stopped = {"stopped": arena.store.clock(connection)}
            connection.execute(WORKER.update().where(WORKER.c.owner == owner).values(**stopped))


@contextlib.contextmanager
def _heartbeat(
    arena: Arena, job: Job, lease: datetime.timedelta, stop: threading.Event | None
) -> Iterator[threading.Event]:
    """Prolong the lease from a thread while the work goes on.

    The event is set when code must end: another worker has the job, or this one was asked to stop.
    """
    ended, lost = threading.Event(), threading.Event()
    every_s = lease.total_seconds() / BEATS

    def beat() -> None:
        due = time.monotonic() + every_s
        while not ended.wait(min(every_s, LOOK_S)):
            if stop is not None and stop.is_set():
                lost.set()
            if time.monotonic() < due:
                continue
            due = time.monotonic() + every_s
            try:
                keep_alive(arena.store, job, lease)
            except DBAPIError:
                continue  # an outage may be over before the lease is
            except Fenced:
                lost.set()
                return  # the write at the end of the work is refused by the fence

    thread = threading.Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield lost
    finally:
        ended.set()
        thread.join()
