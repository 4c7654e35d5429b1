"""Size a test set: how wide an interval will be, and how many units make it narrow enough."""

from __future__ import annotations

import math

from neuroarena.errors import InputError

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


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not (math.isfinite(value) and value > 0):
            raise InputError(f"{name} must be a positive finite number; got {value}.")
