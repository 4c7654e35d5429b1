"""Track emg: keystrokes from wristband EMG, of people never seen in training."""

from __future__ import annotations

from neuroarena.families.emg.family import FAMILY, EmgToText
from neuroarena.lazily import lazy_names

# What the family's datasets and decoders offer, imported when it is first used.
_MODULES: dict[str, tuple[str, ...]] = {
    ".decoders": (
        "CtcLinear",
        "GreedyText",
        "MostFrequentKey",
        "TdsCtc",
        "greedy_text",
        "tds_ctc",
    ),
    ".emg2qwerty": (
        "DATASET",
        "Emg2Qwerty",
        "open_folder",
        "simulate",
        "verify",
    ),
    ".shipped": ("shipped_emg",),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = ["FAMILY", "EmgToText", *_later]
