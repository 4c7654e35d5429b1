"""emg2qwerty's network as data: its sizes, and the tensors of its published checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena.decoders.pretrained import PretrainedModel, convert_checkpoint
from neuroarena.decoders.pretrained.models import Shapes, linear_shapes, norm_shapes
from neuroarena.families.emg.decoders.spectra import BANDS, BINS, ELECTRODES
from neuroarena.families.emg.emg2qwerty.characters import BLANK

CLASSES = BLANK + 1


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


def tds_tensors(shape: TdsShape) -> Shapes:
    """List the tensors of an emg2qwerty checkpoint.

    Examples
    --------
    >>> len(tds_tensors(EMG2QWERTY.shape("large")))
    51
    """
    wide, norm, electrodes = BANDS * shape.features, "model.0.batch_norm", BANDS * ELECTRODES
    tensors: Shapes = {
        **norm_shapes(norm, electrodes),
        f"{norm}.running_mean": (electrodes,),
        f"{norm}.running_var": (electrodes,),
        f"{norm}.num_batches_tracked": (),
    }
    for band in range(BANDS):
        tensors |= linear_shapes(f"model.1.mlps.{band}.mlp.0", shape.features, ELECTRODES * BINS)
    for block in range(shape.blocks):
        conv, dense = (f"model.3.tds_conv_blocks.{number}" for number in (2 * block, 2 * block + 1))
        tensors |= {
            f"{conv}.conv2d.weight": (shape.channels, shape.channels, 1, shape.kernel),
            f"{conv}.conv2d.bias": (shape.channels,),
            **norm_shapes(f"{conv}.layer_norm", wide),
            **linear_shapes(f"{dense}.fc_block.0", wide, wide),
            **linear_shapes(f"{dense}.fc_block.2", wide, wide),
            **norm_shapes(f"{dense}.layer_norm", wide),
        }
    return tensors | linear_shapes("model.4", CLASSES, wide)


def _build(shape: TdsShape) -> Any:
    from neuroarena.families.emg.decoders.network import TdsNetwork

    return TdsNetwork(shape)


# "tiny" is not a published model: it is for trials and tests. "small" is ours as well: it trains within a minute on
# the simulated twin.
EMG2QWERTY = PretrainedModel(
    "emg2qwerty",
    {
        "large": TdsShape(features=384, channels=24, blocks=4, kernel=32),
        "small": TdsShape(features=32, channels=8, blocks=2, kernel=16),
        "tiny": TdsShape(features=8, channels=4, blocks=2, kernel=8),
    },
    tds_tensors,
    _build,
)


def convert_emg2qwerty(source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Turn an emg2qwerty checkpoint of Lightning (``generic.ckpt``) into safetensors.

    Parameters, result and refusals are those of :func:`neuroarena.decoders.pretrained.convert_checkpoint`.
    """
    return convert_checkpoint(EMG2QWERTY.name, source, target)
