"""Regions: polygons of the Desikan-Killiany atlas, and a heat map of regions and time bins."""

from __future__ import annotations

import functools
import importlib.util
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from neuroarena.drawing import GREY, new_figure, place, style
from neuroarena.errors import MissingDependency
from neuroarena.maps.pictures.scale import NO_VALUE, Scale, add_bar

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.path import Path as Outline

_EMPTY, _NO_REGION = "#e4e4e4", "#f7f7f7"
_SIDES = {"lh": "left", "rh": "right", "left": "left", "right": "right"}
# In the atlas but not regions of it: outlines of the hemispheres, and what is drawn inside of them.
_OUTLINES = ("lateral", "medial")
_INSIDE = ("NA", "corpuscallosum")
_COMMANDS = {"M": 1, "L": 2, "C": 4, "Z": 79}


def polygon_name(region: str) -> str | None:
    """Return the polygon of a region as FreeSurfer writes it; None for one that is not on the cortex.

    Examples
    --------
    >>> polygon_name("ctx-lh-superiortemporal"), polygon_name("Left-Hippocampus")
    ('superiortemporal_left', None)
    """
    found = re.fullmatch(r"ctx-(lh|rh)-(\w+)", region)
    return f"{found[2]}_{_SIDES[found[1]]}" if found else None


@functools.cache
def polygons() -> dict[str, Outline]:
    """Load the polygons of the Desikan-Killiany atlas that the package ggseg carries.

    Raises
    ------
    MissingDependency
        Without ggseg.
    """
    package = importlib.util.find_spec("ggseg")
    if package is None or package.origin is None:
        raise MissingDependency("ggseg", "brain", "Drawing regions")
    folder = Path(package.origin).parent / "data" / "dk"
    found = {path.name: _parse(path.read_text(encoding="utf-8")) for path in sorted(folder.iterdir())}
    return _move_frontal(found)


def _move_frontal(found: dict[str, Outline]) -> dict[str, Outline]:
    """Return the medial piece of the left superior frontal gyrus to it: ggseg 0.1 has it with the parietal lobule."""
    from matplotlib.path import Path as Outline

    frontal, parietal = "superiorfrontal_left", "superiorparietal_left"
    if not {frontal, parietal} <= found.keys():
        return found
    points, codes = np.asarray(found[parietal].vertices), np.asarray(found[parietal].codes)
    begins = np.flatnonzero(codes == _COMMANDS["M"])
    # In the medial view of the left hemisphere the front is right; the paracentral lobule divides the two.
    border = float(_corners(found["paracentral_left"])[:, 0].max())
    piece = np.searchsorted(begins, np.arange(len(codes)), side="right") - 1
    moved = points[begins, 0][piece] > border
    if not moved.any() or moved.all():
        return found
    joined = np.concatenate([np.asarray(found[frontal].vertices), points[moved]])
    return {
        **found,
        parietal: Outline(points[~moved], codes[~moved]),
        frontal: Outline(joined, np.concatenate([np.asarray(found[frontal].codes), codes[moved]])),
    }


def _parse(text: str) -> Outline:
    """Read an outline: M, L, C and Z with absolute coordinates, y downwards."""
    from matplotlib.path import Path as Outline

    points: list[tuple[float, float]] = []
    codes: list[int] = []
    for command, numbers in re.findall(r"([MLCZ])([^MLCZ]*)", text):
        values = [float(value) for value in re.findall(r"-?\d+(?:\.\d+)?", numbers)]
        pairs = list(zip(values[::2], values[1::2], strict=True)) or [(0.0, 0.0)]
        points += [(x, -y) for x, y in pairs]
        codes += [_COMMANDS[command]] * len(pairs)
    return Outline(points, codes)


def draw_regions(values: Mapping[str, float], scale: Scale) -> Figure:
    """Draw regions of the Desikan-Killiany atlas in colour; those without an electrode are grey.

    Parameters
    ----------
    values : mapping of str to float
        Region as FreeSurfer writes it (``ctx-lh-...``) -> value. Regions under the cortex are listed below the drawing.
    scale : Scale
    """
    from matplotlib.patches import PathPatch

    coloured = {polygon_name(region): value for region, value in values.items() if polygon_name(region)}
    outlines = {
        name: outline for name, outline in polygons().items() if name.rpartition("_")[0] not in _OUTLINES
    }
    corners = np.concatenate([_corners(outline) for outline in outlines.values()])
    low, high = corners.min(axis=0) - 20, corners.max(axis=0) + 20
    with style():
        figure = new_figure(7.6, 5.0)
        axes = place(figure, 0.2, 0.55, 1.35, 0.35)
        for name, outline in outlines.items():
            empty = _NO_REGION if name.rpartition("_")[0] in _INSIDE else _EMPTY
            colour = scale.colours(np.array([coloured[name]]))[0] if name in coloured else empty
            axes.add_patch(PathPatch(outline, facecolor=colour, edgecolor="white", linewidth=1.2))
        axes.set_xlim(low[0], high[0])
        axes.set_ylim(low[1], high[1])
        axes.set_aspect("equal")
        axes.axis("off")
        add_bar(figure, place(figure, 6.5, 0.9, 0.95, 0.6), scale)
        other = [region for region in values if polygon_name(region) is None]
        below = f"; outside the cortical atlas, in the table only: {len(other)}" if other else ""
        figure.text(0.02, 0.03, f"pale grey: no electrode{below}", fontsize=8, color=GREY)
        _name_panels(outlines, axes)
    return figure


def _corners(outline: Outline) -> np.ndarray:
    """Return the points (n, 2) of an outline; what closes it has none."""
    points: np.ndarray = np.asarray(outline.vertices)[np.asarray(outline.codes) != _COMMANDS["Z"]]
    return points


def _name_panels(outlines: Mapping[str, Outline], axes: Axes) -> None:
    """Write side and view above each of the four drawings."""
    for side in ("left", "right"):
        for view, region in (("lateral", "postcentral"), ("medial", "paracentral")):
            outline = outlines[f"{region}_{side}"]
            points = _corners(outline)
            top = points[:, 1].max()
            axes.text(
                points[:, 0].mean(), top + 45, f"{side}, {view}", ha="center", va="bottom", fontsize=8.5
            )


def draw_region_bins(
    values: np.ndarray,
    regions: Sequence[str],
    counts: Sequence[int],
    edges_s: Sequence[float],
    scale: Scale,
    significant: np.ndarray | None = None,
    axis_label: str = "centre of the window, s from the event",
) -> Figure:
    """Draw regions as rows and time bins as columns.

    Parameters
    ----------
    values : array (regions, bins)
    regions : sequence of str
    counts : sequence of int
        Electrodes of each region, written beside its name.
    edges_s : sequence of float
        Bins + 1 edges between the times of the windows, in seconds.
    scale : Scale
    significant : bool array (regions, bins), optional
        Marked by a white dot.
    axis_label : str
    """
    names = [f"{region} ({count})" for region, count in zip(regions, counts, strict=True)]
    left = 0.25 + 0.072 * max(map(len, names))
    height = 0.9 + max(1.3, 0.2 * len(names))
    whole = (left + 5.4, height)
    with style():
        figure = new_figure(*whole)
        axes = place(figure, left, 0.6, 1.2, 0.25)
        import matplotlib

        colormap = matplotlib.colormaps[scale.colormap].with_extremes(bad=NO_VALUE)
        axes.pcolormesh(
            np.asarray(edges_s),
            np.arange(len(names) + 1) - 0.5,
            np.ma.masked_invalid(values),
            cmap=colormap,
            norm=scale.norm(),
        )
        axes.axvline(0.0, color="white", linewidth=0.8, linestyle=":")
        axes.set_yticks(np.arange(len(names)), names, fontsize=8)
        axes.invert_yaxis()
        axes.set_xlabel(axis_label)
        if significant is not None:
            middles = (np.asarray(edges_s)[1:] + np.asarray(edges_s)[:-1]) / 2
            rows, bins = np.nonzero(significant)
            axes.plot(
                middles[bins],
                rows,
                "o",
                markersize=3,
                markerfacecolor="white",
                markeredgecolor="black",
                markeredgewidth=0.6,
            )
        tall = min(2.2, height - 0.85)
        add_bar(figure, place(figure, whole[0] - 0.95, height - 0.25 - tall, 0.8, 0.25), scale)
    return figure
