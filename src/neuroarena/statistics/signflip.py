"""The sign-flip test of paired differences: an audit beside the verdicts, never a verdict.

It needs no t and no normal sums, only differences that are symmetric around 0, and is therefore a second
opinion about a p. Under skew it is no better than t (exponential, 12 units: size 0.09).
"""

from __future__ import annotations

from functools import cache

import numpy as np

from neuroarena.errors import InputError

EXACT_LEVELS = 20
RANDOM_FLIPS = 9_999
TIE = 1e-12
# Up to here all patterns are made at once; above it, half of the levels at a time.
_WHOLE_LEVELS = 14
# 8 MB per block keeps the patterns of a few hundred pairs in the cache.
_BLOCK_NUMBERS = 1 << 20


def sign_flip_p(differences: np.ndarray, rng: np.random.Generator | None = None) -> np.ndarray:
    """Return the two-sided p of the sign-flip test for each row of differences.

    Parameters
    ----------
    differences
        One row per pair, one column per level (pairs, levels), or one pair (levels,).
    rng
        Draws the flips above 20 levels; `numpy.random.default_rng(0)` unless given.

    Returns
    -------
    numpy.ndarray
        Up to 20 levels the share of all sign patterns whose absolute sum is at least the observed one
        (ties within 1e-12 count); above, (k + 1) / 10,000 from 9,999 random patterns. One number per row.

    Raises
    ------
    InputError
        When the differences are not a finite matrix.

    Examples
    --------
    >>> sign_flip_p(np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])).tolist()
    [0.03125]
    """
    rows = np.atleast_2d(np.asarray(differences, dtype=np.float64))
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
        raise InputError(f"The sign-flip test needs finite differences (pairs, levels); got {rows.shape}.")
    least = np.abs(rows.sum(axis=1)) - TIE * np.abs(rows).sum(axis=1)
    n_levels = rows.shape[1]
    if n_levels > EXACT_LEVELS:
        return (_count_random(rows, least, np.random.default_rng(0) if rng is None else rng) + 1) / (
            RANDOM_FLIPS + 1
        )
    # A pattern and its mirror have the same absolute sum: the first sign stays as it is.
    n_patterns = 2 ** (n_levels - 1)
    if n_levels <= _WHOLE_LEVELS:
        found = _count_all(rows, _all_signs(n_levels)[:n_patterns], least)
    else:
        found = np.array([_count_halves(row, limit) for row, limit in zip(rows, least, strict=True)])
    share: np.ndarray = np.where(least <= 0, 1.0, found / n_patterns)
    return share


@cache
def _all_signs(n: int) -> np.ndarray:
    """Return all sign patterns (2^n, n); in the first half the first sign is +1."""
    bits = np.arange(2**n)[:, None] >> np.arange(n - 1, -1, -1)
    return 1.0 - 2.0 * (bits & 1)


def _count_random(rows: np.ndarray, least: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Count as `_count_all` does among 9,999 random patterns, which are made in parts."""
    found = np.zeros(len(rows))
    part = max(1, _BLOCK_NUMBERS // rows.shape[1])
    for start in range(0, RANDOM_FLIPS, part):
        n_signs = min(part, RANDOM_FLIPS - start)
        bits = rng.integers(0, 2, size=(n_signs, rows.shape[1]), dtype=np.int8)
        found += _count_all(rows, 1.0 - 2.0 * bits, least)
    return found


def _count_all(rows: np.ndarray, signs: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Count the patterns (patterns, levels) whose absolute sum is at least `least`, for each row."""
    found = np.empty(len(rows))
    block = max(1, _BLOCK_NUMBERS // len(signs))
    for start in range(0, len(rows), block):
        part = slice(start, start + block)
        found[part] = (np.abs(rows[part] @ signs.T) >= least[part, None]).sum(axis=1)
    return found


def _count_halves(row: np.ndarray, least: float) -> int:
    """Count as `_count_all` does, from the sorted sums of one half of the levels for each of the other."""
    middle = len(row) // 2
    first = (_all_signs(middle) @ row[:middle])[: 2 ** (middle - 1)]
    second = np.sort(_all_signs(len(row) - middle) @ row[middle:])
    above = len(second) - np.searchsorted(second, least - first, side="left")
    below = np.searchsorted(second, -least - first, side="right")
    return int(above.sum() + below.sum())
