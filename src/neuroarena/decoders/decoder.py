"""The decoder contract: what is judged, and what it may see."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from neuroarena.features import FeatureChain
from neuroarena.recordings import Recording
from neuroarena.scoring import StreamRule
from neuroarena.scoring.metrics import Prediction


@dataclass(frozen=True)
class Group:
    """The examples of one recording.

    Attributes
    ----------
    signals : float32 array (n, channels, ...)
        Windows, or what the decoder's feature chain makes of them.
    channels : DataFrame
        Channel table: name, kind, x, y, z, region; one row for each entry of axis 1.
    rate_hz : float
    table : DataFrame
        What is known about each example: id, subject, session, and what else the benchmark provides. Never the
        target; in test parts the id is a random token.
    targets : array (n,) or (n, length), optional
        Present in training and validation parts, None in test parts.
    recording : Recording, optional
        Stream benchmarks, training and validation parts: the recording, to be read as the decoder likes.
        `signals` then hold no samples, and `table` has the columns start and stop (samples).
    events : DataFrame, optional
        Stream benchmarks, training and validation parts: onset_s, duration_s and value of what is annotated.
    """

    signals: np.ndarray
    channels: pd.DataFrame
    rate_hz: float
    table: pd.DataFrame
    targets: np.ndarray | None = None
    recording: Recording | None = None
    events: pd.DataFrame | None = None

    def __len__(self) -> int:
        return len(self.signals)


Part = Sequence[Group]


@dataclass(frozen=True)
class Context:
    """What a decoder may know beforehand.

    Attributes
    ----------
    classes : tuple of str
        The classes in the order in which probabilities are returned; empty for other targets.
    test_channels : tuple of DataFrame
        Channel tables of the recordings it will be judged on; never their signals or targets.
    rng : numpy Generator
        Seeded for this cell alone; the only source of chance a decoder should use.
    kind : {"probabilities", "label", "number", "vector", "text"}
        What is to be predicted.
    vector_length : int, optional
        Numbers in a vector, where vectors are to be predicted.
    stream : StreamRule, optional
        How test recordings will be played, where they are.
    ranks : bool
        Whether the metric orders examples by their probabilities, as AUROC does.
    """

    classes: tuple[str, ...] = ()
    test_channels: tuple[pd.DataFrame, ...] = ()
    rng: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))
    kind: Prediction = "probabilities"
    vector_length: int | None = None
    stream: StreamRule | None = None
    ranks: bool = False


@runtime_checkable
class Decoder(Protocol):
    """Anything that learns from a training part and predicts a test part.

    A constructor stores its parameters and does nothing else. `features` names the stateless
    preprocessing that evaluation applies (and computes once for all decoders that share it); whatever is
    learned happens inside :meth:`fit`. Two attributes are optional: `role` marks a floor on boards
    ("chance", "dummy" or "classical"), and `blind = True` says that signals are never looked at, so
    that none are read: the decoder then gets windows of zero samples.
    """

    features: FeatureChain

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Any:
        """Learn from the training part; choose a model with the validation part, if there is one."""
        ...

    def predict(self, test: Part) -> Any:
        """Predict every example of a part, in order.

        Returns
        -------
        array (n, classes) of probabilities, array (n,) of numbers, array (n, d) of vectors, or a
        list of n texts, as the benchmark's manifest asks.
        """
        ...


def part_targets(part: Part, classes: Sequence[str]) -> np.ndarray:
    """Return the targets of a part as class numbers: int64 array (n,)."""
    number_of = {name: number for number, name in enumerate(classes)}
    numbers: list[int] = []
    for group in part:
        if group.targets is None:
            raise ValueError("This part has no targets: only training and validation parts do.")
        numbers += [number_of[str(target)] for target in group.targets]
    return np.array(numbers, dtype=np.int64)


def part_numbers(part: Part) -> np.ndarray:
    """Return the targets of a part that are numbers or vectors: float32 array (n, length)."""
    rows = [np.asarray(group.targets, dtype=np.float32) for group in part]
    return np.concatenate([values.reshape(len(values), -1) for values in rows])


def n_examples(part: Part) -> int:
    """Count the examples of a part."""
    return sum(len(group) for group in part)
