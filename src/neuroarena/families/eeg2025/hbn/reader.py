"""Read HBN-EEG releases: participants, recordings, their signals and events."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena.datasets.card import read_card
from neuroarena.datasets.folder import DatasetFolder
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn.bdf import BdfSource, NotPlain
from neuroarena.families.eeg2025.hbn.facts import (
    AVAILABILITY,
    CHANNELS,
    FACTORS,
    OPENNEURO,
    PARTICIPANT_COLUMNS,
    RELEASES,
    TASK_COLUMNS,
    TASKS,
    release_of_folder,
)
from neuroarena.recordings import Recording, channel_table, open_file
from neuroarena.recordings.bids import bids_events, participants
from neuroarena.recordings.paths import existing_file
from neuroarena.recordings.tsv import parse_numbers

_NAME = re.compile(
    r"sub-(?P<subject>[A-Za-z0-9]+)_task-(?P<task>[A-Za-z0-9]+)(_run-(?P<run>\d+))?_eeg\.(?P<kind>bdf|set)"
)


class HBN(DatasetFolder):
    """A folder that holds releases of HBN-EEG, each a BIDS dataset.

    Parameters
    ----------
    root : path
        The folder with the releases (``R1_L100_bdf``, ``R5_mini_L100_bdf``, ``R2``, ``ds005505``, ...), or one release.
    releases : iterable of str, optional
        Only these: names of releases ("R5") or of folders ("R5_mini_L100_bdf").

    Attributes
    ----------
    folders : dict of str to Path
        Release -> its folder, in the order R1, R2, ...
    simulated : bool
        Whether the folder is a simulated twin.
    card : dict or None
        The card of a simulated twin; None for real data.

    Raises
    ------
    InputError
        When there is no release, a requested one is missing, or one occurs twice.
    """

    expected = "Expected releases of HBN-EEG, such as R5_L100_bdf."

    def __init__(self, root: str | Path, releases: Iterable[str] | None = None) -> None:
        super().__init__(root)
        self.folders = _folders(self.root, releases)
        if self.card is None:
            # A release of a twin may be opened on its own: its card lies next to it, and lists the files of all.
            beside = read_card(self.root.resolve().parent)
            self.card = beside and {key: value for key, value in beside.items() if key != "files"}

    def participants(self, release: str) -> pd.DataFrame:
        """Read who took part in a release.

        Returns
        -------
        DataFrame
            The 24 columns of participants.tsv: participant_id without ``sub-``; age, ehq_total and the four
            factors as numbers, NaN where unknown; the rest as text.

        Raises
        ------
        InputError
            Naming file and line: a missing column, an invalid number, a person of another
            release, or an unknown word for availability.
        """
        return _participants(str(self._folder(release)), release, _stamp(self._folder(release))).copy()

    @functools.cached_property
    def recordings(self) -> pd.DataFrame:
        """The recordings: key, release, subject, task, run (0 where the name has none), path."""
        rows = [row for release, folder in self.folders.items() for row in _list(release, folder)]
        if not rows:
            raise InputError(
                f"{self.root}: holds no recording. Expected sub-*/eeg/*_eeg.bdf or *_eeg.set in its releases."
            )
        table = pd.DataFrame(rows).sort_values(["release", "subject", "task", "run"], ignore_index=True)
        twice = table.loc[table["key"].duplicated(), "path"]
        if len(twice):
            raise InputError(f"{twice.iloc[0]}: exists as .bdf and as .set; keep one of them.")
        return table

    def path(self, key: str) -> Path:
        """Find the signal file of a recording."""
        if key not in self._paths:
            raise InputError(f'{self.root}: has no recording "{key}".')
        return Path(self._paths[key])

    def recording(self, key: str) -> Recording:
        """Open a recording: 129 channels in microvolts, Cz last, read on demand.

        Raises
        ------
        InputError
            When there is none, it is broken or truncated, or a channel is missing.
        """
        path = existing_file(self.path(key))
        state = path.stat()
        return _open(str(path), (state.st_mtime_ns, state.st_size))

    def events(self, key: str) -> pd.DataFrame:
        """Read the events of a recording: onset_s, duration_s, value and further columns of its task.

        Raises
        ------
        InputError
            Naming file and line, when there are none, or an onset is not a number.
        """
        path = self.path(key)
        events = bids_events(path)
        if "value" not in events.columns:
            raise InputError(f'{path}: the column "value" is missing from its events.tsv.')
        return events

    def minutes(self, release: str) -> pd.Series:
        """Add up the minutes of EEG of every person of a release who has any; indexed by subject."""
        own = self.recordings[self.recordings["release"] == release]
        lengths = [self.recording(key).duration_s / 60 for key in own["key"]]
        return pd.Series(lengths, index=own["subject"].to_numpy()).groupby(level=0).sum()

    @functools.cached_property
    def _paths(self) -> dict[str, str]:
        return dict(zip(self.recordings["key"], self.recordings["path"], strict=True))

    def _folder(self, release: str) -> Path:
        if release not in self.folders:
            raise InputError(f"{self.root}: has no release {release}; it has {', '.join(self.folders)}.")
        return self.folders[release]


def _folders(root: Path, wanted: Iterable[str] | None) -> dict[str, Path]:
    named = root.name if (root / "participants.tsv").is_file() else None
    if named is not None:
        found = [(release_of_folder(named) or _only_release(root), root)]
    else:
        entries = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        found = [(release, root / name) for name in entries if (release := release_of_folder(name))]
    if wanted is not None:
        asked = [wanted] if isinstance(wanted, str) else list(wanted)
        for name in asked:
            if not any(name in (release, folder.name) for release, folder in found):
                there = ", ".join(folder.name for _, folder in found) or "none"
                raise InputError(f"{root}: has no release {name}; it has {there}.")
        found = [pair for pair in found if pair[0] in asked or pair[1].name in asked]
    if not found:
        raise InputError(
            f"{root}: holds no release of HBN-EEG. Expected folders such as R5_L100_bdf, R5_mini_L100_bdf or "
            f"{OPENNEURO['R5']}. To make a simulated one: neuroarena data simulate hbn DIR"
        )
    folders: dict[str, Path] = {}
    for release, folder in sorted(found, key=lambda pair: RELEASES.index(pair[0])):
        if release in folders:
            raise InputError(
                f"{root}: {release} occurs twice, as {folders[release].name} and as {folder.name}. Name the folders "
                "to use with the option releases."
            )
        folders[release] = folder
    return folders


def _only_release(root: Path) -> str:
    """Find the release of a folder with another name, from its participants."""
    file = root / "participants.tsv"
    table = participants(root)
    names = sorted({str(name) for name in table.get("release_number", ())})
    if len(names) != 1 or names[0] not in RELEASES:
        raise InputError(
            f"{file}: release_number must be one of {', '.join(RELEASES)}, the same for everybody; "
            f"got {', '.join(names) or 'no such column'}."
        )
    return names[0]


def _stamp(folder: Path) -> tuple[int, int]:
    try:
        state = (folder / "participants.tsv").stat()
    except OSError:
        return (0, 0)  # the reader of tables reports which file is missing
    return state.st_mtime_ns, state.st_size


@functools.lru_cache(maxsize=64)
def _participants(folder: str, release: str, stamp: tuple[int, int]) -> pd.DataFrame:
    del stamp  # only part of the cache key: it changes when the file changes
    file = Path(folder) / "participants.tsv"
    table = participants(folder)
    missing = [name for name in PARTICIPANT_COLUMNS if name not in table.columns]
    if missing:
        raise InputError(f'{file}: line 1: the column "{missing[0]}" is missing.')
    for name in ("age", "ehq_total", *FACTORS):
        table[name] = parse_numbers(table, name, file, may_miss=True)
    for row, (found, sex) in enumerate(zip(table["release_number"], table["sex"], strict=True)):
        if found != release:
            raise InputError(f"{file}: line {row + 2}: release_number is {found}, expected {release}.")
        if isinstance(sex, str) and sex not in ("M", "F"):
            raise InputError(f'{file}: line {row + 2}: sex is "{sex}", expected M, F or n/a.')
    for name in TASK_COLUMNS:
        for row, word in enumerate(table[name]):
            if isinstance(word, str) and word not in AVAILABILITY:
                raise InputError(
                    f'{file}: line {row + 2}: {name} is "{word}", expected one of {", ".join(AVAILABILITY)}.'
                )
    return table[list(PARTICIPANT_COLUMNS)]


def _list(release: str, folder: Path) -> list[dict[str, Any]]:
    rows = []
    for person in sorted(os.listdir(folder)):
        place = folder / person / "eeg"
        if not person.startswith("sub-") or not place.is_dir():
            continue
        for name in sorted(os.listdir(place)):
            if not name.endswith(("_eeg.bdf", "_eeg.set")) or name.startswith("."):
                continue
            match = _NAME.fullmatch(name)
            if match is None or f"sub-{match['subject']}" != person or match["task"] not in TASKS:
                raise InputError(
                    f"{place / name}: does not follow the naming of HBN-EEG recordings. Expected "
                    f"{person}_task-<task>[_run-<n>]_eeg with a task of {', '.join(TASKS)}."
                )
            run = int(match["run"] or 0)
            key = f"{release}/{match['subject']}_{match['task']}" + (f"_run-{run}" if run else "")
            rows.append(
                {
                    "key": key,
                    "release": release,
                    "subject": match["subject"],
                    "task": match["task"],
                    "run": run,
                    "path": str(place / name),
                }
            )
    return rows


@functools.lru_cache(maxsize=65536)
def _open(path: str, stamp: tuple[int, int]) -> Recording:
    del stamp  # only part of the cache key: it changes when the file changes
    recording = _native(path) if path.endswith(".bdf") else open_file(path)
    names = recording.channels["name"].tolist()
    absent = [name for name in CHANNELS if name not in set(names)]
    if absent:
        raise InputError(
            f"{path}: lacks {len(absent)} of the 129 channels E1 to E128 and Cz, for example {absent[0]}."
        )
    return recording if tuple(names) == CHANNELS else recording.select(list(CHANNELS))


def _native(path: str) -> Recording:
    try:
        source = BdfSource(path)
    except NotPlain:
        return open_file(path)
    return Recording(source, _channels(source.labels), source.rate_hz)


@functools.lru_cache(maxsize=16)
def _channels(labels: tuple[str, ...]) -> pd.DataFrame:
    return channel_table(labels, kind="eeg")
