"""Short-time Fourier spectrograms, computed for the kept frequencies only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block
from neuroarena.features.fourier import Layout, transform_for
from neuroarena.recordings.requests import check_rate

WINDOWS = ("hann", "boxcar")
OUTPUTS = ("magnitude", "complex-parts")
# Frames are transformed for this many bytes at a time: about 120 signals of 2048 samples, which stay
# in the cache (a quarter of it, or twice as much, was up to an eighth slower). Temporary memory is a
# few times this, whatever the number of windows.
RUN_BYTES = 4 << 20


@dataclass(frozen=True)
class Spectrogram:
    """Turn each channel into a spectrogram (frame, frequency).

    Frames of `window_samples` follow each other by `window_samples - int(window_samples * overlap)`
    samples. The signal is extended by half a frame on both sides by reflection, so that frame i is
    centred on sample i * hop. One-sided, not normalised, no logarithm. The defaults at 2048 Hz are
    Neuroprobe's `stft_abs`: 2048 samples give 17 frames of 38 frequencies (0, 4, ..., 148 Hz).

    Parameters
    ----------
    window_samples
        Samples of a frame, at least 4.
    overlap
        Part of a frame shared with the next, in [0, 1).
    min_hz, max_hz
        Frequencies k * rate_hz / window_samples within these bounds (both included) are kept.
    window
        "hann" (periodic) or "boxcar".
    output
        "magnitude", or "complex-parts": real and imaginary part on a last axis of 2.

    Raises
    ------
    InputError
        When a parameter is out of its range; when called, for signals too short to be reflected,
        or when no frequency lies within the bounds.

    Examples
    --------
    >>> spectrogram = Spectrogram()
    >>> spectrogram.n_frames(2048), len(spectrogram.frequencies_hz(2048.0))
    (17, 38)
    """

    window_samples: int = 512
    overlap: float = 0.75
    min_hz: float = 0.0
    max_hz: float = 150.0
    window: Literal["hann", "boxcar"] = "hann"
    output: Literal["magnitude", "complex-parts"] = "magnitude"

    def __post_init__(self) -> None:
        if not isinstance(self.window_samples, int) or self.window_samples < 4:
            raise InputError(
                "Spectrogram: window_samples must be a whole number of at least 4, "
                f"got {self.window_samples!r}."
            )
        if not 0 <= self.overlap < 1:
            raise InputError(f"Spectrogram: overlap must be in [0, 1), got {self.overlap!r}.")
        if not 0 <= self.min_hz <= self.max_hz < np.inf:
            raise InputError(
                "Spectrogram: expected 0 <= min_hz <= max_hz, "
                f"got min_hz={self.min_hz!r} and max_hz={self.max_hz!r}."
            )
        for field, value, known in (("window", self.window, WINDOWS), ("output", self.output, OUTPUTS)):
            if value not in known:
                raise InputError(f'Spectrogram: {field} must be one of {", ".join(known)}, got "{value}".')

    @property
    def hop_samples(self) -> int:
        """Samples from one frame to the next."""
        return self.window_samples - int(self.window_samples * self.overlap)

    def rate_after(self, rate_hz: float) -> float:
        """Return the number of frames per second."""
        return check_rate(rate_hz, "Spectrogram") / self.hop_samples

    def n_frames(self, n_samples: int) -> int:
        """Count the frames of a signal of `n_samples`.

        Raises
        ------
        InputError
            When the signal is not longer than half a frame: it cannot be reflected that far.
        """
        padding = self.window_samples // 2
        if n_samples <= padding:
            raise InputError(
                f"Spectrogram: windows of {n_samples} samples cannot be reflected by {padding} samples. "
                f"Pass windows of at least {padding + 1} samples, or a smaller window_samples."
            )
        return 1 + (n_samples + 2 * padding - self.window_samples) // self.hop_samples

    def frequencies_hz(self, rate_hz: float) -> np.ndarray:
        """Return the kept frequencies, ascending, in Hz.

        Raises
        ------
        InputError
            When none of them lies within the bounds.
        """
        return self._bins(rate_hz) * float(rate_hz) / self.window_samples

    def _bins(self, rate_hz: float) -> np.ndarray:
        bins = np.arange(self.window_samples // 2 + 1)
        rate = check_rate(rate_hz, "Spectrogram")
        frequency = bins * rate / self.window_samples
        kept = bins[(frequency >= self.min_hz) & (frequency <= self.max_hz)]
        if not kept.size:
            raise InputError(
                f"Spectrogram: no frequency between {self.min_hz:g} and {self.max_hz:g} Hz. "
                f"{self.window_samples} samples at {rate:g} Hz resolve multiples of "
                f"{rate / self.window_samples:g} Hz up to {frequency[-1]:g} Hz."
            )
        return kept

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Transform a block (window, channel, time) to (window, channel, frame, frequency[, 2])."""
        block = check_block(signals, channels, "Spectrogram", time_series=True)
        bins = self._bins(rate_hz)
        frames = self.n_frames(block.shape[2])
        parts = (2,) if self.output == "complex-parts" else ()
        result = np.empty((*block.shape[:2], frames, len(bins), *parts), dtype=np.float32)
        if not result.size:
            return result, channels
        layout = Layout(
            window=self.window,
            size=self.window_samples,
            hop=self.hop_samples,
            first=int(bins[0]),
            last=int(bins[-1]),
            samples=block.shape[2],
            frames=frames,
        )
        runs = _runs(len(block), block.shape[1], RUN_BYTES // (frames * self.window_samples * 4))
        transform = transform_for(layout, *block[runs[0]].shape[:2])
        for run in runs:
            spectrum, target = transform(block[run]), result[run]
            if parts:
                target[..., 0], target[..., 1] = spectrum.real, spectrum.imag
            else:
                np.abs(spectrum, out=target)
        return result, channels


def _runs(n_windows: int, n_channels: int, most_signals: int) -> list[tuple[slice, slice]]:
    """Split windows x channels into runs of up to `most_signals`, whole windows where they fit.

    No run is larger than the first.
    """
    if n_channels <= most_signals:
        step = most_signals // n_channels
        return [(slice(first, first + step), slice(None)) for first in range(0, n_windows, step)]
    step = max(1, most_signals)
    return [
        (slice(window, window + 1), slice(first, first + step))
        for window in range(n_windows)
        for first in range(0, n_channels, step)
    ]
