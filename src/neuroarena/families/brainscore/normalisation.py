"""From a raw similarity and a ceiling to a normalised score: named formulas, signed, with propagated error."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from neuroarena.families.brainscore.brain_score import Score, as_score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError

# The public code changed its formula on 2026-01-13, when benchmarks went from version 3 to version 4.
FIRST_VERSION_OF_VARIANCE_RATIO = 4


def ratio_squared(raw: float | Score, ceiling: float | Score) -> Score:
    """Normalise by (r / c)^2 with the sign of r: the formula of benchmarks of version 3 and below.

    The ceiling c is taken as the highest possible correlation.

    Examples
    --------
    >>> round(float(ratio_squared(0.65, 0.82)), 2)
    0.63
    """
    return _normalised(
        "ratio_squared",
        raw,
        ceiling,
        lambda r, c: math.copysign((r / c) ** 2, r),
        lambda r, c: (2 * abs(r) / c**2, 2 * r**2 / c**3),
    )


def variance_ratio(raw: float | Score, ceiling: float | Score) -> Score:
    """Normalise by r^2 / c with the sign of r: explained variance over reliability.

    The ceiling c is taken as a reliability, the share of variance that is not noise; the highest
    possible correlation is then sqrt(c).

    Examples
    --------
    >>> round(float(variance_ratio(0.65, 0.82)), 3)
    0.515
    >>> variance_ratio(-0.3, 0.8) < 0
    True
    """
    return _normalised(
        "variance_ratio",
        raw,
        ceiling,
        lambda r, c: math.copysign(r**2 / c, r),
        lambda r, c: (2 * abs(r) / c, r**2 / c**2),
    )


def ratio(raw: float | Score, ceiling: float | Score) -> Score:
    """Normalise by r / c: for similarities that are not correlations of predictions (RSA, properties, OST)."""
    return _normalised("ratio", raw, ceiling, lambda r, c: r / c, lambda r, c: (1 / c, abs(r) / c**2))


NORMALISATIONS: dict[str, Callable[[float | Score, float | Score], Score]] = {
    "variance_ratio": variance_ratio,
    "ratio_squared": ratio_squared,
    "ratio": ratio,
}


def formula_of(version: int, normalisation: str | None = None) -> str:
    """Name the formula of a benchmark: as given, or by its version.

    Raises
    ------
    ConfigError
        When there is no formula of that name.

    Examples
    --------
    >>> formula_of(3), formula_of(4)
    ('ratio_squared', 'variance_ratio')
    """
    if normalisation is None:
        return "variance_ratio" if version >= FIRST_VERSION_OF_VARIANCE_RATIO else "ratio_squared"
    if normalisation not in NORMALISATIONS:
        raise ConfigError(f'No normalisation "{normalisation}"; there are {", ".join(NORMALISATIONS)}.')
    return normalisation


def explained_variance(raw: float | Score, ceiling: float | Score, version: int = 4) -> Score:
    """Normalise as benchmarks of this version do: r^2 / c from 4 on, (r / c)^2 before."""
    return NORMALISATIONS[formula_of(version)](raw, ceiling)


def check_ceiling(ceiling: Any, name: str = "") -> Score:
    """Return a ceiling as a Score, or refuse one that cannot be a divisor.

    Raises
    ------
    DataQualityError
        When it is NaN, infinite, zero or negative: data that do not agree with themselves carry no score.
    """
    checked = as_score(ceiling)
    if not math.isfinite(checked.value) or checked.value <= 0:
        of = f" of {name}" if name else ""
        raise DataQualityError(
            f"The ceiling{of} is {checked.value:g}, expected a positive number: "
            "the recordings do not agree with themselves, so no model can be scored on them."
        )
    return checked


def _normalised(
    formula: str,
    raw: float | Score,
    ceiling: float | Score,
    value: Callable[[float, float], float],
    slopes: Callable[[float, float], tuple[float, float]],
) -> Score:
    above, below = as_score(raw), check_ceiling(ceiling)
    r, c = above.value, below.value
    if not math.isfinite(r):
        raise DataQualityError(f"The raw score is {r:g}; only a finite score can be normalised.")
    error = None
    if above.error is not None or below.error is not None:
        of_r, of_c = slopes(r, c)
        error = math.hypot(of_r * (above.error or 0.0), of_c * (below.error or 0.0))
    return Score(
        value(r, c),
        error=error,
        raw=above,
        ceiling=below,
        formula=formula,
        n_splits=above.n_splits,
        n_neuroids_used=above.n_neuroids_used,
        n_neuroids_total=above.n_neuroids_total,
    )
