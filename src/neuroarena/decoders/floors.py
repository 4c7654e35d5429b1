"""Floors: what a decoder must beat to have decoded anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from neuroarena.decoders.decoder import Context, Part, n_examples, part_targets
from neuroarena.features import FeatureChain


@dataclass
class Chance:
    """Guess at random, without looking at the signals."""

    role: ClassVar[str] = "chance"
    blind: ClassVar[bool] = True
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Chance:
        """Remember the classes and the generator; nothing is learned."""
        self.context_ = context or Context()
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Draw a random probability for each class of each example."""
        return self.context_.rng.dirichlet(np.ones(len(self.context_.classes)), size=n_examples(test))


@dataclass
class Dummy:
    """Answer with the class frequencies of the training part, whatever the signal."""

    role: ClassVar[str] = "dummy"
    blind: ClassVar[bool] = True
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Dummy:
        """Count the classes."""
        classes = (context or Context()).classes
        counts = np.bincount(part_targets(train, classes), minlength=len(classes))
        self.frequencies_ = counts / counts.sum()
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Repeat the class frequencies for every example."""
        return np.tile(self.frequencies_, (n_examples(test), 1))
