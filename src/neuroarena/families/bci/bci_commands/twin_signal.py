"""The signals of the simulated command set: three rhythms on a drifting cap, under much else that a head produces.

The skull blurs everything: each source reaches every electrode, by its distance, so that no electrode hears one rhythm
alone. The rhythms overlap in frequency, and larger ones that no command changes lie among them: the alpha of the back
of the head and the idle rhythm of the other hand wax and wane by themselves. Eyes blink and muscles tense. So the
amplitude of an electrode says little of a command, and whoever separates sources in space hears much more. Sizes are
chosen for that; no recording of the real set was at hand to fit them to.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# One rhythm per command, in the order of the classes (Hz): mu, frontal theta, and a faster one on the left.
BANDS_HZ = ((8.5, 13.0), (5.5, 9.5), (12.0, 18.0))
# Where they arise, and the two that idle: ear to ear from -1 to 1, and back to front.
HOMES = ((-0.45, 0.0), (0.0, 0.45), (-0.6, 0.35))
IDLE_HOMES = ((0.1, -0.6), (0.45, 0.0))
IDLE_HZ = ((8.0, 12.5), (8.5, 17.0))
# Log-amplitude of a rhythm for one unit of its latent number.
LOG_AMPLITUDE = 0.25
RHYTHM_UV, BACKGROUND_UV, COMMON_UV = 8.0, 1.0, 4.0
IDLE_UV, IDLE_SPREAD, IDLE_EVERY_S = (18.0, 15.0), 0.7, 5.0
# A blink, every so many seconds on average, and a muscle on one side: microvolts at the nearest electrode.
BLINK_UV, BLINK_EVERY_S, BLINK_S, EYES = 60.0, 5.0, 0.4, (0.0, 1.1)
MUSCLE_UV, MUSCLE_EVERY_S, MUSCLE_S, TEMPLES = 12.0, 15.0, 2.0, ((-1.0, 0.2), (1.0, 0.2))
# How far a source reaches, in units of the head's radius.
REACH = 0.8
# The window that is judged; the rhythm's power over it is exactly that of the latent number.
JUDGED_S, CUE_S = 4.0, 8.0
_ROWS = {"AF": 0.75, "F": 0.5, "FC": 0.25, "C": 0.0, "CP": -0.25, "TP": -0.25, "P": -0.5, "PO": -0.75}


@dataclass(frozen=True)
class Cap:
    """Where a person's sources reach the electrodes, and how that drifts over sessions.

    Attributes
    ----------
    patterns : float array (channels, rhythms)
        Session 1.
    drift : float array (sessions, channels, rhythms)
        What is added to the patterns in each session; zero in the first.
    gains : float array (sessions, channels)
        Gain of each electrode.
    others : float array (channels, sources)
        How the sources that no command changes reach the electrodes: two idle rhythms, the eyes, and two muscles.
    """

    patterns: np.ndarray
    drift: np.ndarray
    gains: np.ndarray
    others: np.ndarray

    def mixing(self, session: int) -> np.ndarray:
        """Return the mixing from rhythms to electrodes in a session (from 0): float (channels, rhythms)."""
        return np.asarray((self.patterns + self.drift[session]) * self.gains[session][:, np.newaxis])

    def other_mixing(self, session: int) -> np.ndarray:
        """Return the mixing from all other sources to electrodes in a session: float (channels, sources)."""
        return np.asarray(self.others * self.gains[session][:, np.newaxis])


def electrode_places(names: Sequence[str]) -> np.ndarray:
    """Return where electrodes of the 10-10 system lie on a flat head: float (channels, 2), about -1 to 1.

    Examples
    --------
    >>> electrode_places(["C3", "Fz"]).tolist()
    [[-0.4, 0.0], [0.0, 0.5]]
    """
    places = []
    for name in names:
        row = name.rstrip("z0123456789")
        number = 0 if name.endswith("z") else int(name[len(row) :])
        places.append((0.2 * ((number + 1) // 2) * (-1 if number % 2 else 1) if number else 0.0, _ROWS[row]))
    return np.array(places)


def make_cap(names: Sequence[str], n_sessions: int, drift: float, rng: np.random.Generator) -> Cap:
    """Draw a person's cap; electrodes move a little from session to session, and never back."""
    places, rhythms = electrode_places(names), len(BANDS_HZ)
    # Nobody's sources lie exactly where the textbook has them.
    homes = np.array([*HOMES, *IDLE_HOMES]) + rng.normal(0.0, 0.1, (rhythms + len(IDLE_HOMES), 2))
    reached = _reach(places, np.array([*homes, EYES, *TEMPLES]))
    steps = rng.standard_normal((n_sessions, len(names), rhythms)) * 0.04 * drift
    gains = rng.standard_normal((n_sessions, len(names))) * 0.04 * drift
    steps[0], gains[0] = 0.0, 0.0
    return Cap(
        reached[:, :rhythms], np.cumsum(steps, axis=0), np.exp(np.cumsum(gains, axis=0)), reached[:, rhythms:]
    )


def _reach(places: np.ndarray, homes: np.ndarray) -> np.ndarray:
    """Return how strongly each source reaches each electrode, 1 at its home: float (electrodes, sources)."""
    apart = ((places[:, np.newaxis] - homes[np.newaxis]) ** 2).sum(axis=2)
    return np.asarray(np.exp(-apart / (2 * REACH**2)))


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
    others: np.ndarray,
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
    others : float array (channels, sources)
        Mixing of what no command changes.
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
    signal = _background(others, n_samples, rate_hz, rng)
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


def _background(others: np.ndarray, n_samples: int, rate_hz: float, rng: np.random.Generator) -> np.ndarray:
    own = _pink((len(others), n_samples), rate_hz, rng) * BACKGROUND_UV
    shared = _pink((1, n_samples), rate_hz, rng) * COMMON_UV
    idle = [
        size * _rhythm(n_samples, low, high, rate_hz, rng) * _waxing(n_samples, rate_hz, rng)
        for size, (low, high) in zip(IDLE_UV, IDLE_HZ, strict=True)
    ]
    muscles = [
        MUSCLE_UV
        * _pulses(n_samples, MUSCLE_EVERY_S, MUSCLE_S, rate_hz, rng)
        * rng.standard_normal(n_samples)
        for _ in TEMPLES
    ]
    blinks = BLINK_UV * _pulses(n_samples, BLINK_EVERY_S, BLINK_S, rate_hz, rng)
    return np.asarray(own + shared + others @ np.stack([*idle, blinks, *muscles]))


def _waxing(n_samples: int, rate_hz: float, rng: np.random.Generator) -> np.ndarray:
    """Make an amplitude that waxes and wanes around 1, from one knot to the next."""
    knots = np.arange(0, n_samples + IDLE_EVERY_S * rate_hz, IDLE_EVERY_S * rate_hz)
    levels = rng.normal(0.0, IDLE_SPREAD, len(knots))
    return np.asarray(np.exp(np.interp(np.arange(n_samples), knots, levels)))


def _pulses(
    n_samples: int, every_s: float, lasting_s: float, rate_hz: float, rng: np.random.Generator
) -> np.ndarray:
    """Make a row of smooth pulses at random times, each of a random height around 1."""
    length = round(lasting_s * rate_hz)
    pulse = np.hanning(length)
    row = np.zeros(n_samples)
    starts = rng.integers(0, n_samples - length, rng.poisson(n_samples / rate_hz / every_s))
    for start, height in zip(starts, rng.uniform(0.5, 1.5, len(starts)), strict=True):
        row[start : start + length] += height * pulse
    return row


def _pink(shape: tuple[int, int], rate_hz: float, rng: np.random.Generator) -> np.ndarray:
    """Make noise with power falling as 1/f above 1 Hz, of unit variance."""
    frequencies = np.fft.rfftfreq(shape[1], 1 / rate_hz)
    return _shape_noise(shape, 1 / np.sqrt(np.maximum(frequencies, 1.0)), rng)


def _rhythm(n_samples: int, low: float, high: float, rate_hz: float, rng: np.random.Generator) -> np.ndarray:
    frequencies = np.fft.rfftfreq(n_samples, 1 / rate_hz)
    inside = ((frequencies >= low) & (frequencies <= high)).astype(np.float64)
    return np.asarray(_shape_noise((1, n_samples), inside, rng)[0])


def _shape_noise(shape: tuple[int, int], spectrum: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Make rows of noise with a spectrum (of amplitudes, one per Fourier coefficient), of unit variance."""
    inside = spectrum > 0
    inside[0] = False
    coefficients = np.zeros((shape[0], len(spectrum)), dtype=np.complex128)
    drawn = rng.standard_normal((shape[0], int(inside.sum()), 2)).view(np.complex128)[..., 0]
    coefficients[:, inside] = drawn * spectrum[inside]
    signal = np.fft.irfft(coefficients, n=shape[1], axis=1)
    return np.asarray(signal / signal.std(axis=1, keepdims=True))
