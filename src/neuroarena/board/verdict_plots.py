"""Plots of verdicts: differences with the interval at which they were judged, and groups that share a letter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from neuroarena.board.figures import (
    COLOURS,
    ENTRY,
    GREY,
    heading,
    label,
    label_width,
    mark_simulated,
    new_figure,
    place,
    style,
)
from neuroarena.board.ranking import Ranking, plain_pairs
from neuroarena.board.wording import rows_of
from neuroarena.errors import InputError
from neuroarena.statistics import critical_groups
from neuroarena.statistics.verdicts import BETTER, EQUIVALENT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from neuroarena.board.board import Board

MOST_TEAMS = 40
LOOKS = {BETTER: ENTRY, EQUIVALENT: COLOURS[2]}


def difference_plot(ranking: Ranking) -> Figure:
    """Draw how far each team is behind the leader: 95 % interval thin, the interval at which it was judged thick."""
    rows = ranking.judgements
    leader = ranking.table["team"].iloc[0]
    pairs = plain_pairs(rows[rows["a"] == leader]).head(MOST_TEAMS)
    names = [label(team) for team in pairs["team_c"]]
    with style():
        figure = new_figure(9.2, 1.3 + 0.3 * len(pairs))
        axes = place(figure, label_width(names), 0.6, 0.3, 0.6)
        for at, row in enumerate(rows_of(pairs)):
            colour = LOOKS.get(row.verdict, GREY)
            _interval(axes, at, (row.judged_low, row.judged_high), color=colour, lw=4, alpha=0.45, zorder=2)
            _interval(axes, at, (row.ci95_low, row.ci95_high), color=colour, lw=1.4, zorder=3)
            axes.plot([row.delta], [at], "o", color=colour, ms=5.5, mec="white", mew=0.7, zorder=4)
        axes.axvline(0, color="black", lw=1, zorder=1)
        axes.set_yticks(np.arange(len(pairs)), names)
        axes.tick_params(axis="y", length=0)
        axes.set_ylim(len(pairs) - 0.4, -0.6)
        axes.set_xlabel(f"behind {label(leader)} ({ranking.metric_title})")
        heading(figure, "How far behind the leader?")
        if ranking.simulated:
            mark_simulated(figure)
    return figure


def _interval(axes: Any, y: float, ends: tuple[float, float], **look: Any) -> None:
    """Draw an interval; an unbounded one goes from one edge of the plot to the other."""
    if np.isfinite(ends).all():
        axes.hlines(y, *ends, **look)
    else:
        axes.axhline(y, **look)


def group_plot(ranking: Ranking) -> Figure:
    """Draw the scores on one axis, and a bar over each group of teams of which none is better than another."""
    table = ranking.table.head(MOST_TEAMS)
    teams = [str(team) for team in table["team"]]
    scores = dict(zip(teams, table["score"].astype(float), strict=True))
    groups = [[team for team in group if team in scores] for group in ranking.groups]
    higher = ranking.manifest.direction == "higher"
    title = "Which teams belong together?"
    figure = _diagram(
        scores, [group for group in groups if len(group) > 1], ranking.metric_title, title, higher
    )
    if ranking.simulated:
        mark_simulated(figure)
    return figure


def classical_diagram(board: Board, family: str, split: str) -> Figure:
    """Draw the classical critical-difference diagram of a suite: mean ranks over tasks (Demsar 2006).

    It is drawn on request; boards conclude from their verdicts.

    Raises
    ------
    InputError
        When fewer than two teams stand on all tasks.
    """
    tasks = [one for one in board.rankings if (one.family, one.split) == (family, split) and len(one.table)]
    columns = {
        one.task: pd.Series(one.manifest.sign * one.table["score"].to_numpy(float), index=one.table["team"])
        for one in tasks
    }
    table = pd.DataFrame(columns).dropna().T
    if min(table.shape, default=0) < 2:
        raise InputError(f"{family}, {split}: a critical difference needs two teams on at least two tasks.")
    ranks, difference, groups = critical_groups(table, board.rules.alpha)
    title = f"Mean rank over {len(table)} tasks, critical difference {difference:.2f}"
    figure = _diagram(dict(ranks), groups, "mean rank", title, higher=False)
    if board.simulated:
        mark_simulated(figure)
    return figure


def _diagram(
    scores: dict[str, float], groups: list[list[str]], axis: str, title: str, higher: bool
) -> Figure:
    """Draw an axis with one labelled tick per team, best at the left, and a bar per group."""
    teams = list(scores)
    names = [label(team) for team in teams]
    half = (len(teams) + 1) // 2
    bars, line = 0.16 * len(groups), 0.26
    left, right = label_width(names[:half]), label_width(names[half:])
    height = 1.35 + bars + line * half
    with style():
        figure = new_figure(max(7.0, 3.6 + left + right), height)
        axes = place(figure, left, 0.2, right, 0.85)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        for name in ("left", "right", "bottom"):
            axes.spines[name].set_visible(False)
        axes.spines["top"].set_visible(True)
        axes.set_yticks([])
        axes.set_ylim(height - 1.05, 0)
        low, high = min(scores.values()), max(scores.values())
        room = 0.06 * (high - low) or 0.05
        limits = (low - room, high + room)
        axes.set_xlim(*(limits[::-1] if higher else limits))
        for at, group in enumerate(groups):
            _bar(axes, 0.12 + 0.16 * at, [scores[team] for team in group], _skips(teams, group))
        for at, team in enumerate(teams):
            first = at < half
            y = bars + line * ((at if first else len(teams) - 1 - at) + 1)
            edge = axes.get_xlim()[0 if first else 1]
            axes.plot([scores[team], scores[team], edge], [0, y, y], color=GREY, lw=0.9, zorder=1)
            axes.annotate(
                names[at], (edge, y), xytext=(-4 if first else 4, 0), textcoords="offset points",
                ha="right" if first else "left", va="center", fontsize=9, annotation_clip=False,
            )  # fmt: skip
        axes.set_xlabel(axis)
        heading(figure, title)
    return figure


def _bar(axes: Any, y: float, values: list[float], dashed: bool) -> None:
    axes.plot(
        [min(values), max(values)], [y, y], color=ENTRY, lw=3.5, ls=(0, (1.5, 0.7)) if dashed else "-",
        solid_capstyle="round", zorder=3,
    )  # fmt: skip


def _skips(teams: list[str], group: list[str]) -> bool:
    """Return whether a group leaves out a team that stands between its members."""
    at = [teams.index(team) for team in group]
    return at[-1] - at[0] + 1 > len(at)
