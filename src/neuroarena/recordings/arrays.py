"""Recordings in memory and in NumPy's own files."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.fingerprint import file_digest
from neuroarena.recordings.channels import channel_table
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.recording import Recording

_HASH_BYTES = 16 * 2**20


class ArraySource:
    """Samples of an existing array, in memory or memory-mapped.

    A memory-mapped array is not loaded, but pickling it is: use :func:`from_npy` to hand a
    recording to other processes by its path.

    Parameters
    ----------
    array : array (channels, time)
        Integers or floats of any width.
    name : str
        What errors call it.

    Raises
    ------
    InputError
        When the array is not two-dimensional, masked, or not made of real numbers.
    """

    def __init__(self, array: Any, name: str) -> None:
        self.name = name
        self.array = check_array(array, name)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return int(self.array.shape[0])

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel."""
        return int(self.array.shape[1])

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        for row, index in enumerate(indices):
            cast(self.array[index, start:stop], out[row], self.name)
        return out

    def fingerprint(self) -> str:
        """Return the SHA-256 over shape, type and bytes."""
        return array_digest(self.array)


class NpySource(ArraySource):
    """Samples in a .npy file, memory-mapped; travels between processes by its path."""

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path)
        super().__init__(_map_npy(self.path), self.path.name)

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file."""
        return file_digest(self.path)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path.absolute()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]


def cast(values: np.ndarray, out: np.ndarray, name: str) -> None:
    """Write `values` into the float32 array `out`, and refuse finite numbers too large for float32."""
    try:
        with np.errstate(over="raise"):
            out[...] = values
    except FloatingPointError as error:
        raise InputError(
            f"{name}: holds a number beyond the range of float32 (3.4e38). Rescale the signal first."
        ) from error


def check_array(array: Any, name: str) -> np.ndarray:
    """Check that `array` is two-dimensional and holds real numbers; a memory map is not loaded."""
    if isinstance(array, np.ma.MaskedArray):
        raise InputError(f"{name}: a masked array would lose its mask. Fill it first, for example with NaN.")
    try:
        values = np.asarray(array)
    except (TypeError, ValueError) as error:
        raise InputError(f"{name}: expected an array (channels, time): {error}.") from error
    if values.ndim != 2:
        raise InputError(f"{name}: expected an array of shape (channels, time), got {values.shape}.")
    if values.dtype.kind not in "iuf":
        raise InputError(f"{name}: expected real numbers, got an array of type {values.dtype}.")
    return values


def array_digest(array: np.ndarray) -> str:
    """Return the SHA-256 over the shape, type and bytes of an array, read in blocks.

    Examples
    --------
    >>> one = np.arange(6.0).reshape(2, 3)
    >>> array_digest(one) == array_digest(np.asfortranarray(one))
    True
    >>> array_digest(one) == array_digest(one.reshape(3, 2))
    False
    """
    sha = hashlib.sha256(f"{array.dtype.str} {array.shape}".encode())
    step = max(1, _HASH_BYTES // array.dtype.itemsize)
    for row in array:
        for start in range(0, len(row), step):
            sha.update(np.ascontiguousarray(row[start : start + step]).tobytes())
    return sha.hexdigest()


def from_array(
    array: Any,
    rate_hz: float,
    channels: Sequence[str] | pd.DataFrame | None = None,
    name: str = "array",
    *,
    kind: str = "ieeg",
) -> Recording:
    """Make a recording from an array.

    Parameters
    ----------
    array : array (channels, time)
        Integers or floats; a memory map is not loaded.
    rate_hz : float
        Samples per second.
    channels : list of str or channel table, optional
        Names, or a whole table; "ch0", "ch1", ... when left out.
    name : str
        What errors call the recording.
    kind : str
        Kind of the channels where no table is given.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        When the array is not (channels, time) of real numbers, or the channels do not fit.

    Examples
    --------
    >>> from_array(np.zeros((2, 500)), rate_hz=250.0)
    <Recording "array": 2 channels, 500 samples at 250 Hz>
    """
    source = ArraySource(array, name)
    return Recording(source, _table(channels, source, kind), rate_hz)


def from_npy(
    path: str | Path,
    rate_hz: float,
    channels: Sequence[str] | pd.DataFrame | None = None,
    *,
    kind: str = "ieeg",
) -> Recording:
    """Open a .npy file (channels, time) as a recording; it is memory-mapped, not loaded.

    Parameters
    ----------
    path : path
        The file.
    rate_hz, channels, kind
        As for :func:`from_array`.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        When the file is missing, cut short, not a .npy file, or holds anything but real numbers.
    """
    source = NpySource(path)
    return Recording(source, _table(channels, source, kind), rate_hz)


def _table(channels: Sequence[str] | pd.DataFrame | None, source: ArraySource, kind: str) -> pd.DataFrame:
    if isinstance(channels, pd.DataFrame):
        return channels
    if channels is None:
        channels = [f"ch{index}" for index in range(source.n_channels)]
    try:
        return channel_table(channels, kind=kind)
    except InputError as error:
        raise InputError(f"{source.name}: {error}") from error


def _map_npy(path: Path) -> np.ndarray:
    try:
        # open_memmap accepts only the .npy format: no pickle, no archive.
        return np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError, OverflowError, TypeError, SyntaxError) as error:
        raise InputError(
            f"{path.name}: cannot be read as a .npy file (cut short, or of another format): {error}"
        ) from error
