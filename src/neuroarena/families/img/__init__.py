"""Track 1, EEG-to-image: held-out images ranked from a single epoch."""

from __future__ import annotations

from neuroarena.families.img.examples import things_examples, unseen_images
from neuroarena.families.img.family import FAMILY, Img
from neuroarena.lazily import lazy_names

# What the family's datasets and decoders offer, imported when it is first used.
_MODULES: dict[str, tuple[str, ...]] = {
    ".shipped": ("shipped_img",),
    ".things_eeg2": (
        "DATASET",
        "ThingsEEG2",
        "read_pickled",
        "simulate",
        "verify",
    ),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = ["FAMILY", "Img", "things_examples", "unseen_images", *_later]
