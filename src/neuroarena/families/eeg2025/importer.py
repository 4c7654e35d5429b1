"""The final board of the EEG Foundation Challenge 2025, as it was published."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from neuroarena.families.eeg2025.final_board import (
    DEADLINE,
    NO_INTERVALS,
    final_board_json,
    print_final_board,
    read_final_board,
    summary,
)

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True, eq=False)
class Eeg2025Board:
    """The final board of the EEG Foundation Challenge 2025, which has no unit scores and so no intervals.

    Attributes
    ----------
    table : DataFrame
        What :func:`neuroarena.families.eeg2025.read_final_board` gives.
    notes : tuple of str
    """

    table: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def summary(self) -> dict[str, Any]:
        """What the board shows, as plain data."""

        return summary(self.table)

    def to_dict(self) -> dict[str, Any]:
        """Give the board as plain data for JSON."""

        return final_board_json(self.table)

    def print(self, top: int = 20, console: Console | None = None) -> None:
        """Print the first rows and the summary."""

        print_final_board(self.table, top, console)


def entries_from_eeg2025(csv: str | Path, deadline: str | datetime.datetime = DEADLINE) -> Eeg2025Board:
    """Read the final board of the EEG Foundation Challenge 2025.

    It publishes no unit scores, so that it cannot become entries of a :class:`Board` with intervals;
    it stays a board of its own, and says so.

    Parameters
    ----------
    csv : str or Path
    deadline : str or datetime, optional
        By default the published one, 2025-11-03T12:00:00Z.

    Raises
    ------
    InputError
        Naming the file and the row.
    """
    return Eeg2025Board(read_final_board(csv, deadline), (NO_INTERVALS,))
