"""Filters along time: line noise and sampling rate."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block, window_slices
from neuroarena.recordings.requests import check_rate

# scipy.signal takes most of a second to import and is needed only when one of these steps runs, so it is
# imported there.

# Filtering is done in float64, in runs of this size (of float32), so that no second copy of a
# large block is made.
RUN_BYTES = 8 << 20
# filtfilt extends a signal by three times the number of coefficients, which is three.
NOTCH_PADDING = 9
LARGEST_FACTOR = 10_000


@dataclass(frozen=True)
class Notch:
    """Remove line noise by second-order notch filters, forward and backward (zero phase).

    Parameters
    ----------
    frequencies_hz
        Frequencies to remove, one after the other.
    q
        Quality factor: the width at half power is frequency / q.

    Raises
    ------
    InputError
        When a parameter is not positive; when called, for a frequency at or above half the sampling
        rate, or windows too short to filter.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A1"]})
    >>> hum = np.sin(2 * np.pi * 60 * np.arange(4096) / 2048).astype(np.float32)
    >>> clean, _ = Notch()(hum[None, None], table, 2048.0)
    >>> bool(np.abs(clean[0, 0, 1024:3072]).max() < 0.01)
    True
    """

    frequencies_hz: tuple[float, ...] = (60, 120, 180, 240, 300)
    q: float = 12.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "frequencies_hz", tuple(self.frequencies_hz))
        for frequency in self.frequencies_hz:
            if not 0 < frequency < np.inf:
                raise InputError(f"Notch: frequencies_hz must be positive, got {frequency!r}.")
        if not self.frequencies_hz:
            raise InputError(
                "Notch: frequencies_hz is empty. Name at least one frequency, or leave the step out."
            )
        if not 0 < self.q < np.inf:
            raise InputError(f"Notch: q must be a positive number, got {self.q!r}.")

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Filter a block (window, channel, time)."""
        from scipy.signal import filtfilt, iirnotch

        block = check_block(signals, channels, "Notch", time_series=True)
        rate = check_rate(rate_hz, "Notch")
        if block.shape[2] <= NOTCH_PADDING:
            raise InputError(
                f"Notch: windows of {block.shape[2]} samples are too short to filter. "
                f"Pass windows of more than {NOTCH_PADDING} samples."
            )
        if max(self.frequencies_hz) >= rate / 2:
            raise InputError(
                f"Notch: {max(self.frequencies_hz):g} Hz is not below half the sampling rate of {rate:g} Hz. "
                "Name only frequencies below it in frequencies_hz."
            )
        coefficients = [iirnotch(frequency, self.q, fs=rate) for frequency in self.frequencies_hz]
        result = np.empty_like(block, order="C")
        for run in window_slices(len(block), block[:1].nbytes, RUN_BYTES):
            filtered = block[run].astype(np.float64)
            for numerator, denominator in coefficients:
                filtered = filtfilt(numerator, denominator, filtered, axis=-1)
            result[run] = filtered
        return result, channels


@dataclass(frozen=True)
class Downsample:
    """Reduce the sampling rate of signals by polyphase filtering.

    Parameters
    ----------
    to_hz
        The new rate. n samples become ceil(n * to_hz / rate_hz).

    Raises
    ------
    InputError
        When `to_hz` is not positive; when called, where it is above the present rate, or the two
        rates have no ratio of whole numbers up to 10,000.

    Examples
    --------
    >>> table = pd.DataFrame({"name": ["A1"]})
    >>> Downsample(512)(np.ones((1, 1, 2048), dtype=np.float32), table, 2048.0)[0].shape
    (1, 1, 512)
    """

    to_hz: float

    def __post_init__(self) -> None:
        if not 0 < self.to_hz < np.inf:
            raise InputError(f"Downsample: to_hz must be a positive number, got {self.to_hz!r}.")

    def rate_after(self, rate_hz: float) -> float:
        """Return the new sampling rate."""
        self._factors(rate_hz)
        return float(self.to_hz)

    def _factors(self, rate_hz: float) -> tuple[int, int]:
        rate = check_rate(rate_hz, "Downsample")
        if self.to_hz > rate:
            raise InputError(
                f"Downsample: to_hz={self.to_hz:g} is above the sampling rate of {rate:g} Hz. "
                "Choose a lower rate, or leave the step out."
            )
        ratio = Fraction(self.to_hz) / Fraction(rate)
        if ratio.denominator > LARGEST_FACTOR:
            # Rates such as 1000 / 3 are not exact in binary: take the ratio they mean, if there is one.
            near = ratio.limit_denominator(LARGEST_FACTOR)
            if abs(near - ratio) > ratio * Fraction(1, 10**9):
                raise InputError(
                    f"Downsample: {self.to_hz!r} Hz and {rate!r} Hz have no ratio of whole numbers up to "
                    f"{LARGEST_FACTOR}. Choose a to_hz that has one."
                )
            ratio = near
        return ratio.numerator, ratio.denominator

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Resample a block (window, channel, time)."""
        from scipy.signal import resample_poly

        block = check_block(signals, channels, "Downsample", time_series=True)
        up, down = self._factors(rate_hz)
        length = -(-block.shape[2] * up // down)
        result = np.empty((*block.shape[:2], length), dtype=np.float32)
        for run in window_slices(len(block), block[:1].nbytes, RUN_BYTES):
            result[run] = resample_poly(block[run], up, down, axis=-1)
        return result, channels
