"""Invitations: the captain of a team invites by address; whoever owns the address joins, once."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.people.accounts import clean_email, read_account
from neuroarena.competition.people.letters import Letter
from neuroarena.competition.people.memberships import join_team
from neuroarena.competition.people.tickets import issue_ticket, read_ticket, use_ticket
from neuroarena.competition.tables import TICKET
from neuroarena.errors import InputError

MOST_OPEN = 20


def invite(arena: Arena, team: str, email: str, *, by: str, base: str) -> Letter:
    """Invite somebody to a team, and return the letter to send; whether they have an account is not said.

    Raises
    ------
    InputError
        When this is not an address, or too many invitations are open.
    """
    email = clean_email(email)
    inviter = read_account(arena, by)
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        if len(_list_open(connection, team, now)) >= MOST_OPEN:
            raise InputError(f"{MOST_OPEN} invitations of your team are open. Take one back first.")
        secret = issue_ticket(connection, now, "join", email, team=team)
        append_event(connection, now, by, "invited", team)
    title = arena.competition.title
    return Letter(
        email,
        f'Join the team "{team}" at {title}',
        f'{inviter["name"]} invites you to the team "{team}" at {title}.\n\n'
        f"Register or sign in with this address, and join within two weeks:\n{base}/join?ticket={secret}\n\n"
        "If you do not want to, do nothing.\n",
    )


def list_invitations(arena: Arena, team: str) -> list[dict[str, Any]]:
    """List the open invitations of a team, oldest first: a short id, the address, when it expires."""
    with arena.store.reading() as connection:
        return _list_open(connection, team, arena.store.clock(connection))


def take_back(arena: Arena, team: str, identity: str, *, by: str) -> None:
    """Take an invitation back by its short id.

    Raises
    ------
    InputError
        When the team has no such invitation.
    """
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        known = {row["id"]: row["email"] for row in _list_open(connection, team, now)}
        if identity not in known:
            raise InputError("This invitation is not open any more.")
        mine = (TICKET.c.purpose == "join", TICKET.c.team == team, TICKET.c.email == known[identity])
        connection.execute(TICKET.delete().where(*mine))
        append_event(connection, now, by, "invitation taken back", team)


def read_invitation(arena: Arena, ticket: str) -> str:
    """Return the team that an invitation is for.

    Raises
    ------
    InputError
        When it is not good, or not any more.
    """
    with arena.store.reading() as connection:
        return str(read_ticket(connection, arena.store.clock(connection), "join", ticket)["team"])


def accept_invitation(arena: Arena, ticket: str, account: str) -> str:
    """Join the team of an invitation, and return the team.

    Raises
    ------
    InputError
        When it is not good, was sent to another address, or the person is in a team; it stays good then.
    """
    email = read_account(arena, account)["email"]
    team = read_invitation(arena, ticket)
    with arena.store.writing(f"team:{team}", f"account:{account}") as connection:
        now = arena.store.clock(connection)
        row = use_ticket(connection, now, "join", ticket)
        if row["email"] != email:
            # A letter that was passed on must not let a stranger in.
            raise InputError("This invitation was sent to another address. Ask the captain to invite yours.")
        join_team(connection, now, account, team)
    return team


def _list_open(connection: Any, team: str, now: Any) -> list[dict[str, Any]]:
    open_ = (
        TICKET.c.purpose == "join",
        TICKET.c.team == team,
        TICKET.c.used.is_(None),
        TICKET.c.expires > now,
    )
    rows = connection.execute(
        select(TICKET).where(*open_).order_by(TICKET.c.created, TICKET.c.email)
    ).mappings()
    return [
        {"id": row["secret_sha256"][:12], "email": row["email"], "expires": row["expires"]} for row in rows
    ]
