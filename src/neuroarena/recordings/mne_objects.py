"""Objects of MNE-Python that are in memory, or opened by someone else, as recordings: Raw and Epochs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.recordings.channels import channel_table
from neuroarena.recordings.mne_files import TABLE_KINDS, MneSource, describe_channels, mne_failures
from neuroarena.recordings.recording import Recording
from neuroarena.recordings.stacked import StackedSource

_HASH_SAMPLES = 2**16


class RawSource(MneSource):
    """Samples of an ``mne.io.Raw``, as it is: filtered, cropped, referenced; what is not loaded stays so.

    Parameters
    ----------
    raw : mne.io.Raw
    name : str
        What errors call it.
    """

    def __init__(self, raw: Any, name: str) -> None:
        self._raw = raw
        self.name = name
        self._describe(raw)

    def states_unit(self, row: int) -> bool:  # noqa: ARG002 - MNE-Python has one unit for every kind
        """Return True: MNE-Python holds voltages in volts."""
        return True

    def fingerprint(self) -> str:
        """Return a hash of the samples, which may have been changed since they were read from a file."""
        content = hashlib.sha256()
        for start in range(0, self.n_samples, _HASH_SAMPLES):
            stop = min(start + _HASH_SAMPLES, self.n_samples)
            content.update(self._read(start, stop, np.arange(self.n_channels)).tobytes())
        return digest([content.hexdigest(), self.kinds])

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)


class EpochsSource(StackedSource):
    """Windows of an ``mne.Epochs``, read when they are requested, in microvolts where they are voltages."""

    def __init__(self, epochs: Any, rows: Sequence[int], name: str) -> None:
        self.name = name
        self.epochs = epochs
        self.rows = np.asarray(rows, dtype=np.intp)
        self.names, self.kinds, self.scale = describe_channels(epochs, name)

    @property
    def length(self) -> int:
        """Samples of an epoch."""
        return len(self.epochs.times)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.names)

    def _window(self, row: int) -> np.ndarray:
        with mne_failures(f"{self.name}: epoch {row} cannot be read"):
            found: np.ndarray = self.epochs.get_data(item=[row], copy=False, verbose="error")
        if found.shape != (1, self.n_channels, self.length):
            raise InputError(f"{self.name}: epoch {row} was rejected as it was read. Call drop_bad() first.")
        window: np.ndarray = found[0] * self.scale[:, np.newaxis]
        return window

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "epochs": self.epochs[self.rows], "rows": np.arange(len(self.rows))}


def from_raw(raw: Any, name: str | None = None) -> Recording:
    """Make a recording of an ``mne.io.Raw``, with all of its channels.

    Voltages are returned in microvolts, as by :func:`neuroarena.recordings.open_file`.

    Parameters
    ----------
    raw : mne.io.Raw
        Loaded or not. What is not loaded is read when it is requested.
    name : str, optional
        What errors call it; by default the name of its file.
    """
    source = RawSource(raw, name or name_raw(raw))
    return _make_recording(source, source.positions(), float(raw.info["sfreq"]))


def name_raw(raw: Any, otherwise: str = "raw") -> str:
    """Return the name of the file that a Raw was read from, without its suffix."""
    files = [file for file in getattr(raw, "filenames", ()) if file is not None]
    return Path(files[0]).stem if files else otherwise


def raw_annotations(raw: Any) -> pd.DataFrame:
    """Return the annotations of a Raw: onset_s from its first sample, duration_s and description."""
    found = raw.annotations
    return pd.DataFrame(
        {
            # MNE counts from when the acquisition began, which may be before the first sample.
            "onset_s": np.asarray(found.onset, dtype=np.float64) - raw.first_time,
            "duration_s": np.asarray(found.duration, dtype=np.float64),
            "description": [str(text) for text in found.description],
        }
    )


def from_epochs(epochs: Any, rows: Sequence[int] | None = None, name: str = "epochs") -> Recording:
    """Make a recording of some epochs, one after the other, with all of their channels.

    Parameters
    ----------
    epochs : mne.Epochs
        Without epochs that would be rejected on reading: call ``drop_bad()`` first.
    rows : sequence of int, optional
        Which epochs, in this order; all when left out.
    name : str
        What errors call it.
    """
    source = EpochsSource(epochs, range(len(epochs)) if rows is None else rows, name)
    positions = np.full((source.n_channels, 3), np.nan)
    montage = epochs.get_montage()
    found = montage.get_positions()["ch_pos"] if montage is not None else {}
    for row, channel in enumerate(source.names):
        positions[row] = found.get(channel, positions[row])
    return _make_recording(source, positions, float(epochs.info["sfreq"]))


def _make_recording(source: RawSource | EpochsSource, positions: np.ndarray, rate_hz: float) -> Recording:
    kinds = [TABLE_KINDS.get(kind, kind) for kind in source.kinds]
    return Recording(source, channel_table(source.names, kind=kinds, xyz=positions), rate_hz)
