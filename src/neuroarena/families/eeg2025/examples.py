"""The examples of each task and definition: windows of trials, crops, people, and pairs of inputs."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.eeg2025.binding import (
    Choices,
    check_listed,
    described,
    open_checked,
    people_of,
    recordings_of,
    trials_of,
    without_reference,
)
from neuroarena.families.eeg2025.hbn import HBN
from neuroarena.families.eeg2025.hbn.facts import CONTRAST, DEMOGRAPHICS, SURROUND, TASKS, TRAINING
from neuroarena.families.eeg2025.pieces import PiecesSource, StackedSource, stacked_channels
from neuroarena.families.eeg2025.windows import (
    RATE_HZ,
    SHIFT,
    WINDOW,
    cropped_starts,
    spread_starts,
    stimulus_starts,
)
from neuroarena.recordings import Recording

STIMULUS = "stim_ON"
PRE_TRIAL, SURROUNDED = "pre-trial", "surround"


def trial_examples(dataset: HBN) -> pd.DataFrame:
    """Make one window per trial of contrast change; trials whose window leaves the recording are left out."""
    people = people_of(dataset)
    listed = recordings_of(dataset, CONTRAST)
    check_listed(dataset, people, listed["subject"].unique())
    rows: list[dict[str, Any]] = []
    for recording in listed.itertuples():
        key = str(recording.key)
        trials = trials_of(dataset, key)
        starts = stimulus_starts(trials["stimulus_onset"].to_numpy())
        n_samples = open_checked(dataset, key).n_samples
        inside = (starts >= 0) & (starts + WINDOW <= n_samples)
        for trial in np.flatnonzero(inside):
            rows.append(
                {
                    "id": f"{key}-{trial:03d}",
                    "recording": key,
                    "start": int(starts[trial]),
                    "stop": int(starts[trial]) + WINDOW,
                    "target": float(trials["rt_from_stimulus"].iloc[trial]),
                    "subject": recording.subject,
                    "release": recording.release,
                }
            )
    return _with_demographics(described(rows), people)


def crop_examples(dataset: HBN, factor: str) -> pd.DataFrame:
    """Make cropped windows of the contrast change recordings of everybody whose factor is known."""
    people = people_of(dataset)
    listed = recordings_of(dataset, CONTRAST)
    check_listed(dataset, people, listed["subject"].unique())
    targets = _scores(people, factor)
    rows: list[dict[str, Any]] = []
    for recording in listed.itertuples():
        key, target = str(recording.key), targets[recording.subject]
        if np.isnan(target):
            continue
        starts = cropped_starts(open_checked(dataset, key).n_samples)
        rows += [
            {
                "id": f"{key}-{place:04d}",
                "recording": key,
                "start": int(start),
                "stop": int(start) + WINDOW,
                "target": target,
                "subject": recording.subject,
                "release": recording.release,
            }
            for place, start in enumerate(starts)
        ]
    return _with_demographics(described(rows), people)


def person_examples(dataset: HBN, factor: str, choices: Choices) -> pd.DataFrame:
    """Make one example per person with complete demographics and enough EEG: pieces of all tasks, end to end."""
    people = people_of(dataset)
    check_listed(dataset, people, dataset.recordings["subject"].unique())
    pieces = n_pieces(choices)
    whole = people[[*DEMOGRAPHICS, factor]].notna().all(axis=1)
    complete, targets = set(people.index[whole]), _scores(people, factor)
    rows = []
    for (release, subject), own in dataset.recordings.groupby(["release", "subject"], sort=True):
        if subject not in complete:
            continue
        there = sum(open_checked(dataset, key).n_samples // WINDOW for key in own["key"])
        if there < pieces:
            continue
        rows.append(
            {
                "id": f"{release}/{subject}",
                "recording": f"{release}/{subject}",
                "start": 0,
                "stop": pieces * WINDOW,
                "target": targets[subject],
                "subject": subject,
                "release": release,
            }
        )
    return _with_demographics(described(rows), people)


def pair_examples(dataset: HBN) -> pd.DataFrame:
    """Make examples without contrast change data in training.

    Training: stimuli of the surround suppression task, the target being the person's mean response time.
    Judged: trials of the contrast change task, with the EEG before them and a surround suppression stimulus
    of the same person alongside. People without surround suppression are left out.
    """
    people = people_of(dataset)
    check_listed(dataset, people, dataset.recordings["subject"].unique())
    rows: list[dict[str, Any]] = []
    for (release, subject), own in dataset.recordings.groupby(["release", "subject"], sort=True):
        stimuli = _stimuli(dataset, own)
        contrast = own[own["task"] == CONTRAST]
        trials = {str(key): trials_of(dataset, str(key)) for key in contrast["key"]}
        if not len(stimuli) or not sum(map(len, trials.values())):
            continue
        who = {"subject": subject, "release": release}
        if release in TRAINING:
            mean = float(pd.concat(list(trials.values()))["rt_from_stimulus"].mean())
            rows += [
                {
                    "id": f"{release}/{subject}_{SURROUND}-{place:03d}",
                    "recording": f"{release}/{subject}_{SURROUND}",
                }
                | {"start": place * WINDOW, "stop": (place + 1) * WINDOW, "target": mean, **who}
                for place in range(len(stimuli))
            ]
            continue
        for key, table in trials.items():
            kept = table[_pre_trial_starts(table) >= 0]
            rows += [
                {"id": f"{key}-{place:03d}", "recording": f"{key}+{SURROUND}"}
                | {"start": place * WINDOW, "stop": (place + 1) * WINDOW, "target": float(seconds), **who}
                for place, seconds in enumerate(kept["rt_from_stimulus"])
            ]
    return _with_demographics(described(rows), people)


def open_window(dataset: HBN, choices: Choices, key: str) -> Recording:
    """Open a recording as it is."""
    return without_reference(open_checked(dataset, key), choices.channels)


@functools.lru_cache(maxsize=8192)
def open_person(dataset: HBN, choices: Choices, key: str) -> Recording:
    """Open the pieces of one person, evenly spread over the recordings of all tasks, laid end to end."""
    release, _, subject = key.partition("/")
    own = dataset.recordings[
        (dataset.recordings["release"] == release) & (dataset.recordings["subject"] == subject)
    ]
    order = own.assign(place=own["task"].map(TASKS.index)).sort_values(["place", "run"])
    recordings = [open_window(dataset, choices, str(name)) for name in order["key"]]
    owners, starts = spread_starts([each.n_samples for each in recordings], n_pieces(choices))
    source = PiecesSource(recordings, owners, starts, key)
    return Recording(source, recordings[0].channels, RATE_HZ)


@functools.lru_cache(maxsize=8192)
def open_pair(dataset: HBN, choices: Choices, key: str) -> Recording:
    """Open the EEG before trials alongside the surround suppression stimuli, as 2 x 129 channels."""
    release, _, name = key.partition("/")
    own = dataset.recordings[
        (dataset.recordings["release"] == release) & (dataset.recordings["subject"] == name.partition("_")[0])
    ]
    stimuli = _stimuli(dataset, own)
    keys = sorted(set(stimuli["key"]))
    surround = [open_window(dataset, choices, each) for each in keys]
    owners = stimuli["key"].map(keys.index).to_numpy()
    onsets = stimuli["sample"].to_numpy()
    if key.endswith(f"+{SURROUND}"):
        contrast = key.removesuffix(f"+{SURROUND}")
        before = _pre_trial_starts(trials_of(dataset, contrast))
        before = before[before >= 0]
        first = PiecesSource(
            [open_window(dataset, choices, contrast)], np.zeros(len(before), int), before, key
        )
        # Trials use the person's stimuli in turn.
        turn = np.arange(len(before)) % len(onsets)
        owners, onsets = owners[turn], onsets[turn]
    else:
        first = PiecesSource(surround, owners, onsets - WINDOW, key)
    second = PiecesSource(surround, owners, onsets + SHIFT, key)
    channels = stacked_channels(surround[0].channels, PRE_TRIAL, SURROUNDED)
    return Recording(StackedSource(first, second, key), channels, RATE_HZ)


def n_pieces(choices: Choices) -> int:
    """Count the pieces of 2 s that everybody's EEG is cut to."""
    pieces = round(choices.minimum_minutes * 60 * RATE_HZ) // WINDOW
    if not pieces:
        raise InputError(f"minimum_minutes must be at least 2 s, got {choices.minimum_minutes} minutes.")
    return pieces


def _stimuli(dataset: HBN, own: pd.DataFrame) -> pd.DataFrame:
    """List the surround suppression stimuli of one person whose windows lie inside: key and sample."""
    rows = []
    for key in own.loc[own["task"] == SURROUND, "key"]:
        events = dataset.events(key)
        onsets = events.loc[events["value"] == STIMULUS, "onset_s"].to_numpy(dtype=np.float64)
        samples = np.rint(np.sort(onsets) * RATE_HZ).astype(np.int64)
        n_samples = open_checked(dataset, key).n_samples
        inside = (samples >= WINDOW) & (samples + SHIFT + WINDOW <= n_samples)
        rows += [(key, int(sample)) for sample in samples[inside]]
    return pd.DataFrame(rows, columns=["key", "sample"])


def _pre_trial_starts(trials: pd.DataFrame) -> np.ndarray:
    starts = np.rint(trials["trial_start_onset"].to_numpy(dtype=np.float64) * RATE_HZ)
    before: np.ndarray = starts.astype(np.int64) - WINDOW
    return before


def _scores(people: pd.DataFrame, factor: str) -> dict[Any, float]:
    return dict(zip(people.index, people[factor].astype(float), strict=True))


def _with_demographics(examples: pd.DataFrame, people: pd.DataFrame) -> pd.DataFrame:
    known = people.loc[examples["subject"], list(DEMOGRAPHICS)].reset_index(drop=True)
    return pd.concat([examples, known], axis=1)
