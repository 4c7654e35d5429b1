"""Accounts: register, verify the address, sign in, set another password; a stranger never learns who has one.

A later sign-in by OpenID Connect belongs beside :func:`sign_in`: it ends in `open_session` as well, with an account
found by the address that the provider verified. A second factor belongs between the right password and `open_session`.
"""

from __future__ import annotations

import datetime
import re
import secrets
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.people.letters import Letter
from neuroarena.competition.people.memberships import join_team
from neuroarena.competition.people.passwords import (
    check_password,
    hash_password,
    needs_rehash,
    refuse_weak,
)
from neuroarena.competition.people.sessions import LIFETIME, close_sessions, open_session
from neuroarena.competition.people.tickets import issue_ticket, read_ticket, use_ticket
from neuroarena.competition.tables import ACCOUNT
from neuroarena.errors import InputError

MOST_EMAIL, MOST_NAME = 254, 100
# Sense, not the whole grammar of addresses: the letter is the proof.
_EMAIL = re.compile(r"[^\s@<>\"',;:()\[\]\\\x00-\x1f]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)*")
WRONG = "Address or password are wrong, or the address was not confirmed yet. Forgotten passwords can be set anew."


def clean_email(email: str) -> str:
    """Return an address in the form it is kept in.

    Raises
    ------
    InputError
        When it is not one.
    """
    clean = email.strip().casefold()
    if len(clean) > MOST_EMAIL or not _EMAIL.fullmatch(clean) or not clean.isprintable():
        raise InputError("This is not an email address. Expected name@example.org.")
    return clean


def clean_person_name(name: str) -> str:
    """Return the name of a person with single spaces.

    Raises
    ------
    InputError
        When it is empty, too long, or cannot be printed.
    """
    clean = " ".join(name.split())
    if not clean or len(clean) > MOST_NAME or not clean.isprintable():
        raise InputError(f"A name takes 1 to {MOST_NAME} printable characters.")
    return clean


def register(arena: Arena, email: str, name: str, password: str, *, base: str) -> Letter:
    """Make an account that waits for its address to be confirmed, and return the letter to send.

    Where the address has an account already, nothing changes and its owner is told by the letter. What the caller
    answers, and the work done here, are the same.

    Parameters
    ----------
    arena : Arena
    email, name, password : str
    base : str
        Address of the server, which links begin with.

    Raises
    ------
    InputError
        When the address, the name or the password cannot be one; this depends on nothing in the store.
    """
    email, name = clean_email(email), clean_person_name(name)
    refuse_weak(password, email, name)
    hashed = hash_password(password)
    with arena.store.writing(f"account:{email}") as connection:
        now = arena.store.clock(connection)
        row = _find(connection, email)
        if row is None:
            account = _insert(connection, now, email, name, hashed)
            append_event(connection, now, account, "registered", account)
        elif row["verified"] is not None:
            return _write_known_letter(arena, email, base)
        else:
            # The first password stays: whoever asked for the second need not own the address either.
            account = row["id"]
        secret = issue_ticket(connection, now, "verify", email, account=account)
    return _write_verify_letter(arena, email, f"{base}/verify?ticket={secret}", base)


def verify_email(arena: Arena, ticket: str, password: str) -> str:
    """Confirm an address by its letter and the password of the registration, and return the account.

    The password is asked for because somebody else may have registered this address: a click must not make
    theirs valid.

    Raises
    ------
    InputError
        When the ticket is not good, or the password is another; the ticket stays good then.
    """
    with arena.store.reading() as connection:
        row = read_ticket(connection, arena.store.clock(connection), "verify", ticket)
        kept = connection.execute(select(ACCOUNT.c.password).where(ACCOUNT.c.id == row["account"])).scalar()
    if not check_password(kept, password):
        raise InputError(
            "This is not the password that the address was registered with. Set a new one with "
            '"Forgotten password", which confirms the address as well.'
        )
    with arena.store.writing(f"account:{row['email']}") as connection:
        now = arena.store.clock(connection)
        account = str(use_ticket(connection, now, "verify", ticket)["account"])
        _mark_verified(connection, now, account)
    return account


def sign_in(arena: Arena, email: str, password: str, lifetime: datetime.timedelta = LIFETIME) -> str:
    """Sign a person in, and return the secret of the session.

    Raises
    ------
    InputError
        With one sentence for every reason; the work is the same for all of them.
    """
    try:
        email = clean_email(email)
    except InputError:
        email = ""
    with arena.store.reading() as connection:
        row = _find(connection, email)
    kept = None if row is None or row["deleted"] is not None else row["password"]
    right = check_password(kept, password)
    if row is None or not right or row["verified"] is None:
        raise InputError(WRONG)
    with arena.store.writing(f"account:{email}") as connection:
        now = arena.store.clock(connection)
        if needs_rehash(row["password"]):
            _set(connection, row["id"], password=hash_password(password))
        append_event(connection, now, row["id"], "signed in", row["id"])
        return open_session(connection, now, row["id"], organiser=row["organiser"], lifetime=lifetime)


def request_reset(arena: Arena, email: str, *, base: str) -> Letter | None:
    """Return the letter with which a password can be set anew; None when nobody has this address.

    A ticket is made in both cases, so that both take the same time; letters are sent after the answer.

    Raises
    ------
    InputError
        When this is not an address.
    """
    email = clean_email(email)
    with arena.store.writing(f"account:{email}") as connection:
        now = arena.store.clock(connection)
        row = _find(connection, email)
        secret = issue_ticket(connection, now, "reset", email, account=None if row is None else row["id"])
    if row is None:
        return None
    return Letter(
        email,
        f"A new password for {arena.competition.title}",
        f"Somebody, probably you, asked to set a new password for {arena.competition.title}.\n\n"
        f"Set it here within an hour:\n{base}/reset?ticket={secret}\n\n"
        "If it was not you, do nothing: your password stays as it is.\n",
    )


def set_password(arena: Arena, ticket: str, password: str) -> str:
    """Set a password by the ticket of a letter, sign the account out everywhere, and return the account.

    Whoever has the letter owns the address, so that it counts as confirmed.

    Raises
    ------
    InputError
        When the ticket is not good, or the password is weak; the ticket stays good then.
    """
    with arena.store.reading() as connection:
        row = read_ticket(connection, arena.store.clock(connection), "reset", ticket)
    refuse_weak(password, row["email"])
    hashed = hash_password(password)
    with arena.store.writing(f"account:{row['email']}") as connection:
        now = arena.store.clock(connection)
        account = str(use_ticket(connection, now, "reset", ticket)["account"])
        _set(connection, account, password=hashed)
        closed = close_sessions(connection, account)
        append_event(connection, now, account, "password reset", account, {"sessions_ended": closed})
        _mark_verified(connection, now, account)
    return account


def change_password(arena: Arena, account: str, old: str, new: str, *, session: str | None = None) -> None:
    """Change the password of an account, and sign it out everywhere but in the session that asks.

    Raises
    ------
    InputError
        When the old password is wrong, or the new one is weak.
    """
    row = read_account(arena, account)
    if not check_password(row["password"], old):
        raise InputError("The present password is wrong.")
    refuse_weak(new, row["email"], row["name"])
    hashed = hash_password(new)
    with arena.store.writing(f"account:{row['email']}") as connection:
        now = arena.store.clock(connection)
        _set(connection, account, password=hashed)
        closed = close_sessions(connection, account, but=session)
        append_event(connection, now, account, "password changed", account, {"sessions_ended": closed})


def rename(arena: Arena, account: str, name: str) -> None:
    """Change the name of a person; boards show teams, so that no board changes.

    Raises
    ------
    InputError
        When it cannot be a name.
    """
    name = clean_person_name(name)
    with arena.store.writing() as connection:
        _set(connection, account, name=name)
        append_event(connection, arena.store.clock(connection), account, "renamed", account)


def create_account(
    arena: Arena, email: str, name: str, password: str, *, team: str | None = None, organiser: bool = False
) -> str:
    """Make an account whose address needs no letter, and return its id: for demonstrations, by whoever owns the store.

    Raises
    ------
    InputError
        When the address is taken, or something cannot be one.
    """
    email, name = clean_email(email), clean_person_name(name)
    refuse_weak(password, email, name)
    hashed = hash_password(password)
    with arena.store.writing(f"account:{email}") as connection:
        now = arena.store.clock(connection)
        if _find(connection, email) is not None:
            raise InputError(f"{email} has an account already.")
        account = _insert(connection, now, email, name, hashed, organiser=organiser, verified=now)
        if team is not None:
            join_team(connection, now, account, team, captain=True)
        append_event(connection, now, "organiser", "account made", account, {"organiser": organiser})
    return account


def set_organiser(arena: Arena, email: str, organiser: bool) -> str:
    """Make somebody an organiser, or take that right away, and return the account; for the command line alone.

    Raises
    ------
    InputError
        When nobody with this address has an account that is confirmed.
    """
    email = clean_email(email)
    with arena.store.writing(f"account:{email}") as connection:
        now = arena.store.clock(connection)
        row = _find(connection, email)
        if row is None or row["verified"] is None:
            raise InputError(
                f"Nobody with the address {email} has an account that is confirmed. Let them register on the "
                "pages first."
            )
        _set(connection, row["id"], organiser=organiser)
        # Sessions of organisers are shorter: whoever becomes one signs in anew.
        close_sessions(connection, row["id"])
        append_event(connection, now, "organiser", "organiser", row["id"], {"organiser": organiser})
    return str(row["id"])


def list_organisers(arena: Arena) -> list[dict[str, Any]]:
    """List the organisers by address."""
    asked = select(ACCOUNT.c.id, ACCOUNT.c.email, ACCOUNT.c.name).where(ACCOUNT.c.organiser)
    with arena.store.reading() as connection:
        return [dict(row) for row in connection.execute(asked.order_by(ACCOUNT.c.email)).mappings()]


def read_account(arena: Arena, account: str) -> dict[str, Any]:
    """Return the row of an account that was not deleted.

    Raises
    ------
    InputError
        When there is none.
    """
    with arena.store.reading() as connection:
        asked = select(ACCOUNT).where(ACCOUNT.c.id == account, ACCOUNT.c.deleted.is_(None))
        row = connection.execute(asked).mappings().first()
    if row is None:
        raise InputError(f'There is no account "{account}".')
    return dict(row)


def _find(connection: Connection, email: str) -> dict[str, Any] | None:
    row = connection.execute(select(ACCOUNT).where(ACCOUNT.c.email == email)).mappings().first()
    return None if row is None else dict(row)


def _insert(
    connection: Connection, now: datetime.datetime, email: str, name: str, password: str, **rights: Any
) -> str:
    account = f"a{secrets.token_hex(5)}"
    row: dict[str, Any] = {"id": account, "email": email, "name": name, "password": password, "created": now}
    connection.execute(ACCOUNT.insert().values(**{"captain": False, "organiser": False, **row, **rights}))
    return account


def _set(connection: Connection, account: str, **values: Any) -> None:
    connection.execute(ACCOUNT.update().where(ACCOUNT.c.id == account).values(**values))


def _mark_verified(connection: Connection, now: datetime.datetime, account: str) -> None:
    asked = ACCOUNT.update().where(ACCOUNT.c.id == account, ACCOUNT.c.verified.is_(None))
    if connection.execute(asked.values(verified=now)).rowcount == 1:
        append_event(connection, now, account, "address confirmed", account)


def _write_verify_letter(arena: Arena, email: str, link: str, base: str) -> Letter:
    title = arena.competition.title
    return Letter(
        email,
        f"Confirm your address for {title}",
        f"Somebody, probably you, registered this address for {title}.\n\n"
        f"Confirm it within a day, with the password that was chosen:\n{link}\n\n"
        f"If you do not know that password, set one: {base}/forgotten\n"
        "If you did not register, do nothing: the account stays closed.\n",
    )


def _write_known_letter(arena: Arena, email: str, base: str) -> Letter:
    title = arena.competition.title
    return Letter(
        email,
        f"You have an account for {title}",
        f"Somebody, probably you, tried to register this address for {title}. It has an account already.\n\n"
        f"Sign in: {base}/sign-in\nSet a new password: {base}/forgotten\n\n"
        "If it was not you, do nothing.\n",
    )
