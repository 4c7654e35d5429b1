"""How long files are kept: refused files, logs and code go after their time; hashes, receipts and scores stay."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from typing import Any

from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.checking import ENDING
from neuroarena.competition.events import append_event
from neuroarena.competition.tables import RUN, SUBMISSION, TRANSITION


def remove_old_files(arena: Arena) -> str:
    """Remove the files whose time is over, and say how many there were.

    A file that another submission still needs stays. The row keeps its hash and the time of the removal.
    """
    with arena.store.writing("retention") as connection:
        now = arena.store.clock(connection)
        refused = _list_refused(connection, now - _days(arena.competition.retention.refused_days))
        code = _list_code(connection, arena, now)
        for submission in (*refused, *code):
            gone = SUBMISSION.update().where(SUBMISSION.c.id == submission[0]).values(file_removed=now)
            connection.execute(gone)
        logs = _list_logs(connection, now - _days(arena.competition.retention.logs_days))
        for run, _ in logs:
            connection.execute(RUN.update().where(RUN.c.id == run).values(log_sha256=None))
        needed = set(
            connection.execute(
                select(SUBMISSION.c.sha256).where(SUBMISSION.c.file_removed.is_(None))
            ).scalars()
        )
        counts = {"refused": len(refused), "code": len(code), "logs": len(logs)}
        if any(counts.values()):
            append_event(connection, now, "intake", "files removed", arena.competition.name, counts)
    # After the commit: a file without a row is harmless, and a row without its file is not.
    for _, sha256, kind in (*refused, *code):
        if sha256 not in needed:
            arena.artifacts.path(sha256, ENDING[kind]).unlink(missing_ok=True)
    for _, sha256 in logs:
        arena.artifacts.path(sha256, ".log").unlink(missing_ok=True)
    return ", ".join(f"{count} {what}" for what, count in counts.items()) + " files removed"


def _list_refused(connection: Connection, before: datetime.datetime) -> list[tuple[str, str, str]]:
    asked = (
        select(SUBMISSION.c.id, SUBMISSION.c.sha256, SUBMISSION.c.kind)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .join(TRANSITION, TRANSITION.c.run == RUN.c.id)
        .where(
            TRANSITION.c.state == "refused", TRANSITION.c.at <= before, SUBMISSION.c.file_removed.is_(None)
        )
    )
    return _plain(connection.execute(asked))


def _list_code(connection: Connection, arena: Arena, now: datetime.datetime) -> list[tuple[str, str, str]]:
    """List code whose time is over: so many days after the audit, or after the last phase where there is none."""
    competition = arena.competition
    end = max(phase.end for phase in competition.phases)
    if competition.audit is not None and competition.audit.end is not None:
        end = max(end, competition.audit.end)
    if now < end + _days(competition.retention.code_days):
        return []
    asked = select(SUBMISSION.c.id, SUBMISSION.c.sha256, SUBMISSION.c.kind).where(
        SUBMISSION.c.kind.in_(("code", "pipeline")), SUBMISSION.c.file_removed.is_(None)
    )
    return _plain(connection.execute(asked))


def _list_logs(connection: Connection, before: datetime.datetime) -> list[tuple[str, str]]:
    ended = select(func.max(TRANSITION.c.at)).where(TRANSITION.c.run == RUN.c.id).scalar_subquery()
    asked = select(RUN.c.id, RUN.c.log_sha256).where(RUN.c.log_sha256.is_not(None), ended <= before)
    return [(str(run), str(sha256)) for run, sha256 in connection.execute(asked)]


def _plain(rows: Iterable[Any]) -> list[tuple[str, str, str]]:
    return [(str(name), str(sha256), str(kind)) for name, sha256, kind in rows]


def _days(days: float) -> datetime.timedelta:
    return datetime.timedelta(days=days)
