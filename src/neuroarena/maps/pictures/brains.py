"""Electrodes on the cortex: four views, and a film strip of time bins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from neuroarena.drawing import GREY, new_figure, place, style
from neuroarena.maps.pictures.scale import Scale, add_bar
from neuroarena.maps.pictures.surfaces import Side, View, describe_panel, project, render, shown_in

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PANELS: tuple[tuple[Side, View], ...] = (
    ("left", "lateral"),
    ("left", "medial"),
    ("right", "medial"),
    ("right", "lateral"),
)
_BAR = 1.15


def draw_brain(
    xyz: np.ndarray, values: np.ndarray, scale: Scale, significant: np.ndarray | None = None
) -> Figure:
    """Draw electrodes on fsaverage5 in four views.

    Parameters
    ----------
    xyz : array (electrodes, 3)
        MNI305, mm; rows with NaN are left out.
    values : array (electrodes,)
    scale : Scale
    significant : bool array (electrodes,), optional
        These get a black ring, and are larger.
    """
    with style():
        figure = new_figure(10.4, 2.45)
        width = (10.4 - _BAR) / 4
        for number, (side, view) in enumerate(PANELS):
            axes = place(figure, number * width, 0.25, 10.4 - (number + 1) * width, 0.3)
            _draw_panel(axes, side, view, xyz, values, scale, significant)
            axes.set_title(describe_panel(side, view), fontsize=8.5, fontweight="normal", loc="center")
        add_bar(figure, place(figure, 10.4 - _BAR + 0.2, 0.35, _BAR - 0.35, 0.4), scale)
        if significant is not None:
            figure.text(0.01, 0.02, "black ring: significant", fontsize=8, color=GREY)
    return figure


def draw_film(
    xyz: np.ndarray,
    values: np.ndarray,
    titles: Sequence[str],
    scale: Scale,
    significant: np.ndarray | None = None,
) -> Figure:
    """Draw a strip of panels, one column per time bin: the left hemisphere above, the right below.

    Parameters
    ----------
    xyz : array (electrodes, 3)
        MNI305, mm.
    values : array (electrodes, bins)
    titles : sequence of str
        One per bin.
    scale : Scale
        The same for all panels.
    significant : bool array (electrodes, bins), optional
    """
    sides: list[Side] = [side for side in ("left", "right") if shown_in(xyz, side, "lateral").any()] or [
        "left"
    ]
    per_row = min(7, len(titles))
    lines = -(-len(titles) // per_row)
    width, height = 1.32, 1.08
    strip = 0.28 + height * len(sides)
    whole = (per_row * width + _BAR, lines * strip + 0.25)
    with style():
        figure = new_figure(*whole)
        for number, title in enumerate(titles):
            line, column = divmod(number, per_row)
            for row, side in enumerate(sides):
                top = line * strip + 0.28 + row * height
                axes = place(
                    figure, column * width, whole[1] - top - height, whole[0] - (column + 1) * width, top
                )
                marks = None if significant is None else significant[:, number]
                _draw_panel(axes, side, "lateral", xyz, values[:, number], scale, marks, size=0.55)
                if row == 0:
                    axes.set_title(title, fontsize=7.5, fontweight="normal", loc="center", pad=2)
        tall = min(whole[1] - 0.5, 2.4)
        add_bar(
            figure, place(figure, whole[0] - _BAR + 0.2, whole[1] - 0.28 - tall, _BAR - 0.35, 0.28), scale
        )
        ring = "black ring: significant; " if significant is not None else ""
        shown = " and ".join(sides)
        figure.text(
            0.01, 0.01, f"{ring}{shown} hemisphere from the side, |x| > 15 mm", fontsize=7.5, color=GREY
        )
    return figure


def _draw_panel(
    axes: Axes,
    side: Side,
    view: View,
    xyz: np.ndarray,
    values: np.ndarray,
    scale: Scale,
    significant: np.ndarray | None,
    size: float = 1.0,
) -> None:
    image, extent = render(side, view)
    axes.imshow(image, extent=extent, interpolation="bilinear", aspect="equal")
    axes.axis("off")
    finite = np.isfinite(xyz).all(axis=1)
    rows = np.flatnonzero(finite & shown_in(np.nan_to_num(xyz), side, view))
    marked = np.zeros(len(values), dtype=bool) if significant is None else np.asarray(significant, dtype=bool)
    # High values, and those that are significant, last: they must not be covered.
    order = rows[np.lexsort((np.nan_to_num(values[rows], nan=-1.0), marked[rows]))]
    if not order.size:
        return
    across, up, _ = project(xyz[order], side, view)
    rings = np.where(marked[order], "#000000", "#ffffff00")
    # A scatter's size is an area in points.
    area = size * np.where(marked[order], 34.0, 17.0)
    axes.scatter(
        across, up, s=area, c=scale.colours(values[order]), edgecolors=list(rings), linewidths=0.9 * size**0.5
    )
