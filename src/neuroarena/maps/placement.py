"""Where electrodes are: a template, a person's own space, the scalp, or nowhere that could be said.

A position is never guessed. What cannot be placed keeps NaN, and :class:`Placement` says why.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.recordings import Recording
from neuroarena.recordings.bids import INTRACRANIAL, sidecar
from neuroarena.recordings.positions import template_positions
from neuroarena.recordings.tsv import parse_numbers, read_tsv

# Spaces, as the column `space` of an electrode table says them.
MNI305, MNI152, NEAR_MNI, SUBJECT, FLAT, SCALP, NOWHERE = (
    "MNI305",
    "MNI152",
    "approximately MNI",
    "subject",
    "flat",
    "scalp",
    "",
)
TEMPLATES = (MNI305, MNI152, NEAR_MNI)

# MNI305 to MNI152: the affine of FreeSurfer's documentation, in mm.
MNI305_TO_MNI152 = np.array(
    [
        [0.9975, -0.0073, 0.0176, -0.0429],
        [0.0146, 1.0009, -0.0024, 1.5496],
        [-0.0130, -0.0093, 0.9971, 1.1840],
        [0.0, 0.0, 0.0, 1.0],
    ]
)
# Coordinate systems of BIDS that are a person's own, whatever they are called.
_OWN = (
    "acpc",
    "scanras",
    "talairach",
    "other",
    "ctf",
    "elektaneuromag",
    "4dbti",
    "kityokogawa",
    "chietiitab",
)
_MILLIMETRES = {"mm": 1.0, "cm": 10.0, "m": 1000.0}
_SITES = "standard_1005"


@dataclass(frozen=True)
class Placement:
    """Positions of electrodes and what they mean.

    Attributes
    ----------
    xyz : float64 array (electrodes, 3)
        Millimetres (of a flat picture: its own units); x to the right, y to the front, z up. NaN where unknown.
    space : str
        One of :data:`MNI305`, :data:`MNI152`, :data:`NEAR_MNI`, :data:`SUBJECT`, :data:`FLAT`, :data:`SCALP`,
        :data:`NOWHERE`.
    note : str
        How they were placed, or why they could not be; for captions.
    """

    xyz: np.ndarray
    space: str
    note: str

    @property
    def placed(self) -> np.ndarray:
        """Which electrodes have a position."""
        found: np.ndarray = np.isfinite(self.xyz).all(axis=1)
        return found


def transform(matrix: np.ndarray, xyz: np.ndarray) -> np.ndarray:
    """Apply an affine (3 or 4, 4) to points (n, 3).

    Examples
    --------
    >>> transform(MNI305_TO_MNI152, np.zeros((1, 3))).tolist()
    [[-0.0429, 1.5496, 1.184]]
    """
    moved: np.ndarray = np.asarray(xyz, dtype=np.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    return moved


def convert_to_template(xyz: np.ndarray, space: str, template: str) -> np.ndarray:
    """Bring template positions from one MNI space to the other.

    Raises
    ------
    InputError
        When the positions are in no template.
    """
    if space not in TEMPLATES or template not in (MNI305, MNI152):
        raise InputError(f'Positions in "{space or "no space"}" cannot be brought to {template}.')
    if {space, template} == {MNI305, MNI152}:
        matrix = MNI305_TO_MNI152 if template == MNI152 else np.linalg.inv(MNI305_TO_MNI152)
        return transform(matrix, xyz)
    if space == NEAR_MNI and template == MNI305:
        return transform(np.linalg.inv(MNI305_TO_MNI152), xyz)
    return np.asarray(xyz, dtype=np.float64)


def name_space(system: str) -> tuple[str, str]:
    """Return the space that a coordinate system of BIDS stands for, and how to say it.

    Examples
    --------
    >>> name_space("MNI152NLin2009bAsym")[0], name_space("fsaverage")[0], name_space("ACPC")[0]
    ('MNI152', 'MNI305', 'subject')
    >>> name_space("IXI549Space")
    ('approximately MNI', 'IXI549Space, which is approximately MNI')
    """
    word = system.strip().lower()
    if word.startswith(("mni305", "fsaverage")):
        return MNI305, f"{system}, as stated in coordsystem.json"
    if word.startswith("mni"):
        return MNI152, f"{system}, as stated in coordsystem.json"
    if word == "ixi549space":
        return NEAR_MNI, f"{system}, which is approximately MNI"
    if word == "pixels":
        return FLAT, "pixels of a picture: positions are flat and have no place in the brain"
    if word in _OWN:
        return SUBJECT, f"{system}: the person's own space, in no template"
    return (
        SUBJECT,
        f'"{system}", which is not a template that is known here: taken as the person\'s own space',
    )


def place_bids(path: str | Path, names: Sequence[str]) -> Placement:
    """Place the electrodes of a BIDS recording by its electrodes.tsv and coordsystem.json.

    Parameters
    ----------
    path : path
        The signal file.
    names : sequence of str
        Channels; those that electrodes.tsv does not list keep NaN.

    Raises
    ------
    InputError
        When a file is broken or a coordinate is not a number; the message names the file and the line. A file that
        is absent is not an error: the placement says so.
    """
    nowhere = np.full((len(names), 3), np.nan)
    try:
        listing, described = sidecar(path, "electrodes.tsv"), sidecar(path, "coordsystem.json")
    except InputError:
        return Placement(nowhere, NOWHERE, "no electrodes.tsv with a coordsystem.json beside the recording")
    system, unit = _read_system(described)
    space, words = name_space(system)
    factor = 1.0 if space == FLAT else _MILLIMETRES.get(unit)
    if factor is None:
        return Placement(nowhere, NOWHERE, f'{described.name} gives no unit of length (it says "{unit}")')
    table = read_tsv(listing, required=("name", "x", "y"))
    axes = [axis for axis in ("x", "y", "z") if axis in table]
    columns = [parse_numbers(table, axis, listing, may_miss=True) for axis in axes]
    columns += [np.zeros(len(table))] * (3 - len(axes))
    found = {str(name): row for row, name in enumerate(table["name"])}
    xyz = nowhere.copy()
    for row, name in enumerate(names):
        if name in found:
            xyz[row] = [column[found[name]] * factor for column in columns]
    return Placement(xyz, space, words)


def _read_system(path: Path) -> tuple[str, str]:
    try:
        said: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}.") from error
    if not isinstance(said, dict):
        raise InputError(f"{path}: expected an object at the top level, got {type(said).__name__}.")
    for kind in ("iEEG", "EEG"):
        if f"{kind}CoordinateSystem" in said:
            return str(said[f"{kind}CoordinateSystem"]), str(said.get(f"{kind}CoordinateUnits", "n/a"))
    raise InputError(
        f"{path}: names no coordinate system. Expected iEEGCoordinateSystem or EEGCoordinateSystem."
    )


def place_recording(recording: Recording, path: str | Path | None = None) -> Placement:
    """Place the channels of a recording: by BIDS tables, by its own positions, by 10-20 names, or not at all.

    Parameters
    ----------
    recording : Recording
        Its positions are in metres, in MNE's head frame.
    path : path, optional
        The signal file, where tables of BIDS may lie beside it.
    """
    table = recording.channels
    names = table["name"].tolist()
    intracranial = table["kind"].isin(("ieeg", *INTRACRANIAL)).all()
    own = table[["x", "y", "z"]].to_numpy(dtype=np.float64) * 1000.0
    has_own = bool(np.isfinite(own).all(axis=1).any())
    if not intracranial:
        return _place_scalp(recording, own, has_own)
    if path is not None and Path(path).name.startswith("sub-"):
        beside = place_bids(path, names)
        if beside.space != NOWHERE:
            return beside
    if has_own:
        frame = getattr(recording._source, "frame", lambda: "head")()
        if frame == "mni_tal":
            return Placement(own, MNI305, "MNI305, as stated in the file")
        return Placement(own, SUBJECT, "positions of the file, in the person's own head frame")
    return Placement(own, NOWHERE, "the recording has no positions of electrodes")


def _place_scalp(recording: Recording, own: np.ndarray, has_own: bool) -> Placement:
    names = recording.channels["name"].tolist()
    if has_own:
        return Placement(own, SCALP, "positions of the file")
    try:
        places = template_positions(names, _SITES, recording.name) * 1000.0
    except InputError:
        return Placement(own, NOWHERE, "no positions in the file, and no channel is named as a site of 10-20")
    return Placement(places, SCALP, "positions of a template, by 10-20 names; not measured")


def electrode_table(
    names: Sequence[str], subject: str, placement: Placement, **regions: Sequence[str]
) -> pd.DataFrame:
    """Make the electrode table of a map.

    Parameters
    ----------
    names : sequence of str
    subject : str
    placement : Placement
    **regions : sequence of str
        Further columns, such as ``region_dk``; "" where unknown.

    Returns
    -------
    DataFrame
        Columns name, subject, x, y, z, space (of an electrode without a position ""), and those given.
    """
    table = pd.DataFrame({"name": list(names), "subject": subject})
    table[["x", "y", "z"]] = placement.xyz
    table["space"] = np.where(placement.placed, placement.space, NOWHERE)
    for column, values in regions.items():
        table[column] = list(values)
    return table


__all__ = [
    "FLAT",
    "MNI152",
    "MNI305",
    "NEAR_MNI",
    "NOWHERE",
    "SCALP",
    "SUBJECT",
    "TEMPLATES",
    "Placement",
    "convert_to_template",
    "electrode_table",
    "name_space",
    "place_bids",
    "place_recording",
    "transform",
]
