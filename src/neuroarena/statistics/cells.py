"""Cells of two crossed factors: one number per team for every image and neuroid, or task and person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from neuroarena.errors import InputError
from neuroarena.statistics.left_out import check_finite, read_table, sum_by_level
from neuroarena.statistics.moments import order_teams
from neuroarena.statistics.ranks import TieBreak
from neuroarena.statistics.tables import number_clusters


@dataclass(frozen=True, eq=False)
class CellsLeftOut:
    """Mean of each team (..., teams): on all cells, and without each row, each column and each cell."""

    mean: np.ndarray
    rows: np.ndarray
    columns: np.ndarray
    cells: np.ndarray


@dataclass(frozen=True, eq=False)
class Cells:
    """Hold one number per team in every cell of two crossed factors that was measured.

    Attributes
    ----------
    teams
        Team names, in the order of the arrays.
    values
        Higher is better (cells, teams).
    first, second
        Number 0, 1, ... of each cell's level of the first and of the second factor (cells,).
    nouns
        What the levels of the two factors are, in the plural: ("images", "neuroids").
    equal_rows
        Whether every level of the first factor counts the same in a team's score, as tasks do in an
        overall score; otherwise every cell does. Without missing cells there is no difference.
    point
        Scores of the teams (teams,), where they are not the mean of the cells; None otherwise.

    Raises
    ------
    InputError
        When shapes disagree, a cell occurs twice, or a number is not finite.
    """

    teams: tuple[Any, ...]
    values: np.ndarray
    first: np.ndarray
    second: np.ndarray
    nouns: tuple[str, str]
    equal_rows: bool = False
    point: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Check the shapes and the numbers."""
        n_cells, n_teams = np.shape(self.values)
        shapes = (np.shape(self.first), np.shape(self.second))
        if n_teams != len(self.teams) or shapes != ((n_cells,), (n_cells,)) or not n_cells:
            raise InputError(
                f"{len(self.teams)} teams need values (cells, {len(self.teams)}) and two numbers per cell; "
                f"got values of shape {np.shape(self.values)} and numbers of shape {shapes[0]} and {shapes[1]}."
            )
        places = np.sort(self.first.astype(np.int64) * (int(self.second.max()) + 1) + self.second)
        if (places[1:] == places[:-1]).any():
            raise InputError(
                f"A cell of {self.nouns[0]} and {self.nouns[1]} occurs more than once; average it first."
            )
        if self.point is not None and np.shape(self.point) != (n_teams,):
            raise InputError(f"{n_teams} teams need as many scores; got shape {np.shape(self.point)}.")
        if not np.isfinite(self.values).all():
            one, other = self.nouns
            cells = zip(self.first, self.second, strict=True)
            check_finite(self.values, self.teams, [f"the value at {one} {i}, {other} {j}" for i, j in cells])

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """Number of cells of each level of the first and of the second factor."""
        return np.bincount(self.first), np.bincount(self.second)

    @cached_property
    def left_out(self) -> CellsLeftOut:
        """Means of the cells, on all of them and without each row, each column and each cell."""
        return _leave_out_cells(self)

    @property
    def weights(self) -> tuple[np.ndarray, np.ndarray]:
        """How much each level of the first and of the second factor counts in the score."""
        first, second = self.counts
        return np.ones(len(first)) if self.equal_rows else first, second

    @property
    def scores(self) -> np.ndarray:
        """Score of each team: as given, or the mean of its cells (teams,)."""
        return self.left_out.mean if self.point is None else np.asarray(self.point, dtype=np.float64)

    @property
    def scale(self) -> np.ndarray:
        """Largest absolute value of each team, the measure of its rounding (teams,)."""
        largest: np.ndarray = np.maximum(np.abs(self.values).max(axis=0), np.abs(self.scores))
        return largest

    @property
    def complete(self) -> bool:
        """Whether every combination of levels was measured."""
        n_first, n_second = (len(count) for count in self.counts)
        return len(self.values) == n_first * n_second

    def in_rank_order(self, tie_break: TieBreak) -> Cells:
        """Return the same cells with the teams best first, equal ones ordered by the tie-break."""
        order = order_teams(self.teams, self.scores, self.scale, tie_break)
        return replace(
            self,
            teams=tuple(self.teams[at] for at in order),
            values=np.ascontiguousarray(self.values[:, order]),
            point=None if self.point is None else np.asarray(self.point)[order],
        )


def cells_of_table(
    table: Any, first: Any, second: Any, nouns: tuple[str, str], equal_rows: bool = False
) -> Cells:
    """Read cells from a table of one row per cell and one column per team.

    Parameters
    ----------
    table
        Higher is better; cells that were not measured have no row.
    first, second
        One label per row for each of the two factors, such as its task and its person.
    nouns, equal_rows
        As in `Cells`.

    Raises
    ------
    InputError
        When a number is not finite, a label is missing or a cell occurs twice.

    Examples
    --------
    >>> cells = cells_of_table({"a": [1.0, 2.0, 3.0]}, ["x", "x", "y"], [1, 2, 1], ("tasks", "people"))
    >>> cells.complete, cells.first.tolist()
    (False, [0, 0, 1])
    """
    teams, rows, values = read_table(table)
    codes = [number_clusters(labels, rows)[0] for labels in (first, second)]
    return Cells(teams, values, codes[0], codes[1], nouns, equal_rows)


def cells_of_arrays(
    arrays: Mapping[Any, np.ndarray], nouns: tuple[str, str], points: Mapping[Any, float] | None = None
) -> Cells:
    """Read complete cells from one array (first factor, second factor) per team.

    Parameters
    ----------
    arrays
        Team -> array, for correlations the `pseudovalues`.
    nouns
        As in `Cells`.
    points
        Team -> score, where it is not the mean of the array.

    Raises
    ------
    InputError
        When shapes differ between teams or a number is not finite.

    Examples
    --------
    >>> cells_of_arrays({"a": np.eye(2), "b": np.ones((2, 2))}, ("images", "neuroids")).values.tolist()
    [[1.0, 1.0], [0.0, 1.0], [0.0, 1.0], [1.0, 1.0]]
    """
    shapes = {np.shape(array): team for team, array in arrays.items()}
    if len(shapes) != 1 or len(next(iter(shapes))) != 2:
        found = ", ".join(f'team "{team}" has {shape}' for shape, team in shapes.items())
        raise InputError(f"Every team needs an array of the same two factors: {found}.")
    rows, columns = next(iter(shapes))
    values = np.column_stack([np.asarray(array, dtype=np.float64).ravel() for array in arrays.values()])
    first, second = np.divmod(np.arange(rows * columns), columns)
    point = None if points is None else np.array([points[team] for team in arrays])
    return Cells(tuple(arrays), values, first, second, nouns, point=point)


def _leave_out_cells(cells: Cells) -> CellsLeftOut:
    values, (in_row, in_column) = cells.values, cells.counts
    row_sums = sum_by_level(values, cells.first)
    # The only row or column leaves 0/0; a factor of one level is fixed, and nobody reads it.
    with np.errstate(divide="ignore", invalid="ignore"):
        if not cells.equal_rows:
            n_cells, total = len(values), values.sum(axis=0)
            return CellsLeftOut(
                total / n_cells,
                (total - row_sums) / (n_cells - in_row)[:, None],
                (total - sum_by_level(values, cells.second)) / (n_cells - in_column)[:, None],
                (total - values) / (n_cells - 1),
            )
        row_means = row_sums / in_row[:, None]
        n_rows, total = len(in_row), row_means.sum(axis=0)
        # The effect of leaving out a cell on the mean of its row; a row of one cell vanishes with it.
        alone = (in_row == 1)[cells.first]
        others = (row_sums[cells.first] - values) / np.maximum(in_row[cells.first] - 1, 1)[:, None]
        change = np.where(alone[:, None], 0.0, others) - row_means[cells.first]
        gone = np.bincount(cells.second, weights=alone)
        return CellsLeftOut(
            total / n_rows,
            (total - row_means) / (n_rows - 1),
            (total + sum_by_level(change, cells.second)) / (n_rows - gone)[:, None],
            (total + change) / (n_rows - alone)[:, None],
        )
