"""Where BrainTreebank's electrodes are: the affines, and what a folder must agree with."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import localization
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank
from neuroarena.families.neuroprobe.localization import affine, known_contacts, locate_electrodes
from neuroarena.maps.placement import transform
from shared_data import SHARED


def test_every_contact_of_the_published_lists_has_a_place():
    known = known_contacts()
    assert len(known) == 1696
    assert known.index.is_unique
    path = SHARED / "data" / "neuroprobe" / "electrodes.json"
    if not path.is_file():
        pytest.skip("../shared/data/neuroprobe is not beside this checkout")
    for subject, runs in json.loads(path.read_text())["lite"].items():
        first = runs.split()[0].partition("-")[0]
        assert (int(subject), first) in known.index


@pytest.mark.parametrize(
    ("subject", "electrode", "mni305"),
    [(1, "T2aA12", (59.755918, -3.564084, -23.467760)), (1, "T2aA11", (56.574198, -3.779796, -23.679026))],
)
def test_the_affine_gives_the_published_positions(subject: int, electrode: str, mni305: tuple[float, ...]):
    voxel = known_contacts().loc[(subject, electrode)].to_numpy(float)[np.newaxis]
    np.testing.assert_allclose(transform(affine(subject), voxel)[0], mni305, atol=1e-4)


def test_all_contacts_lie_in_or_at_a_head_and_right_is_right():
    for subject in range(1, 11):
        points = transform(affine(subject), known_contacts().loc[subject].to_numpy(float))
        assert np.abs(points).max() < 120, subject
    right = known_contacts().loc[2]
    points = transform(affine(2), right.to_numpy(float))
    sides = pd.Series(right.index.str[0]).replace({"L": -1, "R": 1}).to_numpy()
    assert (np.sign(points[:, 0]) == sides).mean() > 0.98


def test_a_subject_that_is_unknown_is_not_placed():
    with pytest.raises(InputError, match="no subject 11"):
        affine(11)


def test_a_twin_is_placed_where_the_real_contacts_are(twin: BrainTreebank):
    (subject,) = {subject for subject, _ in twin.sessions}
    names = twin.electrodes(subject)["name"].tolist()
    table = locate_electrodes(twin, subject, names)
    assert table["name"].tolist() == names
    assert set(table["space"]) == {"MNI305"}
    expected = transform(affine(subject), known_contacts().loc[subject].loc[names].to_numpy(float))
    np.testing.assert_allclose(table[["x", "y", "z"]], expected)
    assert table["region_destrieux"].str.len().gt(0).all()
    on_the_right = table["x"] > 0
    assert on_the_right.any()
    assert table["region_dk"].str.contains("superiortemporal").any()
    for column in ("region_dk", "region_destrieux"):
        assert table[column].str.match("ctx.rh.|Right-").equals(on_the_right)
        assert table[column].str.match("ctx.lh.|Left-").equals(~on_the_right)


def as_real(
    root: Path, change: Callable[[pd.DataFrame], pd.DataFrame] = lambda table: table
) -> BrainTreebank:
    """Make a folder that does not know it is a twin, with the published voxels in its depth-wm.csv."""
    dataset = BrainTreebank(root)
    subject = dataset.sessions[0][0]
    path = root / "localization" / f"sub_{subject}" / "depth-wm.csv"
    table = pd.read_csv(path)
    names = table["Electrode"].str.replace(r"[*#]", "", regex=True)
    known = known_contacts().loc[subject].reindex(names)
    for axis in ("L", "I", "P"):
        table[axis] = known[axis].to_numpy()
    change(table).to_csv(path, index=False)
    dataset.card = None
    return dataset


def test_a_real_folder_is_placed_by_its_own_voxels(broken: Callable[..., Path]):
    dataset = as_real(broken("localization/sub_1/depth-wm.csv"))
    assert not dataset.simulated
    table = locate_electrodes(dataset, 1, ["T1bIc1", "T1bIc2", "nowhere"])
    expected = transform(affine(1), known_contacts().loc[1].loc[["T1bIc1", "T1bIc2"]].to_numpy(float))
    np.testing.assert_allclose(table[["x", "y", "z"]].to_numpy()[:2], expected)
    assert table["space"].tolist() == ["MNI305", "MNI305", ""]


def test_other_voxels_than_the_published_ones_are_refused(broken: Callable[..., Path]):
    def move(table: pd.DataFrame) -> pd.DataFrame:
        return table.assign(L=table["L"] + localization.LARGEST_DIFFERENCE_MM + 0.1)

    dataset = as_real(broken("localization/sub_1/depth-wm.csv"), move)
    with pytest.raises(
        InputError, match=r"depth-wm\.csv: electrode \S+ is at L, I, P .* fetch the file again"
    ):
        locate_electrodes(dataset, 1, ["T1bIc1"])
