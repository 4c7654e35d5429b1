"""The scorer's side of an audit: score what a replay answered, ask for more replays or end it, and keep the record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from neuroarena.competition.answers import read_kept_answers
from neuroarena.competition.arena import Arena
from neuroarena.competition.audit.claims import Claim, find_claim, join_scores
from neuroarena.competition.audit.records import AuditRecord, Hashes, ReplayRecord, keep_record
from neuroarena.competition.audit.replaying import read_told
from neuroarena.competition.audit.requests import queue_replays
from neuroarena.competition.audit.verdicts import conclude_audits
from neuroarena.competition.events import append_event
from neuroarena.competition.intake import read_submission
from neuroarena.competition.queue import Job, change_state
from neuroarena.competition.scorer import score_answers
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import AUDIT, RUN
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.record import describe_software
from neuroarena.scoring import SCORER_VERSION, UnitScores
from neuroarena.statistics.audits import SHUFFLES, Replays, knows_without_labels, leaves_doubt

INTERRUPTED = "The audit was interrupted; nothing is held against the team."


def score_replayed(arena: Arena, job: Job) -> None:
    """Score what a replay answered, where the truth is, and move its audit on.

    Scores stay in the vault; the run says only that it was scored, or that the pipeline did not run.

    Raises
    ------
    Fenced
        When another worker has taken the run over.
    """
    told, row = read_told(arena, job.run), read_submission(arena, job.submission)
    found = _read_measured(arena, job.run)
    failed = found.get("failed")
    if failed is None:
        by_code = found["makes"] == "code"
        answers = read_kept_answers(arena, row, job.run, by_code=by_code)
        for part, scored in score_answers(arena, row, answers).items():
            arena.vault.keep_scores(job.run, scored, part)
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        if failed is None:
            change_state(connection, now, job, "scored")
        else:
            change_state(connection, now, job, "failed", failed, "theirs")
    advance_audit(arena, told.audit)


def advance_audits(arena: Arena) -> str:
    """Move on every audit that has not ended, and say how many there are; workers do so again and again."""
    with arena.store.reading() as connection:
        waiting = list(connection.execute(select(AUDIT.c.id).where(AUDIT.c.ended.is_(None))).scalars())
    for audit in waiting:
        advance_audit(arena, audit)
    return f"{len(waiting)} under way"


def advance_audit(arena: Arena, audit: str) -> None:
    """Ask for the replays that the rule still wants, or end the audit; while some are under way, do nothing.

    It may be called at any time and by several workers at once: what was asked for is not asked again.
    """
    with arena.store.reading() as connection:
        row = connection.execute(select(AUDIT).where(AUDIT.c.id == audit)).mappings().one()
        asked = select(RUN).where(RUN.c.of == audit).order_by(RUN.c.received, RUN.c.id)
        runs = [dict(each) for each in connection.execute(asked).mappings()]
    if row["ended"] is not None or any(run["state"] not in TERMINAL for run in runs):
        return
    if any(run["state"] not in ("scored", "failed") for run in runs):
        _abandon(arena, audit)
        return
    state = _State.read(arena, dict(row), runs)
    wanted = state.find_wanted()
    missing = [name for name in wanted if name not in state.made]
    if missing:
        with arena.store.writing(f"audit:{audit}") as connection:
            queue_replays(connection, arena, audit, state.claim.row, missing)
        return
    _end(arena, state)
    conclude_audits(arena)


@dataclass(frozen=True)
class _State:
    """An audit whose runs have all ended: what was claimed, what was planned, and how each run went."""

    row: Mapping[str, Any]
    claim: Claim
    made: Mapping[tuple[str, int], ReplayRecord]
    runs: Sequence[Mapping[str, Any]]

    @classmethod
    def read(cls, arena: Arena, row: Mapping[str, Any], runs: Sequence[Mapping[str, Any]]) -> _State:
        claim = find_claim(arena, row["submission"])
        made = {}
        for run in runs:
            said = run["measured"]
            made[said["kind"], said["number"]] = _describe(arena, claim, run)
        return cls(row, claim, made, runs)

    @property
    def plan(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.row["evidence"]["plan"]
        return found

    def list_made(self, kind: str) -> list[ReplayRecord]:
        return [self.made[name] for name in sorted(self.made) if name[0] == kind]

    def find_wanted(self) -> list[tuple[str, int]]:
        """List all replays that the rule asks for, as far as that can be known by now."""
        claim, replays = self.claim, self.list_made("replay")
        if any(each.score is None for each in replays):
            return []
        scores = tuple(claim.sign * each.score for each in replays if each.score is not None)
        doubtful = leaves_doubt(Replays(claim.sign * claim.value, scores, claim.sigma))
        more = len(replays) < self.plan["most"] and doubtful and len(replays) == self.plan["wanted"]
        count = self.plan["most"] if more else max(len(replays), self.plan["wanted"])
        if count > len(replays):
            return [("replay", number + 1) for number in range(count)]
        shuffled = self.list_made("shuffled")
        again = all(self._knows(each) for each in shuffled) and len(shuffled) < SHUFFLES
        return [("shuffled", number + 1) for number in range(len(shuffled) + again)]

    def _knows(self, shuffled: ReplayRecord) -> bool:
        """Return whether a replay on shuffled labels scored better than one should that learns from labels."""
        claim = self.claim
        return shuffled.score is not None and knows_without_labels(
            claim.sign * claim.value, claim.sign * shuffled.score, claim.sign * claim.chance, claim.sigma
        )


def _describe(arena: Arena, claim: Claim, run: Mapping[str, Any]) -> ReplayRecord:
    said = run["measured"]
    if run["state"] == "failed":
        return ReplayRecord(seed=said["seed"], status="failed", reason=run["reason"])
    units: dict[str, UnitScores] = {}
    for part in claim.manifests:
        found = arena.vault.read_scores(run["id"], SCORER_VERSION, part)
        if found is None:
            raise NeuroarenaError(
                f"The scores of the replay {run['id']} are missing. Put them back from a backup."
            )
        units[part] = found
    return ReplayRecord(
        seed=said["seed"],
        status="scored",
        score=join_scores(arena, claim, units),
        sha256=said["sha256"],
        seconds=said["seconds"],
        peak_memory_mb=said["peak_memory_mb"],
    )


def _end(arena: Arena, state: _State) -> None:
    """Keep the record in the vault, and say in the store that it is there and what it rests on."""
    row, claim, plan = state.row, state.claim, state.plan
    found = [run["measured"] for run in state.runs]
    first: dict[str, Any] = next((each for each in found if "failed" not in each), {})
    environment: dict[str, Any] = {**describe_software()}
    environment |= {"isolation": first.get("isolation"), "runtime_digest": first.get("runtime")}
    environment["warnings"] = sorted({word for each in found for word in each.get("warnings", ())})
    problems = [plan["weights_problem"], *(each.get("weights_problem") for each in found)]
    with arena.store.writing(f"audit:{row['id']}") as connection:
        now = arena.store.clock(connection)
        ended = connection.execute(select(AUDIT.c.ended).where(AUDIT.c.id == row["id"])).scalar()
        if ended is not None:
            return
        record = AuditRecord(
            audit=row["id"],
            **{name: claim.row[name] for name in ("team", "track", "phase")},
            submission=row["submission"],
            rule=row["rule"],
            committed=plan["committed"],
            hashes=Hashes(
                pipeline=plan["pipeline"],
                submission=claim.row["sha256"],
                manifest=claim.rules_hash,
                split=plan["split"],
            ),
            claimed=claim.value,
            sigma=claim.sigma,
            chance=claim.chance,
            meaningful=arena.competition.track(claim.row["track"]).meaningful or 0.0,
            sign=claim.sign,
            replays=tuple(state.list_made("replay")),
            shuffled=tuple(state.list_made("shuffled")),
            weights_problem=next((each for each in problems if each is not None), None),
            limits={name: plan[name] for name in ("seconds", "memory_mb")},
            environment=environment,
            started=row["asked"].isoformat(),
            ended=now.isoformat(),
        )
        sha256 = keep_record(arena, record)
        evidence = {"plan": plan, "record_sha256": sha256, "replays": len(record.replays)}
        evidence |= {"committed": record.committed, "hashes": record.hashes.model_dump()}
        evidence["environment"] = environment
        changed = AUDIT.update().where(AUDIT.c.id == row["id"]).values(ended=now, evidence=evidence)
        connection.execute(changed)
        facts = {"audit": record.audit, "record_sha256": sha256}
        append_event(connection, now, "scorer", "audit ended", record.submission, facts)


def _abandon(arena: Arena, audit: str) -> None:
    """Record that an audit ended without a record: a replay could not be run here."""
    with arena.store.writing(f"audit:{audit}") as connection:
        now = arena.store.clock(connection)
        mine = (AUDIT.c.id == audit) & AUDIT.c.ended.is_(None)
        connection.execute(AUDIT.update().where(mine).values(ended=now, reason=INTERRUPTED))


def _read_measured(arena: Arena, run: str) -> dict[str, Any]:
    with arena.store.reading() as connection:
        return dict(connection.execute(select(RUN.c.measured).where(RUN.c.id == run)).scalar() or {})
