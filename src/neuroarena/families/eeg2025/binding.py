"""Bind the challenges to a folder of HBN-EEG: which releases, which people, which recordings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from neuroarena.benchmarks.split_rules import fold_of
from neuroarena.benchmarks.splits import Split
from neuroarena.datasets.card import stamp_folder
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn import HBN
from neuroarena.families.eeg2025.hbn.facts import (
    CHANNELS,
    DEMOGRAPHICS,
    EXCLUDED,
    FACTORS,
    FAST_SUBJECT,
    REFERENCE,
    SEALED,
    TRAINING,
    VALIDATION,
)
from neuroarena.families.eeg2025.trials import trial_table
from neuroarena.families.eeg2025.windows import RATE_HZ
from neuroarena.recordings import Recording

MINIMUM_MINUTES = 15.0
# An error is measured relative to the spread of the targets, and a person has a single factor: the quick run of the
# published scorer, on one person, divides by zero. Ours uses this many people.
FAST_PEOPLE = 4


def open_folder(root: str, releases: tuple[str, ...] | None) -> HBN:
    """Open a folder of releases, once for as long as it is the same."""
    return _open_folder(root, releases, stamp_folder(root))


@functools.lru_cache(maxsize=8)
def _open_folder(root: str, releases: tuple[str, ...] | None, stamp: tuple[str, int]) -> HBN:
    del stamp  # only part of the cache key
    return HBN(root, releases)


@dataclass(frozen=True)
class Choices:
    """The options chosen besides the name of the benchmark, checked.

    Attributes
    ----------
    minimum_minutes : float
        Least EEG of a person who counts, where one prediction per person is required.
    channels : int
        129, or 128 without the flat reference.
    fast : bool
        Judge only a few people.
    named : bool
        Whether the releases were named, so that others may be missing.
    """

    minimum_minutes: float
    channels: int
    fast: bool
    named: bool

    @classmethod
    def checked(
        cls,
        dataset: HBN,
        definition: str,
        minimum_minutes: float | None,
        channels: int,
        fast: bool,
        named: bool,
    ) -> Choices:
        """Check options against each other and the data.

        Raises
        ------
        InputError
            Naming the option, or the releases that real data lack.
        """
        if channels == 128 and definition == "as-scored":
            raise InputError(
                "eeg2025@as-scored: the option channels must be 129, as in the published scorer; it is 128."
            )
        if minimum_minutes is None:
            minimum_minutes = float((dataset.card or {}).get("minimum_minutes", MINIMUM_MINUTES))
        absent = [name for name in (*TRAINING, VALIDATION) if name not in dataset.folders]
        if absent and not named and not dataset.simulated:
            raise InputError(
                f"{dataset.root}: the challenge needs the releases {', '.join(absent)}, which are not there. "
                "Download them, "
                "or name the releases you have with the option releases; nothing is left out silently."
            )
        return cls(minimum_minutes, channels, fast, named)

    def recorded(self, dataset: HBN) -> dict[str, Any]:
        """Return the options as plain data, as a result keeps them."""
        return {
            "releases": [folder.name for folder in dataset.folders.values()],
            "channels": self.channels,
            "minimum_minutes": self.minimum_minutes,
            "fast": self.fast,
        }

    def notes(self, dataset: HBN, one_a_person: bool) -> tuple[str, ...]:
        """Describe where these choices make it a different task."""
        said = []
        if one_a_person and self.minimum_minutes != MINIMUM_MINUTES:
            why = ", because simulated recordings are short" if dataset.simulated else ""
            said.append(
                f"People with at least {self.minimum_minutes:.4g} minutes of EEG count, not with 15{why}; "
                "everybody's input has that length."
            )
        if self.channels == 128:
            said.append("The reference channel Cz, which is flat, is left out: 128 channels.")
        if self.fast:
            said.append(f"A quick look: only {FAST_PEOPLE} people are judged. Not a score of the benchmark.")
        if self.named:
            said.append(f"Restricted to the releases {', '.join(dataset.folders)}.")
        return tuple(said)


def recordings_of(dataset: HBN, task: str) -> pd.DataFrame:
    """List the recordings of a task, in the order of releases, people and runs."""
    return dataset.recordings[dataset.recordings["task"] == task]


def open_checked(dataset: HBN, key: str) -> Recording:
    """Open a recording of the competition's copies, which have 100 Hz.

    Raises
    ------
    InputError
        When it has another rate.
    """
    recording = dataset.recording(key)
    if recording.rate_hz != RATE_HZ:
        raise InputError(
            f"{dataset.path(key)}: has {recording.rate_hz:g} Hz; the challenge reads recordings of {RATE_HZ} Hz. "
            "Make them with: neuroarena data preprocess hbn RAW OUT"
        )
    return recording


def without_reference(recording: Recording, channels: int) -> Recording:
    """Leave out the flat reference where 128 channels are requested."""
    if channels == len(CHANNELS):
        return recording
    return recording.select([name for name in CHANNELS if name != REFERENCE])


def trials_of(dataset: HBN, key: str) -> pd.DataFrame:
    """Return the trial table of a contrast change recording."""
    path = dataset.path(key)
    events = path.with_name(path.name.rpartition("_")[0] + "_events.tsv")
    stamp = (events.stat().st_mtime_ns, events.stat().st_size) if events.is_file() else (0, 0)
    return _trials(dataset, key, stamp).copy()


@functools.lru_cache(maxsize=16384)
def _trials(dataset: HBN, key: str, stamp: tuple[int, int]) -> pd.DataFrame:
    del stamp  # only part of the cache key: it changes when the file changes
    return trial_table(dataset.events(key), str(dataset.path(key)))


def people_of(dataset: HBN) -> pd.DataFrame:
    """List the people of all releases: release, and the columns of participants.tsv; indexed by subject.

    Raises
    ------
    InputError
        When a person is in two releases: training and test would share that person.
    """
    tables = [dataset.participants(release).assign(release=release) for release in dataset.folders]
    people = pd.concat(tables, ignore_index=True).set_index("participant_id")
    twice = people.index[people.index.duplicated()]
    if len(twice):
        where = ", ".join(people.loc[[twice[0]], "release"])
        raise InputError(
            f"{dataset.root}: {twice[0]} is in two releases, {where}. Keep each person in only one."
        )
    return people


def described(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Make a table of examples; the unit is the subject, and the session the recording."""
    table = pd.DataFrame(rows, columns=["id", "recording", "start", "stop", "target", "subject", "release"])
    return table.assign(unit=table["subject"], cluster="", session=table["recording"])


def check_listed(dataset: HBN, people: pd.DataFrame, subjects: Iterable[str]) -> None:
    """Refuse recordings of people whom participants.tsv does not list."""
    for subject in subjects:
        if subject not in people.index:
            raise InputError(f"{dataset.root}: {subject} has recordings but no line in participants.tsv.")


def split_rules(
    dataset: HBN, choices: Choices, zero_shot: bool
) -> dict[str, Callable[[pd.DataFrame], Split]]:
    """Return the splits that a folder allows: training releases to R5, and to the sealed R12."""
    rules: dict[str, Callable[[pd.DataFrame], Split]] = {}
    for name, judged in (("validation", VALIDATION), ("sealed", SEALED)):
        if judged in dataset.folders:
            people = quick_people(dataset, judged) if choices.fast else None
            rules[name] = functools.partial(
                by_release, name=name, judged=judged, people=people, choose=not zero_shot
            )
    if not rules:
        raise InputError(
            f"{dataset.root}: has neither {VALIDATION} nor {SEALED}, the releases that are judged."
        )
    return rules


def quick_people(dataset: HBN, release: str) -> tuple[str, ...]:
    """Choose the people of a quick look: complete ones with many recordings, starting with the published scorer's."""
    people = dataset.participants(release).set_index("participant_id")
    complete = people.index[people[[*FACTORS, *DEMOGRAPHICS]].notna().all(axis=1)]
    own = dataset.recordings[dataset.recordings["release"] == release]
    counts = own.loc[own["subject"].isin(complete), "subject"].value_counts()
    ordered = sorted(counts.index, key=lambda who: (who != FAST_SUBJECT, -counts[who], who))
    return tuple(ordered[:FAST_PEOPLE])


def by_release(
    examples: pd.DataFrame, name: str, judged: str, people: tuple[str, ...] | None, choose: bool
) -> Split:
    """Train on the training releases, without the people the start kit leaves out; judge one release.

    Models are chosen on R5 where R12 is judged, except where training may not see contrast change data.
    """
    trained = examples["release"].isin(TRAINING) & ~examples["subject"].isin(EXCLUDED)
    tested = examples["release"] == judged
    if people is not None:
        tested &= examples["subject"].isin(people)
    held_out = examples["release"].eq(VALIDATION) & bool(choose and judged != VALIDATION)
    return Split(name, (fold_of(judged, examples, trained, tested, held_out),))
