"""Teams and their tokens; a token is shown once and kept as a hash."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
from typing import Literal, get_args

from sqlalchemy import Connection, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.tables import ACCEPTANCE, TEAM, TOKEN
from neuroarena.errors import InputError

Scope = Literal["submit", "read"]
SCOPES: tuple[str, ...] = get_args(Scope)
MOST_CHARACTERS = 64
_WRONG = "The token is not valid. Ask the organisers for a new one."


def add_team(arena: Arena, name: str, *, affiliation: str | None = None, organiser: bool = False) -> None:
    """Let a team in.

    Raises
    ------
    InputError
        When the name is taken, empty, too long, or cannot be printed.
    """
    if not name.strip() or name != name.strip() or len(name) > MOST_CHARACTERS or not name.isprintable():
        raise InputError(
            f"{name!r} cannot be the name of a team: it takes 1 to {MOST_CHARACTERS} printable characters, "
            "without spaces at the ends."
        )
    with arena.store.writing(f"team:{name}") as connection:
        now = arena.store.clock(connection)
        if _exists(connection, name):
            raise InputError(f'A team is called "{name}" already. Choose another name.')
        row = {
            "affiliation": affiliation,
            "reveals_affiliation": False,
            "organiser": organiser,
            "created": now,
        }
        connection.execute(TEAM.insert().values(name=name, **row))
        append_event(connection, now, "organiser", "team", name, {"organiser": organiser})


def accept_terms(arena: Arena, team: str) -> None:
    """Record that a team accepts the terms as they stand; accepting twice changes nothing."""
    with arena.store.writing(f"team:{team}") as connection:
        if has_accepted(connection, team, arena.terms_sha256):
            return
        now = arena.store.clock(connection)
        connection.execute(
            ACCEPTANCE.insert().values(team=team, terms_sha256=arena.terms_sha256, accepted=now)
        )
        append_event(connection, now, team, "terms", team, {"terms_sha256": arena.terms_sha256})


def has_accepted(connection: Connection, team: str, terms_sha256: str) -> bool:
    """Return whether a team has accepted this version of the terms."""
    asked = select(ACCEPTANCE.c.team).where(
        ACCEPTANCE.c.team == team, ACCEPTANCE.c.terms_sha256 == terms_sha256
    )
    return connection.execute(asked).first() is not None


def issue_token(arena: Arena, team: str, *, scope: Scope = "submit", days: float = 90) -> str:
    """Make a token for a team, and return it; it cannot be shown again.

    Raises
    ------
    InputError
        When there is no such team, or no such scope.
    """
    if scope not in SCOPES:
        raise InputError(f'A token has no scope "{scope}"; scopes: {", ".join(SCOPES)}.')
    identity, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        if not _exists(connection, team):
            raise InputError(f'There is no team "{team}". Let it in first: neuroarena admin team DIR NAME')
        row = {"team": team, "scope": scope, "secret_sha256": _hash(secret), "created": now}
        expires = now + datetime.timedelta(days=days)
        connection.execute(TOKEN.insert().values(id=identity, expires=expires, **row))
        append_event(connection, now, "organiser", "token", team, {"token": identity, "scope": scope})
    return f"{identity}.{secret}"


def revoke_token(arena: Arena, identity: str) -> None:
    """Make a token invalid from now on; `identity` is the part before the dot.

    Raises
    ------
    InputError
        When there is no such token.
    """
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        changed = connection.execute(
            TOKEN.update().where(TOKEN.c.id == identity, TOKEN.c.revoked.is_(None)).values(revoked=now)
        )
        if changed.rowcount != 1:
            raise InputError(f'No valid token begins with "{identity}".')
        append_event(connection, now, "organiser", "token revoked", identity)


def find_team(arena: Arena, token: str, scope: Scope) -> str:
    """Return the team that a token belongs to.

    Raises
    ------
    InputError
        When the token is unknown, wrong, expired, revoked, or of another scope.
    """
    identity, _, secret = token.strip().partition(".")
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
        row = connection.execute(select(TOKEN).where(TOKEN.c.id == identity)).mappings().first()
    # Compared in constant time, and with one sentence for every reason: a stranger learns nothing.
    kept = "" if row is None else str(row["secret_sha256"])
    right = hmac.compare_digest(kept, _hash(secret))
    if row is None or not right or row["revoked"] is not None or row["expires"] <= now:
        raise InputError(_WRONG)
    if scope == "submit" and row["scope"] != "submit":
        raise InputError("This token may read and not submit. Ask the organisers for one that may.")
    return str(row["team"])


def _exists(connection: Connection, team: str) -> bool:
    return connection.execute(select(TEAM.c.name).where(TEAM.c.name == team)).first() is not None


def _hash(secret: str) -> str:
    # 256 random bits need no slow hash; passwords that people choose do.
    return hashlib.sha256(secret.encode()).hexdigest()
