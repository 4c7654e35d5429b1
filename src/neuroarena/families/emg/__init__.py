"""Track emg: keystrokes from wristband EMG, of people never seen in training."""

from __future__ import annotations

from neuroarena.families.emg.family import FAMILY, EmgToText

__all__ = ["FAMILY", "EmgToText"]
