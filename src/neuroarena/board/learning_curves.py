"""Learning curves: how scores grow with the share of the training part, from rankings of the same task and split."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from neuroarena.board.figures import (
    GREY,
    Looks,
    assign_looks,
    label,
    mark_simulated,
    new_figure,
    place,
    style,
)
from neuroarena.board.ranking import Ranking

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHARE = re.compile(r"(?P<split>.+)-train-(?P<share>[0-9.e-]+)")
# In inches: the plot, and the room of axis labels and the legend.
WIDTH, HEIGHT, LEFT, BELOW, RIGHT, ABOVE = 6.4, 3.6, 0.7, 0.6, 1.9, 0.45


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """The scores of all teams on one task and split, by share of the training part.

    Attributes
    ----------
    title : str
    metric : str
        The heading of the scores.
    split : str
        Of the whole training part.
    table : DataFrame
        team, fraction, n_train (examples per fold, on average), score, ci95_low, ci95_high (NaN where there is no
        interval), seeds.
    chance : float or None
    simulated : bool
    """

    title: str
    metric: str
    split: str
    table: pd.DataFrame
    chance: float | None
    simulated: bool

    @property
    def teams(self) -> list[str]:
        """The teams, best on the largest share first."""
        # Rows of a share stand in the order of its ranking, whether a high score is good or a low one.
        last = self.table.sort_values("fraction", ascending=False, kind="stable")
        return list(dict.fromkeys(last["team"]))

    @property
    def alt_text(self) -> str:
        """The curve in words."""
        parts = []
        for team in self.teams:
            own = self.table[self.table["team"] == team]
            points = ", ".join(f"{row.score:.3f} of {row.fraction:g}" for row in own.itertuples())
            parts.append(f"{team}: {points}")
        return f"Learning curves, {self.title}: {'; '.join(parts)}."

    @property
    def caption(self) -> str:
        """What is drawn."""
        sized = self.table["n_train"].notna().all()
        drawn = has_interval(self.table)
        bars = (
            "Bars: 95 % interval over independent levels, with the noise of training and of the draw where there are "
            "several seeds"
        )
        if not drawn.any():
            bars = "No bars: too few independent levels for an interval"
        elif not drawn.all():
            bars += "; points without one have too few levels"
        return (
            f"Score by {'number of training examples per fold' if sized else 'share of the training part'}. Smaller "
            f"shares of the training part lie in larger ones and hold the same share of every class. {bars}."
        )


def has_interval(table: pd.DataFrame) -> pd.Series:
    """Return which rows of a curve's table have an interval to draw."""
    return table[["ci95_low", "ci95_high"]].notna().all(axis=1)


def learning_curves(rankings: Iterable[Ranking]) -> list[LearningCurve]:
    """Collect rankings of shares of the same training part; those of a single share are no curve."""
    groups: dict[tuple[str, str], list[tuple[float, Ranking]]] = {}
    for ranking in rankings:
        found = _SHARE.fullmatch(ranking.split)
        split, share = (found["split"], float(found["share"])) if found else (ranking.split, 1.0)
        groups.setdefault((ranking.benchmark, split), []).append((share, ranking))
    return [
        _join(split, sorted(parts, key=lambda part: part[0]))
        for (_, split), parts in groups.items()
        if len(parts) > 1
    ]


def _join(split: str, parts: list[tuple[float, Ranking]]) -> LearningCurve:
    rows: list[dict[str, Any]] = []
    for share, ranking in parts:
        sizes = {each["team"]: each for each in ranking.provenance.get("entries", ())}
        for row in ranking.table.to_dict(orient="records"):
            about = sizes.get(row["team"], {})
            rows.append(
                {
                    "team": str(row["team"]),
                    "fraction": share,
                    "n_train": about.get("n_train"),
                    "score": row["score"],
                    "ci95_low": row["ci95_low"],
                    "ci95_high": row["ci95_high"],
                    "seeds": about.get("seeds"),
                }
            )
    whole = parts[-1][1]
    title = f"{whole.benchmark}, {split}"
    simulated = any(ranking.simulated for _, ranking in parts)
    return LearningCurve(
        title, whole.metric_title, split, pd.DataFrame(rows), whole.manifest.chance, simulated
    )


def draw_curve(curve: LearningCurve, looks: Looks | None = None) -> Figure:
    """Draw a learning curve: a line for each team, with intervals.

    Parameters
    ----------
    curve : LearningCurve
    looks : dict, optional
        Colour and marker of each team, where other figures show them too.
    """
    looks = looks or assign_looks(curve.teams)
    with style():
        figure = new_figure(WIDTH, HEIGHT)
        axes = place(figure, LEFT, BELOW, RIGHT, ABOVE)
        sized = curve.table["n_train"].notna().all()
        column = "n_train" if sized else "fraction"
        for number, team in enumerate(curve.teams):
            own = curve.table[curve.table["team"] == team].sort_values(column)
            # Teams are moved apart a little, so that their bars do not hide each other.
            at = own[column].astype(float) * (1 + 0.02 * (number - (len(curve.teams) - 1) / 2))
            colour, marker = looks[team]
            axes.plot(at, own["score"], lw=1.4, ms=5, label=label(team), color=colour, marker=marker)
            bars = has_interval(own)
            axes.vlines(at[bars], own.loc[bars, "ci95_low"], own.loc[bars, "ci95_high"], color=colour, lw=1)
        if curve.chance is not None:
            axes.axhline(curve.chance, color=GREY, lw=0.8, ls=":")
            axes.annotate("chance", (1, curve.chance), (-2, 2), xycoords=("axes fraction", "data"),
                          textcoords="offset points", ha="right", color=GREY, fontsize=8)  # fmt: skip
        axes.set_xscale("log")
        ticks = sorted(set(curve.table[column].astype(float)))
        axes.set_xticks(ticks, [f"{tick:g}" if column == "fraction" else f"{tick:.0f}" for tick in ticks])
        axes.minorticks_off()
        axes.set_xlabel("training examples per fold" if sized else "share of the training part")
        axes.set_ylabel(curve.metric)
        axes.set_title(curve.title, fontsize=9)
        axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=8.5)
        if curve.simulated:
            mark_simulated(figure)
    return figure
