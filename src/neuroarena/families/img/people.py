"""The person of a unit, for results that were written before unit tables named it."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import replace

import pandas as pd

from neuroarena.board import Entry


def name_people(entries: Iterable[Entry], _: datetime.datetime | None = None) -> list[Entry]:
    """Fill the column ``cluster`` with the person where it is empty; the name of a unit is ``person/image``."""
    return [
        replace(
            entry,
            unit_scores=None if entry.unit_scores is None else _with_people(entry.unit_scores),
            repeats=tuple(_with_people(table) for table in entry.repeats),
        )
        for entry in entries
    ]


def _with_people(table: pd.DataFrame) -> pd.DataFrame:
    if "unit" not in table or ("cluster" in table and (table["cluster"] != "").any()):
        return table
    people = table["unit"].astype(str).str.partition("/")[0]
    return table.assign(cluster=people)
