"""Charts of maps: time courses, the order of tasks, matrices, and statistics of films."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neuroarena.drawing import COLOURS, GREY, SIMULATED, new_figure, place, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_curves(
    centres_s: np.ndarray,
    curves: np.ndarray,
    errors: np.ndarray,
    names: Sequence[str],
    thresholds: Sequence[float] | None = None,
    peaks_s: Sequence[float] | None = None,
    planted_s: Sequence[float] | None = None,
    axis_label: str = "centre of the window, s from the event",
) -> Figure:
    """Draw one time course per task, all on one scale.

    Parameters
    ----------
    centres_s : array (bins,)
    curves, errors : arrays (tasks, bins)
        Mean AUROC and its standard error.
    names : sequence of str
    thresholds : sequence of float, optional
        95 % null of the highest bin of each curve: dashed; bins above it are marked.
    peaks_s : sequence of float, optional
        NaN where the peak is not resolved.
    planted_s : sequence of float, optional
        The truth of a simulation, NaN where nothing was planted.
    axis_label : str
    """
    columns = min(4, len(names))
    lines = -(-len(names) // columns)
    width, height = 2.45, 1.75
    whole = (columns * width + 0.75, lines * height + 0.42)
    known = [np.nanmin(curves - errors), np.nanmax(curves + errors), 0.5, *(thresholds or ())]
    low, high = float(np.nanmin(known)), float(np.nanmax(known))
    room = 0.08 * (high - low)
    # What is written above a curve must not lie on its band.
    above_all = 2.6 * room if peaks_s is not None and not np.isfinite(peaks_s).all() else room
    with style():
        figure = new_figure(*whole)
        for number, name in enumerate(names):
            line, column = divmod(number, columns)
            axes = place(
                figure,
                0.7 + column * width,
                whole[1] - (line + 1) * height + 0.12,
                whole[0] - 0.7 - (column + 1) * width + 0.25,
                line * height + 0.3,
            )
            _draw_curve(axes, centres_s, curves[number], errors[number])
            if thresholds is not None and np.isfinite(thresholds[number]):
                axes.axhline(thresholds[number], color=GREY, linewidth=0.8, linestyle="--")
                above = curves[number] > thresholds[number]
                axes.plot(
                    centres_s[above], np.full(above.sum(), low - room / 3), "s", markersize=3, color="#000000"
                )
            if planted_s is not None and np.isfinite(planted_s[number]):
                axes.axvline(planted_s[number], color=SIMULATED, linewidth=1.0)
            if peaks_s is not None:
                _mark_peak(axes, peaks_s[number], centres_s, curves[number])
            axes.set_ylim(low - room, high + above_all)
            axes.set_xlim(centres_s[0] - 0.05, centres_s[-1] + 0.05)
            axes.set_title(name, fontsize=9)
            if column:
                axes.set_yticklabels([])
            if number + columns < len(names):
                axes.set_xticklabels([])
        figure.text(0.08 / whole[0], 0.5, "AUROC (0.5 is chance)", rotation=90, va="center", fontsize=9)
        figure.text(0.7 / whole[0], 0.08 / whole[1], axis_label, fontsize=9)
    return figure


def _draw_curve(axes: Any, centres: np.ndarray, curve: np.ndarray, error: np.ndarray) -> None:
    axes.axhline(0.5, color="#bbbbbb", linewidth=0.8)
    axes.axvline(0.0, color="#bbbbbb", linewidth=0.8)
    axes.fill_between(centres, curve - error, curve + error, color=COLOURS[0], alpha=0.25, linewidth=0)
    axes.plot(centres, curve, color=COLOURS[0], linewidth=1.4)


def _mark_peak(axes: Any, peak_s: float, centres: np.ndarray, curve: np.ndarray) -> None:
    if not np.isfinite(peak_s):
        axes.text(
            *(0.99, 0.99, "peak not resolved"),
            transform=axes.transAxes,
            ha="right",
            va="top",
            fontsize=7,
            color=GREY,
        )
        return
    axes.plot(peak_s, np.interp(peak_s, centres, curve), "o", markersize=4.5, color=COLOURS[1])


def draw_ranking(
    names: Sequence[str],
    peaks_s: np.ndarray,
    bounds_s: np.ndarray,
    before: np.ndarray,
    planted_s: Sequence[float] | None = None,
    limits_s: tuple[float, float] = (-0.5, 1.5),
    axis_label: str = "peak of the time course, s from the event",
) -> Figure:
    """Draw the order of tasks: peaks with intervals, and the probability that one comes before another.

    Parameters
    ----------
    names : sequence of str
        In the order in which they are shown; unresolved ones last.
    peaks_s : array (tasks,)
        NaN where the peak is not resolved.
    bounds_s : array (tasks, 2)
        Interval of each.
    before : array (tasks, tasks)
        Probability that the row's peak comes before the column's; NaN where one is not resolved.
    planted_s : sequence of float, optional
    limits_s : pair of float
    axis_label : str
    """
    left = 0.3 + 0.075 * max(map(len, names))
    resolved = [row for row in range(len(names)) if np.isfinite(peaks_s[row])]
    ordered = len(resolved) > 1
    side = max(1.6, 0.34 * len(resolved)) if ordered else 0.0
    # Without an order there is no second panel, and no room is left for one.
    height = max(side + 1.2 if ordered else 1.4, 0.8 + 0.26 * len(names))
    whole = (left + 4.0 + (0.6 + left + side + 1.0 if ordered else 0.25), height)
    with style():
        figure = new_figure(*whole)
        axes = place(figure, left, 0.55, whole[0] - left - 4.0, 0.25)
        places = range(len(names))
        for row in places:
            if not np.isfinite(peaks_s[row]):
                axes.text(limits_s[0], row, " not resolved", va="center", fontsize=8, color=GREY)
                continue
            axes.plot(
                bounds_s[row], [row, row], color=COLOURS[0], linewidth=3, alpha=0.5, solid_capstyle="butt"
            )
            axes.plot(peaks_s[row], row, "o", color="#000000", markersize=5)
            if planted_s is not None and np.isfinite(planted_s[row]):
                axes.plot([planted_s[row]] * 2, [row - 0.32, row + 0.32], color=SIMULATED, linewidth=1.6)
        axes.axvline(0.0, color="#bbbbbb", linewidth=0.8)
        axes.set_yticks(places, list(names))
        axes.set_ylim(len(names) - 0.5, -0.5)
        axes.set_xlim(*limits_s)
        axes.set_xlabel(axis_label)
        if ordered:
            _draw_order(
                figure,
                whole,
                left,
                side,
                [names[row] for row in resolved],
                before[np.ix_(resolved, resolved)],
            )
    return figure


def _draw_order(
    figure: Figure, whole: tuple[float, float], left: float, side: float, names: list[str], before: np.ndarray
) -> None:
    start = left + 4.0 + 0.6 + left
    axes = place(figure, start, whole[1] - 0.25 - side, whole[0] - start - side, 0.25)
    picture = axes.imshow(before, vmin=0, vmax=1, cmap="PuOr_r", aspect="auto")
    _write_cells(axes, before, "{:.2f}", 7.5 if len(names) < 9 else 6)
    axes.set_xticks(range(len(names)), names, rotation=45, ha="right", fontsize=8)
    axes.set_yticks(range(len(names)), names, fontsize=8)
    bar = figure.colorbar(
        picture,
        cax=place(figure, start + side + 0.12, whole[1] - 0.25 - side, whole[0] - start - side - 0.24, 0.25),
    )
    bar.set_label("P(row before column)", fontsize=8)


def _write_cells(axes: Any, values: np.ndarray, form: str, size: float) -> None:
    low, high = axes.images[0].get_clim() if axes.images else (0.0, 1.0)
    for row, column in np.ndindex(values.shape):
        value = values[row, column]
        if not np.isfinite(value):
            continue
        colour = axes.images[0].cmap((value - low) / (high - low + 1e-12))
        # Luminance of the cell (Rec. 601) decides whether its text is dark or light.
        dark = 0.299 * colour[0] + 0.587 * colour[1] + 0.114 * colour[2] < 0.5
        axes.text(
            column,
            row,
            form.format(value),
            ha="center",
            va="center",
            fontsize=size,
            color="white" if dark else "black",
        )


def draw_matrix(
    values: np.ndarray,
    rows: Sequence[str],
    columns: Sequence[str],
    label: str,
    limits: tuple[float, float],
    form: str = "{:.2f}",
) -> Figure:
    """Draw a matrix with its numbers: correlations (around zero) in two colours, shares and counts in one.

    Parameters
    ----------
    values : array (rows, columns)
        NaN is left white.
    rows, columns : sequences of str
    label : str
        Quantity and unit, for the bar.
    limits : pair of float
        The ends of the bar.
    form : str
        How a number is written.
    """
    left, below = (0.3 + 0.078 * max(map(len, names)) for names in (rows, columns))
    cell = 0.44
    # High enough for the label of the bar: beside two rows it would reach what stands above.
    wide, high = max(1.2, cell * len(columns)), max(0.9, 0.3 * len(rows), 0.062 * len(label))
    whole = (left + wide + 1.15, high + max(below * 0.66, 0.4) + 0.34)
    with style():
        figure = new_figure(*whole)
        axes = place(figure, left, whole[1] - 0.34 - high, 1.15, 0.34)
        colormap = "PuOr_r" if limits[0] < 0 else "viridis"
        picture = axes.imshow(values, vmin=limits[0], vmax=limits[1], cmap=colormap, aspect="auto")
        _write_cells(axes, values, form, 6.5)
        axes.set_xticks(range(len(columns)), list(columns), rotation=45, ha="right", fontsize=8)
        axes.set_yticks(range(len(rows)), list(rows), fontsize=8)
        bar = figure.colorbar(
            picture, cax=place(figure, left + wide + 0.15, whole[1] - 0.34 - high, 0.86, 0.34)
        )
        bar.set_label(label, fontsize=8)
    return figure


def draw_film_volume(
    minutes: np.ndarray, volume: np.ndarray, low: float, high: float, title: str, unit: str
) -> Figure:
    """Draw a feature of words over a film, with its outer quartiles marked.

    Parameters
    ----------
    minutes, volume : arrays (words,)
    low, high : float
        Quartiles: words below and above are the two classes.
    title, unit : str
    """
    with style():
        figure = new_figure(9.0, 2.4)
        axes = place(figure, 0.8, 0.55, 0.3, 0.35)
        for rows, colour, name in (
            (volume <= low, COLOURS[4], "lowest quarter"),
            ((volume > low) & (volume < high), "#bbbbbb", "not used"),
            (volume >= high, COLOURS[0], "highest quarter"),
        ):
            axes.plot(minutes[rows], volume[rows], ".", markersize=2.2, color=colour, label=name)
        axes.axhline(low, color=GREY, linewidth=0.7, linestyle="--")
        axes.axhline(high, color=GREY, linewidth=0.7, linestyle="--")
        axes.set_xlabel("minutes of the film")
        axes.set_ylabel(unit)
        axes.set_title(title)
        axes.legend(
            loc="lower right", bbox_to_anchor=(1.0, 1.0), ncol=3, fontsize=8, frameon=False, markerscale=4
        )
    return figure


def draw_counts(names: Sequence[str], counts: np.ndarray, x_label: str, y_label: str, title: str) -> Figure:
    """Draw counts as bars with their numbers."""
    with style():
        figure = new_figure(max(3.6, 0.55 * len(names) + 1.2), 2.6)
        axes = place(figure, 0.85, 0.55, 0.25, 0.4)
        axes.bar(range(len(names)), counts, color=COLOURS[0], width=0.7)
        for place_, count in enumerate(counts):
            axes.text(place_, count, f"{count:,.0f}", ha="center", va="bottom", fontsize=7.5)
        axes.set_ylim(0, 1.12 * max(1.0, float(np.max(counts))))
        axes.set_xticks(range(len(names)), list(names))
        axes.set_xlabel(x_label)
        axes.set_ylabel(y_label)
        axes.set_title(title)
    return figure
