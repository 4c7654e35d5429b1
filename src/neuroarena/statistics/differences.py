"""Moments of the differences of all pairs of teams, block by block.

Differences are taken first and squared afterwards. Squares of single teams, expanded, would cancel: for
teams that differ by 1e-9 of their scores nothing would be left.
"""

from __future__ import annotations

import numpy as np

BLOCK_PAIRS = 4_096
# 2 MB of differences stay in the cache: fewer than 4,096 pairs where there are more than 64 levels.
BLOCK_NUMBERS = 1 << 18
# Up to this many rows the differences themselves are squared; above it one Gram matrix is many times as fast.
DIRECT_ROWS = 256
# A Gram matrix loses as many digits as the square is smaller than those of the two teams; four may go.
CANCELLED = 1e-4


def difference_moments(scores: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the jackknife standard error and the skewness of the difference of every pair.

    Parameters
    ----------
    scores
        Scores without one level (levels, teams).
    point
        Scores on all levels (teams,).

    Returns
    -------
    se, skew
        In the order of `numpy.triu_indices(teams, 1)` (pairs,).
    """
    by_team = np.ascontiguousarray(scores.T)
    above, below = np.triu_indices(len(by_team), 1)
    n_levels = by_team.shape[1]
    se, skew = np.empty(len(above)), np.empty(len(above))
    for part in _blocks(len(above), n_levels):
        difference = by_team[above[part]]
        difference -= by_team[below[part]]
        se[part], skew[part] = jackknife_rows(difference, point[above[part]] - point[below[part]])
    return se, skew


def jackknife_rows(rows: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return standard error and skewness of each row of left-out values (rows, levels), which are consumed."""
    n_levels = rows.shape[1]
    mean = rows.mean(axis=1)
    rows -= mean[:, None]
    squares = np.einsum("ij,ij->i", rows, rows)
    cubes = np.einsum("ij,ij->i", rows * rows, rows)
    # sum (theta_g - theta)^2 = sum (theta_g - mean)^2 + G (mean - theta)^2: positive terms, no cancellation.
    se = np.sqrt((n_levels - 1) / n_levels * (squares + n_levels * (mean - point) ** 2))
    spread = np.sqrt(squares / n_levels) ** 3
    skew = np.divide(-cubes / n_levels, spread, out=np.zeros_like(spread), where=spread > 0)
    return se, skew


def pair_squares(values: np.ndarray) -> np.ndarray:
    """Return the sum over rows of the squared difference of every pair of teams.

    Parameters
    ----------
    values
        One row per level or cell, one column per team (rows, teams); centred where a variance is wanted.

    Returns
    -------
    numpy.ndarray
        In the order of `numpy.triu_indices(teams, 1)` (pairs,).

    Examples
    --------
    >>> pair_squares(np.array([[1.0, 2.0, 4.0], [0.0, 2.0, 0.0]])).tolist()
    [5.0, 9.0, 8.0]
    """
    n_rows, n_teams = values.shape
    above, below = np.triu_indices(n_teams, 1)
    direct = np.arange(len(above))
    squares = np.empty(len(above))
    if n_rows > DIRECT_ROWS:
        gram = values.T @ values
        own = np.diagonal(gram)
        squares = own[above] + own[below] - 2 * gram[above, below]
        direct = np.flatnonzero(squares <= CANCELLED * (own[above] + own[below]))
    by_team = np.ascontiguousarray(values.T)
    for part in _blocks(len(direct), n_rows):
        chosen = direct[part]
        difference = by_team[above[chosen]] - by_team[below[chosen]]
        squares[chosen] = np.einsum("ij,ij->i", difference, difference)
    return squares


def _blocks(n_pairs: int, n_rows: int) -> list[slice]:
    size = max(1, min(BLOCK_PAIRS, BLOCK_NUMBERS // max(1, n_rows)))
    return [slice(start, start + size) for start in range(0, n_pairs, size)]
