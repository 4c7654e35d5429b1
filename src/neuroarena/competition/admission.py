"""Admission: whether a submission is taken now; phases, terms, quotas and caps, on the database's clock."""

from __future__ import annotations

import datetime

from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.configuration import Competition
from neuroarena.competition.phases import Phase
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import DOCUMENT, RUN, SUBMISSION
from neuroarena.competition.teams import has_accepted, list_members
from neuroarena.competition.times import day_of, format_aoe, format_utc, next_day
from neuroarena.competition.tracks import Kind
from neuroarena.errors import InputError

MEGABYTE = 1 << 20


def admit(
    connection: Connection,
    arena: Arena,
    team: str,
    track: str,
    n_bytes: int,
    *,
    kind: Kind = "predictions",
    accepting: bool = False,
) -> Phase:
    """Return the phase a submission would count in now, or refuse it.

    Raises
    ------
    InputError
        When the competition is closed, no phase is open, the track does not take this kind, the terms are not
        accepted, or a cap is reached.
    """
    competition, now = arena.competition, arena.store.clock(connection)
    if read_about(connection, "status") != "open":
        raise InputError(f"{competition.title} does not take submissions now: the organisers have closed it.")
    phase = competition.phase_at(now)
    if phase is None or not phase.takes(track):
        raise InputError(
            f'The track "{track}" takes no submissions now. {_next_phase(competition, track, now)}'
        )
    check_kind(competition, track, phase.name, kind)
    if not accepting and not has_accepted(connection, team, arena.terms_sha256):
        terms = " ".join(competition.terms.split())
        raise InputError(
            f'The team "{team}" has not accepted the terms: "{terms}". Accept them by adding --accept-terms.'
        )
    if competition.eligibility.members_named and not list_members(connection, team):
        raise InputError(f'The team "{team}" must name its members first. Write to {competition.contact}.')
    check_room(connection, competition, team, n_bytes)
    if kind != "pipeline":  # a committed pipeline is not scored, and costs no attempt
        _check_unfinished(connection, competition, team)
        _check_caps(connection, phase, team, now)
    return phase


def count_attempts(connection: Connection, team: str, phase: str, day: str | None = None) -> int:
    """Return how many attempts of a team are reserved or used, on a day or in the whole phase."""
    asked = select(func.count()).where(
        SUBMISSION.c.team == team, SUBMISSION.c.phase == phase, SUBMISSION.c.slot.in_(("reserved", "used"))
    )
    if day is not None:
        asked = asked.where(SUBMISSION.c.utc_day == day)
    return int(connection.execute(asked).scalar_one())


def count_refunds(connection: Connection, team: str, phase: str, day: str) -> int:
    """Return how many attempts of earlier days were given back on a day; each is one more attempt then."""
    begun = next_day(day) - datetime.timedelta(days=1)
    asked = select(func.count()).where(
        SUBMISSION.c.team == team,
        SUBMISSION.c.phase == phase,
        SUBMISSION.c.utc_day < day,
        SUBMISSION.c.refunded >= begun,
        SUBMISSION.c.refunded < next_day(day),
    )
    return int(connection.execute(asked).scalar_one())


def check_kind(competition: Competition, track: str, phase: str, kind: Kind) -> None:
    """Refuse a kind of submission that a track does not take in a phase.

    Raises
    ------
    InputError
    """
    kinds = competition.track(track).kinds_in(phase)
    if kind not in kinds:
        raise InputError(
            f'The track "{track}" takes {" and ".join(kinds)} in this phase, and this is {kind}.'
        )


def check_room(connection: Connection, competition: Competition, team: str, n_bytes: int) -> None:
    """Refuse a file that would exceed the room of a team; files that were removed do not count.

    Raises
    ------
    InputError
    """
    limits, total = competition.limits, 0
    for table in (SUBMISSION, DOCUMENT):
        asked = select(func.coalesce(func.sum(table.c.bytes), 0))
        asked = asked.where(table.c.team == team, table.c.file_removed.is_(None))
        total += int(connection.execute(asked).scalar_one())
    if total + n_bytes > limits.team_mb * MEGABYTE:
        raise InputError(
            f"Your team's files would exceed {limits.team_mb} MB in all. Ask the organisers for room."
        )


def _check_unfinished(connection: Connection, competition: Competition, team: str) -> None:
    waiting = connection.execute(
        select(func.count()).where(RUN.c.team == team, RUN.c.state.not_in(TERMINAL), RUN.c.purpose != "audit")
    ).scalar_one()
    if waiting >= competition.limits.unfinished:
        raise InputError(
            f"{waiting} submissions of your team have not ended yet; wait until one has, and try again."
        )


def _check_caps(connection: Connection, phase: Phase, team: str, now: datetime.datetime) -> None:
    today = day_of(now)
    if phase.in_total is not None and count_attempts(connection, team, phase.name) >= phase.in_total:
        raise InputError(f'All {phase.in_total} attempts of your team in "{phase.title}" are used.')
    if phase.per_day is None:
        return
    allowed = phase.per_day + count_refunds(connection, team, phase.name, today)
    if count_attempts(connection, team, phase.name, today) >= allowed:
        free = next_day(today)
        more = f"The next is free at {format_utc(free)} ({format_aoe(free)})." if free < phase.end else ""
        raise InputError(f"All {allowed} attempts of your team today are used. {more}".strip())


def _next_phase(competition: Competition, track: str, now: datetime.datetime) -> str:
    later = [phase for phase in competition.phases if phase.start > now and phase.takes(track)]
    if not later:
        return "No later phase takes any."
    return f'"{later[0].title}" begins at {format_utc(later[0].start)} ({format_aoe(later[0].start)}).'
