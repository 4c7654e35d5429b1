"""Which submissions an audit looks at: those that would win."""

from __future__ import annotations

import math

from sqlalchemy import select

from neuroarena.competition.arena import Arena
from neuroarena.competition.audit.claims import read_scored_units
from neuroarena.competition.boards import rank_track
from neuroarena.competition.tables import RUN, SUBMISSION
from neuroarena.errors import InputError, NeuroarenaError


def find_top(arena: Arena, track: str, first: int) -> list[str]:
    """Return the submissions of the first so many teams of a track by the final rule, best first.

    Teams of the organisers are left out; teams that share the last place are all in.

    Raises
    ------
    InputError
        When nobody is ranked.
    """
    competition = arena.competition
    phase = competition.final_phase.name
    board = rank_track(arena, track, phase, rule=competition.final.rule)
    table = board.rankings[0].table if board.rankings else None
    entries = None if table is None else table[table["role"] == "entry"]
    if entries is None or entries.empty:
        raise InputError(f'Nobody is ranked on the track "{track}" in the phase "{phase}" yet.')
    last = entries["rank"].iloc[min(first, len(entries)) - 1]
    winners = entries[entries["rank"] <= last]
    return [
        _find_submission(arena, track, phase, str(team), float(score))
        for team, score in zip(winners["team"], winners["score"], strict=True)
    ]


def _find_submission(arena: Arena, track: str, phase: str, team: str, score: float) -> str:
    """Return the newest submission of a team that has the score it is ranked by."""
    asked = (
        select(SUBMISSION.c.id)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .where(SUBMISSION.c.team == team, SUBMISSION.c.track == track, SUBMISSION.c.phase == phase)
        .where(RUN.c.state == "scored")
        .order_by(SUBMISSION.c.received.desc(), SUBMISSION.c.id)
    )
    with arena.store.reading() as connection:
        submissions = [str(each) for each in connection.execute(asked).scalars()]
    for submission in submissions:
        if math.isclose(read_scored_units(arena, submission)[1].value, score, rel_tol=1e-12, abs_tol=1e-12):
            return submission
    raise NeuroarenaError(f'No submission of the team "{team}" has the score it is ranked by.')
