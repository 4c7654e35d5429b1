"""Foundation transfer: frozen encoders of signals under the organiser's fixed heads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neuroarena.families.transfer.decoders.contract import (
    ENCODERS,
    Encoder,
    EncoderMeta,
    encoded,
    find_encoder,
)
from neuroarena.families.transfer.decoders.probe import EncoderProbe

__all__ = [
    "ENCODERS",
    "Encoder",
    "EncoderMeta",
    "EncoderProbe",
    "encoded",
    "encoder_handcrafted",
    "encoder_random",
    "encoder_selfsupervised",
    "find_encoder",
    "pretrain",
]


def encoder_random() -> EncoderProbe:
    """Random convolutions, untrained, under the organiser's heads."""
    return EncoderProbe("random")


def encoder_handcrafted() -> EncoderProbe:
    """Log band power, covariances and slow course under the organiser's heads."""
    return EncoderProbe("handcrafted")


def encoder_selfsupervised() -> EncoderProbe:
    """A small convolution, pretrained on simulated signals without labels, under the organiser's heads."""
    return EncoderProbe("selfsupervised")


def pretrain(path: str | Path | None = None, **options: Any) -> Path:
    """Train the weights of the self-supervised encoder; see the module ``pretraining``."""
    from neuroarena.families.transfer.decoders.pretraining import pretrain as run

    return run(path, **options)
