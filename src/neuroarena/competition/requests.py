"""Requests: work that organisers ask for on the pages, and a worker does whose zone may open what it needs."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.opening import open_competition
from neuroarena.competition.rejudging import rejudge
from neuroarena.competition.snapshots import publish_boards
from neuroarena.competition.tables import REQUEST
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError
from neuroarena.scoring import SCORER_VERSION


@dataclass(frozen=True)
class Errand:
    """A kind of request: the label of the workers that do it, and what they do; the answer is a sentence."""

    label: str
    act: Callable[[Arena, Mapping[str, Any]], str]


def _rejudge(arena: Arena, facts: Mapping[str, Any]) -> str:
    done = rejudge(arena, facts.get("track"))
    publish_boards(arena)
    return (
        f"{done} run{'s' * (done != 1)} judged by scorer {SCORER_VERSION}"
        if done
        else "everything was judged already"
    )


def _open(arena: Arena, facts: Mapping[str, Any]) -> str:
    # What must stand before the first submission is read from the vault, which pages cannot open.
    open_competition(
        arena, accept_one_user=bool(facts.get("accept_one_user")), actor=str(facts.get("by", "organiser"))
    )
    return "the competition is open"


def _publish(arena: Arena, facts: Mapping[str, Any]) -> str:  # noqa: ARG001 - the form of an errand
    return publish_boards(arena)


ERRANDS: dict[str, Errand] = {
    "rejudge": Errand("scorer", _rejudge),
    "open": Errand("scorer", _open),
    "boards": Errand("scorer", _publish),
}


def ask(arena: Arena, what: str, facts: Mapping[str, Any] | None = None, *, actor: str) -> str:
    """Write a request for a worker, and return its id; the same request that is still open is not doubled.

    Raises
    ------
    InputError
        When nobody can be asked for this.
    """
    if what not in ERRANDS:
        raise InputError(f'Nobody can be asked to "{what}". Known: {", ".join(ERRANDS)}.')
    said = {**(facts or {}), "by": actor}
    with arena.store.writing("requests") as connection:
        now = arena.store.clock(connection)
        asked = select(REQUEST.c.id, REQUEST.c.facts).where(REQUEST.c.what == what, REQUEST.c.ended.is_(None))
        for identity, known in connection.execute(asked).all():
            if {**known, "by": actor} == said:
                return str(identity)
        identity = f"q{secrets.token_hex(5)}"
        row = {"id": identity, "label": ERRANDS[what].label, "what": what, "facts": said, "asked": now}
        connection.execute(REQUEST.insert().values(**row))
        append_event(connection, now, actor, "request", identity, {"what": what, **(facts or {})})
    return identity


def find_waiting(arena: Arena, labels: Sequence[str]) -> dict[str, Any] | None:
    """Return the oldest request that workers with these labels do; None when there is none."""
    asked = select(REQUEST).where(REQUEST.c.ended.is_(None), REQUEST.c.label.in_(labels))
    with arena.store.reading() as connection:
        row = connection.execute(asked.order_by(REQUEST.c.asked, REQUEST.c.id).limit(1)).mappings().first()
    return None if row is None else dict(row)


def carry_out(arena: Arena, row: Mapping[str, Any]) -> str:
    """Do what a request asks, and say in a sentence how it went.

    Two workers may do the same request at once: what can be asked is harmless when it is done twice.
    """
    errand = ERRANDS.get(row["what"])
    if errand is None:
        return "failed: this version does not know such a request"
    try:
        return errand.act(arena, row["facts"])
    except InputError as error:
        return f"refused: {error}"


def end_request(arena: Arena, row: Mapping[str, Any], outcome: str) -> None:
    """Write how a request went; what another worker wrote before stays."""
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        open_ = (REQUEST.c.id == row["id"], REQUEST.c.ended.is_(None))
        ended = REQUEST.update().where(*open_).values(ended=now, outcome=outcome)
        if connection.execute(ended).rowcount == 1:
            append_event(connection, now, row["label"], "request done", row["id"], {"what": row["what"]})


def list_requests(arena: Arena, most: int = 50) -> list[dict[str, Any]]:
    """List the newest requests as plain rows, newest first."""
    asked = select(REQUEST).order_by(REQUEST.c.asked.desc(), REQUEST.c.id).limit(most)
    with arena.store.reading() as connection:
        rows = connection.execute(asked).mappings().all()
    return [
        {
            "id": row["id"],
            "what": row["what"],
            "track": row["facts"].get("track"),
            "asked_utc": format_utc(row["asked"]),
            "ended_utc": None if row["ended"] is None else format_utc(row["ended"]),
            "outcome": row["outcome"],
        }
        for row in rows
    ]
