"""The cortex of fsaverage5 as shaded pictures: triangles sorted by depth, drawn once for all panels."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from neuroarena.drawing import new_figure, style
from neuroarena.errors import MissingDependency

Side = Literal["left", "right"]
View = Literal["lateral", "medial"]
# Millimetres around the surface, so that markers outside of it are not cut off.
_MARGIN = 8.0
_PIXELS_PER_MM = 4.0
# Depth contacts are shown where they are near: what is written on the panels.
LATERAL_BEYOND_MM, MEDIAL_WITHIN_MM = 15.0, 30.0


@dataclass(frozen=True)
class Surface:
    """A mesh: points (n, 3) in mm of MNI305, and triangles (m, 3)."""

    points: np.ndarray
    triangles: np.ndarray


@functools.cache
def cortex(side: Side) -> Surface:
    """Load the pial surface of fsaverage5 from nilearn's own files.

    Raises
    ------
    MissingDependency
        Without nilearn.
    """
    try:
        import nibabel
        import nilearn
    except ImportError as error:
        raise MissingDependency("nilearn", "brain", "Drawing a brain") from error
    folder = Path(nilearn.__file__).parent / "datasets" / "data" / "fsaverage5"
    mesh = nibabel.load(folder / f"pial_{side}.gii.gz")  # type: ignore[attr-defined]
    points, triangles = mesh.agg_data("pointset"), mesh.agg_data("triangle")
    return Surface(np.asarray(points, dtype=np.float64), np.asarray(triangles, dtype=np.int64))


def project(xyz: np.ndarray, side: Side, view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points as a viewer sees them: to the right, up, and towards the viewer, in mm.

    Examples
    --------
    >>> across, up, near = project(np.array([[-60.0, 20.0, 5.0]]), "left", "lateral")
    >>> float(across[0]), float(up[0]), float(near[0])
    (-20.0, 5.0, 60.0)
    """
    from_right = (side == "right") == (view == "lateral")
    sign = 1.0 if from_right else -1.0
    return sign * xyz[:, 1], xyz[:, 2], sign * xyz[:, 0]


def shown_in(xyz: np.ndarray, side: Side, view: View) -> np.ndarray:
    """Return which points a panel shows: of its hemisphere, and not hidden deep behind the surface seen."""
    own = xyz[:, 0] < 0 if side == "left" else xyz[:, 0] >= 0
    depth = np.abs(xyz[:, 0])
    shown: np.ndarray = own & (depth > LATERAL_BEYOND_MM if view == "lateral" else depth <= MEDIAL_WITHIN_MM)
    return shown


def describe_panel(side: Side, view: View) -> str:
    """Return the title of a panel, with the contacts that it shows."""
    limit = f"|x| > {LATERAL_BEYOND_MM:.0f} mm" if view == "lateral" else f"|x| ≤ {MEDIAL_WITHIN_MM:.0f} mm"
    return f"{side}, {view} ({limit})"


@functools.cache
def render(side: Side, view: View) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """Draw one hemisphere as a picture.

    Returns
    -------
    image : uint8 array (height, width, 4)
    extent : (left, right, bottom, top)
        In mm, for ``imshow``.
    """
    from matplotlib.collections import PolyCollection

    surface = cortex(side)
    across, up, near = project(surface.points, side, view)
    corners = np.stack([across, up], axis=1)[surface.triangles]
    shade = _shade(surface, side, view)
    facing = np.flatnonzero(shade > 0)
    order = facing[np.argsort(near[surface.triangles].mean(axis=1)[facing])]
    grey = 0.45 + 0.5 * shade[order] ** 0.8
    extent = (across.min() - _MARGIN, across.max() + _MARGIN, up.min() - _MARGIN, up.max() + _MARGIN)
    with style():
        figure = new_figure(
            (extent[1] - extent[0]) * _PIXELS_PER_MM / 100, (extent[3] - extent[2]) * _PIXELS_PER_MM / 100
        )
        figure.patch.set_alpha(0.0)
        axes = figure.add_axes((0, 0, 1, 1))
        axes.axis("off")
        axes.set_xlim(extent[:2])
        axes.set_ylim(extent[2:])
        faces = np.repeat(grey[:, np.newaxis], 3, axis=1)
        axes.add_collection(
            PolyCollection(list(corners[order]), facecolors=faces, edgecolors=faces, linewidths=0.4)
        )
        figure.canvas.draw()
        image = np.asarray(figure.canvas.buffer_rgba()).copy()  # type: ignore[attr-defined]
    return image, extent


def _shade(surface: Surface, side: Side, view: View) -> np.ndarray:
    """Return the light on each triangle, 0 to 1; below 0 for those that face away."""
    points = np.stack(project(surface.points, side, view), axis=1)
    one, two, three = (points[surface.triangles[:, corner]] for corner in range(3))
    normal = np.cross(two - one, three - one)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-12
    # The order of corners says which side is outside; a projection that mirrors turns it round.
    centre = points.mean(axis=0)
    outward = np.sign(np.mean(np.sum(normal * ((one + two + three) / 3 - centre), axis=1)))
    light = np.array([-0.15, 0.45, 0.88])
    lit: np.ndarray = np.clip(outward * normal @ (light / np.linalg.norm(light)), 0.05, 1.0)
    return np.where(outward * normal[:, 2] > 0, lit, -1.0)
