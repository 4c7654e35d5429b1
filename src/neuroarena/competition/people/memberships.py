"""Membership: who is in which team by their account; a person is in one team, because caps are per team."""

from __future__ import annotations

import datetime
import unicodedata
from typing import Any

from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.tables import ACCOUNT, MEMBER, SUBMISSION, TEAM, TOKEN
from neuroarena.competition.teams import insert_team
from neuroarena.errors import InputError

MOST_AFFILIATION = 200
MOST_MEMBERS = 50


def found_team(arena: Arena, account: str, name: str, affiliation: str | None = None) -> None:
    """Make a team whose captain is an account.

    Raises
    ------
    InputError
        When the name is taken or cannot be one, or reads like that of another team, or the person is in a team, or
        has left one that took part.
    """
    name = " ".join(name.split())
    affiliation = clean_affiliation(affiliation)
    # Two who found teams of like names at once wait for each other.
    locks = f"account:{account}", f"team:{name}", f"team like:{fold_name(name)}"
    with arena.store.writing(*locks) as connection:
        now = arena.store.clock(connection)
        refuse_alike(connection, name)
        insert_team(connection, now, name, affiliation=affiliation, actor=account)
        join_team(connection, now, account, name, captain=True)


def fold_name(name: str) -> str:
    """Return what two names that read alike have in common: neither case nor width nor spaces.

    Examples
    --------
    >>> fold_name("Blue Heron") == fold_name("ＢLUE  heron")
    True
    """
    return "".join(unicodedata.normalize("NFKC", name).casefold().split())


def refuse_alike(connection: Connection, name: str) -> None:
    """Refuse a name that a reader of a board would take for another team's, or a spreadsheet for a formula.

    Raises
    ------
    InputError
    """
    if name[:1] in tuple("=+-@"):
        raise InputError(f'"{name[:64]}" cannot be the name of a team: begin with a letter or a number.')
    for taken in connection.execute(select(TEAM.c.name)).scalars():
        if taken != name and fold_name(taken) == fold_name(name):
            raise InputError(f'"{name[:64]}" reads like the team "{taken}". Choose another name.')


def clean_affiliation(affiliation: str | None) -> str | None:
    """Return an affiliation with single spaces; None for an empty one.

    Raises
    ------
    InputError
        When it is too long or cannot be printed.
    """
    clean = " ".join((affiliation or "").split())
    if len(clean) > MOST_AFFILIATION or not clean.isprintable():
        raise InputError(f"An affiliation takes at most {MOST_AFFILIATION} printable characters.")
    return clean or None


def join_team(
    connection: Connection, now: datetime.datetime, account: str, team: str, *, captain: bool = False
) -> None:
    """Write that an account belongs to a team, inside the caller's transaction.

    Raises
    ------
    InputError
        When the person is in a team already, has left one that took part, or the team is full.
    """
    row = connection.execute(select(ACCOUNT).where(ACCOUNT.c.id == account)).mappings().one()
    if row["team"] is not None:
        raise InputError(f'You belong to the team "{row["team"]}" already, and a person is in one team only.')
    refuse_second_team(connection, account, team)
    there = select(func.count()).where(MEMBER.c.team == team, MEMBER.c.left.is_(None))
    if connection.execute(there).scalar_one() >= MOST_MEMBERS:
        raise InputError(f'The team "{team}" has {MOST_MEMBERS} members, and no room for more.')
    connection.execute(ACCOUNT.update().where(ACCOUNT.c.id == account).values(team=team, captain=captain))
    back = MEMBER.update().where(MEMBER.c.team == team, MEMBER.c.contact == contact_of(account))
    if connection.execute(back.values(left=None)).rowcount == 0:
        name = _choose_name(connection, team, str(row["name"]), account)
        connection.execute(
            MEMBER.insert().values(team=team, name=name, contact=contact_of(account), joined=now)
        )
    append_event(connection, now, account, "joined", team, {"account": account, "captain": captain})


def refuse_second_team(connection: Connection, account: str, team: str) -> None:
    """Refuse somebody who has left another team that took part: they would have twice as many attempts.

    Raises
    ------
    InputError
    """
    mine = select(MEMBER.c.team).where(MEMBER.c.contact == contact_of(account), MEMBER.c.team != team)
    used = select(SUBMISSION.c.team).where(SUBMISSION.c.team.in_(mine)).limit(1)
    left = connection.execute(used).scalar()
    if left is not None:
        raise InputError(
            f'You have left the team "{left}", which took part already; attempts are counted per team. '
            "Ask the organisers to let you into another."
        )


def leave_team(arena: Arena, account: str, *, actor: str | None = None) -> None:
    """Write that an account has left its team; the captain's place goes to whoever joined first of the others.

    Raises
    ------
    InputError
        When the account is in no team.
    """
    with arena.store.writing(f"account:{account}") as connection:
        now = arena.store.clock(connection)
        team = connection.execute(select(ACCOUNT.c.team).where(ACCOUNT.c.id == account)).scalar()
        if team is None:
            raise InputError("You are in no team.")
        end_membership(connection, now, account, str(team), actor or account)


def remove_from_team(arena: Arena, team: str, member: str, *, actor: str) -> None:
    """Let a captain remove a member of the team.

    Raises
    ------
    InputError
        When the team has no such member.
    """
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        asked = select(ACCOUNT.c.id).where(ACCOUNT.c.id == member, ACCOUNT.c.team == team)
        if connection.execute(asked).first() is None:
            raise InputError(f'Your team has no member "{member}".')
        end_membership(connection, now, member, team, actor)


def hand_over(arena: Arena, team: str, member: str, *, actor: str) -> None:
    """Make another member the captain of a team.

    Raises
    ------
    InputError
        When the team has no such member.
    """
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        mine = ACCOUNT.c.team == team
        if connection.execute(select(ACCOUNT.c.id).where(mine, ACCOUNT.c.id == member)).first() is None:
            raise InputError(f'Your team has no member "{member}".')
        connection.execute(ACCOUNT.update().where(mine).values(captain=ACCOUNT.c.id == member))
        append_event(connection, now, actor, "captain", team, {"account": member})


def end_membership(
    connection: Connection, now: datetime.datetime, account: str, team: str, actor: str
) -> None:
    """Take an account out of its team, inside the caller's transaction; a team without people keeps no token."""
    was = connection.execute(select(ACCOUNT.c.captain).where(ACCOUNT.c.id == account)).scalar()
    connection.execute(ACCOUNT.update().where(ACCOUNT.c.id == account).values(team=None, captain=False))
    mine = (MEMBER.c.team == team, MEMBER.c.contact == contact_of(account))
    connection.execute(MEMBER.update().where(*mine).values(left=now))
    append_event(connection, now, actor, "left", team, {"account": account})
    others = _list_accounts(connection, team)
    if was and others and not any(row["captain"] for row in others):
        heir = others[0]["id"]
        connection.execute(ACCOUNT.update().where(ACCOUNT.c.id == heir).values(captain=True))
        append_event(connection, now, actor, "captain", team, {"account": heir})
    if not others:
        valid = (TOKEN.c.team == team, TOKEN.c.revoked.is_(None))
        connection.execute(TOKEN.update().where(*valid).values(revoked=now))
        hidden = (TEAM.c.name == team, TEAM.c.reveals_affiliation.is_(False))
        connection.execute(TEAM.update().where(*hidden).values(affiliation=None))


def list_accounts(arena: Arena, team: str) -> list[dict[str, Any]]:
    """List the accounts of a team, in the order they joined: id, name, captain, joined."""
    with arena.store.reading() as connection:
        return _list_accounts(connection, team)


def contact_of(account: str) -> str:
    """Return what the table of members says instead of an address, so that an address is kept in one place only."""
    return f"account:{account}"


def _list_accounts(connection: Connection, team: str) -> list[dict[str, Any]]:
    asked = (
        select(ACCOUNT.c.id, ACCOUNT.c.name, ACCOUNT.c.captain, MEMBER.c.joined)
        .join(MEMBER, (MEMBER.c.team == ACCOUNT.c.team) & (MEMBER.c.contact == "account:" + ACCOUNT.c.id))
        .where(ACCOUNT.c.team == team, MEMBER.c.left.is_(None))
        .order_by(MEMBER.c.joined, ACCOUNT.c.id)
    )
    return [dict(row) for row in connection.execute(asked).mappings()]


def _choose_name(connection: Connection, team: str, name: str, account: str) -> str:
    """Return the name of a new member; of two with one name the second has the account behind it."""
    taken = select(MEMBER.c.name).where(MEMBER.c.team == team, MEMBER.c.name == name)
    return name if connection.execute(taken).first() is None else f"{name} ({account})"
