"""EDF, BDF, GDF, EEGLAB, BrainVision and FIF files, read through MNE-Python."""

# No `from __future__ import annotations` here: it would bind the name of a function of this module.

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError, MissingDependency
from neuroarena.fingerprint import digest, file_digest
from neuroarena.recordings.arrays import cast
from neuroarena.recordings.channels import channel_table
from neuroarena.recordings.data_records import read_data_records
from neuroarena.recordings.fif_tags import check_fif
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.recording import Recording

READERS = {
    ".edf": "read_raw_edf",
    ".bdf": "read_raw_bdf",
    ".gdf": "read_raw_gdf",
    ".set": "read_raw_eeglab",
    ".vhdr": "read_raw_brainvision",
    ".fif": "read_raw_fif",
}
_RECORDED = {".edf", ".bdf", ".gdf"}

# What MNE calls a channel -> what the channel table calls it; other names are kept.
_KINDS = {"ecog": "ieeg", "seeg": "ieeg", "dbs": "ieeg", "mag": "meg", "grad": "meg", "bio": "misc"}
# MNE holds these in volts.
_VOLTS = {"eeg", "ecog", "seeg", "dbs", "eog", "emg", "ecg", "bio"}

# MNE reads all the channels of a stretch, as float64 or as stored: 16 MB at a time bounds that.
_READ_VALUES = 2 * 2**20
_BRAINVISION_BYTES = {"INT_16": 2, "INT_32": 4, "IEEE_FLOAT_32": 4}


class MneSource:
    """Samples of a file that MNE-Python reads; nothing is preloaded.

    Parameters
    ----------
    path : path
        The file; for BrainVision its .vhdr, for EEGLAB its .set, for a split FIF the first part.

    Raises
    ------
    InputError
        When the file is missing, of another format, or cut short.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = existing_file(path).absolute()
        self.name = self.path.name
        self._raw: Any = _open_raw(self.path)
        self.n_channels = len(self._raw.ch_names)
        self.n_samples = int(self._raw.n_times)
        with _mne_failures(f"{self.name}: its channels cannot be read"):
            self.kinds: list[str] = self._raw.get_channel_types()
        self._scale = np.array([1e6 if kind in _VOLTS else 1.0 for kind in self.kinds])

    @property
    def raw(self) -> Any:
        """The MNE object, reopened after it was sent to another process."""
        if self._raw is None:
            self._raw = _open_raw(self.path)
        return self._raw

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        step = max(1, _READ_VALUES // max(self.n_channels, len(indices)))
        # MNE wants its channels sorted or takes a slower path; rows are put back in order here.
        order = np.argsort(indices)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            samples = self._read(first, last, indices[order])
            samples *= self._scale[indices[order], np.newaxis]
            for row, values in zip(order, samples, strict=True):
                cast(values, out[row, first - start : last - start], self.name)
        return out

    def _read(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        with _mne_failures(f"{self.name}: samples {start} to {stop} cannot be read"):
            samples: np.ndarray = self.raw.get_data(picks=indices, start=start, stop=stop, verbose="error")
        if samples.shape != (len(indices), stop - start):
            raise InputError(f"{self.name}: is cut short: samples {start} to {stop} are not all there.")
        return samples

    def fingerprint(self) -> str:
        """Return a hash of the content of all the files that make up the recording."""
        return digest([file_digest(file) for file in _files(self.path, self.raw)])

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_raw": None}


def open_file(path: str | Path, kind: str | None = None) -> Recording:
    """Open an EDF, BDF, GDF, EEGLAB (.set), BrainVision (.vhdr) or FIF file as a recording.

    Voltages are returned in **microvolts**: MNE-Python holds the kinds eeg, eog, emg, ecg and those of
    intracranial electrodes (ecog, seeg and dbs, here "ieeg") in volts, which are multiplied by a million.
    Other kinds (misc, stim, meg, ...) stay in the unit MNE gives. Positions are in metres, in MNE's
    head frame, NaN where the file has none. Nothing is preloaded, but for two formats that MNE itself
    can only read whole: a .set that holds the samples within, and a BrainVision file written as text.

    In EDF, BDF and GDF files signals may have different rates. Those slower than the fastest are left
    out, with a warning that names them: they could only be obtained by resampling, and the result of that
    would depend on which stretch is read.

    Parameters
    ----------
    path : path
        The file. All the parts of a split FIF are read when the first is given.
    kind : str, optional
        What to call the channels that the file calls EEG. EDF and its relatives name no kinds, and MNE then
        says "eeg"; pass "ieeg" or "emg" to state what they really are. Voltages either way.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        When the file is missing, its suffix is not one of these, or it is broken or cut short.
    MissingDependency
        When MNE-Python is not installed: it comes with the extra "eeg".
    """
    source = MneSource(path)
    raw = source.raw
    with _mne_failures(f"{source.name}: its channels cannot be read"):
        kinds = [
            kind if kind is not None and found == "eeg" else _KINDS.get(found, found)
            for found in source.kinds
        ]
        channels = channel_table(raw.ch_names, kind=kinds, xyz=_positions(raw))
        rate_hz = float(raw.info["sfreq"])
    return Recording(source, channels, rate_hz)


def annotations(path: str | Path) -> pd.DataFrame:
    """Read the annotations of a file that :func:`open_file` opens.

    Parameters
    ----------
    path : path
        The file, as for :func:`open_file`.

    Returns
    -------
    DataFrame
        Columns onset_s and duration_s (seconds; 0 is the first sample of the recording) and
        description (str), in the order of the file.

    Raises
    ------
    InputError, MissingDependency
        As for :func:`open_file`.
    """
    file = existing_file(path)
    raw = _open_raw(file)
    with _mne_failures(f"{file.name}: its annotations cannot be read"):
        found = raw.annotations
        # FIF counts from when the acquisition began, which may be before the first sample.
        onsets = np.asarray(found.onset, dtype=np.float64) - raw.first_time
        durations = np.asarray(found.duration, dtype=np.float64)
        descriptions = [str(text) for text in found.description]
    return pd.DataFrame({"onset_s": onsets, "duration_s": durations, "description": descriptions})


def _open_raw(path: Path) -> Any:
    suffix = path.suffix.lower()
    if suffix not in READERS:
        raise InputError(
            f'{path.name}: cannot open a file that ends in "{suffix}". Expected one of {", ".join(READERS)}.'
        )
    try:
        import mne
    except ImportError as error:
        raise MissingDependency("MNE-Python", "eeg", f"Reading {path.name}") from error
    options: dict[str, Any] = {"exclude": _slower_signals(path)} if suffix in _RECORDED else {}
    reader = getattr(mne.io, READERS[suffix])
    with _mne_failures(
        f"{path.name}: cannot be read as {suffix[1:].upper()} (cut short, or of another format)"
    ):
        raw = reader(path, preload=False, verbose="error", **options)
        _check_whole(path, raw)
    return raw


@contextmanager
def _mne_failures(message: str) -> Iterator[None]:
    """Suppress MNE's warnings, and turn its failures into an error that names the file."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            yield
        except Exception as error:
            # Anything: on a broken file MNE fails wherever the bytes lead it, now and then with a
            # bare Exception ("Unimplemented tag data type").
            text = "".join(letter if letter.isprintable() else " " for letter in str(error))
            text = " ".join(text.split())[:200] or type(error).__name__
            raise InputError(f"{message}: {text}") from error


def _slower_signals(path: Path) -> list[str]:
    slower = read_data_records(path).slower()
    if slower:
        warnings.warn(
            f"{path.name}: left out {', '.join(slower)}: recorded at a lower rate than the other signals.",
            stacklevel=5,
        )
    return slower


def _check_whole(path: Path, raw: Any) -> None:
    """Refuse a file that lacks samples but that MNE would still read; EDF and its relatives were checked before."""
    suffix = path.suffix.lower()
    data = Path(raw.filenames[0])
    size, n_channels = data.stat().st_size, len(raw.ch_names)
    if not raw.n_times:
        raise ValueError("it holds no samples")
    if suffix == ".set" and data.suffix.lower() != ".set":
        if size != 4 * n_channels * raw.n_times:
            raise ValueError(
                f"{data.name} has {size} bytes where {n_channels} channels of {raw.n_times} samples "
                f"take {4 * n_channels * raw.n_times}"
            )
    elif suffix == ".vhdr":
        _check_brainvision(path, data, n_channels)
    elif suffix == ".fif":
        for part in raw.filenames:
            check_fif(Path(part))


def _check_brainvision(path: Path, data: Path, n_channels: int) -> None:
    width = _BRAINVISION_BYTES.get(_header_value(path, "BinaryFormat") or "")
    if width is None:
        return
    frame, size = width * n_channels, data.stat().st_size
    points = _header_value(path, "DataPoints") or "0"
    if size % frame or size < frame * int(points):
        raise ValueError(
            f"{data.name} has {size} bytes, which is not a whole number of samples of {n_channels} channels "
            f"of {width} bytes, or fewer than its header promises"
        )


def _header_value(path: Path, key: str) -> str | None:
    """Find the value of a key in a BrainVision header."""
    text = path.read_bytes().decode("latin-1")
    found = re.search(rf"^{key}\s*=\s*(.*?)\s*$", text, flags=re.MULTILINE | re.IGNORECASE)
    return found.group(1).replace("$b", path.stem) if found else None


def _files(path: Path, raw: Any) -> list[Path]:
    """List the files that make up a recording: the one named first, then the others as they come."""
    files = [path, *(Path(file).absolute() for file in raw.filenames if file is not None)]
    if path.suffix.lower() == ".vhdr":
        marker = _header_value(path, "MarkerFile")
        if marker and (path.parent / marker).is_file():
            files.append(path.parent / marker)
    return list(dict.fromkeys(files))


def _positions(raw: Any) -> np.ndarray:
    positions = np.full((len(raw.ch_names), 3), np.nan)
    montage = raw.get_montage()
    found = montage.get_positions()["ch_pos"] if montage is not None else {}
    for row, name in enumerate(raw.ch_names):
        if name in found:
            positions[row] = found[name]
    return positions
