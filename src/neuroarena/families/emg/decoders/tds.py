"""tds-ctc: emg2qwerty's network with greedy decoding, trained here or with weights from a file."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.atomic import replacing
from neuroarena.decoders.ctc import GreedyText
from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.networks.training import import_torch, private_torch
from neuroarena.decoders.pretrained.weights import (
    NOTE,
    Weights,
    as_weights,
    find_weights,
    fresh_module,
)
from neuroarena.decoders.streams import StreamMeta
from neuroarena.errors import MissingDependency, NeuroarenaError
from neuroarena.families.emg.decoders.listening import TRACK_RULE, Listener
from neuroarena.families.emg.decoders.shapes import EMG2QWERTY
from neuroarena.families.emg.decoders.stretches import stretches, window_starts
from neuroarena.families.emg.decoders.training import CtcCourse, CtcSchedule, judge, train_network
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import canonical_json

MODEL = EMG2QWERTY.name
# On the twin, fewer steps than these leave the network silent: with 4 minutes of training and 180 steps the
# error was 76 %, with 360 steps below 10 %.
_EPOCHS, _STEPS = 6, 360


@dataclass
class TdsCtc:
    """Log spectrograms, turn-invariant dense layers, time-depth-separable convolutions, CTC; greedy decoding.

    Parameters
    ----------
    size : str
        Of a network that is trained from the start: "small" (ours), "large" (the published one), "tiny".
    weights : path or Weights, optional
        Start from these, a file of ``neuroarena data convert emg2qwerty`` or of :meth:`save`; they state
        their own size.
    max_epochs : int, optional
        Passes over the training part. By default six without weights, more where six make fewer than 360
        steps; and none with weights, which are used as they are.
    batch_size : int
    learning_rate : float
    augment : bool
        Vary the training windows as published: rotated wristbands, shifted in time against each other.
    masks : bool
        Also mask their spectra, as published. Off by default: the masks need more steps than the twin is long.
    aligned_epochs : int, optional
        In this many first epochs every frame is labelled from the logged times of presses; by default a third. 0 for
        CTC alone, as published.
    """

    size: str = "small"
    weights: str | Path | Weights | None = None
    max_epochs: int | None = None
    batch_size: int = 2
    learning_rate: float = 5e-3
    augment: bool = True
    masks: bool = False
    aligned_epochs: int | None = None
    features: FeatureChain = field(default_factory=FeatureChain)

    def __post_init__(self) -> None:
        if self.weights is not None:
            self.weights = as_weights(MODEL, self.weights)
            self.size = self.weights.size
        self._shape = EMG2QWERTY.shape(self.size)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> TdsCtc:
        """Train from a seeded start, or from the weights given; keep the epoch of the lowest held-out error.

        Raises
        ------
        MissingDependency
            When torch is not installed.
        InputError
            When the training part has no recordings with keystrokes.
        """
        torch = import_torch("The decoder tds-ctc")
        context = context or Context()
        schedule = self._schedule(1)
        self.rule_ = context.stream or TRACK_RULE
        seed = int(context.rng.integers(2**31))
        start = (
            self.weights if isinstance(self.weights, Weights) else find_weights(MODEL, None, self.size, seed)
        )
        self.network_ = fresh_module(start)
        self.course_ = CtcCourse()
        if schedule.max_epochs:
            taught = stretches(train)
            schedule = self._schedule(sum(len(window_starts(each, None)) for each in taught))
            held_out = stretches(validation) if validation else []
            with private_torch(torch, seed):
                rng = np.random.default_rng(seed)
                self.course_ = train_network(
                    self.network_, self._shape.lookback, schedule, taught, held_out, rng
                )
        return self

    def _schedule(self, n_windows: int) -> CtcSchedule:
        """Choose how to train on this many windows."""
        epochs = self.max_epochs
        if epochs is None:
            steps = -(-n_windows // self.batch_size) if self.batch_size > 0 else 1
            epochs = max(_EPOCHS, -(-_STEPS // steps)) if self.weights is None else 0
        aligned = epochs // 3 if self.aligned_epochs is None else self.aligned_epochs
        return CtcSchedule(epochs, self.batch_size, self.learning_rate, self.augment, self.masks, aligned)

    def start(self, meta: StreamMeta) -> None:
        """Prepare for a stream."""
        self.listener_ = Listener(self.rule_, meta.rate_hz, lookback=self._shape.lookback)
        self.text_ = GreedyText()

    def step(self, window: np.ndarray) -> str:
        """Return the keys that this window adds."""
        torch = import_torch("The decoder tds-ctc")
        frames = self.listener_.take(window)
        if not len(frames):
            return ""
        with private_torch(torch):
            return self.text_.take(judge(self.network_, frames))

    def save(self, path: str | Path, **note: Any) -> None:
        """Write the fitted network as safetensors, which `weights` reads.

        Parameters
        ----------
        path : path
        **note
            Plain values that the file's header is to hold besides model and size, such as ``simulated=True``.

        Raises
        ------
        NeuroarenaError
            When there is no fitted network yet.
        """
        if not hasattr(self, "network_"):
            raise NeuroarenaError("tds-ctc has no network yet: fit it before saving.")
        try:
            from safetensors.torch import save_file
        except ImportError as error:
            raise MissingDependency("safetensors", "torch", "Saving a network") from error
        said = {**note, "model": MODEL, "size": self.size}
        tensors = {name: value.contiguous() for name, value in self.network_.state_dict().items()}
        with replacing(path) as temporary:
            save_file(tensors, temporary, metadata={NOTE: canonical_json(said)})


def tds_ctc(**options: Any) -> TdsCtc:
    """Convolutions over log spectrograms of both wristbands, trained by CTC, decoded greedily."""
    return TdsCtc(**options)
