"""From a session's word tables to the labelled windows of a task, item by item as published."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import pandas as pd

from neuroarena.benchmarks.neuroprobe.tasks import TASKS, Task, class_rows
from neuroarena.errors import InputError
from neuroarena.registry import unknown_name

Subset = Literal["lite", "nano", "full"]

RATE_HZ = 2048
WINDOW_SAMPLES = 2048
MOST_ITEMS: dict[str, int | None] = {"lite": 3500, "nano": 1000, "full": None}
DEFINITIONS = ("2025.10", "2025.09")

# The published item lists come from one legacy generator a dataset, seeded with this number.
_SAMPLING_SEED = 42


def examples(
    task: str,
    words: pd.DataFrame,
    nonverbal: pd.DataFrame,
    features: pd.DataFrame | None = None,
    pitch: Mapping[str, Any] | None = None,
    *,
    definition: str = "2025.10",
    multiclass: bool = False,
    subset: Subset = "lite",
) -> pd.DataFrame:
    """Make the items of a task from a session's tables, in the published order.

    Parameters
    ----------
    task : str
        One of the fifteen tasks.
    words : DataFrame
        ``original_index, est_idx, est_end_idx, start, end``; one row a word, in transcript order.
    nonverbal : DataFrame
        ``est_idx, est_end_idx`` of the windows without speech.
    features : DataFrame, optional
        ``features.csv`` of the movie as read from the file; joined on ``original_index``.
    pitch : mapping, optional
        The object of ``{movie}_pitch_volume_features.json``.
    definition : str
        "2025.10" or "2025.09".
    multiclass : bool
        Ask for the multiclass form; onset, speech and word_head_pos have none and stay binary.
    subset : {"lite", "nano", "full"}
        At most 3,500, 1,000, or any number of items.

    Returns
    -------
    DataFrame
        ``start``, ``stop`` (samples) and ``label``, one row an item.

    Raises
    ------
    InputError
        For an unknown task, a missing column or value, or a class without examples.
    """
    if task not in TASKS:
        raise unknown_name("Neuroprobe task", task, TASKS, "benchmarks")
    if definition not in DEFINITIONS:
        raise InputError(f'Neuroprobe has no definition "{definition}"; it has {", ".join(DEFINITIONS)}.')
    if subset not in MOST_ITEMS:
        raise InputError(f'"{subset}" is not a subset of Neuroprobe; expected lite, nano or full.')
    rule = TASKS[task]
    table = _joined(words, features, pitch, rule)
    classes = class_rows(rule, table, len(nonverbal), multiclass, strict_gap=definition == "2025.09")
    drawn = _balanced_draw(classes, MOST_ITEMS[subset], task)
    starts = np.empty((drawn.shape[1], len(classes)), dtype=np.int64)
    labels = (np.arange(len(classes)) + 1) % len(classes)
    for position, label in enumerate(labels):
        source = nonverbal if rule.rule == "nonverbal" and label == 0 else words
        starts[:, position] = source["est_idx"].to_numpy(dtype=float)[drawn[label]].astype(np.int64)
    start = starts.reshape(-1)
    return pd.DataFrame(
        {
            "start": start,
            "stop": start + WINDOW_SAMPLES,
            "label": np.tile(labels, drawn.shape[1]).astype(np.int64),
        }
    )


def _balanced_draw(classes: list[np.ndarray], most: int | None, task: str) -> np.ndarray:
    """Draw the same number of rows from each class: int array (classes, rows), rows ascending."""
    empty = [label for label, rows in enumerate(classes) if not len(rows)]
    if empty:
        raise InputError(
            f"{task}: class {empty[0]} has no example in this session, so the task cannot be asked of it."
        )
    n = min(len(rows) for rows in classes)
    if most is not None:
        n = min(n, most // len(classes))
    generator = np.random.RandomState(_SAMPLING_SEED)
    drawn = np.empty((len(classes), n), dtype=np.int64)
    # The highest class draws first; the order decides which numbers each class gets.
    for label in reversed(range(len(classes))):
        drawn[label] = np.sort(generator.choice(classes[label], size=n, replace=False))
    return drawn


def _joined(
    words: pd.DataFrame, features: pd.DataFrame | None, pitch: Mapping[str, Any] | None, task: Task
) -> pd.DataFrame:
    """Join to the words what the task reads: columns of features.csv, or of the pitch table."""
    needed = ["original_index", "est_idx", "start", "end"]
    missing = [column for column in needed if column not in words.columns]
    if missing:
        raise InputError(f"The word table lacks the columns {', '.join(missing)}.")
    if words.empty:
        raise InputError(f"{task.name}: the word table is empty.")
    table = words.reset_index(drop=True)
    if task.column == "enhanced_pitch":
        if pitch is None:
            raise InputError("pitch: this task needs the movie's pitch and volume table, and none was given.")
        return table.assign(enhanced_pitch=_pitch_of(table, pitch, "enhanced_pitch"))
    if not task.column or task.column in table.columns:
        return table
    if features is None:
        raise InputError(
            f'{task.name}: this task needs the column "{task.column}" of features.csv, and none was given.'
        )
    indexed = (
        features.set_index(features.columns[0]) if features.columns[0] in ("", "Unnamed: 0") else features
    )
    if task.column not in indexed.columns:
        return table
    return table.assign(**{task.column: indexed[task.column].reindex(table["original_index"]).to_numpy()})


def _pitch_of(words: pd.DataFrame, pitch: Mapping[str, Any], variable: str) -> np.ndarray:
    """Look each word's start time up in the pitch table, both written with five decimals."""
    by_start = {f"{float(key):.5f}": entry for key, entry in pitch.items()}
    values = np.empty(len(words))
    for row, start in enumerate(words["start"]):
        entry = by_start.get(f"{start:.5f}")
        if entry is None or variable not in entry:
            raise InputError(
                f'pitch: the pitch table has no "{variable}" for the word at {start:.5f} s (row {row}).'
            )
        values[row] = entry[variable]
    return values
