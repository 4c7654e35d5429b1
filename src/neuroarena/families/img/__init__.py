"""Track 1, EEG-to-image: held-out images ranked from a single epoch."""

from __future__ import annotations

from neuroarena.families.img.examples import things_examples, unseen_images
from neuroarena.families.img.family import FAMILY, Img

__all__ = ["FAMILY", "Img", "things_examples", "unseen_images"]
