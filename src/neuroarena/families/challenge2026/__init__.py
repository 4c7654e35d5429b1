"""The EEG/EMG challenge of 2026: what spans its five tracks. The tracks are families of their own."""

from __future__ import annotations

from neuroarena.families.challenge2026.family import FAMILY, Challenge2026
from neuroarena.lazily import lazy_names

_HOMES = {"RULES": ".definition", "STANDINGS": ".standings", "challenge_points": ".standings"}

__getattr__, __dir__, _lazy = lazy_names(__name__, _HOMES)
__all__ = ["FAMILY", "Challenge2026", *_lazy]
