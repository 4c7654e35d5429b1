"""What a team is told about a failure: one phrase of a fixed list, so that nothing of sealed data leaves with it."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Literal, get_args

from neuroarena.competition.arena import Arena
from neuroarena.competition.queue import Job, change_state
from neuroarena.competition.tables import RUN

Failure = Literal[
    "exception", "shape", "not-finite", "exit", "time", "memory", "processes", "disk", "output", "protocol"
]
FAILURES: tuple[str, ...] = get_args(Failure)
PHRASES: dict[str, str] = {
    "exception": "The code raised an exception.",
    "shape": "An answer has the wrong shape or type.",
    "not-finite": "An answer is not a finite number.",
    "exit": "The code ended before it had answered everything.",
    "time": "The code took longer than the time limit.",
    "memory": "The code used more memory than it may.",
    "processes": "The code started more processes than it may.",
    "disk": "The code wrote more files than it may.",
    "output": "The code sent more than it was asked for.",
    "protocol": "The code broke the rules of the exchange.",
}
MOST_LOG_BYTES = 1 << 20


def fail_run(arena: Arena, job: Job, failure: Failure, log: str = "") -> None:
    """End a run by the participant's fault: the attempt counts, and the team reads one phrase.

    Parameters
    ----------
    arena : Arena
    job : Job
    failure : str
        Which phrase.
    log : str
        The end of what the code printed, for the organisers alone.

    Raises
    ------
    Fenced
    """
    kept = keep_log(arena, log) if log else None
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        change_state(connection, now, job, "failed", PHRASES[failure], "theirs")
        connection.execute(RUN.update().where(RUN.c.id == job.run).values(log_sha256=kept))


def keep_log(arena: Arena, log: str) -> str:
    """Keep the end of a log, and return its SHA-256."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "log.txt"
        place.write_bytes(log.encode(errors="replace")[-MOST_LOG_BYTES:])
        return arena.artifacts.keep(place, MOST_LOG_BYTES, ".log").sha256
