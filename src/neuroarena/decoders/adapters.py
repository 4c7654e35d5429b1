"""Turn scikit-learn estimators and torch modules into decoders, in one line each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.decoder import Context, Part, part_targets
from neuroarena.decoders.networks.decoder import stack
from neuroarena.decoders.networks.training import (
    Schedule,
    import_torch,
    negative_loss,
    outputs,
    private_torch,
    probabilities,
)
from neuroarena.decoders.networks.training import train as train_network
from neuroarena.features import FeatureChain


@dataclass
class SklearnDecoder:
    """A scikit-learn classifier on flattened windows or features."""

    estimator: Any
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> SklearnDecoder:
        """Fit a clone of the estimator on the training part."""
        from sklearn.base import clone

        context = context or Context()
        self.classes_ = context.classes
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        self.estimator_ = clone(self.estimator)
        seeds = {
            name: int(context.rng.integers(2**31))
            for name, value in self.estimator_.get_params().items()
            if name.rpartition("__")[2] == "random_state" and value is None
        }
        self.estimator_.set_params(**seeds)
        self.estimator_.fit(self.alignment_.matrix(train), part_targets(train, self.classes_))
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Return class probabilities; the label of an estimator without them gets probability 1."""
        matrix = self.alignment_.matrix(test)
        probabilities = np.zeros((len(matrix), len(self.classes_)))
        if hasattr(self.estimator_, "predict_proba"):
            probabilities[:, self.estimator_.classes_] = self.estimator_.predict_proba(matrix)
        else:
            probabilities[np.arange(len(matrix)), self.estimator_.predict(matrix)] = 1.0
        return probabilities


@dataclass
class TorchDecoder:
    """A torch network trained with cross-entropy and Adam.

    The network is made by ``build(input_shape, n_classes)``, where the input shape is that of one
    example, (channels, ...). With a validation part the epoch of lowest validation loss is kept.
    """

    build: Callable[[tuple[int, ...], int], Any]
    features: FeatureChain = field(default_factory=FeatureChain)
    epochs: int = 30
    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    standardise: bool = True

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> TorchDecoder:
        """Train from a seeded start, and keep the best epoch on the validation part, or else the last."""
        torch = import_torch("A torch decoder")
        context = context or Context()
        self.classes_ = context.classes
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        inputs, targets = self._tensor(train, fit=True), torch.as_tensor(part_targets(train, self.classes_))
        held_out = None
        if validation:
            held_out = self._tensor(validation), torch.as_tensor(part_targets(validation, self.classes_))
        schedule = Schedule(self.epochs, self.batch_size, self.learning_rate, self.weight_decay)
        # One thread and a private seed: the same numbers whatever ran before in this process.
        with private_torch(torch, seed=int(context.rng.integers(2**63))):
            self.network_ = self.build(tuple(inputs.shape[1:]), len(self.classes_))
            self.course_ = train_network(
                self.network_, inputs, targets, schedule, held_out, judge=negative_loss
            )
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Return the softmax of the network's outputs."""
        with private_torch(import_torch("A torch decoder")):
            return probabilities(outputs(self.network_, self._tensor(test), self.batch_size))

    def _tensor(self, part: Part, fit: bool = False) -> Any:
        """Stack a part as one tensor (examples, channels, ...), standardised per channel."""
        torch = import_torch("A torch decoder")
        stacked = stack(self.alignment_, part)
        if self.standardise:
            axes = (0, *range(2, stacked.ndim))
            if fit:
                self.mean_ = stacked.mean(axis=axes, keepdims=True, dtype=np.float64).astype(np.float32)
                spread = stacked.std(axis=axes, keepdims=True, dtype=np.float64).astype(np.float32)
                self.scale_ = np.where(spread > 0, spread, np.float32(1))
            stacked -= self.mean_
            stacked /= self.scale_
        return torch.from_numpy(stacked)


def from_sklearn(estimator: Any, features: FeatureChain | None = None) -> SklearnDecoder:
    """Make a decoder from a scikit-learn classifier or pipeline.

    Examples
    --------
    >>> from sklearn.linear_model import RidgeClassifier
    >>> from_sklearn(RidgeClassifier()).features.name
    'raw'
    """
    return SklearnDecoder(estimator, features or FeatureChain())


def from_torch(
    build: Callable[[tuple[int, ...], int], Any], features: FeatureChain | None = None, **training: Any
) -> TorchDecoder:
    """Make a decoder from a torch network: ``build(input_shape, n_classes) -> torch.nn.Module``.

    `training` takes ``epochs``, ``batch_size``, ``learning_rate``, ``weight_decay`` and ``standardise``.
    """
    return TorchDecoder(build, features or FeatureChain(), **training)
