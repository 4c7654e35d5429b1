"""Where the windows of both challenges lie, sample by sample."""

from __future__ import annotations

import random

import numpy as np

RATE_HZ = 100
WINDOW = 200
# Challenge 1: from 0.5 to 2.5 s after the stimulus.
SHIFT = 50
# Challenge 2: windows of 4 s every 2 s, each cropped to 2 s.
LONG_WINDOW, STRIDE = 400, 200
CROP_SEED = 42


def stimulus_starts(onsets_s: np.ndarray) -> np.ndarray:
    """Return the first sample of the window that belongs to each stimulus: int64 (n,).

    An onset is rounded to the nearest sample (halves to the even one), as MNE-Python rounds events.

    Examples
    --------
    >>> stimulus_starts(np.array([5.8, 10.004])).tolist()
    [630, 1050]
    """
    return np.rint(np.asarray(onsets_s, dtype=np.float64) * RATE_HZ).astype(np.int64) + SHIFT


def crop_offsets(n: int, seed: int = CROP_SEED) -> np.ndarray:
    """Draw where in its window of 4 s each crop of 2 s begins: samples 0 to 200, both included, int64 (n,).

    The generator is Python's own, seeded anew for every recording: the first windows of all recordings
    are cropped alike.

    Examples
    --------
    >>> crop_offsets(4).tolist()
    [163, 28, 6, 189]
    """
    chance = random.Random(seed)
    return np.array([chance.randint(0, LONG_WINDOW - WINDOW) for _ in range(n)], dtype=np.int64)


def cropped_starts(n_samples: int, seed: int = CROP_SEED) -> np.ndarray:
    """Return the first sample of every cropped window of a recording, in order: int64 (n,).

    Windows of 4 s begin every 2 s; one that would end after the recording is dropped.

    Examples
    --------
    >>> cropped_starts(850).tolist()
    [163, 228, 406]
    >>> cropped_starts(399).tolist()
    []
    """
    whole: np.ndarray = np.arange(0, max(0, n_samples - LONG_WINDOW + 1), STRIDE, dtype=np.int64)
    starts: np.ndarray = whole + crop_offsets(len(whole), seed)
    return starts


def spread_starts(lengths: list[int], n: int) -> tuple[np.ndarray, np.ndarray]:
    """Choose `n` pieces of 2 s, evenly spread over recordings laid end to end.

    Parameters
    ----------
    lengths : list of int
        Samples of each recording.
    n : int
        Number of pieces, at most as many as there are.

    Returns
    -------
    recordings, starts : int64 arrays (n,)
        Which recording each piece lies in, and its first sample.

    Examples
    --------
    >>> recordings, starts = spread_starts([450, 399, 800], 4)
    >>> recordings.tolist(), starts.tolist()
    ([0, 0, 2, 2], [0, 200, 0, 400])
    """
    counts = np.array([length // WINDOW for length in lengths], dtype=np.int64)
    owner = np.repeat(np.arange(len(lengths)), counts)
    start = np.concatenate([np.arange(count) * WINDOW for count in counts]).astype(np.int64)
    chosen = np.arange(n, dtype=np.int64) * len(owner) // n
    return owner[chosen], start[chosen]
