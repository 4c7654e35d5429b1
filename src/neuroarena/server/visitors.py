"""Who is asking: a visitor, a member of a team or an organiser, by cookie or bearer token; and what each may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from neuroarena.competition.arena import Arena
from neuroarena.competition.people.sessions import find_person
from neuroarena.competition.teams import read_team, read_token
from neuroarena.errors import InputError
from neuroarena.server.refusals import Refusal
from neuroarena.server.settings import Settings

SESSION_COOKIE = "session"
TOKEN = "token"


@dataclass(frozen=True)
class Visitor:
    """Somebody who asks for a page.

    Attributes
    ----------
    account : str or None
        Id of the account; None for a visitor, and "token" for a program with a team's token.
    name : str
        What pages call the person.
    team : str or None
    captain : bool
        Whether the person manages the team.
    scope : {"submit", "read"}
        What a program may; people may submit.
    """

    account: str | None = None
    name: str = ""
    team: str | None = None
    captain: bool = False
    scope: str = "read"

    @property
    def organises(self) -> bool:
        """Whether pages show the way to the organisers' desk."""
        return False


@dataclass(frozen=True)
class Member(Visitor):
    """Somebody who has signed in, in a team or not yet, or a program with the token of a team."""

    account: str = TOKEN


@dataclass(frozen=True)
class Organiser(Member):
    """Somebody who runs the competition."""

    @property
    def organises(self) -> bool:
        """Whether pages show the way to the organisers' desk."""
        return True


VISITOR = Visitor()
# Returns who a request comes from; None where it does not say so in this way.
Resolver = Callable[[Request, Arena, Settings], Visitor | None]


def resolve_bearer(request: Request, arena: Arena, settings: Settings) -> Visitor | None:  # noqa: ARG001
    """Return the team behind ``Authorization: Bearer TOKEN``.

    Raises
    ------
    Refusal
        When the token is not valid: a program must not go on as a visitor.
    """
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    if kind.lower() != "bearer":
        return None
    try:
        team, scope = read_token(arena, token)
    except InputError as error:
        raise Refusal(401, str(error), WWW_Authenticate="Bearer") from error
    # An organiser's team may submit baselines; a token never has an organiser's rights.
    return Member(name=str(read_team(arena, team)["name"]), team=team, scope=scope)


def resolve_session(request: Request, arena: Arena, settings: Settings) -> Visitor | None:
    """Return the person behind the cookie of a session; an old cookie is a visitor's."""
    secret = request.cookies.get(f"{settings.cookie_prefix}{SESSION_COOKIE}", "")
    person = find_person(arena, secret) if secret else None
    if person is None:
        return None
    kind = Organiser if person.organiser else Member
    return kind(person.account, person.name, person.team, person.captain, "submit")


# Asked in this order; the first that knows says who it is.
RESOLVERS: tuple[Resolver, ...] = (resolve_bearer, resolve_session)


async def find_who(request: Request) -> Visitor:
    """Return who is asking, and remember it for the page."""
    state = request.app.state
    who = VISITOR
    # A visitor without cookie and token needs no look into the store.
    if "authorization" in request.headers or "cookie" in request.headers:
        who = await run_in_threadpool(_resolve, request, state.arena, state.settings)
    request.state.who = who
    return who


def _resolve(request: Request, arena: Arena, settings: Settings) -> Visitor:
    for resolver in RESOLVERS:
        found = resolver(request, arena, settings)
        if found is not None:
            return found
    return VISITOR


Anyone = Annotated[Visitor, Depends(find_who)]


async def require_member(who: Anyone) -> Member:
    """Return who has signed in, or refuse."""
    if not isinstance(who, Member):
        raise Refusal(401, "Sign in first.", WWW_Authenticate="Bearer")
    return who


SignedIn = Annotated[Member, Depends(require_member)]


async def require_team(who: SignedIn) -> Member:
    """Return who belongs to a team, or refuse."""
    if who.team is None:
        raise Refusal(403, "This page belongs to a team. Found one, or accept an invitation first.")
    return who


TeamMember = Annotated[Member, Depends(require_team)]


async def require_submitting(who: TeamMember) -> Member:
    """Return who may act for a team, or refuse."""
    if who.scope != "submit":
        raise Refusal(403, "This token may read and not submit. Make one that may.")
    return who


SubmittingMember = Annotated[Member, Depends(require_submitting)]


async def require_person(who: SignedIn) -> Member:
    """Return who has signed in with a password, or refuse: a program's token opens no account."""
    if who.account == TOKEN:
        raise Refusal(403, "This is for people who sign in, and not for tokens.")
    return who


SignedInPerson = Annotated[Member, Depends(require_person)]


async def require_captain(who: SignedInPerson) -> Member:
    """Return the captain of a team, or refuse."""
    await require_team(who)
    if not who.captain:
        raise Refusal(403, "Only the captain of your team may do this.")
    return who


CaptainOnly = Annotated[Member, Depends(require_captain)]


async def require_organiser(who: SignedIn) -> Organiser:
    """Return who runs the competition, or refuse."""
    if not isinstance(who, Organiser):
        raise Refusal(403, "This page is for the organisers.")
    return who


OrganiserOnly = Annotated[Organiser, Depends(require_organiser)]
PERMISSIONS = (
    find_who,
    require_member,
    require_team,
    require_submitting,
    require_person,
    require_captain,
    require_organiser,
)
