"""Plots of a suite: every task and split beside each other, decoders as colours."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from neuroarena.board.entries import BLIND_FLOORS
from neuroarena.board.figures import (
    COLOURS,
    GREY,
    Looks,
    assign_looks,
    label,
    mark_simulated,
    new_figure,
    style,
)
from neuroarena.board.wording import clean_name, interval_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from neuroarena.board.board import Board
    from neuroarena.board.ranking import Ranking

MOST_COLUMNS = 5
MOST_DOTS_A_TEAM = 120


def suite_figures(board: Board) -> list[tuple[str, Figure]]:
    """Draw the overview of each family that has several rankings."""
    families = list(dict.fromkeys(ranking.family for ranking in board.rankings))
    return [(family, suite_overview(board, family)) for family in families if len(panels(board, family)) > 1]


def panels(board: Board, family: str) -> list[Ranking]:
    """List the rankings of a family that have something to show, split by split, the overall one last."""
    splits = list(dict.fromkeys(ranking.split for ranking in board.rankings if ranking.family == family))
    return [
        ranking
        for split in splits
        for ranking in (*board.rankings, *board.overall)
        if (ranking.family, ranking.split) == (family, split) and len(ranking.table)
    ]


def suite_teams(board: Board, family: str) -> list[str]:
    """List the teams that get a colour, best first."""
    ranked = {str(team) for ranking in panels(board, family) for team in ranking.table["team"]}
    return [team for team in board.teams if team in ranked][: len(COLOURS)]


def board_looks(board: Board) -> Looks:
    """Return the colour and the marker of every team of a board: one look in all figures of a page."""
    floors = {
        str(team)
        for ranking in board.rankings
        for team, role in zip(ranking.table["team"], ranking.table["role"], strict=True)
        if role in BLIND_FLOORS
    }
    return assign_looks(board.teams, floors)


def suite_overview(board: Board, family: str) -> Figure:
    """Draw score and interval of each decoder on every task and split, single units as small dots.

    One panel per task and split; with more than five tasks, one panel per split with the tasks along it.
    """
    shown = panels(board, family)
    every = board_looks(board)
    looks = {team: every[team] for team in suite_teams(board, family)}
    by_split: dict[str, list[Ranking]] = {}
    for ranking in shown:
        by_split.setdefault(ranking.split, []).append(ranking)
    columns = max(len(own) for own in by_split.values())
    strips = columns > MOST_COLUMNS
    line, gap, head = (2.3, 0.45, 0.3) if strips else (1.75, 0.5, 0.2)
    legend = 0.27 * math.ceil((len(looks) + 1) / legend_columns(looks)) + (1.05 if strips else 0.35)
    width = 10.6 if strips else 1.05 + 2.2 * columns
    height = head + len(by_split) * (line + gap) + legend
    with style():
        figure = new_figure(width, height)
        limits = _limits(shown, list(looks))
        for number, own in enumerate(by_split.values()):
            bottom = (height - head - (number + 1) * (line + gap) + 0.15) / height
            if strips:
                axes: Any = figure.add_axes((0.8 / width, bottom, (width - 1.0) / width, line / height))
                _strip(axes, own, looks, limits, last=number == len(by_split) - 1)
                continue
            for column, ranking in enumerate(own):
                axes = figure.add_axes(((0.85 + 2.2 * column) / width, bottom, 2.0 / width, line / height))
                _panel(axes, ranking, looks, limits, first=column == 0)
        _legend(figure, looks, (legend - (0.75 if strips else 0.0)) / height)
        if any(ranking.simulated for ranking in shown):
            mark_simulated(figure)
    return figure


def _strip(axes: Any, own: list[Ranking], looks: Looks, limits: tuple[float, float], last: bool) -> None:
    """Draw the tasks of a split side by side on one pair of axes."""
    step = 0.76 / max(len(looks), 1)
    for at, ranking in enumerate(own):
        places = {team: at - 0.38 + step * (number + 0.3) for number, team in enumerate(looks)}
        _marks(axes, ranking, looks, places, dots=0.12 * step, beside=0.4 * step)
        if ranking.manifest.chance is not None:
            axes.hlines(ranking.manifest.chance, at - 0.48, at + 0.48, color="black", ls=(0, (4, 3)), lw=1)
        if at % 2 == 0:
            axes.axvspan(at - 0.5, at + 0.5, color="#F4F6F8", lw=0, zorder=0)
    names = ["overall" if one.kind == "overall" else label(one.task, 22) for one in own]
    axes.set_xticks(
        range(len(own)), names if last else [""] * len(own), rotation=35, ha="right", rotation_mode="anchor"
    )
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.5, len(own) - 0.5)
    axes.set_ylim(*limits)
    axes.set_title(own[0].split)
    axes.set_ylabel(own[0].metric_title)


def _marks(
    axes: Any,
    ranking: Ranking,
    looks: Looks,
    places: dict[str, float],
    dots: float,
    beside: float,
    size: float = 4,
) -> None:
    """Draw score, interval and units of each team at its place; the dots `beside` it, spread by `dots`."""
    rows = ranking.table.set_index("team")
    for team, x in places.items():
        if team not in rows.index:
            continue
        row, (colour, marker) = rows.loc[team], looks[team]
        values = ranking.unit_scores[team].to_numpy()
        if 1 < len(values) <= MOST_DOTS_A_TEAM:
            # A fixed spread instead of a random one: the same board is the same picture.
            spread = 2 * dots * (((np.arange(len(values)) * 0.618034) % 1.0) - 0.5)
            axes.plot(x + beside + spread, values, ".", color=colour, ms=size, alpha=0.5, mew=0, zorder=2)
        axes.plot([x, x], [row["ci95_low"], row["ci95_high"]], color=colour, lw=2, zorder=3)
        axes.plot([x], [row["score"]], marker, color=colour, ms=6.5, mec="white", mew=0.7, zorder=4)


def _panel(axes: Any, ranking: Ranking, looks: Looks, limits: tuple[float, float], first: bool) -> None:
    places = {team: at - 0.15 for at, team in enumerate(looks)}
    _marks(axes, ranking, looks, places, dots=0.09, beside=0.35, size=6)
    if ranking.manifest.chance is not None:
        axes.axhline(ranking.manifest.chance, color="black", ls=(0, (4, 3)), lw=1, zorder=1)
    axes.set_xlim(-0.7, len(looks) - 0.3)
    axes.set_ylim(*limits)
    axes.set_xticks([])
    axes.grid(axis="y", color="#E3E6EA", lw=0.7, zorder=0)
    axes.set_axisbelow(True)
    overall = ranking.kind == "overall"
    axes.set_title("overall" if overall else label(ranking.task, 22), color=GREY if overall else "black")
    if overall:
        axes.set_facecolor("#F6F7F9")
    if first:
        axes.set_ylabel(f"{ranking.split}\n{ranking.metric_title}")
    else:
        axes.set_yticklabels([])


def _limits(shown: list[Ranking], teams: list[str]) -> tuple[float, float]:
    values: list[float] = []
    for ranking in shown:
        own = [team for team in teams if team in ranking.unit_scores.columns]
        table = ranking.table[ranking.table["team"].isin(own)]
        values += table[["score", "ci95_low", "ci95_high"]].to_numpy(dtype=float).ravel().tolist()
        if ranking.n_units <= MOST_DOTS_A_TEAM:
            values += ranking.unit_scores[own].to_numpy().ravel().tolist()
        values += [] if ranking.manifest.chance is None else [ranking.manifest.chance]
    known = [value for value in values if math.isfinite(value)]
    room = 0.05 * (max(known) - min(known)) or 0.05
    return min(known) - room, max(known) + room


def legend_columns(looks: Looks) -> int:
    """Return how many names fit next to each other."""
    longest = max(len(team) for team in looks)
    return 3 if longest <= 30 else 2 if longest <= 45 else 1


def _legend(figure: Figure, looks: Looks, height: float) -> None:
    from matplotlib.lines import Line2D

    marks = [
        Line2D([], [], color=colour, marker=marker, ms=6.5, lw=2, mec="white", label=label(team, 60))
        for team, (colour, marker) in looks.items()
    ]
    marks.append(Line2D([], [], color="black", ls=(0, (4, 3)), lw=1, label="chance level"))
    figure.legend(
        handles=marks,
        loc="upper center",
        bbox_to_anchor=(0.5, height),
        ncols=legend_columns(looks),
        frameon=False,
        fontsize=8.5,
    )


def suite_caption(board: Board, family: str) -> str:
    """Describe what the overview shows, and what it leaves out."""
    ranked = {str(team) for ranking in panels(board, family) for team in ranking.table["team"]}
    of = f" The best {len(COLOURS)} of {len(ranked)} teams." if len(ranked) > len(COLOURS) else ""
    bounds = " with 95 % interval" if any(one.decides for one in panels(board, family)) else ""
    return f"Score{bounds} on each task and split; small dots: single units; dashed: chance.{of}"


def suite_alt_text(board: Board, family: str) -> str:
    """Describe the overview for readers who cannot see it."""
    parts = []
    for ranking in panels(board, family):
        top = ranking.table.iloc[0]
        score = interval_text(top["score"], top["ci95_low"], top["ci95_high"])
        parts.append(f"{ranking.task}, {ranking.split}: {clean_name(top['team'])} leads with {score}")
    simulated = " Simulated data." if any(ranking.simulated for ranking in panels(board, family)) else ""
    return f"Scores of {family} by task and split.{simulated} {'; '.join(parts)}."
