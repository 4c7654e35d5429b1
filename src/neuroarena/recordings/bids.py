"""BIDS datasets of EEG and EMG: finding recordings, opening them, and reading the tables beside them."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd

from neuroarena.errors import InputError, MissingDependency
from neuroarena.fingerprint import digest
from neuroarena.recordings.blocks import Source
from neuroarena.recordings.channels import channel_table
from neuroarena.recordings.data_records import read_data_records
from neuroarena.recordings.gdf import GdfSource
from neuroarena.recordings.mne_files import MICROVOLTS, MneSource, open_file
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.recording import Recording
from neuroarena.recordings.tsv import parse_numbers, read_tsv

EXTENSIONS = (".edf", ".bdf", ".gdf", ".vhdr", ".set")

# Channel types of BIDS -> what the channel table calls them. Only EEG counts as EEG; a reference does not.
KINDS = {
    "EEG": "eeg",
    "EMG": "emg",
    "EOG": "eog",
    "VEOG": "eog",
    "HEOG": "eog",
    "ECG": "ecg",
    "ECOG": "ecog",
    "SEEG": "seeg",
    "DBS": "dbs",
    "TRIG": "stim",
    "STIM": "stim",
    "RESP": "resp",
    "GSR": "gsr",
    "TEMP": "temperature",
    "EYEGAZE": "eyegaze",
    "PUPIL": "pupil",
    **dict.fromkeys(("MISC", "REF", "AUDIO", "PPG", "SYSCLOCK", "OTHER", "ADC", "DAC", "FITERR"), "misc"),
}
# What is asked for as "ieeg" is any of these.
INTRACRANIAL = ("ecog", "seeg", "dbs")
_VOLTAGES = {"eeg", "emg", "eog", "ecg", *INTRACRANIAL}


def bids_recordings(
    root: str | Path,
    suffix: str = "eeg",
    task: str | None = None,
    subjects: Iterable[str] | None = None,
) -> pd.DataFrame:
    """List the recordings of a BIDS dataset; each folder that can hold one is visited once.

    Parameters
    ----------
    root : path
        The dataset's folder, the one with the folders ``sub-<subject>``. Derivatives and source data are left alone.
    suffix : str
        What the files' names end in before the extension: "eeg", "emg", "ieeg".
    task : str, optional
        Only recordings of this task.
    subjects : iterable of str, optional
        Only these subjects, with or without ``sub-``.

    Returns
    -------
    DataFrame
        Columns subject, session, task, run (text, "" where the name has none) and path (text), sorted by them;
        whole numbers sort as numbers, so that run 10 comes after run 2.

    Raises
    ------
    InputError
        When there is no such folder, a wanted subject is not in it, a name breaks the rules, or nothing fits.
    """
    folder = Path(root)
    if not folder.is_dir():
        raise InputError(f"{folder}: is not a folder. Expected a BIDS dataset, with folders sub-<subject>.")
    people = sorted(entry.name for entry in os.scandir(folder) if entry.name.startswith("sub-"))
    if subjects is not None:
        wanted = [f"sub-{str(subject).removeprefix('sub-')}" for subject in subjects]
        absent = [name for name in wanted if name not in people]
        if absent:
            raise InputError(f"{folder}: has no {absent[0]}; it has {', '.join(people) or 'no subjects'}.")
        people = sorted(set(wanted))
    rows = []
    for person in people:
        for path in _recordings_of(folder / person, suffix):
            found = _entities(path)
            if task is None or found["task"] == task:
                rows.append({**{name: found[name] for name in _LISTED}, "path": str(path)})
    if not rows:
        of_task = "" if task is None else f" of the task {task}"
        raise InputError(
            f"{folder}: holds no recording{of_task}. "
            f"Expected sub-*/[ses-*/]{suffix}/*_{suffix} with one of {', '.join(EXTENSIONS)}."
        )
    rows.sort(key=lambda row: [_natural(row[name]) for name in (*_LISTED, "path")])
    return pd.DataFrame(rows, columns=[*_LISTED, "path"])


_LISTED = ("subject", "session", "task", "run")
_RECORDING = re.compile(r"sub-[^_]+(_[a-z]+-[^_]+)*_[a-z]+")


def read_bids_name(path: str | Path) -> dict[str, str] | None:
    """Read subject, session, task and run off the name of one recording of a BIDS dataset; those it has.

    Returns None for a file that is not named so, or that has neither channels.tsv nor events.tsv, beside it or above.
    """
    file = Path(path)
    if file.suffix.lower() not in EXTENSIONS or not _RECORDING.fullmatch(file.stem):
        return None
    if not any(find_sidecar(file, ending) for ending in ("channels.tsv", "events.tsv")):
        return None
    found = _entities(file)
    return {name: found[name] for name in _LISTED if found[name]}


def find_bids_root(path: str | Path) -> Path | None:
    """Return the folder of the dataset that a recording is of, the one above its subject's; None outside of one."""
    above = (folder for folder in Path(path).absolute().parents if folder.name.startswith("sub-"))
    person = next(above, None)
    return None if person is None else person.parent


def _recordings_of(person: Path, suffix: str) -> Iterator[Path]:
    """Iterate over the recordings of one subject, opening only the folders where BIDS puts them."""
    if not person.is_dir():
        return
    places = [person / suffix]
    places += [person / entry.name / suffix for entry in os.scandir(person) if entry.name.startswith("ses-")]
    for place in places:
        if place.is_dir():
            for entry in os.scandir(place):
                stem, extension = os.path.splitext(entry.name)
                if extension.lower() in EXTENSIONS and stem.endswith(f"_{suffix}"):
                    yield place / entry.name


def _entities(path: Path) -> dict[str, str]:
    """Read the entities of a BIDS file name, as mne-bids knows them; "" for those it does not have."""
    try:
        from mne_bids import get_entities_from_fname
    except ImportError as error:
        raise MissingDependency("mne-bids", "eeg", f"Reading {path.name}") from error
    try:
        found = get_entities_from_fname(path.name, on_error="raise", verbose="error")
    except KeyError as error:
        raise InputError(
            f"{path}: is not named as BIDS names files: {error.args[0]}. Expected "
            "sub-<subject>[_ses-<session>]_task-<task>[_run-<run>]_<suffix>, of known entities only."
        ) from error
    return {name: "" if value is None else str(value) for name, value in found.items()}


def _natural(text: str) -> list[tuple[int, int, str]]:
    parts = re.findall(r"\d+|\D+", text)
    return [(0, int(part), part) if part.isdigit() else (1, 0, part) for part in parts]


def open_bids(path: str | Path, kinds: Iterable[str] | None = None, montage: str | None = None) -> Recording:
    """Open a recording of a BIDS dataset, with the types and units of its channels.tsv.

    The kinds of the channel table are those of channels.tsv, whatever the signal file calls them: a channel
    typed MISC or TRIG is not EEG. Voltages of every kind are returned in microvolts. The unit that the signal
    file states is trusted; where it states none (an EDF without a physical dimension) channels.tsv decides,
    and where that states none either, voltages are taken to be stored in volts, as MNE-Python takes them.
    Nothing is preloaded; see :func:`neuroarena.recordings.open_file` for the exceptions.

    Parameters
    ----------
    path : path
        The signal file: .edf, .bdf, .gdf, .vhdr or .set.
    kinds : iterable of str, optional
        Keep only channels of these kinds, such as ``["eeg"]``; "ieeg" stands for ecog, seeg and dbs.
    montage : str, optional
        Template that places channels by their names where the file does not.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        When a file is missing or broken, channels.tsv and the signal file disagree about which channels there
        are, or a type is unknown; the message names the file and the line.
    MissingDependency
        When MNE-Python or mne-bids is not installed: they come with the extra "eeg".
    """
    file = existing_file(path)
    if file.suffix.lower() not in EXTENSIONS:
        raise InputError(
            f'{file}: cannot open a file that ends in "{file.suffix}" as BIDS. Expected one of {", ".join(EXTENSIONS)}.'
        )
    opened = open_file(file, montage=montage)
    typed = _read_kinds(file, opened.channels, bids_channels(file))
    table = channel_table(
        opened.channels["name"].tolist(),
        kind=typed["kind"].tolist(),
        xyz=opened.channels[["x", "y", "z"]].to_numpy(),
    )
    source = _convert_to_stated_units(cast(MneSource | GdfSource, opened._source), typed)
    recording = Recording(source, table, opened.rate_hz)
    if kinds is None:
        return recording
    wanted = {one for kind in kinds for one in (INTRACRANIAL if kind == "ieeg" else (kind,))}
    names = table.loc[table["kind"].isin(wanted), "name"].tolist()
    if not names:
        raise InputError(
            f"{file}: has no channel of kind {' or '.join(sorted(wanted))}; "
            f"its channels are {', '.join(sorted(set(table['kind'])))}."
        )
    return recording.select(names)


class RescaledSource:
    """Samples of another source, with each channel multiplied by its own factor."""

    def __init__(self, source: Source, factors: Sequence[float]) -> None:
        self.source = source
        self.factors = list(factors)
        self.name: str = source.name
        self.n_channels = source.n_channels
        self.n_samples = source.n_samples

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        block = self.source.read_block(start, stop, indices)
        block *= np.array(self.factors, dtype=np.float32)[indices, np.newaxis]
        return block

    def fingerprint(self) -> str:
        """Return a hash of the content and of the factors."""
        return digest([self.source.fingerprint(), self.factors])


def _convert_to_stated_units(source: MneSource | GdfSource, typed: pd.DataFrame) -> Source:
    """Bring voltages to microvolts where the reader could not, because only channels.tsv states the unit."""
    factors = []
    for row, stored in enumerate(source.kinds):
        kind, unit = typed["kind"].iloc[row], typed["units"].iloc[row]
        if stored == "stim":
            wanted = 1.0
        elif source.states_unit(row):
            wanted = 1e6
        elif unit in MICROVOLTS:
            wanted = MICROVOLTS[unit]
        else:
            wanted = 1e6 if kind in _VOLTAGES else 1.0
        factors.append(wanted / source.scale[row])
    return source if set(factors) == {1.0} else RescaledSource(source, factors)


def bids_channels(path: str | Path) -> pd.DataFrame:
    """Read the channels.tsv of a recording.

    Returns
    -------
    DataFrame
        As the file has it, all text, NaN for `n/a`; with at least the columns name and type.

    Raises
    ------
    InputError
        When there is none, or it is broken; the message names the file and the line.
    """
    file = sidecar(path, "channels.tsv")
    return read_tsv(file, required=("name", "type"))


def _read_kinds(file: Path, stored: pd.DataFrame, listed: pd.DataFrame) -> pd.DataFrame:
    """Return the kind and unit of each stored channel, as channels.tsv states them."""
    beside = sidecar(file, "channels.tsv")
    line_of: dict[str, int] = {}
    for row, name in enumerate(listed["name"]):
        if name in line_of:
            raise InputError(
                f'{beside}: line {row + 2}: the channel "{name}" is already in line {line_of[name] + 2}.'
            )
        line_of[str(name)] = row
    left_out = (
        set(read_data_records(file).slower()) if file.suffix.lower() in (".edf", ".bdf", ".gdf") else set()
    )
    foreign = [name for name in line_of if name not in set(stored["name"]) | left_out]
    if foreign:
        raise InputError(
            f'{beside}: line {line_of[foreign[0]] + 2}: the channel "{foreign[0]}" is not in {file.name}, '
            f"whose channels are {', '.join(stored['name'])}."
        )
    kinds, units = [], []
    for name, kind in zip(stored["name"], stored["kind"], strict=True):
        if name not in line_of and kind != "stim":
            raise InputError(f'{beside}: has no line for the channel "{name}" of {file.name}.')
        # Marker channels that a format carries by itself (BDF: Status) are often not listed.
        line = line_of.get(name)
        kinds.append(kind if line is None else _kind(beside, line, listed["type"].iloc[line], kind))
        units.append(None if line is None or "units" not in listed else listed["units"].iloc[line])
    return pd.DataFrame({"kind": kinds, "units": units}, dtype=object)


def _kind(beside: Path, row: int, written: Any, stored: str) -> str:
    if not isinstance(written, str):
        return stored
    kind = KINDS.get(written.upper())
    if kind is None:
        raise InputError(
            f'{beside}: line {row + 2}: the type "{written}" is unknown. Expected one of {", ".join(KINDS)}.'
        )
    return kind


def bids_events(path: str | Path) -> pd.DataFrame:
    """Read the events.tsv of a recording.

    Parameters
    ----------
    path : path
        The signal file.

    Returns
    -------
    DataFrame
        onset_s and duration_s (float64 seconds from the first sample; a duration may be NaN), then the other
        columns as the file has them: all text, NaN for `n/a`. In the order of the file.

    Raises
    ------
    InputError
        When there is none, or an onset is not a number; the message names the file and the line.
    """
    file = sidecar(path, "events.tsv")
    table = read_tsv(file, required=("onset", "duration"))
    onsets = parse_numbers(table, "onset", file, may_miss=False)
    durations = parse_numbers(table, "duration", file, may_miss=True)
    negative = np.flatnonzero(durations < 0)
    if negative.size:
        raise InputError(f"{file}: line {negative[0] + 2}: duration is negative.")
    events = table.drop(columns=["onset", "duration"])
    events.insert(0, "onset_s", onsets)
    events.insert(1, "duration_s", durations)
    return events


def participants(root: str | Path) -> pd.DataFrame:
    """Read the participants.tsv of a dataset.

    Returns
    -------
    DataFrame
        participant_id without its ``sub-``, as :func:`bids_recordings` lists subjects, then the other columns as
        the file has them: all text, NaN for `n/a`.

    Raises
    ------
    InputError
        When there is none, a person is listed twice or has no id; the message names the file and the line.
    """
    file = Path(root) / "participants.tsv"
    table = read_tsv(file, required=("participant_id",))
    seen: dict[str, int] = {}
    for row, person in enumerate(table["participant_id"]):
        if not isinstance(person, str):
            raise InputError(f"{file}: line {row + 2}: participant_id is missing.")
        if person in seen:
            raise InputError(f'{file}: line {row + 2}: "{person}" is already in line {seen[person] + 2}.')
        seen[person] = row
    table["participant_id"] = table["participant_id"].str.removeprefix("sub-")
    return table


def sidecar(path: str | Path, ending: str) -> Path:
    """Find the file that describes a recording: beside it, or above it where several recordings share one.

    Parameters
    ----------
    path : path
        The signal file.
    ending : str
        What the wanted name ends in, "channels.tsv" or "events.tsv".

    Raises
    ------
    InputError
        When there is none.
    """
    found = find_sidecar(path, ending)
    if found is None:
        beside = _name_beside(Path(path), ending).name
        raise InputError(
            f"{path}: has no {ending}. Expected {beside} beside it, or one above that it shares."
        )
    return found


def find_sidecar(path: str | Path, ending: str) -> Path | None:
    """Find what :func:`sidecar` finds; None where there is none."""
    file = Path(path)
    beside = _name_beside(file, ending)
    if beside.is_file():
        return beside
    own = {item for item in _entities(file).items() if item[1]}
    for folder in _folders_above(file):
        fitting = []
        for entry in os.scandir(folder):
            if entry.name == ending or entry.name.endswith(f"_{ending}"):
                said = {item for item in _entities(Path(entry.path)).items() if item[1]}
                if said <= own:
                    fitting.append((len(said), entry.path))
        if fitting:
            return Path(max(fitting)[1])
    return None


def _name_beside(file: Path, ending: str) -> Path:
    return file.with_name(f"{file.stem.rpartition('_')[0]}_{ending}")


def _folders_above(file: Path) -> Iterator[Path]:
    """Walk from a recording's folder up to the dataset's, above the subject's; outside of one only its own counts."""
    root = find_bids_root(file)
    for folder in file.absolute().parents:
        yield folder
        if root is None or folder == root:
            return
