"""The signals of an emg2qwerty session: one HDF5 table whose rows hold both wristbands and the time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest, file_digest
from neuroarena.recordings import Recording, channel_table
from neuroarena.recordings.hdf5_handle import Hdf5Handle
from neuroarena.recordings.paths import existing_file

GROUP, TABLE = "emg2qwerty", "timeseries"
BANDS = ("emg_left", "emg_right")
ELECTRODES = 16
RATE_HZ = 2000.0
CLOCK = "time"
# Times are read in runs: a session of an hour holds 58 MB of them.
_RUN = 1 << 20


class WristbandSource:
    """Both wristbands of a session file, 32 channels: the left one's 16 electrodes, then the right one's.

    Fields are found by name, so that their order and further fields do not matter. The file is opened at
    the first read and kept open separately by each process.

    Parameters
    ----------
    path : path
        The session's file.

    Raises
    ------
    InputError
        When the file is missing, is not HDF5, or its table is not as described; the message names file and field.
    """

    n_channels = len(BANDS) * ELECTRODES

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path).absolute()
        self.name = self.path.name
        self._handle = Hdf5Handle(self.path)
        try:
            table = self._table()
            self._check(table)
            self.n_samples = int(table.shape[0])
            # Without a filter HDF5 can read any part of a chunk, so that its borders do not matter.
            packed = table.chunks and table.id.get_create_plist().get_nfilters()
            self.chunk_samples = min(table.chunks[0], max(self.n_samples, 1)) if packed else 1
        finally:
            self._handle.close()

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        table = self._table()
        if table.shape != (self.n_samples,):
            raise InputError(f"{self.name}: {GROUP}/{TABLE} has changed since it was opened.")
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        needed = [band for number, band in enumerate(BANDS) if np.any(indices // ELECTRODES == number)]
        # Both bands in one read: the chunks of a compressed table are then unpacked once.
        samples = self._read(table, needed, start, stop)
        for band in needed:
            rows = np.flatnonzero(indices // ELECTRODES == BANDS.index(band))
            out[rows] = samples[band][:, indices[rows] % ELECTRODES].T
        if not np.isfinite(out).all():
            row, sample = np.argwhere(~np.isfinite(out))[0]
            raise InputError(
                f"{self.name}: sample {start + sample} of channel {indices[row]} is not a finite float32 number."
            )
        return out

    def times(self, stop: int | None = None) -> np.ndarray:
        """Read the clock: Unix seconds of every sample, or of the first ones up to `stop`, float64 (n,).

        Raises
        ------
        InputError
            When a time is not finite, or earlier than the one before.
        """
        table = self._table()
        end = self.n_samples if stop is None else min(stop, self.n_samples)
        if not end:
            raise InputError(f"{self.name}: {GROUP}/{TABLE} holds no samples.")
        runs = [
            self._read(table, [CLOCK], start, min(start + _RUN, end))[CLOCK] for start in range(0, end, _RUN)
        ]
        self._handle.close()
        times = np.concatenate(runs).astype(np.float64)
        wrong = np.flatnonzero(~np.isfinite(times))
        if len(wrong):
            raise InputError(f"{self.name}: the time of sample {wrong[0]} is not a finite number.")
        backwards = np.flatnonzero(np.diff(times) < 0)
        if len(backwards):
            raise InputError(
                f"{self.name}: the time of sample {backwards[0] + 1} is earlier than that of the sample before. "
                "Times must not decrease."
            )
        return times

    def attributes(self, names: Sequence[str] | None = None) -> dict[str, Any]:
        """Read the attributes of the group, or those of the given names that exist; text as str."""
        self._table()
        try:
            there = self._handle.open()[GROUP].attrs
            found = {
                name: _plain(there[name]) for name in (there if names is None else names) if name in there
            }
        except (OSError, RuntimeError, ValueError, UnicodeDecodeError) as error:
            raise InputError(f"{self.name}: the attributes of {GROUP} cannot be read: {error}") from error
        finally:
            self._handle.close()
        return found

    def fingerprint(self) -> str:
        """Return a hash of the file's content."""
        return digest({"file": file_digest(self.path), "bands": BANDS})

    def _read(self, table: Any, fields: list[str], start: int, stop: int) -> np.ndarray:
        try:
            values: np.ndarray = table.fields(fields)[start:stop]
        except (OSError, RuntimeError, ValueError) as error:
            raise InputError(f"{self.name}: samples {start} to {stop} cannot be read: {error}") from error
        return values

    def _check(self, table: Any) -> None:
        where = f"{self.name}: {GROUP}/{TABLE}"
        kind = table.dtype
        if len(table.shape or ()) != 1 or kind.names is None:
            raise InputError(
                f"{where}: expected a one-dimensional table of the fields {', '.join(BANDS)} and {CLOCK}, "
                f"got the shape {table.shape} of {kind}."
            )
        for field, shape in ((BANDS[0], (ELECTRODES,)), (BANDS[1], (ELECTRODES,)), (CLOCK, ())):
            if field not in kind.names:
                raise InputError(f"{where}: has no field {field}; its fields are {', '.join(kind.names)}.")
            found = kind[field]
            if found.shape != shape or found.base.kind not in "iuf":
                raise InputError(f"{where}: field {field} must hold numbers of shape {shape}, got {found}.")

    def _table(self) -> Any:
        found = self._handle.open().get(f"{GROUP}/{TABLE}")
        if not isinstance(found, h5py.Dataset):
            raise InputError(
                f'{self.name}: there is no table "{GROUP}/{TABLE}". Check that it is an emg2qwerty session.'
            )
        return found


def _plain(value: Any) -> Any:
    if isinstance(value, bytes):
        return value.decode("utf-8")
    return value.item() if isinstance(value, np.generic) else value


def wristband_channels() -> pd.DataFrame:
    """Make the channel table: L0 to L15 of the left wristband, R0 to R15 of the right one.

    Examples
    --------
    >>> wristband_channels()["name"].tolist()[14:18]
    ['L14', 'L15', 'R0', 'R1']
    """
    names = [f"{side}{electrode}" for side in "LR" for electrode in range(ELECTRODES)]
    regions = [f"{side} wrist" for side in ("left", "right") for _ in range(ELECTRODES)]
    return channel_table(names, kind="emg", region=regions)


def open_wristbands(path: str | Path) -> Recording:
    """Open a session's file as a recording of 32 channels at 2 kHz; no samples are read yet."""
    return Recording(WristbandSource(path), wristband_channels(), RATE_HZ)
