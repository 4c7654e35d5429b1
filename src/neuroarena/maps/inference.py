"""What a null says about a map: the maximum over cells, clusters in time, and the false discovery rate.

Every function takes the observed map of one task in one session, (electrodes, bins), and the same map for each draw
of the null, (draws, electrodes, bins). The observed map is one more draw of its own null, so that with K draws no p
value is below 1 / (K + 1) and each test holds its level exactly where the draws are exchangeable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# A draw of the null that equals the observed value counts against it, whatever the last digit says.
_TOLERANCE = 1e-6
_LEVEL = 0.05


@dataclass(frozen=True)
class MapInference:
    """What the null says about one map.

    Attributes
    ----------
    null_mean, null_sd, null_q95 : array (electrodes, bins)
        Mean, standard deviation and 95 % quantile of each cell's null, the observed value included.
    p_max : array (electrodes, bins)
        Corrected over all electrodes and bins: the share of draws whose highest standardised cell is at least as high.
    p_fdr : array (electrodes,)
        Of the highest bin of an electrode, adjusted over electrodes (Benjamini and Hochberg); it names no bin.
    p_cluster : array (electrodes, bins)
        Of the stretch of bins that the cell lies in, by its mass; 1 outside. It does not date an onset.
    null_max : array (draws,)
        The highest standardised cell of each draw.
    """

    null_mean: np.ndarray
    null_sd: np.ndarray
    null_q95: np.ndarray
    p_max: np.ndarray
    p_fdr: np.ndarray
    p_cluster: np.ndarray
    null_max: np.ndarray


def infer(observed: np.ndarray, null: np.ndarray) -> MapInference:
    """Compare a map with its null.

    Parameters
    ----------
    observed : array (electrodes, bins)
    null : array (draws, electrodes, bins)

    Returns
    -------
    MapInference

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> null = rng.normal(0.5, 0.01, (199, 4, 3))
    >>> found = infer(np.where(np.arange(12).reshape(4, 3) == 5, 0.6, 0.5), null)
    >>> float(found.p_max.min()), int(found.p_max.argmin())
    (0.005, 5)
    """
    pool = np.concatenate([observed[None], null]).astype(np.float64)
    mean, sd, q95 = pool.mean(0), pool.std(0), np.quantile(pool, 1 - _LEVEL, axis=0)
    # A cell whose null does not vary (a constant feature) says nothing.
    z = np.divide(pool - mean, sd, out=np.zeros_like(pool), where=sd > 0)
    highest = z.max(axis=(1, 2))
    threshold = np.divide(q95 - mean, sd, out=np.zeros_like(sd), where=sd > 0)
    return MapInference(
        null_mean=mean,
        null_sd=sd,
        null_q95=q95,
        p_max=rank_p(z[0], highest[1:]),
        p_fdr=adjust_fdr(_electrode_p(z)),
        p_cluster=_cluster_p(z, threshold),
        null_max=highest[1:],
    )


def rank_p(observed: np.ndarray, null: np.ndarray) -> np.ndarray:
    """Return (1 + the number of draws at least as high) / (1 + the number of draws).

    Parameters
    ----------
    observed : array of any shape
    null : array (draws,)

    Examples
    --------
    >>> rank_p(np.array([3.0, 1.0]), np.array([0.0, 1.0, 2.0]))
    array([0.25, 0.75])
    """
    ordered = np.sort(null)
    at_least = len(ordered) - np.searchsorted(ordered, observed - _TOLERANCE, side="left")
    p: np.ndarray = (1 + at_least) / (1 + len(ordered))
    return p


def adjust_fdr(p: np.ndarray) -> np.ndarray:
    """Adjust p values for the false discovery rate, after Benjamini and Hochberg (1995).

    Examples
    --------
    >>> adjust_fdr(np.array([0.01, 0.04, 0.03, 0.5])).round(4).tolist()
    [0.04, 0.0533, 0.0533, 0.5]
    """
    order = np.argsort(p)
    ratio = p[order] * len(p) / np.arange(1, len(p) + 1)
    adjusted: np.ndarray = np.empty_like(ratio)
    adjusted[order] = np.minimum(np.minimum.accumulate(ratio[::-1])[::-1], 1.0)
    return adjusted


def cluster_masses(z: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    """Sum what exceeds the threshold over each stretch of neighbouring bins.

    Parameters
    ----------
    z : array (..., electrodes, bins)
    threshold : array (electrodes, bins)

    Returns
    -------
    array (..., electrodes, bins)
        In every bin the mass of its stretch; 0 outside.

    Examples
    --------
    >>> cluster_masses(np.array([[0.0, 2.0, 3.0, 0.0, 1.5]]), np.ones((1, 5)))
    array([[0. , 3. , 3. , 0. , 0.5]])
    """
    excess = np.clip(z - threshold, 0, None)
    masses: np.ndarray = np.zeros_like(excess)
    for place in range(excess.shape[-1]):  # few bins, many draws: the loop is over bins
        before = masses[..., place - 1] if place else 0.0
        masses[..., place] = np.where(excess[..., place] > 0, before + excess[..., place], 0.0)
    for place in range(excess.shape[-1] - 2, -1, -1):
        inside = (excess[..., place] > 0) & (excess[..., place + 1] > 0)
        masses[..., place] = np.where(inside, masses[..., place + 1], masses[..., place])
    return masses


def _cluster_p(z: np.ndarray, threshold: np.ndarray) -> np.ndarray:
    observed = cluster_masses(z[0], threshold)
    largest = cluster_masses(z[1:], threshold).max(axis=(1, 2), initial=0.0)
    p: np.ndarray = np.where(observed > 0, rank_p(observed, largest), 1.0)
    return p


def _electrode_p(z: np.ndarray) -> np.ndarray:
    """Return, for each electrode by itself, the p value of its highest bin."""
    highest = z.max(axis=2)
    at_least = (highest[1:] >= highest[0] - _TOLERANCE).sum(0)
    p: np.ndarray = (1 + at_least) / len(z)
    return p
