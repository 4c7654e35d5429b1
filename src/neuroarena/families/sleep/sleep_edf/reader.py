"""Read Sleep-EDF Expanded as it is laid out on disk."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError, MissingDependency
from neuroarena.families.sleep.sleep_edf.hypnogram import stage_epochs
from neuroarena.recordings import Recording, open_file

FOLDERS = ("sleep-cassette", "sleep-telemetry", ".")
CHANNELS = ("EEG Fpz-Cz", "EEG Pz-Oz")
# SC4ssN.., ST7ssN..: study, person, night. The two letters after them differ between the files of a pair.
_SIGNALS = re.compile(r"((SC4|ST7)(\d\d)([12]))[A-Z]0-PSG\.edf")
_HYPNOGRAM = re.compile(r"((SC4|ST7)(\d\d)([12]))[A-Z][A-Z]-Hypnogram\.edf")


@dataclass(frozen=True)
class Night:
    """The two files of one night.

    Attributes
    ----------
    key : str
        The first six characters of both names, "SC4001".
    subject : str
        Study and person, "SC400".
    night : int
        1 or 2.
    signals, hypnogram : Path
    """

    key: str
    subject: str
    night: int
    signals: Path
    hypnogram: Path

    @property
    def study(self) -> str:
        """Whether it was recorded at home ("cassette") or in hospital ("telemetry")."""
        return "cassette" if self.key.startswith("SC") else "telemetry"


class SleepEDF(DatasetFolder):
    """A folder with Sleep-EDF Expanded, real or simulated.

    Parameters
    ----------
    root : path
        The folder that holds ``sleep-cassette/`` or ``sleep-telemetry/``, or the files themselves.

    Attributes
    ----------
    root : Path
    nights : dict of str to Night
        Key -> files, sorted by key. Pairs are found by the first six characters of the names.
    card : dict or None
        The card of the simulation; None for real data.
    simulated : bool

    Raises
    ------
    InputError
        When the folder does not exist, holds no night, or one of a pair is missing.
    """

    expected = "Name the folder of Sleep-EDF."

    def __init__(self, root: str | Path) -> None:
        super().__init__(root)
        self.nights = _pairs(self.root)

    def __repr__(self) -> str:
        kind = "simulated, " if self.simulated else ""
        return f"SleepEDF({str(self.root)!r}, {kind}{len(self.nights)} nights)"

    def night(self, key: str) -> Night:
        """Return the files of a night.

        Raises
        ------
        InputError
            When there is no such night.
        """
        if key not in self.nights:
            raise InputError(
                f'{self.root}: there is no night "{key}". Nights there: {_listing(self.nights)}.'
            )
        return self.nights[key]

    def open(self, key: str) -> Recording:
        """Open the two EEG channels of a night; nothing is read yet.

        Raises
        ------
        InputError
            When the file is broken or lacks a channel.
        """
        path = self.night(key).signals
        with warnings.catch_warnings():
            # Breath, temperature and marker are recorded once per second in every file; they are not needed here.
            warnings.filterwarnings("ignore", message=".*recorded at a lower rate.*")
            recording = open_file(path)
        found = {_plain(name): name for name in recording.channels["name"]}
        absent = [name for name in CHANNELS if _plain(name) not in found]
        if absent:
            there = ", ".join(recording.channels["name"])
            raise InputError(f'{path}: has no channel "{absent[0]}" at the full rate; it has {there}.')
        return recording.select([found[_plain(name)] for name in CHANNELS])

    def annotations(self, key: str) -> pd.DataFrame:
        """Read the annotations of the hypnogram of a night, unchanged.

        Returns
        -------
        DataFrame
            onset_s, duration_s (seconds from the first sample of the signals), description.

        Raises
        ------
        InputError
            When the file cannot be read as EDF+.
        MissingDependency
            When MNE-Python is not installed.
        """
        return read_annotations(self.night(key).hypnogram)

    def stages(self, key: str) -> pd.DataFrame:
        """Return the epochs of a night: start_s and stage; see :func:`.hypnogram.stage_epochs`."""
        return stage_epochs(self.annotations(key), str(self.night(key).hypnogram))


def read_annotations(path: Path) -> pd.DataFrame:
    """Read the annotations of an EDF+ file that holds nothing else.

    :func:`neuroarena.recordings.annotations` stops reading where the signal ends, and here there is no signal.
    """
    try:
        import mne
    except ImportError as error:
        raise MissingDependency("MNE-Python", "eeg", f"Reading {path.name}") from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = mne.read_annotations(path)
    except Exception as error:
        # Any error: on a broken file MNE fails wherever the bytes lead it.
        text = " ".join(str(error).split())[:200] or type(error).__name__
        raise InputError(f"{path}: cannot be read as an EDF+ file of annotations: {text}") from error
    return pd.DataFrame(
        {
            "onset_s": np.asarray(found.onset, dtype=np.float64),
            "duration_s": np.asarray(found.duration, dtype=np.float64),
            "description": [str(text) for text in found.description],
        }
    )


def _plain(name: str) -> str:
    """Normalise what writers of EDF do to labels: case, spaces, and the leading kind."""
    return re.sub(r"^EEG", "", re.sub(r"\s+", "", name).upper())


def _pairs(root: Path) -> dict[str, Night]:
    files = [
        path
        for folder in FOLDERS
        if (root / folder).is_dir()
        for path in sorted((root / folder).iterdir())
        if path.is_file()
    ]
    signals, hypnograms = _by_key(files, _SIGNALS), _by_key(files, _HYPNOGRAM)
    if not signals and not hypnograms:
        raise InputError(
            f"{root}: holds no SC4ssNX0-PSG.edf or ST7ssNJ0-PSG.edf, here or in sleep-cassette/ or "
            "sleep-telemetry/, so it is not a Sleep-EDF folder."
        )
    for here, there, kind in ((signals, hypnograms, "Hypnogram"), (hypnograms, signals, "PSG")):
        alone = sorted(set(here) - set(there))
        if alone:
            raise InputError(
                f"{here[alone[0]]}: has no {kind}.edf next to it whose name begins with {alone[0]}. "
                "Signals and hypnograms come in pairs."
            )
    return {key: Night(key, key[:5], int(key[5]), signals[key], hypnograms[key]) for key in sorted(signals)}


def _by_key(files: list[Path], pattern: re.Pattern[str]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for path in files:
        match = pattern.fullmatch(path.name)
        if match and match[1] in found:
            raise InputError(
                f"{path}: is a second file of the night {match[1]}, in addition to {found[match[1]].name}."
            )
        if match:
            found[match[1]] = path
    return found


def _listing(nights: dict[str, Night]) -> str:
    shown = list(nights)[:8]
    return ", ".join(shown) + (", ..." if len(nights) > len(shown) else "")
