"""The classical critical difference of mean ranks over tasks (Nemenyi 1963; Demsar 2006).

It is drawn on request, for readers who know it. Boards conclude from `verdicts`: mean ranks move with
the teams that happen to be on the board, and their critical difference knows nothing of the scores.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.tasks import average_ranks

_ROUNDING = 1e-12


def nemenyi_q(n_teams: int, alpha: float = 0.05) -> float:
    """Return Nemenyi's q: the quantile of the studentized range of `n_teams` normals, over sqrt(2).

    Raises
    ------
    InputError
        When there are fewer than two teams, or alpha is not between 0 and 1.

    Examples
    --------
    >>> [round(nemenyi_q(n_teams), 3) for n_teams in (2, 3, 4, 5)]
    [1.96, 2.344, 2.569, 2.728]
    """
    from scipy import stats  # half a second of import, for this function alone

    if n_teams < 2:
        raise InputError(f"A critical difference needs at least two teams; got {n_teams}.")
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1; got {alpha}.")
    # Mean ranks have a known variance: infinitely many degrees of freedom.
    return float(stats.studentized_range.ppf(1 - alpha, n_teams, np.inf)) / math.sqrt(2)


def critical_difference(n_teams: int, n_tasks: int, alpha: float = 0.05) -> float:
    """Return the difference of mean ranks above which two teams differ: q sqrt(K (K + 1) / (6 T)).

    Raises
    ------
    InputError
        When there are fewer than two teams, no task, or alpha is not between 0 and 1.

    Examples
    --------
    >>> round(critical_difference(4, 14), 2)
    1.25
    """
    if n_tasks < 1:
        raise InputError(f"A critical difference needs at least one task; got {n_tasks}.")
    return nemenyi_q(n_teams, alpha) * math.sqrt(n_teams * (n_teams + 1) / (6 * n_tasks))


def critical_groups(table: Any, alpha: float = 0.05) -> tuple[pd.Series, float, list[list[Any]]]:
    """Return what the classical critical-difference diagram shows.

    Parameters
    ----------
    table
        One row per task, one column per team, higher is better.
    alpha
        Level of the family of all pairs.

    Returns
    -------
    mean_ranks, difference, groups
        Mean rank of each team, best first; the critical difference; and the longest runs of teams that lie
        within it, each a bar of the diagram. A team that no bar joins to another is in no group.

    Raises
    ------
    InputError
        When the table is empty, a number is not finite, there are fewer than two teams, or alpha is not
        between 0 and 1.

    Examples
    --------
    >>> table = {"a": [9, 9, 9, 9, 9, 9], "b": [8, 8, 8, 8, 8, 8], "c": [1, 1, 1, 1, 1, 1]}
    >>> mean_ranks, difference, groups = critical_groups(table)
    >>> mean_ranks.to_dict(), round(difference, 3), groups
    ({'a': 1.0, 'b': 2.0, 'c': 3.0}, 1.353, [['a', 'b'], ['b', 'c']])
    """
    ranked = average_ranks(table)
    mean_ranks = ranked.mean(axis=0).sort_values(kind="stable")
    difference = critical_difference(len(mean_ranks), len(ranked), alpha)
    values = mean_ranks.to_numpy()
    # The last team that a bar starting at each team reaches; a bar inside the one before is not drawn.
    reach = np.searchsorted(values, values + difference * (1 + _ROUNDING), side="right")
    groups, reached = [], 0
    for start, stop in enumerate(reach.tolist()):
        if stop > reached and stop - start > 1:
            groups.append(mean_ranks.index[start:stop].tolist())
        reached = max(reached, stop)
    return mean_ranks.rename("mean_rank"), difference, groups
