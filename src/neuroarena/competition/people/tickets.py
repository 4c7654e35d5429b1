"""Tickets: secrets that a letter carries, each good for one purpose, once, for a while; kept as hashes."""

from __future__ import annotations

import datetime
import hashlib
import secrets
from typing import Any, Literal

from sqlalchemy import Connection, select

from neuroarena.competition.tables import TICKET
from neuroarena.errors import InputError

Purpose = Literal["verify", "reset", "join"]
LIFETIME: dict[Purpose, datetime.timedelta] = {
    "verify": datetime.timedelta(days=1),
    "reset": datetime.timedelta(hours=1),
    "join": datetime.timedelta(days=14),
}
_WRONG = "This link is not valid: it was used, has expired, or is incomplete. Ask for a new one."


def issue_ticket(
    connection: Connection,
    now: datetime.datetime,
    purpose: Purpose,
    email: str,
    *,
    account: str | None = None,
    team: str | None = None,
) -> str:
    """Write a ticket inside the caller's transaction, and return its secret; older ones for the same are gone."""
    connection.execute(TICKET.delete().where(TICKET.c.expires <= now))
    same = [TICKET.c.purpose == purpose, TICKET.c.email == email]
    same += [] if team is None else [TICKET.c.team == team]
    connection.execute(TICKET.delete().where(*same))
    secret = secrets.token_urlsafe(32)
    row = {"purpose": purpose, "account": account, "email": email, "team": team, "created": now}
    connection.execute(
        TICKET.insert().values(secret_sha256=hash_secret(secret), expires=now + LIFETIME[purpose], **row)
    )
    return secret


def read_ticket(
    connection: Connection, now: datetime.datetime, purpose: Purpose, secret: str
) -> dict[str, Any]:
    """Return the row of a ticket that is good for a purpose, without using it.

    Raises
    ------
    InputError
        When there is none; the reason is not said.
    """
    good = _good(now, purpose, secret)
    row = connection.execute(select(TICKET).where(*good)).mappings().first()
    if row is None:
        raise InputError(_WRONG)
    return dict(row)


def use_ticket(
    connection: Connection, now: datetime.datetime, purpose: Purpose, secret: str
) -> dict[str, Any]:
    """Use a ticket inside the caller's transaction, and return its row; of two uses at once one is refused.

    Raises
    ------
    InputError
        When it is not good for this purpose, or not any more.
    """
    row = read_ticket(connection, now, purpose, secret)
    if connection.execute(TICKET.update().where(*_good(now, purpose, secret)).values(used=now)).rowcount != 1:
        raise InputError(_WRONG)
    return row


def hash_secret(secret: str) -> str:
    """Return the SHA-256 of a secret of 256 random bits, which needs no slower hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def _good(now: datetime.datetime, purpose: Purpose, secret: str) -> tuple[Any, ...]:
    return (
        TICKET.c.secret_sha256 == hash_secret(secret),
        TICKET.c.purpose == purpose,
        TICKET.c.used.is_(None),
        TICKET.c.expires > now,
    )
