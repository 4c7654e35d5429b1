"""What a worker knows of its machine: whether the walls of the sandbox hold there, and how quick it is."""

from __future__ import annotations

import datetime
import functools
import socket
from typing import Any

from sqlalchemy import select

from neuroarena.competition.arena import Arena, read_about, write_about
from neuroarena.competition.tables import WORKER
from neuroarena.competition.times import format_utc, parse_time
from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox import reference_job
from neuroarena.sandbox.selftest import EVERY_S, SelfTest, WallsOpen

# A machine on which the reference job takes this many times its pinned time is to blame for a time limit.
SLOW = 1.5


def record_self_test(arena: Arena, owner: str, test: SelfTest | WallsOpen | None) -> None:
    """Write the outcome of a self-test, with its time, into the row of a worker.

    Parameters
    ----------
    arena : Arena
    owner : str
        Name of the worker.
    test : SelfTest, WallsOpen or None
        None where the walls stood earlier in this process, not longer ago than a self-test is valid.
    """
    said: dict[str, Any] = {"holds": not isinstance(test, WallsOpen)}
    if isinstance(test, SelfTest):
        said |= {"walls": len(test.probes), "seconds": round(test.seconds, 2)}
    elif isinstance(test, WallsOpen):
        said["reason"] = str(test)
    with arena.store.writing() as connection:
        said["at"] = format_utc(arena.store.clock(connection))
        connection.execute(WORKER.update().where(WORKER.c.owner == owner).values(self_test=said))


def require_tested_worker(arena: Arena, owner: str) -> None:
    """Refuse code to a worker whose row has no self-test that holds and is recent.

    Raises
    ------
    NeuroarenaError
        Saying which of the three it is.
    """
    with arena.store.reading() as connection:
        said = connection.execute(select(WORKER.c.self_test).where(WORKER.c.owner == owner)).scalar()
        now = arena.store.clock(connection)
    problem = None
    if said is None:
        problem = "has no self-test"
    elif not said["holds"]:
        problem = "has failed its self-test"
    elif now - parse_time(said["at"]) > datetime.timedelta(seconds=2 * EVERY_S):
        problem = f"was last tested at {said['at']}"
    if problem is not None:
        raise NeuroarenaError(f"The worker {owner} {problem}, so that it runs no code.")


def describe_self_test(said: dict[str, Any] | None) -> str:
    """Return the self-test of a worker in a few words, for organisers."""
    if said is None:
        return "none"
    walls = f"{said['walls']} walls hold" if said.get("walls") else "holds"
    return f"{walls if said['holds'] else 'FAILED'}, {said['at']}"


def pin_reference(arena: Arena) -> float:
    """Measure the reference job on this machine, once in this process, and pin the shortest time that it ever took.

    Returns
    -------
    float
        The pinned time in seconds.
    """
    took = _time_once()
    with arena.store.writing() as connection:
        key = _reference_key()
        earlier = read_about(connection, key)
        pinned = min(took, float(earlier)) if earlier is not None else took
        write_about(connection, key, repr(pinned))
    return pinned


def find_slowness(arena: Arena) -> dict[str, float] | None:
    """Run the reference job now; return its times when this machine is slow, None when it is as quick as it was."""
    with arena.store.reading() as connection:
        said = read_about(connection, _reference_key())
    took = reference_job.time_reference()
    pinned = took if said is None else float(said)
    return {"pinned_s": pinned, "took_s": took} if took >= SLOW * pinned else None


@functools.cache
def _time_once() -> float:
    # The first start also reads the interpreter from disk.
    return min(reference_job.time_reference() for _ in range(2))


def _reference_key() -> str:
    return f"reference {socket.gethostname()[:40]}"
