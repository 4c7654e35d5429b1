"""The signals of the simulated command set: three rhythms on a drifting cap, above a 1/f background."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

# One rhythm per command, in the order of the classes: mu, theta, beta (Hz).
BANDS_HZ = ((9.0, 13.0), (4.5, 7.5), (17.0, 23.0))
# Log-amplitude of a rhythm for one unit of its latent number.
LOG_AMPLITUDE = 0.25
RHYTHM_UV, BACKGROUND_UV, COMMON_UV = 8.0, 6.0, 4.0
# The window that is judged; the rhythm's power over it is exactly that of the latent number.
JUDGED_S, CUE_S = 4.0, 8.0


@dataclass(frozen=True)
class Cap:
    """Where a person's rhythms reach the electrodes, and how that drifts over sessions.

    Attributes
    ----------
    patterns : float array (channels, rhythms)
        Session 1.
    drift : float array (sessions, channels, rhythms)
        What is added to the patterns in each session; zero in the first.
    gains : float array (sessions, channels)
        Gain of each electrode.
    """

    patterns: np.ndarray
    drift: np.ndarray
    gains: np.ndarray

    def mixing(self, session: int) -> np.ndarray:
        """Return the mixing from rhythms to electrodes in a session (from 0): float (channels, rhythms)."""
        return np.asarray((self.patterns + self.drift[session]) * self.gains[session][:, np.newaxis])


def make_cap(n_channels: int, n_sessions: int, drift: float, rng: np.random.Generator) -> Cap:
    """Draw a person's cap; electrodes move a little from session to session, and never back."""
    rhythms = len(BANDS_HZ)
    patterns = rng.uniform(0.1, 0.5, (n_channels, rhythms))
    # Each rhythm has electrodes of its own, so that it can be distinguished from the others.
    homes = rng.permutation(n_channels)
    for rhythm in range(rhythms):
        patterns[homes[rhythm::rhythms][: max(1, n_channels // 6)], rhythm] += 1.0
    steps = rng.standard_normal((n_sessions, n_channels, rhythms)) * 0.08 * drift
    gains = rng.standard_normal((n_sessions, n_channels)) * 0.06 * drift
    steps[0], gains[0] = 0.0, 0.0
    return Cap(patterns, np.cumsum(steps, axis=0), np.exp(np.cumsum(gains, axis=0)))


def cell_offsets(n_sessions: int, n_contexts: int, drift: float, rng: np.random.Generator) -> np.ndarray:
    """Draw how much stronger each rhythm is in each cell, in units of the latent numbers.

    A random walk over sessions, and a part of each context's own.

    Returns
    -------
    float array (sessions, contexts, rhythms)
    """
    walk = rng.standard_normal((n_sessions, 1, len(BANDS_HZ))) * 0.7 * drift
    walk[0] = 0.0
    own = rng.standard_normal((n_sessions, n_contexts, len(BANDS_HZ))) * 0.15 * drift
    return np.asarray(np.cumsum(walk, axis=0) + own)


def run_signal(
    mixing: np.ndarray,
    n_samples: int,
    cues: np.ndarray,
    latents: np.ndarray,
    offsets: np.ndarray,
    rate_hz: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Make the signal of one run.

    Parameters
    ----------
    mixing : float array (channels, rhythms)
    n_samples : int
    cues : int array (trials,)
        Sample of each cue.
    latents : float array (trials, rhythms)
    offsets : float array (rhythms,)
        Drift of this cell.
    rate_hz : float

    Returns
    -------
    float array (channels, n_samples), microvolts
    """
    signal = _background(len(mixing), n_samples, rate_hz, rng)
    judged, cued = round(JUDGED_S * rate_hz), round(CUE_S * rate_hz)
    for rhythm, (low, high) in enumerate(BANDS_HZ):
        wave = _rhythm(n_samples, low, high, rate_hz, rng) * np.exp(LOG_AMPLITUDE * offsets[rhythm])
        for cue, latent in zip(cues, latents[:, rhythm], strict=True):
            for first, last in ((cue, cue + judged), (cue + judged, cue + cued)):
                piece = wave[first:last]
                level = np.exp(LOG_AMPLITUDE * (latent + offsets[rhythm]))
                wave[first:last] = piece * (level / np.sqrt(np.mean(piece**2)))
        signal += np.outer(mixing[:, rhythm] * RHYTHM_UV, wave)
    return signal


def _background(n_channels: int, n_samples: int, rate_hz: float, rng: np.random.Generator) -> np.ndarray:
    own = _pink((n_channels, n_samples), rate_hz, rng) * BACKGROUND_UV
    return np.asarray(own + _pink((1, n_samples), rate_hz, rng) * COMMON_UV)


def _pink(shape: tuple[int, int], rate_hz: float, rng: np.random.Generator) -> np.ndarray:
    """Make noise with power falling as 1/f above 1 Hz, of unit variance."""
    frequencies = np.fft.rfftfreq(shape[1], 1 / rate_hz)
    return _shaped(shape, 1 / np.sqrt(np.maximum(frequencies, 1.0)), rng)


def _rhythm(n_samples: int, low: float, high: float, rate_hz: float, rng: np.random.Generator) -> np.ndarray:
    frequencies = np.fft.rfftfreq(n_samples, 1 / rate_hz)
    inside = ((frequencies >= low) & (frequencies <= high)).astype(np.float64)
    return np.asarray(_shaped((1, n_samples), inside, rng)[0])


def _shaped(shape: tuple[int, int], spectrum: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    noise = np.fft.rfft(rng.standard_normal(shape), axis=1) * spectrum
    noise[:, 0] = 0.0
    signal = np.fft.irfft(noise, n=shape[1], axis=1)
    return np.asarray(signal / signal.std(axis=1, keepdims=True))
