"""The signals of simulated nights: noise whose spectrum has, in every epoch, the levels that were planted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuroarena.families.sleep.sleep_edf.twin_sleep import BANDS_HZ, EPOCH_S

# Pieces of noise, each with the spectrum of its epoch, are faded into each other.
FRAME_S, HOP_S = 4, 2
# Inside a band the power falls with the frequency. How it does is not known from band powers; nor is what the
# electrodes have in common.
TILT = 1.0
COMMON, OWN = 0.8, 0.6


def make_eeg(levels: np.ndarray, sites: Sequence[int], rate_hz: int, rng: np.random.Generator) -> np.ndarray:
    """Make signals with the planted levels: float32 (channels, samples), µV.

    Parameters
    ----------
    levels : float array (epochs, 10)
        Decimal logarithms of µV²/Hz, five bands of the first site, then of the second.
    sites : sequence of int
        The site of each channel, 0 or 1.
    rate_hz : int
    """
    length, hop = FRAME_S * rate_hz, HOP_S * rate_hz
    n_samples = len(levels) * EPOCH_S * rate_hz
    # The first frame begins a hop early, so that every sample lies in two.
    n_frames = n_samples // hop + 1
    middles_s = HOP_S * np.arange(n_frames)
    epochs = np.minimum(middles_s // EPOCH_S, len(levels) - 1)
    powers = 10.0 ** levels.reshape(len(levels), -1, len(BANDS_HZ))
    shapes = _band_shapes(rate_hz)
    # A sine squared and the same half a frame later add up to one: so does the power of independent noise.
    fade = np.sin(np.pi * (np.arange(length) + 0.5) / length).astype(np.float32)
    shape = (n_frames, shapes.shape[1])
    common = _white(shape, rng)
    out = np.empty((len(sites), n_samples), dtype=np.float32)
    for channel, site in enumerate(sites):
        # Power per Hz of one side of the spectrum -> size of a Fourier coefficient.
        sizes = np.sqrt(powers[:, site] @ shapes * (length * rate_hz / 2)).astype(np.float32)
        spectrum = (COMMON * common + OWN * _white(shape, rng)) * sizes[epochs]
        frames = np.fft.irfft(spectrum, n=length, axis=1).astype(np.float32) * fade
        added = np.zeros((n_frames + 1, hop), dtype=np.float32)
        added[:-1] += frames[:, :hop]
        added[1:] += frames[:, hop:]
        out[channel] = added.ravel()[hop : hop + n_samples]
    return out


def _white(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Draw complex numbers of mean square 1: complex64."""
    parts = rng.standard_normal((*shape, 2), dtype=np.float32) * np.float32(np.sqrt(0.5))
    white: np.ndarray = parts.view(np.complex64)[..., 0]
    return white


def _band_shapes(rate_hz: int) -> np.ndarray:
    """Return the shape of each band over the frequencies of a frame, of mean 1 inside it: float (bands, frequencies).

    The last band reaches up to half the rate; below the first there is nothing.
    """
    frequencies = np.fft.rfftfreq(FRAME_S * rate_hz, 1 / rate_hz)
    shapes = np.zeros((len(BANDS_HZ), len(frequencies)))
    for shape, (low, high) in zip(shapes, BANDS_HZ, strict=True):
        inside = (frequencies >= low) & (frequencies < high)
        mean = (frequencies[inside] ** -TILT).mean()
        reached = (frequencies >= low) if (low, high) == BANDS_HZ[-1] else inside
        shape[reached] = frequencies[reached] ** -TILT / mean
    return shapes
