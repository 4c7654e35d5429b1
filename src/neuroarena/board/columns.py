"""Extra columns of a ranking: additional metrics of the manifest, and what a family adds."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.entries import Entry
from neuroarena.board.faces import columns_of_family
from neuroarena.scoring import METRICS, Manifest, reported_value


def extra_columns(
    entries: Sequence[Entry], manifest: Manifest, about: dict[str, str], taken: Sequence[str]
) -> dict[str, Any]:
    """Compute the extra columns of a ranking.

    Parameters
    ----------
    entries : sequence of Entry
        The entry of each row.
    manifest : Manifest
        Of the ranking.
    about : mapping
        family and kind of the ranking; an overall has no extra columns, because it is made of several entries.
    taken : sequence of str
        Names that the table has already.

    Returns
    -------
    dict of str to array
        Name -> one value per entry. A column in which nothing is known is left out.

    Raises
    ------
    NeuroarenaError
        When a column of a family takes a name that is taken.
    """
    columns: dict[str, Any] = {}
    for name in manifest.additional_metrics:
        values = np.array([_additional(entry, name) for entry in entries])
        if not np.isnan(values).all():
            columns[name] = values
    if about["kind"] == "task":
        for name, function in columns_of_family(about["family"], (*taken, *columns)).items():
            found = [function(entry) for entry in entries]
            if any(value is not None for value in found):
                columns[name] = _convert_column(found)
    return columns


def _additional(entry: Entry, name: str) -> float:
    """Return the value of an additional metric; NaN where the unit scores do not hold it."""
    table = entry.unit_scores
    if table is None or name not in table.columns or not np.isfinite(table[name].to_numpy(dtype=float)).all():
        return float("nan")
    return reported_value(table, METRICS.get(name))


def _convert_column(values: list[Any]) -> Any:
    """Keep a column of numbers as numbers; anything else becomes text."""
    if all(value is None or isinstance(value, numbers.Real) for value in values):
        return np.array([np.nan if value is None else float(value) for value in values])
    return pd.Series([None if value is None else str(value) for value in values], dtype=object).to_numpy()
