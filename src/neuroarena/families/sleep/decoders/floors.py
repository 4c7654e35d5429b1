"""Floors of the sleep track: what a decoder must beat to have heard anything."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.streams import StreamMeta
from neuroarena.features import FeatureChain


def training_seconds(train: Part) -> np.ndarray:
    """Return the targets of a training part, all recordings together: float64 (n,).

    Raises
    ------
    ValueError
        When a group has no targets.
    """
    if any(group.targets is None for group in train):
        raise ValueError("This part has no targets: only training and validation parts do.")
    return np.concatenate([np.asarray(group.targets, dtype=np.float64) for group in train])


@dataclass
class SleepMedian:
    """Answer with the median of the training part, whatever is heard."""

    role: ClassVar[str] = "dummy"
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> SleepMedian:
        """Take the median of the targets."""
        self.seconds_ = float(np.median(training_seconds(train)))
        return self

    def start(self, meta: StreamMeta) -> None:
        """Prepare for a stream: there is nothing to do."""

    def step(self, window: np.ndarray) -> float:
        """Answer the median."""
        return self.seconds_


@dataclass
class SleepChance:
    """Guess: answer with the target of a training recording, drawn at random by the first window's last digits."""

    role: ClassVar[str] = "chance"
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> SleepChance:
        """Remember the targets, and a seed for all guesses."""
        self.targets_ = training_seconds(train)
        self.seed_ = int((context or Context()).rng.integers(2**63))
        return self

    def start(self, meta: StreamMeta) -> None:
        """Forget the previous stream."""
        self.guess_: float | None = None

    def step(self, window: np.ndarray) -> Any:
        """Guess once, and keep the guess."""
        if self.guess_ is None:
            # Every stream gets a fresh copy of the decoder, so a generator kept here would guess the same in
            # all of them. The rounding of the signal itself serves as the source of randomness.
            dice = np.random.default_rng([self.seed_, int(np.abs(window).sum() * 1e3) % 2**32])
            self.guess_ = float(dice.choice(self.targets_))
        return self.guess_
