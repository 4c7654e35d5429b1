"""Ask for an audit: its replays become runs that workers claim, as they claim submissions."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.benchmarks import Benchmark, load_benchmarks
from neuroarena.competition.arena import TRAINING, Arena
from neuroarena.competition.artifacts import Artifact
from neuroarena.competition.audit.claims import (
    compare_weights,
    find_claim,
    find_pipeline,
    find_scored,
)
from neuroarena.competition.audit.pipelines import FILE, Pipeline, read_pipeline
from neuroarena.competition.audit.records import Rule
from neuroarena.competition.audit.replay_data import Asked, refuse_sealed_training, write_replay_data
from neuroarena.competition.events import append_event
from neuroarena.competition.intake import choose_label
from neuroarena.competition.queue import write_transition
from neuroarena.competition.rules import AuditRule
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import AUDIT, RUN
from neuroarena.competition.zones import open_training
from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.sandbox.archives import unpack_submission

PURPOSE = "audit"
# Below all submissions: nobody waits for an audit.
PRIORITY = -5
MOST_PIPELINE_BYTES = 2**31


def request_audit(
    arena: Arena,
    submission: str,
    questions: Mapping[str, Asked],
    *,
    rule: Rule | None = None,
    mended: Path | None = None,
) -> str:
    """Queue the replays of a submission's committed training, and return the id of the audit.

    What a replay reads is written where the runner finds it: the public training part with its labels, and the signals
    of the test part without theirs.

    Parameters
    ----------
    arena : Arena
    submission : str
        A scored one.
    questions : mapping of part to Asked
        What the track asks; see :func:`load_questions`.
    rule : {"replays", "two-sigma"}, optional
        By default the competition's.
    mended : Path, optional
        A pipeline that the team mended after the committed one did not run; the record says so.

    Raises
    ------
    InputError
        When there is nothing to replay, or a training part holds sealed labels; nothing is queued then.
    """
    claim, rules = find_claim(arena, submission), arena.competition.audit or AuditRule()
    row, chosen = claim.row, rule or rules.rule
    kept = _keep_pipeline(arena, submission, mended)
    track, phase = arena.competition.track(row["track"]), row["phase"]
    sheet = track.sheet(phase)
    if arena.competition.phase(phase).sealed:
        for part, asked in questions.items():
            refuse_sealed_training(asked.split.folds, arena.ids(sheet, part)["id"], track.name)
    with unpack_submission(arena.artifacts.open(kept.sha256, ".zip"), FILE) as folder:
        pipeline = read_pipeline(folder, mended.name if mended is not None else row["file"])
    _write_data(arena, sheet, pipeline, questions)
    wanted, most = (1, 1) if chosen == "two-sigma" else (rules.replays, rules.most_replays)
    seconds, memory_mb = rules.limits_of(track.name)
    plan = {
        "pipeline": kept.sha256,
        "committed": mended is None,
        "wanted": wanted,
        "most": most,
        "seconds": seconds,
        "memory_mb": memory_mb,
        "split": digest({part: asked.split.hash for part, asked in questions.items()}),
        "weights_problem": compare_weights(arena, claim, pipeline.weights),
    }
    audit = f"a{secrets.token_hex(5)}"
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        asked_for: dict[str, Any] = {"id": audit, "submission": submission, "rule": chosen, "asked": now}
        connection.execute(AUDIT.insert().values(**asked_for, evidence={"plan": plan}))
        append_event(connection, now, "organiser", "audit", submission, {"audit": audit, "rule": chosen})
        queue_replays(connection, arena, audit, row, [("replay", k + 1) for k in range(wanted)])
    return audit


def queue_replays(
    connection: Connection, arena: Arena, audit: str, row: Mapping[str, Any], names: Sequence[tuple[str, int]]
) -> None:
    """Write replays as runs inside the caller's transaction; those that are there already stay as they are.

    Parameters
    ----------
    connection : Connection
    arena : Arena
    audit : str
    row : mapping
        Of the submission.
    names : sequence of (kind, number)
        "replay", or "shuffled" for one on shuffled labels, and its number.
    """
    now = arena.store.clock(connection)
    there = set(connection.execute(select(RUN.c.id).where(RUN.c.of == audit)).scalars())
    for kind, number in names:
        run = f"{audit}-{kind[0]}{number}"
        if run in there:
            continue
        work: dict[str, Any] = {"id": run, "submission": row["id"], "team": row["team"], "received": now}
        work |= {"state": "queued", "label": choose_label(arena, row["track"], "code"), "priority": PRIORITY}
        work |= {"fence": 0, "tries": 0, "not_before": now, "purpose": PURPOSE, "of": audit}
        connection.execute(RUN.insert().values(**work, measured={"kind": kind, "number": number}))
        write_transition(connection, now, run, "queued", "organiser", None)


def list_open_runs(arena: Arena, audits: Sequence[str]) -> list[str]:
    """Return the runs of audits that have not ended yet, oldest first."""
    asked = select(RUN.c.id).where(RUN.c.of.in_(audits), RUN.c.state.not_in(TERMINAL))
    with arena.store.reading() as connection:
        return list(connection.execute(asked.order_by(RUN.c.received, RUN.c.id)).scalars())


def load_questions(arena: Arena, submission: str, data: str | None = None) -> dict[str, Asked]:
    """Bind what a submission's track asks to its data, part by part, as it was when the truth was sealed.

    Raises
    ------
    InputError
        When the data cannot be read, or do not hold the questions that were sealed.
    """
    row = find_scored(arena, submission)
    track, phase = arena.competition.track(row["track"]), row["phase"]
    sheet = track.sheet(phase)
    loaded = load_benchmarks(track.benchmark, data or track.data_in(phase), **track.options_in(phase))
    found = {}
    for benchmark in loaded:
        part = benchmark.name.partition("/")[2] if len(arena.parts(sheet)) > 1 else ""
        if part not in arena.parts(sheet) or not isinstance(benchmark, Benchmark):
            continue
        split = benchmark.split(track.split_in(phase) or benchmark.splits[0])
        asked = {example for fold in split.folds for example in fold.test}
        if asked == set(arena.ids(sheet, part)["id"]):
            found[part] = Asked(benchmark, split)
    if set(found) != set(arena.parts(sheet)):
        raise InputError(
            f'These data do not hold the questions of the track "{track.name}". Name its own with --data.'
        )
    return found


def list_audits(arena: Arena) -> list[dict[str, object]]:
    """List all audits, oldest first: submission, rule, verdict and reason; no score is in it."""
    with arena.store.reading() as connection:
        rows = connection.execute(select(AUDIT).order_by(AUDIT.c.asked, AUDIT.c.id)).mappings().all()
    return [
        {
            "audit": row["id"],
            "submission": row["submission"],
            "rule": row["rule"],
            "verdict": row["verdict"] or ("under way" if row["ended"] is None else None),
            "reason": row["reason"],
            "record_sha256": (row["evidence"] or {}).get("record_sha256"),
        }
        for row in rows
    ]


def _keep_pipeline(arena: Arena, submission: str, mended: Path | None) -> Artifact:
    if mended is None:
        file, sha256 = find_pipeline(arena, submission)
        return Artifact(sha256, file.stat().st_size)
    if not mended.is_file():
        raise InputError(f"{mended}: there is no such file. Expected a zip with {FILE} at its root.")
    return arena.artifacts.keep(mended, MOST_PIPELINE_BYTES, ".zip")


def _write_data(arena: Arena, sheet: str, pipeline: Pipeline, questions: Mapping[str, Asked]) -> None:
    """Write what replays of a sheet read, once, and let whoever reads the sealed signals read it."""
    place = arena.training_folder(sheet, pipeline.makes)
    if place.exists():
        return
    place.parent.mkdir(parents=True, exist_ok=True)
    (arena.folder / TRAINING).chmod(0o700)
    write_replay_data(questions, place, pipeline.makes)
    open_training(arena.folder / TRAINING, (arena.folder / "orders").stat().st_uid)
