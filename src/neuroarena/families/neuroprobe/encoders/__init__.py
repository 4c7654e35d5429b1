"""Pretrained encoders: BrainBERT and PopulationTransformer, frozen or fine-tuned, as decoders."""

from __future__ import annotations

from neuroarena.lazily import lazy_names

_MODULES: dict[str, tuple[str, ...]] = {
    "neuroarena.decoders.pretrained": ("Weights", "convert_checkpoint", "find_weights"),
    ".brainbert": ("BrainBertFinetuned", "BrainBertLinear", "brainbert_finetuned", "brainbert_linear"),
    ".clean_list": ("CleanList", "find_electrodes"),
    ".embedding": ("BrainBertEmbedding",),
    ".places": ("Places", "find_places"),
    ".popt": ("PopT", "popt_finetuned", "popt_frozen"),
    ".published": ("convert_brainbert", "convert_popt"),
    ".reference": ("NotchLaplacian",),
    ".spectra": ("BrainBertSpectra",),
    ".training": ("Schedule",),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = [*_later]
