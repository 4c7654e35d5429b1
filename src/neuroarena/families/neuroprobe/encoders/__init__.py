"""Pretrained encoders: BrainBERT and PopulationTransformer, frozen or fine-tuned, as decoders."""

from __future__ import annotations

from neuroarena.decoders.pretrained import Weights, convert_checkpoint, find_weights
from neuroarena.families.neuroprobe.encoders.brainbert import (
    BrainBertFinetuned,
    BrainBertLinear,
    brainbert_finetuned,
    brainbert_linear,
)
from neuroarena.families.neuroprobe.encoders.clean_list import CleanList, find_electrodes
from neuroarena.families.neuroprobe.encoders.embedding import BrainBertEmbedding
from neuroarena.families.neuroprobe.encoders.places import Places, find_places
from neuroarena.families.neuroprobe.encoders.popt import PopT, popt_finetuned, popt_frozen
from neuroarena.families.neuroprobe.encoders.published import convert_brainbert, convert_popt
from neuroarena.families.neuroprobe.encoders.reference import NotchLaplacian
from neuroarena.families.neuroprobe.encoders.spectra import BrainBertSpectra
from neuroarena.families.neuroprobe.encoders.training import Schedule

__all__ = [
    "BrainBertEmbedding",
    "BrainBertFinetuned",
    "BrainBertLinear",
    "BrainBertSpectra",
    "CleanList",
    "NotchLaplacian",
    "Places",
    "PopT",
    "Schedule",
    "Weights",
    "brainbert_finetuned",
    "brainbert_linear",
    "convert_brainbert",
    "convert_checkpoint",
    "convert_popt",
    "find_electrodes",
    "find_places",
    "find_weights",
    "popt_finetuned",
    "popt_frozen",
]
