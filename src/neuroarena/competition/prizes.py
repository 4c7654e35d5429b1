"""Prizes: who of a final ranking takes none, or not yet, and why."""

from __future__ import annotations

import datetime
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.board import Board
from neuroarena.competition.arena import Arena
from neuroarena.competition.configuration import Competition
from neuroarena.competition.events import append_event
from neuroarena.competition.tables import EVENT
from neuroarena.competition.teams import demand_team
from neuroarena.errors import InputError

RELEASED = "code released"


def record_release(arena: Arena, team: str, address: str, *, actor: str = "organiser") -> None:
    """Record where a team has published its code; the newest address counts.

    Raises
    ------
    InputError
        When there is no such team, or no address.
    """
    if not address.strip() or not address.isprintable():
        raise InputError("Name the address where the code is published.")
    with arena.store.writing(f"team:{team}") as connection:
        demand_team(connection, team)
        now = arena.store.clock(connection)
        append_event(connection, now, actor, RELEASED, team, {"address": address.strip()})


def list_released(connection: Connection, as_of: datetime.datetime | None = None) -> set[str]:
    """Return the teams that had published their code by a time."""
    asked = select(EVENT.c.about).where(EVENT.c.what == RELEASED)
    return set(connection.execute(asked if as_of is None else asked.where(EVENT.c.at <= as_of)).scalars())


def find_prize_problems(
    arena: Arena, board: Board, rows: dict[str, dict[str, Any]], as_of: datetime.datetime | None = None
) -> dict[str, str]:
    """Return the ranked teams that take no prize, or not yet, each with the reason, best first.

    Parameters
    ----------
    arena : Arena
    board : Board
        The final ranking.
    rows : dict
        Team -> the submission of it that counts.
    as_of : datetime, optional
    """
    with arena.store.reading() as connection:
        released = list_released(connection, as_of)
    most, table = arena.competition.final.code_release, board.everything[0].table
    problems: dict[str, str] = {}
    takers: list[float] = []
    for team, place in zip(table["team"].astype(str), table["rank"], strict=True):
        row = rows.get(team)
        if row is None or row["organiser"]:
            problems[team] = "a team of the organisers"
        elif row["no_prize"] is not None:
            problems[team] = str(row["no_prize"]).rstrip(".")
        else:
            takers.append(place)
            # Equals share a rank: all who stand at the last place that counts publish their code.
            if most is not None and place <= takers[:most][-1] and team not in released:
                problems[team] = f"its code is not published yet, and {describe_release(most)}"
    return problems


def describe_prizes(competition: Competition) -> str:
    """Return who may take a prize, and what for, as pages say it."""
    most = competition.final.code_release
    release = "" if most is None else f" {describe_release(most).capitalize()} to take it."
    return f"{competition.eligibility.prizes}{release}"


def describe_release(most: int) -> str:
    """Return the rule that the first so many teams publish their code.

    Examples
    --------
    >>> describe_release(1), describe_release(10)
    ('the first team publishes its code', 'the first 10 teams publish their code')
    """
    return "the first team publishes its code" if most == 1 else f"the first {most} teams publish their code"
