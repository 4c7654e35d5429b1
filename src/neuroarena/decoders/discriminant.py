"""Linear discriminant analysis of any features."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.decoder import Context, Part, part_targets
from neuroarena.decoders.probabilities import class_probabilities
from neuroarena.features import FeatureChain


@dataclass
class Discriminant:
    """Standardise features on the training part, then linear discriminant analysis.

    Parameters
    ----------
    features : FeatureChain
        Stateless preprocessing.
    shrinkage : float, optional
        Shrinkage of the covariance; by default chosen by Ledoit and Wolf's formula.
    """

    role: ClassVar[str] = "classical"
    features: FeatureChain = field(default_factory=FeatureChain)
    shrinkage: float | None = None

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> Discriminant:
        """Learn scaling and discriminant from the training part."""
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
        from sklearn.preprocessing import StandardScaler

        context = context or Context()
        self.classes_ = context.classes
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        matrix = self.alignment_.matrix(train)
        self.scaler_ = StandardScaler().fit(matrix)
        self.model_ = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=self.shrinkage or "auto")
        self.model_.fit(self.scaler_.transform(matrix), part_targets(train, self.classes_))
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Return the probability of each class; one never seen in training gets zero."""
        matrix = self.scaler_.transform(self.alignment_.matrix(test))
        return class_probabilities(self.model_, matrix, len(self.classes_))
