"""Size a test set: how wide an interval will be, and how many units make it narrow enough."""

from __future__ import annotations

import bisect
import math

from neuroarena.errors import InputError
from neuroarena.statistics.guarded import LEAST_DF, t_quantile
from neuroarena.statistics.left_out import MINIMUM_LEVELS

# What is equal on paper may differ in the last bits; 1e-12 keeps a ceiling from jumping by one.
ROUNDING = 1e-12


def half_width(sigma: float, n_eff: float, z: float = 1.96) -> float:
    """Compute the expected half width of the 95 % interval of a mean, z sigma / sqrt(n_eff).

    Parameters
    ----------
    sigma
        Standard deviation of a unit score at the top-level unit, in units of the score.
    n_eff
        Number of independent held-out units.
    z
        Normal quantile; 1.96 for 95 %.

    Raises
    ------
    InputError
        When an argument is not a positive finite number.

    Examples
    --------
    >>> round(half_width(0.2, 400), 4)
    0.0196
    """
    _check_positive(sigma=sigma, n_eff=n_eff, z=z)
    return z * sigma / math.sqrt(n_eff)


def required_units(sigma: float, nu: float, z: float = 1.96) -> int:
    """Return the smallest number of independent units whose half width is at most `nu`.

    Raises
    ------
    InputError
        When an argument is not a positive finite number.

    Examples
    --------
    >>> required_units(0.2, 0.0196)
    400
    """
    _check_positive(sigma=sigma, nu=nu, z=z)
    return max(1, math.ceil((z * sigma / nu) ** 2 * (1 - ROUNDING)))


def meets_resolution(sigma: float, n_eff: float, nu: float, z: float = 1.96) -> bool:
    """Return whether `n_eff` units resolve a difference of `nu`: half width at most `nu`.

    Raises
    ------
    InputError
        When an argument is not a positive finite number.

    Examples
    --------
    >>> meets_resolution(0.2, 400, 0.0196), meets_resolution(0.2, 399, 0.0196)
    (True, False)
    """
    _check_positive(nu=nu)
    return half_width(sigma, n_eff, z) <= nu * (1 + ROUNDING)


def quantile_at(df: float, growth: float) -> float:
    """Return the 97.5 % quantile of t when a test set grows, its independent levels in proportion.

    Parameters
    ----------
    df
        Degrees of freedom of an interval now: one less than the independent levels.
    growth
        How many times as many units.

    Examples
    --------
    >>> round(quantile_at(5, 1), 3), round(quantile_at(5, 100), 3)
    (2.571, 1.964)
    """
    _check_positive(df=df, growth=growth)
    return float(t_quantile(0.05, max((df + 1) * growth - 1, LEAST_DF)))


def required_growth(width: float, df: float, nu: float, n_units: int) -> int:
    """Return the smallest number of units whose interval of t has a half width of at most `nu`.

    Parameters
    ----------
    width, df
        Half width and degrees of freedom now.
    nu
        Half width aimed at.
    n_units
        Units now. The answer has at least six independent levels, because there is no interval below.

    Examples
    --------
    >>> required_growth(0.1, 11, 0.1, 12), required_growth(0.1, 11, 0.05, 12)
    (12, 41)
    """
    _check_positive(width=width, nu=nu, n_units=n_units)
    sigma = width * math.sqrt(n_units) / quantile_at(df, 1)

    def is_enough(units: int) -> bool:
        return half_width(sigma, units, quantile_at(df, units / n_units)) <= nu * (1 + ROUNDING)

    fewest = max(1, math.ceil(MINIMUM_LEVELS * n_units / (df + 1) * (1 - ROUNDING)))
    most = max(fewest, required_units(sigma, nu, quantile_at(df, fewest / n_units)))
    return fewest + bisect.bisect_left(range(fewest, most), True, key=is_enough)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a positive finite number; got {value}.")
