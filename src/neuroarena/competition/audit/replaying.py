"""The runner's side of an audit: a replay is a run, trained in the sandbox and handed on to the scorer."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd
from sqlalchemy import select

from neuroarena.competition.arena import Arena
from neuroarena.competition.audit.pipelines import FILE, read_pipeline
from neuroarena.competition.audit.replays import (
    Replayed,
    ReplayFailed,
    ask_made_code,
    compare_made_weights,
    join_predictions,
    replay,
)
from neuroarena.competition.failures import keep_log
from neuroarena.competition.intake import read_submission
from neuroarena.competition.queue import Job, hand_on
from neuroarena.competition.runner import keep_answers, keep_table, require_ready_runner
from neuroarena.competition.runtimes import read_chosen_runtime
from neuroarena.competition.tables import AUDIT, RUN
from neuroarena.sandbox import Control, Limits
from neuroarena.sandbox.archives import unpack_submission
from neuroarena.sandbox.runtime import using_runtime


@dataclass(frozen=True)
class Told:
    """What the rows of an audit say about one of its runs: the audit's plan, and which replay this is."""

    audit: str
    rule: str
    plan: Mapping[str, Any]
    kind: str
    number: int


def read_told(arena: Arena, run: str) -> Told:
    """Return what a run of an audit is to do."""
    asked = select(AUDIT.c.id, AUDIT.c.rule, AUDIT.c.evidence, RUN.c.measured).join(
        RUN, RUN.c.of == AUDIT.c.id
    )
    with arena.store.reading() as connection:
        row = connection.execute(asked.where(RUN.c.id == run)).mappings().one()
    said = row["measured"]
    return Told(row["id"], row["rule"], row["evidence"]["plan"], said["kind"], said["number"])


def run_replay(arena: Arena, job: Job, cancel: threading.Event | None = None) -> None:
    """Train anew in the sandbox with a seed that nobody knew, keep what was answered, and hand the run on.

    A pipeline that fails is handed on too: how it failed is part of the record, which only the scorer writes. What it
    printed is kept as a log, for organisers.

    Raises
    ------
    Fenced
        When another worker has taken the run over.
    NeuroarenaError
        When something is wrong with this machine: the run is tried again.
    """
    row, told = read_submission(arena, job.submission), read_told(arena, job.run)
    require_ready_runner(arena, job, row["phase"])
    seed = draw_seed(arena, told, row["id"])
    found: dict[str, Any] = {"kind": told.kind, "number": told.number, "seed": seed}
    tables: dict[str, pd.DataFrame] = {}
    log = None
    try:
        makes, done, tables = _replay(arena, row, told, seed, Control(cancel))
        found["makes"] = makes
        found |= {"sha256": done.sha256, "seconds": round(done.seconds, 3), "warnings": list(done.warnings)}
        found |= {"peak_memory_mb": done.peak_memory_mb, "isolation": done.isolation, "runtime": done.runtime}
        found["weights_problem"] = done.weights_problem
    except ReplayFailed as error:
        found["failed"] = error.phrase
        log = keep_log(arena, f"{error}\n{error.outcome.stderr_tail if error.outcome else ''}")
    kept = {part: keep_table(arena, table) for part, table in tables.items()}
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        keep_answers(connection, job.run, kept)
        facts = {"measured": found, "log_sha256": log, "runtime_digest": found.get("runtime")}
        hand_on(connection, now, job, "scoring", "scorer", **facts)


def draw_seed(arena: Arena, told: Told, submission: str) -> int:
    """Return a seed that nobody could know when the pipeline was committed, and anyone can compute at the end."""
    purpose = f"audit|{told.audit}|{told.kind} {told.number}"
    return arena.orders.seed(submission, told.plan["pipeline"], purpose) % 2**31


def _replay(
    arena: Arena, row: Mapping[str, Any], told: Told, seed: int, control: Control
) -> tuple[str, Replayed, dict[str, pd.DataFrame]]:
    sheet = arena.sheet(row["track"], row["phase"])
    limits = Limits(seconds=told.plan["seconds"], memory_mb=told.plan["memory_mb"])
    archive = arena.artifacts.open(told.plan["pipeline"], ".zip")
    shuffled = told.kind == "shuffled"
    with unpack_submission(archive, FILE) as folder, using_runtime(read_chosen_runtime(arena)):
        pipeline = read_pipeline(folder, archive.name)
        data = arena.training_folder(sheet, pipeline.makes)
        done = replay(pipeline, folder, data, seed, limits, shuffled=shuffled, control=control)
        if pipeline.makes == "code":
            done = compare_made_weights(done, pipeline.weights)
            return pipeline.makes, done, ask_made_code(arena, row, done, limits, seed, control)
        return pipeline.makes, done, {"": join_predictions(done, data, arena.manifest(sheet))}
