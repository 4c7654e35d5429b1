"""Track 3, sleep onset: seconds from the start of a stream to the first stable N2 epoch."""

from __future__ import annotations

from neuroarena.families.sleep.family import FAMILY, Sleep

__all__ = ["FAMILY", "Sleep"]
