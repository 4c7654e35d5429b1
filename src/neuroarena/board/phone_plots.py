"""The forest plot for a phone: names stand above their bars, so that nothing has to be small or scrolled."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neuroarena.board.figures import label, mark_simulated, new_figure, place, style
from neuroarena.board.plots import FOREST_TEAMS, draw_scores, draw_units, mark_chance
from neuroarena.board.wording import interval_text, letters_text, rows_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from neuroarena.board.ranking import Ranking

WIDTH, ROW = 3.5, 0.5  # inches: what a phone of 390 points leaves between the margins
LONGEST_NAME = 31
STRIPES = ("#F1F3F6", "#FFFFFF")


def phone_forest(ranking: Ranking) -> Figure:
    """Draw the scores with their intervals, best at the top, each name above its bar and its units below."""
    table = ranking.table.head(FOREST_TEAMS)
    with style():
        figure = new_figure(WIDTH, 0.85 + ROW * len(table))
        axes = place(figure, 0.1, 0.5, 0.1, 0.35)
        for at in range(0, len(table), 2):
            axes.axhspan(at - 0.5, at + 0.5, color=STRIPES[0], zorder=0, lw=0)
        draw_units(axes, ranking, [str(team) for team in table["team"]], below=0.34)
        draw_scores(axes, table, above=-0.1)
        for at, row in enumerate(rows_of(table)):
            text = interval_text(row.score, row.ci95_low, row.ci95_high)
            letters = f"{letters_text(row.letters)} " if ranking.decides and not ranking.crowded else ""
            # On the colour of its row: the line at chance must not run through a name.
            behind = {"facecolor": STRIPES[at % 2], "edgecolor": "none", "pad": 1}
            for x, side, words in (
                (0.01, "left", label(row.team, LONGEST_NAME)),
                (0.99, "right", letters + text),
            ):
                axes.text(
                    x, at - 0.27, words, ha=side, va="center", fontsize=8.5, bbox=behind,
                    transform=axes.get_yaxis_transform(),
                )  # fmt: skip
        mark_chance(axes, ranking)
        axes.set_yticks([])
        axes.spines["left"].set_visible(False)
        axes.set_ylim(len(table) - 0.5, -0.5)
        axes.locator_params(axis="x", nbins=6)
        axes.set_xlabel(f"{ranking.metric_title} ({ranking.manifest.direction} is better)")
        axes.set_xlim(*_widened(axes.get_xlim()))
        if ranking.simulated:
            mark_simulated(figure)
    return figure


def _widened(limits: tuple[float, float]) -> tuple[float, float]:
    low, high = limits
    room = 0.03 * (high - low) if np.isfinite(high - low) else 0.0
    return low - room, high + room
