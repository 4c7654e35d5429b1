"""AUROC of many columns of scores at once: by sorting whole numbers, and by one Fourier product for shifted labels."""

from __future__ import annotations

import numpy as np
from scipy.fft import irfft, rfft
from scipy.stats import rankdata

# Columns that are sorted together: 64 columns of 1,750 scores stay in the cache.
BLOCK_COLUMNS = 64
# Neighbours that look alike without their last bit. Unequal scores do so by chance, each time at the cost of half a
# pair; more than this many are ties, for which the quick way would count every pair as won.
_LOOKALIKES = 3


def auroc(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the area under the curve of one column of scores; ties count half, one class alone gives 0.5.

    Parameters
    ----------
    scores : array (items,)
    labels : array (items,)
        0 or 1.

    Examples
    --------
    >>> auroc(np.array([0.1, 0.4, 0.4, 0.9]), np.array([0, 0, 1, 1]))
    0.875
    """
    return float(area_of(rankdata(scores) @ labels, labels.sum(), len(labels)))


def area_of(rank_sum: np.ndarray, n_ones: np.ndarray, n_items: int) -> np.ndarray:
    """Turn the sum of the ranks (from 1) of the ones into the area; 0.5 where there is one class alone."""
    ones = np.asarray(n_ones, dtype=np.float64)
    pairs = ones * (n_items - ones)
    won = np.asarray(rank_sum, dtype=np.float64) - ones * (ones + 1) / 2
    area: np.ndarray = np.divide(won, pairs, out=np.full(np.shape(won), 0.5), where=pairs > 0)
    return area


def auroc_rows(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the area of every row of scores with its own labels.

    A float32 becomes a whole number of the same order, the label takes the place of its lowest bit, and one sort
    of whole numbers ranks scores and labels together. Rows with ties are ranked exactly.

    Parameters
    ----------
    scores : float32 array (rows, items)
    labels : int32 array (rows, items)
        0 or 1.

    Returns
    -------
    float64 array (rows,)
    """
    bits = np.ascontiguousarray(scores, dtype=np.float32).view(np.int32)
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    keys = (ordered & ~1) | labels
    keys.sort(axis=1)
    ones = keys & 1
    ranks = np.arange(1, scores.shape[1] + 1, dtype=np.float64)
    areas = area_of(ones.astype(np.float64) @ ranks, labels.sum(axis=1), scores.shape[1])
    lookalikes = ((keys[:, 1:] ^ keys[:, :-1]) <= 1).sum(axis=1)
    for row in np.flatnonzero(lookalikes > _LOOKALIKES):
        areas[row] = auroc(scores[row], labels[row])
    return areas


def auroc_of_weights(weights: np.ndarray, features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the area of every column of weights: score the items, block by block, and rank them.

    Parameters
    ----------
    weights : array (features, columns)
    features : array (items, features)
    labels : int32 array (columns, items)

    Returns
    -------
    float64 array (columns,)
    """
    areas = np.empty(weights.shape[1])
    across = np.ascontiguousarray(features.T)
    for first in range(0, len(areas), BLOCK_COLUMNS):
        block = slice(first, first + BLOCK_COLUMNS)
        scores = (weights[:, block].T @ across).astype(np.float32, copy=False)
        areas[block] = auroc_rows(scores, labels[block])
    return areas


def auroc_of_shifts(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the area for every circular shift of the labels, with one Fourier product.

    Parameters
    ----------
    scores : array (items,)
    labels : array (items,)
        0 or 1, in time order.

    Returns
    -------
    float64 array (items,)
        Entry s belongs to ``np.roll(labels, s)``.

    Examples
    --------
    >>> auroc_of_shifts(np.array([1.0, 2.0, 3.0, 4.0]), np.array([0, 0, 1, 1])).round(6)
    array([1. , 0.5, 0. , 0.5])
    """
    n_items = len(labels)
    # Centred ranks keep the product near zero, where rounding is smallest.
    ranks = rankdata(scores) - (n_items + 1) / 2
    sums = irfft(rfft(ranks) * np.conj(rfft(labels.astype(np.float64))), n_items)
    ones = labels.sum()
    return area_of(sums + ones * (n_items + 1) / 2, np.full(n_items, ones), n_items)
