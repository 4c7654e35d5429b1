"""GDF files, read straight from disk: samples of any type, their units, and the table of events.

MNE-Python reads GDF too, but refuses files whose writer left a number in the header that is not a date (real ECoG
in BIDS has one), does not say which unit a file states, and drops an event at the end of the signal.
"""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.fingerprint import file_digest
from neuroarena.recordings.arrays import cast
from neuroarena.recordings.data_records import DataRecords, read_data_records, warn_of_slower
from neuroarena.recordings.paths import existing_file

_TYPES = {1: "i1", 2: "u1", 3: "<i2", 4: "<u2", 5: "<i4", 6: "<u4", 7: "<i8", 8: "<u8", 16: "<f4", 17: "<f8"}
# Three bytes each, lowest first.
_SIGNED_24, _UNSIGNED_24 = 279, 535
# Volts in the code list of ISO 11073-10101, and its decimal factors.
_VOLT, _FACTOR_BITS = 4256, 31
_FACTORS = {0: 1.0, 18: 1e-3, 19: 1e-6, 20: 1e-9}
_UNITS = {"uV": 1e-6, "mV": 1e-3, "nV": 1e-9, "V": 1.0}
_MARKERS = ("status", "trigger")
_MICROVOLTS = 1e6
# Records are converted for about this many samples at a time, to bound the temporary arrays.
_RUN_SAMPLES = 2**20
# Bytes of one event: position and type; with channel and duration in tables of mode 3.
_EVENT_BYTES = {1: 6, 3: 12}


class GdfSource:
    """Samples of the fastest signals of a GDF file, in microvolts.

    A signal whose unit the file does not state is taken to be stored in volts, as MNE-Python takes it.

    Parameters
    ----------
    path : path
        The file.

    Attributes
    ----------
    names, kinds : list of str
        One per channel; the kind is "eeg" for all but marker channels, because GDF names none.
    rate_hz : float

    Raises
    ------
    InputError
        When the file is missing, cut short, or not GDF.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path).absolute()
        self.name = self.path.name
        records = read_data_records(self.path)
        header = _Header(self.path, records)
        warn_of_slower(self.path, records)
        fastest = max(records.samples)
        self._rows = [row for row, count in enumerate(records.samples) if count == fastest]
        self._per_record, self._first = fastest, records.header_bytes
        self._n_records = records.n_records
        self._record = np.dtype(
            [(f"s{row}", *_field(code, records.samples[row])) for row, code in enumerate(header.types)]
        )
        self._signed = [code == _SIGNED_24 for code in header.types]
        self.rate_hz = fastest / header.record_s
        self.names = _unique([records.labels[row] for row in self._rows])
        self.kinds = ["stim" if name.lower() in _MARKERS else "eeg" for name in self.names]
        self.scale = np.array([1.0 if kind == "stim" else _MICROVOLTS for kind in self.kinds])
        self._volts = [header.volts[row] for row in self._rows]
        self._gain, self._offset = header.gain[self._rows], header.offset[self._rows]

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.names)

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel."""
        return self._n_records * self._per_record

    def states_unit(self, row: int) -> bool:
        """Return whether the file says that a channel is a voltage."""
        return self._volts[row] is not None

    def positions(self) -> np.ndarray:
        """Return NaN for every channel: the positions of GDF have no stated frame."""
        return np.full((self.n_channels, 3), np.nan)

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        step = max(1, _RUN_SAMPLES // self._per_record)
        stored = np.memmap(
            self.path, dtype=self._record, mode="r", offset=self._first, shape=(self._n_records,)
        )
        for record in range(start // self._per_record, -(-stop // self._per_record), step):
            part = stored[record : record + step]
            begin = record * self._per_record
            low, high = max(start, begin), min(stop, begin + len(part) * self._per_record)
            for row, index in enumerate(indices):
                values = self._physical(part, int(index)).reshape(-1)[low - begin : high - begin]
                cast(values, out[row, low - start : high - start], self.name)
        return out

    def _physical(self, records: np.ndarray, index: int) -> np.ndarray:
        row = self._rows[index]
        values = records[f"s{row}"]
        if values.ndim == 3:
            wide = values.astype(np.int64)
            values = wide[..., 0] + (wide[..., 1] << 8) + (wide[..., 2] << 16)
            if self._signed[row]:
                values -= (values >> 23) << 24
        physical = values * self._gain[index] + self._offset[index]
        physical *= self._volts[index] or 1.0
        physical *= self.scale[index]
        result: np.ndarray = physical
        return result

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file."""
        return file_digest(self.path)


class _Header:
    """The fields of a GDF header that say how to convert samples."""

    def __init__(self, path: Path, records: DataRecords) -> None:
        count = len(records.labels)
        with open(path, "rb") as file:
            start, signals = file.read(256), file.read(256 * count)
        first_version = float(start[4:8]) < 1.9
        numerator, denominator = struct.unpack_from("<II", start, 244)
        if not denominator:
            raise InputError(f"{path.name}: its header states no duration of a data record.")
        self.record_s = (numerator or 1) / denominator
        self.types = struct.unpack_from(f"<{count}I", signals, 220 * count)
        limits = [np.frombuffer(signals, "<f8", count, place * count) for place in (104, 112)]
        digital = "<i8" if first_version else "<f8"
        limits += [np.frombuffer(signals, digital, count, place * count) for place in (120, 128)]
        physical_min, physical_max, digital_min, digital_max = (limit.astype(np.float64) for limit in limits)
        # Some writers leave equal numbers in both pairs; a range of nothing would scale by 0 / 0.
        with np.errstate(all="ignore"):
            gain = (physical_max - physical_min) / (digital_max - digital_min)
            offset = physical_min - digital_min * gain
        wrong = np.flatnonzero(~np.isfinite(gain) | ~np.isfinite(offset) | (gain == 0))
        if wrong.size:
            raise InputError(
                f"{path.name}: the limits of the signal {records.labels[wrong[0]]} in its header cannot scale samples."
            )
        self.gain, self.offset = gain, offset
        if first_version:
            units = [
                signals[96 * count + 8 * row :][:8].decode("latin-1").strip("\x00 ") for row in range(count)
            ]
            self.volts = [_UNITS.get(unit) for unit in units]
        else:
            codes = struct.unpack_from(f"<{count}H", signals, 102 * count)
            self.volts = [_volts(code) for code in codes]


def _volts(code: int) -> float | None:
    """Return how many volts one unit is, or None for a unit that is not a voltage."""
    return _FACTORS.get(code & _FACTOR_BITS) if code & ~_FACTOR_BITS == _VOLT else None


def _field(code: int, samples: int) -> tuple[str, tuple[int, ...]]:
    return ("u1", (samples, 3)) if code in (_SIGNED_24, _UNSIGNED_24) else (_TYPES[code], (samples,))


def _unique(names: list[str]) -> list[str]:
    """Number the names that occur more than once, as MNE-Python does: EEG-0, EEG-1, ..."""
    seen: dict[str, int] = {}
    made = []
    for name in names:
        if names.count(name) > 1:
            seen[name] = seen.get(name, -1) + 1
            name = f"{name}-{seen[name]}"
        made.append(name)
    return made


def gdf_events(path: Path) -> pd.DataFrame:
    """Read the table of events behind the records of a GDF file.

    Returns
    -------
    DataFrame
        onset_s and duration_s (seconds; one sample where the table has no durations) and description, the code as
        text; in the order of the file. Empty where the file has no table.

    Raises
    ------
    InputError
        When the table is cut short.
    """
    source = GdfSource(path)
    with open(path, "rb") as file:
        start = file.read(8)
        file.seek(read_data_records(path).file_bytes)
        table = file.read()
    onsets, durations, codes = np.empty(0), np.empty(0), np.empty(0, dtype=np.int64)
    mode = table[0] if table else 0
    if mode in _EVENT_BYTES and len(table) >= 8:
        # GDF 1 counts events in the last four bytes of the head, GDF 1.94 and later in the three after the mode.
        count = int.from_bytes(table[4:8] if float(start[4:8]) < 1.94 else table[1:4], "little")
        if len(table) < 8 + _EVENT_BYTES[mode] * count:
            raise InputError(f"{path.name}: its table of {count} events is cut short. Fetch the file again.")
        positions = np.frombuffer(table, "<u4", count, 8).astype(np.int64)
        codes = np.frombuffer(table, "<u2", count, 8 + 4 * count)
        samples = np.frombuffer(table, "<u4", count, 8 + 8 * count) if mode == 3 else np.ones(count)
        # Positions count from one.
        onsets, durations = (positions - 1) / source.rate_hz, np.maximum(samples, 1) / source.rate_hz
    return pd.DataFrame(
        {"onset_s": onsets, "duration_s": durations, "description": [str(code) for code in codes]}
    )
