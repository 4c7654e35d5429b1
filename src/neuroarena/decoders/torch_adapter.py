"""Turn a torch network into a decoder, in one line."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from neuroarena.decoders.alignment import Alignment, stack
from neuroarena.decoders.decoder import Context, Group, Part
from neuroarena.decoders.networks.goals import goal_for
from neuroarena.decoders.networks.training import (
    import_torch,
    outputs,
    private_torch,
    schedule_of,
)
from neuroarena.decoders.networks.training import train as train_network
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain


@dataclass
class TorchDecoder:
    """A torch network trained with Adam: cross-entropy for classes, squared error for numbers and vectors.

    Parameters
    ----------
    build : callable or torch.nn.Module
        ``build(input_shape, n_outputs)`` makes the network; the input shape is that of one example, (channels, ...),
        and it returns one output per class, or per number of a target. Of a module every fit trains a copy, from the
        weights that it has; such runs are not kept in the cache, because they cannot be told from others.
    features : FeatureChain
        Stateless preprocessing.
    epochs : int
        Passes over the training part. With a validation part the epoch of lowest validation loss is kept.
    batch_size : int
    learning_rate, weight_decay : float
        Of Adam.
    standardise : bool
        Scale every channel to mean 0 and deviation 1 on the training part.
    patience : int, optional
        Epochs without a lower validation loss after which training stops; without a validation part all are run.
    device : str
        As torch names it; "auto" is the first GPU, else the processor.
    mixed_precision : bool
        On a GPU, compute in bfloat16 where that is safe.
    """

    build: Any
    features: FeatureChain = field(default_factory=FeatureChain)
    epochs: int = 30
    batch_size: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.0
    standardise: bool = True
    patience: int | None = None
    device: str = "auto"
    mixed_precision: bool = True

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Self:
        """Train from a seeded start, and keep the best epoch on the validation part, or else the last.

        Raises
        ------
        MissingDependency
            When torch is not installed.
        InputError
            For a device that is not there, a kind of prediction that is not made, or outputs of a wrong shape.
        """
        torch = import_torch("A torch decoder")
        context = context or Context()
        given = [group.channels for group in train]
        self.alignment_ = Alignment.between([*given, *context.test_channels])
        self.goal_ = goal_for(train, context)
        inputs, targets = self._tensor(train, fit=True), torch.as_tensor(self.goal_.targets(train))
        held_out = None
        if validation:
            held_out = self._tensor(validation), torch.as_tensor(self.goal_.targets(validation))
        schedule = schedule_of(self)
        # One thread and a private seed: the same numbers whatever ran before in this process.
        with private_torch(torch, seed=int(context.rng.integers(2**63))):
            self.network_ = self.make_network(tuple(inputs.shape[1:]), self.goal_.n_outputs, train[0])
            self.network_.to(schedule.device)
            self._check_outputs(inputs[:2])
            loss = self.goal_.loss
            self.course_ = train_network(
                self.network_, inputs, targets, schedule, held_out, lambda *pair: -float(loss(*pair)), loss
            )
        return self

    def make_network(self, shape: tuple[int, ...], n_outputs: int, group: Group) -> Any:
        """Make the untrained network for examples of a shape; `group` is one that it will be trained on."""
        torch = import_torch("A torch decoder")
        return (
            copy.deepcopy(self.build)
            if isinstance(self.build, torch.nn.Module)
            else self.build(shape, n_outputs)
        )

    def predict(self, test: Part) -> np.ndarray:
        """Return probabilities (n, classes), numbers (n,) or vectors (n, length)."""
        torch = import_torch("A torch decoder")
        with private_torch(torch):
            said = outputs(self.network_, self._tensor(test), self.batch_size, schedule_of(self).device)
            return self.goal_.predictions(said)

    def _check_outputs(self, few: Any) -> None:
        """Refuse a network whose outputs no goal can read, before hours are spent."""
        name, asked = type(self.network_).__name__, tuple(few.shape)
        try:
            shape = tuple(outputs(self.network_, few, len(few), schedule_of(self).device).shape)
        except RuntimeError as error:
            said = " ".join(str(error).split())[:160]
            raise InputError(
                f"{name} cannot take examples (examples, channels, ...) of {asked}: {said}"
            ) from error
        if shape != (len(few), self.goal_.n_outputs):
            raise InputError(
                f"{name} returns outputs of shape {shape} for {len(few)} examples; expected "
                f"({len(few)}, {self.goal_.n_outputs}): one per class, or per number of a target."
            )

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
    build: Callable[[tuple[int, ...], int], Any] | Any, features: FeatureChain | None = None, **training: Any
) -> TorchDecoder:
    """Make a decoder from a torch network: ``build(input_shape, n_outputs) -> torch.nn.Module``, or a module.

    `training` takes the other parameters of :class:`TorchDecoder`: ``epochs``, ``batch_size``, ``learning_rate``,
    ``weight_decay``, ``standardise``, ``patience``, ``device`` and ``mixed_precision``.

    Raises
    ------
    InputError
        For what is neither, and for a function or class that does not take the two arguments.
    """
    if not callable(build):
        raise InputError(
            "from_torch takes a torch.nn.Module, or a function build(input_shape, n_outputs) that makes one, got "
            f"{type(build).__name__}."
        )
    if inspect.isroutine(build) or isinstance(build, type):
        name = getattr(build, "__name__", "build")
        try:
            inspect.signature(build).bind((1, 1), 1)
        except TypeError:
            raise InputError(
                f"from_torch calls {name}(input_shape, n_outputs), which it cannot take. Pass a module, {name}(...), "
                f"or a function: lambda shape, n_outputs: {name}(...)."
            ) from None
        except ValueError:  # a builtin that does not tell its arguments
            pass
    return TorchDecoder(build, features or FeatureChain(), **training)
