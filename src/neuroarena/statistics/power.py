"""How many units a verdict needs, before any data are collected.

The differences between two teams are taken as normal with a known standard deviation over units. The
skewness of a normal sample is then independent of its t (it does not change with location and scale,
Basu 1955), so that the power of the guarded test is an average over that skewness.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from scipy import special

from neuroarena.errors import InputError
from neuroarena.statistics.guarded import restore_skew, t_quantile
from neuroarena.statistics.left_out import MINIMUM_LEVELS

MOST_UNITS = 10_000_000
_SKEW_NODES, _SPREAD_NODES = 21, 64


def better_power(
    difference: float, sigma: float, n_units: int, n_teams: int = 2, alpha: float = 0.05
) -> float:
    """Return the chance that a pair with a true difference is called `better`.

    Parameters
    ----------
    difference
        True difference of the two teams, in units of the score.
    sigma
        Standard deviation over units (independent levels) of the difference of their unit scores.
    n_units
        Number of independent units.
    n_teams
        Teams on the board; the pair is held against the strictest level of Holm, alpha over all pairs.
    alpha
        Level of the family of all pairs.

    Returns
    -------
    float
        0 below 6 units. The chance of calling the worse team better is not counted.

    Raises
    ------
    InputError
        When an argument is out of range.

    Examples
    --------
    >>> round(better_power(3 / math.sqrt(12), 1.0, 12), 2)
    0.73
    """
    level = _pair_alpha(difference, sigma, n_teams, alpha)
    if n_units < MINIMUM_LEVELS:
        return 0.0
    limits, _, shares = _critical_values(level, n_units)
    chances = special.nctdtr(n_units - 1.0, difference / sigma * math.sqrt(n_units), limits)
    return float(1.0 - shares @ chances)


def equivalent_power(nu: float, sigma: float, n_units: int, n_teams: int = 2, alpha: float = 0.05) -> float:
    """Return the chance that two equally good teams are called `equivalent`.

    Parameters
    ----------
    nu
        The smallest difference that matters.
    sigma, n_units, n_teams, alpha
        As in `better_power`.

    Raises
    ------
    InputError
        When an argument is out of range.

    Examples
    --------
    >>> [round(equivalent_power(1.0, 1.0, n_units), 2) for n_units in (6, 12, 20)]
    [0.14, 0.69, 0.97]
    """
    level = _pair_alpha(nu, sigma, n_teams, alpha)
    if n_units < MINIMUM_LEVELS:
        return 0.0
    below, above, shares = _critical_values(level, n_units)
    # The standard error varies as the root of a chi-squared; its quantiles at the middle of equal shares.
    shares_of_spread = (np.arange(_SPREAD_NODES) + 0.5) / _SPREAD_NODES
    spread = np.sqrt(special.chdtri(n_units - 1.0, 1 - shares_of_spread) / (n_units - 1))
    edge = nu / sigma * math.sqrt(n_units)
    inside = special.ndtr(edge - spread * above[:, None]) - special.ndtr(-edge + spread * below[:, None])
    return float(shares @ np.maximum(inside, 0.0).mean(axis=1))


def units_for_better(
    difference: float, sigma: float, n_teams: int = 2, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Return the smallest number of units with which a true difference is called `better` often enough.

    Parameters
    ----------
    difference, sigma, n_teams, alpha
        As in `better_power`.
    power
        How often, from 0 to 1.

    Raises
    ------
    InputError
        When an argument is out of range, or ten million units would not be enough.

    Examples
    --------
    >>> units_for_better(0.5, 1.0), units_for_better(0.5, 1.0, n_teams=10)
    (35, 75)
    """
    guess = _guess_units(difference, sigma, _pair_alpha(difference, sigma, n_teams, alpha), power)
    return _fewest(lambda n_units: better_power(difference, sigma, n_units, n_teams, alpha), power, guess)


def units_for_equivalent(
    nu: float, sigma: float, n_teams: int = 2, alpha: float = 0.05, power: float = 0.8
) -> int:
    """Return the smallest number of units with which equally good teams are called `equivalent` often enough.

    Parameters are those of `equivalent_power`; `power` and refusals are those of `units_for_better`.

    Examples
    --------
    >>> units_for_equivalent(1.0, 1.0), units_for_equivalent(1.0, 1.0, n_teams=10)
    (14, 29)
    """
    guess = _guess_units(nu, sigma, _pair_alpha(nu, sigma, n_teams, alpha), (1 + power) / 2)
    return _fewest(lambda n_units: equivalent_power(nu, sigma, n_units, n_teams, alpha), power, guess)


def _guess_units(difference: float, sigma: float, level: float, power: float) -> int:
    """Return about how many units are needed, from normal quantiles."""
    if not 0 < power < 1:
        return MINIMUM_LEVELS
    quantiles = -special.ndtri(level / 2) + max(float(special.ndtri(power)), 0.0)
    with np.errstate(over="ignore"):
        return int(min(MOST_UNITS, np.square(quantiles * sigma / difference)))


def _fewest(power_of: Callable[[int], float], power: float, guess: int = MINIMUM_LEVELS) -> int:
    """Return the smallest number of units whose power is enough: bracketed from a guess, then halved in."""
    if not 0 < power < 1:
        raise InputError(f"The power must lie between 0 and 1; got {power}.")
    low, high = MINIMUM_LEVELS - 1, max(MINIMUM_LEVELS, guess)
    # Most answers lie a little above the guess: step up by a sixteenth, then by twice as much each time.
    step = max(1, high // 16)
    while power_of(high) < power:
        low, high, step = high, high + step, 2 * step
        if low >= MOST_UNITS:
            raise InputError("Not even ten million units would be enough; ask for a larger difference.")
    while low < high - step and power_of(high - step) >= power:
        high, step = high - step, 2 * step
    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_of(middle) >= power else (middle, high)
    return high


def _pair_alpha(difference: float, sigma: float, n_teams: int, alpha: float) -> float:
    for name, value in (("The difference", difference), ("sigma", sigma)):
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a positive finite number; got {value}.")
    if n_teams < 2:
        raise InputError(f"A verdict needs at least two teams; got {n_teams}.")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1; got {alpha}.")
    return alpha / (n_teams * (n_teams - 1) / 2)


@functools.lru_cache(maxsize=4096)
def _critical_values(level: float, n_units: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the lower and upper critical values at skewnesses that normal samples have, and their shares."""
    skews, shares = _normal_skewness(n_units)
    q = t_quantile(level, n_units - 1.0)
    below = np.maximum(q, restore_skew(q, skews, float(n_units)))
    above = np.maximum(q, -restore_skew(-q, skews, float(n_units)))
    return below, above, shares


def _normal_skewness(n: int) -> tuple[np.ndarray, np.ndarray]:
    """Return skewnesses of normal samples of n and their shares, from Gauss and Hermite's rule."""
    nodes, weights = _gauss_hermite()
    largest = (n - 2) / math.sqrt(n - 1)
    skews = np.clip(nodes * math.sqrt(6 * (n - 2) / ((n + 1) * (n + 3))), -largest, largest)
    return skews, weights / weights.sum()


@functools.cache
def _gauss_hermite() -> tuple[np.ndarray, np.ndarray]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(_SKEW_NODES)
    return nodes, weights
