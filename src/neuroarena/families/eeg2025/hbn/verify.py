"""Check a folder of HBN-EEG, real or simulated."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.hbn.facts import CONTRAST, RATE_HZ, RAW_RATE_HZ, TASK_COLUMNS
from neuroarena.families.eeg2025.hbn.reader import HBN


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    Headers and tables are read, signals are not.

    Parameters
    ----------
    root : path
        The folder.
    """
    try:
        data = HBN(root)
        recordings = data.recordings
    except InputError as error:
        return [Problem.of(error, root)]
    problems = list(data.check_files())
    owners: dict[str, str] = {}
    for release in data.folders:
        try:
            people = data.participants(release)
        except InputError as error:
            problems.append(Problem.of(error, data.root, data.folders[release].name))
            continue
        problems += _check_people(data, release, people, recordings, owners)
    for key, path in zip(recordings["key"], recordings["path"], strict=True):
        problems += _check_recording(data, key, Path(path))
    return list(dict.fromkeys(problems))


def _check_people(
    data: HBN, release: str, people: pd.DataFrame, recordings: pd.DataFrame, owners: dict[str, str]
) -> Iterator[Problem]:
    own = recordings[recordings["release"] == release]
    file = f"{data.folders[release].name}/participants.tsv"
    for subject in people["participant_id"]:
        if subject in owners:
            yield Problem(file, f"{subject} is also in {owners[subject]}; nobody may be in two releases.")
        owners.setdefault(subject, release)
    for subject in sorted(set(own["subject"]) - set(people["participant_id"])):
        yield Problem(file, f"has no line for {subject}, who has recordings.")
    there = {
        (subject, f"{task}_{run}" if run else task)
        for subject, task, run in zip(own["subject"], own["task"], own["run"], strict=True)
    }
    for row in people.to_dict("records"):
        for column in TASK_COLUMNS:
            if row[column] == "available" and (row["participant_id"], column) not in there:
                yield Problem(
                    file, f"{row['participant_id']}: {column} is available, but there is no recording of it."
                )


def _check_recording(data: HBN, key: str, path: Path) -> Iterator[Problem]:
    file = path.relative_to(data.root).as_posix()
    try:
        recording = data.recording(key)
        events = data.events(key)
    except InputError as error:
        yield Problem.of(error, data.root, file)
        return
    if recording.rate_hz not in (RATE_HZ, RAW_RATE_HZ):
        yield Problem(
            file, f"has {recording.rate_hz:g} Hz; expected {RATE_HZ}, or {RAW_RATE_HZ} for raw data."
        )
    late = events[(events["onset_s"] < 0) | (events["onset_s"] >= recording.duration_s)]
    # Raw releases have such events; preprocessing drops them.
    if len(late) and recording.rate_hz == RATE_HZ:
        yield Problem(file, f"{len(late)} events lie outside its {recording.duration_s:g} s.")
    if key.partition("_")[2].startswith(CONTRAST) and not (events["value"] == "contrastTrial_start").any():
        yield Problem(file, "has no contrastTrial_start among its events.")
