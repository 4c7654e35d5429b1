"""Sleep-EDF Expanded: whole nights of EEG with the stages of sleep scored every 30 seconds."""

from __future__ import annotations

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.sleep.sleep_edf.hypnogram import first_n2, first_stable_n2, stage_epochs
from neuroarena.families.sleep.sleep_edf.published import fetch_plan
from neuroarena.families.sleep.sleep_edf.reader import SleepEDF
from neuroarena.families.sleep.sleep_edf.verify import verify
from neuroarena.lazily import lazy_function

__all__ = [
    "DATASET",
    "SleepEDF",
    "fetch_plan",
    "first_n2",
    "first_stable_n2",
    "simulate",
    "stage_epochs",
    "verify",
]


simulate = lazy_function("neuroarena.families.sleep.sleep_edf.twin:simulate")
DATASET = Dataset(
    name="sleep_edf",
    title="Sleep-EDF Expanded",
    licence="ODC-By 1.0",
    description=(
        "197 nights of 100 people, EEG Fpz-Cz and Pz-Oz at 100 Hz, with stages scored every 30 s after "
        "Rechtschaffen and Kales; 153 nights at home (cassette), 44 in hospital (telemetry)."
    ),
    origin="https://physionet.org/content/sleep-edfx/1.0.0 (Kemp et al. 2000)",
    environment=("NEUROARENA_SLEEP_EDF",),
    open=SleepEDF,
    simulate=simulate,
    verify=verify,
    fetch_plan=fetch_plan,
    tiny={"people": 8, "nights": 1, "minutes": 51},
    simulate_options={
        "people": "number of people, 1 to 78 (default 10)",
        "nights": "nights of each, 1 or 2 (default 2)",
        "minutes": "length of every recording in minutes, 51 to 1440 (default 60)",
        "seed": "seed of all chance (default 0)",
        "strength": "how strongly the spectrum follows the stages; 0 is pure chance (default 1)",
        "plant_leak": "plant an answer: channel, length or order (default none)",
    },
)
