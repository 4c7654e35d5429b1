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
    count_tracks,
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
        `all_tracks` (a track not entered counts 0), `n_tracks`, the points of each track, and `against_leader`: on how
        many tracks the verdict is for or against the leader.

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
    table["against_leader"] = _against_leader(table["team"].tolist(), rankings)
    return Standings(
        title=_mark_simulated("Points over tracks", rankings),
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
        `rank`, `team`, `score` (0 to 100), `mean_rank`, `against_leader` (on how many tracks the verdict is for or
        against the leader: a mean of ranks has no verdict of its own), `p_top1`, `p_top3`, `p_top5` in draws of whole
        levels, and what the seed's rule says: `seed_ci95_low`, `seed_ci95_high`, `seed_tie_group`, `seed_p_top1` and so
        on. Where the rules conclude from the seed's rule, its numbers have no prefix.

    Raises
    ------
    InputError
        When there is no ranking, or no team on all of them.
    """
    names = _track_names(rankings)
    draws = {name: _draws_of_entered(one, floors) for name, one in zip(names, rankings, strict=True)}
    both = transfer_score(draws)
    order = ranking(both)
    teams = [str(team) for team in order["team"]]
    place = [both.position(team) for team in teams]
    n = len(teams)
    bounds = both.interval().iloc[place]
    mean_rank = -both.point[place]
    seed = {
        "ci95_low": [visible_transfer_score(-low, n) for low in bounds["low"]],
        "ci95_high": [visible_transfer_score(-high, n) for high in bounds["high"]],
        "tie_group": tie_groups(both).loc[teams].to_numpy(),
        **stability(rank_probabilities(both).loc[teams], both.n_draws),
    }
    concludes = all(one.rules.inference == "verdicts" for one in rankings)
    table = pd.DataFrame(
        {
            "rank": order["rank"].to_numpy(),
            "team": teams,
            "score": [visible_transfer_score(rank, n) for rank in mean_rank],
            "mean_rank": mean_rank,
            "against_leader": _against_leader(teams, rankings),
            **(_level_shares(names, rankings, teams) if concludes else {}),
            **({f"seed_{name}": values for name, values in seed.items()} if concludes else seed),
        }
    )
    lacking = [(str(team), f"not on {', '.join(tracks)}") for team, tracks in sorted(both.left_out.items())]
    return Standings(
        title=_mark_simulated("Foundation transfer", rankings),
        rule=f"N = {n} encoders on all {len(names)} tracks. Score: {both.recipe['rule']}.",
        table=table,
        unranked=pd.DataFrame(lacking, columns=["team", "reason"], dtype=object),
        tracks=tuple(names),
        draws=both,
        simulated=any(one.simulated for one in rankings),
    )


def _level_shares(names: Sequence[str], rankings: Sequence[Ranking], teams: list[str]) -> dict[str, Any]:
    """Return how often each team is among the first in draws of whole levels; nothing where a track has too few."""
    drawn = {
        name: one.draw_levels() if one.decides else None for name, one in zip(names, rankings, strict=True)
    }
    known = {name: _columns_of(draws, teams) for name, draws in drawn.items() if draws is not None}
    if len(known) < len(drawn):
        return {}
    both = transfer_score(known)
    shares = stability(rank_probabilities(both).loc[teams], both.n_draws)
    return {name: shares[name] for name in ("p_top1", "p_top3", "p_top5")}


def _against_leader(teams: Sequence[str], rankings: Sequence[Ranking]) -> list[str]:
    """Count for each team below the first the tracks on which it is better or worse than the first."""
    tracks = {one.name: one.judgements for one in rankings}
    said = [""]
    for team in teams[1:]:
        better, worse, entered = count_tracks(tracks, team, teams[0])
        said.append(f"better on {better} of {entered} tracks, worse on {worse}")
    return said[: len(teams)]


def _columns_of(draws: Draws, teams: Sequence[str]) -> Draws:
    place = [draws.position(team) for team in teams]
    return Draws(list(teams), draws.scores[:, place], draws.point[place], draws.n_units, draws.recipe)


def _track_names(rankings: Sequence[Ranking]) -> list[str]:
    if not rankings:
        raise InputError("A board over tracks needs at least one ranking; got none.")
    tasks = [one.task for one in rankings]
    names = tasks if len(set(tasks)) == len(tasks) else [one.name for one in rankings]
    if len(set(names)) < len(names):
        raise InputError(f"A track is given twice: {', '.join(names)}.")
    return names


def _draws_of_entered(one: Ranking, floors: bool) -> Draws:
    if one.draws is None:
        why = "nobody is ranked" if one.table.empty else "its score is not defined in some draws"
        raise InputError(f"{one.name}: {why}, so there is nothing to transfer.")
    table = one.table if floors else one.table[one.table["prize"].notna()]
    teams = sorted(str(team) for team in table["team"])
    if not teams:
        raise InputError(f"{one.name}: only floors and organisers are ranked; there is no encoder to judge.")
    return _columns_of(one.draws, teams)


def _mark_simulated(title: str, rankings: Sequence[Ranking]) -> str:
    return f"{title} (simulated)" if any(one.simulated for one in rankings) else title


def unranked_reasons(rankings: Sequence[Ranking], ranked: set[str]) -> pd.DataFrame:
    """Return why some teams are ranked nowhere: `team` and the first `reason` of each."""
    reasons: dict[str, Any] = {}
    for one in rankings:
        for team, reason in one.unranked.itertuples(index=False):
            if team not in ranked:
                reasons.setdefault(str(team), f"{one.name}: {reason}")
    return pd.DataFrame(sorted(reasons.items()), columns=["team", "reason"], dtype=object)
