"""Steps that look at several frequency bands side by side."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.features.band_pass import keep_band
from neuroarena.features.bands import FlickerCorrelation, check_bands
from neuroarena.features.blocks import check_block
from neuroarena.recordings.requests import check_rate

# Each begins a little higher, so that the later ones hold the harmonics alone.
SUB_BANDS_HZ = ((6.0, 60.0), (14.0, 60.0), (22.0, 60.0))


@dataclass(frozen=True)
class FilterBank:
    """Filter windows to several frequency bands.

    Parameters
    ----------
    bands_hz
        Lower and upper edge of each band; upper edges are lowered to 0.45 times the rate.
    order
        Order of the Butterworth filter, which is run forward and backward.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["O1", "O2"]})
    >>> noise = np.random.default_rng(0).standard_normal((3, 2, 512)).astype(np.float32)
    >>> FilterBank(((6.0, 40.0), (14.0, 40.0)))(noise, table, 128.0)[0].shape
    (3, 2, 2, 512)
    """

    bands_hz: tuple[tuple[float, float], ...] = SUB_BANDS_HZ
    order: int = 3

    def __post_init__(self) -> None:
        bands = tuple((float(low), float(high)) for low, high in self.bands_hz)
        object.__setattr__(self, "bands_hz", bands)
        check_bands(bands, "FilterBank")

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, channel, band, time)."""
        block = check_block(signals, channels, "FilterBank", time_series=True)
        rate = check_rate(rate_hz, "FilterBank")
        found = [
            keep_band(block, (low, min(high, 0.45 * rate)), self.order, rate, "FilterBank")
            for low, high in self.bands_hz
        ]
        return np.stack(found, axis=2).astype(np.float32), channels


@dataclass(frozen=True)
class FilterBankCorrelation:
    """Canonical correlations with a flicker in several frequency bands.

    Parameters
    ----------
    frequencies_hz, harmonics, n_correlations
        As for :class:`.FlickerCorrelation`.
    bands_hz
        Lower and upper edge of each band.

    Notes
    -----
    Chen et al. (2015), J. Neural Eng. 12, 046008. What is learned from the correlations takes the place of the
    published weights of the bands.
    """

    frequencies_hz: tuple[float, ...]
    harmonics: int = 3
    n_correlations: int = 1
    bands_hz: tuple[tuple[float, float], ...] = SUB_BANDS_HZ

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies_hz", tuple(float(value) for value in self.frequencies_hz))
        bands = tuple((float(low), float(high)) for low, high in self.bands_hz)
        object.__setattr__(self, "bands_hz", bands)
        check_bands(bands, "FilterBankCorrelation")
        self._steps()

    def _steps(self) -> list[FlickerCorrelation]:
        return [
            FlickerCorrelation(self.frequencies_hz, self.harmonics, self.n_correlations, band)
            for band in self.bands_hz
        ]

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn a block (window, channel, time) into (window, 1, correlation)."""
        made = [step(signals, channels, rate_hz) for step in self._steps()]
        return np.concatenate([found for found, _ in made], axis=2), made[0][1]
