"""A team on the pages: found or join one, members, invitations, tokens, terms, affiliation."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Form, Query, Request

from neuroarena.competition.people.accounts import clean_email
from neuroarena.competition.people.invitations import (
    accept_invitation,
    invite,
    list_invitations,
    read_invitation,
    take_back,
)
from neuroarena.competition.people.memberships import (
    clean_affiliation,
    found_team,
    hand_over,
    leave_team,
    list_accounts,
    remove_from_team,
)
from neuroarena.competition.teams import (
    accept_terms,
    has_accepted,
    issue_token,
    list_members,
    list_tokens,
    read_team,
    reveal_affiliation,
    revoke_token,
)
from neuroarena.competition.times import format_utc
from neuroarena.server import shapes
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import OpenArena, PageRouter, ServerSettings
from neuroarena.server.sign_ins import find_base, find_rates, name_client, send_after
from neuroarena.server.viewing import Done, View
from neuroarena.server.visitors import TOKEN, Anyone, CaptainOnly, SignedInPerson, SubmittingMember

router = PageRouter()

Text = Annotated[str, Form(max_length=500)]


@router.page("/team", shape=shapes.TeamPage | shapes.Teamless)
def show_team(arena: OpenArena, who: SignedInPerson) -> View:
    """Show a person's team; without one, how to get one."""
    if who.team is None:
        return View("teamless.html.j2", "Your team", {"team": None})
    row = read_team(arena, who.team)
    with arena.store.reading() as connection:
        accepted = has_accepted(connection, who.team, arena.terms_sha256)
        named = list_members(connection, who.team)
    people = list_accounts(arena, who.team)
    data: dict[str, Any] = {
        "team": row["name"],
        "affiliation": row["affiliation"],
        "revealed": row["reveals_affiliation"],
        "shown_anyway": arena.competition.affiliations == "shown",
        "captain": who.captain,
        "you": who.account,
        "members": [{**person, "joined": format_utc(person["joined"])} for person in people],
        "named": named,
        "terms": {"text": arena.competition.terms, "sha256": arena.terms_sha256, "accepted": accepted},
        "tokens": [
            {
                "id": token["id"],
                "scope": token["scope"],
                "created_utc": format_utc(token["created"]),
                "expires_utc": format_utc(token["expires"]),
            }
            for token in list_tokens(arena, who.team)
        ],
        "invitations": [
            {"id": each["id"], "email": each["email"], "expires_utc": format_utc(each["expires"])}
            for each in (list_invitations(arena, who.team) if who.captain else [])
        ],
    }
    return View("team.html.j2", f"Team {who.team}", data)


@router.action("/team/found", shape=shapes.OwnTeam, status=201)
def act_found(arena: OpenArena, who: SignedInPerson, name: Text, affiliation: Text = "") -> Done:
    """Found a team; whoever does is its captain."""
    found_team(arena, who.account, name, affiliation)
    return Done("/team", {"team": " ".join(name.split())}, status=201)


@router.action("/team/leave", shape=shapes.OwnTeam)
def act_leave(arena: OpenArena, who: SignedInPerson) -> Done:
    """Leave one's team."""
    leave_team(arena, who.account)
    return Done("/team", {"team": None})


@router.action("/team/invitations", shape=shapes.Invited, status=201)
def act_invite(
    request: Request, arena: OpenArena, settings: ServerSettings, who: CaptainOnly, email: Text
) -> Done:
    """Invite somebody by address."""
    rates = find_rates(request)
    rates.client.take(name_client(request))
    rates.letters.take(clean_email(email))
    base = find_base(request, settings)
    letter = invite(arena, str(who.team), email, by=who.account, base=base)
    done = Done("/team", {"invited": letter.to}, status=201)
    send_after(done, request, letter)
    return done


@router.action("/team/invitations/{invitation}/take-back", shape=shapes.TakenBack)
def act_take_back(arena: OpenArena, who: CaptainOnly, invitation: str) -> Done:
    """Take an invitation back."""
    take_back(arena, str(who.team), invitation, by=who.account)
    return Done("/team", {"taken_back": invitation})


@router.action("/team/members/{member}/remove", shape=shapes.Removed)
def act_remove(arena: OpenArena, who: CaptainOnly, member: str) -> Done:
    """Remove a member of the team."""
    remove_from_team(arena, str(who.team), member, actor=who.account)
    return Done("/team", {"removed": member})


@router.action("/team/members/{member}/captain", shape=shapes.NewCaptain)
def act_hand_over(arena: OpenArena, who: CaptainOnly, member: str) -> Done:
    """Make another member the captain."""
    hand_over(arena, str(who.team), member, actor=who.account)
    return Done("/team", {"captain": member})


@router.action("/team/terms", shape=shapes.Accepted)
def act_accept_terms(
    arena: OpenArena, who: SubmittingMember, version: Annotated[str, Form(max_length=64)]
) -> Done:
    """Accept the terms; the version that was read is said, so that nobody accepts words that came meanwhile."""
    if version != arena.terms_sha256:
        raise Refusal(409, "The terms have changed meanwhile. Read them again, then accept them.")
    accept_terms(arena, str(who.team), actor=str(who.team) if who.account == TOKEN else who.account)
    return Done("/team", {"accepted": arena.terms_sha256})


@router.action("/team/affiliation", shape=shapes.Revealed)
def act_reveal(arena: OpenArena, who: CaptainOnly, affiliation: Text = "") -> Done:
    """Show the team's affiliation on boards from now on."""
    reveal_affiliation(arena, str(who.team), clean_affiliation(affiliation), actor=who.account)
    return Done("/team", {"revealed": True})


@router.action("/team/tokens", shape=shapes.NewToken, status=201)
def act_issue_token(
    arena: OpenArena,
    who: CaptainOnly,
    scope: Annotated[Literal["submit", "read"], Form()] = "submit",
    days: Annotated[float, Form(ge=1, le=365)] = 90,
) -> View:
    """Make a token for programs of the team; it is shown on this answer and never again."""
    token = issue_token(arena, str(who.team), scope=scope, days=days, actor=who.account)
    data = {"token": token, "scope": scope, "days": days}
    return View("token.html.j2", "A new token", data, status=201)


@router.action("/team/tokens/{token}/revoke", shape=shapes.Revoked)
def act_revoke(arena: OpenArena, who: CaptainOnly, token: str) -> Done:
    """Make a token of the team invalid."""
    revoke_token(arena, token, team=str(who.team), actor=who.account)
    return Done("/team", {"revoked": token})


@router.page("/join", shape=shapes.InvitationPage)
def show_join(arena: OpenArena, who: Anyone, ticket: Annotated[str, Query(max_length=500)] = "") -> View:
    """Show an invitation; looking at it joins nothing."""
    data = {"team": read_invitation(arena, ticket), "ticket": ticket, "signed_in": who.account is not None}
    return View("join.html.j2", "An invitation", data)


@router.action("/join", shape=shapes.OwnTeam)
def act_join(arena: OpenArena, who: SignedInPerson, ticket: Text) -> Done:
    """Join the team of an invitation, once."""
    return Done("/team", {"team": accept_invitation(arena, ticket, who.account)})
