"""Means of means: the interval of a node from those of the tasks below it, and what tasks that share levels add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from neuroarena.statistics.moments import Moments
from neuroarena.statistics.ranks import TieBreak
from neuroarena.statistics.tasks import fix_tasks


@dataclass(frozen=True, eq=False)
class SharedLevels:
    """Hold how the scores of a task vary over levels that other tasks may share, such as images.

    Attributes
    ----------
    key
        What the levels are; tasks with the same key were judged on the same levels, drawn alike.
    teams
        Team names, in the order of the arrays.
    scores
        Scores in draws of these levels alone (draws, teams); higher is better.
    se
        Standard error of each team's score, over everything that is random (teams,).
    """

    key: str
    teams: tuple[Any, ...]
    scores: np.ndarray
    se: np.ndarray

    def of(self, teams: Sequence[Any]) -> SharedLevels:
        """Return the same for these teams, in this order."""
        place = [self.teams.index(team) for team in teams]
        return replace(self, teams=tuple(teams), scores=self.scores[:, place], se=self.se[place])


def carry_interval(
    weights: np.ndarray,
    score: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    correlation: np.ndarray | None = None,
) -> tuple[float, float]:
    """Return the interval of a weighted mean from the intervals of its parts.

    Squared distances of the ends from their scores add up as variances do: a parent of k children has the sum of
    their variances / k^2. Intervals may be skewed (Zou and Donner 2008, Statistics in Medicine 27: 1693).

    Parameters
    ----------
    weights, score, low, high
        Of each part (parts,).
    correlation
        Of the parts' errors (parts, parts); independent unless given.

    Returns
    -------
    tuple of float
        NaN where an end of a part is not known.

    Examples
    --------
    >>> halves = np.full(2, 0.5)
    >>> low, high = carry_interval(halves, np.array([0.4, 0.6]), np.array([0.1, 0.2]), np.array([0.7, 1.0]))
    >>> round(low, 4), round(high, 4)
    (0.25, 0.75)
    """
    point = float(weights @ score)
    between = np.eye(len(weights)) if correlation is None else correlation

    def reach(ends: np.ndarray) -> float:
        distance = weights * np.abs(ends - score)
        # A negative correlation is an estimate too, and cannot take away more than there is.
        return float(np.sqrt(max(distance @ between @ distance, 0.0)))

    return point - reach(low), point + reach(high)


def correlate_shared(shared: Sequence[SharedLevels | None], team: Any) -> np.ndarray:
    """Return the correlation of a team's errors on several tasks, through the levels that tasks share.

    Parameters
    ----------
    shared
        One per task; None where nothing is shared.
    team
        Name of the team.

    Returns
    -------
    numpy.ndarray
        (tasks, tasks); 0 between tasks without common levels.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal(size=(1000, 1))
    >>> task = SharedLevels("images", ("a",), draws, np.array([2.0]))
    >>> correlate_shared([task, task, None], "a").round(1).tolist()
    [[1.0, 0.2, 0.0], [0.2, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    found = np.eye(len(shared))
    for (i, first), (j, second) in combinations(enumerate(shared), 2):
        if first is None or second is None or first.key != second.key:
            continue
        one, two = first.of([team]), second.of([team])
        both = float(one.se[0] * two.se[0])
        if both > 0:
            together = float(np.cov(one.scores[:, 0], two.scores[:, 0])[0, 1])
            found[i, j] = found[j, i] = np.clip(together / both, -1.0, 1.0)
    return found


def fix_shared_tasks(
    tasks: Mapping[Any, Moments],
    shared: Mapping[Any, SharedLevels],
    weights: Mapping[Any, float],
    tie_break: TieBreak = None,
) -> Moments:
    """Return the moments of the mean over these tasks, some of which share levels.

    Parameters
    ----------
    tasks, weights, tie_break
        As in `fix_tasks`.
    shared
        Task -> how its scores vary over levels that others may share; tasks without such are independent.

    Raises
    ------
    InputError
        As in `fix_tasks`.
    """
    moments = fix_tasks(tasks, weights, tie_break)
    total = sum(weights[task] for task in tasks)
    variance = moments.se**2
    for first, second in combinations([task for task in tasks if task in shared], 2):
        if shared[first].key != shared[second].key:
            continue
        drawn = [shared[task].of(moments.teams).scores for task in (first, second)]
        differences = [each[:, moments.above] - each[:, moments.below] for each in drawn]
        centred = [each - each.mean(axis=0) for each in differences]
        together = (centred[0] * centred[1]).sum(axis=0) / (len(centred[0]) - 1)
        variance = variance + 2 * weights[first] * weights[second] / total**2 * together
    return replace(moments, se=np.sqrt(np.maximum(variance, 0.0)))
