"""Read windows of BDF files straight from disk: 24-bit samples, without a library in between."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from neuroarena.errors import InputError
from neuroarena.fingerprint import file_digest
from neuroarena.recordings.blocks import Source
from neuroarena.recordings.data_records import DataRecords, read_data_records
from neuroarena.recordings.paths import existing_file

_ANNOTATIONS = "BDF Annotations"
_MICROVOLTS = {"uV": 1.0, "µV": 1.0, "nV": 1e-3, "mV": 1e3, "V": 1e6}
# Where the fields of all signals begin in the header, in units of the number of signals, and their widths.
_UNIT, _PHYSICAL_MIN, _PHYSICAL_MAX, _DIGITAL_MIN, _DIGITAL_MAX = 96, 104, 112, 120, 128
# Records are converted for this many samples at a time, so that the integers stay in the cache.
_RUN_SAMPLES = 1 << 18


class NotPlain(InputError):
    """A BDF file that only a larger reader can read: signals of several rates, or none in volts."""


class BdfSource(Source):
    """Samples of a BDF file whose signals all have the same rate, in microvolts.

    Parameters
    ----------
    path : path
        The file.

    Attributes
    ----------
    labels : tuple of str
        Names of the signals, without annotations.
    rate_hz : float

    Raises
    ------
    NotPlain
        When its signals differ in rate or are not voltages.
    InputError
        When the file is missing, truncated or not BDF.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path).absolute()
        self.name = self.path.name
        records = read_data_records(self.path)
        fields = _Header(self.path, len(records.labels))
        self._rows = np.array(
            [row for row, label in enumerate(records.labels) if label != _ANNOTATIONS], dtype=np.intp
        )
        self.labels = tuple(records.labels[row] for row in self._rows)
        self._samples = _equal_samples(records, self._rows, self.name)
        self._n_records, self._first = records.n_records, records.header_bytes
        self._record_bytes = 3 * sum(records.samples)
        # Where each signal begins in a record, in bytes.
        begins = 3 * np.concatenate([[0], np.cumsum(records.samples)[:-1]])
        self._begins = begins[self._rows]
        self._gain, self._offset = _scales(fields, self._rows, self.labels, self.name)
        self.rate_hz = self._samples / fields.record_s

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.labels)

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel."""
        return self._n_records * self._samples

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        step = max(1, _RUN_SAMPLES // self._samples // max(1, len(indices)))
        first, last = start // self._samples, -(-stop // self._samples)
        gain, offset = self._gain[indices, None, None], self._offset[indices, None, None]
        for record in range(first, last, step):
            end = min(record + step, last)
            values = self._integers(record, end, indices) * gain
            values += offset
            flat = values.reshape(len(indices), -1)
            begin = record * self._samples
            low, high = max(start, begin), min(stop, end * self._samples)
            out[:, low - start : high - start] = flat[:, low - begin : high - begin]
        return out

    def _integers(self, first: int, last: int, indices: np.ndarray) -> np.ndarray:
        """Return the stored integers of whole records: int32 (channels, records, samples)."""
        # Mapped again for every read: thousands of recordings are held open, and a process may map only so many.
        stored = np.memmap(self.path, dtype=np.uint8, mode="r")
        # A 24-bit number is the upper three bytes of the 32-bit one that begins a byte earlier; the byte
        # before the first sample belongs to the header. Shifting right drops it and keeps the sign.
        shape = (last - first, self._samples)
        origin = self._first - 1 + first * self._record_bytes
        out = np.empty((len(indices), *shape), dtype=np.int32)
        for row, index in enumerate(indices):
            signal = np.ndarray(
                shape,
                dtype="<i4",
                buffer=stored,
                offset=origin + int(self._begins[index]),
                strides=(self._record_bytes, 3),
            )
            np.right_shift(signal, 8, out=out[row])
        return out

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file."""
        return file_digest(self.path)


class _Header:
    """The fields of a BDF header that scale its samples."""

    def __init__(self, path: Path, n_signals: int) -> None:
        with open(path, "rb") as file:
            start, signals = file.read(256), file.read(256 * n_signals)
        if start[:8] != b"\xffBIOSEMI":
            raise InputError(f"{path.name}: does not begin like a BDF file.")
        self.units = [
            field.decode("latin-1").strip("\x00 ") for field in _fields(signals, _UNIT, n_signals).tolist()
        ]
        places = (_PHYSICAL_MIN, _PHYSICAL_MAX, _DIGITAL_MIN, _DIGITAL_MAX)
        try:
            self.limits = np.stack(
                [_fields(signals, place, n_signals).astype(np.float64) for place in places]
            )
        except ValueError as error:
            raise InputError(f"{path.name}: a limit in its header is not a number: {error}.") from error
        if not np.isfinite(self.limits).all():
            raise InputError(f"{path.name}: a limit in its header is not finite.")
        try:
            self.record_s = float(start[244:252])
        except ValueError:
            self.record_s = 0.0
        if not 0 < self.record_s < np.inf:
            raise InputError(
                f"{path.name}: the length of its records is {start[244:252]!r}; expected seconds."
            )


def _fields(signals: bytes, place: int, n_signals: int) -> np.ndarray:
    """Return the eight letters that every signal has at a place of the header, as bytes (signals,)."""
    return np.frombuffer(signals, dtype="S8", count=n_signals, offset=place * n_signals)


def _equal_samples(records: DataRecords, rows: np.ndarray, name: str) -> int:
    counts = {records.samples[row] for row in rows}
    if len(counts) != 1 or records.n_records < 1:
        found = f"{len(counts)} rates" if len(counts) != 1 else f"{records.n_records} records"
        raise NotPlain(f"{name}: its signals have {found}; expected one rate and at least one record.")
    return int(counts.pop())


def _scales(
    fields: _Header, rows: np.ndarray, labels: tuple[str, ...], name: str
) -> tuple[np.ndarray, np.ndarray]:
    physical_min, physical_max, digital_min, digital_max = fields.limits[:, rows]
    for row, label in zip(rows, labels, strict=True):
        if fields.units[row] not in _MICROVOLTS:
            raise NotPlain(
                f'{name}: the unit of signal "{label}" is "{fields.units[row]}"; '
                f"expected one of {', '.join(_MICROVOLTS)}."
            )
    if (digital_max <= digital_min).any():
        label = labels[int((digital_max <= digital_min).argmax())]
        raise InputError(f'{name}: the digital limits of signal "{label}" are not in ascending order.')
    unit = np.array([_MICROVOLTS[fields.units[row]] for row in rows])
    gain = (physical_max - physical_min) / (digital_max - digital_min)
    return gain * unit, (physical_min - digital_min * gain) * unit
