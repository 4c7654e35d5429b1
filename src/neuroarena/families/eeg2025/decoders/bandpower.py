"""Logarithms of band power: one number per channel and band."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.features.blocks import check_block
from neuroarena.recordings.requests import check_rate

BANDS_HZ = ((1.0, 4.0), (4.0, 8.0), (8.0, 13.0), (13.0, 20.0), (20.0, 30.0), (30.0, 45.0))


@dataclass(frozen=True)
class LogBandPower:
    """Turn each channel into the logarithm of its power in some bands.

    The signal is cut into frames of `frame_samples` (a shorter signal is one frame), each multiplied with a Hann
    window; powers are averaged over the frames and the frequencies of a band, low <= f < high.

    Parameters
    ----------
    bands_hz : tuple of (float, float)
    frame_samples : int
        Samples of a frame.
    floor : float
        Added to the power before the logarithm, in squared units of the signal per Hz, so that a flat channel
        has a finite value.

    Raises
    ------
    InputError
        When called, for a band without a frequency.

    Examples
    --------
    >>> from neuroarena.recordings import channel_table
    >>> tone = np.sin(2 * np.pi * 10 * np.arange(200) / 100, dtype=np.float32)[None, None]
    >>> powers, _ = LogBandPower()(tone, channel_table(["Oz"]), 100.0)
    >>> powers.shape, int(powers[0, 0].argmax())
    ((1, 1, 6), 2)
    """

    bands_hz: tuple[tuple[float, float], ...] = BANDS_HZ
    frame_samples: int = 200
    floor: float = 1e-4

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Transform a block (window, channel, time) to (window, channel, band)."""
        block = check_block(signals, channels, "LogBandPower", time_series=True)
        rate = check_rate(rate_hz, "LogBandPower")
        size = min(self.frame_samples, block.shape[2])
        frequencies = np.fft.rfftfreq(size, 1 / rate)
        members = [np.flatnonzero((frequencies >= low) & (frequencies < high)) for low, high in self.bands_hz]
        for (low, high), own in zip(self.bands_hz, members, strict=True):
            if not own.size:
                raise InputError(
                    f"LogBandPower: {size} samples at {rate:g} Hz have no frequency from {low:g} to {high:g} Hz. "
                    "Use longer windows, or wider bands."
                )
        window = np.hanning(size + 1)[:-1].astype(np.float32)
        scale = 2.0 / (rate * float((window**2).sum()))
        frames = block.shape[2] // size
        power = np.zeros((*block.shape[:2], len(self.bands_hz)))
        # Frame by frame: a person's fifteen minutes are never held a second time.
        for frame in range(frames):
            piece = block[:, :, frame * size : (frame + 1) * size]
            piece = (piece - piece.mean(axis=2, keepdims=True)) * window
            spectrum = np.abs(np.fft.rfft(piece, axis=2)) ** 2
            for band, own in enumerate(members):
                power[:, :, band] += spectrum[:, :, own].mean(axis=2)
        return np.log(power * (scale / frames) + self.floor).astype(np.float32), channels
