"""Pretrained networks of all families: converting published checkpoints, finding weights, loading modules.

What is particular to a model (sizes, tensors, the torch module) is declared by its family as a
:class:`PretrainedModel`; everything here works on such a declaration.
"""

from __future__ import annotations

from neuroarena.decoders.pretrained.checkpoints import convert_checkpoint
from neuroarena.decoders.pretrained.models import PRETRAINED, PretrainedModel, find_model
from neuroarena.decoders.pretrained.weights import (
    Weights,
    as_weights,
    find_weights,
    fresh_module,
    load_module,
)

__all__ = [
    "PRETRAINED",
    "PretrainedModel",
    "Weights",
    "as_weights",
    "convert_checkpoint",
    "find_model",
    "find_weights",
    "fresh_module",
    "load_module",
]
