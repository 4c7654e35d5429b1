"""Mean ranks over the tasks of a suite, judged on differences of ranks: a second table, where the rules ask for it."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from neuroarena.statistics import (
    MINIMUM_LEVELS,
    average_ranks,
    jackknife,
    judge_ends,
    leave_out,
    letters,
    rank_ranges,
    score_intervals,
)
from neuroarena.statistics.moments import rescope

TASKS = "tasks"


@dataclass(frozen=True, eq=False)
class MeanRanks:
    """What a suite concludes from mean ranks.

    Attributes
    ----------
    table : DataFrame
        Best first: `team`, `mean_rank`, its 95 % interval `ci95_low` and `ci95_high`, `letters`, `rank_low`,
        `rank_high`.
    verdicts : DataFrame
        One row per pair: see :func:`neuroarena.statistics.judge_ends`; differences are in ranks.
    n_tasks : int
    """

    table: pd.DataFrame
    verdicts: pd.DataFrame
    n_tasks: int


def judge_mean_ranks(scores: pd.DataFrame, alpha: float, fixed: str | None = None) -> MeanRanks | None:
    """Judge teams by their mean rank over tasks, which are a sample of tasks.

    Parameters
    ----------
    scores : DataFrame, (tasks, teams)
        Higher is better. Equal scores on a task share the mean rank.
    alpha : float
        Level of the family of all pairs.
    fixed : str, optional
        What all tasks share, such as "8 people": verdicts then hold for these.

    Returns
    -------
    MeanRanks or None
        None below six tasks.

    Examples
    --------
    >>> tasks = pd.DataFrame({"a": [0.9] * 6, "b": [0.8, 0.7, 0.8, 0.7, 0.8, 0.7], "c": [0.7, 0.8, 0.7, 0.8, 0.7, 0.8]})
    >>> found = judge_mean_ranks(tasks, 0.05)
    >>> found.table[["team", "mean_rank", "letters"]].values.tolist()
    [['a', 1.0, 'a'], ['b', 2.5, 'b'], ['c', 2.5, 'b']]
    """
    if len(scores) < MINIMUM_LEVELS:
        return None
    n_teams = scores.shape[1]
    left = leave_out(-average_ranks(scores), noun=TASKS)
    moments = jackknife(left)
    if fixed is not None:
        moments = rescope(moments, f"random: {len(scores)} {TASKS}; for these {fixed}")
    rows, teams = judge_ends(moments, alpha=alpha), list(moments.teams)
    intervals = score_intervals(left, bounds=(-float(n_teams), -1.0)).loc[teams]
    ranges = rank_ranges(rows, teams)
    table = pd.DataFrame(
        {
            "team": teams,
            "mean_rank": -intervals["score"].to_numpy(),
            "ci95_low": -intervals["high"].to_numpy(),
            "ci95_high": -intervals["low"].to_numpy(),
            "letters": [text or None for text in letters(rows, teams)],
            "rank_low": ranges["rank_low"].to_numpy(),
            "rank_high": ranges["rank_high"].to_numpy(),
        }
    )
    return MeanRanks(table, rows, len(scores))
