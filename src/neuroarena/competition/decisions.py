"""Decisions of the organisers: disqualify, delete, withdraw, run again; nothing is overwritten."""

from __future__ import annotations

import secrets
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.intake import PRIORITY, choose_label, withdraw_run
from neuroarena.competition.queue import write_transition
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import RUN, SUBMISSION
from neuroarena.errors import InputError

ORGANISER = "organiser"


def disqualify(arena: Arena, submission: str, reason: str, *, actor: str = ORGANISER) -> None:
    """Take a submission off the boards; the reason is shown to the team.

    Raises
    ------
    InputError
        When there is no such submission, or no reason.
    """
    if not reason.strip():
        raise InputError("A disqualification needs a reason, which the team reads.")
    _decide(arena, submission, "disqualified", {"disqualified": reason}, {"reason": reason}, actor)


def delete(arena: Arena, submission: str, reason: str = "", *, actor: str = ORGANISER) -> None:
    """Take a submission off boards and lists; file, scores and events stay, so that it can be undone."""
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
    _decide(arena, submission, "deleted", {"deleted": now}, {"reason": reason}, actor)


def undo(arena: Arena, submission: str, *, actor: str = ORGANISER) -> list[str]:
    """Undo every disqualification and deletion of a submission, and return what was undone.

    Raises
    ------
    InputError
        When there is nothing to undo.
    """
    with arena.store.reading() as connection:
        row = _find(connection, submission)
    undone = []
    if row["disqualified"] is not None:
        _decide(arena, submission, "reinstated", {"disqualified": None}, {}, actor)
        undone.append("disqualification")
    if row["deleted"] is not None:
        _decide(arena, submission, "restored", {"deleted": None}, {}, actor)
        undone.append("deletion")
    if not undone:
        raise InputError(f'The submission "{submission}" is neither disqualified nor deleted.')
    return undone


def withdraw_for_team(arena: Arena, submission: str, reason: str, *, actor: str = ORGANISER) -> None:
    """Withdraw a submission on behalf of its team.

    Raises
    ------
    InputError
        When it has ended, or a worker has it.
    """
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        row = _find(connection, submission)
        withdraw_run(connection, now, row["team"], submission, actor, reason)


def rerun(arena: Arena, submission: str, reason: str, *, actor: str = ORGANISER) -> str:
    """Run a submission again, with its original time of receipt; return the id of the new run.

    Raises
    ------
    InputError
        When it has not ended, was refused or withdrawn, or its file was removed.
    """
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        row = _find(connection, submission)
        mine = (RUN.c.submission == submission) & (RUN.c.purpose != "audit")
        asked = select(RUN).where(mine).order_by(RUN.c.not_before.desc())
        runs = connection.execute(asked).mappings().all()
        if any(run["state"] not in TERMINAL for run in runs):
            raise InputError(
                f'The submission "{submission}" has not ended yet; there is nothing to run again.'
            )
        if any(run["state"] in ("refused", "withdrawn", "kept") for run in runs):
            raise InputError(
                f'The submission "{submission}" was {runs[-1]["state"]}; there is nothing to run.'
            )
        if row["file_removed"] is not None:
            raise InputError(f'The file of "{submission}" was removed after its time; it cannot run again.')
        again = f"r{secrets.token_hex(5)}"
        label = choose_label(arena, row["track"], row["kind"])
        work: dict[str, Any] = {"id": again, "submission": submission, "team": row["team"]}
        work |= {"received": row["received"], "state": "queued", "label": label, "purpose": "rerun"}
        work |= {"priority": PRIORITY[row["kind"]], "fence": 0, "tries": 0, "not_before": now}
        connection.execute(RUN.insert().values(**work, of=runs[0]["id"]))
        connection.execute(RUN.update().where(RUN.c.submission == submission).values(quarantined=False))
        append_event(connection, now, actor, "rerun", submission, {"reason": reason, "run": again})
        write_transition(connection, now, again, "queued", actor, reason)
    return again


def _decide(
    arena: Arena, submission: str, what: str, values: dict[str, Any], facts: dict[str, Any], actor: str
) -> None:
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        _find(connection, submission)
        connection.execute(SUBMISSION.update().where(SUBMISSION.c.id == submission).values(**values))
        append_event(connection, now, actor, what, submission, facts)


def _find(connection: Connection, submission: str) -> dict[str, Any]:
    row = connection.execute(select(SUBMISSION).where(SUBMISSION.c.id == submission)).mappings().first()
    if row is None:
        raise InputError(f'There is no submission "{submission}".')
    return dict(row)
