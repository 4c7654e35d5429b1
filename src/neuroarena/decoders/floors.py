"""Floors: what a decoder must beat to have decoded anything.

Both floors serve every kind of prediction, and tasks of windows as well as tasks of streams.
"""

from __future__ import annotations

import zlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from neuroarena.decoders.decoder import Context, Part, n_examples, part_targets
from neuroarena.features import FeatureChain

if TYPE_CHECKING:
    from neuroarena.decoders.streams import StreamMeta


@dataclass
class Chance:
    """Guess at random, without looking at the signals.

    Classes get random probabilities. A number or a text is the one of a training example drawn at random; a
    vector points in a random direction. In a stream of text every window is answered by random
    characters of the training texts, as many as were typed in such a time.
    """

    role: ClassVar[str] = "chance"
    blind: ClassVar[bool] = True
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Chance:
        """Remember the random generator and the answers that occur; nothing is learned from signals."""
        self.context_ = context or Context()
        if self.context_.kind in ("number", "text"):
            self.seen_ = _targets(train)
        if self.context_.kind == "text":
            self.letters_ = "".join(self.seen_.tolist())
            self.letters_a_step_ = _letters_a_step(train, self.context_)
        return self

    def predict(self, test: Part) -> Any:
        """Draw an answer for each example."""
        n, rng, kind = n_examples(test), self.context_.rng, self.context_.kind
        if kind == "vector":
            return rng.standard_normal((n, self.context_.vector_length or 1))
        if kind in ("number", "text"):
            return self.seen_[rng.integers(len(self.seen_), size=n)]
        return rng.dirichlet(np.ones(len(self.context_.classes)), size=n)

    def start(self, meta: StreamMeta) -> None:
        """Forget the previous stream."""
        self.drawn_: np.random.Generator | None = None

    def step(self, window: np.ndarray) -> Any:
        """Answer with a random training number, or with random characters."""
        if self.drawn_ is None:
            # Every stream is played to a copy in the same state: only what is played can make copies differ.
            seed = zlib.crc32(np.ascontiguousarray(window).tobytes())
            self.drawn_ = np.random.default_rng([int(self.context_.rng.integers(2**32)), seed])
            self.number_ = None
        if self.context_.kind == "text":
            count = self.drawn_.poisson(self.letters_a_step_) if self.letters_ else 0
            return "".join(
                self.letters_[place] for place in self.drawn_.integers(len(self.letters_), size=count)
            )
        if self.number_ is None:
            drawn = self.seen_[self.drawn_.integers(len(self.seen_))]
            self.number_ = float(drawn) + _usual_delay_s(self.context_)
        return self.number_


@dataclass
class Dummy:
    """Answer with what is typical of the training part, whatever the signal.

    Class frequencies, the mean number, the mean vector, or the most frequent text (the first of equals).
    In a stream of text nothing is typed.
    """

    role: ClassVar[str] = "dummy"
    blind: ClassVar[bool] = True
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Dummy:
        """Find the typical answer."""
        context = context or Context()
        self.kind_, self.delay_s_ = context.kind, _usual_delay_s(context)
        if context.kind in ("number", "vector"):
            self.usual_: Any = _targets(train).astype(np.float64).mean(axis=0)
        elif context.kind == "text":
            counts = Counter(_targets(train).tolist())
            self.usual_ = min(counts, key=lambda text: (-counts[text], text))
        else:
            counted = np.bincount(part_targets(train, context.classes), minlength=len(context.classes))
            self.usual_ = counted / counted.sum()
        return self

    def predict(self, test: Part) -> Any:
        """Repeat the typical answer for every example."""
        n = n_examples(test)
        if self.kind_ == "text":
            return [self.usual_] * n
        return np.full(n, self.usual_) if self.kind_ == "number" else np.tile(self.usual_, (n, 1))

    def start(self, meta: StreamMeta) -> None:
        """Do nothing: there is nothing to prepare."""

    def step(self, window: np.ndarray) -> Any:
        """Answer with the mean number, or with no text."""
        return "" if self.kind_ == "text" else float(self.usual_) + self.delay_s_


def _targets(part: Part) -> np.ndarray:
    targets = [group.targets for group in part if group.targets is not None]
    if not targets:
        raise ValueError("This part has no targets: only training and validation parts do.")
    return np.concatenate([np.asarray(each) for each in targets])


def _usual_delay_s(context: Context) -> float:
    """Return how many seconds a stream usually begins before its example: numbers count from the stream's start."""
    return 0.0 if context.stream is None else context.stream.start_jitter_s / 2


def _letters_a_step(train: Part, context: Context) -> float:
    """Return the mean number of characters typed from one window to the next."""
    if context.stream is None:
        return 0.0
    letters = sum(map(len, _targets(train).tolist()))
    seconds = sum(
        float((group.table["stop"] - group.table["start"]).sum()) / group.rate_hz for group in train
    )
    return context.stream.hop_s * letters / seconds if seconds > 0 else 0.0
