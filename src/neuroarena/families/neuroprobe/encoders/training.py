"""Training a head, with or without the encoder beneath it, by the published schedules."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from neuroarena.decoders.networks.descent import BestState, descend
from neuroarena.decoders.networks.training import import_torch
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.encoders.shapes import PURPOSE


@dataclass(frozen=True)
class Schedule:
    """How to train: AdamW on steps of random batches, gradients clipped.

    Attributes
    ----------
    steps, batch_size : int
    head_rate, body_rate : float
        Learning rates of the head and of the encoder.
    decay : str
        "plateau": both rates fall tenfold after 300 steps without a lower training loss.
        "warmup": they rise over the first 2.5 % of the steps, then fall by 5 % every
        (steps - warm-up) / 100 steps.
    select : str
        What the validation part chooses the kept step by: "loss" or "auroc".
    keep : str
        "best" on the validation part, or "last" regardless. Without a validation part: the last.
    validate_every : int
        Steps between two checks of the validation part.
    clip : float
        Largest norm of the gradient.
    weight_decay : float
    """

    steps: int
    batch_size: int
    head_rate: float
    body_rate: float
    decay: Literal["plateau", "warmup"]
    select: Literal["loss", "auroc"]
    keep: Literal["best", "last"] = "best"
    validate_every: int = 100
    clip: float = 1.0
    weight_decay: float = 0.01

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "validate_every"):
            if getattr(self, name) < 1:
                raise InputError(f"Training: {name} must be at least 1, got {getattr(self, name)}.")
        if self.keep not in ("best", "last"):
            raise InputError(f'Training: keep must be "best" or "last", got "{self.keep}".')


# Logits of some rows of a part, in pieces: each (positions in `rows`, tensor (piece, outputs)).
Pieces = Callable[[np.ndarray], Iterator[tuple[np.ndarray, Any]]]


def n_outputs(n_classes: int) -> int:
    """Count the outputs of a head: two classes need one."""
    return 1 if n_classes == 2 else n_classes


def loss_of(logits: Any, targets: Any) -> Any:
    """Sum the loss over rows: binary cross-entropy of one output, otherwise cross-entropy."""
    torch = import_torch(PURPOSE)
    if logits.shape[1] == 1:
        return torch.nn.functional.binary_cross_entropy_with_logits(
            logits[:, 0], targets.to(logits.dtype), reduction="sum"
        )
    return torch.nn.functional.cross_entropy(logits, targets, reduction="sum")


def probabilities(pieces: Pieces, n_rows: int, n_classes: int) -> np.ndarray:
    """Return class probabilities of rows 0 to n_rows: float64 array (rows, classes)."""
    logits = all_logits(pieces, n_rows, n_classes).astype(np.float64)
    if logits.shape[1] == 1:
        from scipy.special import expit

        upper = expit(logits[:, 0])
        return np.stack([1 - upper, upper], axis=1)
    from scipy.special import softmax

    result: np.ndarray = softmax(logits, axis=1)
    return result


def all_logits(pieces: Pieces, n_rows: int, n_classes: int) -> np.ndarray:
    """Collect the logits of rows 0 to n_rows, without gradients."""
    torch = import_torch(PURPOSE)
    collected = np.empty((n_rows, n_outputs(n_classes)), dtype=np.float32)
    with torch.no_grad():
        for positions, logits in pieces(np.arange(n_rows)):
            collected[positions] = logits.cpu().numpy()
    return collected


@dataclass
class Trainee:
    """What is trained: modules, and how rows become logits.

    Attributes
    ----------
    head, body : torch modules
        The body is None where it is frozen; it then has no gradients.
    train, validation : callable
        Pieces of the training and the validation part; None without one.
    targets, validation_targets : int64 arrays
    """

    head: Any
    body: Any
    train: Pieces
    targets: np.ndarray
    n_classes: int
    validation: Pieces | None = None
    validation_targets: np.ndarray | None = None

    def modules(self) -> list[Any]:
        """List the modules that learn."""
        return [self.head] if self.body is None else [self.head, self.body]


def train(trainee: Trainee, schedule: Schedule) -> None:
    """Train in place; random numbers come from torch's current generator."""
    torch = import_torch(PURPOSE)
    groups = [{"params": trainee.head.parameters(), "lr": schedule.head_rate}]
    if trainee.body is not None:
        groups.append({"params": trainee.body.parameters(), "lr": schedule.body_rate})
    optimiser = torch.optim.AdamW(groups, weight_decay=schedule.weight_decay)
    pace = _pace(torch, optimiser, schedule)
    best = BestState(*trainee.modules())
    steps = descend(
        optimiser,
        _draws(torch, len(trainee.targets), schedule),
        functools.partial(_backward, torch, trainee),
        clip=schedule.clip,
        pace=pace,
    )
    for step, _ in enumerate(steps, start=1):
        look = step % schedule.validate_every == 0 or step == schedule.steps
        if look and trainee.validation is not None and schedule.keep == "best":
            best.offer(_merit(trainee, schedule.select))
    best.restore()
    for module in trainee.modules():
        module.eval()


def _backward(torch: Any, trainee: Trainee, rows: np.ndarray) -> float:
    """Add up the gradients of a batch piece by piece, so that memory follows a piece."""
    for module in trainee.modules():
        module.train()
    total = 0.0
    targets = trainee.targets[rows]
    for positions, logits in trainee.train(rows):
        wanted = torch.as_tensor(targets[positions], device=logits.device)
        loss = loss_of(logits, wanted) / len(rows)
        loss.backward()
        total += float(loss.detach())
    return total


def _draws(torch: Any, n_rows: int, schedule: Schedule) -> Iterator[np.ndarray]:
    """Draw batches without replacement, epoch after epoch, for as many steps as there are."""
    done = 0
    while done < schedule.steps:
        for rows in torch.randperm(n_rows).split(schedule.batch_size):
            if done == schedule.steps:
                return
            done += 1
            yield rows.numpy()


def _pace(torch: Any, optimiser: Any, schedule: Schedule) -> Callable[[float], None]:
    """Make the function that sets the learning rates after a step."""
    if schedule.decay == "plateau":
        plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, patience=300)
        return lambda loss: plateau.step(loss)
    warm = max(1, round(0.025 * schedule.steps))
    every = max(1, (schedule.steps - warm) // 100)

    def factor(step: int) -> float:
        return step / warm if step < warm else 0.95 ** ((step - warm) // every)

    # The first step would have a rate of zero: it takes that of the second.
    steps = torch.optim.lr_scheduler.LambdaLR(optimiser, lambda step: factor(max(step, 1)))
    return lambda loss: steps.step()  # noqa: ARG005


def _merit(trainee: Trainee, select: str) -> float:
    """Score the model on the validation part; higher is better."""
    torch = import_torch(PURPOSE)
    assert trainee.validation is not None
    assert trainee.validation_targets is not None
    for module in trainee.modules():
        module.eval()
    targets = trainee.validation_targets
    logits = all_logits(trainee.validation, len(targets), trainee.n_classes)
    if select == "auroc" and logits.shape[1] == 1 and len(np.unique(targets)) == 2:
        from sklearn.metrics import roc_auc_score

        return float(roc_auc_score(targets, logits[:, 0]))
    return -float(loss_of(torch.from_numpy(logits), torch.from_numpy(targets))) / max(len(targets), 1)


def split_rows(sizes: Sequence[int], rows: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """Sort rows of several groups, numbered consecutively, by group.

    Yields
    ------
    group, positions in `rows`, rows within the group

    Examples
    --------
    >>> [(group, where.tolist(), own.tolist()) for group, where, own in split_rows([2, 3], np.array([4, 0, 2]))]
    [(0, [1], [0]), (1, [0, 2], [2, 0])]
    """
    first = 0
    for group, size in enumerate(sizes):
        positions = np.flatnonzero((rows >= first) & (rows < first + size))
        if len(positions):
            yield group, positions, rows[positions] - first
        first += size
