"""The tasks of Neuroprobe and which rows of a session's tables fall into which class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.registry import unknown_name

Rule = Literal["scalar", "gap", "nonverbal", "faces", "index", "head", "speech-part", "angle", "speaker"]

DEFINITIONS = ("2025.10", "2025.09", "2025.07", "strict")

PITCH_VARIABLES = tuple(
    f"{delta}{track}_{kind}"
    for delta in ("", "delta_")
    for track in ("enhanced", "raw")
    for kind in ("pitch", "volume")
)
PARTS_OF_SPEECH = ("NOUN", "VERB", "PRON", "DET", "ADJ", "ADV")


@dataclass(frozen=True)
class Task:
    """One decoding task: where its value is found and by which rule it becomes a class."""

    name: str
    title: str
    rule: Rule
    column: str

    def n_classes(self, multiclass: bool) -> int:
        """Count the classes; three tasks have no multiclass form and stay binary."""
        if not multiclass or self.rule in ("nonverbal", "head"):
            return 2
        return len(PARTS_OF_SPEECH) if self.rule == "speech-part" else 3

    @property
    def from_pitch_table(self) -> bool:
        """Whether the value is read from the movie's pitch and volume JSON, not from features.csv."""
        return self.column in PITCH_VARIABLES


TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task("onset", "Sentence Onset", "nonverbal", "is_onset"),
        Task("speech", "Speech", "nonverbal", ""),
        Task("volume", "Volume", "scalar", "rms"),
        Task("delta_volume", "Delta Volume", "scalar", "delta_rms"),
        Task("pitch", "Voice Pitch", "scalar", "enhanced_pitch"),
        Task("word_index", "Word Position", "index", "idx_in_sentence"),
        Task("word_gap", "Inter-word Gap", "gap", "sentence"),
        Task("gpt2_surprisal", "GPT-2 Surprisal", "scalar", "gpt2_surprisal"),
        Task("word_head_pos", "Head Word Position", "head", "bin_head"),
        Task("word_part_speech", "Part of Speech", "speech-part", "pos"),
        Task("word_length", "Word Length", "scalar", "word_length"),
        Task("global_flow", "Global Optical Flow", "scalar", "max_global_magnitude"),
        Task("local_flow", "Local Optical Flow", "scalar", "max_vector_magnitude"),
        Task("frame_brightness", "Frame Brightness", "scalar", "mean_pixel_brightness"),
        Task("face_num", "Number of Faces", "faces", "face_num"),
    )
}

# The first definition also had these tasks.
TASKS_ONLY_2025_07: dict[str, Task] = {
    task.name: task
    for task in (
        Task("delta_pitch", "Delta Pitch", "scalar", "delta_enhanced_pitch"),
        Task("global_flow_angle", "Global Flow Angle", "angle", "max_global_angle"),
        Task("local_flow_angle", "Local Flow Angle", "angle", "max_vector_angle"),
        Task("speaker", "Speaker Identity", "speaker", "speaker"),
    )
}

# Names of columns that the published package accepts as scalar tasks.
COLUMN_NAMES = (
    "rms",
    "delta_rms",
    "mean_pixel_brightness",
    "max_global_magnitude",
    "max_vector_magnitude",
    *PITCH_VARIABLES,
)


def tasks_of(definition: str) -> dict[str, Task]:
    """Return the tasks of a definition in their canonical order.

    Raises
    ------
    InputError
        When Neuroprobe has no such definition.

    Examples
    --------
    >>> len(tasks_of("2025.10")), len(tasks_of("2025.07"))
    (15, 19)
    """
    if definition not in DEFINITIONS:
        raise InputError(f'Neuroprobe has no definition "{definition}"; it has {", ".join(DEFINITIONS)}.')
    return {**TASKS, **TASKS_ONLY_2025_07} if definition == "2025.07" else TASKS


def find_task(name: str, definition: str) -> Task:
    """Find a task by its name, or a scalar task by the column it ranks.

    Raises
    ------
    InputError
        With the closest names.
    """
    tasks = tasks_of(definition)
    if name in tasks:
        return tasks[name]
    if name in COLUMN_NAMES:
        return Task(name, name, "scalar", name)
    raise unknown_name("Neuroprobe task", name, tasks, "benchmarks")


def percentile_rank(values: np.ndarray) -> np.ndarray:
    """Return the share of values that are strictly smaller, for each value.

    Examples
    --------
    >>> percentile_rank(np.array([3.0, 1.0, 3.0, 2.0])).tolist()
    [0.5, 0.0, 0.5, 0.25]
    """
    return np.searchsorted(np.sort(values), values, side="left") / len(values)


def class_rows(
    task: Task, words: pd.DataFrame, n_nonverbal: int, multiclass: bool, strict_gap: bool
) -> list[np.ndarray]:
    """Sort the rows of a session into classes.

    Parameters
    ----------
    task : Task
    words : DataFrame
        Word table with its features joined, in transcript order.
    n_nonverbal : int
        Number of rows of the non-verbal table.
    multiclass : bool
        Use the multiclass form.
    strict_gap : bool
        Whether the binary top class of ``word_gap`` is strictly above the third quartile, as in
        the definition of September 2025.

    Returns
    -------
    list of int arrays
        Ascending row numbers for class 0, 1, ...; they point into the word table, except for
        class 0 of onset and speech, which points into the non-verbal table.
    """
    if task.rule == "nonverbal":
        positive = (
            numbers_of(words, "is_onset", task) == 1 if task.column else np.ones(len(words), dtype=bool)
        )
        return [np.arange(n_nonverbal), np.flatnonzero(positive)]
    if task.rule == "scalar":
        ranks = percentile_rank(numbers_of(words, task.column, task))
        return _quartiles(ranks, np.arange(len(words)), multiclass, strict_top=not multiclass)
    if task.rule == "gap":
        rows, gaps = gaps_of(words, task)
        return _quartiles(percentile_rank(gaps), rows, multiclass, strict_top=strict_gap and not multiclass)
    if task.rule == "speech-part":
        parts = column_of(words, task.column, task).to_numpy()
        wanted = PARTS_OF_SPEECH if multiclass else PARTS_OF_SPEECH[:2]
        return [np.flatnonzero(parts == part) for part in wanted]
    values = numbers_of(words, task.column, task).astype(np.int64)
    if task.rule == "faces":
        masks = [values == 0, values == 1, values > 1] if multiclass else [values == 0, values > 0]
    elif task.rule == "index":
        # The first word is class 1 of the binary task and class 0 of the multiclass one.
        masks = [values == 0, values == 1, values >= 2] if multiclass else [values == 1, values == 0]
    else:
        masks = [values == 1, values == 0]
    return [np.flatnonzero(mask) for mask in masks]


def _quartiles(ranks: np.ndarray, rows: np.ndarray, multiclass: bool, strict_top: bool) -> list[np.ndarray]:
    top = ranks > 0.75 if strict_top else ranks >= 0.75
    low = ranks < 0.25
    if multiclass:
        return [rows[low], rows[(ranks >= 0.375) & (ranks < 0.625)], rows[top]]
    return [rows[low], rows[top]]


def gaps_of(words: pd.DataFrame, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """Return the silence before each word that continues a sentence: rows and seconds."""
    sentence = column_of(words, task.column, task).to_numpy()
    rows = np.flatnonzero(sentence[1:] == sentence[:-1]) + 1
    start, end = numbers_of(words, "start", task), numbers_of(words, "end", task)
    gaps = start[rows] - end[rows - 1]
    if not len(rows):
        raise InputError(
            f"{task.name}: no two consecutive words share a sentence, so there is no gap to rank."
        )
    return rows, gaps


def column_of(words: pd.DataFrame, column: str, task: Task) -> pd.Series:
    """Return a column that every word must have a value in.

    Raises
    ------
    InputError
        When the column or a value is missing.
    """
    if column not in words.columns:
        raise InputError(
            f'{task.name}: the features lack the column "{column}". It is a column of transcripts/MOVIE/features.csv, '
            "or of the pitch and volume JSON for pitch tasks."
        )
    missing = words[column].isna().to_numpy()
    if missing.any():
        row = int(np.flatnonzero(missing)[0])
        raise InputError(
            f'{task.name}: {int(missing.sum())} words have no "{column}", the first is row {row} of the word table '
            f"(original_index {words['original_index'].iloc[row]}). Every word needs a value."
        )
    return words[column]


def numbers_of(words: pd.DataFrame, column: str, task: Task) -> np.ndarray:
    """Return a column as finite numbers, float (words,).

    Raises
    ------
    InputError
        When a value is missing or is not a finite number.
    """
    values = pd.to_numeric(column_of(words, column, task), errors="coerce").to_numpy(dtype=float)
    if not np.isfinite(values).all():
        row = int(np.flatnonzero(~np.isfinite(values))[0])
        raise InputError(
            f'{task.name}: "{column}" of row {row} of the word table is not a finite number but '
            f"{words[column].iloc[row]!r}."
        )
    return values
