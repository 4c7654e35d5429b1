"""One random factor: the jackknife of every pair of teams, and the interval of one team's score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.differences import difference_moments, jackknife_rows
from neuroarena.statistics.guarded import guarded_interval
from neuroarena.statistics.left_out import MINIMUM_LEVELS, LeftOut
from neuroarena.statistics.moments import Moments, make_moments, order_teams
from neuroarena.statistics.ranks import RELATIVE_TOLERANCE, TieBreak
from neuroarena.statistics.signflip import sign_flip_p

# Pairs times levels up to which the audit is made, in half a second or so; beyond, call `sign_flip_p` for a pair.
AUDITED_DIFFERENCES = 100_000


def jackknife(left_out: LeftOut, tie_break: TieBreak = None, audit: bool = True) -> Moments:
    """Return the moments of every pair from the scores without each level.

    With theta the difference of two teams and theta_g the same without level g of G, the variance is
    (G-1)/G sum (theta_g - theta)^2, the skewness that of mean(theta_g) - theta_g, and the degrees of
    freedom the effective number of levels less one. For a mean over equal levels this is the paired t.

    Parameters
    ----------
    left_out
        Scores on all levels and without each.
    tie_break
        Orders teams with equal scores: one number per team in team order, or team -> number; higher is
        better. Without it they stand as given.
    audit
        Whether to run the sign-flip test as well, where it is not too much work.

    Raises
    ------
    InputError
        When the tie-break lacks a team.

    Examples
    --------
    >>> from neuroarena.statistics.left_out import leave_out
    >>> moments = jackknife(leave_out({"a": [3.0, 5.0, 4.0], "b": [1.0, 1.0, 1.0]}))
    >>> moments.teams, moments.delta.tolist(), moments.se.round(6).tolist(), moments.df.tolist()
    (('a', 'b'), [3.0], [0.57735], [2.0])
    """
    order = order_teams(left_out.teams, left_out.point, left_out.scale, tie_break)
    point, n_levels = left_out.point[order], left_out.n_levels
    n_pairs = len(order) * (len(order) - 1) // 2
    se = skew = p_signflip = np.full(n_pairs, np.nan)
    if n_levels > 1:
        se, skew = difference_moments(left_out.scores[:, order], point)
    if audit and n_levels >= MINIMUM_LEVELS and n_pairs * n_levels <= AUDITED_DIFFERENCES:
        above, below = np.triu_indices(len(order), 1)
        sums = left_out.sums[:, order].T
        p_signflip = sign_flip_p(sums[above] - sums[below])
    return make_moments(
        [left_out.teams[at] for at in order],
        point,
        left_out.scale[order],
        f"random: {n_levels} {left_out.noun}",
        se=se,
        df=left_out.g_eff - 1.0,
        skew=skew,
        n_levels=n_levels,
        g_eff=left_out.g_eff,
        p_signflip=p_signflip,
    )


def score_intervals(
    left_out: LeftOut, level: float = 0.95, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> pd.DataFrame:
    """Return the interval of each team's own score: the guarded jackknife t, inside the metric's range.

    Parameters
    ----------
    left_out
        Scores on all levels and without each.
    level
        Level of the interval.
    bounds
        Lowest and highest value that the score can have.

    Returns
    -------
    pandas.DataFrame
        Indexed by team in the given order: `score`, `low`, `high`, and the standard error and degrees of freedom they
        were made from, `se` and `df`; all but the score are NaN below 6 levels.

    Raises
    ------
    InputError
        When the level is not between 0 and 1.

    Examples
    --------
    >>> from neuroarena.statistics.left_out import leave_out
    >>> left = leave_out({"a": [0.6, 0.7, 0.8, 0.7, 0.6, 0.8]})
    >>> score_intervals(left, bounds=(0, 1)).round(4).to_dict("records")
    [{'score': 0.7, 'low': 0.6061, 'high': 0.7939, 'se': 0.0365, 'df': 5.0}]
    """
    if not 0 < level < 1:
        raise InputError(f"The level of an interval must lie between 0 and 1; got {level}.")
    low = high = se = df = np.full(len(left_out.teams), np.nan)
    if left_out.n_levels >= MINIMUM_LEVELS:
        se, skew = jackknife_rows(left_out.scores.T.copy(), left_out.point)
        se = np.where(se <= RELATIVE_TOLERANCE * left_out.scale, 0.0, se)
        df = np.full(len(se), left_out.g_eff - 1.0)
        low, high = guarded_interval(left_out.point, se, df, skew, left_out.g_eff, round(1 - level, 12))
    return bounded_intervals(left_out.teams, left_out.point, (low, high), (se, df), bounds)


def bounded_intervals(
    teams: Sequence[Any],
    point: np.ndarray,
    ends: tuple[np.ndarray, np.ndarray],
    moments: tuple[np.ndarray, np.ndarray],
    bounds: tuple[float, float],
) -> pd.DataFrame:
    """Return intervals as a table, their ends cut at the bounds.

    Parameters
    ----------
    teams, point
        Team names and their scores (teams,).
    ends
        Low and high ends (teams,); NaN where they are not known.
    moments
        Standard errors and degrees of freedom (teams,).
    bounds
        Lowest and highest value that a score can have.

    Returns
    -------
    pandas.DataFrame
        As `score_intervals` returns it.

    Examples
    --------
    >>> ends, moments = (np.array([0.7]), np.array([1.1])), (np.array([0.1]), np.array([11.0]))
    >>> bounded_intervals(["a"], np.array([0.9]), ends, moments, (0, 1)).to_dict("records")
    [{'score': 0.9, 'low': 0.7, 'high': 1.0, 'se': 0.1, 'df': 11.0}]
    """
    # An interval holds its own point, also where a score lies outside the stated range.
    low = np.minimum(np.maximum(ends[0], bounds[0]), point)
    high = np.maximum(np.minimum(ends[1], bounds[1]), point)
    columns = {"score": point, "low": low, "high": high, "se": moments[0], "df": moments[1]}
    return pd.DataFrame(columns, index=pd.Index(teams, name="team"))
