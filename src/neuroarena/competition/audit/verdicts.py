"""The verdicts of an audit: one rule over all audited entries, and what overrules it."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import select

from neuroarena.competition.arena import Arena
from neuroarena.competition.audit.records import AuditRecord, read_audit
from neuroarena.competition.events import append_event
from neuroarena.competition.rules import AuditRule
from neuroarena.competition.tables import AUDIT
from neuroarena.statistics.audits import (
    SHUFFLES,
    Verdict,
    judge_replays,
    judge_two_sigma,
    knows_without_labels,
)

Said = tuple[Verdict, str]


def conclude_audits(arena: Arena) -> dict[str, Said]:
    """Judge the newest audit of every submission anew, write verdicts that changed, and return all of them.

    The p-values of all audited entries are adjusted together, so that a later audit can change an earlier verdict;
    every change is an event.

    Returns
    -------
    dict
        Audit -> verdict and the reason in words, without scores.
    """
    with arena.store.reading() as connection:
        asked = select(AUDIT).where(AUDIT.c.ended.is_not(None)).order_by(AUDIT.c.asked, AUDIT.c.id)
        ended = [
            row for row in connection.execute(asked).mappings() if "record_sha256" in (row["evidence"] or {})
        ]
    rows = {row["submission"]: row for row in ended}
    records = [read_audit(arena, row["id"], row["evidence"]["record_sha256"]) for row in rows.values()]
    rules = arena.competition.audit or AuditRule()
    said = dict(zip([record.audit for record in records], judge_records(records, rules), strict=True))
    for row in rows.values():
        verdict, reason = said[row["id"]]
        if (row["verdict"], row["reason"]) == (verdict, reason):
            continue
        with arena.store.writing() as connection:
            now = arena.store.clock(connection)
            changed = AUDIT.update().where(AUDIT.c.id == row["id"]).values(verdict=verdict, reason=reason)
            connection.execute(changed)
            facts = {"audit": row["id"], "verdict": verdict, "reason": reason}
            append_event(connection, now, "scorer", "verdict", row["submission"], facts)
    return said


def judge_records(records: Sequence[AuditRecord], rules: AuditRule) -> list[Said]:
    """Return the verdict of each record with its reason; p-values are adjusted over all that were replayed.

    Reasons hold no score: they are shown while the data are still sealed.
    """
    replayed = [record for record in records if record.rule == "replays"]
    judged = judge_replays([record.compared for record in replayed], rules.alpha)
    by_rule = {record.audit: found.verdict for record, found in zip(replayed, judged, strict=True)}
    by_rule |= {
        record.audit: judge_two_sigma(record.compared).verdict
        for record in records
        if record.rule == "two-sigma"
    }
    return [_judge_one(record, by_rule[record.audit], rules) for record in records]


def _judge_one(record: AuditRecord, by_rule: Verdict, rules: AuditRule) -> Said:
    count = len(record.replays)
    if not record.scores:
        days = f"{rules.days:g}"
        return "inconclusive", f"The pipeline did not run; the team has {days} days to mend it."
    if record.weights_problem is not None:
        return "not reproduced", record.weights_problem
    if _learned_elsewhere(record):
        return "not reproduced", "Trained on shuffled labels, it still scores far above chance."
    if by_rule == "inconclusive":
        return by_rule, f"{count} replay is too few to judge."
    times = "1 replay" if count == 1 else f"{count} replays"
    how = "agrees with" if by_rule == "reproduced" else "exceeds what can come from"
    if record.rule == "two-sigma" and by_rule == "not reproduced":
        how = "differs by more than two standard errors from"
    return by_rule, f"The claimed score {how} {times}."


def _learned_elsewhere(record: AuditRecord) -> bool:
    """Return whether every replay with shuffled labels scored too well; an honest one may do so now and then."""
    found = [each.score for each in record.shuffled]
    return len(found) == SHUFFLES and all(
        score is not None
        and knows_without_labels(
            record.sign * record.claimed, record.sign * score, record.sign * record.chance, record.sigma
        )
        for score in found
    )
