"""Sessions: who is signed in; the secret is in a cookie, its hash in the store."""

from __future__ import annotations

import datetime
import secrets
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.people.tickets import hash_secret
from neuroarena.competition.tables import ACCOUNT, SESSION

# Organisers decide competitions: a forgotten browser of theirs is signed out sooner.
LIFETIME = datetime.timedelta(days=14)
ORGANISER_LIFETIME = datetime.timedelta(hours=12)


@dataclass(frozen=True)
class Person:
    """Somebody who is signed in, and what they may do.

    Attributes
    ----------
    account, email, name : str
    team : str or None
    captain, organiser : bool
    """

    account: str
    email: str
    name: str
    team: str | None
    captain: bool
    organiser: bool


def open_session(
    connection: Connection,
    now: datetime.datetime,
    account: str,
    *,
    organiser: bool,
    lifetime: datetime.timedelta = LIFETIME,
) -> str:
    """Sign an account in, inside the caller's transaction, and return the secret; sessions that ended are removed."""
    connection.execute(SESSION.delete().where(SESSION.c.expires <= now))
    secret = secrets.token_urlsafe(32)
    expires = now + (min(ORGANISER_LIFETIME, lifetime) if organiser else lifetime)
    row = {"secret_sha256": hash_secret(secret), "account": account, "created": now, "expires": expires}
    connection.execute(SESSION.insert().values(**row))
    return secret


def find_person(arena: Arena, secret: str) -> Person | None:
    """Return who is signed in with a secret; None when nobody is, or not any more.

    Rights are read anew each time: an organiser who was removed a second ago is none.
    """
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
        asked = (
            select(ACCOUNT)
            .join(SESSION, SESSION.c.account == ACCOUNT.c.id)
            .where(SESSION.c.secret_sha256 == hash_secret(secret), SESSION.c.expires > now)
            .where(ACCOUNT.c.deleted.is_(None), ACCOUNT.c.verified.is_not(None))
        )
        row = connection.execute(asked).mappings().first()
    return None if row is None else make_person(dict(row))


def make_person(row: dict[str, Any]) -> Person:
    """Return the person of an account's row."""
    return Person(row["id"], row["email"], row["name"], row["team"], row["captain"], row["organiser"])


def close_session(arena: Arena, secret: str) -> None:
    """Sign out; a secret that nobody is signed in with changes nothing."""
    with arena.store.writing() as connection:
        connection.execute(SESSION.delete().where(SESSION.c.secret_sha256 == hash_secret(secret)))


def close_sessions(connection: Connection, account: str, *, but: str | None = None) -> int:
    """Sign an account out everywhere, but for one session's secret; return how many sessions ended."""
    asked = SESSION.delete().where(SESSION.c.account == account)
    if but is not None:
        asked = asked.where(SESSION.c.secret_sha256 != hash_secret(but))
    return int(connection.execute(asked).rowcount)


def count_sessions(arena: Arena, account: str) -> int:
    """Return in how many places an account is signed in."""
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
        asked = select(func.count()).where(SESSION.c.account == account, SESSION.c.expires > now)
        return int(connection.execute(asked).scalar_one())
