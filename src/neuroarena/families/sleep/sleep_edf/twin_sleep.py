"""The planted model of simulated nights: how stages follow each other, how they sound, and the best possible score.

Both sleep twins use it. Every epoch of 30 s has a *depth*, drawn from a normal distribution whose mean rises
with its stage; rhythms grow or fade with the depth. Whoever sees the depths and knows these numbers can do no better
than :func:`ideal_error`.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from scipy import signal as filters

EPOCH_S = 30
STAGES = ("W", "N1", "N2", "N3", "R")
# Mean depth of the stages, in standard deviations of the depth at strength 1.
DEPTH = np.array([0.0, 2.0, 4.5, 6.0, 1.5])
# Before sleep has set in there are wake, N1, and N2 for a single epoch, which is not stable.
BEFORE = np.array([[0.85, 0.15, 0.00], [0.25, 0.62, 0.13], [0.20, 0.80, 0.00]])
# Afterwards, of all five stages.
AFTER = np.array(
    [
        [0.50, 0.50, 0.00, 0.00, 0.00],
        [0.15, 0.35, 0.50, 0.00, 0.00],
        [0.04, 0.04, 0.79, 0.12, 0.01],
        [0.02, 0.00, 0.10, 0.88, 0.00],
        [0.05, 0.00, 0.05, 0.00, 0.90],
    ]
)
W, N1, N2 = 0, 1, 2


@dataclass(frozen=True)
class Rhythm:
    """A rhythm of the EEG: its band, its strength at depth 0 in µV, and how its logarithm changes with depth."""

    low_hz: float
    high_hz: float
    microvolts: float
    slope: float


RHYTHMS = {
    "alpha": Rhythm(8.0, 12.0, 10.0, -0.2),
    "sigma": Rhythm(12.5, 15.5, 4.0, 0.2),
    "delta": Rhythm(0.7, 2.5, 12.0, 0.2),
}
BACKGROUND_UV = 6.0


def draw_stages(onset: int, n_epochs: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the stages of a night whose first stable N2 is the epoch `onset`: int (n_epochs,) into STAGES."""
    stages = np.empty(n_epochs, dtype=np.int64)
    state = W
    for epoch in range(min(onset, n_epochs)):
        state = state if epoch == 0 else int(rng.choice(3, p=BEFORE[state]))
        stages[epoch] = state
    if 0 < onset <= n_epochs and stages[onset - 1] == N2:
        # An N2 right before the onset would itself be the first of a stable run.
        stages[onset - 1] = N1
    state = N2
    for epoch in range(onset, n_epochs):
        state = N2 if epoch < onset + 2 else int(rng.choice(5, p=AFTER[state]))
        stages[epoch] = state
    return stages


def draw_depths(stages: np.ndarray, strength: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the depth of every epoch: float (n_epochs,); at strength 0 stages leave no trace in it."""
    depths: np.ndarray = strength * DEPTH[stages] + rng.standard_normal(len(stages))
    return depths


def eeg(depths: np.ndarray, n_channels: int, rate_hz: int, rng: np.random.Generator) -> np.ndarray:
    """Make EEG-like signals whose rhythms follow the depths: float32 (channels, samples), µV.

    People differ: the whole signal and its alpha rhythm are scaled at random, the same for all channels.
    """
    n_samples = len(depths) * EPOCH_S * rate_hz
    gain, alpha_gain = np.exp(rng.normal(0.0, [0.2, 0.3]))
    out = np.empty((n_channels, n_samples), dtype=np.float32)
    for channel in range(n_channels):
        noise = filters.lfilter([1.0], [1.0, -0.95], rng.standard_normal(n_samples))
        out[channel] = noise * (BACKGROUND_UV * np.sqrt(1 - 0.95**2))
    for name, rhythm in RHYTHMS.items():
        band = filters.butter(2, [rhythm.low_hz, rhythm.high_hz], "bandpass", fs=rate_hz, output="sos")
        level = rhythm.microvolts * np.exp(rhythm.slope * depths) * (alpha_gain if name == "alpha" else 1.0)
        envelope = np.repeat(level, EPOCH_S * rate_hz).astype(np.float32)
        common = _unit(filters.sosfilt(band, rng.standard_normal(n_samples)))
        for channel in range(n_channels):
            own = _unit(filters.sosfilt(band, rng.standard_normal(n_samples)))
            out[channel] += envelope * (0.8 * common + 0.6 * own)
    return out * np.float32(gain)


def _unit(noise: np.ndarray) -> np.ndarray:
    scaled: np.ndarray = (noise / noise.std()).astype(np.float32)
    return scaled


@functools.lru_cache(maxsize=32)
def ideal_error(
    strength: float, least_s: int, most_s: int, horizon_s: int, draws: int = 400, seed: int = 0
) -> float:
    """Estimate the smallest possible mean absolute error, in seconds, over simulated streams.

    The best possible decoder sees the depth of every epoch and the borders of epochs, knows how stages
    follow each other, and answers with the median of what is then probable. A real decoder sees less.

    Parameters
    ----------
    strength : float
        Of the planted signal; at 0 the answer is that of guessing the median.
    least_s, most_s : int
        The onset is equally probable at every epoch of this stretch of the stream.
    horizon_s : int
        Length of a stream.
    draws : int
        Streams simulated.
    """
    rng = np.random.default_rng([seed, 77])
    onsets = np.arange(least_s // EPOCH_S, most_s // EPOCH_S)
    n_epochs = horizon_s // EPOCH_S
    errors = []
    for onset in rng.choice(onsets, size=draws):
        # Streams begin within a night: by then the chain has forgotten that it began awake.
        before = draw_stages(int(onset) + 40, n_epochs + 40, rng)[40:]
        posterior = onset_posterior(draw_depths(before, strength, rng), onsets, strength)
        guess = onsets[int(np.searchsorted(np.cumsum(posterior), 0.5))]
        errors.append(EPOCH_S * abs(int(guess) - int(onset)))
    return float(np.mean(errors))


def onset_posterior(depths: np.ndarray, onsets: np.ndarray, strength: float) -> np.ndarray:
    """Return the probability of every possible onset given all depths: float (len(onsets),)."""
    chances = np.exp(-0.5 * (depths[:, np.newaxis] - strength * DEPTH) ** 2)
    before, scale = _forward(chances)
    after = _backward(chances)
    log = np.array(
        [
            np.log((before[i] * chances[i - 1, [W, N1, N1]]).sum()) + scale[i] + after[i]
            for i in onsets.tolist()
        ]
    )
    weights = np.exp(log - log.max())
    posterior: np.ndarray = weights / weights.sum()
    return posterior


def _forward(chances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Follow the chain before sleep: row i is the state of epoch i - 1 before it is observed, with its log scale."""
    n = len(chances)
    state = np.linalg.matrix_power(BEFORE, 200)[0]
    states, scales = np.zeros((n + 1, 3)), np.zeros(n + 1)
    scale = 0.0
    for epoch in range(n):
        states[epoch + 1], scales[epoch + 1] = state, scale
        seen = state * chances[epoch, :3]
        scale += float(np.log(seen.sum()))
        state = seen / seen.sum() @ BEFORE
    return states, scales


def _backward(chances: np.ndarray) -> np.ndarray:
    """Return the log probability of epochs i, i + 1, ... when stable N2 begins in epoch i."""
    n = len(chances)
    ahead, scale = np.ones(5), 0.0
    logs = np.full(n + 1, -np.inf)
    # What follows an epoch of each stage, from the last epoch backwards.
    follows, scales = np.ones((n + 1, 5)), np.zeros(n + 1)
    for epoch in range(n - 1, -1, -1):
        ahead = AFTER @ (chances[epoch] * ahead)
        scale += float(np.log(ahead.max()))
        ahead = ahead / ahead.max()
        follows[epoch], scales[epoch] = ahead, scale
    for epoch in range(n - 1):
        pair = chances[epoch, N2] * chances[epoch + 1, N2]
        logs[epoch] = (
            np.log(pair * follows[epoch + 2 if epoch + 2 <= n else n, N2]) + scales[min(epoch + 2, n)]
        )
    return logs
