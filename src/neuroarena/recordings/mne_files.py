"""EDF, BDF, EEGLAB, BrainVision and FIF files, read through MNE-Python; GDF files by a reader of our own."""

# No `from __future__ import annotations` here: it would bind the name of a function of this module.

import importlib.util
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
from neuroarena.recordings.data_records import read_data_records, warn_of_slower
from neuroarena.recordings.fif_tags import check_fif
from neuroarena.recordings.gdf import GdfSource, gdf_events
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.positions import template_positions
from neuroarena.recordings.recording import Recording

READERS = {
    ".edf": "read_raw_edf",
    ".bdf": "read_raw_bdf",
    ".set": "read_raw_eeglab",
    ".vhdr": "read_raw_brainvision",
    ".fif": "read_raw_fif",
}
SUFFIXES = (*READERS, ".gdf")
# Formats of data records; their annotations are signals of their own (time-stamped lists).
_RECORDED = {".edf", ".bdf"}

# What MNE calls a channel -> what the channel table calls it; other names are kept.
TABLE_KINDS = {"mag": "meg", "grad": "meg", "bio": "misc"}
# Both signs for micro are in use: U+00B5 and the Greek letter U+03BC.
MICROVOLTS = {
    "V": 1e6,
    "mV": 1e3,
    "uV": 1.0,
    "\u00b5V": 1.0,
    "\u03bcV": 1.0,
    "microV": 1.0,
    "nV": 1e-3,
}
# MNE holds these in volts.
_VOLTS = {"eeg", "ecog", "seeg", "dbs", "eog", "emg", "ecg", "bio"}

# MNE reads all the channels of a stretch, as float64 or as stored: 16 MB at a time bounds that.
_READ_VALUES = 2 * 2**20
_BRAINVISION_BYTES = {"INT_16": 2, "INT_32": 4, "IEEE_FLOAT_32": 4}
_MATLAB_73 = b"MATLAB 7.3"


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
        self._describe(self._raw)

    def _describe(self, raw: Any) -> None:
        self.n_channels = len(raw.ch_names)
        self.n_samples = int(raw.n_times)
        self.names, self.kinds, self.scale = describe_channels(raw, self.name)
        self.rate_hz = float(raw.info["sfreq"])

    @property
    def raw(self) -> Any:
        """The MNE object, reopened after it was sent to another process."""
        if self._raw is None:
            self._raw = _open_raw(self.path)
        return self._raw

    def states_unit(self, row: int) -> bool:
        """Return whether the file says that a channel is a voltage."""
        # EEGLAB has no units of its own; MNE takes its numbers for microvolts.
        if self.path.suffix.lower() == ".set":
            return True
        return (getattr(self.raw, "_orig_units", None) or {}).get(self.names[row]) in MICROVOLTS

    def positions(self) -> np.ndarray:
        """Return the positions in metres, in MNE's head frame; NaN where the file has none."""
        positions = np.full((self.n_channels, 3), np.nan)
        with mne_failures(f"{self.name}: its channels cannot be read"):
            montage = self.raw.get_montage()
            found = montage.get_positions()["ch_pos"] if montage is not None else {}
            for row, name in enumerate(self.names):
                if name in found:
                    positions[row] = found[name]
        return positions

    def frame(self) -> str:
        """Return what MNE calls the frame of the positions: "head", or "mni_tal" where the file states a template."""
        with mne_failures(f"{self.name}: its channels cannot be read"):
            montage = self.raw.get_montage()
            return "head" if montage is None else str(montage.get_positions()["coord_frame"])

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        step = max(1, _READ_VALUES // max(self.n_channels, len(indices)))
        # MNE wants its channels sorted or takes a slower path; rows are put back in order here.
        order = np.argsort(indices)
        for first in range(start, stop, step):
            last = min(first + step, stop)
            samples = self._read(first, last, indices[order])
            samples *= self.scale[indices[order], np.newaxis]
            for row, values in zip(order, samples, strict=True):
                cast(values, out[row, first - start : last - start], self.name)
        return out

    def _read(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        with mne_failures(f"{self.name}: samples {start} to {stop} cannot be read"):
            samples: np.ndarray = self.raw.get_data(picks=indices, start=start, stop=stop, verbose="error")
        if samples.shape != (len(indices), stop - start):
            raise InputError(f"{self.name}: is cut short: samples {start} to {stop} are not all there.")
        return samples

    def fingerprint(self) -> str:
        """Return a hash of the content of all the files that make up the recording."""
        return digest([file_digest(file) for file in _files(self.path, self.raw)])

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_raw": None}


def describe_channels(instance: Any, name: str) -> tuple[list[str], list[str], np.ndarray]:
    """Return names, kinds, and the factors that bring voltages to microvolts, of an object of MNE-Python."""
    with mne_failures(f"{name}: its channels cannot be read"):
        names, kinds = list(instance.ch_names), list(instance.get_channel_types())
    return names, kinds, np.array([1e6 if kind in _VOLTS else 1.0 for kind in kinds])


def open_file(path: str | Path, kind: str | None = None, montage: str | None = None) -> Recording:
    """Open an EDF, BDF, GDF, EEGLAB (.set), BrainVision (.vhdr) or FIF file as a recording.

    Voltages are returned in **microvolts**: MNE-Python holds the kinds eeg, eog, emg, ecg and those of
    intracranial electrodes (ecog, seeg and dbs) in volts, which are multiplied by a million.
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
    montage : str, optional
        A template of MNE-Python, such as "standard_1005" or "GSN-HydroCel-129". EEG channels without a position
        get that of their site, found by name as people write it (see
        :func:`neuroarena.recordings.positions.site_names`). These positions are not measured.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        When the file is missing, its suffix is not one of these, it is broken or cut short, holds annotations
        only, or no channel is a site of the montage.
    MissingDependency
        When MNE-Python, or pymatreader for a .set of MATLAB 7.3, is not installed: both come with the extra "eeg".
    """
    source: MneSource | GdfSource
    source = GdfSource(path) if Path(path).suffix.lower() == ".gdf" else MneSource(path)
    positions = source.positions()
    unplaced = [
        row for row, found in enumerate(source.kinds) if found == "eeg" and np.isnan(positions[row, 0])
    ]
    if montage is not None and unplaced:
        names = [source.names[row] for row in unplaced]
        positions[unplaced] = template_positions(names, montage, source.name)
    kinds = [
        kind if kind is not None and found == "eeg" else TABLE_KINDS.get(found, found)
        for found in source.kinds
    ]
    return Recording(source, channel_table(source.names, kind=kinds, xyz=positions), source.rate_hz)


def bad_channels(recording: Recording) -> list[str]:
    """List the channels of a recording that its file, or its object of MNE-Python, marks as bad."""
    source = recording._source
    raw = getattr(source, "raw", None) or getattr(source, "epochs", None)
    return (
        [] if raw is None else [name for name in raw.info["bads"] if name in set(recording.channels["name"])]
    )


def annotations(path: str | Path) -> pd.DataFrame:
    """Read the annotations of a file that :func:`open_file` opens, or of an EDF+ or BDF+ file without signals.

    Parameters
    ----------
    path : path
        The file, as for :func:`open_file`.

    Returns
    -------
    DataFrame
        Columns onset_s and duration_s (seconds; 0 is the first sample of the recording) and
        description (str), in the order of the file. In EDF+ and BDF+ files those after the last sample count too.

    Raises
    ------
    InputError, MissingDependency
        As for :func:`open_file`.
    """
    file = existing_file(path)
    _check_suffix(file)
    if file.suffix.lower() == ".gdf":
        return gdf_events(file)
    if file.suffix.lower() in _RECORDED:
        read_data_records(file)  # refuses a damaged file, whose annotations would be nonsense
    opened = None if file.suffix.lower() in _RECORDED else _open_raw(file)
    with mne_failures(f"{file.name}: its annotations cannot be read"):
        # An opened file would lose the annotations after its last sample: all but one of a hypnogram's.
        found = import_mne(file).read_annotations(file) if opened is None else opened.annotations
        # FIF counts from when the acquisition began, which may be before the first sample.
        onsets = np.asarray(found.onset, dtype=np.float64) - (0.0 if opened is None else opened.first_time)
        durations = np.asarray(found.duration, dtype=np.float64)
        descriptions = [str(text) for text in found.description]
    return pd.DataFrame({"onset_s": onsets, "duration_s": durations, "description": descriptions})


def _open_raw(path: Path) -> Any:
    _check_suffix(path)
    mne = import_mne(path)
    suffix = path.suffix.lower()
    options: dict[str, Any] = {}
    if suffix in _RECORDED:
        options["exclude"] = _slower_signals(path)
    if suffix == ".set":
        _check_matlab(path)
    reader = getattr(mne.io, READERS[suffix])
    try:
        with mne_failures(
            f"{path.name}: cannot be read as {suffix[1:].upper()} (cut short, or of another format)"
        ):
            raw = reader(path, preload=False, verbose="error", **options)
            _check_whole(path, raw)
    except InputError as error:
        if not holds_epochs(path):
            raise
        raise InputError(
            f"{path.name}: holds epochs, whose windows are cut already. Pass it to Benchmark.from_epochs, or write "
            "epochs = true in the file of a benchmark."
        ) from error
    return raw


def holds_epochs(path: Path) -> bool:
    """Return whether a file that cannot be read as a recording holds epochs, as FIF and EEGLAB files may."""
    mne, suffix = import_mne(path), path.suffix.lower()
    try:
        with mne_failures(path.name):
            if suffix == ".set":
                return len(mne.read_epochs_eeglab(path, verbose="error")) > 0
            return suffix == ".fif" and mne.what(path) == "epochs"
    except InputError:
        return False


def _check_suffix(path: Path) -> None:
    if path.suffix.lower() not in SUFFIXES:
        raise InputError(
            f'{path.name}: cannot open a file that ends in "{path.suffix.lower()}". '
            f"Expected one of {', '.join(SUFFIXES)}."
        )


def import_mne(path: Path) -> Any:
    try:
        import mne
    except ImportError as error:
        raise MissingDependency("MNE-Python", "eeg", f"Reading {path.name}") from error
    return mne


def _check_matlab(path: Path) -> None:
    """Refuse a .set of MATLAB 7.3, which is HDF5, where the library that reads it is missing."""
    with open(path, "rb") as file:
        begin = file.read(len(_MATLAB_73))
    if begin == _MATLAB_73 and importlib.util.find_spec("pymatreader") is None:
        raise MissingDependency("pymatreader", "eeg", f"Reading {path.name}, a file of MATLAB 7.3,")


@contextmanager
def mne_failures(message: str) -> Iterator[None]:
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
    records = read_data_records(path)
    if records.only_annotations:
        raise InputError(
            f"{path.name}: holds annotations only, no signals. Read them with neuroarena.recordings.annotations, "
            "and open the recording that they belong to."
        )
    return warn_of_slower(path, records)


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
