"""How far a simulated twin resembles real data: the same statistics of both, side by side.

A family describes its data by functions that return *statistics*, a mapping from what was measured to its value as
printed. They take plain tables and arrays, so that real and simulated data are measured by one function;
``tools/twin_tables.py`` calls them and writes the tables of the pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Statistics = Mapping[str, str]
NOT_AT_HAND = "not at hand"
HEAD = ("statistic", "real", "twin")


def describe_spread(values: npt.ArrayLike, digits: int = 2) -> str:
    """Return the median and the quartiles of some values, as printed.

    Examples
    --------
    >>> describe_spread([1, 2, 3, 4, 100], 0)
    '3 (2 to 4)'
    """
    low, middle, high = np.percentile(np.asarray(values, dtype=np.float64), [25, 50, 75])
    return f"{middle:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def measure_distance(first: np.ndarray, second: np.ndarray) -> float:
    """Return Cohen's d: how far `first` lies above `second`, in units of their pooled deviation.

    Examples
    --------
    >>> round(measure_distance(np.array([2.0, 4.0]), np.array([0.0, 2.0])), 3)
    1.414
    """
    free = len(first) + len(second) - 2
    pooled = ((len(first) - 1) * first.var(ddof=1) + (len(second) - 1) * second.var(ddof=1)) / free
    return float((first.mean() - second.mean()) / np.sqrt(pooled))


def correlate_pairs(signals: np.ndarray) -> np.ndarray:
    """Return the correlation of every pair of rows: float (pairs,)."""
    return np.asarray(np.corrcoef(signals)[np.triu_indices(len(signals), 1)])


def estimate_density(windows: np.ndarray, rate_hz: float, segment_s: float) -> tuple[np.ndarray, np.ndarray]:
    """Return frequencies and power per hertz of windows (..., sample), over half-overlapping Hann segments."""
    from scipy.signal import welch

    frequencies, density = welch(windows, rate_hz, nperseg=round(segment_s * rate_hz), axis=-1)
    return np.asarray(frequencies), np.asarray(density)


def measure_bands(
    frequencies: np.ndarray, density: np.ndarray, bands_hz: Sequence[tuple[float, float]]
) -> np.ndarray:
    """Return the mean power per hertz in each band, in decibels: float (..., bands)."""
    within = [(frequencies >= low) & (frequencies < high) for low, high in bands_hz]
    return np.stack([10 * np.log10(density[..., band].mean(axis=-1)) for band in within], axis=-1)


def measure_slope(frequencies: np.ndarray, density: np.ndarray, low: float, high: float) -> np.ndarray:
    """Return by which power of the frequency the density falls or rises between two frequencies: float (...)."""
    within = (frequencies >= low) & (frequencies <= high)
    x = np.log(frequencies[within])
    y = np.log(density[..., within])
    x = x - x.mean()
    return np.asarray((y * x).sum(axis=-1) / (x * x).sum())


def write_table(real: Statistics, twin: Statistics) -> str:
    """Return a table in Markdown: one row per statistic, in the order of the twin, then what only real data have.

    Examples
    --------
    >>> print(write_table({"age": "10"}, {"age": "11", "sex": "1:1"}))
    | statistic | real | twin |
    |---|---|---|
    | age | 10 | 11 |
    | sex | not at hand | 1:1 |
    """
    rows = [HEAD, *((name, real.get(name, NOT_AT_HAND), said) for name, said in twin.items())]
    rows += [(name, said, "-") for name, said in real.items() if name not in twin]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([lines[0], "|---" * len(HEAD) + "|", *lines[1:]])
