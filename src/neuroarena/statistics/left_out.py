"""Scores without one level: what every jackknife of this room starts from.

A *level* is one of the independent things that were sampled: a person where units are clustered by
person, otherwise the unit itself. Leaving one out means taking its sums from the totals and
combining what remains, so that a ratio (nRMSE, corpus CER) is treated exactly as a mean is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.bootstrap import Combiner
from neuroarena.statistics.tables import COUNT, number_clusters, unit_table

# Too few to prove anything: five equal signs have a chance of 2/32 = 0.0625.
MINIMUM_LEVELS = 6


@dataclass(frozen=True, eq=False)
class LeftOut:
    """Hold the scores of every team on all levels and without each of them.

    Attributes
    ----------
    teams
        Team names, in the order of the arrays.
    point
        Scores on all levels, higher is better (teams,).
    scores
        Scores without one level (levels, teams).
    weights
        How much each level holds: its units, or its examples where examples are pooled (levels,).
    levels
        Label of each level; numbers from 0 unless given.
    noun
        What the levels are, in the plural: "units", "people".
    sums
        What the sign-flip audit flips: one number per level and team (levels, teams); the pseudo-values
        G S - (G - 1) S_g unless given.
    scale
        Largest absolute score of each team, the measure of its rounding (teams,); taken from `point` and
        `scores` unless given.

    Raises
    ------
    InputError
        When shapes disagree, names repeat, or a number is not finite; team and level are named.

    Examples
    --------
    >>> left = LeftOut(("a", "b"), np.array([2.0, 1.0]), np.array([[1.5, 1.0], [2.5, 1.0]]), np.ones(2))
    >>> left.n_levels, left.g_eff, left.sums.tolist()
    (2, 2.0, [[2.5, 1.0], [1.5, 1.0]])
    """

    teams: tuple[Any, ...]
    point: np.ndarray
    scores: np.ndarray
    weights: np.ndarray
    levels: tuple[Any, ...] = ()
    noun: str = "levels"
    sums: np.ndarray = None  # type: ignore[assignment]  # always an array once made
    scale: np.ndarray = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        """Check the shapes and the numbers, and fill in what was not given."""
        arrays = {
            name: np.asarray(getattr(self, name), np.float64) for name in ("point", "scores", "weights")
        }
        point, scores, weights = arrays.values()
        n_teams, n_levels = len(self.teams), len(weights)
        levels = tuple(self.levels) or tuple(range(n_levels))
        if point.shape != (n_teams,) or scores.shape != (n_levels, n_teams) or len(levels) != n_levels:
            raise InputError(
                f"{n_teams} teams and {n_levels} levels need {n_teams} scores on all levels, scores "
                f"({n_levels}, {n_teams}) without one, and {n_levels} labels; "
                f"got {point.shape}, {scores.shape} and {len(levels)}."
            )
        if len(set(self.teams)) != n_teams:
            raise InputError("Two teams have the same name; every team needs a unique name.")
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise InputError("Every level needs a positive weight: its number of units or of examples.")
        check_finite(point[None, :], self.teams, ["the score on all levels"])
        if n_levels > 1:  # leaving out the only level leaves nothing, and no verdict is made from one
            check_finite(scores, self.teams, [f'the score without level "{level}"' for level in levels])
        if self.sums is None:
            arrays["sums"] = n_levels * point - (n_levels - 1) * scores
        if self.scale is None:
            arrays["scale"] = np.abs(np.vstack([point, scores] if n_levels > 1 else [point])).max(axis=0)
        for name, values in {**arrays, "teams": tuple(self.teams), "levels": levels}.items():
            object.__setattr__(self, name, values)

    @property
    def n_levels(self) -> int:
        """Number of levels G."""
        return len(self.weights)

    @property
    def g_eff(self) -> float:
        """Effective number of levels; G when all levels hold the same."""
        return effective_levels(self.weights)


def effective_levels(weights: np.ndarray) -> float:
    """Return the effective number of levels (sum w)^2 / sum w^2.

    Examples
    --------
    >>> effective_levels(np.array([1.0, 1.0, 1.0])), round(effective_levels(np.array([2.0, 1.0, 1.0])), 3)
    (3.0, 2.667)
    """
    shares = np.asarray(weights, dtype=np.float64) / np.max(weights)
    return float(shares.sum() ** 2 / (shares**2).sum())


def leave_out(table: Any, clusters: Any = None, noun: str | None = None) -> LeftOut:
    """Leave out each level of a table of unit scores, where a team's score is the mean over its units.

    Parameters
    ----------
    table
        One row per unit, one column per team, higher is better: a DataFrame, or what makes one.
    clusters
        One label per unit, in unit order or as unit -> label: units with the same label are one level.
        Without it every unit is a level.
    noun
        What the levels are, in the plural; "clusters" or "units" unless given.

    Raises
    ------
    InputError
        When the table is empty, a name repeats, a number is not finite, or a unit has no label.

    Examples
    --------
    >>> left = leave_out({"a": [1.0, 2.0, 6.0], "b": [0.0, 0.0, 3.0]}, clusters=["p", "p", "q"])
    >>> left.point.tolist(), left.scores.tolist(), left.levels
    ([3.0, 1.0], [[6.0, 3.0], [1.5, 0.0]], ('p', 'q'))
    """
    teams, units, values = read_table(table)
    if clusters is None:
        sums, weights, levels = values, np.ones(len(units)), tuple(units)
    else:
        codes, levels = number_clusters(clusters, units)
        sums, weights = sum_by_level(values, codes), np.bincount(codes).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):  # the only level leaves 0/0, which nobody reads
        scores = (sums.sum(axis=0) - sums) / (weights.sum() - weights)[:, None]
    return LeftOut(
        teams,
        values.mean(axis=0),
        scores,
        weights,
        levels,
        noun or ("units" if clusters is None else "clusters"),
        sums,
    )


def leave_out_columns(
    unit_scores: pd.DataFrame | Mapping[Any, Any],
    combiner: Combiner,
    clusters: Any = None,
    weight: str | None = None,
    noun: str | None = None,
) -> LeftOut:
    """Leave out each level of additive columns, which a combiner turns into scores.

    Parameters
    ----------
    unit_scores, combiner, clusters
        As `bootstrap` takes them: a long table with several value columns or team -> {column: values};
        a function of summed columns, among them "count"; what owns the units. The combined scores are
        oriented: higher is better.
    weight
        The column that says how many examples a unit holds, where examples are pooled; by default every
        unit counts 1.
    noun
        What the levels are, in the plural; "clusters" or "units" unless given.

    Raises
    ------
    InputError
        When the input is not finite or incomplete, when the weight differs between teams, or when a score
        is not defined without some level; it is named.

    Examples
    --------
    >>> columns = {"a": {"errors": [1, 2, 3], "characters": [10, 10, 20]}}
    >>> left = leave_out_columns(columns, lambda s: -s["errors"] / s["characters"], weight="characters")
    >>> left.point.tolist(), left.scores[:, 0].round(3).tolist(), left.weights.tolist()
    ([-0.15], [-0.167, -0.133, -0.15], [10.0, 10.0, 20.0])
    """
    table = unit_table(unit_scores, clusters, additive=True)
    counted = {**table.columns, COUNT: np.ones((len(table.units), len(table.teams)))}
    codes = np.arange(len(table.units)) if table.clusters is None else table.clusters
    sums = {name: sum_by_level(values, codes) for name, values in counted.items()}
    totals = {name: values.sum(axis=0) for name, values in sums.items()}
    point = _combine(combiner, totals)
    scores = _combine(combiner, {name: totals[name] - values for name, values in sums.items()})
    return LeftOut(
        tuple(table.teams),
        point,
        scores,
        _level_weights(sums, weight or COUNT),
        tuple(table.units) if table.clusters is None else table.cluster_labels,
        noun or ("units" if table.clusters is None else "clusters"),
    )


def read_table(table: Any) -> tuple[tuple[Any, ...], list[Any], np.ndarray]:
    """Read a table of one row per unit and one column per team.

    Returns
    -------
    teams, units, values
        Labels, and float64 numbers (units, teams).

    Raises
    ------
    InputError
        When the table is empty, a name repeats, or a number is not finite.

    Examples
    --------
    >>> read_table({"a": [1.0, 2.0], "b": [0.5, 0.5]})[0]
    ('a', 'b')
    """
    try:
        frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(table)
        values = frame.to_numpy(dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"The scores must be a table of numbers, one row per unit and one column per team: {error}."
        ) from error
    if not values.size:
        raise InputError("The table of scores is empty; it needs at least one unit and one team.")
    for what, labels in (("Team", frame.columns), ("Unit", frame.index)):
        if labels.has_duplicates:
            name = labels[labels.duplicated()][0]
            raise InputError(f'{what} "{name}" is in the table more than once; it may occur only once.')
    teams, units = tuple(frame.columns.tolist()), frame.index.tolist()
    check_finite(values, teams, [f'the score of unit "{unit}"' for unit in units])
    return teams, units, values


def check_finite(values: np.ndarray, teams: Sequence[Any], rows: Sequence[str]) -> None:
    """Refuse a number that is not finite, naming the team and the row of `values` (rows, teams).

    Raises
    ------
    InputError
        At the first such number.
    """
    if not np.isfinite(values).all():
        row, team = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f'Team "{teams[team]}": {rows[row]} is {values[row, team]}. '
            "Every score must be finite; leave the team out or score it again. Nothing was judged."
        )


def sum_by_level(values: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Sum rows (rows, ...) that have the same code 0, 1, ...; every code occurs.

    Examples
    --------
    >>> sum_by_level(np.array([[1.0], [2.0], [4.0]]), np.array([1, 0, 1])).tolist()
    [[2.0], [5.0]]
    """
    order = np.argsort(codes, kind="stable")
    starts = np.searchsorted(codes[order], np.arange(codes.max() + 1))
    return np.add.reduceat(values[order], starts, axis=0)


def _combine(combiner: Combiner, sums: dict[str, np.ndarray]) -> np.ndarray:
    shape = sums[COUNT].shape
    with np.errstate(divide="ignore", invalid="ignore"):  # what is not finite is refused by name
        try:
            scores = np.asarray(combiner(sums), dtype=np.float64)
        except KeyError as error:
            raise InputError(
                f"The combiner asks for the column {error}; there are: {', '.join(sums)}."
            ) from error
    if scores.shape != shape:
        raise InputError(f"The combiner returned shape {scores.shape}; expected {shape}, one score per team.")
    return scores


def _level_weights(sums: Mapping[str, np.ndarray], weight: str) -> np.ndarray:
    if weight not in sums:
        raise InputError(
            f'There is no column "{weight}" to weigh the levels with; there are: {", ".join(sums)}.'
        )
    weights = sums[weight]
    if (weights != weights[:, :1]).any():
        raise InputError(
            f'The column "{weight}" differs between teams; all must be scored on the same examples.'
        )
    return weights[:, 0]
