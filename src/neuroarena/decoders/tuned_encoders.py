"""Encoders of one's own that are trained together with their head."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from neuroarena.decoders.decoder import Context, Part, n_examples
from neuroarena.decoders.encoders import EncoderSource, Pooling
from neuroarena.decoders.networks.goals import goal_for
from neuroarena.decoders.networks.training import (
    choose_device,
    import_torch,
    outputs,
    private_torch,
    schedule_of,
)
from neuroarena.decoders.networks.training import train as train_network
from neuroarena.features import FeatureChain


@dataclass
class FinetunedEncoder:
    """An encoder that is trained on with a linear head, in every cell from the same pretrained weights.

    Every recording keeps its own electrodes: their names, positions and rate are passed with its windows.

    Parameters
    ----------
    source : EncoderSource
        Where the encoder and its weights are.
    pooling : {"mean", "flatten"}
    features : FeatureChain
        Stateless preprocessing.
    epochs : int
        Passes over the training part. With a validation part the epoch of lowest validation loss is kept.
    batch_size : int
    learning_rate, weight_decay : float
        Of Adam, for encoder and head.
    patience : int, optional
        Epochs without a lower validation loss after which training stops; without a validation part all are run.
    device : str
        As torch names it; "auto" is the first GPU, else the processor.
    mixed_precision : bool
        On a GPU, compute in bfloat16 where that is safe.
    """

    source: EncoderSource
    pooling: Pooling = "mean"
    features: FeatureChain = field(default_factory=FeatureChain)
    epochs: int = 20
    batch_size: int = 64
    learning_rate: float = 1e-4
    weight_decay: float = 0.0
    patience: int | None = 5
    device: str = "auto"
    mixed_precision: bool = True

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Self:
        """Train from the pretrained weights, and keep the best epoch on the validation part, or else the last.

        Raises
        ------
        MissingDependency
            When torch is not installed.
        InputError
            When the weights or the encoder's code changed since the decoder was made, or for a kind of prediction
            that is not made.
        """
        torch = import_torch("A fine-tuned encoder")
        from neuroarena.decoders.networks.tuned import TunedEncoder

        context = context or Context()
        self.goal_ = goal_for(train, context)
        encoder = copy.deepcopy(self.source.load()).requires_grad_(True)
        targets, rows = torch.as_tensor(self.goal_.targets(train)), torch.arange(n_examples(train))
        held_out = None
        if validation:
            judged = torch.as_tensor(self.goal_.targets(validation))
            held_out = len(rows) + torch.arange(n_examples(validation)), judged
        schedule, loss = schedule_of(self), self.goal_.loss
        # One thread and a private seed: the same numbers whatever ran before in this process.
        with private_torch(torch, seed=int(context.rng.integers(2**63))):
            network = TunedEncoder(encoder, self.pooling, self.goal_.n_outputs, train)
            network.show([*train, *(validation or ())])
            network.to(schedule.device)
            self.course_ = train_network(
                network, rows, targets, schedule, held_out, lambda *pair: -float(loss(*pair)), loss
            )
        network.show(())
        self.network_ = network.cpu()
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Return probabilities (n, classes), numbers (n,) or vectors (n, length)."""
        torch = import_torch("A fine-tuned encoder")
        device = choose_device(torch, self.device)
        with private_torch(torch):
            self.network_.show(test)
            said = outputs(
                self.network_.to(device), torch.arange(n_examples(test)), self.batch_size, device
            ).float()
            self.network_.show(())
        return self.goal_.predictions(said)
