"""Simulated neurons: a known share of their signal is linear in a layer, the rest is their own, with known noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# Dimensions of a layer that the neurons of a region read.
DIMENSIONS = 25
# Bins of 1 ms in a trial of spikes.
BINS = 300


@dataclass(frozen=True)
class Planted:
    """Responses of neurons without noise, and what they were made from.

    Attributes
    ----------
    signal : ndarray, shape (stimuli, neuroids)
        Mean 0 and variance 1 over stimuli.
    explained : float
        Share of the variance of `signal` that is linear in the layer; the rest is unrelated to the pictures.
    """

    signal: np.ndarray
    explained: float


def plant(layer: np.ndarray, neuroids: int, explained: float, rng: np.random.Generator) -> Planted:
    """Make neurons that read a layer.

    Parameters
    ----------
    layer : ndarray, shape (stimuli, units)
    neuroids : int
    explained : float
        From 0 (nothing) to 1.
    rng : Generator

    Returns
    -------
    Planted
        Each neuron weighs the layer's first principal components at random, all with the same variance. Its own part is
        drawn for each stimulus, orthogonal to these components, so that the share is exact.
    """
    centred = layer.astype(np.float64) - layer.mean(axis=0, dtype=np.float64)
    # The left vectors of the centred layer, from its small Gram matrix.
    _, vectors = np.linalg.eigh(centred @ centred.T)
    components = vectors[:, ::-1][:, : min(DIMENSIONS, len(layer) // 4)]
    # The sign of an eigenvector is arbitrary; the largest entry fixes it, so that machines agree.
    largest = components[np.abs(components).argmax(axis=0), np.arange(components.shape[1])]
    components = components * np.sign(largest)
    read = _standard(components @ rng.standard_normal((components.shape[1], neuroids)))
    own = rng.standard_normal((len(layer), neuroids))
    own -= own.mean(axis=0)
    own = _standard(own - components @ (components.T @ own))
    return Planted(np.sqrt(explained) * read + np.sqrt(1 - explained) * own, explained)


def trials(signal: np.ndarray, repetitions: int, noise: float, rng: np.random.Generator) -> np.ndarray:
    """Add noise of variance `noise` to every repetition: (repetitions, stimuli, neuroids), float32."""
    drawn = rng.standard_normal((repetitions, *signal.shape))
    result: np.ndarray = (signal + np.sqrt(noise) * drawn).astype(np.float32)
    return result


def reliability(noise: float, repetitions: int) -> float:
    """Return the share of variance that is signal after averaging: what split halves with Spearman-Brown estimate.

    Examples
    --------
    >>> round(reliability(1.0, 10), 3)
    0.909
    """
    return 1 / (1 + noise / repetitions)


def spikes(
    signal: np.ndarray, repetitions: int, rate: float, depth: float, window: int, rng: np.random.Generator
) -> tuple[np.ndarray, float]:
    """Draw Poisson spike counts in 1-ms bins.

    Parameters
    ----------
    signal : ndarray, shape (stimuli, neuroids)
        Mean 0, variance 1.
    repetitions : int
    rate : float
        Mean number of spikes in the window of a trial.
    depth : float
        Deviation of that number over stimuli, as a share of it.
    window : int
        Length of the window in ms; bins before it (50) and after it (100) have the mean rate.

    Returns
    -------
    ndarray, shape (repetitions, stimuli, neuroids, 300)
    float
        Reliability of the count in the window averaged over repetitions, median over neuroids. The noise of a
        Poisson count has its mean as variance.
    """
    expected = np.maximum(rate * (1 + depth * signal), 0.02 * rate)
    spread, mean = expected.var(axis=0), expected.mean(axis=0)
    shape = (repetitions, *signal.shape)
    drawn = np.zeros((int(np.prod(shape)), BINS), dtype=np.float64)
    # Spikes of a Poisson process lie anywhere in their interval: count them first, then place them.
    after = BINS - 50 - window
    stretches = (
        (0, 50, 50 / window * rate),
        (50, 50 + window, expected),
        (50 + window, BINS, after / window * rate),
    )
    for first, last, mean_count in stretches:
        counts = rng.poisson(np.broadcast_to(mean_count, shape)).ravel()
        trial = np.repeat(np.arange(len(counts)), counts)
        np.add.at(drawn, (trial, rng.integers(first, last, len(trial))), 1.0)
    return drawn.reshape(*shape, BINS), float(np.median(spread / (spread + mean / repetitions)))


def _standard(values: np.ndarray) -> np.ndarray:
    standard: np.ndarray = (values - values.mean(axis=0)) / values.std(axis=0)
    return standard
