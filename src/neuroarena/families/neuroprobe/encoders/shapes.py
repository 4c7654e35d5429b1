"""BrainBERT and PopulationTransformer as data: their sizes, and the tensors of their published checkpoints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neuroarena.decoders.pretrained.models import PretrainedModel, Shapes, linear_shapes, norm_shapes

# What needs torch here; begins the error about its absence.
PURPOSE = "A pretrained encoder"
POSITIONS = 5000
BINS = 40


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


def brainbert_tensors(shape: EncoderShape) -> Shapes:
    """List the tensors of a BrainBERT checkpoint.

    Examples
    --------
    >>> len(brainbert_tensors(BRAINBERT.shape("large")))
    83
    """
    return _encoder_tensors(shape, "transformer", shape.hidden)


def popt_tensors(shape: EncoderShape) -> Shapes:
    """List the tensors of a PopulationTransformer checkpoint.

    Examples
    --------
    >>> len(popt_tensors(POPT.shape("large")))
    87
    """
    return {
        **_encoder_tensors(shape, "transformer_encoder", shape.hidden // 4),
        **linear_shapes("cls_head", 1, shape.hidden),
        **linear_shapes("token_cls_head", 1, shape.hidden),
    }


def _encoder_tensors(shape: EncoderShape, stack: str, position_width: int) -> Shapes:
    hidden, wide = shape.hidden, shape.feedforward
    tensors: Shapes = {
        **linear_shapes("input_encoding.in_proj", hidden, shape.inputs),
        "input_encoding.positional_encoding.pe": (1, POSITIONS, position_width),
        **norm_shapes("input_encoding.layer_norm", hidden),
    }
    for layer in range(shape.layers):
        here = f"{stack}.layers.{layer}"
        tensors |= {
            f"{here}.self_attn.in_proj_weight": (3 * hidden, hidden),
            f"{here}.self_attn.in_proj_bias": (3 * hidden,),
            **linear_shapes(f"{here}.self_attn.out_proj", hidden, hidden),
            **linear_shapes(f"{here}.linear1", wide, hidden),
            **linear_shapes(f"{here}.linear2", hidden, wide),
            **norm_shapes(f"{here}.norm1", hidden),
            **norm_shapes(f"{here}.norm2", hidden),
        }
    return tensors | {
        **linear_shapes("spec_prediction_head.hidden_layer", hidden, hidden),
        **norm_shapes("spec_prediction_head.layer_norm", hidden),
        **linear_shapes("spec_prediction_head.output", shape.inputs, hidden),
    }


def _build_brainbert(shape: EncoderShape) -> Any:
    from neuroarena.families.neuroprobe.encoders.networks import BrainBert

    return BrainBert(shape)


def _build_popt(shape: EncoderShape) -> Any:
    from neuroarena.families.neuroprobe.encoders.networks import PopulationTransformer

    return PopulationTransformer(shape)


# A fine-tuned checkpoint keeps the encoder under the first prefix, beside a head of its own.
_WRAPPING = ("upstream.", "linear_out.")
# "tiny" is not a published model: it is for trials and tests, in the same file format.
BRAINBERT = PretrainedModel(
    "brainbert",
    {
        "large": EncoderShape(BINS, 768, 3072, 12, 6),
        "base": EncoderShape(BINS, 768, 3072, 12, 3),
        "small": EncoderShape(BINS, 384, 1200, 12, 3),
        "tiny": EncoderShape(BINS, 48, 96, 4, 2),
    },
    brainbert_tensors,
    _build_brainbert,
    _WRAPPING,
)
POPT = PretrainedModel(
    "popt",
    {"large": EncoderShape(768, 512, 2048, 8, 6), "tiny": EncoderShape(48, 32, 64, 4, 2)},
    popt_tensors,
    _build_popt,
    _WRAPPING,
)
