"""The Neuroprobe paper's figure: one bar per model and task with its standard error, one panel per split."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from neuroarena.board.figures import COLOURS, GREY, label, mark_simulated, new_figure, style
from neuroarena.board.wording import clean_name, rows_of, score_text
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.paper import OVERALL, Paper
from neuroarena.families.neuroprobe.submission_checks import SPLIT_FOLDERS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# When the colours run out, they repeat with a hatch: colour is never the only mark of a model.
HATCHES = ("", "////", "....")
MOST_MODELS = len(COLOURS) * len(HATCHES)
WIDTH, GAP, HEAD, LABELS = 13.0, 0.42, 0.35, 0.92
# Inches per tenth of AUROC: the same in every panel, so that splits can be compared by eye.
TENTH, LOWEST_PANEL = 0.62, 1.1
GROUP, LONGEST_NAME = 0.84, 80
# The overall bars are set apart from the tasks.
APART = 0.35
CHANCE = 0.5


def shown_models(paper: Paper) -> list[str]:
    """List the models that get bars, best first; chance and dummy are the line the bars stand on."""
    roles = paper.table.drop_duplicates("team").set_index("team")["role"]
    learned = [team for team in paper.teams if roles[team] not in ("chance", "dummy")]
    return (learned or list(paper.teams))[:MOST_MODELS]


def paper_figure(paper: Paper) -> Figure:
    """Draw mean and standard error of each model on each task, one panel per split.

    Raises
    ------
    InputError
        When no model has scores.
    """
    models = shown_models(paper)
    if not models:
        raise InputError("No model can be ranked, so there is nothing to draw.")
    columns = _legend_columns(models)
    legend = 0.235 * math.ceil((len(models) + 2) / columns) + 0.12
    limits = [_limits(paper.of_split(split), models, _chance(paper, split)) for split in paper.splits]
    panels = [max(LOWEST_PANEL, TENTH * 10 * (high - low)) for low, high in limits]
    height = HEAD + sum(panels) + GAP * (len(panels) - 1) + LABELS + legend
    with style():
        figure = new_figure(WIDTH, height)
        top = height - HEAD
        for split, own, bounds in zip(paper.splits, panels, limits, strict=True):
            place = (0.68 / WIDTH, (top - own) / height, (WIDTH - 0.83) / WIDTH, own / height)
            axes = figure.add_axes(place)
            _panel(axes, paper, split, models, last=split == paper.splits[-1])
            axes.set_ylim(*bounds)
            axes.yaxis.set_major_locator(_every_tenth())
            top -= own + GAP
        _legend(figure, models, columns, legend / height)
        if paper.board.simulated:
            mark_simulated(figure)
    return figure


def _every_tenth() -> Any:
    from matplotlib.ticker import MultipleLocator

    return MultipleLocator(0.1)


def _look(at: int) -> dict[str, Any]:
    return {
        "facecolor": COLOURS[at % len(COLOURS)],
        "hatch": HATCHES[at // len(COLOURS)],
        "edgecolor": "white",
        "linewidth": 0.4,
    }


def _panel(axes: Any, paper: Paper, split: str, models: list[str], last: bool) -> None:
    rows = paper.of_split(split)
    tasks = list(dict.fromkeys(rows["task"]))
    titles = rows.drop_duplicates("task").set_index("task")["title"]
    places = {task: at + (APART if task == OVERALL else 0.0) for at, task in enumerate(tasks)}
    chance = _chance(paper, split)
    width = GROUP / len(models)
    for number, place in enumerate(places.values()):
        if number % 2 == 0:
            axes.axvspan(place - 0.5, place + 0.5, color="#F4F6F8", lw=0, zorder=0)
    for at, model in enumerate(models):
        own = rows[rows["team"] == model]
        x = np.array([places[task] - GROUP / 2 + width * (at + 0.5) for task in own["task"]])
        mean, sem = own["mean"].to_numpy(), own["sem"].to_numpy()
        # Bars start at chance: their length is what a model knows.
        axes.bar(x, mean - chance, width * 0.94, bottom=chance, zorder=2, **_look(at))
        # A white edge keeps the whisker visible on dark bars.
        for colour, line in (("white", 2.2), ("#222222", 0.9)):
            whisker = {"ecolor": colour, "elinewidth": line, "capthick": line, "capsize": _cap(width)}
            axes.errorbar(x, mean, yerr=sem, fmt="none", zorder=3, **whisker)
        _mark_best(axes, own, x, np.maximum(mean + sem, chance))
    axes.axhline(chance, color="black", lw=1, ls=(0, (4, 3)), zorder=4)
    axes.grid(axis="y", color="#DFE3E8", lw=0.6, zorder=1)
    axes.set_axisbelow(True)
    names = [label(titles[task], 22) for task in tasks]
    axes.set_xticks(list(places.values()), names if last else [""] * len(tasks))
    for text, task in zip(axes.get_xticklabels(), tasks, strict=True):
        text.set(
            rotation=32,
            ha="right",
            rotation_mode="anchor",
            fontweight="bold" if task == OVERALL else "normal",
        )
    axes.tick_params(axis="x", length=0)
    axes.set_xlim(-0.55, max(places.values()) + 0.55)
    axes.set_ylabel("AUROC")
    sessions = rows["n_sessions"].max()
    axes.set_title(SPLIT_FOLDERS.get(split, split), pad=5)
    about = f"{sessions} sessions"
    axes.text(1, 1.02, about, transform=axes.transAxes, ha="right", va="bottom", fontsize=8.5, color=GREY)


def _cap(width: float) -> float:
    return max(0.8, min(2.5, 10 * width))


def _mark_best(axes: Any, own: pd.DataFrame, x: np.ndarray, top: np.ndarray) -> None:
    """Put a dot over the models that cannot be distinguished from the best of a task."""
    best = own["first_group"].to_numpy(dtype=bool)
    look = {"color": "black", "ms": 3.2, "mew": 0, "ls": "none", "zorder": 5}
    if best.any():
        axes.plot(x[best], top[best] + 0.014, "o", **look)


def _chance(paper: Paper, split: str) -> float:
    known = {one.manifest.chance for one in paper.board.rankings if one.split == split}
    return known.pop() or CHANCE if len(known) == 1 else CHANCE


def _limits(rows: pd.DataFrame, models: list[str], chance: float) -> tuple[float, float]:
    own = rows[rows["team"].isin(models)]
    low = float(min((own["mean"] - own["sem"]).min(), chance))
    high = float(max((own["mean"] + own["sem"]).max(), chance))
    # Room for the dots above and for a line below chance.
    return low - 0.015, high + 0.035


def _legend_columns(models: list[str]) -> int:
    longest = max(len(label(model, LONGEST_NAME)) for model in models)
    return 4 if longest <= 28 else 3 if longest <= 44 else 2


def _legend(figure: Figure, models: list[str], columns: int, height: float) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    marks: list[Any] = [
        Patch(label=label(model, LONGEST_NAME), **_look(at)) for at, model in enumerate(models)
    ]
    marks.append(Line2D([], [], color="black", lw=1, ls=(0, (4, 3)), label="chance"))
    marks.append(
        Line2D(
            [],
            [],
            color="black",
            marker="o",
            ms=3.2,
            mew=0,
            ls="none",
            label="the best of a task, or not distinguishable from it",
        )
    )
    figure.legend(
        handles=marks, loc="upper center", bbox_to_anchor=(0.5, height), ncols=columns, frameon=False, fontsize=9,
        handlelength=1.6, columnspacing=2.0,
    )  # fmt: skip


def figure_caption(paper: Paper) -> str:
    """Describe what the figure shows, and what it leaves out."""
    left_out = len(paper.teams) - len(shown_models(paper))
    of = f"{left_out} of {len(paper.teams)} models"
    more = f" Left out, for room or because they only guess: {of}." if left_out else ""
    return (
        "Bars start at the chance level (dashed). Whiskers: standard error over sessions. "
        "A dot: not distinguishable from "
        f"the best model of the task (tie group A).{more}"
    )


def figure_text(paper: Paper) -> str:
    """Describe the figure for readers who cannot see it."""
    parts = []
    for split in paper.splits:
        rows = paper.of_split(split)
        whole = rows[rows["task"] == OVERALL]
        said = [
            f"{clean_name(row.team)} {score_text(row.mean)} ± {score_text(row.sem)}"
            for row in rows_of(whole.sort_values("rank").head(6))
        ]
        parts.append(f"{SPLIT_FOLDERS.get(split, split)}, overall: {'; '.join(said) or 'no overall score'}")
    mark = " Simulated data." if paper.board.simulated else ""
    return f"Bars of AUROC by model and task, with standard errors.{mark} {'. '.join(parts)}."
