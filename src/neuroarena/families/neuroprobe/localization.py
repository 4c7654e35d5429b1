"""Where BrainTreebank's electrodes are: MNI305 by one affine per subject, and regions of two atlases."""

from __future__ import annotations

import functools
import tomllib
from importlib.resources import files

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank
from neuroarena.families.neuroprobe.braintreebank.tables import numbers, read_csv
from neuroarena.maps.placement import MNI305, Placement, electrode_table, transform

_HOME = "neuroarena.families.neuroprobe.braintreebank"
_VOXELS = ["L", "I", "P"]
# Above this many millimetres the voxels of a folder are not those that the affines were fitted to.
LARGEST_DIFFERENCE_MM = 0.5
_SIDES = (("ctx-lh-", "ctx-rh-"), ("ctx_lh_", "ctx_rh_"), ("Left-", "Right-"))


@functools.cache
def affine(subject: int) -> np.ndarray:
    """Return the affine (3, 4) that brings a subject's voxels (L, I, P) to MNI305, in mm.

    Raises
    ------
    InputError
        For a subject that BrainTreebank does not have.
    """
    text = files(_HOME).joinpath("placement.toml").read_text(encoding="utf-8")
    subjects = tomllib.loads(text)["subject"]
    if str(subject) not in subjects:
        raise InputError(f"BrainTreebank has no subject {subject}, so that its electrodes cannot be placed.")
    return np.array(subjects[str(subject)]["mni305"])


@functools.cache
def known_contacts() -> pd.DataFrame:
    """Return the voxels (L, I, P) of the 1,696 contacts that the affines were fitted to, by subject and electrode."""
    with files(_HOME).joinpath("contacts.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file).set_index(["subject", "electrode"])


def locate_electrodes(dataset: BrainTreebank, subject: int, names: list[str]) -> pd.DataFrame:
    """Place electrodes of a subject and name their regions.

    A real folder is placed by its depth-wm.csv, after its voxels were compared with the published ones. A twin has
    real labels and drawn voxels: its electrodes are put where the real contacts of these labels are, and its regions,
    which its files all have on the left, are called by the side on which that is.

    Parameters
    ----------
    dataset : BrainTreebank
    subject : int
    names : list of str
        Clean labels.

    Returns
    -------
    DataFrame
        As :func:`neuroarena.maps.placement.electrode_table` makes it, with the columns ``region_dk`` and
        ``region_destrieux``; subject is the number as text.

    Raises
    ------
    InputError
        When the voxels of the folder differ from the published ones by more than half a millimetre.
    """
    path = dataset.root / "localization" / f"sub_{subject}" / "depth-wm.csv"
    table = read_csv(path, ("Electrode", *_VOXELS, "DesikanKilliany"))
    table.index = pd.Index(table["Electrode"].astype(str).str.replace(r"[*#]", "", regex=True))
    table = table[~table.index.duplicated()]
    known = pd.DataFrame(known_contacts().xs(subject)) if subject in known_contacts().index else None
    if dataset.simulated:
        voxels = pd.DataFrame(columns=_VOXELS, dtype=float) if known is None else known
        note = "simulated: at the places of the real contacts with these labels"
    else:
        voxels = pd.DataFrame({axis: numbers(table[axis], path) for axis in _VOXELS}, index=table.index)
        if known is not None:
            _compare(voxels, known, str(path))
        note = "MNI305, by one affine per subject (linear, 1 to 3 mm off)"
    placement = Placement(
        transform(affine(subject), voxels.reindex(names).to_numpy(dtype=float)), MNI305, note
    )
    regions = {}
    for ours, theirs in (("region_dk", "DesikanKilliany"), ("region_destrieux", "Destrieux")):
        column = table[theirs].fillna("").astype(str) if theirs in table else pd.Series(dtype=str)
        regions[ours] = [str(region) for region in column.reindex(names).fillna("")]
        if dataset.simulated:
            regions[ours] = [
                _name_by_side(region, x) for region, x in zip(regions[ours], placement.xyz[:, 0], strict=True)
            ]
    return electrode_table(names, str(subject), placement, **regions)


def _name_by_side(region: str, x: float) -> str:
    """Return a region of the left hemisphere by its name on the right where its electrode lies there (x above 0)."""
    if x > 0:
        for left, right in _SIDES:
            if region.startswith(left):
                return right + region.removeprefix(left)
    return region


def _compare(voxels: pd.DataFrame, known: pd.DataFrame, path: str) -> None:
    shared = voxels.index.intersection(known.index)
    apart = np.abs(voxels.loc[shared].to_numpy() - known.loc[shared, _VOXELS].to_numpy()).max(axis=1)
    wrong = np.flatnonzero(apart > LARGEST_DIFFERENCE_MM)
    if wrong.size:
        name = shared[wrong[0]]
        here, there = voxels.loc[name].tolist(), known.loc[name, _VOXELS].tolist()
        raise InputError(
            f"{path}: electrode {name} is at L, I, P {_say(here)}, and was published at {_say(there)}; "
            f"{wrong.size} of {len(shared)} differ by more than {LARGEST_DIFFERENCE_MM} mm. The affine to MNI "
            "belongs to the published voxels: fetch the file again."
        )


def _say(voxel: list[float]) -> str:
    return "(" + ", ".join(f"{value:g}" for value in voxel) + ")"
