"""The items of July 2025: in time order instead of interleaved, and the earliest ones where there are too many."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.tasks import Task, column_of, gaps_of, numbers_of, percentile_rank
from neuroarena.families.neuroprobe.windows import Items

# A sentence's first word has no gap before it; the published code marks that with this number, and so loses
# words whose true gap is exactly that.
NO_GAP = -1.0


def items_2025_07(
    task: Task, words: pd.DataFrame, n_nonverbal: int, generator: np.random.RandomState
) -> Items:
    """Choose the items of a task, all of them; the caps of the subsets keep the first ones.

    Parameters
    ----------
    task : Task
    words : DataFrame
        Word table with the task's column joined, in transcript order.
    n_nonverbal : int
        Number of rows of the non-verbal table.
    generator : numpy.random.RandomState
        Used by the tasks that are balanced, in the published order of draws.

    Raises
    ------
    InputError
        For a missing column or value, or a class without examples.
    """
    if task.rule == "nonverbal":
        return _in_turns(task, words, n_nonverbal, generator)
    if task.rule in ("scalar", "gap"):
        rows, values = _select_ranked(task, words)
        ranks = percentile_rank(values)
        kept = (ranks > 0.75) | (ranks < 0.25)
        labels = (ranks[kept] > 0.75).astype(np.int64)
        _both_classes(labels, task)
        return _words_only(rows[kept], labels)
    labels = row_labels(task, words)
    _both_classes(labels, task)
    n = min(int((labels == label).sum()) for label in (0, 1))
    drawn = [generator.choice(np.flatnonzero(labels == label), size=n, replace=False) for label in (0, 1)]
    rows = np.sort(np.concatenate(drawn))
    return _words_only(rows, labels[rows])


def row_labels(task: Task, words: pd.DataFrame) -> np.ndarray:
    """Assign every word its class by the rules of July 2025, int (words,).

    Of several speakers with most words, the first in the alphabet counts as the most frequent one.
    """
    other: np.ndarray
    if task.rule in ("speech-part", "speaker"):
        said = column_of(words, task.column, task).astype(str)
        other = (said != ("VERB" if task.rule == "speech-part" else said.mode().iloc[0])).to_numpy()
        return other.astype(np.int64)
    values = numbers_of(words, task.column, task)
    if task.rule == "angle":
        turned = np.mod(values, 360.0)
        # An angle as close to 0 as to 180 degrees counts as 0.
        other = np.minimum(turned, 360.0 - turned) > 90.0
        return other.astype(np.int64)
    whole = values.astype(np.int64)
    if task.rule == "head":
        strange = ~np.isin(whole, (0, 1))
        if strange.any():
            row = int(np.flatnonzero(strange)[0])
            raise InputError(
                f'{task.name}: "{task.column}" of row {row} of the word table is {whole[row]}, expected 0 or 1.'
            )
        return whole
    return np.greater(whole, 0).astype(np.int64)  # faces: any; position: not the first word


def _select_ranked(task: Task, words: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows that are ranked and their values."""
    if task.rule == "scalar":
        return np.arange(len(words)), numbers_of(words, task.column, task)
    rows, gaps = gaps_of(words, task)
    known = gaps != NO_GAP
    if not known.any():
        raise InputError(
            f"{task.name}: every gap is exactly {NO_GAP:g} s, which marks a word without a gap, "
            "so there is nothing to rank."
        )
    return rows[known], gaps[known]


def _in_turns(task: Task, words: pd.DataFrame, n_nonverbal: int, generator: np.random.RandomState) -> Items:
    """Draw as many words as windows without speech; a word, a silence, a word, ..., each in time order."""
    positive = (
        np.flatnonzero(numbers_of(words, task.column, task) == 1) if task.column else np.arange(len(words))
    )
    n = min(len(positive), n_nonverbal)
    if n == 0:
        raise _no_example(task, 0 if len(positive) else 1)
    rows = np.empty((n, 2), dtype=np.int64)
    rows[:, 0] = np.sort(generator.choice(positive, size=n, replace=False))
    rows[:, 1] = np.sort(generator.choice(np.arange(n_nonverbal), size=n, replace=False))
    nonverbal = np.tile([False, True], n)
    return Items(rows.reshape(-1), nonverbal, (~nonverbal).astype(np.int64))


def _words_only(rows: np.ndarray, labels: np.ndarray) -> Items:
    return Items(rows, np.zeros(len(rows), dtype=bool), labels)


def _both_classes(labels: np.ndarray, task: Task) -> None:
    for label in (0, 1):
        if not (labels == label).any():
            raise _no_example(task, label)


def _no_example(task: Task, label: int) -> InputError:
    return InputError(
        f"{task.name}: class {label} has no example in this session, so the task cannot be judged on it."
    )
