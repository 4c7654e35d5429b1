"""Which differences between teams are real: paired intervals, p-values, Holm, tie groups."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.bootstrap import Draws, find_percentiles, tails
from neuroarena.statistics.ranks import RELATIVE_TOLERANCE, TieBreak, standing, tolerance

PAIRS = ("neighbours", "leader", "all")
# 26 pairs of 10,000 draws are 2 MB: memory stays flat for every pair of 1,000 teams.
BLOCK_DELTAS = 1 << 18


def compare(
    draws: Draws,
    pairs: str | Iterable[tuple[Any, Any]] = "neighbours",
    alpha: float = 0.05,
    tie_break: TieBreak = None,
) -> pd.DataFrame:
    """Compare pairs of teams on the same draws.

    Parameters
    ----------
    draws
        Paired draws from `bootstrap`.
    pairs
        "neighbours" in the visible ranking, the "leader" against every other team, "all" pairs, or a
        list of (team_a, team_c), which is kept as given.
    alpha
        Family-wise level for `significant_after_holm`.
    tie_break
        Orders teams with equal track scores; see `ranking`.

    Returns
    -------
    pandas.DataFrame
        One row per pair, `team_a` ranked above `team_c`: `delta` (mean difference over the draws),
        `delta_point` (difference of the track scores), `ci95_low`, `ci95_high` (2.5 and 97.5
        percentiles, linear interpolation), `p_boot` = min(1, 2 min(P(delta <= 0), P(delta >= 0))),
        `p_smoothed` = min(1, 2 (k + 1) / (B + 1)) with k the smaller of the two counts, which is
        never 0, `p_holm` (from `p_boot`, over the rows), `significant_after_holm`, and
        `indistinguishable` (the interval contains 0, ends included).
        Differences within the tolerance of `ranks` are 0.

    Raises
    ------
    InputError
        When `pairs` is unknown, names an unknown team, or alpha is not between 0 and 1.

    Examples
    --------
    >>> scores = np.array([[2.0, 1.0], [2.0, 3.0], [5.0, 1.0], [4.0, 0.0]])
    >>> table = compare(Draws(["a", "b"], scores, np.array([3.0, 1.0]), 9))
    >>> table[["team_a", "team_c", "delta", "p_boot"]].to_dict("list")
    {'team_a': ['a'], 'team_c': ['b'], 'delta': [2.0], 'p_boot': [0.5]}
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1; got {alpha}.")
    above, below = _pair_positions(draws, pairs, tie_break)
    by_team = np.ascontiguousarray(draws.scores.T)
    scale = draws.scale
    rows = max(1, BLOCK_DELTAS // draws.n_draws)
    summary = np.empty((5, len(above)))
    for start in range(0, len(above), rows):
        part = slice(start, start + rows)
        summary[:, part] = _summarise(_deltas(by_team, scale, above[part], below[part]))
    delta, low, high, p_boot, p_smoothed = summary
    p_holm = holm(p_boot)
    point, point_scale = draws.point[:, None], np.maximum(scale, np.abs(draws.point))
    delta_point = _deltas(point, point_scale, above, below)[:, 0]
    return pd.DataFrame(
        {
            "team_a": [draws.teams[at] for at in above],
            "team_c": [draws.teams[at] for at in below],
            "delta": delta,
            "delta_point": delta_point,
            "ci95_low": low,
            "ci95_high": high,
            "p_boot": p_boot,
            "p_smoothed": p_smoothed,
            "p_holm": p_holm,
            # k p = alpha on paper may exceed it in the last bit.
            "significant_after_holm": p_holm <= alpha * (1 + RELATIVE_TOLERANCE),
            "indistinguishable": (low <= 0) & (high >= 0),
        }
    )


def holm(p_values: Sequence[float] | np.ndarray) -> np.ndarray:
    """Adjust p-values for their number after Holm (1979): step-down, cumulative maxima, capped at 1.

    Raises
    ------
    InputError
        When a p-value is not between 0 and 1.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(3).tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(p_values, dtype=np.float64)
    if p.ndim != 1:
        raise InputError(f"Holm takes a list of p-values; got an array of shape {p.shape}.")
    wrong = ~((p >= 0) & (p <= 1))
    if wrong.any():
        at = int(np.flatnonzero(wrong)[0])
        raise InputError(f"p-value number {at} is {p[at]}; a p-value lies between 0 and 1.")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def tie_groups(draws: Draws, level: float = 0.95, tie_break: TieBreak = None) -> pd.Series:
    """Number the groups of teams that the data cannot distinguish from the best of their group.

    Going down the visible ranking, a team joins the group when the paired interval of its difference
    from the group's best contains 0; otherwise it opens the next group and is its best.

    Returns
    -------
    pandas.Series
        Group number 1, 2, ... indexed by team, best team first.

    Raises
    ------
    InputError
        When the level is not between 0 and 1.

    Examples
    --------
    >>> scores = np.array([[3.0, 2.9, 1.0], [3.0, 3.1, 1.0], [3.0, 2.8, 1.1], [3.0, 3.2, 0.9]])
    >>> tie_groups(Draws(["a", "b", "c"], scores, np.array([3.0, 2.9, 1.0]), 9)).to_dict()
    {'a': 1, 'b': 1, 'c': 2}
    """
    percentiles = tails(level)
    _, order = standing(draws, tie_break)
    by_team = np.ascontiguousarray(draws.scores.T)
    scale = draws.scale
    groups = [1]
    best = order[:1]
    for at in range(1, len(order)):
        team = order[at : at + 1]
        apart = not _holds_zero(_deltas(by_team, scale, best, team)[0], percentiles)
        best = team if apart else best
        groups.append(groups[-1] + int(apart))
    index = pd.Index([draws.teams[at] for at in order], name="team")
    return pd.Series(groups, index=index, name="tie_group")


def _pair_positions(
    draws: Draws, pairs: str | Iterable[tuple[Any, Any]], tie_break: TieBreak
) -> tuple[np.ndarray, np.ndarray]:
    if isinstance(pairs, str):
        if pairs not in PAIRS:
            raise InputError(
                f'No choice of pairs "{pairs}"; there are: {", ".join(PAIRS)}, or a list of two teams each.'
            )
        _, order = standing(draws, tie_break)
        if pairs == "neighbours":
            return order[:-1], order[1:]
        if pairs == "leader":
            return np.repeat(order[:1], len(order) - 1), order[1:]
        upper, lower = np.triu_indices(len(order), k=1)
        return order[upper], order[lower]
    chosen = [tuple(pair) for pair in pairs]
    for pair in chosen:
        if len(pair) != 2:
            raise InputError(f"A pair holds two teams; got {pair!r}.")
    at = np.array([[draws.position(a), draws.position(c)] for a, c in chosen], dtype=np.intp).reshape(-1, 2)
    return at[:, 0], at[:, 1]


def _deltas(by_team: np.ndarray, scale: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Compute the differences of pairs in every draw (pairs, draws), 0 where the scores are equal.

    `by_team` is (teams, draws), `scale` (teams,), `above` and `below` are positions of teams (pairs,).
    """
    delta: np.ndarray = by_team[above]
    delta -= by_team[below]
    widest = RELATIVE_TOLERANCE * np.maximum(scale[above], scale[below])
    # Few pairs come that close; only those are examined draw by draw.
    for pair in np.flatnonzero(np.abs(delta).min(axis=1) <= widest):
        a, c = above[pair], below[pair]
        allowed = tolerance(by_team[a], by_team[c], scale[a], scale[c])
        delta[pair, np.abs(delta[pair]) <= allowed] = 0.0
    return delta


def _holds_zero(delta: np.ndarray, percentiles: list[float]) -> bool:
    """Return whether the percentile interval of differences (draws,) contains 0, ends included.

    Counting signs is a tenth of the time of two percentiles. Only where 0 lies between the two draws that a percentile
    is interpolated from does its value matter.
    """
    last = len(delta) - 1
    below, above = int(np.count_nonzero(delta < 0)), int(np.count_nonzero(delta > 0))
    low, high = (percent / 100 * last for percent in percentiles)
    # Place k of the sorted differences is at most 0 when fewer than that many stand above: k <= last - above.
    if math.ceil(low) + 1 <= last - above and math.floor(high) - 1 >= below:
        return True
    if math.floor(low) - 1 > last - above or math.ceil(high) + 1 < below:
        return False
    bottom, top = np.percentile(delta, percentiles)
    return bool(bottom <= 0 <= top)


def _summarise(delta: np.ndarray) -> tuple[np.ndarray, ...]:
    """Compute mean, low, high, p and smoothed p of each row of differences (pairs, draws), reordering them."""
    n_draws = delta.shape[1]
    mean = delta.mean(axis=1)
    fewer = np.minimum((delta <= 0).sum(axis=1), (delta >= 0).sum(axis=1))
    low, high = find_percentiles(delta, tails(0.95))
    p_boot = np.minimum(1.0, 2 * (fewer / n_draws))
    p_smoothed = np.minimum(1.0, 2 * (fewer + 1) / (n_draws + 1))
    return mean, low, high, p_boot, p_smoothed
