"""Steps for brain rhythms: covariances and power in frequency bands, correlation with a flicker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.band_pass import keep_band
from neuroarena.features.blocks import check_block
from neuroarena.recordings.channels import channel_table
from neuroarena.recordings.requests import check_rate

# scipy.signal takes most of a second to import and is needed only when one of these steps runs.


@dataclass(frozen=True)
class BandCovariances:
    """Covariance of the channels in each of several frequency bands, over the whole window.

    Parameters
    ----------
    bands_hz
        Lower and upper edge of each band; the filter is a Butterworth run forward and backward.
    order
        Order of the filter.
    shrinkage
        How far each covariance is drawn to a multiple of the identity, which keeps it positive definite.

    Raises
    ------
    InputError
        When a band is not a rising pair of positive numbers, or a number is out of range; when called, for a
        band that reaches half the sampling rate or a window too short to filter.

    Examples
    --------
    >>> table = channel_table(["C3", "C4"], kind="eeg")
    >>> noise = np.random.default_rng(0).standard_normal((5, 2, 400)).astype(np.float32)
    >>> BandCovariances(((8.0, 13.0), (13.0, 30.0)))(noise, table, 100.0)[0].shape
    (5, 2, 2, 2)
    """

    bands_hz: tuple[tuple[float, float], ...] = ((4.0, 8.0), (8.0, 14.0), (14.0, 25.0), (25.0, 35.0))
    order: int = 4
    shrinkage: float = 0.02

    def __post_init__(self) -> None:
        bands = tuple((float(low), float(high)) for low, high in self.bands_hz)
        object.__setattr__(self, "bands_hz", bands)
        check_bands(bands, "BandCovariances")
        if not 0 <= self.shrinkage <= 1:
            raise InputError(f"BandCovariances: shrinkage must be from 0 to 1, got {self.shrinkage!r}.")

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, channel, band, channel)."""
        block = check_block(signals, channels, "BandCovariances", time_series=True)
        rate = check_rate(rate_hz, "BandCovariances")
        n_channels = block.shape[1]
        out = np.empty((len(block), n_channels, len(self.bands_hz), n_channels), dtype=np.float32)
        for number, band in enumerate(self.bands_hz):
            filtered = keep_band(block, band, self.order, rate, "BandCovariances")
            covariance = filtered @ filtered.swapaxes(1, 2) / filtered.shape[2]
            mean_power = np.trace(covariance, axis1=1, axis2=2)[:, np.newaxis, np.newaxis] / n_channels
            # A silent window would be singular; a hundredth of a microvolt stands in for it.
            target = np.maximum(mean_power, 1e-4) * np.eye(n_channels)
            out[:, :, number] = (1 - self.shrinkage) * covariance + self.shrinkage * target
        return out, channels


@dataclass(frozen=True)
class BandPower:
    """Logarithm of the power of each channel in each of several frequency bands.

    Parameters
    ----------
    bands_hz
        Lower and upper edge of each band.
    order
        Order of the Butterworth filter, which is run forward and backward.

    Examples
    --------
    >>> table = channel_table(["O1"], kind="eeg")
    >>> wave = np.sin(2 * np.pi * 13 * np.arange(1024) / 256)[None, None].astype(np.float32)
    >>> low, high = BandPower(((12.5, 13.5), (20.5, 21.5)))(wave, table, 256.0)[0][0, 0]
    >>> bool(low > high + 5)
    True
    """

    bands_hz: tuple[tuple[float, float], ...]
    order: int = 2

    def __post_init__(self) -> None:
        bands = tuple((float(low), float(high)) for low, high in self.bands_hz)
        object.__setattr__(self, "bands_hz", bands)
        check_bands(bands, "BandPower")

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, channel, band)."""
        block = check_block(signals, channels, "BandPower", time_series=True)
        rate = check_rate(rate_hz, "BandPower")
        out = np.empty((*block.shape[:2], len(self.bands_hz)), dtype=np.float32)
        for number, band in enumerate(self.bands_hz):
            filtered = keep_band(block, band, self.order, rate, "BandPower")
            out[:, :, number] = np.log(np.maximum((filtered**2).mean(axis=2), 1e-20))
        return out, channels


@dataclass(frozen=True)
class FlickerCorrelation:
    """Canonical correlations of a window with sines and cosines at each of several frequencies.

    Parameters
    ----------
    frequencies_hz
        Frequencies at which something flickered.
    harmonics
        Number of multiples of each frequency used together, including the frequency itself.
    n_correlations
        How many correlations of each frequency are kept, the largest first.
    band_hz
        The windows are filtered to this band first; its upper edge is lowered to 0.45 times the rate.

    Notes
    -----
    Canonical correlation for steady-state responses: Lin et al. (2006), IEEE Trans. Biomed. Eng. 53, 2610.

    Examples
    --------
    >>> table = channel_table(["O1", "O2"], kind="eeg")
    >>> time = np.arange(1024) / 256
    >>> noise = np.random.default_rng(0).standard_normal((1, 2, 1024))
    >>> wave = (noise + np.sin(2 * np.pi * 13 * time)).astype(np.float32)
    >>> found, _ = FlickerCorrelation((13.0, 17.0), n_correlations=1)(wave, table, 256.0)
    >>> found.shape, bool(found[0, 0, 0] > 2 * found[0, 0, 1])
    ((1, 1, 2), True)
    """

    frequencies_hz: tuple[float, ...]
    harmonics: int = 2
    n_correlations: int = 2
    band_hz: tuple[float, float] = (7.0, 60.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies_hz", tuple(float(value) for value in self.frequencies_hz))
        object.__setattr__(self, "band_hz", tuple(float(value) for value in self.band_hz))
        check_bands((self.band_hz,), "FlickerCorrelation")
        if not self.frequencies_hz or min(self.frequencies_hz) <= 0:
            raise InputError(
                f"FlickerCorrelation: frequencies_hz must be positive, got {self.frequencies_hz}."
            )
        if self.harmonics < 1 or not 1 <= self.n_correlations <= 2 * self.harmonics:
            raise InputError(
                "FlickerCorrelation: harmonics must be at least 1 and n_correlations from 1 to twice as many, "
                f"got {self.harmonics} and {self.n_correlations}."
            )

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, 1, correlation)."""
        block = check_block(signals, channels, "FlickerCorrelation", time_series=True)
        rate = check_rate(rate_hz, "FlickerCorrelation")
        if max(self.frequencies_hz) * self.harmonics >= rate / 2:
            raise InputError(
                f"FlickerCorrelation: the highest harmonic, {max(self.frequencies_hz) * self.harmonics:g} Hz, is not "
                f"below half the sampling rate of {rate:g} Hz. Ask for fewer harmonics."
            )
        band = (self.band_hz[0], min(self.band_hz[1], 0.45 * rate))
        filtered = keep_band(block, band, 3, rate, "FlickerCorrelation")
        filtered -= filtered.mean(axis=2, keepdims=True)
        own = np.linalg.qr(filtered.swapaxes(1, 2))[0]
        kept = min(self.n_correlations, block.shape[1])
        found = []
        for frequency in self.frequencies_hz:
            reference = self._reference(frequency, block.shape[2], rate)
            found.append(
                np.linalg.svd(own.swapaxes(1, 2) @ reference, compute_uv=False)[:, np.newaxis, :kept]
            )
        return np.concatenate(found, axis=2).astype(np.float32), channel_table(["flicker"], kind="misc")

    def _reference(self, frequency: float, n_samples: int, rate: float) -> np.ndarray:
        """Compute an orthonormal basis of the sines and cosines: float64 (time, 2 x harmonics)."""
        time = np.arange(n_samples) / rate
        waves = [
            wave(2 * np.pi * frequency * harmonic * time)
            for harmonic in range(1, self.harmonics + 1)
            for wave in (np.sin, np.cos)
        ]
        columns = np.stack(waves, axis=1)
        return np.asarray(np.linalg.qr(columns - columns.mean(axis=0))[0])


def check_bands(bands: Sequence[tuple[float, float]], step: str) -> None:
    """Refuse bands that are not rising pairs of positive numbers; `step` begins the sentence."""
    if not bands:
        raise InputError(f"{step}: bands_hz is empty. Name at least one band.")
    for low, high in bands:
        if not 0 < low < high < np.inf:
            raise InputError(
                f"{step}: a band must be a rising pair of positive numbers, got ({low}, {high})."
            )
