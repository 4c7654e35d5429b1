"""The EEG/EMG challenge of 2026: what spans its five tracks. The tracks are families of their own."""

from __future__ import annotations

from neuroarena.families.challenge2026.family import FAMILY, Challenge2026
from neuroarena.lazily import lazy_names

_MODULES = {".definition": ("RULES",), ".standings": ("STANDINGS", "challenge_points")}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = ["FAMILY", "Challenge2026", *_later]
