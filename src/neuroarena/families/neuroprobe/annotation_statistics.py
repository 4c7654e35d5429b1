"""What the annotations say before anything is decoded: labels that go together, loudness and faces of films."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import binding
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank
from neuroarena.families.neuroprobe.sessions import Session
from neuroarena.families.neuroprobe.windows import WHOLE_SECOND

# Without the two tasks that compare words with silence: their items are not those of the others.
UNCOMPARED = ("onset", "speech")


@dataclass(frozen=True, eq=False)
class LabelCorrelations:
    """How labels of different tasks go together.

    Attributes
    ----------
    tasks : tuple of str
    mean : array (tasks, tasks)
        Pearson correlation over items that begin at the same sample, the mean over sessions; NaN where no session has
        both tasks.
    sessions : int
        Sessions that were averaged.
    """

    tasks: tuple[str, ...]
    mean: np.ndarray
    sessions: int

    @property
    def mean_absolute(self) -> float:
        """Mean absolute correlation over pairs of tasks (published: 0.121 over 13 tasks)."""
        return float(np.nanmean(np.abs(self._pairs())))

    @property
    def standard_error(self) -> float:
        """Population standard deviation over pairs, divided by the root of their number, as published (0.019)."""
        pairs = np.abs(self._pairs())
        return float(np.nanstd(pairs) / np.sqrt(np.isfinite(pairs).sum()))

    def _pairs(self) -> np.ndarray:
        return np.asarray(self.mean[np.triu_indices(len(self.tasks), 1)])


def correlate_labels(sessions: Sequence[Mapping[str, pd.DataFrame]]) -> LabelCorrelations:
    """Correlate the labels of tasks, session by session.

    Parameters
    ----------
    sessions : sequence of mappings of str to DataFrame
        For each session, task -> items with the columns start and label.

    Raises
    ------
    InputError
        When there is no session.
    """
    if not sessions:
        raise InputError("There is no session whose labels could be correlated.")
    tasks = tuple(dict.fromkeys(task for session in sessions for task in session))
    found = np.full((len(sessions), len(tasks), len(tasks)), np.nan)
    for number, session in enumerate(sessions):
        columns = {task: _by_start(items) for task, items in session.items()}
        for one, two in itertools.combinations_with_replacement(range(len(tasks)), 2):
            if tasks[one] in columns and tasks[two] in columns:
                value = _correlate(columns[tasks[one]], columns[tasks[two]])
                found[number, one, two] = found[number, two, one] = value
    known = np.isfinite(found)
    total = np.where(known, found, 0.0).sum(axis=0)
    mean = np.divide(total, known.sum(axis=0), out=np.full(total.shape, np.nan), where=known.any(axis=0))
    return LabelCorrelations(tasks, mean, len(sessions))


def _by_start(items: pd.DataFrame) -> pd.Series:
    labels = items.set_index("start")["label"]
    return labels[~labels.index.duplicated()]


def _correlate(one: pd.Series, two: pd.Series) -> float:
    both = pd.concat([one, two], axis=1, join="inner").to_numpy(dtype=float)
    if len(both) < 3 or (both.std(axis=0) == 0).any():
        return float("nan")
    return float(np.corrcoef(both.T)[0, 1])


def session_items(
    dataset: BrainTreebank, session: Session, tasks: Sequence[str], definition: str
) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """Make the items of every task of a session.

    Returns
    -------
    items : dict of str to DataFrame
        Task -> columns start and label.
    lacking : list of str
        Sentences about tasks that the annotations of the session do not have.
    """
    items, lacking = {}, []
    for task in tasks:
        try:
            made = binding.session_examples(
                dataset, session, task, definition=definition, subset="lite", offset_s=WHOLE_SECOND
            )
        except InputError as error:
            lacking.append(str(error))
            continue
        items[task] = made.rename(columns={"target": "label"})[["start", "label"]]
    return items, lacking


def film_words(dataset: BrainTreebank, session: Session) -> pd.DataFrame:
    """Return the words of a session's film.

    Returns
    -------
    DataFrame
        One row per word: minutes (of the film), rms (volume) and face_num, as far as features.csv has them.

    Raises
    ------
    InputError
        When the folder has no features of the film.
    """
    if not dataset.has_features(*session):
        raise InputError(
            f"{dataset.root}: transcripts/{dataset.movie(*session)}/features.csv is not there, so that nothing "
            "can be said about the words of the film. Fetch it with: neuroarena data fetch braintreebank"
        )
    features = dataset.features(*session)
    kept = features[[name for name in ("start", "rms", "face_num") if name in features]].copy()
    kept.insert(0, "minutes", pd.to_numeric(kept.pop("start"), errors="coerce") / 60.0)
    return kept.dropna().reset_index(drop=True)


def outer_quartiles(values: np.ndarray) -> tuple[float, float]:
    """Return the first and third quartile, between which words belong to neither class."""
    low, high = np.quantile(values, [0.25, 0.75])
    return float(low), float(high)


def count_faces(faces: np.ndarray, most: int = 5) -> tuple[list[str], np.ndarray]:
    """Count words by the number of faces on the screen; `most` and more together.

    Examples
    --------
    >>> names, counts = count_faces(np.array([0, 0, 1, 3, 9]), most=3)
    >>> names, counts.tolist()
    (['0', '1', '2', '3+'], [2, 1, 0, 2])
    """
    capped = np.minimum(np.asarray(faces, dtype=np.int64), most)
    return [*map(str, range(most)), f"{most}+"], np.bincount(capped, minlength=most + 1)


__all__ = [
    "UNCOMPARED",
    "LabelCorrelations",
    "correlate_labels",
    "count_faces",
    "film_words",
    "outer_quartiles",
    "session_items",
]
