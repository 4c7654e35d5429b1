"""Read the JSON and CSV files of BrainTreebank; errors name file, column and row."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError


def read_json(path: Path, kind: type) -> Any:
    """Read a JSON file whose top level has the given type; the error names the file."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: this file does not exist. It is part of BrainTreebank.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}.") from error
    if not isinstance(value, kind):
        expected = "an object" if kind is dict else "a list"
        raise InputError(f"{path}: expected {expected} at the top level, got {type(value).__name__}.")
    return value


def read_csv(path: Path, columns: Sequence[str], **how: Any) -> pd.DataFrame:
    """Read a CSV file that must have the given columns; the error names file and column."""
    try:
        table: pd.DataFrame = pd.read_csv(path, **how)
    except FileNotFoundError as error:
        raise InputError(f"{path}: this file does not exist. It is part of BrainTreebank.") from error
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}.") from error
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise InputError(
            f'{path}: has no column "{missing[0]}". Columns there: {", ".join(map(str, table.columns))}.'
        )
    return table


def numbers(column: pd.Series, path: Path) -> np.ndarray:
    """Return a column as floats (empty cells as NaN); the error names file, column and row."""
    values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float)
    wrong = np.flatnonzero(np.isnan(values) & column.notna().to_numpy())
    if len(wrong):
        raise InputError(
            f'{path}: column "{column.name}", row {wrong[0] + 1}: expected a number, got {column.iloc[wrong[0]]!r}.'
        )
    return values
