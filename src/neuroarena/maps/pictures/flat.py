"""Electrodes that are in no template: three views of a person's own space, and topographies of the scalp."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from neuroarena.drawing import GREY, new_figure, place, style
from neuroarena.errors import MissingDependency
from neuroarena.maps.pictures.scale import Scale, add_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Title, axes and their names: how the three views look at a space of right, front, up.
_VIEWS = (
    ("from above", 0, 1, "x, mm (right)", "y, mm (front)"),
    ("from the front", 0, 2, "x, mm (right)", "z, mm (up)"),
    ("from the right", 1, 2, "y, mm (front)", "z, mm (up)"),
)


def draw_subject_space(
    xyz: np.ndarray, values: np.ndarray | None, scale: Scale | None, significant: np.ndarray | None = None
) -> Figure:
    """Draw electrodes in a person's own space, three views in mm; positions alone without values.

    Parameters
    ----------
    xyz : array (electrodes, 3)
        mm; rows with NaN are left out.
    values : array (electrodes,), optional
    scale : Scale, optional
    significant : bool array (electrodes,), optional
    """
    rows = np.flatnonzero(np.isfinite(xyz).all(axis=1))
    if values is not None:
        rows = rows[np.argsort(np.nan_to_num(values[rows], nan=-1.0))]
    middle = (xyz[rows].min(axis=0) + xyz[rows].max(axis=0)) / 2
    half = max(20.0, float(np.ptp(xyz[rows], axis=0).max()) / 2 + 6)
    marked = np.zeros(len(xyz), dtype=bool) if significant is None else np.asarray(significant, dtype=bool)
    colours = "#0072B2" if values is None or scale is None else scale.colours(values[rows])
    with style():
        figure = new_figure(10.4, 3.5)
        for number, (title, across, up, x_name, y_name) in enumerate(_VIEWS):
            axes = place(figure, 0.75 + number * 3.05, 0.6, 10.4 - 0.75 - number * 3.05 - 2.3, 0.6)
            axes.scatter(
                xyz[rows, across],
                xyz[rows, up],
                s=np.where(marked[rows], 34.0, 15.0),
                c=colours,
                edgecolors=["#000000" if mark else "#ffffff00" for mark in marked[rows]],
                linewidths=0.9,
            )
            axes.set_xlim(middle[across] - half, middle[across] + half)
            axes.set_ylim(middle[up] - half, middle[up] + half)
            axes.set_aspect("equal")
            axes.set_title(title, fontsize=9, fontweight="normal", loc="center")
            axes.set_xlabel(x_name)
            axes.set_ylabel(y_name, labelpad=1)
        if scale is not None and values is not None:
            add_bar(figure, place(figure, 9.55, 0.65, 0.7, 0.65), scale)
        figure.text(
            0.01, 0.965, "subject space: no template, no region names", fontsize=8.5, color=GREY, va="top"
        )
    return figure


def draw_topographies(
    xyz: np.ndarray,
    values: np.ndarray,
    titles: Sequence[str],
    scale: Scale,
    significant: np.ndarray | None = None,
) -> Figure:
    """Draw scalp topographies, one per time bin, interpolated by MNE-Python.

    Parameters
    ----------
    xyz : array (channels, 3)
        mm, in MNE's head frame; rows with NaN are left out.
    values : array (channels, bins)
    titles : sequence of str
    scale : Scale
        The same for all bins.
    significant : bool array (channels, bins), optional
        Marked by a white dot.

    Raises
    ------
    MissingDependency
        Without MNE-Python.
    """
    try:
        import mne
    except ImportError as error:
        raise MissingDependency("MNE-Python", "eeg", "Drawing topographies") from error
    rows = np.flatnonzero(np.isfinite(xyz).all(axis=1))
    info = mne.create_info([str(row) for row in rows], 100.0, "eeg", verbose="error")
    places = {str(row): xyz[row] / 1000.0 for row in rows}
    info.set_montage(mne.channels.make_dig_montage(places, coord_frame="head"), verbose="error")
    sphere = _fit_sphere(xyz[rows] / 1000.0)
    per_row = min(7, len(titles))
    lines = -(-len(titles) // per_row)
    side = 1.3
    whole = (per_row * side + 1.15, lines * (side + 0.28) + 0.3)
    with style(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = new_figure(*whole)
        for number, title in enumerate(titles):
            line, column = divmod(number, per_row)
            top = line * (side + 0.28) + 0.28
            axes = place(
                figure,
                column * side + 0.06,
                whole[1] - top - side,
                whole[0] - (column + 1) * side + 0.06,
                top,
            )
            mne.viz.plot_topomap(
                values[rows, number],
                info,
                axes=axes,
                show=False,
                contours=0,
                sphere=sphere,
                sensors="k.",
                cmap=scale.colormap,
                cnorm=scale.norm(),
                mask=None if significant is None else significant[rows, number],
                mask_params={
                    "marker": "o",
                    "markerfacecolor": "w",
                    "markeredgecolor": "k",
                    "markersize": 3.5,
                },
            )
            axes.set_title(title, fontsize=7.5, fontweight="normal", loc="center", pad=2)
        tall = min(whole[1] - 0.65, 2.0)
        add_bar(figure, place(figure, whole[0] - 0.95, whole[1] - 0.35 - tall, 0.8, 0.35), scale)
        if significant is not None:
            figure.text(
                0.01, 0.01, "white dot: significant; black dots: electrodes", fontsize=7.5, color=GREY
            )
    return figure


def _fit_sphere(points: np.ndarray) -> tuple[float, float, float, float]:
    """Fit a sphere to electrodes (least squares): centre and radius, whose equator is the head's outline."""
    if len(points) < 6:
        return 0.0, 0.0, 0.0, 0.095
    design = np.column_stack([2 * points, np.ones(len(points))])
    (x, y, z, rest), *_ = np.linalg.lstsq(design, np.sum(points**2, axis=1), rcond=None)
    return float(x), float(y), float(z), float(np.sqrt(rest + x**2 + y**2 + z**2))


def draw_flat(
    xyz: np.ndarray, values: np.ndarray, scale: Scale, significant: np.ndarray | None = None
) -> Figure:
    """Draw electrodes whose positions are pixels of a picture: x to the right, y down, no place in the brain.

    Parameters
    ----------
    xyz : array (electrodes, 3)
        Pixels; the third column is not used.
    values : array (electrodes,)
    scale : Scale
    significant : bool array (electrodes,), optional
    """
    rows = np.flatnonzero(np.isfinite(xyz[:, :2]).all(axis=1))
    rows = rows[np.argsort(np.nan_to_num(values[rows], nan=-1.0))]
    marked = np.zeros(len(xyz), dtype=bool) if significant is None else np.asarray(significant, dtype=bool)
    with style():
        figure = new_figure(5.6, 4.4)
        axes = place(figure, 0.85, 0.6, 1.35, 0.5)
        axes.scatter(
            xyz[rows, 0],
            xyz[rows, 1],
            s=np.where(marked[rows], 48.0, 24.0),
            c=scale.colours(values[rows]),
            edgecolors=["#000000" if mark else "#ffffff00" for mark in marked[rows]],
            linewidths=0.9,
        )
        axes.invert_yaxis()
        axes.set_aspect("equal", adjustable="datalim")
        axes.set_xlabel("x, pixels of the picture")
        axes.set_ylabel("y, pixels of the picture")
        add_bar(figure, place(figure, 4.65, 0.6, 0.7, 0.5), scale)
        figure.text(
            0.01, 0.975, "flat: positions on a picture, not in a brain", fontsize=8.5, color=GREY, va="top"
        )
    return figure
