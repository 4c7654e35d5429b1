"""The file of one subject: an .npz archive of cut trials, checked before it is used."""

from __future__ import annotations

import functools
import hashlib
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neuroarena.errors import InputError
from neuroarena.recordings.paths import existing_file

# Largest content of an archive that is read: the real ones hold 8 MB.
MOST_BYTES = 2**30
# Array -> number of axes and kinds of NumPy types.
ARRAYS = {
    "X": (3, "f"),
    "y": (1, "iu"),
    "session": (1, "iu"),
    "trial_index": (1, "iu"),
    "recording": (1, "U"),
    "ch_names": (1, "U"),
    "sfreq": (0, "fiu"),
}
BY_TRIAL = ("y", "session", "trial_index", "recording")


@dataclass(frozen=True)
class SubjectFile:
    """What is in the file of one subject.

    Attributes
    ----------
    signals : float32 array (trials, channels, time)
        From the cue on, in the unit of the source, which is not stated.
    labels : int array (trials,)
        0 rest, 1 13 Hz, 2 21 Hz, 3 17 Hz.
    sessions, trial_indices : int array (trials,)
    recordings : array of str (trials,)
        Date and time of the recording a trial was cut from.
    channels : tuple of str
    rate_hz : float
    """

    signals: np.ndarray
    labels: np.ndarray
    sessions: np.ndarray
    trial_indices: np.ndarray
    recordings: np.ndarray
    channels: tuple[str, ...]
    rate_hz: float

    def rows(self, recording: str) -> np.ndarray:
        """Return the rows of a recording's trials, in the order in which they were recorded."""
        rows = np.flatnonzero(self.recordings == recording)
        return rows[np.argsort(self.trial_indices[rows], kind="stable")]

    def content(self, recording: str) -> str:
        """Return a hash of a recording's samples: equal for the same recording under another name."""
        rows = self.rows(recording)
        samples = np.ascontiguousarray(self.signals[rows])
        return hashlib.sha256(f"{samples.shape} {self.channels}".encode() + samples.tobytes()).hexdigest()


def read_subject(path: str | Path) -> SubjectFile:
    """Read the file of one subject; cached until the file changes.

    Raises
    ------
    InputError
        When the file is missing, not an archive, too large, or its arrays are not as expected.
    """
    file = existing_file(path).absolute()
    status = file.stat()
    return _read(file, status.st_mtime_ns, status.st_size)


@functools.lru_cache(maxsize=16)
def _read(file: Path, changed: int, size: int) -> SubjectFile:  # noqa: ARG001 - part of the cache key
    arrays = _arrays(file)
    for name in BY_TRIAL:
        if len(arrays[name]) != len(arrays["X"]):
            raise InputError(
                f"{file}: {name} has {len(arrays[name])} values for {len(arrays['X'])} trials of X."
            )
    if len(arrays["ch_names"]) != arrays["X"].shape[1]:
        raise InputError(
            f"{file}: ch_names has {len(arrays['ch_names'])} names for {arrays['X'].shape[1]} channels of X."
        )
    unknown = np.flatnonzero((arrays["y"] < 0) | (arrays["y"] > 3))
    if unknown.size:
        raise InputError(f"{file}: row {unknown[0]}: y is {arrays['y'][unknown[0]]}, expected 0 to 3.")
    bad = np.flatnonzero(~np.isfinite(arrays["X"]).all(axis=(1, 2)))
    if bad.size:
        raise InputError(f"{file}: row {bad[0]}: X holds NaN or infinity. Every sample must be finite.")
    if not arrays["X"].size or not 0 < float(arrays["sfreq"]) < np.inf:
        raise InputError(f"{file}: holds no samples, or sfreq is {float(arrays['sfreq'])}.")
    return SubjectFile(
        signals=arrays["X"].astype(np.float32, copy=False),
        labels=arrays["y"].astype(np.int64),
        sessions=arrays["session"].astype(np.int64),
        trial_indices=arrays["trial_index"].astype(np.int64),
        recordings=arrays["recording"],
        channels=tuple(str(name) for name in arrays["ch_names"]),
        rate_hz=float(arrays["sfreq"]),
    )


def _arrays(file: Path) -> dict[str, np.ndarray]:
    try:
        with zipfile.ZipFile(file) as archive:
            declared = sum(member.file_size for member in archive.infolist())
            if declared > MOST_BYTES:
                raise InputError(
                    f"{file}: declares {declared} bytes of content, more than the {MOST_BYTES} allowed."
                )
        with np.load(file, allow_pickle=False) as archive:
            missing = [name for name in ARRAYS if name not in archive.files]
            if missing:
                raise InputError(f"{file}: has no array {missing[0]}; it has {', '.join(archive.files)}.")
            arrays = {name: np.asarray(archive[name]) for name in ARRAYS}
    except (zipfile.BadZipFile, ValueError, OSError, EOFError, KeyError, NotImplementedError) as error:
        raise InputError(f"{file}: cannot be read as an .npz archive of arrays: {error}.") from error
    for name, (axes, kinds) in ARRAYS.items():
        if arrays[name].ndim != axes or arrays[name].dtype.kind not in kinds:
            raise InputError(
                f"{file}: {name} has {arrays[name].ndim} axes of type {arrays[name].dtype}; "
                f"expected {axes} of kind {' or '.join(kinds)}."
            )
    return arrays
