"""Guess targets from a number that is not brain activity, such as a place in a recording or a length."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pandas as pd
from scipy import sparse
from scipy.stats import rankdata

PERMUTATIONS = 999
LEVEL = 0.001
# Of the way from chance to a perfect guess; below this a link is not a leak, however certain it is.
LEAST_EFFECT = 0.3
MOST_COMPONENTS = 32
MOST_RECORDINGS = 1500


@dataclass(frozen=True)
class Targets:
    """Targets as rows of numbers, with how guesses of them are judged.

    Attributes
    ----------
    values : float64 array (n, d)
        One column per class for classes, one column for numbers, components for vectors.
    kind : {"classes", "number", "vector"}
    names : object array (n,)
        The targets as the examples table has them.
    """

    values: np.ndarray
    kind: str
    names: np.ndarray

    @property
    def chance(self) -> float:
        """The score of an uninformed guess: a share of correct classes, or a correlation."""
        return 1 / self.values.shape[1] if self.kind == "classes" else 0.0

    @property
    def varied(self) -> bool:
        """Whether there is anything to guess."""
        return bool((self.values != self.values[:1]).any())

    def rows(self, chosen: np.ndarray) -> Targets:
        """Select some of the targets; classes that are not among them are dropped."""
        if self.kind == "classes":
            return class_targets(self.names[chosen])
        return Targets(self.values[chosen], self.kind, self.names[chosen])


def class_targets(names: Sequence[object] | np.ndarray) -> Targets:
    """Code classes as one column each.

    Examples
    --------
    >>> class_targets(["b", "a", "b"]).values.tolist()
    [[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]
    """
    words = np.array([str(name) for name in names], dtype=object)
    classes, codes = np.unique(words, return_inverse=True)
    return Targets(np.eye(len(classes))[codes], "classes", words)


def number_targets(numbers: Sequence[float] | np.ndarray) -> Targets:
    """Take numbers as they are."""
    values = np.asarray(numbers, dtype=np.float64)
    return Targets(values[:, np.newaxis], "number", values.astype(object))


def vector_targets(
    names: Sequence[object] | np.ndarray, vectors: Callable[[Sequence[str]], np.ndarray]
) -> Targets:
    """Take the strongest components of vectors, of which each name has one.

    Parameters
    ----------
    names : sequence of n names
    vectors : callable
        Returns the vectors of names: array (names, length).
    """
    words = np.array([str(name) for name in names], dtype=object)
    unique, code = np.unique(words, return_inverse=True)
    own = np.asarray(vectors(unique.tolist()), dtype=np.float64)
    own -= own.mean(axis=0)
    axes = np.linalg.svd(own, full_matrices=False)[2]
    return Targets((own @ axes[:MOST_COMPONENTS].T)[code], "vector", words)


Scorer = Callable[[np.ndarray], np.ndarray]


class Setting(Protocol):
    """How a guess is learned and judged, and which targets could equally well have come in another order."""

    targets: Targets

    def scorer(self, features: np.ndarray) -> Scorer:
        """Prepare features (f, n); the result turns target values (n, d) into the score of each feature (f,)."""
        ...

    def shuffled(self, rng: np.random.Generator) -> np.ndarray:
        """Return target values as they could be if nothing predicted them."""
        ...


class AcrossFolds:
    """Windows: a guess is learned in the training part of each fold and judged in its test part.

    Parameters
    ----------
    targets : Targets
        Of n examples.
    recordings : array (n,)
        The recording of each.
    folds : sequence of (train rows, test rows)
    """

    def __init__(
        self, targets: Targets, recordings: np.ndarray, folds: Sequence[tuple[np.ndarray, np.ndarray]]
    ) -> None:
        self.targets, self.folds = targets, folds
        self._groups = list(pd.Series(np.arange(len(recordings))).groupby(recordings).indices.values())
        judged = np.zeros(len(recordings), dtype=bool)
        for _, test in folds:
            judged[test] = True
        self._parts = (np.flatnonzero(judged), np.flatnonzero(~judged))

    def scorer(self, features: np.ndarray) -> Scorer:
        """Prepare which examples are similar in the training parts."""
        if self.targets.kind == "vector":
            return lambda values: self._along_slopes(features, values)
        plans = [
            (train, test, *_averaging(features[:, train], features[:, test])) for train, test in self.folds
        ]

        def scores(values: np.ndarray) -> np.ndarray:
            guesses, truths = [], []
            for train, test, mean, cells in plans:
                own = values[train]
                guesses.append((mean @ _without_prior(own, own, self.targets.kind))[cells])
                truths.append(values[test])
            return _agreement(np.concatenate(guesses, axis=1), np.concatenate(truths), self.targets.kind)

        return scores

    def _along_slopes(self, features: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Correlate features and vectors along the direction in which vectors go with a feature in training."""
        found = []
        for train, test in self.folds:
            known = features[:, train] - features[:, train].mean(axis=1, keepdims=True)
            slopes = known @ (values[train] - values[train].mean(axis=0))
            found.append(_correlations(features[:, test], slopes @ values[test].T))
        mean: np.ndarray = np.mean(found, axis=0)
        return mean

    def shuffled(self, rng: np.random.Generator) -> np.ndarray:
        """Shuffle targets inside each recording; vectors among the names of a part, in all recordings alike."""
        values = self.targets.values.copy()
        if self.targets.kind != "vector":
            for rows in self._groups:
                values[rows] = values[rng.permutation(rows)]
            return values
        for rows in self._parts:
            _, first, code = np.unique(self.targets.names[rows], return_index=True, return_inverse=True)
            values[rows] = self.targets.values[rows][rng.permutation(first)][code]
        return values


class AcrossSubjects:
    """Recordings with one target each: a guess is the target of the most similar recording of somebody else.

    Numbers are also ranked: a target that rises or falls monotonically with a feature is predicted by it.

    Parameters
    ----------
    targets : Targets
        Of n recordings.
    subjects : array (n,)
        Whose recording each is.
    """

    def __init__(self, targets: Targets, subjects: np.ndarray) -> None:
        self.targets = targets
        self._code = np.unique(subjects, return_inverse=True)[1]
        self._first = np.unique(self._code, return_index=True)[1]
        self._of_person = bool((targets.values == targets.values[self._first][self._code]).all())

    def scorer(self, features: np.ndarray) -> Scorer:
        """Prepare which recordings are most similar."""
        away = np.abs(features[:, :, np.newaxis] - features[:, np.newaxis])
        away[:, self._code[:, np.newaxis] == self._code[np.newaxis]] = np.inf
        likest = away == away.min(axis=2, keepdims=True)
        mean = likest / likest.sum(axis=2, keepdims=True)
        ranks, kind = rankdata(features, axis=1), self.targets.kind

        def scores(values: np.ndarray) -> np.ndarray:
            found = _agreement(mean @ _without_prior(values, values, kind), values, kind)
            if kind == "number":
                ranked = np.broadcast_to(rankdata(values[:, 0]), ranks.shape)
                found = np.maximum(found, np.abs(_correlations(ranks, ranked)))
            return found

        return scores

    def shuffled(self, rng: np.random.Generator) -> np.ndarray:
        """Shuffle targets among people where each has one, and among recordings otherwise."""
        values = self.targets.values
        if not self._of_person:
            return values[rng.permutation(len(values))]
        shuffled: np.ndarray = values[rng.permutation(self._first)][self._code]
        return shuffled


@dataclass(frozen=True)
class Guess:
    """How well the best of some features predicts the targets.

    Attributes
    ----------
    feature : str
        The best one.
    score, chance : float
    p : float or None
        Share of shuffled targets that any of the features predicts as well; None when the score
        is too near to chance for it to matter.
    """

    feature: str
    score: float
    chance: float
    p: float | None

    @property
    def found(self) -> bool:
        """Whether this is a leak: strong enough, and not by chance."""
        return self.p is not None and self.p <= LEVEL


def best_guess(
    features: Mapping[str, np.ndarray], setting: Setting, rng: np.random.Generator
) -> Guess | None:
    """Find the feature that predicts the targets best; None when no feature or target varies."""
    varied = {
        name: values
        for name, values in features.items()
        if np.isfinite(values).all() and (values != values[0]).any()
    }
    if not varied or not setting.targets.varied:
        return None
    scorer = setting.scorer(np.stack(list(varied.values())))
    scores = scorer(setting.targets.values)
    name, score = list(varied)[int(scores.argmax())], float(scores.max())
    chance = setting.targets.chance
    if (score - chance) / (1 - chance) < LEAST_EFFECT:
        return Guess(name, score, chance, None)
    return Guess(
        name, score, chance, permutation_p(score, lambda: float(scorer(setting.shuffled(rng)).max()))
    )


def permutation_p(score: float, by_chance: Callable[[], float]) -> float:
    """Return the share of random draws that are as good, counting the score itself as one.

    Stops as soon as the share cannot fall to :data:`LEVEL` any more (Besag and Clifford 1991), so that the p of
    something that is not a leak is rough.
    """
    as_good = 0
    for drawn in range(1, PERMUTATIONS + 1):
        as_good += by_chance() >= score - 1e-12
        if as_good + 1 > LEVEL * (PERMUTATIONS + 1):
            return (as_good + 1) / (drawn + 1)
    return (as_good + 1) / (PERMUTATIONS + 1)


def _averaging(train: np.ndarray, test: np.ndarray) -> tuple[sparse.csr_matrix, np.ndarray]:
    """Sort the values of each feature into cells: a matrix (cells, train) that averages, and test cells (f, test)."""
    owns, asked, count = [], [], 0
    for known, new in zip(train, test, strict=True):
        values = np.unique(known)
        if len(values) <= len(known) / 2:
            edges = (values[1:] + values[:-1]) / 2
        else:
            n_cells = int(np.clip(np.sqrt(len(known)), 4, 32))
            edges = np.unique(np.quantile(known, np.arange(1, n_cells) / n_cells))
        owns.append(count + np.searchsorted(edges, known))
        asked.append(count + np.searchsorted(edges, new))
        count += len(edges) + 1
    own = np.concatenate(owns)
    shares = 1 / np.bincount(own, minlength=count)[own]
    columns = np.tile(np.arange(train.shape[1]), len(train))
    return sparse.csr_matrix((shares, (own, columns)), shape=(count, train.shape[1])), np.stack(asked)


def _without_prior(values: np.ndarray, known: np.ndarray, kind: str) -> np.ndarray:
    """Weigh classes so that a rare one is guessed as often as a common one; leave numbers as they are."""
    if kind != "classes":
        return values
    prior = known.mean(axis=0)
    weighed: np.ndarray = values / np.where(prior > 0, prior, 1)
    return weighed


def _agreement(guesses: np.ndarray, truths: np.ndarray, kind: str) -> np.ndarray:
    """Judge guesses (f, n, d) of truths (n, d): balanced accuracy, or correlation."""
    if kind == "classes":
        there = truths[:, truths.any(axis=0)]
        right = guesses.argmax(axis=2) == truths.argmax(axis=1)
        recalls: np.ndarray = (right @ there) / there.sum(axis=0)
        mean: np.ndarray = recalls.mean(axis=1)
        return mean
    return _correlations(guesses[:, :, 0], np.broadcast_to(truths[:, 0], guesses.shape[:2]))


def _correlations(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Correlate rows (f, n) with rows (f, n); 0 where one does not vary."""
    x, y = x - x.mean(axis=1, keepdims=True), y - y.mean(axis=1, keepdims=True)
    size = np.sqrt((x**2).sum(axis=1) * (y**2).sum(axis=1))
    together = (x * y).sum(axis=1)
    ratio: np.ndarray = np.divide(together, size, out=np.zeros_like(together), where=size > 1e-12)
    return ratio
