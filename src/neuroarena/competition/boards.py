"""Boards of a competition: a pure function of what was scored, the rules and a time."""

from __future__ import annotations

import datetime
import json
from typing import Any

import numpy as np
from sqlalchemy import select

from neuroarena.board import Board, Entry, Rules
from neuroarena.competition.arena import Arena
from neuroarena.competition.phases import Phase
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION, TEAM
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.statistics import ranks


def rank_track(
    arena: Arena, track: str, phase: str, *, rule: str = "best-ever", as_of: datetime.datetime | None = None
) -> Board:
    """Rank the teams of a track by the unit scores in the vault.

    For phases that display full scores, and for the organisers of the others.

    Parameters
    ----------
    arena : Arena
    track, phase : str
    rule : str
        Which submission of a team counts: "best-ever" on the public board, the competition's final rule at the end.
    as_of : datetime, optional
        Submissions received later are not seen.

    Raises
    ------
    InputError
        When nothing was scored yet.
    """
    arena.competition.track(track)
    manifest = arena.manifest(track)
    about = json.loads((arena.folder / "public" / track / "track.json").read_text(encoding="utf-8"))
    entries = []
    for row in _scored_rows(arena, track, find_phase(arena, phase)):
        units = arena.vault.read_scores(row["run"], row["scorer_version"])
        if units is None:
            raise NeuroarenaError(
                f"{arena.vault.folder}: the unit scores of run {row['run']} are missing. "
                "Put the vault back from a backup."
            )
        entries.append(
            Entry(
                team=row["team"],
                benchmark=about["benchmark"],
                split=about["split"],
                manifest=manifest,
                unit_scores=units.table,
                time=row["received"],
                role="organiser" if row["organiser"] else "entry",
                simulated=about["simulated"],
                provenance={"submission": row["submission"], "scorer_version": row["scorer_version"]},
            )
        )
    return Board(entries, Rules(rule=rule, as_of=as_of, prizes=True))


def list_shown(
    arena: Arena, track: str, phase: str, as_of: datetime.datetime | None = None
) -> list[dict[str, Any]]:
    """List the teams of a track by the best value that each was shown, best first; equals share a rank.

    What this list holds is public in every phase. A team whose values are not shown yet stands last, without a rank.

    Returns
    -------
    list of dict
        rank, team, shown, scored (how many of its submissions), last_utc (when the last of them was received).
    """
    rows = [
        row
        for row in _scored_rows(arena, track, find_phase(arena, phase))
        if as_of is None or row["received"] <= as_of
    ]
    sign = 1 if arena.manifest(track).direction == "higher" else -1
    teams: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        teams.setdefault(row["team"], []).append(row)
    best = {
        team: [sign * row["shown"] for row in mine if row["shown"] is not None]
        for team, mine in teams.items()
    }
    ranked = {team: max(values) for team, values in best.items() if values}
    places = dict(zip(ranked, ranks(np.array(list(ranked.values()))), strict=True)) if ranked else {}
    order = sorted(teams, key=lambda team: (places.get(team, len(teams) + 1), team))
    return [
        {
            "rank": int(places[team]) if team in places else None,
            "team": team,
            "shown": sign * ranked[team] if team in ranked else None,
            "scored": len(teams[team]),
            "last_utc": format_utc(max(row["received"] for row in teams[team])),
        }
        for team in order
    ]


def find_phase(arena: Arena, name: str) -> Phase:
    """Return a phase by its name.

    Raises
    ------
    InputError
        When there is none; those there are, are listed.
    """
    phases = {phase.name: phase for phase in arena.competition.phases}
    if name not in phases:
        raise InputError(f'{arena.competition.title} has no phase "{name}". Phases: {", ".join(phases)}.')
    return phases[name]


def _scored_rows(arena: Arena, track: str, phase: Phase) -> list[dict[str, Any]]:
    """Read every scored run of a track and phase, oldest first, with the newest score of each."""
    arena.competition.track(track)
    asked = (
        select(
            SUBMISSION.c.id.label("submission"),
            SUBMISSION.c.team,
            SUBMISSION.c.received,
            TEAM.c.organiser,
            PUBLIC_SCORE.c.run,
            PUBLIC_SCORE.c.scorer_version,
            PUBLIC_SCORE.c.shown,
        )
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .join(PUBLIC_SCORE, PUBLIC_SCORE.c.run == RUN.c.id)
        .join(TEAM, TEAM.c.name == SUBMISSION.c.team)
        .where(SUBMISSION.c.track == track, SUBMISSION.c.phase == phase.name, RUN.c.state == "scored")
        .order_by(PUBLIC_SCORE.c.at)
    )
    with arena.store.reading() as connection:
        newest = {row["run"]: dict(row) for row in connection.execute(asked).mappings()}
    return sorted(newest.values(), key=lambda row: (row["received"], row["submission"]))
