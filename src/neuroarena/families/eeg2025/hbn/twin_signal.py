"""Signals of a simulated HBN-EEG recording: noise with a slope, and oscillations that carry information."""

from __future__ import annotations

import numpy as np
from scipy.signal import lfilter

from neuroarena.families.eeg2025.hbn.twin_people import Person

# What is planted -> the oscillation that carries it: frequency in Hz, amplitude in microvolts (higher where the noise
# is), and the half of the electrodes that see it.
CARRIERS = {
    "attention": (6.0, 12.0, 0),
    "p_factor": (10.0, 6.0, 1),
    "internalizing": (16.5, 4.0, 0),
    "externalizing": (24.0, 4.0, 1),
    "response": (36.0, 4.0, 1),
    "trial": (24.0, 4.0, 0),
}
HALF = 64
# One deviation of what is planted multiplies the amplitude by this power of e.
DEPTH = 0.5
NOISE_UV, SHARED_UV = 5.0, 3.0
# Where, after a target, its response time is planted: the window of the challenge.
TOLD_S = (0.5, 2.5)


def make_signal(
    person: Person,
    duration_s: float,
    rate_hz: int,
    told: list[tuple[float, float]],
    gains: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Make one recording in microvolts: float32 (129, samples), the last channel flat.

    Parameters
    ----------
    told : list of (float, float)
        Onset of a target in seconds, and the logarithm of amplitude that carries its response time.
    gains : array (128,)
        How strongly each electrode of this person picks anything up.
    """
    n = round(duration_s * rate_hz)
    # A pole that falls with the rate keeps the slope of the spectrum the same in Hz.
    pole = float(np.exp(-10.0 / rate_hz))
    noise = rng.standard_normal((128 + 4, n), dtype=np.float32)
    noise = lfilter([np.sqrt(1 - pole**2)], [1.0, -pole], noise, axis=1).astype(np.float32)
    mixing = rng.standard_normal((128, 4), dtype=np.float32) / 2
    signal = NOISE_UV * noise[:128] + SHARED_UV * (mixing @ noise[128:])
    for name, (frequency, amplitude, half) in CARRIERS.items():
        level = np.full(n, person.amplitudes.get(name, 0.0))
        if name == "trial":
            for onset, value in told:
                first, last = (round((onset + edge) * rate_hz) for edge in TOLD_S)
                level[first:last] = value
        # A phase that wanders keeps the oscillation from being a line in the spectrum.
        wander = np.cumsum(rng.standard_normal(n)) * np.sqrt(0.5 / rate_hz)
        phase = 2 * np.pi * frequency * np.arange(n) / rate_hz + 2 * np.pi * rng.random() + wander
        wave = amplitude * np.exp(DEPTH * level) * np.cos(phase)
        signal[half * HALF : (half + 1) * HALF] += wave.astype(np.float32)
    signal *= gains[:, None].astype(np.float32)
    return np.vstack([signal, np.zeros((1, n), dtype=np.float32)])


def make_gains(rng: np.random.Generator) -> np.ndarray:
    """Draw how strongly the electrodes of a person pick anything up: skull and contact, (128,)."""
    return np.exp(0.05 * rng.standard_normal() + 0.05 * rng.standard_normal(128))
