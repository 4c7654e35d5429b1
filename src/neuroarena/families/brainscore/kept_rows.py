"""Keeping what a model predicts while it is scored: metrics offer their rows, and whoever listens keeps them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd


@dataclass(frozen=True)
class FittedSize:
    """What a regression was fitted with: images of all its training parts together, and features of the model."""

    images: int
    features: int


@dataclass
class KeptRows:
    """Rows that metrics offered: one per (split, stimulus), each a list of numbers.

    Attributes
    ----------
    columns : tuple of str
        What the numbers of a row belong to: neuroids, or stimuli for rows of a dissimilarity matrix.
    contributors : tuple of str
        What the numbers of a row's contributions belong to: neuroids, or subjects.
    fitted : FittedSize or None
        What the predictions were fitted with; None where nothing was fitted.
    """

    splits: list[str] = field(default_factory=list)
    ids: list[str] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)
    contributions: list[np.ndarray] = field(default_factory=list)
    columns: tuple[str, ...] = ()
    contributors: tuple[str, ...] = ()
    fitted: FittedSize | None = None

    def table(self) -> pd.DataFrame | None:
        """Return the rows as a table of split, id and values (float32); None when nothing was offered.

        Where every row has them, ``contributions`` follow: what the image adds to the score of each neuroid
        or subject.
        """
        if not self.ids:
            return None
        columns: dict[str, Any] = {"split": self.splits, "id": self.ids, "values": self.values}
        if len(self.contributions) == len(self.ids):
            columns["contributions"] = self.contributions
        return pd.DataFrame(columns)


Contributions = Callable[[], np.ndarray | None]
_LISTENER: ContextVar[KeptRows | None] = ContextVar("neuroarena_kept_rows", default=None)


@contextlib.contextmanager
def keeping_rows() -> Iterator[KeptRows]:
    """Keep the rows that metrics offer inside the block."""
    kept = KeptRows()
    token = _LISTENER.set(kept)
    try:
        yield kept
    finally:
        _LISTENER.reset(token)


def offer_rows(
    ids: Sequence[Any] | np.ndarray,
    values: np.ndarray,
    columns: Sequence[Any] | np.ndarray,
    split: str | None = None,
    contributions: Contributions = lambda: None,
    fitted: FittedSize | None = None,
) -> None:
    """Offer predictions to whoever keeps them; costs nothing when nobody does.

    Parameters
    ----------
    ids : sequence, (n,)
        Stimuli.
    values : ndarray, (n, columns)
    columns : sequence
        Neuroids, or stimuli.
    split : str, optional
        By default the next number. Rows of a split that is kept already are not kept again: the dissimilarities of a
        model are the same for every subject.
    contributions : callable
        Computes what each stimulus adds to the score of each column, (n, columns), if somebody keeps it; None where
        that is not defined.
    fitted : FittedSize, optional
        What the predictions were fitted with.
    """
    kept = _LISTENER.get()
    if kept is None:
        return
    name = str(len(set(kept.splits))) if split is None else split
    if name in kept.splits:
        return
    kept.splits += [name] * len(ids)
    kept.ids += [str(each) for each in ids]
    kept.values += list(np.asarray(values, dtype=np.float32))
    found = contributions()
    if found is not None:
        kept.contributions += list(np.asarray(found, dtype=np.float32))
        kept.contributors = tuple(str(each) for each in columns)
    kept.columns = tuple(str(each) for each in columns)
    kept.fitted = fitted


def offer_contributions(contributors: Sequence[Any], contributions: Contributions) -> None:
    """Offer what each stimulus adds to the score of each subject, for the rows that were offered before.

    Parameters
    ----------
    contributors : sequence
        Subjects.
    contributions : callable
        Computes (rows, subjects) if somebody keeps it; None where that is not defined.
    """
    kept = _LISTENER.get()
    if kept is None:
        return
    found = contributions()
    if found is not None and np.shape(found) == (len(kept.ids), len(contributors)):
        kept.contributions = list(np.asarray(found, dtype=np.float32))
        kept.contributors = tuple(str(each) for each in contributors)
