"""Blocks of signals: what every step checks before it runs, and how a large block is divided."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError


def check_block(signals: Any, channels: pd.DataFrame, step: str, *, time_series: bool = False) -> np.ndarray:
    """Return the block as float32 after checking that it fits its channel table.

    Parameters
    ----------
    signals
        Array (window, channel, ...).
    channels
        Channel table, one row for each entry of axis 1.
    step
        The step that asks, named in the error.
    time_series
        Whether the step works along time, and so needs exactly (window, channel, time).

    Returns
    -------
    np.ndarray
        The same array where it is float32 already, else a converted copy.

    Raises
    ------
    InputError
        When the array is not of real numbers, has the wrong number of axes, or disagrees with the table.
    """
    block = np.asarray(signals)
    if block.dtype.kind not in "fiu":
        raise InputError(f"{step}: signals must be real numbers, got {block.dtype}. Convert them to float32.")
    if block.ndim < 3 or (time_series and block.ndim != 3):
        wanted = "(window, channel, time)" if time_series else "(window, channel, time, ...)"
        hint = " Steps along time come before a spectrogram." if block.ndim > 3 else ""
        raise InputError(f"{step}: signals must have axes {wanted}, got shape {block.shape}.{hint}")
    if "name" not in channels:
        raise InputError(
            f'{step}: the channel table has no column "name"; its columns: {list(channels.columns)}.'
        )
    if block.shape[1] != len(channels):
        raise InputError(
            f"{step}: axis 1 of the signals holds {block.shape[1]} channels but the channel table has "
            f"{len(channels)} rows. Select the same channels in both."
        )
    return block.astype(np.float32, copy=False)


def window_slices(n_windows: int, bytes_per_window: int, budget_bytes: int) -> Iterator[slice]:
    """Split axis 0 into runs of windows whose bytes stay within a budget (at least one window per run).

    Examples
    --------
    >>> list(window_slices(5, bytes_per_window=10, budget_bytes=20))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, budget_bytes // max(1, bytes_per_window))
    for first in range(0, n_windows, step):
        yield slice(first, min(first + step, n_windows))
