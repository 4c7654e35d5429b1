"""Training emg2qwerty's network by connectionist temporal classification (CTC; Graves et al. 2006)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from rapidfuzz.distance import Levenshtein

from neuroarena.decoders.ctc import GreedyText
from neuroarena.decoders.networks.descent import BestState, descend
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.families.emg.decoders.spectra import FRAME, HOP, log_spectrogram
from neuroarena.families.emg.decoders.stretches import (
    MOST_SHIFT,
    Item,
    Stretch,
    collate,
    window_item,
    window_starts,
)
from neuroarena.families.emg.emg2qwerty.characters import BLANK, text_of

_LEAST_RATE, _LAST_RATE = 1e-8, 1e-6
_PIECE = 40_000

# (log probabilities (time, batch, 99), items, judged frames of each) -> loss.
Loss = Callable[[Any, Sequence[Item], np.ndarray], Any]


@dataclass(frozen=True)
class CtcSchedule:
    """How long, how fast and in which portions the network is trained.

    Parameters
    ----------
    max_epochs : int
        Passes over the training windows; 0 leaves the network as it is.
    batch_size : int
        Windows per step.
    learning_rate : float
        Of Adam, at its highest: it climbs over the first fifteenth of the epochs, then falls along a cosine.
    augment : bool
        Vary the windows as in the published training.
    masks : bool
        With `augment`, also mask the spectra.
    aligned_epochs : int
        In this many first epochs every frame learns its key or the blank by cross-entropy, from the logged
        times of presses. CTC alone spends its first epochs predicting nothing.

    Raises
    ------
    InputError
        When a number is out of range.
    """

    max_epochs: int
    batch_size: int
    learning_rate: float
    augment: bool = True
    masks: bool = True
    aligned_epochs: int = 0

    def __post_init__(self) -> None:
        for name, least in (("max_epochs", 0), ("batch_size", 1), ("aligned_epochs", 0)):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise InputError(
                    f"tds-ctc: {name} must be a whole number of at least {least}, got {value!r}."
                )
        if not math.isfinite(self.learning_rate) or self.learning_rate <= 0:
            raise InputError(f"tds-ctc: learning_rate must be a number above 0, got {self.learning_rate!r}.")

    def rate(self, epoch: int) -> float:
        """Return the learning rate of an epoch, counted from 0.

        Examples
        --------
        >>> schedule = CtcSchedule(max_epochs=150, batch_size=32, learning_rate=1e-3)
        >>> [f"{schedule.rate(epoch):.1e}" for epoch in (0, 10, 149)]
        ['1.0e-08', '1.0e-03', '1.0e-06']
        """
        climb = self.max_epochs // 15
        if epoch < climb:
            return _LEAST_RATE + (self.learning_rate - _LEAST_RATE) * epoch / climb
        done = (epoch - climb) / max(1, self.max_epochs - climb - 1)
        return _LAST_RATE + (self.learning_rate - _LAST_RATE) * 0.5 * (1 + math.cos(math.pi * done))


@dataclass
class CtcCourse:
    """How a training went: mean loss and held-out character error rate (%) of each epoch, and the epoch kept."""

    losses: list[float] = field(default_factory=list)
    cers: list[float] = field(default_factory=list)
    best_epoch: int | None = None


def train_network(
    network: Any,
    lookback: int,
    schedule: CtcSchedule,
    train_on: Sequence[Stretch],
    held_out: Sequence[Stretch],
    rng: np.random.Generator,
) -> CtcCourse:
    """Minimise the CTC loss with Adam; with held-out stretches, keep the epoch of their lowest error rate.

    Parameters
    ----------
    network : torch module
        Changed in place; left in evaluation mode.
    lookback : int
        Frames by which the network shortens its input.
    schedule : CtcSchedule
    train_on, held_out : sequence of Stretch
    rng : numpy Generator
        Draws order, jitter and variations.

    Raises
    ------
    NeuroarenaError
        When the loss is no longer finite.
    """
    import torch

    optimiser = torch.optim.Adam(network.parameters(), lr=schedule.learning_rate)
    course, best = CtcCourse(), BestState(network)
    for epoch in range(schedule.max_epochs):
        for group in optimiser.param_groups:
            group["lr"] = schedule.rate(epoch)
        loss = _aligned_loss if epoch < schedule.aligned_epochs else _ctc_loss
        course.losses.append(_one_epoch(network, lookback, schedule, train_on, optimiser, rng, loss))
        if not held_out:
            continue
        course.cers.append(error_rate(network, lookback, held_out))
        if best.offer(-course.cers[-1]):
            course.best_epoch = epoch
    best.restore()
    network.eval()
    return course


def _one_epoch(
    network: Any,
    lookback: int,
    schedule: CtcSchedule,
    train_on: Sequence[Stretch],
    optimiser: Any,
    rng: np.random.Generator,
    loss_of: Loss,
) -> float:
    import torch

    network.train()
    vary = rng if schedule.augment else None
    # Wristbands shifted against each other would blur the time at which a frame is labelled.
    shift = 0 if loss_of is _aligned_loss else MOST_SHIFT
    due = [(stretch, int(first)) for stretch in train_on for first in window_starts(stretch, rng)]
    order = rng.permutation(len(due))

    def batches() -> Iterator[list[Item]]:
        for begin in range(0, len(order), schedule.batch_size):
            chosen = [due[place] for place in order[begin : begin + schedule.batch_size]]
            items = [
                window_item(stretch, first, lookback, vary, shift, schedule.masks)
                for stretch, first in chosen
            ]
            items = [item for item in items if len(item.taught)]
            if items:
                yield items

    def backward(items: list[Item]) -> float:
        frames, lengths = collate(items)
        loss = loss_of(network(torch.from_numpy(frames)), items, lengths - lookback)
        if not torch.isfinite(loss):
            raise NeuroarenaError(
                "Training tds-ctc: the loss is not finite. Check that the signals are finite and no window holds more "
                f"keys than frames, or lower learning_rate, which is {schedule.learning_rate:g}."
            )
        loss.backward()
        return float(loss.detach())

    losses = list(descend(optimiser, batches(), backward))
    return float(np.mean(losses)) if losses else math.nan


def _ctc_loss(said: Any, items: Sequence[Item], lengths: np.ndarray) -> Any:
    import torch

    labels = torch.from_numpy(np.concatenate([item.labels for item in items]))
    counts = torch.tensor([len(item.labels) for item in items])
    return torch.nn.functional.ctc_loss(said, labels, torch.from_numpy(lengths), counts, blank=BLANK)


def _aligned_loss(said: Any, items: Sequence[Item], lengths: np.ndarray) -> Any:
    import torch

    rows = [said[:length, place] for place, length in enumerate(lengths)]
    taught = torch.from_numpy(np.concatenate([item.taught for item in items]))
    return torch.nn.functional.nll_loss(torch.cat(rows), taught)


def judge(network: Any, frames: np.ndarray) -> np.ndarray:
    """Return the likeliest label of each frame, (n, 2, 16, 33) -> int (n - lookback,)."""
    import torch

    network.eval()
    with torch.no_grad():
        said = network(torch.from_numpy(frames)[:, None])
    labels: np.ndarray = said[:, 0].argmax(dim=1).numpy()
    return labels


def error_rate(network: Any, lookback: int, held_out: Sequence[Stretch]) -> float:
    """Return the character error rate of greedy decoding over all stretches together, in per cent."""
    errors = characters = 0
    for stretch in held_out:
        reference = text_of(stretch.keys(stretch.start, stretch.stop).tolist())
        errors += Levenshtein.distance(decode_stretch(network, lookback, stretch), reference)
        characters += len(reference)
    return 100.0 * errors / max(characters, 1)


def decode_stretch(network: Any, lookback: int, stretch: Stretch) -> str:
    """Decode a whole stretch greedily, in pieces whose frames join without a gap."""
    text, pieces = GreedyText(), []
    step = _PIECE // HOP * HOP
    for first in range(stretch.start, stretch.stop, step):
        # A piece begins with the past its first frame needs, and ends with the rest of its last frame.
        begin = max(stretch.start, first - lookback * HOP)
        signals = stretch.read(begin, first + step + FRAME - HOP)
        frames = log_spectrogram(signals)
        if len(frames) > lookback:
            pieces.append(text.take(judge(network, frames)))
    return "".join(pieces)
