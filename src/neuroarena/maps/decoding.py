"""Decode one cell of a map in every fold, and the same for every draw of its null."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from neuroarena.maps.ranking import auroc, auroc_of_shifts, auroc_of_weights
from neuroarena.maps.solving import Moments, Standardised, prescale


@dataclass(frozen=True)
class FoldLayout:
    """Which items train and which are judged, fold by fold.

    Items that train the same folds stand together: their Gram matrix is computed once, whatever the number of folds.

    Attributes
    ----------
    train, test : bool array (folds, items)
    time : int array (items,)
        Place of every item in time, from 0.
    block : int array (items,)
        Stretch within which labels are shifted.
    """

    train: np.ndarray
    test: np.ndarray
    time: np.ndarray
    block: np.ndarray

    @classmethod
    def arranged(
        cls, train: np.ndarray, test: np.ndarray, block: np.ndarray
    ) -> tuple[FoldLayout, np.ndarray]:
        """Arrange items that are in time order; also return their new order, as places in the old one."""
        groups = np.unique(train, axis=1, return_inverse=True)[1].reshape(-1)
        order = np.argsort(groups, kind="stable")
        return cls(train[:, order], test[:, order], order, block[order]), order

    @property
    def n_folds(self) -> int:
        """Number of folds."""
        return len(self.train)

    @functools.cached_property
    def groups(self) -> list[tuple[slice, np.ndarray]]:
        """Stretches of items that train the same folds, each with those folds (bool)."""
        changes = np.flatnonzero((self.train[:, 1:] != self.train[:, :-1]).any(axis=0)) + 1
        edges = [0, *changes.tolist(), self.train.shape[1]]
        stretches = [slice(first, last) for first, last in itertools.pairwise(edges)]
        return [(each, self.train[:, each.start]) for each in stretches if self.train[:, each.start].any()]

    @functools.cached_property
    def judged(self) -> list[np.ndarray]:
        """Places of the judged items of every fold, in time order."""
        return [_in_time(np.flatnonzero(test), self.time) for test in self.test]

    @functools.cached_property
    def blocks(self) -> list[np.ndarray]:
        """Places of the items of every block, in time order."""
        return [_in_time(np.flatnonzero(self.block == number), self.time) for number in np.unique(self.block)]

    @property
    def swaps_roles(self) -> bool:
        """Whether what is judged in one fold trains another, so that the null must be fitted anew."""
        return bool((self.train.any(axis=0) & self.test.any(axis=0)).any())


def _in_time(places: np.ndarray, time: np.ndarray) -> np.ndarray:
    return places[np.argsort(time[places], kind="stable")]


@dataclass(frozen=True)
class LabelColumns:
    """The labels and their draws: one column each, the labels as they are first.

    Attributes
    ----------
    values : array (columns, items)
    judged : list of int32 array (columns, judged items)
        The same for the judged items of every fold.
    """

    values: np.ndarray
    judged: list[np.ndarray]

    @classmethod
    def shifted(cls, labels: np.ndarray, layout: FoldLayout, shifts: np.ndarray) -> LabelColumns:
        """Shift labels circularly within every block.

        Parameters
        ----------
        labels : array (items,)
        layout : FoldLayout
        shifts : int array (draws, blocks)
        """
        values = np.tile(labels, (len(shifts) + 1, 1))
        for number, rows in enumerate(layout.blocks):
            places = (np.arange(len(rows)) - shifts[:, number, np.newaxis]) % len(rows)
            values[1:, rows] = labels[rows][places]
        return cls.of(values, layout)

    @classmethod
    def shuffled(
        cls, labels: np.ndarray, layout: FoldLayout, draws: int, rng: np.random.Generator
    ) -> LabelColumns:
        """Shuffle labels within every block: wrong wherever labels and signals are autocorrelated, and shown to be."""
        values = np.tile(labels, (draws + 1, 1))
        for rows in layout.blocks:
            values[1:, rows] = rng.permuted(values[1:, rows], axis=1)
        return cls.of(values, layout)

    @classmethod
    def of(cls, values: np.ndarray, layout: FoldLayout) -> LabelColumns:
        """Take columns as they are."""
        judged = [np.ascontiguousarray(values[:, rows], dtype=np.int32) for rows in layout.judged]
        return cls(values.astype(np.float32), judged)


class CellDecoder:
    """The decoders of one cell: features of all items, moments of every group, one view per fold.

    Parameters
    ----------
    features : array (items, features)
    layout : FoldLayout
    """

    def __init__(self, features: np.ndarray, layout: FoldLayout) -> None:
        self.layout, self.features = layout, prescale(features)
        self._moments = [Moments.of(self.features[rows]) for rows, _ in layout.groups]
        self._folds = [
            Standardised(
                [each for each, (_, folds) in zip(self._moments, layout.groups, strict=True) if folds[fold]]
            )
            for fold in range(layout.n_folds)
        ]

    def score(self, labels: np.ndarray) -> list[np.ndarray]:
        """Train logistic regressions and return the scores of the judged items of every fold, in time order."""
        scores = []
        for fold, seen in enumerate(self._folds):
            rows = np.flatnonzero(self.layout.train[fold])
            weights = seen.fit_logistic(self.features[rows], labels[rows])
            scores.append(self.features[self.layout.judged[fold]] @ weights)
        return scores

    def rank(self, scores: list[np.ndarray], labels: np.ndarray) -> np.ndarray:
        """Return the AUROC of every fold."""
        return np.array(
            [auroc(each, labels[rows]) for each, rows in zip(scores, self.layout.judged, strict=True)]
        )

    def refit(self, columns: LabelColumns) -> np.ndarray:
        """Fit a ridge regression to every column of labels, in every fold: AUROC (columns, folds)."""
        products = [
            (self.features[rows].T @ columns.values[:, rows].T, columns.values[:, rows].sum(axis=1), folds)
            for rows, folds in self.layout.groups
        ]
        areas = np.empty((len(columns.values), self.layout.n_folds))
        for fold, seen in enumerate(self._folds):
            own = [(product, total) for product, total, folds in products if folds[fold]]
            product = functools.reduce(np.add, [each for each, _ in own])
            total = functools.reduce(np.add, [each for _, each in own])
            weights = seen.solve_ridge(product, total)
            judged = self.features[self.layout.judged[fold]]
            areas[:, fold] = auroc_of_weights(weights, judged, columns.judged[fold])
        return areas

    def shift(self, scores: list[np.ndarray], labels: np.ndarray, shifts: np.ndarray) -> np.ndarray:
        """Keep the decoders and shift the labels of the judged items: AUROC (draws, folds)."""
        areas = np.empty((len(shifts), len(scores)))
        for fold, (each, rows) in enumerate(zip(scores, self.layout.judged, strict=True)):
            areas[:, fold] = auroc_of_shifts(each, labels[rows])[shifts[:, fold] % len(rows)]
        return areas


@dataclass(frozen=True)
class Decoded:
    """AUROC of one cell.

    Attributes
    ----------
    observed : array (folds,)
        Of logistic regressions.
    tested : array (folds,)
        The same by the decoder of the null, with which the null is compared.
    null : array (draws, folds)
    """

    observed: np.ndarray
    tested: np.ndarray
    null: np.ndarray


def decode_cell(
    features: np.ndarray,
    layout: FoldLayout,
    labels: Mapping[str, np.ndarray],
    columns: Mapping[str, LabelColumns],
    shifts: np.ndarray,
) -> dict[str, Decoded]:
    """Decode every task of one electrode and time bin.

    Parameters
    ----------
    features : array (items, features)
    layout : FoldLayout
    labels : mapping of task to array (items,)
    columns : mapping of task to LabelColumns
        Needed where folds swap roles; empty for a map without a null.
    shifts : int array (draws, folds)
        Used where they do not.
    """
    decoder = CellDecoder(features, layout)
    found = {}
    for task, truth in labels.items():
        scores = decoder.score(truth)
        observed = decoder.rank(scores, truth)
        if task in columns:
            areas = decoder.refit(columns[task])
            found[task] = Decoded(observed, areas[0], areas[1:])
        else:
            found[task] = Decoded(observed, observed, decoder.shift(scores, truth, shifts))
    return found
