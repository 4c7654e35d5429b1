"""An untrained encoder: seeded random mixtures of channels under seeded random convolutions."""

from __future__ import annotations

import hashlib
from typing import ClassVar

import numpy as np
import pandas as pd
from numpy.lib.stride_tricks import sliding_window_view

from neuroarena.errors import InputError
from neuroarena.families.transfer.decoders.pooling import (
    asks_for_frames,
    frame_powers,
    frames_of,
    segment_means,
)

MOST_CHANNELS, MIXTURES, KERNELS, LENGTH = 256, 8, 8, 25
SEGMENTS = 10
SEED = 20260

_WINDOWS_AT_ONCE = 4


class RandomConvolutions:
    """Mix channels at random, convolve at random, rectify and average: the floor of track 5.

    Channels are mixed by the first rows of one matrix, in the order of the table, so that the weights are
    the same for any number of channels.

    Parameters
    ----------
    seed : int
    """

    untrained: ClassVar[bool] = True

    def __init__(self, seed: int = SEED) -> None:
        rng = np.random.default_rng(seed)
        self.mixing = rng.standard_normal((MOST_CHANNELS, MIXTURES)).astype(np.float32)
        kernels = rng.standard_normal((LENGTH, KERNELS))
        self.kernels = (kernels / np.linalg.norm(kernels, axis=0)).astype(np.float32)

    def weights_hash(self) -> str:
        """Hash both matrices."""
        return hashlib.sha256(self.mixing.tobytes() + self.kernels.tobytes()).hexdigest()

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        """Encode windows: float32 (n, 640), or (n, frames, 192) for EMG.

        Raises
        ------
        InputError
            For more channels than the matrix has rows.
        """
        if signals.shape[1] > MOST_CHANNELS:
            raise InputError(
                f"RandomConvolutions: got {signals.shape[1]} channels, expected at most {MOST_CHANNELS}."
            )
        frames = asks_for_frames(channels)
        parts = [
            self._encode(signals[first : first + _WINDOWS_AT_ONCE], rate_hz, frames)
            for first in range(0, len(signals), _WINDOWS_AT_ONCE)
        ]
        return np.concatenate(parts)

    def _encode(self, signals: np.ndarray, rate_hz: float, frames: bool) -> np.ndarray:
        centred = signals - signals.mean(axis=2, keepdims=True)
        scale = np.sqrt(np.mean(np.square(centred), axis=(1, 2), keepdims=True)) + 1e-6
        mixing = self.mixing[: signals.shape[1]] / np.sqrt(signals.shape[1])
        mixed = np.einsum("nct,cm->nmt", centred if frames else centred / scale, mixing)
        padded = np.pad(mixed, ((0, 0), (0, 0), (LENGTH // 2, LENGTH // 2)))
        maps = sliding_window_view(padded, LENGTH, axis=2) @ self.kernels
        maps = maps.swapaxes(2, 3).reshape(len(signals), MIXTURES * KERNELS, -1)
        if frames:
            return frames_of(frame_powers(maps, rate_hz))
        pooled = segment_means(np.maximum(maps, 0), SEGMENTS)
        return pooled.reshape(len(signals), -1).astype(np.float32)
