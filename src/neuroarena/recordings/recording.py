"""A lazily read multichannel signal with its channels and its rate."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.recordings import requests
from neuroarena.recordings.blocks import BlockReader, Source
from neuroarena.recordings.channels import check_channel_table


class Recording:
    """A multichannel signal that is read only where samples are requested.

    Memory depends on the windows requested, not on the file: apart from what is returned, reading takes
    at most 256 MB. Making a recording reads no samples.

    Parameters
    ----------
    source : Source
        Where the samples come from; see :class:`neuroarena.recordings.Source`.
    channels : DataFrame
        The channel table, one row per channel of the source, in its order.
    rate_hz : float
        Samples per second.

    Attributes
    ----------
    channels : DataFrame
        The channel table.
    rate_hz : float
        Samples per second.
    n_samples : int
        Samples of each channel.
    name : str
        What errors call the recording: its file or the name it was given.

    Raises
    ------
    InputError
        When the table does not fit the source, the rate is not a positive number, or there are no samples.

    Examples
    --------
    >>> from neuroarena.recordings import from_array
    >>> recording = from_array(np.arange(20).reshape(2, 10), rate_hz=100.0, channels=["a", "b"])
    >>> recording.windows([7, 0], length=3, channels=["b"])[:, 0].tolist()
    [[17.0, 18.0, 19.0], [10.0, 11.0, 12.0]]
    """

    def __init__(self, source: Source, channels: pd.DataFrame, rate_hz: float) -> None:
        check_channel_table(channels, f"{source.name}: channels")
        if len(channels) != source.n_channels:
            raise InputError(
                f"{source.name}: the channel table has {len(channels)} rows but there are "
                f"{source.n_channels} channels of signal."
            )
        if not len(channels) or source.n_samples < 1:
            raise InputError(
                f"{source.name}: holds {source.n_channels} channels of {source.n_samples} samples; "
                "a recording needs at least one of each."
            )
        self.name: str = source.name
        self.rate_hz = requests.check_rate(rate_hz, source.name)
        self.channels = channels.copy()
        self.n_samples = int(source.n_samples)
        self._source = source
        self._indices = np.arange(len(channels), dtype=np.intp)
        self._names: list[str] = channels["name"].tolist()

    def __repr__(self) -> str:
        return (
            f'<Recording "{self.name}": {len(self.channels)} channels, {self.n_samples} samples '
            f"at {self.rate_hz:g} Hz>"
        )

    @property
    def duration_s(self) -> float:
        """Length in seconds."""
        return self.n_samples / self.rate_hz

    def read(self, start: int, stop: int, channels: Sequence[str] | None = None) -> np.ndarray:
        """Read one stretch.

        Parameters
        ----------
        start, stop : int
            Samples; 0 <= start < stop <= n_samples.
        channels : list of str, optional
            Names of the channels, in the order wanted; all when left out.

        Returns
        -------
        float32 array (channels, stop - start)

        Raises
        ------
        InputError
            When the stretch or a channel is not in the recording.
        """
        start = requests.check_whole_number(start, "start", self.name)
        stop = requests.check_whole_number(stop, "stop", self.name)
        if not 0 <= start < stop <= self.n_samples:
            raise InputError(
                f"{self.name}: cannot read samples {start} to {stop}. "
                f"Expected 0 <= start < stop <= {self.n_samples}."
            )
        samples: np.ndarray = self.windows([start], stop - start, channels)[0]
        return samples

    def windows(self, starts: Any, length: int, channels: Sequence[str] | None = None) -> np.ndarray:
        """Read windows of equal length.

        Parameters
        ----------
        starts : one-dimensional list or array of int
            First sample of each window, in any order; windows may overlap and repeat.
        length : int
            Samples in a window.
        channels : list of str, optional
            Names of the channels, in the order wanted; all when left out.

        Returns
        -------
        float32 array (windows, channels, length)
            In the order of `starts`.

        Raises
        ------
        InputError
            When a window or a channel is not in the recording; the message names it and the limits.
        """
        order, reader = self._plan(starts, length, channels)
        out = np.empty((len(order), len(reader.indices), reader.length), dtype=np.float32)
        reader.fill(0, len(order), out, order)
        return out

    def iter_windows(
        self, starts: Any, length: int, channels: Sequence[str] | None = None, chunk: int = 256
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Iterate over windows of equal length in chunks, in time order.

        Windows are visited in time order so that each stretch of the file is read once. The
        request is checked immediately, before the first chunk is read.

        Parameters
        ----------
        starts, length, channels
            As for :meth:`windows`.
        chunk : int
            Windows in a chunk; the last one may be smaller.

        Yields
        ------
        positions : int64 array (chunk,)
            Which of `starts` these windows are.
        windows : float32 array (chunk, channels, length)

        Raises
        ------
        InputError
            As for :meth:`windows`, and when `chunk` is below one.
        """
        size = requests.check_whole_number(chunk, "chunk", self.name)
        if size < 1:
            raise InputError(f"{self.name}: chunk must be at least one window, got {chunk}.")
        order, reader = self._plan(starts, length, channels)
        return self._chunks(order, reader, size)

    @staticmethod
    def _chunks(order: np.ndarray, reader: BlockReader, size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        def one(first: int) -> tuple[np.ndarray, np.ndarray]:
            last = min(first + size, len(order))
            out = np.empty((last - first, len(reader.indices), reader.length), dtype=np.float32)
            reader.fill(first, last, out, np.arange(last - first))
            return order[first:last], out

        # The chunk lives in one() only, so that the one before is free when the next is made.
        for first in range(0, len(order), size):
            yield one(first)

    def _plan(
        self, starts: Any, length: int, channels: Sequence[str] | None
    ) -> tuple[np.ndarray, BlockReader]:
        samples = requests.check_whole_number(length, "the length of a window", self.name)
        if samples < 1:
            raise InputError(
                f"{self.name}: the length of a window must be at least one sample, got {length}."
            )
        rows = self._rows(channels)
        checked = requests.check_window_starts(starts, samples, self.n_samples, self.name)
        order = np.argsort(checked, kind="stable")
        return order, BlockReader(self._source, self._indices[rows], checked[order], samples)

    def _rows(self, channels: Sequence[str] | None) -> np.ndarray:
        if channels is None:
            return np.arange(len(self._names), dtype=np.intp)
        return requests.find_channel_rows(channels, self._names, self.name)

    def select(self, names: Sequence[str]) -> Recording:
        """Return a view with these channels, in this order; nothing is read or copied.

        Raises
        ------
        InputError
            When a name is unknown or given twice.

        Examples
        --------
        >>> from neuroarena.recordings import from_array
        >>> recording = from_array(np.zeros((3, 5)), rate_hz=10.0, channels=["a", "b", "c"])
        >>> recording.select(["c", "a"]).channels["name"].tolist()
        ['c', 'a']
        """
        rows = self._rows(list(names) if not isinstance(names, str) else names)
        view = type(self).__new__(type(self))
        view.__dict__.update(self.__dict__)
        view.channels = self.channels.iloc[rows].reset_index(drop=True)
        view._indices = self._indices[rows]
        view._names = [self._names[row] for row in rows]
        return view

    def fingerprint(self) -> str:
        """Return a hash of the content: the source, the channels chosen, their table and the rate.

        The table counts because features are computed from it: with a corrected region it is a different recording.
        """
        table = [
            [None if isinstance(value, float) and math.isnan(value) else value for value in row]
            for row in self.channels.itertuples(index=False)
        ]
        return digest(
            {
                "source": self._source.fingerprint(),
                "indices": self._indices.tolist(),
                "channels": table,
                "rate_hz": self.rate_hz,
            }
        )
