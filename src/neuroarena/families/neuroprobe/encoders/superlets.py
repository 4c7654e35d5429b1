"""Fractional adaptive superlets (Moca et al. 2021), in the settings of BrainBERT's second front end."""

from __future__ import annotations

import numpy as np

FREQUENCIES_HZ = np.linspace(0.1, 200.0, 40)
ORDER_MIN, ORDER_MAX = 3, 30


def superlet_magnitudes(signals: np.ndarray, rate_hz: float) -> np.ndarray:
    """Return the magnitude of every frequency at every sample.

    Parameters
    ----------
    signals : array (channel, time)
    rate_hz : float

    Returns
    -------
    float64 array (channel, time, 40)
        Frequencies from 0.1 to 200 Hz. At each, the geometric mean of the responses of wavelets of
        3 cycles and more, up to an order that grows linearly from 3 to 30.
    """
    span = FREQUENCIES_HZ[-1] - FREQUENCIES_HZ[0]
    orders = ORDER_MIN + (ORDER_MAX - ORDER_MIN) * (FREQUENCIES_HZ - FREQUENCIES_HZ[0]) / span
    result = np.empty((*signals.shape, len(FREQUENCIES_HZ)))
    for place, (frequency, order) in enumerate(zip(FREQUENCIES_HZ, orders, strict=True)):
        result[..., place] = _geometric_mean(signals, frequency, float(order), 1.0 / rate_hz)
    return result


def _geometric_mean(signals: np.ndarray, frequency: float, order: float, dt: float) -> np.ndarray:
    whole = int(np.floor(order))
    share = 1.0 / (order - ORDER_MIN + 1)
    product = np.ones(signals.shape)
    for cycles in range(ORDER_MIN, whole + 1):
        product *= _response(signals, frequency, cycles, dt) ** share
    part = order - whole
    # From the last whole order on there is no next wavelet to contribute a fraction.
    if part > 0 and whole + 1 < ORDER_MAX:
        product *= _response(signals, frequency, whole + 1, dt) ** (part * share)
    return product


def _response(signals: np.ndarray, frequency: float, cycles: int, dt: float) -> np.ndarray:
    """Convolve with a Morlet wavelet of some cycles; the result is centred and as long as the signal."""
    from scipy.signal import fftconvolve

    scale = 1.0 / (2 * np.pi * frequency)
    length = 10 * scale * cycles / dt
    t = np.arange((1 - length) / 2, (length + 1) / 2) * dt
    height = 5.0 / (scale * cycles * (2 * np.pi) ** 1.5) * np.sqrt(dt) / (4 * np.pi)
    wavelet = height * np.exp(1j * t / scale) * np.exp(-0.5 * (5 * t / (2 * np.pi * cycles * scale)) ** 2)
    response: np.ndarray = fftconvolve(signals, wavelet[None], mode="full", axes=-1)
    first = (response.shape[-1] - signals.shape[-1]) // 2
    magnitude: np.ndarray = np.abs(response[:, first : first + signals.shape[-1]])
    return magnitude
