"""From chosen rows of a session's tables to windows of samples, at any offset from the onset."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError

RATE_HZ = 2048
WINDOW_SAMPLES = 2048

Offset = tuple[float, float]

# One second from the onset: the window of the benchmark.
WHOLE_SECOND: Offset = (0.0, 1.0)


@dataclass(frozen=True)
class Items:
    """The items of a task in their published order: parallel arrays, one entry per item.

    Attributes
    ----------
    rows : int array
        Row of the word table, or of the non-verbal table where `nonverbal` is true.
    nonverbal : bool array
    labels : int array
    """

    rows: np.ndarray
    nonverbal: np.ndarray
    labels: np.ndarray

    def __len__(self) -> int:
        return len(self.rows)

    def first(self, n: int) -> Items:
        """Keep the first `n` items."""
        return Items(self.rows[:n], self.nonverbal[:n], self.labels[:n])


def time_bins(
    start_s: float = -0.5, stop_s: float = 1.5, *, window_s: float = 0.25, stride_s: float = 0.125
) -> tuple[Offset, ...]:
    """List the time bins of the published time courses, as offsets for ``load(..., offset_s=...)``.

    Bins of 0.25 s start every 0.125 s from -0.5 to 1.125 s after the onset. As published, a bin that
    would end exactly at `stop_s` is not among them.

    Examples
    --------
    >>> bins = time_bins()
    >>> len(bins), bins[0], bins[-1]
    (14, (-0.5, -0.25), (1.125, 1.375))
    """
    if window_s <= 0 or stride_s <= 0:
        raise InputError(f"Time bins need a window and a stride above 0 s, got {window_s} and {stride_s}.")
    count = max(0, math.ceil(round((stop_s - window_s - start_s) / stride_s, 9)))
    starts = [start_s + stride_s * number for number in range(count)]
    return tuple((start, start + window_s) for start in starts)


def check_offset(offset_s: Sequence[float]) -> Offset:
    """Check a pair of offsets in seconds, the first before the second.

    Raises
    ------
    InputError
        When the pair is not two increasing finite numbers.
    """
    try:
        begin, end = (float(value) for value in offset_s)
    except (TypeError, ValueError):
        raise InputError(
            f"offset_s is {offset_s!r}; expected two numbers, seconds from the onset, such as (0.0, 1.0)."
        ) from None
    if not (math.isfinite(begin) and math.isfinite(end)) or _samples(begin) >= _samples(end):
        raise InputError(
            f"offset_s is ({begin}, {end}); expected two finite numbers, the first at least a sample below the second."
        )
    return begin, end


def windows_of(
    items: Items,
    words: pd.DataFrame,
    nonverbal: pd.DataFrame,
    offset_s: Sequence[float] = WHOLE_SECOND,
    *,
    shift_nonverbal: bool = True,
) -> pd.DataFrame:
    """Cut a window around the onset of every item.

    Parameters
    ----------
    items : Items
    words, nonverbal : DataFrame
        With the column ``est_idx``, samples.
    offset_s : pair of float
        The window is ``[est_idx + first, est_idx + second)``, rounded to samples.
    shift_nonverbal : bool
        Whether the windows without speech move with the offset; in 2025.07 they keep their start and
        change only their length.

    Returns
    -------
    DataFrame
        ``start``, ``stop`` (samples) and ``label``, one row per item.

    Raises
    ------
    InputError
        For a table without onsets, or an onset that is not a number.
    """
    begin, end = (_samples(seconds) for seconds in check_offset(offset_s))
    onset = np.empty(len(items), dtype=np.int64)
    for table, name, chosen in (
        (words, "word", ~items.nonverbal),
        (nonverbal, "non-verbal", items.nonverbal),
    ):
        if chosen.any():
            onset[chosen] = _onsets(table, name, items.rows[chosen])
    shift = np.where(items.nonverbal & (not shift_nonverbal), 0, begin)
    start = onset + shift
    return pd.DataFrame({"start": start, "stop": start + (end - begin), "label": items.labels})


def _onsets(table: pd.DataFrame, name: str, rows: np.ndarray) -> np.ndarray:
    if "est_idx" not in table.columns:
        raise InputError(f'The {name} table lacks the column "est_idx".')
    onsets: np.ndarray = pd.to_numeric(table["est_idx"], errors="coerce").to_numpy(dtype=float)[rows]
    if not np.isfinite(onsets).all():
        row = int(rows[np.flatnonzero(~np.isfinite(onsets))[0]])
        raise InputError(
            f'The {name} table: "est_idx" of row {row} is not a finite number but {table["est_idx"].iloc[row]!r}.'
        )
    whole: np.ndarray = onsets.astype(np.int64)  # cut, not rounded, as published
    return whole


def _samples(seconds: float) -> int:
    return round(seconds * RATE_HZ)
