"""Bring unit scores of any accepted form into one shape: columns of (units, teams).

Order matters to a seeded bootstrap, so it is fixed here. From a table, or from series indexed by unit,
the units are sorted and no row order can matter. From bare arrays the position is the unit, and it is
kept: this is what reproduces the published listing draw for draw. Teams of a table are sorted by name;
teams of a mapping keep their order.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError

SCORE = "score"
COUNT = "count"
NAMED = 5  # how many offenders an error names before it says how many more there are


@dataclass(frozen=True, eq=False)
class UnitTable:
    """Hold what is resampled: finite numbers for every team on every unit.

    Attributes
    ----------
    teams, units
        Labels, in the order of the arrays.
    columns
        Column name -> float64 array (units, teams).
    clusters
        For each unit the number 0, 1, ... of its cluster, in ascending order of the labels; None without.
    cluster_labels
        Label of each cluster, in the order of its number; empty without clusters.
    """

    teams: list[Any]
    units: list[Any]
    columns: dict[str, np.ndarray]
    clusters: np.ndarray | None = None
    cluster_labels: tuple[Any, ...] = ()


def unit_table(unit_scores: Any, clusters: Any = None, additive: bool = False) -> UnitTable:
    """Bring unit scores of any accepted form into a `UnitTable`.

    Parameters
    ----------
    unit_scores
        Long table (team, unit, score[, cluster]); or team -> array (units,); or team -> Series indexed
        by unit. With `additive`, a table with several value columns or team -> {column: array or Series}.
    clusters
        None; a column name of the table (True means "cluster"); unit -> label (mapping or Series); or
        one label per unit, in unit order.
    additive
        Whether several value columns are expected, to be combined after resampling.

    Raises
    ------
    InputError
        When something is missing, duplicated, not finite, or differs between teams; it is named.

    Examples
    --------
    >>> unit_table({"b": [1.0, 2.0], "a": [3.0, 4.0]}).columns["score"].tolist()
    [[1.0, 3.0], [2.0, 4.0]]
    """
    if isinstance(unit_scores, pd.DataFrame):
        table, labels = _from_frame(unit_scores, clusters, additive)
    elif isinstance(unit_scores, Mapping):
        table, labels = _from_mapping(unit_scores, clusters, additive), clusters
    else:
        raise InputError(
            "Unit scores must be a table (team, unit, score) or a mapping team -> scores; "
            f"got {type(unit_scores).__name__}."
        )
    _check_finite(table)
    if labels is None:
        return table
    return UnitTable(table.teams, table.units, table.columns, *number_clusters(labels, table.units))


# ---------------------------------------------------------------- long tables


def _from_frame(frame: pd.DataFrame, clusters: Any, additive: bool) -> tuple[UnitTable, Any]:
    column = "cluster" if clusters is True else clusters if isinstance(clusters, str) else None
    _check_labels(frame, ["team", "unit", *([column] if column is not None else [])])
    names = _value_columns(frame, column, additive)
    twice = frame.duplicated(["team", "unit"])
    if twice.any():
        team, unit = frame.loc[twice, ["team", "unit"]].iloc[0]
        raise InputError(
            f'Team "{team}" has unit "{unit}" more than once; one row per team and unit is expected.'
        )
    teams, units = _in_order(frame["team"].unique()), _in_order(frame["unit"].unique())
    at_team = pd.Index(teams).get_indexer(frame["team"])
    at_unit = pd.Index(units).get_indexer(frame["unit"])
    present = np.zeros((len(units), len(teams)), dtype=bool)
    present[at_unit, at_team] = True
    _check_same_units(teams, units, present)
    columns = {}
    for name in names:
        values = np.empty(present.shape)
        values[at_unit, at_team] = _numbers(frame[name], f'column "{name}"')
        columns[name] = values
    labels = clusters if column is None else _unit_clusters(frame, column)
    return UnitTable(teams, units, columns), labels


def _check_labels(frame: pd.DataFrame, columns: list[str]) -> None:
    for name in columns:
        if name not in frame.columns:
            raise InputError(
                f'The table of unit scores has no column "{name}"; it has: {_list(frame.columns, limit=20)}.'
            )
        empty = frame[name].isna()
        if empty.any():
            row = int(np.flatnonzero(empty.to_numpy())[0])
            raise InputError(f'Row {row} of the unit scores has an empty "{name}"; every row needs one.')
    if frame.empty:
        raise InputError("The table of unit scores is empty; at least one team and one unit are needed.")


def _value_columns(frame: pd.DataFrame, cluster_column: str | None, additive: bool) -> list[str]:
    if not additive:
        if SCORE not in frame.columns:
            raise InputError(
                f'The table of unit scores has no column "{SCORE}"; it has: {_list(frame.columns, limit=20)}.'
            )
        return [SCORE]
    labels = {"team", "unit", "cluster", cluster_column}
    names = [
        str(name)
        for name in frame.columns
        if name not in labels and pd.api.types.is_numeric_dtype(frame[name].dtype)
    ]
    return _check_column_names(names)


def _unit_clusters(frame: pd.DataFrame, column: str) -> dict[Any, Any]:
    pairs = frame[["unit", column]].drop_duplicates()
    torn = pairs.loc[pairs["unit"].duplicated(), "unit"]
    if len(torn):
        unit = torn.iloc[0]
        found = _list(pairs.loc[pairs["unit"] == unit, column])
        raise InputError(f'Unit "{unit}" is in several clusters ({found}); a unit belongs to exactly one.')
    return dict(zip(pairs["unit"].tolist(), pairs[column].tolist(), strict=True))


# ---------------------------------------------------------------- mappings


def _from_mapping(scores: Mapping[Any, Any], clusters: Any, additive: bool) -> UnitTable:
    if clusters is True or isinstance(clusters, str):
        raise InputError(
            f"clusters={clusters!r} names a column, but the unit scores are a mapping; pass one label per unit."
        )
    if not scores:
        raise InputError("The unit scores hold no team; at least one team and one unit are needed.")
    teams = list(scores)
    cells = {team: _team_columns(team, scores[team], additive) for team in teams}
    names = _check_column_names(list(cells[teams[0]]), given=additive)
    for team in teams:
        if set(cells[team]) != set(names):
            raise InputError(
                f'Team "{team}" has the columns {_list(cells[team])}, team "{teams[0]}" has {_list(names)}; '
                "every team needs the same."
            )
    flat = [cells[team][name] for team in teams for name in names]
    indexed = {isinstance(values, pd.Series) for values in flat}
    if len(indexed) > 1:
        raise InputError(
            "Some teams hold a Series indexed by unit and others a bare array; use one form for all."
        )
    if indexed == {True}:
        units, arrays = _align(teams, names, cells)
    else:
        units, arrays = _stack(teams, names, cells)
    if not units:
        raise InputError("The unit scores hold no unit; at least one team and one unit are needed.")
    return UnitTable(teams, units, arrays)


def _team_columns(team: Any, values: Any, additive: bool) -> dict[str, Any]:
    if isinstance(values, pd.DataFrame):
        values = {name: values[name] for name in values.columns}
    if not isinstance(values, Mapping):
        return {SCORE: values}
    if not additive:
        raise InputError(f'Team "{team}" has several columns ({_list(values)}); these need a combiner.')
    return {str(name): column for name, column in values.items()}


def _align(
    teams: list[Any], names: list[str], cells: Mapping[Any, Mapping[str, pd.Series]]
) -> tuple[list[Any], dict[str, np.ndarray]]:
    for team in teams:
        for name in names:
            index = cells[team][name].index
            if index.has_duplicates:
                unit = index[index.duplicated()][0]
                raise InputError(
                    f'Team "{team}" has unit "{unit}" more than once; one score per unit is expected.'
                )
    units = _in_order({unit for team in teams for name in names for unit in cells[team][name].index})
    index = pd.Index(units)
    present = np.column_stack(
        [np.all([index.isin(cells[team][name].index) for name in names], axis=0) for team in teams]
    )
    _check_same_units(teams, units, present)
    columns = {}
    for name in names:
        parts = [_numbers(cells[team][name].loc[units], f'team "{team}"') for team in teams]
        columns[name] = np.column_stack(parts)
    return units, columns


def _stack(
    teams: list[Any], names: list[str], cells: Mapping[Any, Mapping[str, Any]]
) -> tuple[list[Any], dict[str, np.ndarray]]:
    columns = {}
    lengths: dict[int, Any] = {}
    for name in names:
        parts = []
        for team in teams:
            values = _numbers(cells[team][name], f'team "{team}"')
            if values.ndim != 1:
                raise InputError(
                    f'Team "{team}" has scores of shape {values.shape}; one number per unit is expected.'
                )
            lengths.setdefault(len(values), team)
            parts.append(values)
        if len(lengths) > 1:
            found = ", ".join(f'team "{team}" has {length}' for length, team in lengths.items())
            raise InputError(f"Teams must be scored on the same units: {found} units.")
        columns[name] = np.column_stack(parts)
    return list(range(next(iter(lengths)))), columns


# ---------------------------------------------------------------- shared checks


def _check_column_names(names: list[str], given: bool = True) -> list[str]:
    if given and COUNT in names:
        raise InputError(
            f'A value column may not be called "{COUNT}": the bootstrap adds it, the number of drawn units.'
        )
    if not names:
        raise InputError("The unit scores have no numeric value column to combine.")
    return names


def _check_same_units(teams: Sequence[Any], units: Sequence[Any], present: np.ndarray) -> None:
    lacking = np.flatnonzero(~present.all(axis=0))
    if not len(lacking):
        return
    parts = []
    for team in lacking[:NAMED].tolist():
        missing = [units[int(at)] for at in np.flatnonzero(~present[:, team])]
        parts.append(f'team "{teams[team]}" lacks unit {_list(missing)}')
    more = f"; and {len(lacking) - NAMED} more teams" if len(lacking) > NAMED else ""
    raise InputError(f"Teams must be scored on the same units: {'; '.join(parts)}{more}.")


def _check_finite(table: UnitTable) -> None:
    for name, values in table.columns.items():
        broken = ~np.isfinite(values)
        if broken.any():
            unit, team = np.argwhere(broken)[0]
            raise InputError(
                f'Team "{table.teams[team]}", unit "{table.units[unit]}": {name} is {values[unit, team]}. '
                "Every unit score must be finite. Nothing was ranked."
            )


def number_clusters(clusters: Any, units: Sequence[Any]) -> tuple[np.ndarray, tuple[Any, ...]]:
    """Return the number of each unit's cluster (units,) and the labels of the clusters in that order.

    Parameters
    ----------
    clusters
        One label per unit in unit order, or unit -> label (mapping or Series).
    units
        Labels of the units.

    Raises
    ------
    InputError
        When a unit has no label.

    Examples
    --------
    >>> codes, labels = number_clusters(["s2", "s1", "s2"], ["u1", "u2", "u3"])
    >>> codes.tolist(), labels
    ([1, 0, 1], ('s1', 's2'))
    """
    if isinstance(clusters, pd.Series):
        clusters = clusters.to_dict()
    if isinstance(clusters, Mapping):
        missing = [unit for unit in units if unit not in clusters]
        if missing:
            raise InputError(f"The clusters lack unit {_list(missing)}; every unit needs a label.")
        labels = [clusters[unit] for unit in units]
    else:
        given = np.asarray(clusters, dtype=object)
        if given.shape != (len(units),):
            raise InputError(
                f"The clusters must hold one label for each of {len(units)} units; got shape {given.shape}."
            )
        labels = given.tolist()
    empty = [unit for unit, label in zip(units, labels, strict=True) if _is_empty(label)]
    if empty:
        raise InputError(f"The cluster of unit {_list(empty)} is empty; every unit needs a label.")
    names = tuple(_in_order(set(labels)))
    number = {label: at for at, label in enumerate(names)}
    return np.array([number[label] for label in labels], dtype=np.intp), names


def _is_empty(label: Any) -> bool:
    return bool(pd.api.types.is_scalar(label) and pd.isna(label))


def _numbers(values: Any, where: str) -> np.ndarray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(f"The unit scores of {where} are not all numbers: {error}.") from error


def _in_order(labels: Iterable[Any]) -> list[Any]:
    items = [label.item() if isinstance(label, np.generic) else label for label in labels]
    try:
        return sorted(items)
    except TypeError:  # labels of several types have no common order of their own
        return sorted(items, key=lambda label: (type(label).__name__, str(label)))


def _list(labels: Iterable[Any], limit: int = NAMED) -> str:
    items = [f'"{label}"' for label in labels]
    more = f" and {len(items) - limit} more" if len(items) > limit else ""
    return ", ".join(items[:limit]) + more
