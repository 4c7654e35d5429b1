"""Pretrained encoders: BrainBERT and PopulationTransformer, frozen or fine-tuned, as decoders."""

from __future__ import annotations

from neuroarena.decoders.encoders.brainbert import (
    BrainBertFinetuned,
    BrainBertLinear,
    brainbert_finetuned,
    brainbert_linear,
)
from neuroarena.decoders.encoders.checkpoints import (
    convert_brainbert,
    convert_checkpoint,
    convert_emg2qwerty,
    convert_popt,
)
from neuroarena.decoders.encoders.clean_list import CleanList, find_electrodes
from neuroarena.decoders.encoders.embedding import BrainBertEmbedding
from neuroarena.decoders.encoders.places import Places, find_places
from neuroarena.decoders.encoders.popt import PopT, popt_finetuned, popt_frozen
from neuroarena.decoders.encoders.reference import NotchLaplacian
from neuroarena.decoders.encoders.spectra import BrainBertSpectra
from neuroarena.decoders.encoders.training import Schedule
from neuroarena.decoders.encoders.weights import Weights, find_weights

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
    "convert_emg2qwerty",
    "convert_popt",
    "find_electrodes",
    "find_places",
    "find_weights",
    "popt_finetuned",
    "popt_frozen",
]
