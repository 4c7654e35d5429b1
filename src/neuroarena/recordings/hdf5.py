"""HDF5 files with one dataset per electrode, the way BrainTreebank stores its sessions."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest, file_digest
from neuroarena.recordings import requests
from neuroarena.recordings.arrays import cast
from neuroarena.recordings.hdf5_handle import Hdf5Handle
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.recording import Recording

GROUP = "data"


class ElectrodeSource:
    """Electrodes of an HDF5 file: group "data", one-dimensional datasets "electrode_{i}".

    The file is opened at the first read and kept open by each process for itself; a process that was
    forked or spawned opens it anew.

    Parameters
    ----------
    path : path
        The file.
    indices : sequence of int
        The i of each electrode, in the order of the channels.

    Raises
    ------
    InputError
        When the file or a dataset is missing, broken, or not as described; both are named.
    """

    def __init__(self, path: str | Path, indices: Sequence[int]) -> None:
        self.path = existing_file(path).absolute()
        self.name = self.path.name
        self.electrodes = [self._electrode(index) for index in indices]
        if not self.electrodes:
            raise InputError(f"{self.name}: no electrodes were requested. Pass at least one index.")
        twice = [index for index in self.electrodes if self.electrodes.count(index) > 1]
        if twice:
            raise InputError(f"{self._label(twice[0])}: was requested twice. Request each electrode once.")
        self._handle = Hdf5Handle(self.path)
        try:
            self.n_samples, self.chunk_samples = self._survey()
        finally:
            self.close()

    def _electrode(self, index: Any) -> int:
        number = requests.check_whole_number(index, "the index of an electrode", self.name)
        if number < 0:
            raise InputError(f"{self.name}: the index of an electrode must not be negative, got {number}.")
        return number

    @property
    def n_channels(self) -> int:
        """Number of electrodes chosen."""
        return len(self.electrodes)

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        for row, index in enumerate(indices):
            electrode = self.electrodes[index]
            dataset, label = self._dataset(electrode), self._label(electrode)
            if dataset.shape != (self.n_samples,):
                raise InputError(f"{label}: has changed since it was opened.")
            try:
                samples = dataset[start:stop]
            except (OSError, RuntimeError, ValueError) as error:
                raise InputError(f"{label}: samples {start} to {stop} cannot be read: {error}") from error
            cast(samples, out[row], label)
        return out

    def close(self) -> None:
        """Close the file; the next read opens it anew."""
        self._handle.close()

    def fingerprint(self) -> str:
        """Return a hash of the file's content and of which electrodes were chosen."""
        return digest({"file": file_digest(self.path), "electrodes": self.electrodes})

    def _survey(self) -> tuple[int, int]:
        """Check every dataset, and return the common length and the longest chunk."""
        length, chunk = -1, 1
        for electrode in self.electrodes:
            dataset = self._dataset(electrode)
            label = self._label(electrode)
            if len(dataset.shape or ()) != 1:
                raise InputError(f"{label}: must be one-dimensional, got the shape {dataset.shape}.")
            if dataset.dtype.kind not in "iuf":
                raise InputError(f"{label}: must hold real numbers, got the type {dataset.dtype}.")
            length = dataset.shape[0] if length < 0 else length
            if dataset.shape[0] != length:
                raise InputError(
                    f"{label}: holds {dataset.shape[0]} samples, but {GROUP}/electrode_{self.electrodes[0]} "
                    f"holds {length}. All electrodes must have the same length."
                )
            # Without a filter HDF5 can read any part of a chunk, so that its borders do not matter.
            if dataset.chunks and dataset.id.get_create_plist().get_nfilters():
                chunk = max(chunk, dataset.chunks[0])
        return length, min(chunk, max(length, 1))

    def _dataset(self, electrode: int) -> Any:
        import h5py

        try:
            dataset = self._handle.open().get(f"{GROUP}/electrode_{electrode}")
        except (OSError, RuntimeError, KeyError, ValueError) as error:
            raise InputError(f"{self._label(electrode)}: cannot be read: {error}") from error
        if not isinstance(dataset, h5py.Dataset):
            raise InputError(
                f"{self._label(electrode)}: there is no such dataset. Expected a group "
                f'"{GROUP}" with one-dimensional datasets "electrode_<i>".'
            )
        return dataset

    def _label(self, electrode: int) -> str:
        return f"{self.name}: {GROUP}/electrode_{electrode}"


def open_electrodes(
    path: str | Path, indices: Sequence[int], channels: pd.DataFrame, rate_hz: float = 2048.0
) -> Recording:
    """Open an HDF5 file with one dataset per electrode as a recording.

    Only the shapes are read until samples are requested. A compressed file is read in blocks
    that end where its chunks end, each unpacked about once for windows visited in time order; HDF5
    itself needs the memory of one more chunk.

    Parameters
    ----------
    path : path
        The file; its group "data" holds one-dimensional datasets "electrode_{i}" of equal length and
        any real type.
    indices : sequence of int
        The i of each electrode, in the order of `channels`.
    channels : DataFrame
        The channel table, one row per electrode.
    rate_hz : float
        Samples per second.

    Returns
    -------
    Recording
        In the unit of the file (microvolts for BrainTreebank).

    Raises
    ------
    InputError
        When the file is missing, cut short or not HDF5; a dataset is missing, not one-dimensional,
        not of real numbers, or of another length. File and dataset are named.
    """
    return Recording(ElectrodeSource(path, indices), channels, rate_hz)
