"""Steps along the time of a window: cut its ends off, subtract its level before the event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block
from neuroarena.recordings.requests import check_rate


@dataclass(frozen=True)
class Crop:
    """Cut the same number of seconds off both ends of every window.

    Windows that are read longer, filtered and then cut have no trace of the filter's beginning.

    Parameters
    ----------
    ends_s
        Seconds to cut off at each end.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["Cz"]})
    >>> Crop(0.5)(np.zeros((1, 1, 400), dtype=np.float32), table, 100.0)[0].shape
    (1, 1, 300)
    """

    ends_s: float

    def __post_init__(self) -> None:
        if not 0 < self.ends_s < np.inf:
            raise InputError(f"Crop: ends_s must be a positive number of seconds, got {self.ends_s!r}.")

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Cut a block (window, channel, time)."""
        block = check_block(signals, channels, "Crop", time_series=True)
        ends = round(self.ends_s * check_rate(rate_hz, "Crop"))
        if 2 * ends >= block.shape[2]:
            raise InputError(
                f"Crop: {self.ends_s:g} s at each end leave nothing of windows of {block.shape[2]} samples at "
                f"{rate_hz:g} Hz."
            )
        return block[:, :, ends : block.shape[2] - ends], channels


@dataclass(frozen=True)
class Baseline:
    """Subtract the mean of a stretch, such as the time before an event, from each channel of every window.

    Parameters
    ----------
    start_s, stop_s
        The stretch, in seconds from the beginning of the window.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["Cz"]})
    >>> Baseline(0, 0.02)(np.array([[[1, 3, 5, 7]]], dtype=np.float32), table, 100.0)[0].tolist()
    [[[-1.0, 1.0, 3.0, 5.0]]]
    """

    start_s: float
    stop_s: float

    def __post_init__(self) -> None:
        if not 0 <= self.start_s < self.stop_s < np.inf:
            raise InputError(
                f"Baseline: expected 0 <= start_s < stop_s, got {self.start_s!r} and {self.stop_s!r}."
            )

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Treat a block (window, channel, time)."""
        block = check_block(signals, channels, "Baseline", time_series=True)
        rate = check_rate(rate_hz, "Baseline")
        stretch = block[:, :, round(self.start_s * rate) : round(self.stop_s * rate)]
        if not stretch.shape[2] or self.stop_s * rate > block.shape[2] + 0.5:
            raise InputError(
                f"Baseline: {self.start_s:g} to {self.stop_s:g} s is no stretch of windows of {block.shape[2]} samples "
                f"at {rate:g} Hz."
            )
        level = stretch.mean(axis=2, keepdims=True, dtype=np.float64)
        return (block - level).astype(np.float32), channels
