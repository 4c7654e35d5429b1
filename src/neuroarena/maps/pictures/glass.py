"""Electrodes in a glass brain: the outline of MNI152 from the left, the back, the right and above."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from neuroarena.drawing import GREY, new_figure, place, style
from neuroarena.errors import MissingDependency
from neuroarena.maps.pictures.scale import Scale, add_bar

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def draw_glass(
    xyz: np.ndarray, values: np.ndarray, scale: Scale, significant: np.ndarray | None = None
) -> Figure:
    """Draw electrodes in a glass brain.

    Parameters
    ----------
    xyz : array (electrodes, 3)
        MNI152, mm; rows with NaN are left out.
    values : array (electrodes,)
    scale : Scale
    significant : bool array (electrodes,), optional
        Drawn larger.

    Raises
    ------
    MissingDependency
        Without nilearn.
    """
    try:
        from nilearn import plotting
    except ImportError as error:
        raise MissingDependency("nilearn", "brain", "Drawing a glass brain") from error
    rows = np.flatnonzero(np.isfinite(xyz).all(axis=1))
    rows = rows[np.argsort(np.nan_to_num(values[rows], nan=-1.0))]
    marked = np.zeros(len(values), dtype=bool) if significant is None else np.asarray(significant, dtype=bool)
    with style(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        figure = new_figure(10.4, 2.6)
        display = plotting.plot_glass_brain(
            None, display_mode="lyrz", figure=figure, axes=(0.0, 0.04, 0.885, 0.9), annotate=True
        )
        if rows.size:
            display.add_markers(
                xyz[rows],
                marker_color=list(scale.colours(values[rows])),
                marker_size=list(np.where(marked[rows], 30.0, 12.0)),
            )
        add_bar(figure, place(figure, 9.45, 0.35, 0.8, 0.35), scale)
        if significant is not None:
            figure.text(0.01, 0.03, "larger dots: significant", fontsize=8, color=GREY)
    return figure
