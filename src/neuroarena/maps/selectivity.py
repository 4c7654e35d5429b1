"""Where the power of a signal differs between two kinds of items: a t test, and the null that slow signals need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from neuroarena.maps.inference import adjust_fdr


@dataclass(frozen=True, eq=False)
class Selectivity:
    """What distinguishes items of class 1 from those of class 0, electrode by electrode.

    Attributes
    ----------
    t : array (electrodes,)
        Of a two-sample test with one variance; positive where class 1 is stronger.
    q_plain : array (electrodes,)
        Its p values, adjusted for the false discovery rate: as published, and wrong for items that are not independent.
    q : array (electrodes,)
        The same from shifted labels, two-sided.
    """

    t: np.ndarray
    q_plain: np.ndarray
    q: np.ndarray


def band_power_db(windows: np.ndarray, rate_hz: float, low_hz: float, high_hz: float) -> np.ndarray:
    """Return the power of windows (..., samples) within a band, in decibels of their squared unit.

    Examples
    --------
    >>> time = np.arange(256) / 2048
    >>> wave = np.stack([np.sin(2 * np.pi * 104 * time), 10 * np.sin(2 * np.pi * 104 * time)])
    >>> band_power_db(wave, 2048, 70, 300).round(1).tolist()
    [-3.0, 17.0]
    """
    n_samples = windows.shape[-1]
    centred = windows - windows.mean(axis=-1, keepdims=True)
    spectrum = np.abs(np.fft.rfft(centred, axis=-1)) ** 2
    frequencies = np.fft.rfftfreq(n_samples, 1 / rate_hz)
    inside = (frequencies >= low_hz) & (frequencies <= high_hz)
    # Parseval: twice the one-sided sum over the squared length is the mean square.
    power = 2 * spectrum[..., inside].sum(axis=-1) / n_samples**2
    return np.asarray(10 * np.log10(np.maximum(power, np.finfo(np.float64).tiny)))


def find_selectivity(values: np.ndarray, labels: np.ndarray, shifts: np.ndarray) -> Selectivity:
    """Compare two classes of items in every electrode.

    Parameters
    ----------
    values : array (items, electrodes)
        In time order.
    labels : array (items,)
        0 or 1.
    shifts : int array (draws,)
        Circular shifts of the labels; one for all electrodes.
    """
    labels = np.asarray(labels)
    values = np.asarray(values, dtype=np.float64)
    observed = _t_values(values, labels[np.newaxis])[0]
    places = (np.arange(len(labels)) - np.asarray(shifts)[:, np.newaxis]) % len(labels)
    drawn = np.abs(_t_values(values, labels[places]))
    above = (drawn >= np.abs(observed) - 1e-9).sum(axis=0)
    plain = 2 * student.sf(np.abs(observed), len(labels) - 2)
    return Selectivity(observed, adjust_fdr(plain), adjust_fdr((1 + above) / (1 + len(shifts))))


def _t_values(values: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return t (draws, electrodes) for rows of labels (draws, items)."""
    centred = values - values.mean(axis=0)
    ones = labels.astype(np.float64)
    n_one = ones.sum(axis=1, keepdims=True)
    n_zero = labels.shape[1] - n_one
    sum_one = ones @ centred
    squares = (centred**2).sum(axis=0)
    mean_one, mean_zero = sum_one / n_one, -sum_one / n_zero
    within = squares - n_one * mean_one**2 - n_zero * mean_zero**2
    spread = np.sqrt(within / (labels.shape[1] - 2) * (1 / n_one + 1 / n_zero))
    difference = mean_one - mean_zero
    return np.asarray(np.divide(difference, spread, out=np.zeros_like(difference), where=spread > 0))
