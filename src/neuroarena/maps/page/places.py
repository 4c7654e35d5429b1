"""The electrodes of a grid by the space they are placed in, and what is said about those that are not."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.maps.grid import MapGrid
from neuroarena.maps.placement import (
    FLAT,
    MNI152,
    MNI305,
    NEAR_MNI,
    SCALP,
    SUBJECT,
    TEMPLATES,
    convert_to_template,
)

_NAMED = 8


@dataclass(frozen=True, eq=False)
class Places:
    """Where the electrodes of a grid are.

    Attributes
    ----------
    mni305, mni152 : arrays (electrodes, 3)
        mm; NaN for electrodes that are in no template.
    own : dict of str to int array
        Subject -> places of its electrodes that are in its own space.
    flat : dict of str to int array
        Subject -> places of its electrodes that are on a picture.
    scalp : int array
    nowhere : int array
    xyz : array (electrodes, 3)
        As the grid has them.
    """

    mni305: np.ndarray
    mni152: np.ndarray
    own: dict[str, np.ndarray]
    flat: dict[str, np.ndarray]
    scalp: np.ndarray
    nowhere: np.ndarray
    xyz: np.ndarray

    @property
    def in_template(self) -> np.ndarray:
        """Which electrodes are in a template."""
        return np.asarray(np.isfinite(self.mni305).all(axis=1))


def find_places(grid: MapGrid) -> Places:
    """Sort the electrodes of a grid by their space."""
    table = grid.electrodes
    xyz = table[["x", "y", "z"]].to_numpy(dtype=np.float64)
    space = table["space"].astype(str).to_numpy()
    known = np.isfinite(xyz).all(axis=1)
    templates = {}
    for template in (MNI305, MNI152):
        placed = np.full_like(xyz, np.nan)
        for name in TEMPLATES:
            rows = known & (space == name)
            placed[rows] = convert_to_template(xyz[rows], name, template)
        templates[template] = placed
    return Places(
        mni305=templates[MNI305],
        mni152=templates[MNI152],
        own=_by_subject(table, known & (space == SUBJECT)),
        flat=_by_subject(table, known & (space == FLAT)),
        scalp=np.flatnonzero(known & (space == SCALP)),
        nowhere=np.flatnonzero(~known | ~np.isin(space, (*TEMPLATES, SUBJECT, FLAT, SCALP))),
        xyz=xyz,
    )


def _by_subject(table: pd.DataFrame, rows: np.ndarray) -> dict[str, np.ndarray]:
    subjects = table["subject"].astype(str).to_numpy()
    return {str(each): np.flatnonzero(rows & (subjects == each)) for each in dict.fromkeys(subjects[rows])}


def describe_places(grid: MapGrid, places: Places) -> list[str]:
    """Return sentences that say where electrodes were put, and which could not be placed."""
    total = len(places.xyz)
    said = []
    inside = int(places.in_template.sum())
    if inside:
        near = int((grid.electrodes["space"] == NEAR_MNI).sum())
        about = f" ({near} of them in a space that is only approximately MNI)" if near else ""
        said.append(
            f"{inside} of {total} electrodes are in a template{about}: MNI305 on the cortex of fsaverage, MNI152 "
            "in the glass brain."
        )
    for subject, rows in places.own.items():
        said.append(
            f"{len(rows)} electrodes of {subject} are in the person's own space: drawn in millimetres, without "
            "a template."
        )
    for subject, rows in places.flat.items():
        said.append(f"{len(rows)} electrodes of {subject} are positions on a picture: drawn flat.")
    if len(places.scalp):
        said.append(f"{len(places.scalp)} channels are on the scalp: drawn as topographies.")
    if len(places.nowhere):
        names = [str(name) for name in grid.data["electrode"].values[places.nowhere]]
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        said.append(
            f"{len(names)} of {total} electrodes could not be placed and are in the tables only: "
            f"{', '.join(names[:_NAMED])}{more}. No position was guessed."
        )
    told = grid.provenance.get("placement")
    if isinstance(told, dict):
        said += [f"{subject}: {sentence}." for subject, sentence in told.items()]
    return said
