"""Windows that were cut already, such as epochs, read as one recording: window after window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.recordings.arrays import array_digest, cast
from neuroarena.recordings.channels import channel_table
from neuroarena.recordings.recording import Recording


class StackedSource:
    """Some windows of an array (windows, channels, time), one after the other; a memory map is not loaded.

    Parameters
    ----------
    array : array (windows, channels, time)
        Integers or floats.
    rows : sequence of int
        Which windows, in their order.
    name : str
        What errors call it.
    """

    def __init__(self, array: Any, rows: Sequence[int], name: str) -> None:
        self.name = name
        self.array = check_stack(array, name)
        self.rows = np.asarray(rows, dtype=np.intp)

    @property
    def length(self) -> int:
        """Samples of a window."""
        return int(self.array.shape[2])

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return int(self.array.shape[1])

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel, over all windows."""
        return len(self.rows) * self.length

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        for place in range(start // self.length, -(-stop // self.length)):
            begin = place * self.length
            low, high = max(start, begin), min(stop, begin + self.length)
            window = self._window(int(self.rows[place]))[indices, low - begin : high - begin]
            cast(window, out[:, low - start : high - start], self.name)
        return out

    def _window(self, row: int) -> np.ndarray:
        window: np.ndarray = self.array[row]
        return window

    def fingerprint(self) -> str:
        """Return a hash of the windows and their order."""
        return digest([array_digest(self._window(int(row))) for row in self.rows])

    def __getstate__(self) -> dict[str, Any]:
        # Another process needs the windows of this recording only.
        kept = np.ascontiguousarray(self.array[self.rows])
        return {"name": self.name, "array": kept, "rows": np.arange(len(self.rows))}


def check_stack(array: Any, name: str) -> np.ndarray:
    """Check that `array` is (windows, channels, time) of real numbers; a memory map is not loaded.

    Raises
    ------
    InputError
    """
    values = np.asarray(array)
    if values.ndim != 3 or not values.size:
        raise InputError(
            f"{name}: expected an array (windows, channels, time) that is not empty, got {values.shape}."
        )
    if values.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected real numbers, got an array of type {values.dtype}.")
    return values


def from_windows(
    array: Any,
    rate_hz: float,
    channels: Sequence[str] | pd.DataFrame | None = None,
    name: str = "windows",
    *,
    rows: Sequence[int] | None = None,
    kind: str = "eeg",
) -> Recording:
    """Make a recording of windows that were cut already: window after window, each of equal length.

    Parameters
    ----------
    array : array (windows, channels, time)
        Integers or floats; a memory map is not loaded.
    rate_hz : float
        Samples per second.
    channels : list of str or channel table, optional
        Names, or a whole table; "ch0", "ch1", ... when left out.
    name : str
        What errors call the recording.
    rows : sequence of int, optional
        Only these windows, in this order.
    kind : str
        Kind of the channels where no table is given.

    Examples
    --------
    >>> stack = np.arange(12.0).reshape(3, 2, 2)
    >>> from_windows(stack, rate_hz=10.0, rows=[2, 0]).read(0, 4).tolist()
    [[8.0, 9.0, 0.0, 1.0], [10.0, 11.0, 2.0, 3.0]]
    """
    values = check_stack(array, name)
    source = StackedSource(values, range(len(values)) if rows is None else rows, name)
    if not isinstance(channels, pd.DataFrame):
        names = [f"ch{index}" for index in range(source.n_channels)] if channels is None else channels
        channels = channel_table(names, kind=kind)
    return Recording(source, channels, rate_hz)
