"""Graphs of electrodes: which ones correlate with which."""

from __future__ import annotations

import numpy as np

from neuroarena.errors import InputError


def correlation(inputs: np.ndarray) -> np.ndarray:
    """Compute Pearson correlations between channels over all items and all their features.

    Parameters
    ----------
    inputs : float32 array (n, channels, ...)

    Returns
    -------
    float64 array (channels, channels)
        A channel that does not vary correlates 0 with all others; the diagonal is 1.

    Examples
    --------
    >>> correlation(np.array([[[1.0, 2.0], [2.0, 4.0], [5.0, 5.0]]])).round(6).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    flat = inputs.reshape(*inputs.shape[:2], -1)
    n_channels = flat.shape[1]
    mean = flat.mean(axis=(0, 2), dtype=np.float64)
    products = np.zeros((n_channels, n_channels))
    for item in flat:  # one item at a time: no second copy of the inputs
        centred = item - mean[:, None]
        products += centred @ centred.T
    spread = np.sqrt(np.diag(products))
    spread = np.where(spread > 0, spread, np.inf)
    found: np.ndarray = products / np.outer(spread, spread)
    np.fill_diagonal(found, 1.0)
    return found


def nearest_neighbours(similarity: np.ndarray, count: int) -> np.ndarray:
    """Join every channel to the `count` others it is most similar to; a join goes both ways.

    Parameters
    ----------
    similarity : array (channels, channels)
    count : int
        With fewer other channels than this, all are joined.

    Returns
    -------
    bool array (channels, channels)
        Symmetric, without self-joins. Ties go to the channel that comes first.

    Raises
    ------
    InputError
        When `count` is below 1.

    Examples
    --------
    >>> nearest_neighbours(np.array([[1.0, 0.9, 0.1], [0.9, 1.0, 0.2], [0.1, 0.2, 1.0]]), 1).astype(int).tolist()
    [[0, 1, 0], [1, 0, 1], [0, 1, 0]]
    """
    if count < 1:
        raise InputError(f"A graph of electrodes: neighbours must be at least 1, got {count!r}.")
    n_channels = len(similarity)
    others = similarity.copy()
    np.fill_diagonal(others, -np.inf)
    nearest = np.argsort(-others, axis=1, kind="stable")[:, : min(count, n_channels - 1)]
    joined = np.zeros((n_channels, n_channels), dtype=bool)
    np.put_along_axis(joined, nearest, True, axis=1)
    return joined | joined.T


def normalise_graph(joined: np.ndarray) -> np.ndarray:
    """Add self-joins and normalise symmetrically: D^-1/2 (A + I) D^-1/2 (Kipf and Welling 2017).

    Examples
    --------
    >>> normalise_graph(np.array([[False, True], [True, False]])).round(6).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    """
    weights = joined.astype(np.float64) + np.eye(len(joined))
    scale = 1 / np.sqrt(weights.sum(axis=1))
    mixing: np.ndarray = weights * np.outer(scale, scale)
    return mixing
