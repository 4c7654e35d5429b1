"""Track 3, sleep onset: seconds from the start of a stream to the first stable N2 epoch."""

from __future__ import annotations

from neuroarena.families.sleep.family import FAMILY, Sleep
from neuroarena.lazily import lazy_names

# What the family's datasets and decoders offer, imported when it is first used.
_MODULES: dict[str, tuple[str, ...]] = {
    ".decoders": (
        "BandPower",
        "BandpowerStager",
        "ConvStager",
        "SleepChance",
        "SleepMedian",
        "TrainedStager",
        "bandpower_stager",
        "conv_stager",
        "load_stager",
        "sleep_chance",
        "sleep_median",
    ),
    ".muse_sleep": ("MuseSleep",),
    ".shipped": ("shipped_sleep",),
    ".sleep_edf": (
        "SleepEDF",
        "first_n2",
        "first_stable_n2",
        "stage_epochs",
    ),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = ["FAMILY", "Sleep", *_later]
