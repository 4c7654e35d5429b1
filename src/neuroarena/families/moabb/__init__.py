"""Every dataset and paradigm of MOABB as a benchmark: ``moabb/DATASET-PARADIGM``."""

from __future__ import annotations

from neuroarena.families.moabb.family import FAMILY, Moabb
from neuroarena.lazily import lazy_names

_MODULES = {".bridge": ("from_moabb",)}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = ["FAMILY", "Moabb", *_later]
