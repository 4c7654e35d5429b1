"""The headers of EDF, BDF and GDF files: enough to tell a whole file from a damaged one."""

from __future__ import annotations

import dataclasses
import struct
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from neuroarena.errors import InputError

_Read = Callable[[int], bytes]

# Bytes of each GDF sample type: integers of 1 to 8 bytes, floats, and 24 bits.
_GDF_BYTES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 8, 8: 8, 16: 4, 17: 8, 279: 3, 535: 3}
_ANNOTATIONS = {"EDF Annotations", "BDF Annotations"}
# Enough to see what a conversion of line ends does, without reading a long file to its end.
_EVIDENCE_BYTES = 16 * 2**20
# Recordings hold a byte pair CR LF about once in 256 line feeds; none among this many is no accident.
_MANY_LINE_FEEDS = 4096


@dataclass(frozen=True)
class DataRecords:
    """How the samples lie in the file: records one after the other, each with all the signals.

    Attributes
    ----------
    labels : tuple of str
        Name of each signal as the file spells it.
    samples : tuple of int
        Samples of each signal in one record.
    sample_bytes : tuple of int
        Bytes of a sample of each signal.
    n_records : int
        Number of records. While a file is being recorded its header says -1: then as many as lie whole in it.
    header_bytes : int
        Where the first record begins.
    """

    labels: tuple[str, ...]
    samples: tuple[int, ...]
    sample_bytes: tuple[int, ...]
    n_records: int
    header_bytes: int

    @property
    def record_bytes(self) -> int:
        """Bytes of one record."""
        return sum(count * size for count, size in zip(self.samples, self.sample_bytes, strict=True))

    @property
    def file_bytes(self) -> int:
        """Bytes that header and records take."""
        return self.header_bytes + self.n_records * self.record_bytes

    @property
    def only_annotations(self) -> bool:
        """Whether no signal is in the file, as in the hypnograms of Sleep-EDF."""
        return _ANNOTATIONS.issuperset(self.labels)

    def slower(self) -> list[str]:
        """Name the signals with fewer samples per record than the fastest, ignoring annotations."""
        signals = [
            (label, count)
            for label, count in zip(self.labels, self.samples, strict=True)
            if label not in _ANNOTATIONS
        ]
        fastest = max((count for _, count in signals), default=0)
        return [label for label, count in signals if count < fastest]


def read_data_records(path: Path) -> DataRecords:
    """Read the header of an EDF, BDF or GDF file and check that the file is as long as it says.

    Raises
    ------
    InputError
        When the header cannot be understood, or the size of the file does not match it; the message states
        both sizes and the likely cause. A GDF file may be longer: its table of events follows the records.
    """
    try:
        with open(path, "rb") as file:
            start = file.read(256)
            is_gdf = start[:3] == b"GDF"
            records = _gdf(file.read, start) if is_gdf else _edf(file.read, start)
    except (ValueError, struct.error, KeyError, IndexError) as error:
        raise InputError(
            f"{path.name}: its header cannot be read as {path.suffix[1:].upper()} "
            f"(cut short, or of another format): {error}"
        ) from error
    size = path.stat().st_size
    if records.n_records == -1:
        return _still_recording(path, records, size)
    excess = size - records.file_bytes
    if excess < 0 or (excess > 0 and not is_gdf):
        what = "is cut short" if excess < 0 else "is longer than its header says"
        raise InputError(
            f"{path.name}: {what}: {records.n_records} data records take {records.file_bytes} bytes with the "
            f"header, but the file has {size} bytes. {_likely_cause(path, excess)}"
        )
    return records


def _still_recording(path: Path, records: DataRecords, size: int) -> DataRecords:
    """Count the whole records of a file whose recorder never wrote how many there are."""
    n_records, rest = divmod(size - records.header_bytes, records.record_bytes)
    if n_records < 1:
        raise InputError(
            f"{path.name}: holds no whole data record; its header says -1, so it is still being recorded."
        )
    unfinished = f" and {rest} bytes of an unfinished one, which are left out" if rest else ""
    warnings.warn(
        f"{path.name}: its header does not say how many data records there are (-1, as while recording); "
        f"it holds {n_records}{unfinished}.",
        stacklevel=3,
    )
    return dataclasses.replace(records, n_records=n_records)


def _likely_cause(path: Path, excess: int) -> str:
    """Name the likely cause of a wrong size, and what to do about it."""
    with open(path, "rb") as file:
        begin = file.read(_EVIDENCE_BYTES)
    feeds, pairs = begin.count(b"\n"), begin.count(b"\r\n")
    if excess > 0 and feeds == pairs > 0:
        return (
            "Every line feed in it follows a carriage return: it was copied as text, which converts line ends "
            "and shifts all samples behind them. Fetch it again as a binary file."
        )
    if excess < 0 and pairs == 0 and feeds >= _MANY_LINE_FEEDS:
        return (
            "No line feed in it follows a carriage return: it was probably copied as text, which converts line "
            "ends and shifts all samples behind them. Fetch it again as a binary file."
        )
    if excess < 0:
        return "The likely cause is an interrupted download. Fetch it again."
    return "It was damaged on the way, or something was appended to it. Fetch it again."


def warn_of_slower(path: Path, records: DataRecords) -> list[str]:
    """Name the signals that are left out because they are slower than the others, and return them."""
    slower = records.slower()
    if slower:
        warnings.warn(
            f"{path.name}: left out {', '.join(slower)}: recorded at a lower rate than the other signals.",
            stacklevel=6,
        )
    return slower


def _edf(read: _Read, start: bytes) -> DataRecords:
    is_bdf = start[:8] == b"\xffBIOSEMI"
    if not is_bdf and start[:8] != b"0       ":
        raise ValueError("it does not begin as an EDF or BDF file does")
    header_bytes, n_records, n_signals = int(start[184:192]), int(start[236:244]), int(start[252:256])
    if n_signals < 1 or header_bytes != 256 * (n_signals + 1):
        raise ValueError(f"{n_signals} signals do not fit a header of {header_bytes} bytes")
    if n_records < -1:
        raise ValueError(f"the number of data records cannot be {n_records}")
    signals = _whole(read, 256 * n_signals)
    samples = tuple(int(field) for field in _fields(signals, 216 * n_signals, 8, n_signals))
    _check_counts(samples)
    return DataRecords(
        labels=_labels(signals, n_signals),
        samples=samples,
        sample_bytes=(3 if is_bdf else 2,) * n_signals,
        n_records=n_records,
        header_bytes=header_bytes,
    )


def _gdf(read: _Read, start: bytes) -> DataRecords:
    version = float(start[4:8])
    (n_records,) = struct.unpack_from("<q", start, 236)
    if version < 1.9:
        (header_bytes,) = struct.unpack_from("<q", start, 184)
        (n_signals,) = struct.unpack_from("<I", start, 252)
    else:
        header_bytes = 256 * struct.unpack_from("<H", start, 184)[0]
        (n_signals,) = struct.unpack_from("<H", start, 252)
    if not 1 <= n_signals <= 65535 or header_bytes < 256 * (n_signals + 1) or n_records < 0:
        raise ValueError(
            f"{n_signals} signals and {n_records} records do not fit a header of {header_bytes} bytes"
        )
    signals = _whole(read, 256 * n_signals)
    samples = struct.unpack_from(f"<{n_signals}I", signals, 216 * n_signals)
    _check_counts(samples)
    types = struct.unpack_from(f"<{n_signals}I", signals, 220 * n_signals)
    return DataRecords(
        labels=_labels(signals, n_signals),
        samples=samples,
        sample_bytes=tuple(_GDF_BYTES[code] for code in types),
        n_records=n_records,
        header_bytes=header_bytes,
    )


def _whole(read: _Read, size: int) -> bytes:
    data = read(size)
    if len(data) < size:
        raise ValueError("the file ends inside its header")
    return data


def _fields(data: bytes, offset: int, width: int, count: int) -> list[bytes]:
    return [data[offset + width * index : offset + width * (index + 1)] for index in range(count)]


def _labels(signals: bytes, count: int) -> tuple[str, ...]:
    return tuple(
        field.split(b"\x00")[0].decode("latin-1").strip() for field in _fields(signals, 0, 16, count)
    )


def _check_counts(samples: tuple[int, ...]) -> None:
    if min(samples) < 0 or max(samples) < 1:
        raise ValueError(f"the samples of a record cannot be {samples}")
