"""The EEG Foundation Challenge 2025: its two challenges as benchmarks, and its final board."""

from __future__ import annotations

from neuroarena.families.eeg2025.family import FAMILY
from neuroarena.families.eeg2025.final_board import (
    DEADLINE,
    NO_INTERVALS,
    final_board_json,
    print_final_board,
    read_final_board,
    summary,
)
from neuroarena.families.eeg2025.submissions import (
    overall,
    prediction_rows,
    score_windows,
    submission_windows,
)
from neuroarena.families.eeg2025.trials import trial_table
from neuroarena.lazily import lazy_names

# What the family's datasets and decoders offer, imported when it is first used.
_MODULES: dict[str, tuple[str, ...]] = {
    ".decoders": (
        "BandPowerRidge",
        "DemographicsRidge",
        "LogBandPower",
    ),
    ".hbn": (
        "DATASET",
        "HBN",
        "preprocess",
        "simulate",
        "verify",
    ),
    ".importer": (
        "Eeg2025Board",
        "entries_from_eeg2025",
    ),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = [
    "DEADLINE",
    "FAMILY",
    "NO_INTERVALS",
    "final_board_json",
    "overall",
    "prediction_rows",
    "print_final_board",
    "read_final_board",
    "score_windows",
    "submission_windows",
    "summary",
    "trial_table",
    *_later,
]
