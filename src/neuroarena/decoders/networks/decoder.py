"""What all network decoders share: stacking and scaling a part, choosing an epoch, predicting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from neuroarena.decoders.alignment import Alignment, stack
from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.networks.goals import goal_for
from neuroarena.decoders.networks.training import Schedule, import_torch, outputs, private_torch
from neuroarena.decoders.networks.training import train as train_network
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain, Laplacian, Spectrogram


def laplacian_spectrogram() -> FeatureChain:
    """Make the published preprocessing: spectrograms of Laplacian re-referenced voltage."""
    return FeatureChain((Laplacian(), Spectrogram()))


@dataclass
class NetworkDecoder(ABC):
    """A torch network on standardised features; the epoch is chosen by held-out items.

    Classes are judged by AUROC, numbers and vectors by squared error.

    The validation part is held out; without one, the last fifth of the training items is held out
    instead. Every feature is standardised by the mean and deviation of the items that are trained on.
    People with different electrodes are joined by region averages. After `fit`, `course_` holds the
    judgement of each epoch and the epoch kept. A subclass says in `build` what the network is.

    Parameters
    ----------
    features : FeatureChain
        Stateless preprocessing.
    learning_rate : float
        Of Adam.
    batch_size : int
    max_epochs : int
    patience : int
        Epochs without an improvement after which training stops.
    tolerance : float
        How much an AUROC must rise to count as an improvement.
    shuffle : bool
        Draw a new order of the training items each epoch.
    """

    features: FeatureChain = field(default_factory=laplacian_spectrogram)
    learning_rate: float = 1e-3
    batch_size: int = 64
    max_epochs: int = 100
    patience: int = 10
    tolerance: float = 1e-4
    shuffle: bool = True

    @abstractmethod
    def build(self, inputs: np.ndarray, n_classes: int) -> Any:
        """Make the untrained network for the items (n, channels, ...) it will be trained on."""

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Self:
        """Train from a seeded start; keep the epoch of the best AUROC on held-out items.

        Raises
        ------
        MissingDependency
            When torch is not installed.
        InputError
            When there is no class to tell apart, the held-out items are all of one class, or the
            windows do not suit the network.
        """
        torch = import_torch(f"The decoder {type(self).__name__}")
        context = context or Context()
        schedule = self._schedule()
        self.classes_ = context.classes
        given = [group.channels for group in (*train, *(validation or ()))]
        self.alignment_ = Alignment.between([*given, *context.test_channels])
        self.goal_ = goal_for(train, context)
        inputs, targets = stack(self.alignment_, train), self.goal_.targets(train)
        n_fitted = len(inputs) if validation else len(inputs) - max(1, len(inputs) // 5)
        self.mean_, self.scale_ = self.standardise(inputs, n_fitted)
        judged, judged_targets = inputs[n_fitted:], targets[n_fitted:]
        if validation:
            judged, judged_targets = self._inputs(validation), self.goal_.targets(validation)
        self.goal_.check(targets[:n_fitted], judged_targets, type(self).__name__)
        tensor = torch.from_numpy
        self.item_shape_ = inputs.shape[1:]
        with private_torch(torch, seed=int(context.rng.integers(2**63))):
            self.network_ = self.build(inputs[:n_fitted], self.goal_.n_outputs)
            self.course_ = train_network(
                self.network_,
                tensor(inputs[:n_fitted]),
                tensor(targets[:n_fitted]),
                schedule,
                (tensor(judged), tensor(judged_targets)),
                self.goal_.judge,
                self.goal_.loss,
            )
        return self

    def built_with(self) -> dict[str, Any]:
        """Return what `build` needs in addition to the parameters, as plain values stored with a saved network."""
        return {}

    def standardise(self, inputs: np.ndarray, n_fitted: int) -> tuple[np.ndarray, np.ndarray]:
        """Standardise in place by the first `n_fitted` items, and return the mean and the scale."""
        return standardise(inputs, n_fitted)

    def predict(self, test: Part) -> np.ndarray:
        """Predict the probability of each class, (n, classes), or numbers (n,), or vectors (n, length)."""
        torch = import_torch(f"The decoder {type(self).__name__}")
        with private_torch(torch):
            said = outputs(self.network_, torch.from_numpy(self._inputs(test)), self.batch_size)
            return self.goal_.predictions(said)

    def _schedule(self) -> Schedule:
        return Schedule(
            max_epochs=self.max_epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            shuffle=self.shuffle,
            patience=self.patience,
            tolerance=self.tolerance,
        )

    def _inputs(self, part: Part) -> np.ndarray:
        inputs = stack(self.alignment_, part)
        inputs -= self.mean_
        inputs /= self.scale_
        return inputs


def standardise(inputs: np.ndarray, n_fitted: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardise every feature in place by the first `n_fitted` rows, and return the mean and the scale.

    A feature that does not vary is only centred.
    """
    fitted = inputs[:n_fitted]
    mean = fitted.mean(axis=0, dtype=np.float64).astype(np.float32)
    inputs -= mean
    # Centred already, so the second moment is the variance; einsum makes no second matrix.
    variance = np.einsum("i...,i...->...", fitted, fitted, dtype=np.float64) / n_fitted
    scale = np.sqrt(np.where(variance > 0, variance, 1.0)).astype(np.float32)
    inputs /= scale
    return mean, scale


def window_shape(inputs: np.ndarray, axes: Sequence[str], who: str) -> tuple[int, ...]:
    """Return the shape of one item after checking that it has these axes.

    Raises
    ------
    InputError
        When an axis is missing or empty.
    """
    shape = inputs.shape[1:]
    if len(shape) < len(axes) or 0 in shape:
        raise InputError(
            f"{who}: expected items of the axes ({', '.join(axes)}), got the shape {shape}. Choose other features."
        )
    return shape
