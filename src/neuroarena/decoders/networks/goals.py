"""What a network is trained towards: classes, numbers or vectors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from neuroarena.decoders.decoder import Context, Part, part_numbers, part_targets
from neuroarena.decoders.networks.training import auroc, probabilities
from neuroarena.errors import InputError


class Goal(Protocol):
    """How targets become what a network is trained on, and its outputs predictions."""

    @property
    def n_outputs(self) -> int:
        """Number of outputs the network needs."""
        ...

    def targets(self, part: Part) -> np.ndarray:
        """Return the targets of a part in the form used for training."""
        ...

    def check(self, fitted: np.ndarray, judged: np.ndarray, who: str) -> None:
        """Refuse targets from which nothing can be learned or selected."""
        ...

    def loss(self, said: Any, targets: Any) -> Any:
        """Return the loss of a batch, a tensor."""
        ...

    def judge(self, said: Any, targets: Any) -> float:
        """Judge outputs for held-out items; higher is better."""
        ...

    def predictions(self, said: Any) -> np.ndarray:
        """Turn outputs into what the manifest asks for."""
        ...


@dataclass(frozen=True)
class ClassGoal:
    """Separate classes: cross-entropy, judged by AUROC."""

    classes: tuple[str, ...]

    @property
    def n_outputs(self) -> int:
        """One for each class."""
        return len(self.classes)

    def targets(self, part: Part) -> np.ndarray:
        """Return class numbers: int64 (n,)."""
        return part_targets(part, self.classes)

    def check(self, fitted: np.ndarray, judged: np.ndarray, who: str) -> None:
        """Refuse parts of one class: AUROC needs two."""
        for where, numbers in (("training", fitted), ("held-out", judged)):
            found = np.unique(numbers)
            if len(found) < 2:
                named = ", ".join(f'"{self.classes[number]}"' for number in found) or "no class"
                raise InputError(
                    f"{who}: the {len(numbers)} {where} items hold only {named}, and the epoch is "
                    "chosen by AUROC, which needs two classes. Pass a validation part that holds both, or training "
                    "items in mixed order: without a validation part their last fifth is held out."
                )

    def loss(self, said: Any, targets: Any) -> Any:
        """Return the cross-entropy."""
        import torch

        return torch.nn.functional.cross_entropy(said, targets)

    def judge(self, said: Any, targets: Any) -> float:
        """Return the AUROC."""
        return auroc(said, targets)

    def predictions(self, said: Any) -> np.ndarray:
        """Return probabilities: float64 (n, classes)."""
        return probabilities(said)


@dataclass(frozen=True)
class NumberGoal:
    """Approximate numbers or vectors: squared error of standardised targets, also used to judge.

    Parameters
    ----------
    mean, scale : float32 arrays (length,)
        Of the training targets.
    single : bool
        Whether a prediction is one number rather than a vector.
    """

    mean: np.ndarray
    scale: np.ndarray
    single: bool

    @classmethod
    def of(cls, part: Part, single: bool) -> NumberGoal:
        """Take mean and deviation from a training part; one deviation for all the numbers of a vector."""
        values = part_numbers(part)
        mean = values.mean(axis=0, dtype=np.float64)
        deviation = float(np.sqrt(np.mean((values - mean) ** 2))) or 1.0
        return cls(mean.astype(np.float32), np.full(len(mean), deviation, dtype=np.float32), single)

    @property
    def n_outputs(self) -> int:
        """One for each number of a target."""
        return len(self.mean)

    def targets(self, part: Part) -> np.ndarray:
        """Return standardised targets: float32 (n, length)."""
        standardised: np.ndarray = (part_numbers(part) - self.mean) / self.scale
        return standardised

    def check(self, fitted: np.ndarray, judged: np.ndarray, who: str) -> None:
        """Refuse empty parts."""
        if not len(fitted) or not len(judged):
            raise InputError(
                f"{who}: {len(fitted)} training and {len(judged)} held-out items; both need at least one."
            )

    def loss(self, said: Any, targets: Any) -> Any:
        """Return the mean squared error."""
        import torch

        return torch.nn.functional.mse_loss(said, targets)

    def judge(self, said: Any, targets: Any) -> float:
        """Return the negative mean squared error."""
        return -float(self.loss(said, targets))

    def predictions(self, said: Any) -> np.ndarray:
        """Return numbers (n,) or vectors (n, length), float64, on the scale of the targets."""
        values: np.ndarray = said.double().numpy() * self.scale + self.mean
        return values[:, 0] if self.single else values


def goal_for(train: Part, context: Context) -> Goal:
    """Choose the goal that the context asks for.

    Raises
    ------
    InputError
        For a kind of prediction that these networks do not make.
    """
    if context.kind in ("probabilities", "label"):
        return ClassGoal(context.classes)
    if context.kind in ("number", "vector"):
        return NumberGoal.of(train, single=context.kind == "number")
    raise InputError(f"Networks of windows predict classes, numbers or vectors, not {context.kind}.")
