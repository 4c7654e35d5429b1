"""The EEG Foundation Challenge 2025: its final board, ranked by the published rule."""

from __future__ import annotations

from neuroarena.benchmarks.eeg2025.final_board import (
    DEADLINE,
    NO_INTERVALS,
    final_board_json,
    print_final_board,
    read_final_board,
    summary,
)

__all__ = ["DEADLINE", "NO_INTERVALS", "final_board_json", "print_final_board", "read_final_board", "summary"]
