"""BrainBERT's front end: spectrograms of 40 frequencies in the recipes that were published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.encoders.shapes import BINS
from neuroarena.families.neuroprobe.encoders.superlets import superlet_magnitudes
from neuroarena.features.blocks import check_block
from neuroarena.recordings.requests import check_rate

RATE_HZ = 2048.0
SEGMENT, HOP = 400, 50
Recipe = Literal["pipeline", "demo", "untrimmed", "superlet"]
RECIPES: tuple[str, ...] = get_args(Recipe)


class _Rule(NamedTuple):
    """How a recipe treats the ends of a window."""

    boundary: bool
    trim: int
    trim_first: bool


_RULES = {
    "pipeline": _Rule(True, 10, False),
    "demo": _Rule(True, 5, True),
    "untrimmed": _Rule(False, 0, True),
    "superlet": _Rule(True, 5, True),
}


@dataclass(frozen=True)
class BrainBertSpectra:
    """Turn each electrode into a spectrogram (frame, 40 frequencies from 0 to 199.68 Hz).

    Frames of 400 samples (periodic Hann) every 50 samples at 2048 Hz; magnitude.

    Parameters
    ----------
    recipe
        "pipeline": the window is extended by 200 zeros on both sides, z-scored, then 10 frames are
        trimmed at each end (training, fine-tuning, frozen features, PopT). "demo": 5 frames are
        trimmed, then z-scored. "untrimmed": no extension, no trimming (Neuroprobe's frozen baseline:
        34 frames per second). "superlet": fractional adaptive superlets instead of Fourier frames.
    zscore
        Whether each frequency of each electrode is z-scored over the frames of its own window. False
        keeps the magnitudes of the remaining frames, for statistics that are learned.

    Raises
    ------
    InputError
        For an unknown recipe; when called, for another rate than 2048 Hz, a window that leaves no
        frame, or signals that are not finite.

    Examples
    --------
    >>> BrainBertSpectra().n_frames(10240), BrainBertSpectra("untrimmed").n_frames(2048)
    (186, 34)
    """

    recipe: Recipe = "pipeline"
    zscore: bool = True

    def __post_init__(self) -> None:
        if self.recipe not in RECIPES:
            raise InputError(
                f'BrainBertSpectra: recipe must be one of {", ".join(RECIPES)}, got "{self.recipe}".'
            )

    def rate_after(self, rate_hz: float) -> float:
        """Return the frames per second."""
        return check_rate(rate_hz, "BrainBertSpectra") / HOP

    def n_frames(self, n_samples: int) -> int:
        """Count the frames of a window; zero or less where it is too short."""
        rule = _RULES[self.recipe]
        if self.recipe == "superlet":
            return -(-n_samples // HOP) - 2 * rule.trim
        length = n_samples + (SEGMENT if rule.boundary else 0)
        return -(-(length - SEGMENT) // HOP) + 1 - 2 * rule.trim

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Transform a block (window, channel, time) to (window, channel, frame, 40)."""
        block = check_block(signals, channels, "BrainBertSpectra", time_series=True)
        if check_rate(rate_hz, "BrainBertSpectra") != RATE_HZ:
            raise InputError(
                f"BrainBERT reads signals at {RATE_HZ:g} Hz, got {rate_hz:g} Hz. Resample the recording first."
            )
        frames = self.n_frames(block.shape[2])
        if frames < 1:
            raise InputError(
                f'BrainBERT: windows of {block.shape[2]} samples leave no frame with the recipe "{self.recipe}". '
                "Use longer windows."
            )
        result = np.empty((*block.shape[:2], frames, BINS), dtype=np.float32)
        # One window at a time: the frames of one take 16 MB for 120 electrodes, and its numbers do not
        # depend on the windows it is computed with.
        for place, window in enumerate(block):
            if not np.isfinite(window).all():
                raise InputError(f"BrainBERT: window {place} of this block holds NaN or infinity.")
            result[place] = self._spectra(window.astype(np.float64))
        return result, channels

    def _spectra(self, window: np.ndarray) -> np.ndarray:
        rule = _RULES[self.recipe]
        if self.recipe == "superlet":
            values = superlet_magnitudes(window, RATE_HZ)[:, ::HOP]
        else:
            values = stft_magnitudes(window, rule.boundary)
        kept = slice(rule.trim, values.shape[1] - rule.trim)
        if not self.zscore:
            return values[:, kept]
        return zscored(values[:, kept]) if rule.trim_first else zscored(values)[:, kept]


def stft_magnitudes(signals: np.ndarray, boundary: bool) -> np.ndarray:
    """Return magnitudes (channel, frame, 40) of signals (channel, time), as scipy.signal.stft scales them."""
    from scipy.fft import rfft

    edge = SEGMENT // 2 if boundary else 0
    length = signals.shape[-1] + 2 * edge
    padded = np.zeros((len(signals), length + -(length - SEGMENT) % HOP))
    padded[:, edge : edge + signals.shape[-1]] = signals
    frames = np.lib.stride_tricks.sliding_window_view(padded, SEGMENT, axis=1)[:, ::HOP]
    hann = 0.5 - 0.5 * np.cos(2 * np.pi / SEGMENT * np.arange(SEGMENT))
    spectrum = rfft(frames * hann, axis=-1)[..., :BINS]
    magnitudes: np.ndarray = np.abs(spectrum) / hann.sum()
    return magnitudes


def zscored(values: np.ndarray) -> np.ndarray:
    """Z-score each electrode and frequency over its frames: (channel, frame, frequency).

    A frequency that does not vary becomes zeros; a window in which nothing varies anywhere, ones.
    """
    spread = values.std(axis=1, keepdims=True)
    result: np.ndarray = (values - values.mean(axis=1, keepdims=True)) / np.where(spread == 0, 1.0, spread)
    return result if np.ptp(result) > 0 else np.ones_like(result)
