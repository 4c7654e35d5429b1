"""An overview for organisers: what waits, who works, what is kept for them, and when each duty is due."""

from __future__ import annotations

from typing import Any

from sqlalchemy import func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.machines import describe_self_test
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import RUN, SCHEDULE, SUBMISSION, WORKER
from neuroarena.competition.times import format_utc


def describe_queue(arena: Arena) -> dict[str, list[dict[str, Any]]]:
    """Return runs by state and label, living workers, runs in quarantine, and duties, as plain rows."""
    with arena.store.reading() as connection:
        waiting = connection.execute(
            select(RUN.c.state, RUN.c.label, func.count(), func.min(RUN.c.received))
            .where(RUN.c.state.not_in(TERMINAL))
            .group_by(RUN.c.state, RUN.c.label)
            .order_by(RUN.c.state, RUN.c.label)
        ).all()
        workers = connection.execute(
            select(WORKER).where(WORKER.c.stopped.is_(None)).order_by(WORKER.c.started)
        ).mappings()
        kept = connection.execute(
            select(SUBMISSION.c.id, SUBMISSION.c.team, SUBMISSION.c.track, RUN.c.reason)
            .join(RUN, RUN.c.submission == SUBMISSION.c.id)
            .where(RUN.c.quarantined)
            .order_by(SUBMISSION.c.received)
        ).all()
        duties = connection.execute(select(SCHEDULE).order_by(SCHEDULE.c.due)).mappings()
        return {
            "waiting": [
                {"state": state, "label": label, "runs": count, "oldest_utc": format_utc(oldest)}
                for state, label, count, oldest in waiting
            ],
            "workers": [
                {
                    "worker": row["owner"],
                    "labels": row["labels"],
                    "seen_utc": format_utc(row["seen"]),
                    "self_test": describe_self_test(row["self_test"]),
                }
                for row in workers
            ],
            "kept for you": [
                {"submission": name, "team": team, "track": track, "reason": reason}
                for name, team, track, reason in kept
            ],
            "duties": [
                {"duty": row["name"], "due_utc": format_utc(row["due"]), "outcome": row["outcome"]}
                for row in duties
            ],
        }
