"""Convert the published checkpoints of BrainBERT and PopulationTransformer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neuroarena.decoders.pretrained import convert_checkpoint
from neuroarena.families.neuroprobe.encoders.shapes import BRAINBERT, POPT


def convert_brainbert(source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Turn a BrainBERT checkpoint (``stft_large_pretrained.pth``) into safetensors.

    Parameters, result and refusals are those of :func:`neuroarena.decoders.pretrained.convert_checkpoint`.
    """
    return convert_checkpoint(BRAINBERT.name, source, target)


def convert_popt(source: str | Path, target: str | Path | None = None) -> dict[str, Any]:
    """Turn a PopulationTransformer checkpoint (``pretrained_popt_brainbert_stft.pth``) into safetensors.

    Parameters, result and refusals are those of :func:`neuroarena.decoders.pretrained.convert_checkpoint`.
    """
    return convert_checkpoint(POPT.name, source, target)
