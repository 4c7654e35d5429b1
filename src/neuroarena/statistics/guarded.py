"""The guarded t: Student's t and its skew-corrected twin, whichever is the more careful.

The correction is Hall's (1992, On the removal of skewness by transformation, J. R. Statist. Soc. B 54):
a monotone cubic of t whose distribution is nearer to Student's where the levels are skewed. An interval is
the union of the two, and a p the larger of the two, so that an interval of level 1 - alpha excludes 0
exactly when p <= alpha. With 12 exponential units a plain t interval of 95 % covers 90.6 %, this one 94.8 %.
"""

from __future__ import annotations

import numpy as np
from scipy import special

Numbers = float | np.ndarray

# Below this the inverse is taken from its series; the closed form would divide rounding by nearly nothing.
NO_SKEW = 1e-6
# A level that holds nearly everything leaves no degree of freedom; this keeps the quantiles finite.
LEAST_DF = 1e-6


def correct_skew(t: Numbers, skew: Numbers, g_eff: Numbers) -> np.ndarray:
    """Transform t so that it is nearer to Student's distribution: Hall's monotone cubic.

    Parameters
    ----------
    t
        Estimates divided by their standard errors.
    skew
        Skewness of what the levels contribute.
    g_eff
        Effective number of levels.

    Examples
    --------
    >>> round(float(correct_skew(2.0, 0.5, 12.0)), 6)
    2.222679
    """
    t, s = np.asarray(t, dtype=np.float64), np.asarray(skew, dtype=np.float64)
    k = np.sqrt(g_eff)
    corrected: np.ndarray = t + s * t**2 / (3 * k) + s**2 * t**3 / (27 * k**2) + s / (6 * k)
    return corrected


def restore_skew(x: Numbers, skew: Numbers, g_eff: Numbers) -> np.ndarray:
    """Undo `correct_skew`.

    Examples
    --------
    >>> round(float(restore_skew(correct_skew(2.0, 0.5, 12.0), 0.5, 12.0)), 12)
    2.0
    """
    x, s, k = np.broadcast_arrays(np.asarray(x, dtype=np.float64), skew, np.sqrt(g_eff))
    flat = np.abs(s) < NO_SKEW
    steep = np.where(flat, 1.0, s)
    with np.errstate(
        over="ignore", invalid="ignore"
    ):  # hardly any degrees of freedom: quantiles near infinity
        curved = 3 * k / steep * (np.cbrt(1 + steep / k * (x - steep / (6 * k))) - 1)
        series = x - s / (6 * k) - np.where(s == 0, 0.0, s * x**2 / (3 * k))
    restored: np.ndarray = np.where(flat, series, curved)
    return restored


def t_quantile(alpha: Numbers, df: Numbers) -> np.ndarray:
    """Return the quantile of Student's t at 1 - alpha / 2.

    Examples
    --------
    >>> round(float(t_quantile(0.05, 11)), 6)
    2.200985
    """
    alphas, freedom = np.broadcast_arrays(np.asarray(alpha, dtype=np.float64), np.maximum(df, LEAST_DF))
    # The lower tail keeps its digits where 1 - alpha / 2 would lose them.
    if alphas.size > 1 and freedom.min() == freedom.max() and alphas.min() == alphas.max():
        return np.full(alphas.shape, -special.stdtrit(freedom.flat[0], alphas.flat[0] / 2))
    if alphas.size < 2 or freedom.min() != freedom.max():
        quantiles: np.ndarray = -special.stdtrit(freedom, alphas / 2)
        return quantiles
    # Most rows of a board are judged at one level, and a quantile takes longer than sorting the levels.
    levels, place = np.unique(alphas, return_inverse=True)
    distinct: np.ndarray = -special.stdtrit(freedom.flat[0], levels / 2)
    return distinct[place].reshape(alphas.shape)


def guarded_p(
    estimate: Numbers,
    se: Numbers,
    df: Numbers,
    skew: Numbers,
    g_eff: Numbers,
) -> np.ndarray:
    """Return the two-sided p of an estimate: the larger one of t and its skew-corrected twin; never 0.

    Parameters
    ----------
    estimate, se
        The estimate and its standard error, above 0.
    df, skew, g_eff
        Degrees of freedom, skewness and effective number of levels.

    Examples
    --------
    >>> round(float(guarded_p(0.031583333, 0.009511125, 11, -0.117539204, 12)), 6)
    0.008578
    """
    t = np.asarray(estimate, dtype=np.float64) / se
    smaller = np.minimum(np.abs(t), np.abs(correct_skew(t, skew, g_eff)))
    p: np.ndarray = 2 * special.stdtr(np.maximum(df, LEAST_DF), -smaller)
    least: np.ndarray = np.maximum(p, np.finfo(np.float64).tiny)
    return least


def guarded_interval(
    estimate: Numbers,
    se: Numbers,
    df: Numbers,
    skew: Numbers,
    g_eff: Numbers,
    alpha: Numbers,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of the interval of level 1 - alpha: the union of t and its skew-corrected twin.

    Parameters
    ----------
    estimate, se, df, skew, g_eff
        As in `guarded_p`.
    alpha
        One minus the level of the interval.

    Examples
    --------
    >>> low, high = guarded_interval(0.031583333, 0.009511125, 11, -0.117539204, 12, 0.05)
    >>> round(float(low), 6), round(float(high), 6)
    (0.010049, 0.052517)
    """
    q = t_quantile(alpha, df)
    estimate, se = np.asarray(estimate, dtype=np.float64), np.asarray(se, dtype=np.float64)
    low = estimate - se * np.maximum(q, restore_skew(q, skew, g_eff))
    high = estimate + se * np.maximum(q, -restore_skew(-q, skew, g_eff))
    return low, high
