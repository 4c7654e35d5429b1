"""Turn a torch network into a decoder, in one line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuroarena.decoders.alignment import Alignment, stack
from neuroarena.decoders.decoder import Context, Part, part_targets
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


def from_torch(
    build: Callable[[tuple[int, ...], int], Any], features: FeatureChain | None = None, **training: Any
) -> TorchDecoder:
    """Make a decoder from a torch network: ``build(input_shape, n_classes) -> torch.nn.Module``.

    `training` takes ``epochs``, ``batch_size``, ``learning_rate``, ``weight_decay`` and ``standardise``.
    """
    return TorchDecoder(build, features or FeatureChain(), **training)
