"""Logistic regression on flattened windows or features: the classical baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.decoder import Context, Part, part_targets
from neuroarena.decoders.probabilities import class_probabilities
from neuroarena.features import FeatureChain, Laplacian, Spectrogram


@dataclass
class Linear:
    """Standardise every feature on the training part, then L2-regularised logistic regression.

    Parameters
    ----------
    features : FeatureChain
        Stateless preprocessing; empty for raw voltage.
    C : float
        Inverse of the regularisation strength.
    tol : float
        Tolerance of the solver (lbfgs).
    max_iter : int
        Most iterations of the solver.
    """

    role: ClassVar[str] = "classical"
    features: FeatureChain = field(default_factory=FeatureChain)
    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 10_000

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Linear:
        """Learn scaling and weights from the training part."""
        from sklearn.linear_model import LogisticRegression

        context = context or Context()
        self.classes_ = context.classes
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        matrix = self.alignment_.matrix(train)
        self.mean_ = matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
        matrix -= self.mean_
        # Centred already, so the second moment is the variance; einsum makes no second matrix.
        variance = np.einsum("ij,ij->j", matrix, matrix, dtype=np.float64) / len(matrix)
        self.scale_ = np.sqrt(np.where(variance > 0, variance, 1.0)).astype(np.float32)
        matrix /= self.scale_
        self.model_ = LogisticRegression(C=self.C, tol=self.tol, max_iter=self.max_iter)
        self.model_.fit(matrix, part_targets(train, self.classes_))
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Return the probability of each class; one never seen in training gets zero."""
        matrix = self.alignment_.matrix(test)
        matrix -= self.mean_
        matrix /= self.scale_
        return class_probabilities(self.model_, matrix, len(self.classes_))


def linear() -> Linear:
    """Logistic regression on raw voltage."""
    return Linear()


def linear_spectrogram() -> Linear:
    """Logistic regression on magnitude spectrograms."""
    return Linear(FeatureChain((Spectrogram(),)))


def linear_laplacian_spectrogram() -> Linear:
    """Logistic regression on spectrograms of Laplacian re-referenced voltage."""
    return Linear(FeatureChain((Laplacian(), Spectrogram())))


def linear_stft() -> Linear:
    """Logistic regression on short-time Fourier transforms: real and imaginary parts."""
    return Linear(FeatureChain((Spectrogram(output="complex-parts"),)))


def linear_v1() -> Linear:
    """Logistic regression on spectrograms with the settings of July 2025: overlap 0.875, up to 200 Hz."""
    return Linear(FeatureChain((Spectrogram(overlap=0.875, max_hz=200.0),)))
