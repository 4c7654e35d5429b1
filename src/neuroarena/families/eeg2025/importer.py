"""The final board of the EEG Foundation Challenge 2025, as it was published."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from neuroarena.board.importing import Importer
from neuroarena.errors import InputError, NeuroarenaError
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
        What :func:`neuroarena.families.eeg2025.read_final_board` returns.
    notes : tuple of str
    """

    table: pd.DataFrame
    notes: tuple[str, ...]

    @property
    def summary(self) -> dict[str, Any]:
        """The content of the board, as plain data."""

        return summary(self.table)

    def to_dict(self) -> dict[str, Any]:
        """Return the board as plain data for JSON."""

        return final_board_json(self.table)

    def print(self, top: int = 20, console: Console | None = None) -> None:
        """Print the first rows and the summary."""

        print_final_board(self.table, top, console)


def entries_from_eeg2025(csv: str | Path, deadline: str | datetime.datetime = DEADLINE) -> Eeg2025Board:
    """Read the final board of the EEG Foundation Challenge 2025.

    It publishes no unit scores, so it cannot become entries of a :class:`Board` with intervals;
    it stays a board of its own and states this.

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


def read_published(
    paths: Sequence[Path], *, split: str | None = None, allow_mixed: bool = False
) -> Eeg2025Board:
    """Read the one CSV file of the final board.

    Raises
    ------
    InputError
        For several files, and for options that a board without unit scores cannot support.
    """
    if len(paths) != 1:
        raise InputError(f"The final board of 2025 is one CSV file, got {len(paths)} paths.")
    if split is not None or allow_mixed:
        raise InputError(
            "--split and --allow-mixed cannot be used with a board that publishes no unit scores."
        )
    return entries_from_eeg2025(paths[0])


def is_final_board(path: Path) -> bool:
    """Return whether a file has the columns of the final board."""
    try:
        read_final_board(path)
    except (NeuroarenaError, OSError):
        return False
    return True


IMPORTERS = {
    "eeg2025": Importer(
        title="the final board of the EEG Foundation Challenge 2025, a CSV file",
        recognises=is_final_board,
        read=read_published,
        rankable=False,
    )
}
