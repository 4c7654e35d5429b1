"""Accounts on the pages: register, confirm the address, sign in and out, passwords, one's own data."""

from __future__ import annotations

import datetime
from typing import Annotated, Any

from fastapi import Form, Query, Request

from neuroarena.competition.people.accounts import (
    change_password,
    clean_email,
    read_account,
    register,
    rename,
    request_reset,
    set_password,
    sign_in,
    verify_email,
)
from neuroarena.competition.people.invitations import read_invitation
from neuroarena.competition.people.personal import delete_account, export_personal_data
from neuroarena.competition.people.sessions import close_session, count_sessions
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError
from neuroarena.server import shapes
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import OpenArena, PageRouter, ServerSettings
from neuroarena.server.sign_ins import (
    clean_next,
    drop_session,
    find_base,
    find_rates,
    name_client,
    read_session,
    send_after,
    set_session,
)
from neuroarena.server.viewing import Done, View
from neuroarena.server.visitors import Anyone, SignedInPerson

router = PageRouter()

Text = Annotated[str, Form(max_length=500)]
Optional = Annotated[str, Form(max_length=500)]
Asked = Annotated[str, Query(max_length=500)]


@router.page("/register", shape=shapes.RegisterForm)
def show_register(settings: ServerSettings, who: Anyone, ticket: Asked = "") -> View:  # noqa: ARG001
    """Show the form with which somebody registers."""
    data = {"registration": settings.registration, "ticket": ticket}
    return View("register.html.j2", "Register", data)


@router.action("/register", shape=shapes.Said)
def act_register(
    request: Request,
    arena: OpenArena,
    settings: ServerSettings,
    who: Anyone,  # noqa: ARG001 - the permission
    email: Text,
    name: Text,
    password: Text,
    ticket: Optional = "",
) -> Done:
    """Make an account; the answer is the same whether or not the address has one."""
    rates = find_rates(request)
    rates.client.take(name_client(request))
    if settings.registration == "invited":
        read_invitation(arena, ticket)
    rates.letters.take(clean_email(email))
    letter = register(arena, email, name, password, base=find_base(request, settings))
    done = Done("/letter-sent", {"said": "A letter is on its way to this address."})
    send_after(done, request, letter)
    return done


@router.page("/letter-sent", shape=shapes.Empty)
def show_letter_sent(who: Anyone) -> View:  # noqa: ARG001 - the permission
    """Answer that a letter is on its way."""
    return View("letter-sent.html.j2", "Look into your mail", {})


@router.page("/verify", shape=shapes.Ticket)
def show_verify(who: Anyone, ticket: Asked = "") -> View:  # noqa: ARG001 - the permission
    """Show the form that confirms an address; looking at it confirms nothing."""
    return View("verify.html.j2", "Confirm your address", {"ticket": ticket})


@router.action("/verify", shape=shapes.Confirmed)
def act_verify(
    request: Request,
    arena: OpenArena,
    who: Anyone,  # noqa: ARG001
    ticket: Text,
    password: Text,
) -> Done:
    """Confirm an address by the ticket of its letter and the password."""
    find_rates(request).client.take(name_client(request))
    verify_email(arena, ticket, password)
    return Done("/sign-in", {"confirmed": True})


@router.page("/sign-in", shape=shapes.SignInForm)
def show_sign_in(who: Anyone, next: Asked = "/") -> View:  # noqa: ARG001
    """Show the form with which people sign in."""
    return View("sign-in.html.j2", "Sign in", {"next": clean_next(next)})


@router.action("/sign-in", shape=shapes.SignedInNow)
def act_sign_in(
    request: Request,
    arena: OpenArena,
    settings: ServerSettings,
    who: Anyone,  # noqa: ARG001 - the permission
    email: Text,
    password: Text,
    next: Optional = "/",
) -> Done:
    """Sign somebody in; every wrong try has the same answer."""
    rates, client, key = find_rates(request), name_client(request), email.strip().casefold()
    rates.client.take(client)
    rates.sign_in.take(key)
    lifetime = datetime.timedelta(days=settings.session_days)
    try:
        secret = sign_in(arena, email, password, lifetime)
    except InputError as error:
        raise Refusal(401, str(error)) from error
    rates.sign_in.give_back(key)
    rates.client.give_back(client)
    done = Done(clean_next(next), {"signed_in": True})
    # A session that somebody else has put into this browser is not continued: the secret is always new.
    set_session(done, secret, settings)
    return done


@router.action("/sign-out", shape=shapes.SignedInNow)
def act_sign_out(request: Request, arena: OpenArena, settings: ServerSettings, who: Anyone) -> Done:  # noqa: ARG001
    """Sign out here."""
    close_session(arena, read_session(request, settings))
    done = Done("/", {"signed_in": False})
    drop_session(done, settings)
    return done


@router.page("/forgotten", shape=shapes.Empty)
def show_forgotten(who: Anyone) -> View:  # noqa: ARG001 - the permission
    """Show the form that asks for a letter with which a password is set."""
    return View("forgotten.html.j2", "Forgotten password", {})


@router.action("/forgotten", shape=shapes.Said)
def act_forgotten(
    request: Request,
    arena: OpenArena,
    settings: ServerSettings,
    who: Anyone,  # noqa: ARG001
    email: Text,
) -> Done:
    """Send a letter with which a password is set; the answer is the same whether or not there is an account."""
    rates = find_rates(request)
    rates.client.take(name_client(request))
    rates.letters.take(clean_email(email))
    letter = request_reset(arena, email, base=find_base(request, settings))
    done = Done("/letter-sent", {"said": "If the address has an account, a letter is on its way."})
    send_after(done, request, letter)
    return done


@router.page("/reset", shape=shapes.Ticket)
def show_reset(who: Anyone, ticket: Asked = "") -> View:  # noqa: ARG001 - the permission
    """Show the form that sets a password."""
    return View("reset.html.j2", "Set a new password", {"ticket": ticket})


@router.action("/reset", shape=shapes.Changed)
def act_reset(
    request: Request,
    arena: OpenArena,
    who: Anyone,  # noqa: ARG001
    ticket: Text,
    password: Text,
) -> Done:
    """Set a password by the ticket of a letter; every session of the account ends."""
    find_rates(request).client.take(name_client(request))
    set_password(arena, ticket, password)
    return Done("/sign-in", {"changed": True})


@router.page("/account", shape=shapes.AccountPage)
def show_account(arena: OpenArena, who: SignedInPerson) -> View:
    """Show what is kept about a person, and what they may do with it."""
    row = read_account(arena, who.account)
    data: dict[str, Any] = {
        "id": row["id"],
        "name": row["name"],
        "email": row["email"],
        "created_utc": format_utc(row["created"]),
        "team": row["team"],
        "captain": row["captain"],
        "organiser": row["organiser"],
        "sessions": count_sessions(arena, who.account),
    }
    return View("person.html.j2", "Your account", data)


@router.action("/account/name", shape=shapes.Changed)
def act_rename(arena: OpenArena, who: SignedInPerson, name: Text) -> Done:
    """Change the name of a person."""
    rename(arena, who.account, name)
    return Done("/account", {"changed": True})


@router.action("/account/password", shape=shapes.Changed)
def act_change_password(
    request: Request,
    arena: OpenArena,
    settings: ServerSettings,
    who: SignedInPerson,
    old: Text,
    new: Text,
) -> Done:
    """Change a password; every other session of the account ends."""
    rates = find_rates(request)
    rates.sign_in.take(who.account)
    change_password(arena, who.account, old, new, session=read_session(request, settings))
    rates.sign_in.give_back(who.account)
    return Done("/account", {"changed": True})


@router.page("/account/data", shape=shapes.PersonalData)
def show_data(arena: OpenArena, who: SignedInPerson) -> View:
    """Show everything that is kept about a person; as JSON it can be saved."""
    return View("data.html.j2", "Your data", {"data": export_personal_data(arena, who.account)})


@router.action("/account/delete", shape=shapes.Deleted)
def act_delete(
    request: Request, arena: OpenArena, settings: ServerSettings, who: SignedInPerson, password: Text
) -> Done:
    """Delete what is kept about a person; submissions stay, by their ids."""
    rates = find_rates(request)
    rates.sign_in.take(who.account)
    delete_account(arena, who.account, password)
    done = Done("/", {"deleted": True})
    drop_session(done, settings)
    return done
