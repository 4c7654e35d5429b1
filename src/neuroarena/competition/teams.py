"""Teams and their tokens; a token is shown once and kept as a hash."""

from __future__ import annotations

import datetime
import hashlib
import hmac
import secrets
from typing import Any, Literal, get_args

from sqlalchemy import Connection, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.tables import ACCEPTANCE, MEMBER, TEAM, TERMS, TOKEN
from neuroarena.errors import InputError

Scope = Literal["submit", "read"]
SCOPES: tuple[str, ...] = get_args(Scope)
MOST_CHARACTERS = 64
MOST_MEMBER = 200
ORGANISER = "organiser"
_WRONG = "The token is not valid. Ask the organisers for a new one."


def add_team(
    arena: Arena,
    name: str,
    *,
    affiliation: str | None = None,
    organiser: bool = False,
    actor: str = ORGANISER,
) -> None:
    """Let a team in; `actor` is who did it, as events say.

    Raises
    ------
    InputError
        When the name is taken, empty, too long, or cannot be printed.
    """
    with arena.store.writing(f"team:{name}") as connection:
        now = arena.store.clock(connection)
        insert_team(connection, now, name, affiliation=affiliation, organiser=organiser, actor=actor)


def insert_team(
    connection: Connection,
    now: datetime.datetime,
    name: str,
    *,
    affiliation: str | None = None,
    organiser: bool = False,
    actor: str = ORGANISER,
) -> None:
    """Write a team inside the caller's transaction, which holds the lock of its name.

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
    if connection.execute(select(TEAM.c.name).where(TEAM.c.name == name)).first() is not None:
        raise InputError(f'A team is called "{name}" already. Choose another name.')
    row = {"affiliation": affiliation, "reveals_affiliation": False, "organiser": organiser, "created": now}
    connection.execute(TEAM.insert().values(name=name, **row))
    append_event(connection, now, actor, "team", name, {"organiser": organiser})


def add_member(arena: Arena, team: str, name: str, contact: str | None = None) -> None:
    """Write that a person belongs to a team; one who left may come back.

    Raises
    ------
    InputError
        When there is no such team, the name cannot be printed, or the person is in a team already.
    """
    if not name.strip() or len(name) > MOST_MEMBER or not name.isprintable():
        raise InputError(f"{name!r} cannot be the name of a person: it takes 1 to {MOST_MEMBER} characters.")
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        demand_team(connection, team)
        asked = select(MEMBER.c.team).where(MEMBER.c.name == name, MEMBER.c.left.is_(None))
        there = connection.execute(asked).scalar()
        if there is not None:
            # Caps are per team: whoever is in two has twice as many attempts.
            raise InputError(f'"{name}" belongs to the team "{there}" already.')
        connection.execute(MEMBER.delete().where(MEMBER.c.team == team, MEMBER.c.name == name))
        connection.execute(MEMBER.insert().values(team=team, name=name, contact=contact, joined=now))
        append_event(connection, now, "organiser", "member", team, {"name_sha256": _hash(name)})


def remove_member(arena: Arena, team: str, name: str) -> None:
    """Write that a person has left a team.

    Raises
    ------
    InputError
        When the team has no such member.
    """
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        mine = (MEMBER.c.team == team, MEMBER.c.name == name, MEMBER.c.left.is_(None))
        if connection.execute(MEMBER.update().where(*mine).values(left=now)).rowcount != 1:
            raise InputError(f'The team "{team}" has no member "{name}".')
        append_event(connection, now, "organiser", "member left", team, {"name_sha256": _hash(name)})


def list_members(connection: Connection, team: str) -> list[str]:
    """List the people of a team by name."""
    asked = select(MEMBER.c.name).where(MEMBER.c.team == team, MEMBER.c.left.is_(None))
    return list(connection.execute(asked.order_by(MEMBER.c.joined, MEMBER.c.name)).scalars())


def reveal_affiliation(
    arena: Arena, team: str, affiliation: str | None = None, *, actor: str = ORGANISER
) -> None:
    """Show the affiliation of a team on boards from now on.

    Raises
    ------
    InputError
        When there is no such team, or it has no affiliation.
    """
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        row = demand_team(connection, team)
        shown = affiliation or row["affiliation"]
        if not shown:
            raise InputError(f'The team "{team}" has given no affiliation. Name it with --affiliation.')
        values = {"affiliation": shown, "reveals_affiliation": True}
        connection.execute(TEAM.update().where(TEAM.c.name == team).values(**values))
        append_event(connection, now, actor, "affiliation", team, {"affiliation": shown})


def set_prize(arena: Arena, team: str, no_prize: str | None) -> None:
    """Record that a team takes no prize, and why; None lets it take one again.

    Raises
    ------
    InputError
        When there is no such team.
    """
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        demand_team(connection, team)
        connection.execute(TEAM.update().where(TEAM.c.name == team).values(no_prize=no_prize))
        append_event(connection, now, "organiser", "prize", team, {"no_prize": no_prize})


def write_terms(connection: Connection, now: datetime.datetime, arena: Arena) -> int:
    """Write the terms as a new version if they are new, and return the number of the version in force."""
    rows = connection.execute(select(TERMS.c.version, TERMS.c.sha256).order_by(TERMS.c.version)).all()
    known = {sha256: version for version, sha256 in rows}
    sha256 = arena.terms_sha256
    if sha256 not in known:
        known[sha256] = len(rows) + 1
        row = {"version": known[sha256], "sha256": sha256, "text": arena.competition.terms, "since": now}
        connection.execute(TERMS.insert().values(**row))
        append_event(connection, now, "organiser", "new terms", sha256, {"version": known[sha256]})
    return int(known[sha256])


def accept_terms(arena: Arena, team: str, *, actor: str | None = None) -> None:
    """Record that a team accepts the terms as they stand; accepting twice changes nothing."""
    with arena.store.writing(f"team:{team}") as connection:
        if has_accepted(connection, team, arena.terms_sha256):
            return
        now = arena.store.clock(connection)
        write_terms(connection, now, arena)
        connection.execute(
            ACCEPTANCE.insert().values(team=team, terms_sha256=arena.terms_sha256, accepted=now)
        )
        append_event(connection, now, actor or team, "terms", team, {"terms_sha256": arena.terms_sha256})


def has_accepted(connection: Connection, team: str, terms_sha256: str) -> bool:
    """Return whether a team has accepted this version of the terms."""
    asked = select(ACCEPTANCE.c.team).where(
        ACCEPTANCE.c.team == team, ACCEPTANCE.c.terms_sha256 == terms_sha256
    )
    return connection.execute(asked).first() is not None


def issue_token(
    arena: Arena, team: str, *, scope: Scope = "submit", days: float = 90, actor: str = ORGANISER
) -> str:
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
        demand_team(connection, team)
        row = {"team": team, "scope": scope, "secret_sha256": _hash(secret), "created": now}
        expires = now + datetime.timedelta(days=days)
        connection.execute(TOKEN.insert().values(id=identity, expires=expires, **row))
        append_event(connection, now, actor, "token", team, {"token": identity, "scope": scope})
    return f"{identity}.{secret}"


def revoke_token(arena: Arena, identity: str, *, team: str | None = None, actor: str | None = None) -> None:
    """Make a token invalid from now on; `identity` is the part before the dot. With `team`, only one of its own.

    Raises
    ------
    InputError
        When there is no such token.
    """
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        valid = [TOKEN.c.id == identity, TOKEN.c.revoked.is_(None)]
        valid += [] if team is None else [TOKEN.c.team == team]
        changed = connection.execute(TOKEN.update().where(*valid).values(revoked=now))
        if changed.rowcount != 1:
            raise InputError(f'No valid token begins with "{identity}".')
        append_event(connection, now, actor or team or ORGANISER, "token revoked", identity)


def list_tokens(arena: Arena, team: str) -> list[dict[str, Any]]:
    """List the tokens of a team that are valid, oldest first, without their secrets."""
    with arena.store.reading() as connection:
        valid = (
            TOKEN.c.team == team,
            TOKEN.c.revoked.is_(None),
            TOKEN.c.expires > arena.store.clock(connection),
        )
        asked = select(TOKEN.c.id, TOKEN.c.scope, TOKEN.c.created, TOKEN.c.expires).where(*valid)
        return [dict(row) for row in connection.execute(asked.order_by(TOKEN.c.created)).mappings()]


def find_team(arena: Arena, token: str, scope: Scope) -> str:
    """Return the team that a token belongs to.

    Raises
    ------
    InputError
        When the token is unknown, wrong, expired, revoked, or of another scope.
    """
    team, granted = read_token(arena, token)
    if scope == "submit" and granted != "submit":
        raise InputError("This token may read and not submit. Ask the organisers for one that may.")
    return team


def read_token(arena: Arena, token: str) -> tuple[str, str]:
    """Return the team that a token belongs to, and the token's scope.

    Raises
    ------
    InputError
        When the token is unknown, wrong, expired or revoked.
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
    return str(row["team"]), str(row["scope"])


def read_team(arena: Arena, team: str) -> dict[str, Any]:
    """Return the row of a team.

    Raises
    ------
    InputError
        When there is none.
    """
    with arena.store.reading() as connection:
        return demand_team(connection, team)


def demand_team(connection: Connection, team: str) -> dict[str, Any]:
    row = connection.execute(select(TEAM).where(TEAM.c.name == team)).mappings().first()
    if row is None:
        raise InputError(f'There is no team "{team}". Let it in first: neuroarena admin team DIR NAME')
    return dict(row)


def _hash(secret: str) -> str:
    # 256 random bits need no slow hash; passwords that people choose do.
    return hashlib.sha256(secret.encode()).hexdigest()
