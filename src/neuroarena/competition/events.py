"""Events: what happened, in order, each with the hash of the one before; nothing is changed or removed."""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.competition.store import take_lock
from neuroarena.competition.tables import EVENT
from neuroarena.errors import NeuroarenaError

FIRST = "0" * 64


class BrokenChain(NeuroarenaError):
    """The list of events was changed after it was written."""


def append_event(
    connection: Connection,
    at: datetime.datetime,
    actor: str,
    what: str,
    about: str,
    facts: Mapping[str, Any] | None = None,
) -> str:
    """Append an event inside the caller's transaction, and return its hash."""
    take_lock(connection, "events")  # one writer at a time, or two events would follow the same one
    number, before = _newest(connection)
    row = {
        "number": number + 1,
        "at": at,
        "actor": actor,
        "what": what,
        "about": about,
        "facts": dict(facts or {}),
    }
    row["hash"] = hash_event(before, row)
    connection.execute(EVENT.insert().values(**row))
    return str(row["hash"])


def newest_hash(connection: Connection) -> str:
    """Return the hash of the last event: whoever knows it can tell whether the list was changed since."""
    return _newest(connection)[1]


def verify_events(connection: Connection) -> int:
    """Compute every hash anew, and return how many events there are.

    Raises
    ------
    BrokenChain
        At the first event that is missing or was changed.
    """
    before, expected = FIRST, 1
    for row in connection.execute(select(EVENT).order_by(EVENT.c.number)).mappings():
        if row["number"] != expected or row["hash"] != hash_event(before, dict(row)):
            raise BrokenChain(f"Event {expected} is missing or was changed after it was written.")
        before, expected = row["hash"], expected + 1
    return expected - 1


def hash_event(before: str, row: Mapping[str, Any]) -> str:
    """Return the SHA-256 of an event and of the hash before it."""
    said = {name: row[name] for name in ("number", "actor", "what", "about", "facts")}
    said |= {"at": row["at"].isoformat(), "before": before}
    return hashlib.sha256(json.dumps(said, sort_keys=True, ensure_ascii=False).encode()).hexdigest()


def _newest(connection: Connection) -> tuple[int, str]:
    row = connection.execute(
        select(EVENT.c.number, EVENT.c.hash).order_by(EVENT.c.number.desc()).limit(1)
    ).first()
    return (0, FIRST) if row is None else (int(row[0]), str(row[1]))
