"""From scores of units to the score of a track.

A combiner is a function of *sums over units* of additive columns. A bootstrap therefore multiplies the
columns by how often each unit was drawn (a matrix product) and combines the sums, and gets the same
intervals for a mean, a ratio or an nRMSE. A combiner may also be a function of *medians over units*; a bootstrap then
takes the median of the units it drew.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.registry import Registry
from neuroarena.scoring.metrics import METRICS, Metric

if TYPE_CHECKING:
    from neuroarena.scoring.manifest import Manifest
    from neuroarena.scoring.unit_scores import UnitScores


# Between the name of a column and the fold it is of, where folds are not merged before medians are taken.
FOLD_MARK = "@fold:"


@dataclass(frozen=True)
class Combiner:
    """A named function of columns that are summed over units, or of their medians over units.

    Parameters
    ----------
    name : str
    columns : tuple of str
        The additive columns it needs. ``score`` (the mean over a unit's folds), ``count`` (1 per unit) and
        ``n`` (examples) exist for every metric; the others are the metric's own, or named by its roles.
    function : callable
        ``{column: sums} -> values``, element by element over arrays of any shape (draws, teams, ...).
    title : str
        What it computes, in words.
    over : {"sums", "medians"}
        What is taken of each column over units. A median is taken in every fold, and the mean over folds counts.
    """

    name: str
    columns: tuple[str, ...]
    function: Callable[[Mapping[str, np.ndarray]], np.ndarray]
    title: str
    over: Literal["sums", "medians"] = "sums"

    def summarise(self, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the sum or the median of each column over units, its first axis."""
        take = np.sum if self.over == "sums" else np.median
        return {name: np.asarray(take(column, axis=0)) for name, column in columns.items()}

    def apply(self, summaries: Mapping[str, np.ndarray]) -> np.ndarray:
        """Combine what :meth:`summarise` gave, of any one shape; medians of folds are averaged first."""
        if self.over == "sums":
            return np.asarray(self.function(summaries))
        found: dict[str, list[np.ndarray]] = {}
        for key, values in summaries.items():
            found.setdefault(key.partition(FOLD_MARK)[0], []).append(values)
        return np.asarray(self.function({name: np.mean(folds, axis=0) for name, folds in found.items()}))


MEAN = Combiner("mean", ("score", "count"), lambda sums: sums["score"] / sums["count"], "mean over units")

RATIO = Combiner(
    "ratio",
    ("numerator", "denominator"),
    lambda sums: sums["numerator"] / sums["denominator"],
    "sum of numerators / sum of denominators",
)

PERCENTAGE = Combiner(
    "percentage",
    ("numerator", "denominator"),
    lambda sums: 100.0 * sums["numerator"] / sums["denominator"],
    "100 x sum of numerators / sum of denominators",
)


def _spread(sums: Mapping[str, np.ndarray]) -> np.ndarray:
    """Sum of squared differences from the mean of all targets drawn; never below zero by rounding."""
    left = sums["sum_y2"] - sums["sum_y"] ** 2 / sums["n"]
    # If all targets are equal, only rounding remains and there is no spread to divide by.
    return np.where(left > 1e-12 * sums["sum_y2"], left, np.nan)


POOLED_RMSE = Combiner(
    "rmse", ("n", "sse"), lambda sums: np.sqrt(sums["sse"] / sums["n"]), "RMSE over all examples"
)

POOLED_NRMSE = Combiner(
    "nrmse",
    ("n", "sse", "sum_y", "sum_y2"),
    lambda sums: np.sqrt(sums["sse"] / _spread(sums)),
    "RMSE over all examples / standard deviation of their targets",
)

POOLED_R2 = Combiner(
    "r2",
    ("n", "sse", "sum_y", "sum_y2"),
    lambda sums: 1.0 - sums["sse"] / _spread(sums),
    "1 - squared error over all examples / spread of their targets",
)

# Seconds of true time to go: [0, 40), [40, 90), [90, 300), and from 300 on.
BIN_EDGES = (0.0, 40.0, 90.0, 300.0)
BIN_WEIGHTS = (10.0, 5.0, 3.0, 1.0)
BIN_COLUMNS = tuple(f"{name}_{edge:.0f}" for edge in BIN_EDGES for name in ("error", "n"))


def _mean_of_bins(sums: Mapping[str, np.ndarray], weights: tuple[float, ...]) -> np.ndarray:
    """Average the mean errors of the bins that hold examples, with weights."""
    errors = np.stack([sums[name] for name in BIN_COLUMNS[0::2]])
    counts = np.stack([sums[name] for name in BIN_COLUMNS[1::2]])
    used = counts > 0
    means = np.divide(errors, counts, out=np.zeros_like(errors), where=used)
    weight = used * np.reshape(weights, (-1, *(1,) * (errors.ndim - 1)))
    found: np.ndarray = (means * weight).sum(axis=0) / weight.sum(axis=0)
    return found


BINNED = Combiner(
    "binned", BIN_COLUMNS, lambda sums: _mean_of_bins(sums, (1.0,) * 4), "mean of the errors of the bins"
)

BINNED_WEIGHTED = Combiner(
    "binned_weighted",
    BIN_COLUMNS,
    lambda sums: _mean_of_bins(sums, BIN_WEIGHTS),
    "mean of the errors of the bins, weighted 10 : 5 : 3 : 1",
)

COMBINERS: Registry[Combiner] = Registry(
    "combiner",
    "neuroarena.combiners",
    {
        "mean": "neuroarena.scoring.combiners:MEAN",
        "ratio": "neuroarena.scoring.combiners:RATIO",
        "percentage": "neuroarena.scoring.combiners:PERCENTAGE",
        "rmse": "neuroarena.scoring.combiners:POOLED_RMSE",
        "nrmse": "neuroarena.scoring.combiners:POOLED_NRMSE",
        "r2": "neuroarena.scoring.combiners:POOLED_R2",
        "binned": "neuroarena.scoring.combiners:BINNED",
        "binned_weighted": "neuroarena.scoring.combiners:BINNED_WEIGHTED",
    },
    plural="metrics",
)


def combine(name: str, columns: Mapping[str, np.ndarray]) -> np.ndarray:
    """Combine sums over units into track scores.

    Parameters
    ----------
    name : str
        Name of a combiner.
    columns : mapping of str to ndarray
        Sums (or medians) over units, of any one shape: () for the score itself, (draws,) for a bootstrap,
        (draws, teams) for a paired one.

    Returns
    -------
    ndarray
        Track scores of that shape, in the metric's own direction.

    Raises
    ------
    InputError
        When a column is missing, or when the combination is undefined (a zero denominator) anywhere.

    Examples
    --------
    Two draws from units with scores 0.5, 0.7 and 0.9:

    >>> counts = np.array([[1, 1, 1], [0, 2, 1]])
    >>> units = {"score": np.array([0.5, 0.7, 0.9]), "count": np.ones(3)}
    >>> combine("mean", {name: counts @ column for name, column in units.items()}).round(4).tolist()
    [0.7, 0.7667]
    """
    combiner = COMBINERS.get(name)
    there = {column.partition(FOLD_MARK)[0] for column in columns}
    missing = [column for column in combiner.columns if column not in there]
    if missing:
        raise InputError(
            f'The combiner "{name}" needs the column "{missing[0]}"; got {", ".join(columns) or "none"}.'
        )
    sums = {column: np.asarray(values, dtype=np.float64) for column, values in columns.items()}
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        values = np.asarray(combiner.apply(sums), dtype=np.float64)
    undefined = int(np.count_nonzero(~np.isfinite(values)))
    if undefined:
        raise InputError(
            f'The combiner "{name}" is undefined for {undefined} of {values.size} sums (0 / 0 or not finite).'
        )
    return values


def track_score(columns: Mapping[str, np.ndarray], combiner: str) -> float:
    """Combine the additive columns of all units into the one score of a track.

    Parameters
    ----------
    columns : mapping of str to ndarray, (units,)
        As :func:`columns_of` returns them.
    combiner : str

    Returns
    -------
    float
        In the metric's own direction.

    Examples
    --------
    >>> track_score({"numerator": np.array([1.0, 3.0]), "denominator": np.array([4.0, 4.0])}, "ratio")
    0.5
    """
    return float(combine(combiner, COMBINERS.get(combiner).summarise(columns)))


def columns_of(
    unit_scores: UnitScores, manifest: Manifest, combiner: str | None = None
) -> dict[str, np.ndarray]:
    """Return the additive columns of each unit, its folds merged.

    Parameters
    ----------
    unit_scores : UnitScores
    manifest : Manifest
        The one the scores were made with.
    combiner : str, optional
        Another combiner than the manifest's (corpus-level CER beside the mean over blocks).

    Returns
    -------
    dict of str to ndarray, (units,)
        The columns the combiner needs, units in ascending order of their names. ``score`` is the mean over
        the unit's folds and ``count`` is 1; every other column is the sum over the folds. For a combiner of medians
        every fold has columns of its own.

    Raises
    ------
    InputError
        When the scores were made with another manifest, or lack a column the combiner needs.
    """
    if unit_scores.manifest_hash != manifest.hash:
        raise InputError(
            f"The scores of {unit_scores.name} were made with manifest {unit_scores.manifest_hash[:12]}, "
            f"not with {manifest.name} {manifest.hash[:12]}. Score the predictions again."
        )
    metric = METRICS.get(manifest.metric)
    return merged_columns(unit_scores.table, combiner or manifest.combiner, metric)


def merged_columns(table: pd.DataFrame, combiner: str, metric: Metric) -> dict[str, np.ndarray]:
    """Merge the folds of each unit of a table of unit scores, in the columns a combiner needs."""
    if COMBINERS.get(combiner).over == "medians":
        return fold_columns(table, combiner, metric)
    groups = table.groupby("unit", sort=True)
    columns: dict[str, np.ndarray] = {}
    for name in COMBINERS.get(combiner).columns:
        source = metric.roles.get(name, name)
        if name == "count":
            columns[name] = np.ones(groups.ngroups)
        elif source not in table.columns:
            raise InputError(
                f'The combiner "{combiner}" needs the column "{source}", '
                f'which the metric "{metric.name}" does not provide.'
            )
        elif name == "score":
            columns[name] = groups["score"].mean().to_numpy(dtype=np.float64)
        else:
            columns[name] = groups[source].sum().to_numpy(dtype=np.float64)
    return columns


def fold_columns(table: pd.DataFrame, combiner: str, metric: Metric) -> dict[str, np.ndarray]:
    """Return the columns that a combiner of medians needs, (units,) for every fold.

    Raises
    ------
    InputError
        When a column is missing, or when a unit has no row in some fold.
    """
    columns: dict[str, np.ndarray] = {}
    for name in COMBINERS.get(combiner).columns:
        source = metric.roles.get(name, name)
        if source not in table.columns:
            raise InputError(
                f'The combiner "{combiner}" needs the column "{source}", which these scores do not have.'
            )
        wide = table.pivot(index="unit", columns="fold", values=source).sort_index()
        gaps = wide.isna().to_numpy()
        if gaps.any():
            unit, fold = (int(at[0]) for at in np.nonzero(gaps))
            raise InputError(f'Unit "{wide.index[unit]}" has no {source} in the fold "{wide.columns[fold]}".')
        columns |= {f"{name}{FOLD_MARK}{fold}": wide[fold].to_numpy(dtype=np.float64) for fold in wide}
    return columns


def check_combiner(combiner: str, metric: Metric) -> str | None:
    """Return why a combiner cannot combine the columns of a metric, or None when it can."""
    given = {"score", "count", "n", *metric.columns}
    for column in COMBINERS.get(combiner).columns:
        if metric.roles.get(column, column) not in given:
            return f'the combiner "{combiner}" needs the column "{column}", which "{metric.name}" does not provide'
    return None
