"""Medians of values that occur several times, as in draws with replacement."""

from __future__ import annotations

import numpy as np


def weighted_medians(values: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the median of values that occur several times, draw by draw.

    Parameters
    ----------
    values
        (draws, units), or (1, units) where all draws have the same values.
    counts
        How often each value occurs (draws, units); at least one does in every draw.

    Examples
    --------
    >>> weighted_medians(np.array([[3.0, 1.0, 2.0]]), np.array([[1, 1, 1], [2, 0, 2], [0, 3, 0]])).tolist()
    [2.0, 2.5, 1.0]
    """
    order = np.argsort(values, axis=1)
    ordered = np.take_along_axis(values, order, axis=1)
    order, ordered = (np.broadcast_to(array, counts.shape) for array in (order, ordered))
    reached = np.cumsum(np.take_along_axis(counts, order, axis=1), axis=1)
    total = reached[:, -1:]
    # The middle of 2 n + 1 numbers is number n + 1; of 2 n it is halfway between n and n + 1.
    lower = (reached < (total + 1) // 2).sum(axis=1, keepdims=True)
    upper = (reached < total // 2 + 1).sum(axis=1, keepdims=True)
    middle = np.take_along_axis(ordered, lower, axis=1) + np.take_along_axis(ordered, upper, axis=1)
    median: np.ndarray = middle[:, 0] / 2
    return median
