"""Unit scores: one row per unit and fold, and the file that stores them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pandas as pd
import pyarrow as pa

from neuroarena.errors import InputError
from neuroarena.scoring.combiners import merged_columns, track_score
from neuroarena.scoring.metrics import METRICS, Direction, Metric
from neuroarena.scoring.parquet import open_parquet, read_rows, write_parquet

SCHEMA_VERSION = 1
KEY_COLUMNS = ("unit", "fold", "cluster")
WORDS = ("name", "definition", "manifest_hash", "metric", "combiner", "scorer_version")


@dataclass(frozen=True, eq=False)
class UnitScores:
    """The result of :func:`score`.

    Parameters
    ----------
    table : DataFrame
        One row per (unit, fold), sorted by both: unit, fold, cluster (text), n (examples, int64), score, where
        there is one tie_break, a column for every additional metric, and the additive columns of the
        metric; those of an additional metric that is not a mean over units are called ``<metric>.<column>``.
        Scores are in the metrics' own directions.
    name, definition, manifest_hash : str
        The task, and the exact rules.
    metric, tie_break, combiner : str
    directions : mapping of str to str
        Score column -> "higher" or "lower".
    scorer_version : str
        Raised by every change of the scoring code that moves a score.
    """

    table: pd.DataFrame
    name: str
    definition: str
    manifest_hash: str
    metric: str
    tie_break: str | None
    combiner: str
    directions: Mapping[str, Direction]
    scorer_version: str

    @property
    def direction(self) -> Direction:
        """Whether higher or lower scores are better."""
        return self.directions["score"]

    @property
    def value(self) -> float:
        """The score of the track, in the metric's own direction."""
        columns = merged_columns(self.table, self.combiner, METRICS.get(self.metric))
        return track_score(columns, self.combiner)

    def values(self) -> dict[str, float]:
        """Return the track's value of every metric by name: the headline, the tie-break, the additional ones.

        Each is combined as its metric says: a mean or median over units, or pooled over their columns.
        """
        found = {self.metric: self.value}
        for column in self.directions:
            if column != "score":
                name = self.tie_break if column == "tie_break" else column
                assert name is not None
                found[name] = reported_value(self.table, METRICS.get(name), column)
        return found

    def by_unit(self) -> pd.DataFrame:
        """Return one row per unit, with its folds merged.

        Returns
        -------
        DataFrame
            unit, cluster, then the score columns as means over the folds, and n and the additive columns
            as sums over them; sorted by unit.
        """
        groups = self.table.groupby("unit", sort=True)
        merged = {"cluster": groups["cluster"].first()}
        for column in self.table.columns.drop(list(KEY_COLUMNS)):
            merged[column] = groups[column].mean() if column in self.directions else groups[column].sum()
        return pd.DataFrame(merged).reset_index()

    def oriented(self) -> pd.DataFrame:
        """Return the table with every score turned so that higher is better: errors are negated."""
        table = self.table.copy()
        for column, direction in self.directions.items():
            if direction == "lower":
                # Subtracting keeps an error of zero at 0.0; negating would make it -0.0.
                table[column] = 0.0 - table[column]
        return table

    def write(self, path: str | Path) -> None:
        """Write the scores as parquet; the same scores give the same bytes."""
        arrays = {name: pa.array(self.table[name], type=_type_of(name)) for name in self.table.columns}
        said = {word: getattr(self, word) for word in WORDS}
        about = {"tie_break": self.tie_break, "directions": dict(self.directions)}
        write_parquet(
            path, pa.table(arrays), {"schema_version": SCHEMA_VERSION, "kind": "unit_scores", **said, **about}
        )

    @classmethod
    def read(cls, path: str | Path) -> UnitScores:
        """Read scores that :meth:`write` wrote.

        Raises
        ------
        InputError
            When the file is missing or damaged, or holds no unit scores.
        """
        path = Path(path)
        with open_parquet(path) as (file, metadata):
            said = _read_words(metadata, path.name)
            table: pd.DataFrame = read_rows(file, path, None).to_pandas(ignore_metadata=True)
        _check_table(table, said["directions"], path.name)
        words = {word: said[word] for word in WORDS}
        return cls(table=table, tie_break=said["tie_break"], directions=said["directions"], **words)


def reported_value(table: pd.DataFrame, metric: Metric, column: str | None = None) -> float:
    """Return the track's value of a metric that breaks ties or is reported besides the headline.

    Parameters
    ----------
    table : DataFrame
        Of unit scores: one row per (unit, fold).
    metric : Metric
    column : str, optional
        The column of its unit scores; by default the one with its name.

    Returns
    -------
    float
        In the metric's own direction: a mean or median over units, or pooled over its columns.
    """
    prefix = f"{metric.name}."
    own = {name: name.removeprefix(prefix) for name in table.columns if name.startswith(prefix)}
    if not own:
        means = table.groupby("unit", sort=True)[column or metric.name].mean()
        return metric.over_units(means.to_numpy(dtype=np.float64))
    pooled = table[["unit", "n", *own]].rename(columns=own)
    return track_score(merged_columns(pooled, metric.combiner, metric), metric.combiner)


def _type_of(column: str) -> pa.DataType:
    return pa.string() if column in KEY_COLUMNS else pa.int64() if column in ("n", "seed") else pa.float64()


def _read_words(metadata: bytes | None, source: str) -> dict[str, Any]:
    try:
        said = json.loads(metadata or b"null")
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or said.get("kind") != "unit_scores":
        raise InputError(f"{source}: the file holds no unit scores of neuroarena. Nothing was read.")
    if said.get("schema_version") != SCHEMA_VERSION:
        version = said.get("schema_version")
        raise InputError(f"{source}: schema version {version}, expected {SCHEMA_VERSION}. Nothing was read.")
    wrong = [word for word in WORDS if not isinstance(said.get(word), str)]
    directions = said.get("directions")
    if not isinstance(directions, dict) or not set(directions.values()) <= {"higher", "lower"}:
        wrong.append("directions")
    if wrong or "tie_break" not in said:
        raise InputError(
            f'{source}: the file does not say its "{[*wrong, "tie_break"][0]}". Nothing was read.'
        )
    return cast(dict[str, Any], said)


def _check_table(table: pd.DataFrame, directions: Mapping[str, str], source: str) -> None:
    wanted = [*KEY_COLUMNS, "n", *directions]
    missing = [column for column in wanted if column not in table.columns]
    if missing or "score" not in directions:
        raise InputError(f'{source}: the column "{[*missing, "score"][0]}" is missing. Nothing was read.')
    for column in table.columns.drop(list(KEY_COLUMNS)):
        if not pd.api.types.is_any_real_numeric_dtype(table[column].dtype):
            raise InputError(f'{source}: the column "{column}" holds no numbers. Nothing was read.')
        finite = np.isfinite(table[column].to_numpy(dtype=np.float64))
        if not finite.all():
            row = int((~finite).argmax())
            raise InputError(f'{source}: row {row}: "{column}" is not finite. Nothing was read.')
