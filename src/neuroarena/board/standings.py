"""Boards over several tracks: rank points, and foundation transfer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.ranking import Ranking
from neuroarena.board.seed_rule import stability
from neuroarena.errors import InputError
from neuroarena.statistics import (
    Draws,
    all_track_score,
    rank_points,
    rank_probabilities,
    ranking,
    ranks,
    submitted_score,
    tie_groups,
    transfer_score,
    visible_transfer_score,
)


@dataclass(frozen=True, eq=False)
class Standings:
    """An order of teams over several tracks.

    Attributes
    ----------
    title, rule : str
        What it is, and how it is computed.
    table : DataFrame
        Best first.
    unranked : DataFrame
        `team`, `reason`.
    tracks : tuple of str
    draws : Draws or None
        Of the transfer board.
    simulated : bool
    """

    title: str
    rule: str
    table: pd.DataFrame
    unranked: pd.DataFrame
    tracks: tuple[str, ...]
    draws: Draws | None = None
    simulated: bool = False


def points_board(
    rankings: Sequence[Ranking], names: Sequence[str] | None = None, absent: Sequence[str] = ()
) -> Standings:
    """Turn ranks into points and average them over tracks.

    A team has 1 - (r - 1) / (N - 1) points on a track, r its rank among the N who may take a prize.

    Parameters
    ----------
    rankings
        One per track.
    names
        Names of the tracks, one per ranking; by default those of their tasks.
    absent
        Tracks without a ranking that count nevertheless: 0 for everyone.

    Returns
    -------
    Standings
        `rank` (by `all_tracks`, then `submitted`), `team`, `submitted` (mean over the tracks entered),
        `all_tracks` (a track not entered counts 0), `n_tracks`, and the points of each track.

    Raises
    ------
    InputError
        When there is no ranking, two of them have one name, or nobody is ranked.
    """
    names = _track_names(rankings) if names is None else list(names)
    every = (*names, *absent)
    points: dict[str, dict[str, float]] = {}
    for name, one in zip(names, rankings, strict=True):
        takers = one.table[one.table["prize"].notna()]
        for team, place in zip(takers["team"], takers["prize"], strict=True):
            points.setdefault(str(team), {})[name] = rank_points(int(place), len(takers))
    if not points:
        raise InputError(
            "Nobody who may take a prize is ranked on these tracks: floors and organisers get no points."
        )
    rows = [
        {
            "team": team,
            "submitted": submitted_score(own),
            "all_tracks": all_track_score(own, every),
            "n_tracks": len(own),
            **{name: own.get(name, np.nan) for name in names},
        }
        for team, own in points.items()
    ]
    table = pd.DataFrame(rows).sort_values(
        ["all_tracks", "submitted", "team"], ascending=[False, False, True], ignore_index=True
    )
    by_all, by_own = (ranks(table[name].to_numpy()) for name in ("all_tracks", "submitted"))
    key = by_all * (len(table) + 1) + by_own
    table.insert(0, "rank", ranks(-key.astype(np.float64)))
    return Standings(
        title=_titled("Points over tracks", rankings),
        rule=(
            "Points: 1 - (r - 1) / (N - 1) on each track, 1 when alone; submitted: mean over the tracks "
            f"entered; all tracks: sum / {len(every)}, a track not entered counting 0. Floors and organisers "
            "are not counted."
        ),
        table=table,
        unranked=unranked_reasons(rankings, set(points)),
        tracks=tuple(names),
        simulated=any(one.simulated for one in rankings),
    )


def transfer_board(rankings: Sequence[Ranking], floors: bool = False) -> Standings:
    """Rank encoders by their mean rank over tracks, ranked again in every draw.

    Parameters
    ----------
    rankings
        One per track, with the same number of draws.
    floors
        Whether those who take no prize are ranked too.

    Returns
    -------
    Standings
        `rank`, `team`, `score` (0 to 100) with `ci95_low` and `ci95_high`, `mean_rank`, `tie_group`,
        `p_top1`, `p_top3`, `p_top5`, `rank_low`, `rank_high`.

    Raises
    ------
    InputError
        When there is no ranking, or no team on all of them.
    """
    names = _track_names(rankings)
    draws = {name: _entered(one, floors) for name, one in zip(names, rankings, strict=True)}
    both = transfer_score(draws)
    order = ranking(both)
    teams = [str(team) for team in order["team"]]
    place = [both.position(team) for team in teams]
    n = len(teams)
    bounds = both.interval().iloc[place]
    mean_rank = -both.point[place]
    table = pd.DataFrame(
        {
            "rank": order["rank"].to_numpy(),
            "team": teams,
            "score": [visible_transfer_score(rank, n) for rank in mean_rank],
            "ci95_low": [visible_transfer_score(-low, n) for low in bounds["low"]],
            "ci95_high": [visible_transfer_score(-high, n) for high in bounds["high"]],
            "mean_rank": mean_rank,
            "tie_group": tie_groups(both).loc[teams].to_numpy(),
            **stability(rank_probabilities(both).loc[teams], both.n_draws),
        }
    )
    lacking = [(str(team), f"not on {', '.join(tracks)}") for team, tracks in sorted(both.left_out.items())]
    return Standings(
        title=_titled("Foundation transfer", rankings),
        rule=f"N = {n} encoders on all {len(names)} tracks. Score: {both.recipe['rule']}.",
        table=table,
        unranked=pd.DataFrame(lacking, columns=["team", "reason"], dtype=object),
        tracks=tuple(names),
        draws=both,
        simulated=any(one.simulated for one in rankings),
    )


def _track_names(rankings: Sequence[Ranking]) -> list[str]:
    if not rankings:
        raise InputError("A board over tracks needs at least one ranking; got none.")
    tasks = [one.task for one in rankings]
    names = tasks if len(set(tasks)) == len(tasks) else [one.name for one in rankings]
    if len(set(names)) < len(names):
        raise InputError(f"A track is given twice: {', '.join(names)}.")
    return names


def _entered(one: Ranking, floors: bool) -> Draws:
    if one.draws is None:
        raise InputError(f"{one.name}: nobody is ranked, so there is nothing to transfer.")
    table = one.table if floors else one.table[one.table["prize"].notna()]
    teams = sorted(str(team) for team in table["team"])
    if not teams:
        raise InputError(f"{one.name}: only floors and organisers are ranked; there is no encoder to judge.")
    place = [one.draws.position(team) for team in teams]
    return Draws(
        teams, one.draws.scores[:, place], one.draws.point[place], one.draws.n_units, one.draws.recipe
    )


def _titled(title: str, rankings: Sequence[Ranking]) -> str:
    return f"{title} (simulated)" if any(one.simulated for one in rankings) else title


def unranked_reasons(rankings: Sequence[Ranking], ranked: set[str]) -> pd.DataFrame:
    """Return why some teams are ranked nowhere: `team` and the first `reason` of each."""
    reasons: dict[str, Any] = {}
    for one in rankings:
        for team, reason in one.unranked.itertuples(index=False):
            if team not in ranked:
                reasons.setdefault(str(team), f"{one.name}: {reason}")
    return pd.DataFrame(sorted(reasons.items()), columns=["team", "reason"], dtype=object)
