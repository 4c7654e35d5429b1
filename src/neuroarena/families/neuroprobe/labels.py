"""From a session's word tables to the labelled windows of a task, item by item as published."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.labels_2025_07 import items_2025_07
from neuroarena.families.neuroprobe.tasks import DEFINITIONS, Task, class_rows, find_task, tasks_of
from neuroarena.families.neuroprobe.windows import (
    RATE_HZ,
    WHOLE_SECOND,
    WINDOW_SAMPLES,
    Items,
    windows_of,
)

__all__ = ["DEFINITIONS", "MOST_ITEMS", "RATE_HZ", "WINDOW_SAMPLES", "Subset", "examples", "n_classes"]

Subset = Literal["lite", "nano", "full"]

MOST_ITEMS: dict[str, int | None] = {"lite": 3500, "nano": 1000, "full": None}

# The published item lists come from one legacy generator per dataset, seeded with this number.
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
    max_samples: int | None = None,
    offset_s: Sequence[float] = WHOLE_SECOND,
) -> pd.DataFrame:
    """Make the items of a task from a session's tables, in the published order.

    Parameters
    ----------
    task : str
        A task of the definition, or the name of a column to rank, such as "rms" or "raw_pitch".
    words : DataFrame
        ``original_index, est_idx, est_end_idx, start, end``; one row per word, in transcript order.
    nonverbal : DataFrame
        ``est_idx, est_end_idx`` of the windows without speech.
    features : DataFrame, optional
        ``features.csv`` of the movie as read from the file; joined on ``original_index``.
    pitch : mapping, optional
        The object of ``{movie}_pitch_volume_features.json``.
    definition : str
        "2025.10", "2025.09", "2025.07" or "strict"; the last has the items of 2025.10.
    multiclass : bool
        Use the multiclass form; onset, speech and word_head_pos have none and stay binary.
    subset : {"lite", "nano", "full"}
        At most 3,500, 1,000, or any number of items.
    max_samples : int, optional
        Keep the earliest items only: this number divided by the classes, of each class. In 2025.07, which
        is not balanced, the first items of the list.
    offset_s : pair of float
        Where the window begins and ends, seconds from the onset.

    Returns
    -------
    DataFrame
        ``start``, ``stop`` (samples) and ``label``, one row per item.

    Raises
    ------
    InputError
        For an unknown task, a missing column or value, or a class without examples.
    """
    rule = find_task(task, definition)
    if subset not in MOST_ITEMS:
        raise InputError(f'"{subset}" is not a subset of Neuroprobe; expected lite, nano or full.')
    classes = n_classes(rule, definition, multiclass)
    if max_samples is not None and max_samples < classes:
        raise InputError(
            f"max_samples is {max_samples}; {rule.name} has {classes} classes and needs at least one item of each."
        )
    table = _join(words, features, pitch, rule)
    if definition == "2025.07":
        items = items_2025_07(rule, table, len(nonverbal), np.random.RandomState(_SAMPLING_SEED))
        items = items.first(min(n for n in (len(items), MOST_ITEMS[subset], max_samples) if n is not None))
        if len(set(items.labels.tolist())) < classes:
            raise InputError(
                f"{rule.name}: the first {len(items)} items are all of one class; raise max_samples."
            )
    else:
        rows = class_rows(rule, table, len(nonverbal), multiclass, strict_gap=definition == "2025.09")
        items = _interleave(_balanced_draw(rows, MOST_ITEMS[subset], task), rule)
        if max_samples is not None:
            # Classes alternate in time order, so the earliest items of each class come first in the list.
            items = items.first(classes * (max_samples // classes))
    return windows_of(items, words, nonverbal, offset_s, shift_nonverbal=definition != "2025.07")


def n_classes(task: str | Task, definition: str, multiclass: bool) -> int:
    """Count the classes of a task in a definition.

    Raises
    ------
    InputError
        For an unknown task, or for a multiclass form that the definition does not have.
    """
    rule = find_task(task, definition) if isinstance(task, str) else task
    tasks_of(definition)
    if multiclass and definition == "2025.07":
        raise InputError("Neuroprobe 2025.07 is binary; the multiclass forms came with 2025.09.")
    return rule.n_classes(multiclass)


def _interleave(drawn: np.ndarray, rule: Task) -> Items:
    """Interleave the classes: 1, 0, 1, 0, ... or 1, 2, 0, 1, 2, 0, ..."""
    n_labels, n = drawn.shape
    turns = (np.arange(n_labels) + 1) % n_labels
    labels = np.tile(turns, n).astype(np.int64)
    nonverbal = (labels == 0) & (rule.rule == "nonverbal")
    return Items(drawn[turns].T.reshape(-1), nonverbal, labels)


def _balanced_draw(classes: list[np.ndarray], most: int | None, task: str) -> np.ndarray:
    """Draw the same number of rows from each class: int array (classes, rows), rows ascending."""
    empty = [label for label, rows in enumerate(classes) if not len(rows)]
    if empty:
        raise InputError(
            f"{task}: class {empty[0]} has no example in this session, so the task cannot be judged on it."
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


def _join(
    words: pd.DataFrame, features: pd.DataFrame | None, pitch: Mapping[str, Any] | None, task: Task
) -> pd.DataFrame:
    """Join the columns that the task reads, of features.csv or of the pitch table, to the words."""
    needed = ["original_index", "est_idx", "start", "end"]
    missing = [column for column in needed if column not in words.columns]
    if missing:
        raise InputError(f"The word table lacks the columns {', '.join(missing)}.")
    if words.empty:
        raise InputError(
            f"{task.name}: the word table is empty. Words with a missing value in any column are left out of it; "
            "look for a column of features.csv without values."
        )
    table = words.reset_index(drop=True)
    if task.from_pitch_table:
        if pitch is None:
            raise InputError(
                f"{task.name}: this task needs the movie's pitch and volume table, which is missing."
            )
        return table.assign(**{task.column: _pitch_of(table, pitch, task)})
    if not task.column or task.column in table.columns:
        return table
    if features is None:
        raise InputError(
            f'{task.name}: this task needs the column "{task.column}" of features.csv, which is missing.'
        )
    numbered = len(features.columns) > 0 and features.columns[0] in ("", "Unnamed: 0")
    indexed = features.set_index(features.columns[0]) if numbered else features
    if not indexed.index.is_unique:
        twice = indexed.index[indexed.index.duplicated()][0]
        raise InputError(f"{task.name}: features.csv has two rows with the index {twice}; it must be unique.")
    if task.column not in indexed.columns:
        return table
    return table.assign(**{task.column: indexed[task.column].reindex(table["original_index"]).to_numpy()})


def _pitch_of(words: pd.DataFrame, pitch: Mapping[str, Any], task: Task) -> list[Any]:
    """Look each word's start time up in the pitch table, both written with five decimals."""
    by_start = {f"{float(key):.5f}": entry for key, entry in pitch.items()}
    values = []
    for row, start in enumerate(words["start"]):
        entry = by_start.get(f"{start:.5f}")
        if entry is None or task.column not in entry:
            raise InputError(
                f'{task.name}: the pitch table has no "{task.column}" for the word at {start:.5f} s (row {row}).'
            )
        values.append(entry[task.column])
    return values
