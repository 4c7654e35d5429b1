"""Shared by the built-in encoders: frames and segments of maps in time, and logarithms that stay finite."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.families.transfer.decoders.contract import LONGEST

# EMG frames: this many per second, as emg2qwerty's own front end has them.
FRAMES_A_SECOND = 125.0
# A frame is shown with what was heard 64 and 32 ms before it.
LAGS = (8, 4, 0)
# Frames whose powers are averaged: 32 ms.
BLOCK = 4
# Windows up to this long may hold an evoked response: its course is encoded in means of 50 ms.
SHORT_S, COURSE_S = 2.0, 0.05
_FLOOR = 1e-6


def asks_for_frames(channels: pd.DataFrame) -> bool:
    """Return whether a vector is required for every frame: all channels are EMG."""
    return bool((channels["kind"] == "emg").all())


def quiet_log(power: np.ndarray) -> np.ndarray:
    """Take the logarithm of powers, finite for silence."""
    logged: np.ndarray = np.log(power + _FLOOR)
    return logged


def edges(samples: int, parts: int) -> np.ndarray:
    """Cut samples into parts that are as equal as possible: int (parts + 1,).

    Examples
    --------
    >>> edges(10, 4).tolist()
    [0, 2, 5, 7, 10]
    """
    return (np.arange(parts + 1) * samples) // parts


def segment_means(maps: np.ndarray, parts: int) -> np.ndarray:
    """Average maps over equal segments of time: (..., samples) to (..., parts)."""
    parts = max(1, min(parts, maps.shape[-1]))
    cuts = edges(maps.shape[-1], parts)
    sums = np.add.reduceat(maps, cuts[:-1], axis=-1)
    means: np.ndarray = sums / np.diff(cuts)
    return means


def frames_of(powers: np.ndarray) -> np.ndarray:
    """Turn powers of frames into vectors of frames: log mean of 32 ms, at three lags.

    Parameters
    ----------
    powers : array (n, maps, frames)

    Returns
    -------
    float32 array (n, frames, 3 maps)
    """
    frames = powers.shape[-1]
    padded = np.concatenate([powers, np.repeat(powers[..., -1:], BLOCK - 1, axis=-1)], axis=-1)
    block = sum(padded[..., shift : shift + frames] for shift in range(BLOCK)) / BLOCK
    logged = quiet_log(np.asarray(block))
    places = [np.maximum(np.arange(frames) - lag, 0) for lag in LAGS]
    stacked = np.concatenate([logged[..., place] for place in places], axis=1)
    return np.ascontiguousarray(stacked.swapaxes(1, 2), dtype=np.float32)


def frame_powers(maps: np.ndarray, rate_hz: float) -> np.ndarray:
    """Return the mean square of maps in every frame: (n, maps, samples) to (n, maps, frames)."""
    frames = max(1, round(maps.shape[-1] / rate_hz * FRAMES_A_SECOND))
    return segment_means(np.square(maps), frames)


def most_parts(maps: int, wanted: int, besides: int = 0) -> int:
    """Return how many segments of this many maps fit into a vector."""
    return max(1, min(wanted, (LONGEST - besides) // max(maps, 1)))
