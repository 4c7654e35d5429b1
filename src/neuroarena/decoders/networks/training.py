"""Training a torch network: one loop for all of ours, seeded, on one thread, keeping the best epoch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from neuroarena.decoders.networks.descent import BestState, descend
from neuroarena.errors import InputError, MissingDependency, NeuroarenaError
from neuroarena.scoring.classification import binary_auroc

# Judges the outputs (n, classes) of a network against class numbers (n,), both tensors; higher is better.
Judge = Callable[[Any, Any], float]
# Returns the loss of outputs (batch, outputs) against targets, a tensor.
Loss = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Schedule:
    """How long, how fast and in which batches a network is trained.

    Parameters
    ----------
    max_epochs : int
        Most passes over the training items.
    batch_size : int
        Items per step; predictions are made in batches of this size too.
    learning_rate, weight_decay : float
        Of Adam.
    shuffle : bool
        Draw a new order each epoch; otherwise items come in the order of the part.
    patience : int, optional
        Epochs without an improvement after which training stops; None to run all epochs.
    tolerance : float
        An epoch is an improvement when it is judged better than the best by more than this.
    device : str
        Where the network is; batches are sent there one by one.
    mixed_precision : bool
        Compute in bfloat16 where that is safe; on a GPU only.

    Raises
    ------
    InputError
        When a number is out of its range.
    """

    max_epochs: int
    batch_size: int
    learning_rate: float
    weight_decay: float = 0.0
    shuffle: bool = True
    patience: int | None = None
    tolerance: float = 0.0
    device: str = "cpu"
    mixed_precision: bool = False

    def __post_init__(self) -> None:
        for name in ("max_epochs", "batch_size", "patience"):
            value = getattr(self, name)
            if not (name == "patience" and value is None) and (not isinstance(value, int) or value < 1):
                raise InputError(
                    f"Training a network: {name} must be a whole number of at least 1, got {value!r}."
                )
        for name, lowest in (
            ("learning_rate", "above 0"),
            ("weight_decay", "0 or more"),
            ("tolerance", "0 or more"),
        ):
            value = getattr(self, name)
            if not math.isfinite(value) or value < 0 or (value == 0 and lowest == "above 0"):
                raise InputError(f"Training a network: {name} must be a number {lowest}, got {value!r}.")


def schedule_of(decoder: Any) -> Schedule:
    """Return the schedule that the fields of an adapter ask for: epochs, batch size, rates, patience and device.

    Raises
    ------
    InputError
        For a number out of its range, or a device that is not there.
    """
    device = choose_device(import_torch("A torch decoder"), decoder.device)
    return Schedule(
        decoder.epochs,
        decoder.batch_size,
        decoder.learning_rate,
        decoder.weight_decay,
        patience=decoder.patience,
        device=device,
        mixed_precision=decoder.mixed_precision and device.startswith("cuda"),
    )


@dataclass
class Course:
    """How a training went: the judgement of each epoch, and the epoch that was kept (counted from 0)."""

    scores: list[float] = field(default_factory=list)
    best_epoch: int | None = None


def import_torch(purpose: str) -> Any:
    """Import torch and return the module.

    Raises
    ------
    MissingDependency
        When torch is not installed; the sentence starts with `purpose`.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingDependency("PyTorch", "torch", purpose) from error
    return torch


def choose_device(torch: Any, device: str) -> str:
    """Return the device that a name stands for: "auto" is the first GPU, else the processor.

    Raises
    ------
    InputError
        When torch does not know the name, or has no such device.
    """
    if device == "auto":
        return "cuda" if torch.cuda.is_available() else "cpu"
    try:
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError) as error:
        said = " ".join(str(error).split())[:120]
        raise InputError(f'The device "{device}" cannot be used: {said}. Use "auto" or "cpu".') from error
    return device


@contextmanager
def private_torch(torch: Any, seed: int | None = None) -> Iterator[None]:
    """Work on one thread and, with a seed, on a private random stream; restore the old state afterwards.

    The number of threads decides in which order sums are made, so reproducible results need a fixed number.
    """
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        with torch.random.fork_rng(devices=[], enabled=seed is not None):
            if seed is not None:
                torch.manual_seed(seed)
            yield
    finally:
        torch.set_num_threads(threads)


def train(
    network: Any,
    inputs: Any,
    targets: Any,
    schedule: Schedule,
    held_out: tuple[Any, Any] | None = None,
    judge: Judge | None = None,
    loss: Loss | None = None,
) -> Course:
    """Minimise a loss with Adam; with held-out items, stop early and keep the best epoch.

    Parameters
    ----------
    network : torch module
        Changed in place; left in the state of the best epoch, else of the last.
    inputs : tensor (n, ...)
    targets : int64 tensor (n,)
        Class numbers, or what `loss` asks for.
    schedule : Schedule
    held_out : pair of tensors, optional
        Inputs and targets on which epochs are judged; never the test part.
    judge : callable, optional
        Needed with `held_out`.
    loss : callable, optional
        Cross-entropy when left out.

    Raises
    ------
    NeuroarenaError
        When the loss, or an output for held-out items, is no longer finite.
    """
    import torch

    optimiser = torch.optim.Adam(
        network.parameters(), lr=schedule.learning_rate, weight_decay=schedule.weight_decay
    )
    course, best, waited = Course(), BestState(network), 0
    loss = loss or torch.nn.functional.cross_entropy
    for epoch in range(schedule.max_epochs):
        _one_epoch(network, optimiser, inputs, targets, schedule, epoch, loss)
        if held_out is None or judge is None:
            continue
        said = outputs(network, held_out[0], schedule.batch_size, schedule.device)
        _check_finite(said, "an output for held-out items", epoch, schedule)
        course.scores.append(judge(said, held_out[1]))
        waited += 1
        if best.offer(course.scores[-1], schedule.tolerance):
            course.best_epoch, waited = epoch, 0
        elif waited == schedule.patience:
            break
    best.restore()
    return course


def _one_epoch(
    network: Any, optimiser: Any, inputs: Any, targets: Any, schedule: Schedule, epoch: int, loss: Loss
) -> None:
    import torch

    device = schedule.device

    def backward(rows: Any) -> float:
        with torch.autocast(device.partition(":")[0], torch.bfloat16, enabled=schedule.mixed_precision):
            value = loss(network(inputs[rows].to(device)), targets[rows].to(device))
        _check_finite(value, "the loss", epoch, schedule)
        value.backward()
        return float(value.detach())

    network.train()
    for _ in descend(optimiser, _batches(len(inputs), schedule), backward):
        pass


def _check_finite(values: Any, what: str, epoch: int, schedule: Schedule) -> None:
    import torch

    if not torch.isfinite(values).all():
        raise NeuroarenaError(
            f"Training a network: {what} is not finite in epoch {epoch + 1}. Check that the signals are finite, "
            f"or lower learning_rate, which is {schedule.learning_rate:g}."
        )


def _batches(n: int, schedule: Schedule) -> Iterator[Any]:
    """Split the rows of an epoch into batches; slices where the order is kept, so that no batch is copied."""
    import torch

    if schedule.shuffle:
        yield from torch.randperm(n).split(schedule.batch_size)
    else:
        yield from (slice(first, first + schedule.batch_size) for first in range(0, n, schedule.batch_size))


def outputs(network: Any, inputs: Any, batch_size: int, device: str = "cpu") -> Any:
    """Compute the outputs of a network for every input, without training: tensor (n, classes) on the processor."""
    import torch

    network.eval()
    with torch.no_grad():
        return torch.cat([network(rows.to(device)).cpu() for rows in inputs.split(batch_size)])


def probabilities(said: Any) -> np.ndarray:
    """Turn outputs into probabilities: the softmax, in double precision."""
    import torch

    values: np.ndarray = torch.softmax(said.double(), dim=1).numpy()
    return values


def auroc(said: Any, targets: Any) -> float:
    """Judge outputs by AUROC: of class 1 for two classes, else the mean over the classes that occur."""
    scores, truth = probabilities(said), targets.numpy()
    classes = [1] if scores.shape[1] == 2 else np.unique(truth)
    return float(np.mean([binary_auroc(scores[:, number], truth == number) for number in classes]))
