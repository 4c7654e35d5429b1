"""A small convolutional stager: learned filters, their power, and the rule of the first stable N2."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena import atomic
from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.networks.training import (
    Schedule,
    import_torch,
    outputs,
    private_torch,
    probabilities,
)
from neuroarena.decoders.networks.training import (
    train as train_network,
)
from neuroarena.decoders.streams import StreamMeta
from neuroarena.errors import InputError, MissingDependency
from neuroarena.families.sleep.decoders.onset_rule import OnsetFinder, OnsetRule
from neuroarena.families.sleep.decoders.training_windows import (
    DEEP,
    UNKNOWN,
    Heard,
    classes_of,
    heard,
    stream_rule,
)
from neuroarena.features import FeatureChain

FORMAT = "neuroarena conv-stager"


@dataclass(frozen=True)
class StagerShape:
    """The sizes that determine the tensors of a conv-stager.

    Attributes
    ----------
    channels, samples : int
        Of a window.
    kernel, stride : int
        Of the filters in time, in samples.
    filters, hidden : int
    classes : tuple of str
    """

    channels: int
    samples: int
    kernel: int
    stride: int
    filters: int
    hidden: int
    classes: tuple[str, ...]


def build_network(shape: StagerShape) -> Any:
    """Make the untrained network: (n, channels, samples) -> (n, classes).

    Filters in time and over channels, the logarithm of their power in the window, one hidden layer.
    """
    torch = import_torch("The decoder conv-stager")
    nn = torch.nn

    class LogPower(nn.Module):  # type: ignore[misc, name-defined]
        def forward(self, filtered: Any) -> Any:
            return torch.log(filtered.square().mean(dim=2) + 1e-6)

    return nn.Sequential(
        nn.Conv1d(shape.channels, shape.filters, shape.kernel, stride=shape.stride, bias=False),
        LogPower(),
        nn.BatchNorm1d(shape.filters),
        nn.Linear(shape.filters, shape.hidden),
        nn.ReLU(),
        nn.Dropout(0.25),
        nn.Linear(shape.hidden, len(shape.classes)),
    )


class RunningScale:
    """The root mean square of everything heard so far in a stream; it never sees the future.

    Signals are differenced first: the power of real EEG falls by three orders of magnitude from 1 to 40 Hz, and a
    filter that starts at random would hear slow waves only.
    """

    def __init__(self) -> None:
        self._power = 0.0
        self._n = 0

    def scaled(self, window: np.ndarray) -> np.ndarray:
        """Take the differences of successive samples of a window (channels, samples); divide by the scale so far."""
        steps = np.diff(window, axis=1, prepend=window[:, :1])
        # The median of channels: one loose electrode must not attenuate the others.
        self._power += float(np.median((steps.astype(np.float64) ** 2).mean(axis=1)))
        self._n += 1
        scaled: np.ndarray = (steps / np.sqrt(self._power / self._n + 1e-12)).astype(np.float32)
        return scaled


@dataclass
class ConvStager:
    """A convolutional stager of raw windows, and the first stable N2 in its output.

    Parameters
    ----------
    filters, hidden : int
        Size of the network.
    kernel_s : float
        Length of the filters, in seconds.
    stride : int
        Samples between two positions of a filter.
    max_epochs, batch_size, learning_rate, weight_decay
        Of the training, by Adam.
    thin : int
        Train on every `thin`-th window of a stream only: windows overlap.
    k : int
        Epochs of N2 or deeper that must follow.
    features : FeatureChain
    """

    filters: int = 16
    hidden: int = 16
    kernel_s: float = 0.6
    stride: int = 4
    max_epochs: int = 15
    batch_size: int = 32
    learning_rate: float = 3e-3
    weight_decay: float = 1e-3
    thin: int = 3
    k: int = 1
    features: FeatureChain = field(default_factory=FeatureChain)

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> ConvStager:
        """Train from a seeded start on the windows of training streams, then tune the rule on these streams.

        Raises
        ------
        MissingDependency
            When torch is not installed.
        InputError
            When the training part has no stages.
        """
        torch = import_torch("The decoder conv-stager")
        context = context or Context()
        rule = stream_rule(context)
        streams = [_scale(stream) for stream in heard(train, self.features, rule)]
        self.shape_ = self._shape(streams, train[0].rate_hz)
        inputs = np.concatenate([stream.windows[:: self.thin] for stream in streams])
        stages = np.concatenate([stream.stages[:: self.thin] for stream in streams])
        known = stages != UNKNOWN
        numbers = np.array([self.shape_.classes.index(stage) for stage in stages[known]], dtype=np.int64)
        schedule = Schedule(self.max_epochs, self.batch_size, self.learning_rate, self.weight_decay)
        with private_torch(torch, seed=int(context.rng.integers(2**63))):
            self.network_ = build_network(self.shape_)
            train_network(self.network_, torch.from_numpy(inputs[known]), torch.from_numpy(numbers), schedule)
            self.network_.eval()
        said = [self._deep(stream.windows) for stream in streams]
        targets = np.array([stream.target_s for stream in streams])
        self.rule_ = OnsetRule.tuned(said, targets, rule.hop_s, self.k)
        return self

    def _shape(self, streams: list[Heard], rate_hz: float) -> StagerShape:
        channels, samples = streams[0].windows.shape[1:]
        other = [
            stream.windows.shape[1:] for stream in streams if stream.windows.shape[1:] != (channels, samples)
        ]
        if other:
            raise InputError(
                f"conv-stager: all recordings need equal channels and rates; windows have "
                f"{(channels, samples)} and {other[0]}."
            )
        kernel = round(self.kernel_s * rate_hz)
        return StagerShape(
            channels, samples, kernel, self.stride, self.filters, self.hidden, classes_of(streams)
        )

    def _deep(self, windows: np.ndarray) -> np.ndarray:
        """Return the probability of N2 or deeper of each window, float64 (n,)."""
        torch = import_torch("The decoder conv-stager")
        with private_torch(torch):
            said = outputs(self.network_, torch.from_numpy(windows), 256)
        deep: np.ndarray = probabilities(said)[:, np.isin(self.shape_.classes, DEEP)].sum(axis=1)
        return deep

    def start(self, meta: StreamMeta) -> None:
        """Begin a stream with an empty scale.

        Raises
        ------
        InputError
            When the channels of the stream differ from those in training.
        """
        if len(meta.channels) != self.shape_.channels:
            raise InputError(
                f"conv-stager: was trained on {self.shape_.channels} channels, this stream has {len(meta.channels)}."
            )
        self.scale_ = RunningScale()
        self.finder_ = OnsetFinder(self.rule_)

    def step(self, window: np.ndarray) -> float:
        """Take a window (channels, samples); answer in seconds from the stream's start.

        Raises
        ------
        InputError
            When the length of the window differs from those in training.
        """
        if window.shape[1] != self.shape_.samples:
            raise InputError(
                f"conv-stager: was trained on windows of {self.shape_.samples} samples, this one has {window.shape[1]}."
            )
        return self.finder_.add(float(self._deep(self.scale_.scaled(window)[np.newaxis])[0]))

    def save(self, path: str | Path, **said: Any) -> None:
        """Write what was learned as a safetensors file.

        Parameters
        ----------
        path : path
        **said
            Words for the header: what it was trained on, whether that was simulated.

        Raises
        ------
        MissingDependency
            When safetensors is not installed.
        InputError
            When the decoder is not fitted yet.
        """
        if not hasattr(self, "network_"):
            raise InputError("conv-stager: there is nothing to save; call fit() first.")
        note = {"format": FORMAT, "shape": asdict(self.shape_), "rule": asdict(self.rule_), "said": said}
        torch_files = _safetensors()
        with atomic.replacing(path) as temporary:
            state = {name: value.contiguous() for name, value in self.network_.state_dict().items()}
            torch_files.save_file(state, str(temporary), metadata={"neuroarena": json.dumps(note)})


def _scale(stream: Heard) -> Heard:
    scale = RunningScale()
    return Heard(
        np.stack([scale.scaled(window) for window in stream.windows]), stream.stages, stream.target_s
    )


@dataclass
class TrainedStager(ConvStager):
    """A conv-stager with the weights of a file; it is used as it is, and `fit` learns nothing.

    Parameters
    ----------
    weights : str
        A safetensors file that :meth:`ConvStager.save` wrote.
    """

    weights: str = ""

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> TrainedStager:
        """Load the weights; the training part is ignored."""
        self.shape_, self.rule_, self.network_ = load_stager(self.weights)
        return self


def load_stager(path: str | Path) -> tuple[StagerShape, OnsetRule, Any]:
    """Read a file that :meth:`ConvStager.save` wrote: its shape, its rule, and the network.

    Raises
    ------
    InputError
        When the file is missing, is not a safetensors file of a conv-stager, or holds other tensors.
    """
    import_torch("The decoder conv-stager")
    torch_files = _safetensors()
    file = Path(path)
    if not file.is_file():
        raise InputError(f"{file}: this file does not exist. Expected the weights of a conv-stager.")
    try:
        import safetensors

        with safetensors.safe_open(str(file), framework="pt") as opened:
            note = json.loads((opened.metadata() or {}).get("neuroarena", "{}"))
        if note.get("format") != FORMAT:
            raise ValueError("its header does not state that it holds a conv-stager")
        shape = StagerShape(**{**note["shape"], "classes": tuple(note["shape"]["classes"])})
        rule = OnsetRule(**note["rule"])
        network = build_network(shape)
        network.load_state_dict(torch_files.load_file(str(file)))
    except (safetensors.SafetensorError, ValueError, TypeError, KeyError, RuntimeError, OSError) as error:
        text = " ".join(str(error).split())[:200]
        raise InputError(f"{file}: cannot be read as the weights of a conv-stager: {text}.") from error
    return shape, rule, network.eval()


def _safetensors() -> Any:
    try:
        import safetensors.torch
    except ImportError as error:
        raise MissingDependency("safetensors", "torch", "Keeping the weights of conv-stager") from error
    return safetensors.torch
