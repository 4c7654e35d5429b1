"""HBN-EEG: high-density EEG of thousands of children in ten tasks, with four factors of psychopathology."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from neuroarena.datasets.dataset import Dataset
from neuroarena.families.eeg2025.hbn.reader import HBN
from neuroarena.families.eeg2025.hbn.verify import verify
from neuroarena.lazily import lazy_function

__all__ = ["DATASET", "HBN", "preprocess", "simulate", "verify"]


simulate = lazy_function("neuroarena.families.eeg2025.hbn.twin:simulate")


def preprocess(raw_root: str | Path, out_root: str | Path, **options: Any) -> dict[str, Any]:
    """Filter and resample raw releases; see :func:`neuroarena.families.eeg2025.hbn.preprocessing.preprocess`."""
    from neuroarena.families.eeg2025.hbn.preprocessing import preprocess as run

    return run(raw_root, out_root, **options)


DATASET = Dataset(
    name="hbn",
    title="HBN-EEG",
    licence="CC BY-SA 4.0",
    description=(
        "EEG (129 channels, 500 Hz) of more than 3,000 people of 5 to 21 years in ten tasks, with response times, "
        "demographics and four factors of psychopathology; the challenge of 2025 used copies at 100 Hz."
    ),
    origin="https://openneuro.org (ds005505 to ds005516; Shirazi et al. 2024)",
    environment=("NEUROARENA_HBN",),
    open=HBN,
    simulate=simulate,
    verify=verify,
    preprocess=preprocess,
    tiny={"people": 12, "trials": 4, "seconds": 4},
    simulate_options={
        "releases": "which releases, with commas (default R1,R5,R12)",
        "people": "people with complete data in each release, 12 to 400 (default 14)",
        "trials": "trials of each run of the tasks with trials, 3 to 64 (default 5)",
        "seconds": "length of the other recordings in seconds, 4 to 900 (default 6)",
        "raw": "true for raw releases at 500 Hz (default false)",
        "seed": "seed of all chance (default 0)",
        "strength": "factor on what the EEG tells, up to 1.15; 0 is pure chance (default 1)",
    },
)
