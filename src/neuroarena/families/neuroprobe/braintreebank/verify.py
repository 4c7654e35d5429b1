"""Check a folder of BrainTreebank, real or simulated."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import h5py
import numpy as np
import pandas as pd

from neuroarena.datasets.dataset import Problem
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import facts
from neuroarena.families.neuroprobe.braintreebank.published import FOLDER
from neuroarena.families.neuroprobe.braintreebank.reader import BrainTreebank
from neuroarena.families.neuroprobe.braintreebank.words import WINDOW, word_table
from neuroarena.recordings.hdf5_handle import Hdf5Handle

T = TypeVar("T")


def verify(root: str | Path) -> list[Problem]:
    """List what is missing or inconsistent in a folder; an empty list means that it is good.

    Signals are not read, only their shapes: a real folder takes seconds.

    Parameters
    ----------
    root : path
        The folder.
    """
    try:
        data = BrainTreebank(root)
    except InputError as error:
        return [Problem.of(error, root)]
    problems = list(_check_card(data))
    for subject in sorted({subject for subject, _ in data.sessions}):
        problems += _check_subject(data, subject)
    for subject, trial in data.sessions:
        problems += _check_session(data, subject, trial)
    return list(dict.fromkeys(problems))


def _attempt(problems: list[Problem], data: BrainTreebank, file: str, read: Callable[[], T]) -> T | None:
    try:
        return read()
    except InputError as error:
        problems.append(Problem.of(error, data.root, file))
        return None


def _check_card(data: BrainTreebank) -> Iterator[Problem]:
    for entry in (data.card or {}).get("sessions", []):
        session = (entry["subject"], entry["trial"])
        name = f"sub_{session[0]}_trial{session[1]:03d}.h5"
        if session not in data.sessions:
            yield Problem(name, "is missing, but simulated.json lists the session.")


def _check_subject(data: BrainTreebank, subject: int) -> list[Problem]:
    problems: list[Problem] = []
    label_file = f"electrode_labels/sub_{subject}/electrode_labels.json"
    labels = _attempt(problems, data, label_file, lambda: data.labels(subject))
    corrupted = _attempt(problems, data, "corrupted_elec.json", lambda: data.corrupted(subject))
    if labels is None or corrupted is None:
        return problems
    unknown = sorted(corrupted - set(labels))
    if unknown:
        problems.append(
            Problem(
                "corrupted_elec.json", f"lists {unknown[0]} for sub_{subject}, which is not in {label_file}."
            )
        )
    table = _attempt(problems, data, "localization", lambda: data.electrodes(subject))
    if table is not None:
        problems += _check_places(table, subject)
    return problems


def _check_places(table: pd.DataFrame, subject: int) -> Iterator[Problem]:
    if table.empty:
        yield Problem(f"electrode_labels/sub_{subject}/electrode_labels.json", "leaves no usable electrode.")
    placeless = table.loc[table[["x", "y", "z"]].isna().any(axis=1), "name"]
    if len(placeless):
        yield Problem(
            "localization/elec_coords_full.csv",
            f"has no complete X, Y, Z for {len(placeless)} electrodes of sub_{subject}, the first {placeless.iloc[0]}.",
        )
    nowhere = table.loc[table["region"] == "", "name"]
    if len(nowhere):
        yield Problem(
            f"localization/sub_{subject}/depth-wm.csv",
            f"has no DesikanKilliany region for {len(nowhere)} electrodes, the first {nowhere.iloc[0]}.",
        )


def _check_session(data: BrainTreebank, subject: int, trial: int) -> list[Problem]:
    problems: list[Problem] = []
    stem = f"sub_{subject}_trial{trial:03d}"
    n_samples = _check_signals(problems, data, subject, trial)
    _attempt(problems, data, FOLDER, lambda: data.published(subject, trial))
    movie = data.movie(subject, trial) if (subject, trial) in facts.MOVIES else None
    metadata_file = f"subject_metadata/{stem}_metadata.json"
    metadata = _attempt(problems, data, metadata_file, lambda: data.metadata(subject, trial))
    if metadata is not None:
        movie = movie or metadata.get("filename")
        if metadata.get("filename") != movie:
            found = metadata.get("filename")
            problems.append(Problem(metadata_file, f'"filename" should be "{movie}", got {found!r}.'))
    if movie is None:
        return problems
    features = _attempt(problems, data, f"transcripts/{movie}", lambda: data.features(subject, trial))
    triggers = _attempt(problems, data, f"subject_timings/{stem}", lambda: data.triggers(subject, trial))
    if triggers is not None:
        problems += _check_triggers(triggers, f"subject_timings/{stem}_timings.csv", n_samples)
    if features is not None:
        problems += _check_pitch(data, movie, features)
    if features is not None and triggers is not None and n_samples is not None:
        problems += _check_words(features, triggers, f"transcripts/{movie}/features.csv", stem, n_samples)
    return problems


def _check_signals(problems: list[Problem], data: BrainTreebank, subject: int, trial: int) -> int | None:
    """Check every labelled dataset of the HDF5 file; return the common length when all is well."""
    path = data.signal_path(subject, trial)
    try:
        labels = data.labels(subject)
    except InputError:
        return None  # reported with the subject
    try:
        with Hdf5Handle(path) as file:
            found = list(_signal_problems(file, labels, path.name))
            lengths = [] if found else [file[f"data/electrode_{i}"].shape[0] for i in range(len(labels))]
    except InputError as error:
        problems.append(Problem.of(error, path.name, path.name))
        return None
    except (OSError, RuntimeError) as error:
        problems.append(Problem(path.name, f"cannot be read as HDF5: {error}."))
        return None
    problems += found
    return int(lengths[0]) if lengths else None


def _signal_problems(file: Any, labels: list[str], name: str) -> Iterator[Problem]:
    if not isinstance(file.get("data"), h5py.Group):
        yield Problem(name, 'has no group "data".')
        return
    length: int | None = None
    for number, label in enumerate(labels):
        dataset = file["data"].get(f"electrode_{number}")
        if not isinstance(dataset, h5py.Dataset):
            yield Problem(name, f"has no dataset data/electrode_{number}, the signal of {label}.")
        elif len(dataset.shape) != 1 or dataset.dtype.kind not in "iuf":
            yield Problem(
                name,
                f"data/electrode_{number} ({label}) should be one row of numbers, "
                f"got shape {dataset.shape} of {dataset.dtype}.",
            )
        elif length is not None and dataset.shape[0] != length:
            yield Problem(
                name,
                f"data/electrode_{number} ({label}) holds {dataset.shape[0]} samples, "
                f"but the ones before hold {length}.",
            )
        else:
            length = dataset.shape[0]


def _check_triggers(triggers: pd.DataFrame, file: str, n_samples: int | None) -> Iterator[Problem]:
    typed = triggers[triggers["type"] == "trigger"] if "type" in triggers.columns else triggers
    rows = typed.dropna(subset=["index"])
    if rows.empty:
        yield Problem(file, "does not hold any trigger.")
        return
    for column in ("movie_time", "index"):
        values = rows[column].to_numpy(dtype=float)
        back = np.flatnonzero(np.diff(values) < 0)
        if len(back):
            row = rows.index[back[0] + 1]
            yield Problem(
                file, f'column "{column}" goes backwards at row {row + 1}; triggers must be in order.'
            )
    last = float(rows["index"].max())
    if n_samples is not None and last > n_samples:
        yield Problem(file, f"the last trigger is at sample {last:g}, but the recording holds {n_samples}.")


def _check_pitch(data: BrainTreebank, movie: str, features: pd.DataFrame) -> list[Problem]:
    problems: list[Problem] = []
    file = f"transcripts/{movie}/{movie}_pitch_volume_features.json"
    pitch = _attempt(problems, data, file, lambda: data.pitch(movie))
    if problems:
        return problems
    if pitch is None and not data.simulated and "pitch" in features.columns:
        # The table comes with Neuroprobe, not with BrainTreebank; the column replaces it.
        return []
    if pitch is None:
        return [Problem(file, "is missing (also from pitch_volume_features/); the pitch task needs it.")]
    try:
        known = {f"{float(key):.5f}" for key in pitch}
    except ValueError:
        return [Problem(file, "has a key that is not a start time in seconds.")]
    if any(not isinstance(entry, dict) or "enhanced_pitch" not in entry for entry in pitch.values()):
        return [Problem(file, 'has a word without "enhanced_pitch".')]
    complete = features.drop(columns=["word_diff", "onset_diff"], errors="ignore").dropna()
    absent = [start for start in complete["start"] if f"{start:.5f}" not in known]
    if absent:
        return [Problem(file, f"lacks {len(absent)} words of features.csv, the first at {absent[0]:.5f} s.")]
    return []


def _check_words(
    features: pd.DataFrame, triggers: pd.DataFrame, file: str, stem: str, n_samples: int
) -> Iterator[Problem]:
    words = word_table(features, triggers)
    if words.empty:
        yield Problem(file, f"no word falls into the recording {stem}.")
        return
    beyond = words[words["est_idx"] + WINDOW > n_samples]
    if len(beyond):
        row = beyond.iloc[0]
        yield Problem(
            f"{stem}.h5",
            f"the window of {len(beyond)} words ends after the recording ({n_samples} samples), "
            f"the first in row {int(row['original_index'])} of {file} at sample {int(row['est_idx'])}.",
        )
