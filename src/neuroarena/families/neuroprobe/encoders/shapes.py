"""The published encoders as data: their sizes, and the name and shape of every tensor in a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from neuroarena.errors import InputError

Model = Literal["brainbert", "popt", "emg2qwerty"]
POSITIONS = 5000
BINS = 40
EMG_ELECTRODES, EMG_BINS, EMG_CLASSES = 16, 33, 99


@dataclass(frozen=True)
class EncoderShape:
    """The sizes of a transformer encoder.

    Attributes
    ----------
    inputs : int
        Width of a token before the input projection: 40 frequencies, or BrainBERT's hidden width.
    hidden, feedforward, heads, layers : int
        Width of the layers, of their feed-forward part, number of attention heads and of layers.
    """

    inputs: int
    hidden: int
    feedforward: int
    heads: int
    layers: int


@dataclass(frozen=True)
class TdsShape:
    """The sizes of emg2qwerty's network of time-depth-separable convolutions.

    Attributes
    ----------
    features : int
        Width of each wristband's dense layer; both together are `channels` x a width.
    channels, blocks, kernel : int
        Channels of the convolutions, number of them, and frames each looks at.
    """

    features: int
    channels: int
    blocks: int
    kernel: int

    @property
    def lookback(self) -> int:
        """Frames of the past that an output needs besides its own."""
        return self.blocks * (self.kernel - 1)


Shape = EncoderShape | TdsShape

# "tiny" is nobody's model: it is for trials and tests, in the same file format. "small" of emg2qwerty is
# ours as well: it is trained within a minute on the simulated twin.
SIZES: dict[str, dict[str, Shape]] = {
    "brainbert": {
        "large": EncoderShape(BINS, 768, 3072, 12, 6),
        "base": EncoderShape(BINS, 768, 3072, 12, 3),
        "small": EncoderShape(BINS, 384, 1200, 12, 3),
        "tiny": EncoderShape(BINS, 48, 96, 4, 2),
    },
    "popt": {
        "large": EncoderShape(768, 512, 2048, 8, 6),
        "tiny": EncoderShape(48, 32, 64, 4, 2),
    },
    "emg2qwerty": {
        "large": TdsShape(features=384, channels=24, blocks=4, kernel=32),
        "small": TdsShape(features=32, channels=8, blocks=2, kernel=16),
        "tiny": TdsShape(features=8, channels=4, blocks=2, kernel=8),
    },
}
_STACK = {"brainbert": "transformer", "popt": "transformer_encoder"}


def shape_of(model: Model, size: str) -> Any:
    """Give the sizes of a named encoder.

    Raises
    ------
    InputError
        When the model has no such size.

    Examples
    --------
    >>> shape_of("brainbert", "large").layers
    6
    """
    if size not in SIZES[model]:
        raise InputError(f'{model}: there is no size "{size}". Expected one of {", ".join(SIZES[model])}.')
    return SIZES[model][size]


def tensor_shapes(model: Model, shape: Shape) -> dict[str, tuple[int, ...]]:
    """List the tensors of a checkpoint in the published order, with their shapes.

    Examples
    --------
    >>> len(tensor_shapes("brainbert", shape_of("brainbert", "large")))
    83
    >>> len(tensor_shapes("popt", shape_of("popt", "large")))
    87
    >>> len(tensor_shapes("emg2qwerty", shape_of("emg2qwerty", "large")))
    51
    """
    if isinstance(shape, TdsShape):
        return _tds_shapes(shape)
    hidden, wide = shape.hidden, shape.feedforward
    width = hidden if model == "brainbert" else hidden // 4
    tensors: dict[str, tuple[int, ...]] = {
        **_linear("input_encoding.in_proj", hidden, shape.inputs),
        "input_encoding.positional_encoding.pe": (1, POSITIONS, width),
        **_norm("input_encoding.layer_norm", hidden),
    }
    for layer in range(shape.layers):
        here = f"{_STACK[model]}.layers.{layer}"
        tensors |= {
            f"{here}.self_attn.in_proj_weight": (3 * hidden, hidden),
            f"{here}.self_attn.in_proj_bias": (3 * hidden,),
            **_linear(f"{here}.self_attn.out_proj", hidden, hidden),
            **_linear(f"{here}.linear1", wide, hidden),
            **_linear(f"{here}.linear2", hidden, wide),
            **_norm(f"{here}.norm1", hidden),
            **_norm(f"{here}.norm2", hidden),
        }
    tensors |= {
        **_linear("spec_prediction_head.hidden_layer", hidden, hidden),
        **_norm("spec_prediction_head.layer_norm", hidden),
        **_linear("spec_prediction_head.output", shape.inputs, hidden),
    }
    if model == "popt":
        tensors |= {**_linear("cls_head", 1, hidden), **_linear("token_cls_head", 1, hidden)}
    return tensors


def _tds_shapes(shape: TdsShape) -> dict[str, tuple[int, ...]]:
    wide, norm = 2 * shape.features, "model.0.batch_norm"
    tensors: dict[str, tuple[int, ...]] = {
        **_norm(norm, 2 * EMG_ELECTRODES),
        f"{norm}.running_mean": (2 * EMG_ELECTRODES,),
        f"{norm}.running_var": (2 * EMG_ELECTRODES,),
        f"{norm}.num_batches_tracked": (),
    }
    for band in range(2):
        tensors |= _linear(f"model.1.mlps.{band}.mlp.0", shape.features, EMG_ELECTRODES * EMG_BINS)
    for block in range(shape.blocks):
        conv, dense = (f"model.3.tds_conv_blocks.{number}" for number in (2 * block, 2 * block + 1))
        tensors |= {
            f"{conv}.conv2d.weight": (shape.channels, shape.channels, 1, shape.kernel),
            f"{conv}.conv2d.bias": (shape.channels,),
            **_norm(f"{conv}.layer_norm", wide),
            **_linear(f"{dense}.fc_block.0", wide, wide),
            **_linear(f"{dense}.fc_block.2", wide, wide),
            **_norm(f"{dense}.layer_norm", wide),
        }
    return tensors | _linear("model.4", EMG_CLASSES, wide)


def _linear(name: str, outputs: int, inputs: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> dict[str, tuple[int, ...]]:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def guess_size(model: Model, found: dict[str, tuple[int, ...]]) -> str:
    """Name the size that the tensors of a checkpoint come closest to.

    The size under which most tensors have their expected name and shape; the largest where
    nothing speaks for any, so that what is missing is named after the published model.

    Examples
    --------
    >>> guess_size("brainbert", tensor_shapes("brainbert", shape_of("brainbert", "small")))
    'small'
    >>> guess_size("brainbert", {})
    'large'
    """

    def unlike(size: str) -> int:
        expected = tensor_shapes(model, SIZES[model][size])
        return len(set(expected.items()) ^ set(found.items()))

    if not found:
        return "large"
    return min(SIZES[model], key=unlike)


def check_tensors(model: Model, size: str, found: dict[str, tuple[int, ...]], name: str) -> None:
    """Check the names and shapes of a checkpoint's tensors.

    Raises
    ------
    InputError
        Naming `name` (the file) and every missing, misshapen and unexpected tensor (a few of each).
    """
    expected = tensor_shapes(model, shape_of(model, size))
    problems = []
    missing = [key for key in expected if key not in found]
    if missing:
        problems.append(f"missing: {_some(missing)}")
    misshapen = [
        f"{key} (expected {wanted}, got {found[key]})"
        for key, wanted in expected.items()
        if key in found and found[key] != wanted
    ]
    if misshapen:
        problems.append(f"misshapen: {_some(misshapen)}")
    unexpected = [key for key in found if key not in expected]
    if unexpected:
        problems.append(f"unexpected: {_some(unexpected)}")
    if problems:
        raise InputError(
            f"{name}: not the weights of {model} ({size}, {len(expected)} tensors). {'; '.join(problems)}. "
            "Give the file its authors published, whole."
        )


def _some(items: list[str], most: int = 5) -> str:
    rest = f" and {len(items) - most} more" if len(items) > most else ""
    return ", ".join(items[:most]) + rest
