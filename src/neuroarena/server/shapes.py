"""What pages and acts say to programs, declared: every key is named, so that a schema promises what is sent."""

from __future__ import annotations

from typing import Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

Row = TypeVar("Row")
State = Literal["to come", "open", "over"]


class Shape(BaseModel):
    """Part of an answer: what is not declared here is not sent."""

    model_config = ConfigDict(extra="forbid")


class Rows(Shape, Generic[Row]):
    """One page of a long list."""

    rows: list[Row]
    page: int
    pages: int
    total: int


class Empty(Shape):
    """A page that has only words."""


# Accounts and teams


class RegisterForm(Shape):
    """Who may register, and the invitation that somebody came with."""

    registration: Literal["open", "invited"]
    ticket: str


class Said(Shape):
    """A sentence that says the same to everybody."""

    said: str


class Ticket(Shape):
    """The ticket of a letter, as it was sent."""

    ticket: str


class Confirmed(Shape):
    """An address was confirmed."""

    confirmed: Literal[True]


class SignInForm(Shape):
    """Where somebody goes after signing in."""

    next: str


class SignedInNow(Shape):
    """Whether somebody is signed in after the act."""

    signed_in: bool


class Changed(Shape):
    """Something was changed."""

    changed: Literal[True]


class Deleted(Shape):
    """An account was deleted."""

    deleted: Literal[True]


class AccountPage(Shape):
    """What a person sees of their account."""

    id: str
    name: str
    email: str
    created_utc: str
    team: str | None
    captain: bool
    organiser: bool
    sessions: int


class PersonalData(Shape):
    """Everything that is kept about a person: rows of the store, without secrets."""

    data: dict[str, Any]


class Teamless(Shape):
    """The page of somebody without a team."""

    team: None


class TeamPage(Shape):
    """A person's team."""

    team: str
    affiliation: str | None
    revealed: bool
    shown_anyway: bool
    captain: bool
    you: str
    members: list[TeamMate]
    named: list[str]
    terms: AcceptedTerms
    tokens: list[TokenRow]
    invitations: list[InvitationRow]


class TeamMate(Shape):
    """An account of a team."""

    id: str
    name: str
    captain: bool
    joined: str


class Terms(Shape):
    """The terms, and the hash that names their version."""

    text: str
    sha256: str


class AcceptedTerms(Terms):
    """The terms, and whether the team has accepted this version."""

    accepted: bool


class TokenRow(Shape):
    """A token without its secret."""

    id: str
    scope: Literal["submit", "read"]
    created_utc: str
    expires_utc: str


class InvitationRow(Shape):
    """An invitation that nobody has answered."""

    id: str
    email: str
    expires_utc: str


class OwnTeam(Shape):
    """The team of whoever acted, afterwards."""

    team: str | None


class Invited(Shape):
    """Who was invited."""

    invited: str


class TakenBack(Shape):
    """Which invitation was taken back."""

    taken_back: str


class Removed(Shape):
    """Who was removed."""

    removed: str


class NewCaptain(Shape):
    """Who is captain now."""

    captain: str


class Accepted(Shape):
    """Which version of the terms was accepted."""

    accepted: str


class Revealed(Shape):
    """The affiliation is shown from now on."""

    revealed: Literal[True]


class NewToken(Shape):
    """A token, shown once."""

    token: str
    scope: Literal["submit", "read"]
    days: float


class Revoked(Shape):
    """Which token was revoked."""

    revoked: str


class InvitationPage(Shape):
    """An invitation, as whoever got it sees it."""

    team: str
    ticket: str
    signed_in: bool


# Submissions


class SubmitForm(Shape):
    """What is open, and how many attempts are left."""

    team: str
    open: bool
    phase: OpenPhase | None
    tracks: list[OpenTrack]
    attempts: Attempts | None
    terms_accepted: bool
    terms: Terms
    most_mb: int
    external_data: str
    key: str


class OpenPhase(Shape):
    """The phase that is open."""

    name: str
    title: str
    end_utc: str
    end_aoe: str
    display: str
    sealed: bool


class OpenTrack(Shape):
    """A track that takes submissions now."""

    name: str
    title: str
    kinds: list[str]


class Attempts(Shape):
    """Attempts of a team today."""

    used: int
    allowed: int


class CheckedFile(Shape):
    """What the checker found in a file that passed."""

    file: str
    track: str
    kind: str
    model: str | None
    external_data: list[str] | None
    rows: int | None


class Submitted(Shape):
    """The id of a submission that was taken."""

    submission: str


class SubmissionRow(Shape):
    """A team's submission in the list."""

    id: str
    track: str
    phase: str
    received_utc: str
    file: str
    state: str
    attempt: str
    score: str | None
    reason: str | None


class SubmissionList(Shape):
    """The submissions of a team, newest first."""

    team: str
    submissions: Rows[SubmissionRow]


class Step(Shape):
    """A state that a submission had, and since when."""

    state: str
    at: str
    reason: str | None


class Rerun(Shape):
    """Another run of a submission."""

    run: str
    state: str


class PublicScore(Shape):
    """A score as its team may see it."""

    shown: float | None
    interval: list[float] | None
    n_units: int | None
    parts: Any
    sentence: str
    scorer_version: str
    at: str


class Receipt(Shape):
    """The receipt of a submission."""

    id: str
    team: str
    track: str
    phase: str
    received_utc: str
    received_aoe: str
    file: str
    sha256: str
    bytes: int
    kind: str
    model: str | None
    external_data: list[str] | None
    state: str
    reason: str | None
    fault: str | None
    disqualified: str | None
    attempt: str
    used: str
    next_free_utc: str | None
    states: list[Step]
    reruns: list[Rerun]
    runtime_digest: str | None
    scorer_version: str | None
    manifest_hash: Any
    key_commitment: Any
    truth_commitment: Any
    shown_score: float | None
    score: PublicScore | None
    revealed: dict[str, Any] | None
    event_hash: str | None
    replay: str


class ReceiptPage(Shape):
    """A receipt, and what its team may still do."""

    receipt: Receipt
    ended: bool
    can_withdraw: bool
    board: str | None


class Withdrawn(Shape):
    """Which submission was withdrawn."""

    withdrawn: str
