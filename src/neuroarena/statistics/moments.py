"""What is known about every pair of teams before it is judged.

One random factor, several, medians or training seeds: each method of this room ends in `Moments`, and
`judge` makes the same rows from all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from neuroarena.errors import InputError
from neuroarena.statistics.bootstrap import Draws
from neuroarena.statistics.ranks import TieBreak, standing, tolerance


@dataclass(frozen=True, eq=False)
class Moments:
    """Hold the moments of the difference of every pair of teams.

    Pairs stand in the order of `numpy.triu_indices(teams, 1)`: the leader against each, then the second
    against each below it. `a` ranks above `c` in every pair.

    Attributes
    ----------
    teams
        Team names, best first.
    scores
        Their point scores, higher is better (teams,).
    se
        Standard error of the difference (pairs,); 0 within rounding, NaN where it cannot be known.
    df
        Degrees of freedom (pairs,).
    skew
        Skewness of what the levels contribute (pairs,); 0 for methods without a skew term.
    n_levels
        Number of independent levels (pairs,); fewer than 6 make no verdict.
    g_eff
        Effective number of levels (pairs,).
    tolerance
        A difference up to this is rounding (pairs,).
    p_signflip
        Audit p of the sign-flip test (pairs,); NaN where it was not made (large boards, several factors).
    scope
        What is random and what is fixed, one text per pair.
    """

    teams: tuple[Any, ...]
    scores: np.ndarray
    se: np.ndarray
    df: np.ndarray
    skew: np.ndarray
    n_levels: np.ndarray
    g_eff: np.ndarray
    tolerance: np.ndarray
    p_signflip: np.ndarray
    scope: np.ndarray

    @cached_property
    def above(self) -> np.ndarray:
        """Place of each pair's `a` among the teams (pairs,)."""
        return np.triu_indices(len(self.teams), 1)[0]

    @cached_property
    def below(self) -> np.ndarray:
        """Place of each pair's `c` among the teams (pairs,)."""
        return np.triu_indices(len(self.teams), 1)[1]

    @cached_property
    def delta(self) -> np.ndarray:
        """Difference of the point scores of each pair, never negative, 0 within rounding (pairs,)."""
        delta: np.ndarray = self.scores[self.above] - self.scores[self.below]
        return np.where(delta <= self.tolerance, 0.0, delta)

    def between(self, first: Any, second: Any) -> Moments:
        """Return the moments of one pair alone, a family of one.

        Raises
        ------
        InputError
            When a team is unknown, or both are the same.
        """
        for team in (first, second):
            if team not in self.teams:
                raise InputError(f'No team "{team}" among these {len(self.teams)} teams.')
        if first == second:
            raise InputError(f'A pair has two teams; got "{first}" twice.')
        return self.among((first, second))

    def among(self, teams: Iterable[Any]) -> Moments:
        """Return the moments of the pairs of some teams alone; they stand as before."""
        wanted = set(teams)
        place = np.array([at for at, team in enumerate(self.teams) if team in wanted], dtype=np.int64)
        rows = np.flatnonzero(np.isin(self.above, place) & np.isin(self.below, place))
        arrays = ("se", "df", "skew", "n_levels", "g_eff", "tolerance", "p_signflip", "scope")
        picked = {name: getattr(self, name)[rows] for name in arrays}
        return replace(self, teams=tuple(self.teams[at] for at in place), scores=self.scores[place], **picked)


def make_moments(
    teams: Sequence[Any],
    scores: np.ndarray,
    scale: np.ndarray,
    scope: str,
    **pairs: Any,
) -> Moments:
    """Return moments from what is known, the rest filled in.

    Parameters
    ----------
    teams, scores
        Best first.
    scale
        Largest absolute score of each team, the measure of its rounding (teams,).
    scope
        What is random and what is fixed.
    pairs
        `se`, `df`, `n_levels` and, where the method has them, `skew`, `g_eff`, `p_signflip`: one number
        per pair, or one for all.
    """
    above, below = np.triu_indices(len(teams), 1)
    allowed = tolerance(scores[above], scores[below], scale[above], scale[below])
    filled = {"skew": 0.0, "g_eff": np.asarray(pairs["df"]) + 1.0, "p_signflip": np.nan, **pairs}
    whole = {name: np.broadcast_to(values, above.shape).copy() for name, values in filled.items()}
    for name in ("skew", "se"):  # the skewness of rounding says nothing
        whole[name][whole["se"] <= allowed] = 0.0
    scopes = np.full(above.shape, scope, dtype=object)
    return Moments(teams=tuple(teams), scores=scores, tolerance=allowed, scope=scopes, **whole)


def order_teams(
    teams: Sequence[Any], scores: np.ndarray, scale: np.ndarray, tie_break: TieBreak
) -> np.ndarray:
    """Return the places of the teams, best first.

    Scores equal within rounding are ordered by the tie-break (higher is better), then as given.

    Parameters
    ----------
    teams, scores, scale
        Names, point scores, and the largest absolute score of each team (teams,).
    tie_break
        One number per team in team order, or team -> number; None without.

    Raises
    ------
    InputError
        When the tie-break lacks a team or is not finite.

    Examples
    --------
    >>> order_teams(["a", "b", "c"], np.array([0.5, 0.7, 0.5]), np.ones(3), {"a": 1, "b": 0, "c": 2}).tolist()
    [1, 2, 0]
    """
    return standing(Draws(list(teams), scale[None, :], scores, 1), tie_break)[1]


def rescope(moments: Moments, scope: str | np.ndarray) -> Moments:
    """Return the same moments with another text of what is random and what is fixed."""
    return replace(moments, scope=np.broadcast_to(np.asarray(scope, dtype=object), moments.se.shape).copy())


def satterthwaite(variance: np.ndarray, parts: Sequence[tuple[np.ndarray, np.ndarray | float]]) -> np.ndarray:
    """Return the degrees of freedom of a variance made of parts: V^2 / sum (V_part^2 / df_part).

    Parameters
    ----------
    variance
        The whole (pairs,).
    parts
        Variance and degrees of freedom of each part (pairs,).

    Returns
    -------
    numpy.ndarray
        The smallest df of a part where all parts are 0 (pairs,).

    Examples
    --------
    >>> satterthwaite(np.array([2.5]), [(np.array([2.0]), 10.0), (np.array([1.0]), 5.0)]).round(3).tolist()
    [10.417]
    """
    largest = np.maximum.reduce([part for part, _ in parts])
    fewest = np.minimum.reduce([np.broadcast_to(df, largest.shape) for _, df in parts])
    unit = np.where(largest > 0, largest, 1.0)  # the fourth power of a small error would vanish
    shares = sum((part / unit) ** 2 / df for part, df in parts)
    freedom = (variance / unit) ** 2 / np.where(largest > 0, shares, 1.0)
    result: np.ndarray = np.where(largest > 0, freedom, fewest)
    return result
