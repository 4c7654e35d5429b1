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
]
