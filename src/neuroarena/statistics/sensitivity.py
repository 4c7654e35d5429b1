"""Whether the order of the teams depends on how they are ranked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.left_out import read_table
from neuroarena.statistics.letters import count_verdicts
from neuroarena.statistics.tasks import average_ranks

METHODS = {
    "mean": "mean over units",
    "median": "median over units",
    "mean_rank": "mean rank in units",
    "median_rank": "median rank in units",
    "wins": "verdicts won less verdicts lost",
}
LEAST_TAU = 0.8
_ROUNDING = 1e-12


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Hold the ranks of the teams by several methods, and how far these agree.

    Attributes
    ----------
    ranks
        One row per team, one column per method: `mean`, `median`, `mean_rank`, `median_rank`, `wins`; equal
        teams share the mean rank.
    agreement
        One row per pair of methods: `first`, `second`, `tau_b` (Kendall's, NaN where one ranks all teams
        equal), `same_leader`.
    warnings
        What a reader should know, in sentences; empty where all methods agree.
    """

    ranks: pd.DataFrame
    agreement: pd.DataFrame
    warnings: tuple[str, ...]


def sensitivity(table: Any, rows: pd.DataFrame, scores: Mapping[Any, float] | None = None) -> Sensitivity:
    """Rank the teams by several methods and compare the orders.

    Parameters
    ----------
    table
        One row per unit, one column per team, higher is better.
    rows
        Verdicts of the same teams.
    scores
        Team -> score that the board ranks by, where it is not the mean over units (a ratio); higher is better.

    Raises
    ------
    InputError
        When the table is empty, a number is not finite, or a team has no score.

    Examples
    --------
    >>> from neuroarena.statistics.verdicts import verdicts
    >>> table = {"a": [5, 5, 5, 5, 5, 5], "b": [4, 4, 4, 4, 4, 20], "c": [1, 1, 1, 1, 1, 1]}
    >>> found = sensitivity(table, verdicts(table))
    >>> found.ranks.loc["b"].tolist()
    [1.0, 2.0, 2.0, 2.0, 2.0]
    >>> found.warnings[0]
    'The leader depends on the method: "b" by mean over units, "a" by median over units.'
    """
    teams, _, values = read_table(table)
    in_units = average_ranks(table).to_numpy()
    won, lost = count_verdicts(rows, teams)
    by_method = {
        "mean": values.mean(axis=0) if scores is None else _scores_of(teams, scores),
        "median": np.median(values, axis=0),
        "mean_rank": -in_units.mean(axis=0),
        "median_rank": -np.median(in_units, axis=0),
        "wins": (won - lost).to_numpy(dtype=np.float64),
    }
    table_of_ranks = pd.DataFrame(
        {
            name: average_ranks(pd.DataFrame([found], columns=list(teams))).iloc[0]
            for name, found in by_method.items()
        },
        index=pd.Index(teams, name="team"),
    )
    agreement = _agreement(table_of_ranks)
    return Sensitivity(table_of_ranks, agreement, _warnings(table_of_ranks, agreement))


def kendall_tau_b(first: np.ndarray, second: np.ndarray) -> float:
    """Return Kendall's tau-b of two rankings; NaN where one of them ranks everything equal.

    Examples
    --------
    >>> round(kendall_tau_b(np.array([1, 2, 3, 4]), np.array([1, 2, 4, 3])), 4)
    0.6667
    """
    one, other = (
        np.sign(np.subtract.outer(ranks, ranks)) for ranks in (np.asarray(first), np.asarray(second))
    )
    size = np.sqrt((one**2).sum() * (other**2).sum())
    return float((one * other).sum() / size) if size else float("nan")


def _scores_of(teams: tuple[Any, ...], scores: Mapping[Any, float]) -> np.ndarray:
    missing = [team for team in teams if team not in scores]
    if missing:
        raise InputError(f'Team "{missing[0]}" has no score to rank it by; every team needs one.')
    return np.array([scores[team] for team in teams], dtype=np.float64)


def _leaders(ranks: pd.Series) -> set[Any]:
    return set(ranks.index[ranks == ranks.min()])


def _agreement(ranks: pd.DataFrame) -> pd.DataFrame:
    values = {name: ranks[name].to_numpy() for name in ranks.columns}
    leads = {name: own == own.min() for name, own in values.items()}
    found = [
        {
            "first": one,
            "second": other,
            "tau_b": kendall_tau_b(values[one], values[other]),
            "same_leader": bool((leads[one] & leads[other]).any()),
        }
        for one, other in combinations(ranks.columns, 2)
    ]
    return pd.DataFrame(found, columns=["first", "second", "tau_b", "same_leader"])


def _warnings(ranks: pd.DataFrame, agreement: pd.DataFrame) -> tuple[str, ...]:
    found = []
    changed = agreement[~agreement["same_leader"]]
    if len(changed):
        pair = changed.iloc[0]
        one, other = (
            f"{' and '.join(_quote_leaders(ranks[method]))} by {METHODS[method]}"
            for method in (pair["first"], pair["second"])
        )
        found.append(f"The leader depends on the method: {one}, {other}.")
    apart = agreement[agreement["tau_b"] < LEAST_TAU * (1 - _ROUNDING)]
    if len(apart):
        pair = apart.iloc[int(np.argmin(apart["tau_b"].to_numpy()))]
        found.append(
            f"The order depends on the method: Kendall's tau is {pair['tau_b']:.2f} between {METHODS[pair['first']]} "
            f"and {METHODS[pair['second']]}."
        )
    return tuple(found)


def _quote_leaders(ranks: pd.Series) -> list[str]:
    leaders = _leaders(ranks)
    return [f'"{team}"' for team in ranks.index if team in leaders]
