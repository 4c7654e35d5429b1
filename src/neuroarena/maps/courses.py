"""Time courses: the mean over electrodes that were chosen on other data than what is shown.

A row is the time course of one electrode in one session, or in one fold where its subject has a single session. It
is chosen by what the electrode does in the other sessions (folds) and shown as it is in its own: chosen on the same
data, the best 100 of 1,281 electrodes without any effect rise by 0.009 to 0.019. The same choice is made in every draw
of the null.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.maps.conventions import OURS, Conventions
from neuroarena.maps.grid import MapGrid

_FEWEST = 5
_LEVEL = 0.05
_BLOCK = 50


@dataclass(frozen=True, eq=False)
class Course:
    """The time course of one task.

    Attributes
    ----------
    task : str
    curve : array (bins,)
        Mean AUROC over the chosen rows.
    error : array (bins,)
        Standard error over rows; rows of one subject are not independent, so that it is too small.
    rows : DataFrame
        The chosen rows: electrode and session (places in the grid), fold (-1 where folds are averaged).
    values : array (rows, bins)
        What they are averages of.
    null : array (draws, bins)
        The curve of each draw, its rows chosen anew.
    same_data : bool
        Whether rows were chosen on the data they show: as published, or for want of a second session or fold.
    """

    task: str
    curve: np.ndarray
    error: np.ndarray
    rows: pd.DataFrame
    values: np.ndarray
    null: np.ndarray
    same_data: bool

    @property
    def threshold(self) -> float:
        """Value that the highest bin exceeds in at most 5 % of the draws; NaN without a null."""
        if not len(self.null):
            return float("nan")
        highest = np.sort(self.null.max(axis=1))
        # The draw whose excess gives p = (1 + draws above) / (draws + 1) <= 0.05.
        place = int(np.ceil((1 - _LEVEL) * (len(highest) + 1))) - 1
        return float(highest[place]) if place < len(highest) else float("inf")


def time_course(grid: MapGrid, task: str, conventions: Conventions = OURS) -> Course:
    """Average the time courses of the electrodes that a task is decoded from best.

    Parameters
    ----------
    grid : MapGrid
    task : str
    conventions : Conventions

    Examples
    --------
    >>> from neuroarena.maps import simulate_grid
    >>> course = time_course(simulate_grid(0), "sound")
    >>> int(course.curve.argmax()), bool(course.curve.max() > course.threshold)
    (4, True)
    """
    rows = list_rows(grid, task, by_session_only=conventions.same_data)
    observed = _observed(grid, task, rows)[np.newaxis]
    chosen = _choose(observed, rows, conventions)[0]
    values = observed[0][chosen]
    alone = rows.groupby("electrode")["electrode"].transform("size").to_numpy() == 1
    return Course(
        task=task,
        curve=_average(values, conventions),
        error=values.std(axis=0, ddof=min(1, len(values) - 1)) / np.sqrt(len(values)),
        rows=rows.iloc[chosen].reset_index(drop=True),
        values=values,
        null=_null_curves(grid, task, rows, conventions),
        same_data=conventions.same_data or bool(alone.all()),
    )


def list_rows(grid: MapGrid, task: str, by_session_only: bool = False) -> pd.DataFrame:
    """List the rows of a task, sorted by electrode: one per session, or per fold for an electrode with one session.

    Parameters
    ----------
    grid : MapGrid
    task : str
    by_session_only : bool
        Average folds everywhere.

    Returns
    -------
    DataFrame
        Columns electrode, session (places in the grid) and fold (-1: mean over folds).
    """
    known = np.isfinite(grid.data["auroc"].sel(task=task).values).all(axis=2)
    folds = np.isfinite(grid.data["fold_auroc"].sel(task=task).values).all(axis=2)
    rows: list[tuple[int, int, int]] = []
    for electrode in np.flatnonzero(known.any(axis=0)):
        sessions = np.flatnonzero(known[:, electrode])
        parts = np.flatnonzero(folds[sessions[0], electrode])
        if len(sessions) > 1 or by_session_only or len(parts) < 2:
            rows += [(int(electrode), int(session), -1) for session in sessions]
        else:
            rows += [(int(electrode), int(sessions[0]), int(fold)) for fold in parts]
    return pd.DataFrame(rows, columns=["electrode", "session", "fold"], dtype=np.int64)


def _observed(grid: MapGrid, task: str, rows: pd.DataFrame) -> np.ndarray:
    """Return the values (rows, bins) of the observed map."""
    electrode, session, fold = (rows[name].to_numpy() for name in ("electrode", "session", "fold"))
    means = grid.data["auroc"].sel(task=task).values[session, electrode]
    single = grid.data["fold_auroc"].sel(task=task).values[session, electrode]
    single = single[np.arange(len(rows)), :, np.maximum(fold, 0)]
    return np.asarray(np.where(fold[:, np.newaxis] < 0, means, single), dtype=np.float64)


def _null_curves(grid: MapGrid, task: str, rows: pd.DataFrame, conventions: Conventions) -> np.ndarray:
    """Return the curve of every draw: array (draws, bins)."""
    if any((task, grid.sessions[place]) not in grid.nulls for place in rows["session"].unique()):
        return np.empty((0, grid.data.sizes["bin"]))
    drawn = np.empty((grid.permutations, len(rows), grid.data.sizes["bin"]), dtype=np.float32)
    for place, mine in rows.groupby("session"):
        session = grid.sessions[int(str(place))]
        null = grid.null(task, session)
        within = np.searchsorted(grid.electrodes_of(session), mine["electrode"])
        for fold in mine["fold"].unique():
            here = (mine["fold"] == fold).to_numpy()
            part = null.mean(axis=1) if fold < 0 else null[:, fold]
            drawn[:, mine.index[here]] = part[:, within[here]]
    curves = []
    for start in range(0, len(drawn), _BLOCK):
        block = drawn[start : start + _BLOCK].astype(np.float64)
        for values, chosen in zip(block, _choose(block, rows, conventions), strict=True):
            curves.append(_average(values[chosen], conventions))
    return np.array(curves)


def _choose(values: np.ndarray, rows: pd.DataFrame, conventions: Conventions) -> np.ndarray:
    """Choose the rows of a time course.

    Parameters
    ----------
    values : array (maps, all rows, bins)
        The observed map, or draws of the null.

    Returns
    -------
    int array (maps, chosen rows)
    """
    electrode = rows["electrode"].to_numpy()
    starts = np.flatnonzero(np.r_[True, electrode[1:] != electrode[:-1]])
    group = np.cumsum(np.r_[False, electrode[1:] != electrode[:-1]])
    counts = np.diff(np.r_[starts, len(electrode)])
    total = np.add.reduceat(values, starts, axis=1)
    if conventions.same_data:
        score = (total / counts[:, np.newaxis]).mean(axis=2)[:, group]
    else:
        others = np.maximum(counts[group] - 1, 1)[:, np.newaxis]
        rest = np.where(counts[group][:, np.newaxis] > 1, total[:, group] - values, values)
        score = (rest / others).max(axis=2)
    kept = _count(len(starts), conventions)
    n_rows = max(1, round(kept * len(rows) / len(starts)))
    return np.argsort(-score, axis=1, kind="stable")[:, :n_rows]


def _count(electrodes: int, conventions: Conventions) -> int:
    share = max(_FEWEST, int(np.ceil(conventions.share * electrodes)))
    return min(electrodes, conventions.most_electrodes, share)


def _average(values: np.ndarray, conventions: Conventions) -> np.ndarray:
    """Average rows; of the logarithm where the conventions ask for it, without rows at or below its floor."""
    if conventions.log_floor is None:
        return np.asarray(values.mean(axis=0))
    above = np.where(values > conventions.log_floor, values - conventions.log_floor, 1.0)
    weight = (values > conventions.log_floor).sum(axis=0)
    mean = np.log(above).sum(axis=0) / np.maximum(weight, 1)
    return np.asarray(np.where(weight > 0, np.exp(mean) + conventions.log_floor, np.nan))
