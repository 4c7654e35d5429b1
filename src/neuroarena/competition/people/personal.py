"""Personal data: all that is kept about a person, as they may have it; and its deletion."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection, or_, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.people.accounts import read_account
from neuroarena.competition.people.memberships import contact_of, end_membership
from neuroarena.competition.people.passwords import check_password
from neuroarena.competition.people.sessions import close_sessions
from neuroarena.competition.receipts import list_own
from neuroarena.competition.tables import ACCEPTANCE, ACCOUNT, EVENT, MEMBER, SESSION, TEAM, TICKET, TOKEN
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError


def export_personal_data(arena: Arena, account: str) -> dict[str, Any]:
    """Return everything that is kept about a person, as plain data; secrets are left out, for they are hashes.

    Raises
    ------
    InputError
        When there is no such account.
    """
    row = read_account(arena, account)
    team = row["team"]
    with arena.store.reading() as connection:
        said: dict[str, Any] = {
            "schema_version": 1,
            "competition": arena.competition.name,
            "account": _plain({name: value for name, value in row.items() if name != "password"}),
            "sessions": _rows(connection, SESSION, SESSION.c.account == account),
            "letters_under_way": _rows(
                connection, TICKET, or_(TICKET.c.account == account, TICKET.c.email == row["email"])
            ),
            "memberships": _rows(connection, MEMBER, MEMBER.c.contact == contact_of(account)),
            "events": _rows(connection, EVENT, or_(EVENT.c.actor == account, EVENT.c.about == account)),
        }
        if team is not None:
            said["team"] = {
                "about": _rows(connection, TEAM, TEAM.c.name == team),
                "terms_accepted": _rows(connection, ACCEPTANCE, ACCEPTANCE.c.team == team),
                "tokens": _rows(connection, TOKEN, TOKEN.c.team == team),
            }
    if team is not None:
        said["team"]["submissions"] = list_own(arena, team)
    return said


def delete_account(arena: Arena, account: str, password: str) -> None:
    """Delete a person's data: address, name, password, sessions, letters under way, and their name among members.

    The row stays with its id alone, so that events and submissions, which are the team's, still refer to something.

    Raises
    ------
    InputError
        When the password is wrong.
    """
    row = read_account(arena, account)
    if not check_password(row["password"], password):
        raise InputError("The password is wrong. Nothing was deleted.")
    with arena.store.writing(f"account:{account}") as connection:
        now = arena.store.clock(connection)
        if row["team"] is not None:
            end_membership(connection, now, account, row["team"], account)
        mine = MEMBER.c.contact == contact_of(account)
        connection.execute(MEMBER.update().where(mine).values(name=f"deleted ({account})"))
        connection.execute(
            TICKET.delete().where(or_(TICKET.c.account == account, TICKET.c.email == row["email"]))
        )
        close_sessions(connection, account)
        nothing = {"email": None, "name": None, "password": None, "verified": None}
        gone = {"team": None, "captain": False, "organiser": False, "deleted": now}
        connection.execute(ACCOUNT.update().where(ACCOUNT.c.id == account).values(**nothing, **gone))
        append_event(connection, now, account, "account deleted", account)


def _rows(connection: Connection, table: Any, condition: Any) -> list[dict[str, Any]]:
    return [_plain(dict(row)) for row in connection.execute(select(table).where(condition)).mappings()]


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: format_utc(value) if hasattr(value, "isoformat") else value
        for name, value in row.items()
        if name != "secret_sha256"
    }
