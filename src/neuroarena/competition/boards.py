"""Boards of a competition: a pure function of what was scored, the rules and a time."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
from sqlalchemy import Connection, select

from neuroarena.board import Board, Entry, Rules
from neuroarena.competition.arena import Arena
from neuroarena.competition.judging import select_half
from neuroarena.competition.phases import Phase
from neuroarena.competition.tables import EVENT, PUBLIC_SCORE, RUN, SUBMISSION, TEAM
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import UnitScores
from neuroarena.statistics import ranks

# Events that take a submission off the boards, and those that put it back.
OFF = ("disqualified", "deleted")
BACK = ("reinstated", "restored")


def rank_track(
    arena: Arena,
    track: str,
    phase: str,
    *,
    rule: str = "best-ever",
    as_of: datetime.datetime | None = None,
    half: str = "public",
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
        What was received, scored or decided later is not seen.
    half : {"public", "final"}
        Which half of the people counts, where there are halves.

    Raises
    ------
    InputError
        When nothing was scored yet.
    """
    rows = read_scored(arena, track, find_phase(arena, phase), as_of)
    entries = [entry for row in rows for entry in make_entries(arena, row, half)]
    return Board(entries, Rules(rule=rule, as_of=as_of, prizes=True))


def make_entries(arena: Arena, row: dict[str, Any], half: str) -> list[Entry]:
    """Return the entries of a scored submission on boards: one for each part of its track."""
    sheet = arena.sheet(row["track"], row["phase"])
    about = arena.about(sheet)
    units = select_half(arena, sheet, read_units(arena, row), half)
    role = {"constant": "chance", "shuffled": "chance", "real": "classical"}.get(row["baseline"] or "")
    return [
        Entry(
            team=name_entry(row),
            benchmark=about["benchmarks"][part],
            split=about["split"],
            manifest=arena.manifest(sheet, part),
            unit_scores=scored.table,
            time=row["received"],
            role=role or ("organiser" if row["organiser"] else "entry"),  # type: ignore[arg-type]
            simulated=about["simulated"],
            provenance={
                "submission": row["submission"],
                "scorer_version": row["scorer_version"],
                "encoder_weights": (row.get("measured") or {}).get("encoder_weights"),
            },
        )
        for part, scored in units.items()
    ]


def name_entry(row: dict[str, Any]) -> str:
    """Return what a board calls a submission: its team, or a baseline of the host, each an entry of its own."""
    return f"{row['team']}: {row['baseline']}" if row["baseline"] else str(row["team"])


def read_units(arena: Arena, row: dict[str, Any]) -> dict[str, UnitScores]:
    """Read the unit scores of a scored submission from the vault, part by part.

    Raises
    ------
    NeuroarenaError
        When the vault does not have them.
    """
    found = {}
    for part in arena.parts(arena.sheet(row["track"], row["phase"])):
        units = arena.vault.read_scores(row["run"], row["scorer_version"], part)
        if units is None:
            raise NeuroarenaError(
                f"{arena.vault.folder}: the unit scores of run {row['run']} are missing. "
                "Put the vault back from a backup."
            )
        found[part] = units
    return found


def list_shown(
    arena: Arena, track: str, phase: str, as_of: datetime.datetime | None = None
) -> list[dict[str, Any]]:
    """List the teams of a track by the best value that each was shown, best first; equals share a rank.

    What this list holds is public in every phase. A team whose values are not shown yet stands last, without a rank.

    Returns
    -------
    list of dict
        rank, team, affiliation (None until it is revealed), role, prize (whether it may take one), shown, scored (how
        many of its submissions), last_utc (when the last of them was received).
    """
    rows = read_scored(arena, track, find_phase(arena, phase), as_of)
    sign = 1 if arena.manifests(arena.sheet(track, phase)).popitem()[1].direction == "higher" else -1
    teams: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        teams.setdefault(name_entry(row), []).append(row)
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
            "affiliation": teams[team][0]["affiliation"],
            "role": "host" if teams[team][0]["organiser"] else "team",
            "prize": not teams[team][0]["organiser"] and teams[team][0]["no_prize"] is None,
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


def read_scored(
    arena: Arena, track: str, phase: Phase, as_of: datetime.datetime | None = None
) -> list[dict[str, Any]]:
    """Read the scored submissions of a track and phase, oldest first, each with the newest score that it had then.

    Submissions that were disqualified or deleted by then are left out.
    """
    arena.competition.track(track)
    asked = (
        select(
            SUBMISSION.c.id.label("submission"),
            SUBMISSION.c.team,
            SUBMISSION.c.track,
            SUBMISSION.c.phase,
            SUBMISSION.c.received,
            SUBMISSION.c.kind,
            SUBMISSION.c.sha256,
            SUBMISSION.c.model,
            SUBMISSION.c.external_data,
            SUBMISSION.c.baseline,
            TEAM.c.organiser,
            TEAM.c.affiliation,
            TEAM.c.reveals_affiliation,
            TEAM.c.no_prize,
            RUN.c.measured,
            PUBLIC_SCORE,
        )
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .join(PUBLIC_SCORE, PUBLIC_SCORE.c.run == RUN.c.id)
        .join(TEAM, TEAM.c.name == SUBMISSION.c.team)
        .where(SUBMISSION.c.track == track, SUBMISSION.c.phase == phase.name, RUN.c.state == "scored")
        .where(RUN.c.purpose != "audit")
        .order_by(PUBLIC_SCORE.c.at, PUBLIC_SCORE.c.run)
    )
    if as_of is not None:
        asked = asked.where(SUBMISSION.c.received <= as_of, PUBLIC_SCORE.c.at <= as_of)
    with arena.store.reading() as connection:
        gone = list_gone(connection, as_of)
        newest = {row["submission"]: dict(row) for row in connection.execute(asked).mappings()}
    hidden = arena.competition.affiliations == "hidden"
    for row in newest.values():
        if hidden and not row["reveals_affiliation"]:
            row["affiliation"] = None
    kept = [row for row in newest.values() if row["submission"] not in gone]
    return sorted(kept, key=lambda row: (row["received"], row["submission"]))


def list_gone(connection: Connection, as_of: datetime.datetime | None = None) -> dict[str, str]:
    """Return the submissions that organisers had taken off the boards by a time, each with what was done."""
    asked = (
        select(EVENT.c.about, EVENT.c.what).where(EVENT.c.what.in_((*OFF, *BACK))).order_by(EVENT.c.number)
    )
    if as_of is not None:
        asked = asked.where(EVENT.c.at <= as_of)
    off: dict[str, set[str]] = {}
    for about, what in connection.execute(asked):
        if what in OFF:
            off.setdefault(about, set()).add(what)
        else:
            off.setdefault(about, set()).discard(OFF[BACK.index(what)])
    return {about: sorted(done)[0] for about, done in off.items() if done}
