"""The published word and non-verbal tables of a session, where a folder holds them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank.tables import numbers, read_csv

FOLDER = "braintreebank_features_time_alignment"
WORD_COLUMNS = ("original_index", "est_idx", "est_end_idx", "start", "end")
NONVERBAL_COLUMNS = ("start", "end", "est_idx", "est_end_idx")


class Published(NamedTuple):
    """The published tables of a session; None for one that is not there."""

    words: pd.DataFrame | None
    nonverbal: pd.DataFrame | None

    @property
    def complete(self) -> bool:
        """Whether both are there."""
        return self.words is not None and self.nonverbal is not None


def published_paths(root: Path, subject: int, trial: int) -> tuple[Path, Path]:
    """Return where the word table and the non-verbal table of a session belong."""
    stem = f"subject{subject}_trial{trial}"
    return root / FOLDER / f"{stem}_words_df.csv", root / FOLDER / f"{stem}_nonverbal_df.csv"


def read_published(root: Path, subject: int, trial: int) -> Published:
    """Read the published tables of a session.

    Raises
    ------
    InputError
        When a table is there but cannot be used: malformed, without a column, or with a cell that is not a
        finite number; file, column and row are named.
    """
    words, nonverbal = published_paths(root, subject, trial)
    return Published(_read(words, WORD_COLUMNS), _read(nonverbal, NONVERBAL_COLUMNS))


def _read(path: Path, columns: tuple[str, ...]) -> pd.DataFrame | None:
    if not path.exists():
        return None
    table = read_csv(path, columns)[list(columns)]
    if table.empty:
        raise InputError(f"{path}: holds no row. Fetch it again, or remove it to rebuild the table.")
    for column in columns:
        values = numbers(table[column], path)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise InputError(f'{path}: column "{column}", row {wrong[0] + 1}: expected a finite number.')
        table[column] = values
    return table
