"""BIDS tables: tab-separated text with a header, and `n/a` where a value is missing."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.recordings.paths import existing_file

MISSING = "n/a"


def read_tsv(path: str | Path, required: tuple[str, ...] = ()) -> pd.DataFrame:
    """Read a BIDS table; every value stays text, and `n/a` becomes NaN.

    Types are not guessed: otherwise a column could hold numbers in one file and text in the next.
    A byte-order mark, either kind of line end and empty lines at the end are accepted.

    Parameters
    ----------
    path : path
        The table.
    required : tuple of str
        Columns that must be there.

    Returns
    -------
    DataFrame
        One row per line, in the order of the file, with the columns of its header.

    Raises
    ------
    InputError
        When the file is missing, not UTF-8, lacks a column, or has a row of another length; the row is named
        by its line in the file, the header being line 1.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "participants.tsv"
    >>> _ = path.write_text("participant_id\\tage\\nsub-01\\t34\\nsub-02\\tn/a\\n")
    >>> read_tsv(path)["age"].fillna("unknown").tolist()
    ['34', 'unknown']
    """
    file = existing_file(path)
    try:
        lines = [line.rstrip("\r") for line in file.read_bytes().decode("utf-8-sig").split("\n")]
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file}: is not UTF-8 text (byte {error.start}). BIDS tables must be UTF-8."
        ) from error
    while lines and not lines[-1].strip():
        lines.pop()
    if not lines:
        raise InputError(f"{file}: holds no header. Expected a tab-separated table.")
    header = [name.strip() for name in lines[0].split("\t")]
    _check_header(file, header, required)
    rows = [_row(file, header, number, line) for number, line in enumerate(lines[1:], start=2)]
    columns = {name: [row[place] for row in rows] for place, name in enumerate(header)}
    return pd.DataFrame(columns, columns=pd.Index(header), dtype=object)


def _check_header(file: Path, header: list[str], required: tuple[str, ...]) -> None:
    repeated = [name for place, name in enumerate(header) if name in header[:place]]
    if repeated:
        raise InputError(f'{file}: line 1: the column "{repeated[0]}" occurs twice. Rename one of them.')
    missing = [name for name in required if name not in header]
    if missing:
        raise InputError(
            f'{file}: line 1: the column "{missing[0]}" is missing; the columns are {", ".join(header)}.'
        )


def _row(file: Path, header: list[str], number: int, line: str) -> list[str | float]:
    values = line.split("\t")
    if len(values) != len(header):
        raise InputError(
            f"{file}: line {number}: has {len(values)} values where the header names {len(header)} columns. "
            "Values are separated by one tab each."
        )
    return [math.nan if value.strip() in (MISSING, "") else value.strip() for value in values]


def parse_numbers(table: pd.DataFrame, column: str, file: str | Path, *, may_miss: bool) -> np.ndarray:
    """Return a column of a BIDS table as finite numbers, NaN where a value is missing.

    Raises
    ------
    InputError
        Naming the file and the line, when a value is not a finite number, or is missing where it must not be.
    """
    out = np.empty(len(table), dtype=np.float64)
    for place, text in enumerate(table[column]):
        try:
            out[place] = float(text)
        except ValueError:
            out[place] = math.inf
        lacking = isinstance(text, float)
        if math.isinf(out[place]) or (math.isnan(out[place]) and not (lacking and may_miss)):
            shown = MISSING if lacking else text
            raise InputError(f'{file}: line {place + 2}: {column} is "{shown}", expected a number.')
    return out
