"""Audit submissions: replay what was committed, keep the record, and judge all audited entries together."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import secrets
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import select

from neuroarena.benchmarks import Benchmark, load_benchmarks
from neuroarena.competition.arena import Arena
from neuroarena.competition.audit.claims import (
    Claim,
    compare_weights,
    find_claim,
    find_pipeline,
    find_scored,
    score_replay,
)
from neuroarena.competition.audit.pipelines import FILE, Pipeline, read_pipeline
from neuroarena.competition.audit.records import AuditRecord, Hashes, ReplayRecord, Rule, keep_record
from neuroarena.competition.audit.replay_data import Asked, refuse_sealed_training
from neuroarena.competition.audit.replays import ReplayFailed, ask_made_code, join_predictions, replay
from neuroarena.competition.audit.verdicts import conclude_audits
from neuroarena.competition.events import append_event
from neuroarena.competition.rules import AuditRule
from neuroarena.competition.tables import AUDIT
from neuroarena.errors import InputError
from neuroarena.evaluation.record import describe_software
from neuroarena.fingerprint import digest
from neuroarena.sandbox import Limits
from neuroarena.sandbox.archives import unpack_submission
from neuroarena.sandbox.selftest import require_walls
from neuroarena.statistics.audits import SHUFFLES, Replays, knows_without_labels, leaves_doubt

Report = Callable[[str], None]


@dataclass(frozen=True)
class Committed:
    """A pipeline as it is replayed.

    Attributes
    ----------
    file : Path
    sha256 : str
    in_time : bool
        Whether it was committed before the freeze.
    """

    file: Path
    sha256: str
    in_time: bool


@dataclass(frozen=True)
class _Stage:
    """What all replays of one audit share."""

    arena: Arena
    audit: str
    claim: Claim
    committed: Committed
    pipeline: Pipeline
    folder: Path
    questions: Mapping[str, Asked]
    limits: Limits

    def seed(self, purpose: str) -> int:
        """Return a seed that nobody could know when the pipeline was committed, and anyone can compute at the end."""
        drawn = self.arena.orders.seed(
            self.claim.row["id"], self.committed.sha256, f"audit|{self.audit}|{purpose}"
        )
        return drawn % 2**31


def audit_submission(
    arena: Arena,
    submission: str,
    questions: Mapping[str, Asked],
    *,
    rule: Rule | None = None,
    mended: Path | None = None,
    report: Report | None = None,
) -> str:
    """Replay the committed training of a submission, keep the record, and return the id of the audit.

    Parameters
    ----------
    arena : Arena
    submission : str
        A scored one.
    questions : mapping of part to Asked
        What the track asks; see :func:`load_questions`. Training parts go into the sandbox with their labels; of the
        test parts only the signals do.
    rule : {"replays", "two-sigma"}, optional
        By default the competition's.
    mended : Path, optional
        A pipeline that the team mended after the committed one did not run; the record says so.
    report : callable, optional
        Told of each replay.

    Raises
    ------
    InputError
        When there is nothing to replay, or a training part holds sealed labels.
    NeuroarenaError
        When a wall of the sandbox does not hold here.
    """
    claim, rules = find_claim(arena, submission), arena.competition.audit or AuditRule()
    committed = _choose_pipeline(arena, submission, mended)
    track, phase = arena.competition.track(claim.row["track"]), claim.row["phase"]
    if arena.competition.phase(phase).sealed:
        for part, asked in questions.items():
            sealed = arena.vault.truth(track.sheet(phase), part)["id"]
            refuse_sealed_training(asked.split.folds, sealed, track.name)
    chosen: Rule = rule or rules.rule
    seconds, memory_mb = rules.limits_of(track.name)
    require_walls([arena.vault.folder, arena.folder])
    audit, started = _begin(arena, submission, chosen)
    with _abandoned_if_interrupted(arena, audit), unpack_submission(committed.file, FILE) as folder:
        pipeline = read_pipeline(folder, claim.row["file"])
        limits = Limits(seconds=seconds, memory_mb=memory_mb)
        stage = _Stage(arena, audit, claim, committed, pipeline, folder, questions, limits)
        problem = compare_weights(arena, claim, pipeline.weights)
        replays, environment = _replay_until_sure(stage, rules, chosen, report or _say_nothing)
        shuffled = [] if replays[-1].score is None else _replay_shuffled(stage, report or _say_nothing)
    record = AuditRecord(
        audit=audit,
        **{name: claim.row[name] for name in ("team", "track", "phase")},
        submission=submission,
        rule=chosen,
        committed=committed.in_time,
        hashes=Hashes(
            pipeline=committed.sha256,
            submission=claim.row["sha256"],
            manifest=claim.rules_hash,
            split=digest({part: asked.split.hash for part, asked in questions.items()}),
        ),
        claimed=claim.value,
        sigma=claim.sigma,
        chance=claim.chance,
        meaningful=track.meaningful or 0.0,
        sign=claim.sign,
        replays=tuple(replays),
        shuffled=tuple(shuffled),
        weights_problem=problem,
        limits={"seconds": seconds, "memory_mb": memory_mb},
        environment=environment,
        started=started.isoformat(),
        ended=_now(arena).isoformat(),
    )
    _end(arena, record)
    conclude_audits(arena)
    return audit


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


def _choose_pipeline(arena: Arena, submission: str, mended: Path | None) -> Committed:
    if mended is None:
        file, sha256 = find_pipeline(arena, submission)
        return Committed(file, sha256, in_time=True)
    if not mended.is_file():
        raise InputError(f"{mended}: there is no such file. Expected a zip with {FILE} at its root.")
    return Committed(mended, hashlib.sha256(mended.read_bytes()).hexdigest(), in_time=False)


def _replay_until_sure(
    stage: _Stage, rules: AuditRule, rule: Rule, report: Report
) -> tuple[list[ReplayRecord], dict[str, object]]:
    """Replay as often as the rule asks, and more often where the first replays leave a doubt."""
    environment: dict[str, object] = {**describe_software()}
    wanted, most = (1, 1) if rule == "two-sigma" else (rules.replays, rules.most_replays)
    made: list[ReplayRecord] = []
    while len(made) < wanted:
        made.append(_replay_once(stage, stage.seed(f"replay {len(made) + 1}"), environment))
        report(f"replay {len(made)} of {wanted}: {made[-1].status}")
        if made[-1].score is None:
            break
        if len(made) == wanted < most and _is_doubtful(stage.claim, made):
            wanted = most
    return made, environment


def _replay_shuffled(stage: _Stage, report: Report) -> list[ReplayRecord]:
    """Replay with shuffled labels until one scores no better than it should, and at most so often."""
    claim, made = stage.claim, list[ReplayRecord]()
    while len(made) < SHUFFLES:
        made.append(_replay_once(stage, stage.seed(f"shuffle {len(made) + 1}"), {}, shuffled=True))
        found = made[-1].score
        report(f"replay with shuffled labels: {made[-1].status}")
        if found is None or not knows_without_labels(
            claim.sign * claim.value, claim.sign * found, claim.sign * claim.chance, claim.sigma
        ):
            break
    return made


def _is_doubtful(claim: Claim, made: list[ReplayRecord]) -> bool:
    scores = tuple(claim.sign * each.score for each in made if each.score is not None)
    return leaves_doubt(Replays(claim.sign * claim.value, scores, claim.sigma))


def _replay_once(
    stage: _Stage, seed: int, environment: dict[str, object], *, shuffled: bool = False
) -> ReplayRecord:
    try:
        done = replay(stage.pipeline, stage.folder, stage.questions, seed, stage.limits, shuffled=shuffled)
        if stage.pipeline.makes == "code":
            predictions = ask_made_code(stage.arena, stage.claim.row, done, stage.limits, seed)
        else:
            ((part, asked),) = stage.questions.items()
            predictions = {part: join_predictions(done, asked)}
    except ReplayFailed as error:
        return ReplayRecord(seed=seed, status="failed", reason=str(error)[:2000])
    environment |= {
        "isolation": done.isolation,
        "runtime_digest": done.runtime,
        "warnings": list(done.warnings),
    }
    return ReplayRecord(
        seed=seed,
        status="scored",
        score=score_replay(stage.arena, stage.claim, predictions),
        sha256=done.sha256,
        seconds=round(done.seconds, 3),
        peak_memory_mb=done.peak_memory_mb,
    )


def _begin(arena: Arena, submission: str, rule: Rule) -> tuple[str, datetime.datetime]:
    audit = f"a{secrets.token_hex(5)}"
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        connection.execute(AUDIT.insert().values(id=audit, submission=submission, rule=rule, asked=now))
        append_event(connection, now, "organiser", "audit", submission, {"audit": audit, "rule": rule})
    return audit, now


@contextlib.contextmanager
def _abandoned_if_interrupted(arena: Arena, audit: str) -> Iterator[None]:
    """Say in the store that an audit ended without a record, whatever interrupted it."""
    try:
        yield
    except BaseException:
        with arena.store.writing() as connection:
            now = arena.store.clock(connection)
            said = {"ended": now, "reason": "The audit was interrupted; nothing is held against the team."}
            connection.execute(AUDIT.update().where(AUDIT.c.id == audit).values(**said))
        raise


def _end(arena: Arena, record: AuditRecord) -> None:
    """Keep the record in the vault, and say in the store that it is there and what it rests on."""
    sha256 = keep_record(arena, record)
    evidence = {"record_sha256": sha256, "replays": len(record.replays), "committed": record.committed}
    evidence |= {"hashes": record.hashes.model_dump(), "environment": record.environment}
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        ended = AUDIT.update().where(AUDIT.c.id == record.audit).values(ended=now, evidence=evidence)
        connection.execute(ended)
        facts = {"audit": record.audit, "record_sha256": sha256}
        append_event(connection, now, "organiser", "audit ended", record.submission, facts)


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


def _now(arena: Arena) -> datetime.datetime:
    with arena.store.reading() as connection:
        return arena.store.clock(connection)


def _say_nothing(_: str) -> None:
    return
