"""Statistics of EEG with commands and with flicker, for comparing simulated recordings with real ones."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from neuroarena.datasets.likeness import (
    correlate_pairs,
    describe_spread,
    estimate_density,
    measure_bands,
    measure_slope,
)
from neuroarena.families.bci.ssvep_exo.files import SubjectFile

BANDS_HZ = ((1.0, 4.0), (4.0, 8.0), (8.0, 13.0), (13.0, 30.0), (30.0, 45.0))
# Class of a trial -> what flickered.
FLICKER_HZ = {1: 13.0, 2: 21.0, 3: 17.0}
# A peak is compared with what lies beside it, at this distance at least and at most.
_BESIDE_HZ = (0.6, 2.0)


def measure_peaks(frequencies: np.ndarray, density: np.ndarray, at_hz: float) -> np.ndarray:
    """Return by how many decibels the density (..., frequency) at a frequency exceeds that beside it."""
    distance = np.abs(frequencies - at_hz)
    beside = (distance >= _BESIDE_HZ[0]) & (distance <= _BESIDE_HZ[1])
    peak = density[..., distance.argmin()]
    return np.asarray(10 * np.log10(peak / density[..., beside].mean(axis=-1)))


def describe_flicker(files: Sequence[SubjectFile]) -> dict[str, str]:
    """Describe trials of looking at flicker: how strong the response is, and how the rest of the signal is."""
    seen, unseen, harmonic, slopes, alike, bands = [], [], [], [], [], []
    for file in files:
        signals = np.asarray(file.signals, dtype=np.float64)
        signals = signals - signals.mean(axis=-1, keepdims=True)
        frequencies, density = estimate_density(signals, file.rate_hz, signals.shape[-1] / file.rate_hz)
        # Electrodes are averaged after the logarithm: a noisy one must not speak for all.
        for label, flicker in FLICKER_HZ.items():
            peaks = measure_peaks(frequencies, density, flicker).mean(axis=1)
            seen.append(peaks[file.labels == label])
            unseen.append(peaks[file.labels != label])
            harmonic.append(
                measure_peaks(frequencies, density[file.labels == label], 2 * flicker).mean(axis=1)
            )
        slopes.append(measure_slope(frequencies, density.mean(axis=0), 2.0, 40.0))
        level = measure_bands(frequencies, density, BANDS_HZ).mean(axis=(0, 1))
        bands.append(level - level[0])
        alike.append(np.concatenate([correlate_pairs(trial) for trial in signals[::8]]))
    trials = [int(np.sum(file.recordings == name)) for file in files for name in set(file.recordings)]
    return {
        "people": str(len(files)),
        "recordings per person": describe_spread([len(set(file.recordings)) for file in files], 0),
        "trials per recording": describe_spread(trials, 0),
        "peak at the flicker that is looked at (dB above what lies beside it)": describe_spread(
            np.concatenate(seen), 1
        ),
        "peak at the same frequency in other trials (dB)": describe_spread(np.concatenate(unseen), 1),
        "peak at twice the flicker that is looked at (dB)": describe_spread(np.concatenate(harmonic), 1),
        "slope of the spectrum, 2 to 40 Hz (power of the frequency)": describe_spread(np.concatenate(slopes)),
        "levels at 4 to 8, 8 to 13, 13 to 30, 30 to 45 Hz against 1 to 4 Hz (dB)": ", ".join(
            f"{value:+.1f}" for value in np.mean(bands, axis=0)[1:]
        ),
        "correlation of two electrodes": describe_spread(np.concatenate(alike)),
    }


def describe_rhythms(trials: Sequence[np.ndarray], rate_hz: float, names: Sequence[str]) -> dict[str, str]:
    """Describe the EEG of cued trials.

    Parameters
    ----------
    trials : sequence of float arrays (channels, samples)
        Microvolts.
    rate_hz : float
    names : sequence of str
        Of the channels.
    """
    signals = np.stack([trial - trial.mean(axis=-1, keepdims=True) for trial in trials]).astype(np.float64)
    frequencies, density = estimate_density(signals, rate_hz, 2.0)
    levels = measure_bands(frequencies, density, BANDS_HZ)
    alike = np.concatenate([correlate_pairs(trial) for trial in signals[::4]])
    middle = np.median(levels, axis=(0, 1))
    mu = levels[:, :, 2]
    return {
        "electrodes compared": ", ".join(names),
        "trials": str(len(signals)),
        "deviation of a channel within a trial (µV)": describe_spread(signals.std(axis=-1).ravel(), 1),
        **{
            f"{low:g} to {high:g} Hz (dB µV²/Hz, median)": f"{value:.1f}"
            for (low, high), value in zip(BANDS_HZ, middle, strict=True)
        },
        "slope of the spectrum, 2 to 40 Hz (power of the frequency)": describe_spread(
            measure_slope(frequencies, density, 2.0, 40.0).ravel()
        ),
        "deviation of 8 to 13 Hz from trial to trial (dB)": describe_spread(mu.std(axis=0), 1),
        "largest sample of a trial (µV)": describe_spread(np.abs(signals).max(axis=(1, 2)), 0),
        "correlation of two electrodes": describe_spread(alike),
    }
