"""Decoders of covariances: common spatial patterns, and the tangent space of Riemannian geometry."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Context, Part, part_targets
from neuroarena.decoders.probabilities import class_probabilities
from neuroarena.errors import InputError, MissingDependency
from neuroarena.features import FeatureChain
from neuroarena.features.bands import BandCovariances


def _default_features() -> FeatureChain:
    return FeatureChain((BandCovariances(),))


@dataclass
class CspLda:
    """Common spatial patterns in four frequency bands, then linear discriminant analysis.

    Parameters
    ----------
    features : FeatureChain
        Ends in :class:`.BandCovariances`.
    n_patterns : int
        Spatial patterns per band and class.
    shrinkage : float, optional
        Shrinkage of the discriminant's covariance; by default chosen by Ledoit and Wolf's formula.
    n_selected : int, optional
        Keep the powers that tell most about the class, by mutual information on the training part; by default all.

    Notes
    -----
    Filter-bank common spatial patterns: Ang et al. (2008), IJCNN, 2390. Of more than two classes each is set against
    the others: an eigenvalue problem, where diagonalising all at once took nine times as long on 41 channels. Of two
    classes both problems are the same one, so that every power is there twice. The discriminant's shrinkage and
    `n_selected` count both: leaving one out moves published scores, so it stays.
    """

    role: ClassVar[str] = "classical"
    features: FeatureChain = field(default_factory=_default_features)
    n_patterns: int = 2
    shrinkage: float | None = None
    n_selected: int | None = None

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> CspLda:
        """Learn patterns and discriminant from the training part."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.preprocessing import StandardScaler

        csp = import_pyriemann("spatialfilters").CSP
        context = context or Context()
        self.classes_, self.names_ = context.classes, shared_channels(train, context.test_channels)
        targets = part_targets(train, self.classes_)
        bands = covariances(train, self.names_)
        kept = min(self.n_patterns, len(self.names_))
        self.patterns_ = [
            [csp(nfilter=kept, log=True).fit(band, targets == number) for number in np.unique(targets)]
            for band in bands
        ]
        self.kept_: np.ndarray | None = None
        matrix = self._powers(bands)
        if self.n_selected is not None and self.n_selected < matrix.shape[1]:
            self.kept_ = _most_informative(matrix, targets, self.n_selected)
            matrix = matrix[:, self.kept_]
        self.scaler_ = StandardScaler().fit(matrix)
        self.model_ = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=self.shrinkage or "auto")
        self.model_.fit(self.scaler_.transform(matrix), targets)
        return self

    def _powers(self, bands: np.ndarray) -> np.ndarray:
        found = [
            pattern.transform(band)
            for patterns, band in zip(self.patterns_, bands, strict=True)
            for pattern in patterns
        ]
        powers = np.concatenate(found, axis=1)
        return powers if self.kept_ is None else powers[:, self.kept_]

    def predict(self, test: Part) -> np.ndarray:
        """Return the probability of each class; one never seen in training gets zero."""
        matrix = self.scaler_.transform(self._powers(covariances(test, self.names_)))
        return class_probabilities(self.model_, matrix, len(self.classes_))


@dataclass
class RiemannLr:
    """Logistic regression in the tangent space of covariances, in four frequency bands.

    Parameters
    ----------
    features : FeatureChain
        Ends in :class:`.BandCovariances`.
    metric : str
        Metric of the mean and of the tangent space, as pyriemann names it.
    C : float
        Inverse of the strength of the L2 penalty.
    max_iter : int
        Most iterations of the solver (lbfgs).

    Notes
    -----
    Barachant et al. (2012), IEEE Trans. Biomed. Eng. 59, 920.
    """

    role: ClassVar[str] = "classical"
    features: FeatureChain = field(default_factory=_default_features)
    metric: str = "riemann"
    C: float = 0.01
    max_iter: int = 1000

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> RiemannLr:
        """Learn the reference points, the scaling and the weights from the training part."""
        from sklearn.linear_model import LogisticRegression
        from sklearn.preprocessing import StandardScaler

        tangent_space = import_pyriemann("tangentspace").TangentSpace
        context = context or Context()
        self.classes_, self.names_ = context.classes, shared_channels(train, context.test_channels)
        bands = covariances(train, self.names_)
        self.spaces_ = [tangent_space(metric=self.metric).fit(band) for band in bands]
        matrix = self._vectors(bands)
        self.scaler_ = StandardScaler().fit(matrix)
        self.model_ = LogisticRegression(C=self.C, max_iter=self.max_iter)
        self.model_.fit(self.scaler_.transform(matrix), part_targets(train, self.classes_))
        return self

    def _vectors(self, bands: np.ndarray) -> np.ndarray:
        found = [space.transform(band) for space, band in zip(self.spaces_, bands, strict=True)]
        return np.concatenate(found, axis=1)

    def predict(self, test: Part) -> np.ndarray:
        """Return the probability of each class; one never seen in training gets zero."""
        matrix = self.scaler_.transform(self._vectors(covariances(test, self.names_)))
        return class_probabilities(self.model_, matrix, len(self.classes_))


def _most_informative(matrix: np.ndarray, targets: np.ndarray, n: int) -> np.ndarray:
    """Return the columns that share most information with the targets, in order."""
    from sklearn.feature_selection import mutual_info_classif

    # The seed only breaks ties between equal numbers.
    shared = mutual_info_classif(
        matrix, targets, n_neighbors=min(3, np.bincount(targets).max() - 1), random_state=0
    )
    return np.sort(np.argsort(shared)[-n:])


def import_pyriemann(module: str) -> Any:
    """Import a module of pyriemann, or say how it is installed."""
    import importlib

    try:
        return importlib.import_module(f"pyriemann.{module}")
    except ImportError as error:
        raise MissingDependency("pyriemann", "eeg", "Decoding covariances") from error


def shared_channels(train: Part, others: Sequence[pd.DataFrame]) -> tuple[str, ...]:
    """List the channels that all recordings have, in the order of the first.

    Raises
    ------
    InputError
        When there are fewer than two shared channels.
    """
    tables = [*(group.channels for group in train), *others]
    names = [name for name in tables[0]["name"] if all(name in set(table["name"]) for table in tables[1:])]
    if len(names) < 2:
        raise InputError(
            f"The recordings share {len(names)} channels by name; covariances need two or more. "
            f"The first has {', '.join(tables[0]['name'])}."
        )
    return tuple(names)


def covariances(part: Part, names: Sequence[str]) -> np.ndarray:
    """Collect the covariances of a part, of some channels: float64 (band, example, channel, channel)."""
    found = []
    for group in part:
        if group.signals.ndim != 4:
            raise InputError(
                f"Expected covariances (example, channel, band, channel), got shape {group.signals.shape}. "
                "The decoder's features must end in BandCovariances."
            )
        place = {name: row for row, name in enumerate(group.channels["name"])}
        rows = np.array([place[name] for name in names])
        chosen = group.signals[:, rows][:, :, :, rows].astype(np.float64)
        found.append(chosen.transpose(2, 0, 1, 3))
    return np.concatenate(found, axis=1)
