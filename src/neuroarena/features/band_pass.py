"""Keep a band of frequencies: the filter behind every step that looks at rhythms, and a step of its own."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block, window_slices
from neuroarena.recordings.requests import check_rate

# scipy.signal takes most of a second to import and is needed only when a filter runs.

# Filtering is done in float64, in runs of this size (of float32), so that no second copy of a large block is made.
RUN_BYTES = 8 << 20


@dataclass(frozen=True)
class BandPass:
    """Keep the frequencies of a band, by a Butterworth filter run forward and backward (zero phase).

    Every window is filtered by itself, so that its first and last moments are less well filtered than its middle:
    read longer windows and cut the ends off afterwards with :class:`.Crop` where that matters.

    Parameters
    ----------
    low_hz, high_hz
        Edges of the band. 0 keeps everything below `high_hz`, infinity everything above `low_hz`.
    order
        Order of the filter.

    Raises
    ------
    InputError
        When the edges do not rise, or keep everything; when called, for an edge at or above half the sampling rate,
        or windows too short to filter.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["Cz"]})
    >>> time = np.arange(1000) / 250
    >>> mixed = (np.sin(2 * np.pi * 10 * time) + np.sin(2 * np.pi * 60 * time)).astype(np.float32)
    >>> kept, _ = BandPass(8, 12)(mixed[None, None], table, 250.0)
    >>> bool(np.abs(kept[0, 0] - np.sin(2 * np.pi * 10 * time))[250:750].max() < 0.02)
    True
    """

    low_hz: float
    high_hz: float
    order: int = 4

    def __post_init__(self) -> None:
        if not 0 <= self.low_hz < self.high_hz:
            raise InputError(
                f"BandPass: a band is a rising pair of numbers from 0 on, got {self.low_hz!r} to {self.high_hz!r} Hz."
            )
        if self.low_hz == 0 and np.isinf(self.high_hz):
            raise InputError("BandPass: 0 to infinity keeps every frequency. Leave the step out.")
        if not 1 <= self.order <= 10:
            raise InputError(f"BandPass: order must be from 1 to 10, got {self.order!r}.")
        # Infinity has no JSON form, and the fingerprint of a step is made of JSON.
        object.__setattr__(self, "high_hz", 0.0 if np.isinf(self.high_hz) else float(self.high_hz))
        object.__setattr__(self, "low_hz", float(self.low_hz))

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Filter a block (window, channel, time)."""
        block = check_block(signals, channels, "BandPass", time_series=True)
        rate = check_rate(rate_hz, "BandPass")
        result = np.empty_like(block, order="C")
        for run in window_slices(len(block), block[:1].nbytes, RUN_BYTES):
            result[run] = keep_band(block[run], (self.low_hz, self.high_hz), self.order, rate, "BandPass")
        return result, channels


def keep_band(block: np.ndarray, band: tuple[float, float], order: int, rate: float, step: str) -> np.ndarray:
    """Filter a block along time.

    Parameters
    ----------
    block : array (window, channel, time)
    band : pair of float
        Edges in Hz; an edge of 0 is open.
    order : int
    rate : float
        Samples per second.
    step : str
        Who asks, for messages.

    Returns
    -------
    float64 array (window, channel, time)
        Without the mean of each window, unless the lower edge is open.

    Raises
    ------
    InputError
        For a band that reaches half the sampling rate, or windows too short to filter.
    """
    from scipy.signal import sosfiltfilt

    if max(band) >= rate / 2:
        raise InputError(
            f"{step}: the band up to {max(band):g} Hz is not below half the sampling rate of {rate:g} Hz. "
            "Name only bands below it."
        )
    sections = _sections(band, order, rate)
    # What sosfiltfilt needs at each end: three times the coefficients of all sections.
    if block.shape[2] <= 3 * (2 * len(sections) + 1):
        raise InputError(f"{step}: windows of {block.shape[2]} samples are too short to filter.")
    means = block.mean(axis=2, keepdims=True, dtype=np.float64)
    filtered = np.asarray(sosfiltfilt(sections, block - means, axis=2))
    return filtered if band[0] else filtered + means


@functools.lru_cache(maxsize=256)
def _sections(band: tuple[float, float], order: int, rate: float) -> np.ndarray:
    """Design a filter; remembered, because designing takes longer than filtering a few windows."""
    from scipy.signal import butter

    low, high = band
    if low and high:
        return np.asarray(butter(order, band, "bandpass", fs=rate, output="sos"))
    kind = "highpass" if low else "lowpass"
    return np.asarray(butter(order, low or high, kind, fs=rate, output="sos"))
