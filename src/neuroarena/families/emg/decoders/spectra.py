"""The front end of emg2qwerty: log power of short frames, as its network was trained on."""

from __future__ import annotations

import numpy as np
import scipy.fft
from numpy.lib.stride_tricks import sliding_window_view

BANDS, ELECTRODES = 2, 16
FRAME, HOP = 64, 16
BINS = FRAME // 2 + 1
_FLOOR = 1e-6


def n_frames(n_samples: int) -> int:
    """Count the complete frames in this many samples.

    Examples
    --------
    >>> n_frames(8000), n_frames(10000), n_frames(63)
    (497, 622, 0)
    """
    return max(0, (n_samples - FRAME) // HOP + 1)


def log_spectrogram(signals: np.ndarray) -> np.ndarray:
    """Turn both wristbands into log power: frames of 64 samples, every 16, no centring.

    Parameters
    ----------
    signals : float32 array (32, samples)
        Left wristband, then right.

    Returns
    -------
    float32 array (frames, 2, 16, 33)
        log10(|X|^2 / 24 + 1e-6) of frames under a periodic Hann window, whose squares sum to 24.
    """
    count = n_frames(signals.shape[1])
    if not count:
        return np.empty((0, BANDS, ELECTRODES, BINS), dtype=np.float32)
    window = (0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)).astype(np.float32)
    frames = sliding_window_view(signals.astype(np.float32, copy=False), FRAME, axis=1)[:, ::HOP][:, :count]
    spectrum = scipy.fft.rfft(frames * window, axis=2)
    power = (spectrum.real**2 + spectrum.imag**2) / np.float32((window**2).sum())
    logged: np.ndarray = np.log10(power + np.float32(_FLOOR))
    return np.ascontiguousarray(logged.transpose(1, 0, 2)).reshape(count, BANDS, ELECTRODES, BINS)
