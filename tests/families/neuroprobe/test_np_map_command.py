"""`neuroarena map neuroprobe/TASK` computes the published grid of a folder."""

from __future__ import annotations

import json

import numpy as np
import pytest

from command_line import neuroarena_in
from neuroarena.maps import read_grid


@pytest.mark.parametrize("split", ["within-session", "cross-session"])
def test_a_map_has_the_published_bins_the_places_and_the_regions(twin_root, tmp_path, split):
    told = ["--data", str(twin_root), "--null", "19", "--tmin", "0", "--tmax", "0.5", "--out", ".", "--json"]
    done = neuroarena_in(tmp_path, "map", "neuroprobe/onset", "--split", split, *told)
    shown = json.loads(done.stdout)
    assert shown["simulated"] is True
    assert shown["tasks"][0]["electrodes"] == 16
    grid = read_grid(tmp_path)
    assert grid.sessions == ("btbank1_1", "btbank1_2")
    assert grid.bins["start_s"].tolist() == [0.0, 0.125, 0.25]
    assert set(grid.electrodes["space"]) == {"MNI305"}
    assert np.isfinite(grid.data["auroc"]).all()
    assert grid.region_columns == ("region_destrieux", "region_dk")
    assert grid.data.sizes["fold"] == (2 if split == "within-session" else 1)


def test_a_map_across_people_is_refused_because_no_two_share_an_electrode(twin_root, tmp_path):
    told = ["--split", "cross-subject", "--data", str(twin_root), "--out", "."]
    done = neuroarena_in(tmp_path, "map", "neuroprobe/onset", *told)
    assert done.returncode == 2
    assert "cross-subject" in done.stderr
    assert not (tmp_path / "grid.nc").exists()


def test_published_bins_are_fourteen_of_a_quarter_of_a_second():
    from neuroarena.families.neuroprobe.maps import PUBLISHED
    from neuroarena.maps.windows import window_bins

    bins = window_bins(PUBLISHED.first_s, PUBLISHED.last_s, PUBLISHED.window_s, PUBLISHED.stride_s)
    assert len(bins) == 14
    assert (bins["start_s"].iloc[0], bins["start_s"].iloc[-1]) == (-0.5, 1.125)
