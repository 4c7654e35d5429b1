"""Suites of tasks: tasks as a sample of tasks, or these tasks and no others.

Tasks with units of their own are judged by `jackknife` on one score per task: the differences of T tasks
already hold the noise of their units. Tasks that share units (people) are two crossed factors. With tasks
taken as fixed, verdicts hold "on these tasks", and 39 of 100 equal pairs would be called different
elsewhere where tasks differ by twice the error within them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.left_out import read_table
from neuroarena.statistics.moments import Moments, make_moments, order_teams, satterthwaite
from neuroarena.statistics.ranks import TieBreak, ranks
from neuroarena.statistics.verdicts import BETTER


def fix_tasks(
    tasks: Mapping[Any, Moments], weights: Mapping[Any, float] | None = None, tie_break: TieBreak = None
) -> Moments:
    """Return the moments of the mean over these tasks, whose units are independent of one another.

    Parameters
    ----------
    tasks
        Task -> moments of its pairs; every task has the same teams.
    weights
        Task -> weight of its score; equal unless given.
    tie_break
        Team -> number that orders equal teams; higher is better.

    Raises
    ------
    InputError
        When there is no task, teams differ between tasks, or a weight is missing or negative.

    Examples
    --------
    >>> from neuroarena.statistics import jackknife, leave_out
    >>> rng = np.random.default_rng(0)
    >>> tables = [{"a": rng.normal(1, 1, n), "b": rng.normal(0, 1, n)} for n in (8, 12)]
    >>> moments = fix_tasks({task: jackknife(leave_out(table)) for task, table in enumerate(tables)})
    >>> moments.teams, moments.n_levels.tolist(), moments.scope[0]
    (('a', 'b'), [8], 'random: 8 levels or more in each task; for these 2 tasks')
    """
    if not tasks:
        raise InputError("A mean over tasks needs at least one task; got none.")
    teams = list(next(iter(tasks.values())).teams)
    for task, moments in tasks.items():
        if set(moments.teams) != set(teams):
            raise InputError(
                f'Task "{task}" has different teams from the first one; every task needs the same.'
            )
    shares = _shares(list(tasks), weights)
    places = [[moments.teams.index(team) for team in teams] for moments in tasks.values()]
    parts = list(zip(shares, tasks.values(), places, strict=True))
    scores = sum(share * moments.scores[place] for share, moments, place in parts)
    scale = sum(share * np.abs(moments.scores[place]) for share, moments, place in parts)
    order = order_teams(teams, scores, scale, tie_break)
    variances = [
        (
            share**2 * _by_pair(moments, moments.se**2, place, order),
            _by_pair(moments, moments.df, place, order),
        )
        for share, moments, place in parts
    ]
    variance = np.sum([part for part, _ in variances], axis=0)
    fewest = min(int(moments.n_levels.min(initial=np.iinfo(np.int64).max)) for moments in tasks.values())
    return make_moments(
        [teams[at] for at in order],
        scores[order],
        scale[order],
        f"random: {fewest} levels or more in each task; for these {len(tasks)} tasks",
        se=np.sqrt(variance),
        df=satterthwaite(variance, variances),
        n_levels=fewest,
    )


def average_ranks(table: Any) -> pd.DataFrame:
    """Return the rank of every team in every row, 1 for the highest score; equal scores share the mean rank.

    The negative of it is a table for `verdicts`: a mean rank over tasks is judged on differences of ranks.

    Parameters
    ----------
    table
        One row per task or unit, one column per team, higher is better.

    Raises
    ------
    InputError
        When the table is empty, a name repeats or a number is not finite.

    Examples
    --------
    >>> average_ranks({"a": [0.9, 0.5], "b": [0.8, 0.5], "c": [0.1, 0.7]}).to_numpy().tolist()
    [[1.0, 2.0, 3.0], [2.5, 2.5, 1.0]]
    """
    teams, rows, values = read_table(table)
    from_top, from_bottom = ranks(values), ranks(-values)
    mean = (from_top + len(teams) + 1 - from_bottom) / 2
    return pd.DataFrame(mean, index=pd.Index(rows), columns=pd.Index(teams, name="team"))


def count_tracks(tracks: Mapping[Any, pd.DataFrame], first: Any, second: Any) -> tuple[int, int, int]:
    """Return on how many tracks the first team is better, on how many worse, and how many both entered.

    Ranks over tracks (transfer, points) have no verdict of their own; this is what can be said instead.

    Parameters
    ----------
    tracks
        Track -> rows of `verdicts` or `judge`.
    first, second
        The two teams.

    Examples
    --------
    >>> rows = pd.DataFrame({"a": ["x"], "c": ["y"], "verdict": ["better"]})
    >>> count_tracks({"one": rows, "two": rows.assign(verdict="undecided")}, "y", "x")
    (0, 1, 2)
    """
    better = worse = entered = 0
    for rows in tracks.values():
        won = rows.loc[(rows["a"] == first) & (rows["c"] == second), "verdict"]
        lost = rows.loc[(rows["a"] == second) & (rows["c"] == first), "verdict"]
        entered += len(won) + len(lost)
        better += int((won == BETTER).sum())
        worse += int((lost == BETTER).sum())
    return better, worse, entered


def _shares(tasks: Sequence[Any], weights: Mapping[Any, float] | None) -> np.ndarray:
    given = np.ones(len(tasks))
    if weights is not None:
        missing = [task for task in tasks if task not in weights]
        if missing:
            raise InputError(f'Task "{missing[0]}" has no weight; every task needs one.')
        given = np.array([weights[task] for task in tasks], dtype=np.float64)
    if not (np.isfinite(given).all() and (given >= 0).all() and given.sum() > 0):
        raise InputError("The weights of the tasks must be 0 or more, and not all of them 0.")
    shares: np.ndarray = given / given.sum()
    return shares


def _by_pair(moments: Moments, values: np.ndarray, place: list[int], order: np.ndarray) -> np.ndarray:
    """Return values of pairs (pairs,) in the order of other teams: a task ranks its teams in its own way."""
    square = np.zeros((len(moments.teams), len(moments.teams)))
    square[moments.above, moments.below] = square[moments.below, moments.above] = values
    at = np.asarray(place)[order]
    above, below = np.triu_indices(len(at), 1)
    found: np.ndarray = square[at[above], at[below]]
    return found
