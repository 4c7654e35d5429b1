"""The runner: submitted code answers questions in the sandbox, on a side where no label is.

It has the submitted file, the sealed signals and the key of the orders; what it leaves is a file of predictions per
part, kept before the run goes on to the scorer.
"""

from __future__ import annotations

import contextlib
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Connection, select

from neuroarena.competition.arena import Arena, read_about, write_about
from neuroarena.competition.artifacts import Artifact
from neuroarena.competition.checking import ENDING
from neuroarena.competition.events import append_event
from neuroarena.competition.failures import Failure, fail_run, keep_log
from neuroarena.competition.intake import read_submission
from neuroarena.competition.machines import find_slowness, require_tested_worker
from neuroarena.competition.queue import Fenced, Job, change_state, give_back, hand_on
from neuroarena.competition.runtimes import read_chosen_runtime
from neuroarena.competition.tables import ANSWER, RUN
from neuroarena.competition.tracks import Track
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.code import find_contract
from neuroarena.evaluation.model_contract import Answered, Asking
from neuroarena.evaluation.questions import open_questions
from neuroarena.progress import Progress
from neuroarena.sandbox import Control, Limits
from neuroarena.sandbox.archives import SubmissionRefused
from neuroarena.sandbox.cgroups import can_limit
from neuroarena.sandbox.guests import SubmissionFailed
from neuroarena.sandbox.runtime import using_runtime
from neuroarena.sandbox.selftest import require_walls

_TELL_S = 5.0
_MOST_STAGE = 64
# What the sandbox says of a failure -> the phrase that the team reads.
_FAILURES: dict[str, Failure] = {
    "the constructor failed": "exception",
    "the model could not be built": "exception",
    "the model failed": "exception",
    "wrong output shape": "shape",
    "wrong output values": "not-finite",
    "its process ended without an answer": "exit",
    "broke the protocol": "protocol",
    "stopped by the limit of time": "time",
    "stopped by the limit of memory": "memory",
    "stopped by the limit of processes": "processes",
    "stopped by the limit of output": "output",
}


def run_code(arena: Arena, job: Job, cancel: threading.Event | None = None) -> None:
    """Let submitted code answer, keep its answers, and hand the run on to the scorer; or say why it failed.

    Parameters
    ----------
    arena : Arena
    job : Job
        In the state "running".
    cancel : Event, optional
        Ends the guest, when set: another worker has the run, or this one stops.

    Raises
    ------
    Fenced
        When another worker has taken the run over.
    NeuroarenaError
        When something is wrong with this machine: the run is tried again.
    """
    row = read_submission(arena, job.submission)
    track = arena.competition.track(row["track"])
    require_ready_runner(arena, job, row["phase"])
    with _named(arena.artifacts.open(row["sha256"], ENDING["code"]), row["file"]) as code:
        try:
            answered = _ask(arena, job, row, track, code, Control(cancel))
        except SubmissionRefused as error:
            # Nothing of the data was seen yet: the reason can be told in full.
            _fail_before(arena, job, str(error))
            return
        except SubmissionFailed as error:
            failure = _FAILURES.get(error.phrase, "exception")
            if failure != "time" or not _excuse_time(arena, job):
                fail_run(arena, job, failure, f"{error}\n{error.outcome.stderr_tail}")
            return
    _keep(arena, job, answered)


def require_ready_runner(arena: Arena, job: Job, phase: str) -> None:
    """Refuse to run a stranger's code where a wall does not hold, or limits are not enforced and must be.

    Raises
    ------
    NeuroarenaError
    """
    require_tested_worker(arena, job.owner)
    require_walls([arena.vault.folder, arena.folder])
    require_hard_limits(arena, phase)


def _excuse_time(arena: Arena, job: Job) -> bool:
    """Return whether a time limit was this machine's fault, once for each run: then it is queued again.

    The reference job is run at once, beside whatever slowed the code down.
    """
    with arena.store.reading() as connection:
        measured = connection.execute(select(RUN.c.measured).where(RUN.c.id == job.run)).scalar()
    if measured is not None and "slow_machine" in measured:
        return False
    with using_runtime(read_chosen_runtime(arena)):
        slowness = find_slowness(arena)
    if slowness is None:
        return False
    with arena.store.writing() as connection:
        mine = (RUN.c.id == job.run) & (RUN.c.fence == job.fence)
        connection.execute(RUN.update().where(mine).values(measured={"slow_machine": slowness}))
    give_back(arena.store, job, "The machine was slow when the time limit was hit.")
    return True


def require_hard_limits(arena: Arena, phase: str) -> None:
    """Refuse to run code of a sealed phase where the kernel does not enforce its limits, unless that was accepted.

    Raises
    ------
    NeuroarenaError
    """
    if not arena.competition.phase(phase).sealed or can_limit():
        return
    with arena.store.reading() as connection:
        accepted = read_about(connection, "soft_limits") == "accepted"
    if not accepted:
        raise NeuroarenaError(
            f'The phase "{phase}" is sealed, and no control group can be written here: limits would be looked after '
            "instead of enforced. Run the worker where one can, or accept that: neuroarena worker --soft-limits"
        )


def accept_soft_limits(arena: Arena) -> None:
    """Accept that limits of sealed phases are looked after instead of enforced; the events say so."""
    with arena.store.writing() as connection:
        write_about(connection, "soft_limits", "accepted")
        now = arena.store.clock(connection)
        append_event(connection, now, "organiser", "soft-limits", arena.competition.name, {"accepted": True})


def _ask(arena: Arena, job: Job, row: dict[str, Any], track: Track, code: Path, control: Control) -> Answered:
    rules = track.code
    limits = Limits(
        memory_mb=rules.memory_mb, seconds=rules.seconds, output_mb=rules.tmp_mb, processes=rules.processes
    )
    seed = arena.orders.seed(row["id"], row["sha256"], "order")
    return ask_code(
        arena, row, code, Asking(limits, None, control, seed, rules.windows), StageProgress(arena, job)
    )


def ask_code(
    arena: Arena, row: Mapping[str, Any], code: Path, asking: Asking, progress: Progress | None = None
) -> Answered:
    """Put the questions of a submission's track and phase to code, through the contract of its family.

    Raises
    ------
    InputError
        When the family takes no code in a competition.
    SubmissionRefused, SubmissionFailed
        When the code is not what the contract asks for, or does not do what it must.
    """
    track = arena.competition.track(row["track"])
    contract: Any = find_contract(track.benchmark)[0]
    if not hasattr(contract, "ask"):
        raise InputError(f'"{track.benchmark}" takes code on a laptop, but not in a competition.')
    sheet = arena.sheet(row["track"], row["phase"])
    opened = getattr(contract, "open_questions", open_questions)
    questions = {part: opened(arena.questions_folder(sheet, part)) for part in arena.parts(sheet)}
    with using_runtime(read_chosen_runtime(arena)):
        answered: Answered = contract.ask(code, questions, asking, progress)
    return answered


def _keep(arena: Arena, job: Job, answered: Answered) -> None:
    """Keep answers and log as artifacts, then move on: a run that is "scoring" always has its predictions."""
    kept = {part: keep_table(arena, table) for part, table in answered.tables.items()}
    log = keep_log(arena, answered.log) if answered.log else None
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        keep_answers(connection, job.run, kept)
        facts = {"runtime_digest": answered.ran["runtime"], "measured": answered.ran, "log_sha256": log}
        hand_on(connection, now, job, "scoring", "scorer", **facts)


def keep_answers(connection: Connection, run: str, kept: Mapping[str, Artifact]) -> None:
    """Write which file answers which part of a run, inside the caller's transaction."""
    # A run that was tried before may have left answers; those of this try are the ones that are scored.
    connection.execute(ANSWER.delete().where(ANSWER.c.run == run))
    for part, file in kept.items():
        row = {"run": run, "part": part, "sha256": file.sha256, "bytes": file.n_bytes}
        connection.execute(ANSWER.insert().values(**row))


def keep_table(arena: Arena, table: pd.DataFrame) -> Artifact:
    """Keep a table of answers, and return its SHA-256 and size."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "predictions.parquet"
        table.to_parquet(place, index=False)
        return arena.artifacts.keep(place, place.stat().st_size)


def _fail_before(arena: Arena, job: Job, reason: str) -> None:
    with arena.store.writing() as connection:
        change_state(connection, arena.store.clock(connection), job, "failed", reason, "theirs")


@contextlib.contextmanager
def _named(path: Path, name: str) -> Iterator[Path]:
    """Yield a kept file under the name that its team gave it: messages say that name."""
    with tempfile.TemporaryDirectory() as folder:
        link = Path(folder) / name
        link.symlink_to(path)
        yield link


class StageProgress:
    """Progress that is written into the row of the run, now and then, for people who look at the queue."""

    def __init__(self, arena: Arena, job: Job) -> None:
        self._arena, self._job = arena, job
        self._done: dict[str, tuple[int, int | None]] = {}
        self._told = 0.0

    def begin(self, stage: str, total: int | None, done: int = 0) -> None:
        """Start a stage."""
        self._done[stage] = (done, total)

    def advance(self, stage: str, count: int = 1) -> None:
        """Move a stage on, and tell of it every five seconds.

        Raises
        ------
        Fenced
            When another worker has the run: there is no use in going on.
        """
        done, total = self._done[stage]
        self._done[stage] = (done + count, total)
        if time.monotonic() - self._told < _TELL_S:
            return
        self._told = time.monotonic()
        words = f"asking {stage}: {done + count} of {total}"[:_MOST_STAGE]
        with self._arena.store.writing() as connection:
            mine = (RUN.c.id == self._job.run) & (RUN.c.fence == self._job.fence)
            if connection.execute(RUN.update().where(mine).values(stage=words)).rowcount != 1:
                raise Fenced(f"Run {self._job.run} was taken over by another worker.")

    def say(self, stage: str, text: str) -> None:
        """Ignore it."""
