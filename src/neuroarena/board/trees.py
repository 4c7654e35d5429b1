"""The tree of a suite: every node is the mean of its children, with the interval carried up from the tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.faces import overall_of
from neuroarena.board.ranking import Ranking
from neuroarena.scoring.overalls import Node, Overall
from neuroarena.statistics import judge_ends, ranks
from neuroarena.statistics.letters import MOST_TEAMS, letters
from neuroarena.statistics.trees import carry_interval, correlate_shared, fix_shared_tasks
from neuroarena.statistics.verdicts import NONE

NAMED = 3


@dataclass(frozen=True, eq=False)
class Tree:
    """Scores of teams on every node of a suite.

    Attributes
    ----------
    family, split : str
    nodes : tuple of Node
        The root first; every node before what is below it.
    table : DataFrame
        One row per node and team: `node`, `parent`, `depth`, `task` (whether it is one), `team`, `rank`, `score`,
        `ci95_low`, `ci95_high`, `letters`, `missing`. A team that lacks a task below a node has no score and no rank
        there, and `missing` names the task; it never counts as zero.
    verdicts : dict of str to DataFrame
        Node -> one row per pair: see :func:`neuroarena.statistics.judge_ends`. They hold on these tasks.
    simulated : bool
    notes : tuple of str
        What a reader should know, in sentences.
    """

    family: str
    split: str
    nodes: tuple[Node, ...]
    table: pd.DataFrame
    verdicts: dict[str, pd.DataFrame]
    simulated: bool
    notes: tuple[str, ...]

    @property
    def root(self) -> str:
        """Name of the node above all others."""
        return self.nodes[0].name

    @property
    def teams(self) -> list[str]:
        """Every team, those with a score of the root first, best first; then those with most nodes."""
        scored = self.table[self.table["score"].notna()]
        of_root = self.table[self.table["node"] == self.root].set_index("team")["rank"].dropna()
        counts = scored.groupby("team")["node"].size()
        everyone = [str(team) for team in dict.fromkeys(self.table["team"])]
        return sorted(everyone, key=lambda team: (of_root.get(team, np.inf), -counts.get(team, 0), team))

    def node(self, name: str) -> pd.DataFrame:
        """Return the rows of one node, best first; teams without a score follow by name."""
        rows = self.table[self.table["node"] == name]
        return rows.sort_values(["rank", "team"], na_position="last", ignore_index=True)


def grow_tree(rankings: Sequence[Ranking]) -> Tree | str | None:
    """Make the tree of a suite from the rankings of its tasks.

    Parameters
    ----------
    rankings : sequence of Ranking
        Of one family and split.

    Returns
    -------
    Tree, str or None
        A sentence says why there is none; None where the suite is not a tree, or has none of its tasks.
    """
    first = rankings[0]
    overall = overall_of(first.family)
    if overall.kind != "tree":
        return None
    by_task = {one.task: one for one in rankings if one.task in overall.leaves()}
    if not by_task:
        return None
    directions = {one.manifest.direction for one in by_task.values()}
    if len(directions) > 1:
        return f"{first.family}, {first.split}: no tree, because higher is better on some tasks and lower on others."
    teams = _teams(by_task)
    parts, verdicts, notes = [], {}, []
    for node in overall.walk():
        rows = _node_rows(node, by_task, teams)
        judged = _judge_node(node, by_task, rows)
        if judged is not None:
            verdicts[node.name] = judged
            shared = letters(judged).to_dict() if (judged["verdict"] != NONE).any() else {}
            rows["letters"] = [shared.get(team) for team in rows["team"]]
        parts.append(rows)
        if node.parent is None:
            notes += _describe_gaps(overall, by_task, rows)
    table = pd.concat(parts, ignore_index=True)
    return Tree(
        first.family,
        first.split,
        overall.walk(),
        table,
        verdicts,
        any(one.simulated for one in by_task.values()),
        tuple(notes),
    )


def _teams(by_task: dict[str, Ranking]) -> list[str]:
    found: dict[str, None] = {}
    for one in by_task.values():
        found |= dict.fromkeys(str(team) for team in (*one.table["team"], *one.unranked["team"]))
    return sorted(found)


def _node_rows(node: Node, by_task: dict[str, Ranking], teams: list[str]) -> pd.DataFrame:
    tables = {task: by_task[task].table.set_index("team") for task in node.weights if task in by_task}
    rows = [_team_row(node, by_task, tables, team) for team in teams]
    table = pd.DataFrame(rows).astype({"score": np.float64})
    known = table["score"].notna().to_numpy()
    sign = next(iter(by_task.values())).manifest.sign
    places = np.full(len(table), np.nan)
    if known.any():
        places[known] = ranks(sign * table["score"].to_numpy()[known])
    table.insert(5, "rank", pd.Series(places).astype("Int64"))
    return table


def _team_row(
    node: Node, by_task: dict[str, Ranking], tables: dict[str, pd.DataFrame], team: str
) -> dict[str, Any]:
    missing = [task for task in node.weights if task not in tables or team not in tables[task].index]
    score = low = high = np.nan
    if not missing:
        values, lows, highs = (
            np.array([tables[task].at[team, name] for task in node.weights], dtype=np.float64)
            for name in ("score", "ci95_low", "ci95_high")
        )
        weights = np.array(list(node.weights.values()))
        score = float(weights @ values)
        if np.isfinite([lows, highs]).all():
            shared = correlate_shared([by_task[task].shared for task in node.weights], team)
            low, high = carry_interval(weights, values, lows, highs, shared)
    return {
        "node": node.name,
        "parent": node.parent,
        "depth": node.depth,
        "task": node.is_task,
        "team": team,
        "score": score,
        "ci95_low": low,
        "ci95_high": high,
        "letters": None,
        "missing": ", ".join(missing),
    }


def _judge_node(node: Node, by_task: dict[str, Ranking], rows: pd.DataFrame) -> pd.DataFrame | None:
    """Return the verdicts of the teams that have every task below a node; None where there is nothing to judge."""
    complete = [str(team) for team in rows.loc[rows["score"].notna(), "team"]]
    tasks = {task: by_task[task] for task in node.weights if task in by_task}
    if not 2 <= len(complete) <= MOST_TEAMS or any(one.moments is None for one in tasks.values()):
        return None
    if len(tasks) == 1:
        # The mean of one task is the task, and has its verdicts.
        return next(iter(tasks.values())).judgements
    moments = {task: one.moments.among(complete) for task, one in tasks.items() if one.moments is not None}
    shared = {task: one.shared for task, one in tasks.items() if one.shared is not None}
    found = fix_shared_tasks(moments, shared, node.weights)
    rules = next(iter(tasks.values())).rules
    return judge_ends(found, nu=rules.rope, alpha=rules.alpha)


def _describe_gaps(overall: Overall, by_task: dict[str, Ranking], root: pd.DataFrame) -> list[str]:
    """Name the tasks that nobody has, and those without an interval to carry up."""
    notes = []
    absent = [task for task in overall.leaves() if task not in by_task or by_task[task].table.empty]
    if absent:
        notes.append(f"There is no result on {_name(absent)}, so the nodes above have no score.")
    unknown = [
        task
        for task, one in by_task.items()
        if len(one.table) and one.table[["ci95_low", "ci95_high"]].isna().any(axis=None)
    ]
    if unknown:
        notes.append(f"{_name(unknown)} has no interval, so the nodes above have none either.")
    if root["score"].isna().all() and not absent:
        notes.append("Nobody has a result on every task, so nobody is ranked at the root.")
    return notes


def _name(tasks: Sequence[str]) -> str:
    more = f" and {len(tasks) - NAMED} more" if len(tasks) > NAMED else ""
    return ", ".join(tasks[:NAMED]) + more
