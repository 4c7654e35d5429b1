"""Muse sleep onset: people falling asleep at home with four dry electrodes, and when N2 came."""

from __future__ import annotations

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.sleep.muse_sleep.reader import MuseSleep
from neuroarena.families.sleep.muse_sleep.verify import verify
from neuroarena.lazily import lazy_function

__all__ = ["DATASET", "MuseSleep", "simulate", "verify"]


simulate = lazy_function("neuroarena.families.sleep.muse_sleep.twin:simulate")
DATASET = Dataset(
    name="muse_sleep",
    title="Muse sleep onset",
    licence="CC-BY-NC-SA-4.0",
    description=(
        "540 recordings of 203 people falling asleep at home, TP9, AF7, AF8 and TP10 at 128 Hz, with the time of N2; "
        "every recording ends exactly 300 s after it."
    ),
    origin="NEMAR nm000287 (Interaxon 2026)",
    environment=("NEUROARENA_MUSE_SLEEP",),
    open=MuseSleep,
    simulate=simulate,
    verify=verify,
    tiny={"people": 5, "recordings": 2, "longest": 11},
    simulate_options={
        "people": "number of people, 1 to 203 (default 10)",
        "recordings": "recordings of each, 1 to 5 (default 2)",
        "longest": "minutes of the longest recording, 11 to 35 (default 20)",
        "seed": "seed of all chance (default 0)",
        "strength": "how strongly the spectrum follows the stages; 0 is pure chance (default 1)",
        "plant_leak": "plant an answer: channel, length or order (default none)",
    },
)
