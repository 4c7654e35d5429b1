"""Epochs as a recording: images x repetitions x channels x time, laid end to end."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.errors import InputError
from neuroarena.families.img.things_eeg2.pickled import read_pickled
from neuroarena.fingerprint import file_digest
from neuroarena.recordings import Recording, channel_table

KEYS = ("preprocessed_eeg_data", "ch_names", "times")
# The stored channels of the set; anything else in a file is not an electrode and is not passed to a decoder.
STORED = (
    "Fp1 F3 F7 FT9 FC5 FC1 C3 T7 TP9 CP5 CP1 Pz P3 P7 O1 Oz O2 P4 P8 TP10 CP6 CP2 Cz C4 T8 FT10 FC6 FC2 F4 F8 Fp2 AF7 "
    "AF3 AFz F1 F5 FT7 FC3 FCz C1 C5 TP7 CP3 P1 P5 PO7 PO3 POz PO4 PO8 P6 P2 CPz CP4 TP8 C6 C2 FC4 FT8 F6 F2 AF4 AF8"
)
ELECTRODES = frozenset(STORED.split())


@dataclass(frozen=True)
class Epochs:
    """One file of epochs.

    Attributes
    ----------
    data : ndarray (images, repetitions, channels, samples)
        Mapped, not read.
    channels : tuple of str
    times : float64 array (samples,)
        Seconds from the onset of the image.
    """

    data: np.ndarray
    channels: tuple[str, ...]
    times: np.ndarray

    @property
    def rate_hz(self) -> float:
        """Samples per second."""
        return float(round((len(self.times) - 1) / (self.times[-1] - self.times[0]), 6))


def read_epochs(path: str | Path) -> Epochs:
    """Read a file of epochs, authors' or of the 250 Hz variant; the signals stay in the file.

    Raises
    ------
    InputError
        When the file is refused, lacks a key, or its parts do not match.
    """
    path = Path(path)
    said = read_pickled(path)
    if not isinstance(said, dict):
        raise InputError(
            f"{path}: holds {type(said).__name__}, expected a dictionary with {', '.join(KEYS)}."
        )
    missing = [key for key in KEYS if key not in said]
    if missing:
        raise InputError(f'{path}: the dictionary lacks "{missing[0]}"; expected {", ".join(KEYS)}.')
    data, times = said["preprocessed_eeg_data"], np.asarray(said["times"])
    names = tuple(str(name) for name in said["ch_names"])
    if not isinstance(data, np.ndarray) or data.ndim != 4 or data.dtype.kind != "f" or not data.size:
        got = f"{data.dtype} {data.shape}" if isinstance(data, np.ndarray) else type(data).__name__
        raise InputError(
            f"{path}: expected epochs (images, repetitions, channels, samples) of floats, got {got}."
        )
    if len(names) != data.shape[2] or len(set(names)) != len(names):
        raise InputError(f"{path}: {data.shape[2]} channels, but {len(set(names))} different names.")
    samples = data.shape[3]
    if times.ndim != 1 or times.dtype.kind != "f" or len(times) < samples or samples < 2:
        raise InputError(f"{path}: {samples} samples per epoch, but times of the shape {times.shape}.")
    # The 250 Hz variant drops the samples before the onset from the data and keeps their times.
    times = times[len(times) - samples :].astype(np.float64)
    if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
        raise InputError(f"{path}: the times of the samples do not rise.")
    return Epochs(data, names, times)


class EpochSource:
    """Epochs of one file, laid end to end: image by image, repetition by repetition.

    Sent between processes as its path.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.name = "/".join(self.path.parts[-2:])
        self.epochs = read_epochs(self.path)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.epochs.channels)

    @property
    def n_samples(self) -> int:
        """Samples of all epochs together."""
        images, repetitions, _, samples = self.epochs.data.shape
        return int(images * repetitions * samples)

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        _, repetitions, _, samples = self.epochs.data.shape
        first, last = start // samples, (stop - 1) // samples + 1
        out = np.empty((len(indices), last - first, samples), dtype=np.float32)
        for place, epoch in enumerate(range(first, last)):
            image, repetition = divmod(epoch, repetitions)
            with np.errstate(over="ignore"):
                out[:, place] = self.epochs.data[image, repetition][indices]
        joined: np.ndarray = out.reshape(len(indices), -1)[
            :, start - first * samples : stop - first * samples
        ]
        if not np.isfinite(joined).all():
            raise InputError(
                f"{self.name}: epochs {first} to {last - 1} hold NaN or a number beyond float32."
            )
        return joined

    def fingerprint(self) -> str:
        """Return the SHA-256 of the file."""
        return file_digest(self.path)

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path.absolute()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"])  # type: ignore[misc]


def open_epochs(path: str | Path) -> Recording:
    """Open a file of epochs as a recording of its electrodes, epochs laid end to end.

    Raises
    ------
    InputError
        When the file is refused, or none of its channels is an electrode.
    """
    source = EpochSource(path)
    names = source.epochs.channels
    kinds = ["eeg" if name in ELECTRODES else "misc" for name in names]
    recording = Recording(source, channel_table(names, kind=kinds), source.epochs.rate_hz)
    electrodes = [name for name in names if name in ELECTRODES]
    if not electrodes:
        raise InputError(
            f"{source.name}: none of the channels {', '.join(names[:5])} is an electrode of the set."
        )
    return recording.select(electrodes)
