"""The grid: one file holds a whole map, and a reader finds what was written."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.stats import false_discovery_control

from neuroarena.errors import InputError
from neuroarena.maps import MapGrid, read_grid, simulate_grid, write_grid
from neuroarena.maps.assembly import GridPart, make_grid
from neuroarena.maps.inference import adjust_fdr, cluster_masses, infer


@pytest.fixture(scope="module")
def grid() -> MapGrid:
    return simulate_grid(3, permutations=99)


def test_a_written_grid_is_read_as_it_was(grid, tmp_path):
    found = read_grid(write_grid(grid, tmp_path))
    xr.testing.assert_allclose(found.data, grid.data)
    assert found.provenance == grid.provenance
    assert found.simulated
    assert found.electrodes.equals(grid.electrodes)
    assert dict.fromkeys(found.nulls) == dict.fromkeys(grid.nulls)
    assert np.abs(found.null("word", "2_1") - grid.null("word", "2_1")).max() < 1e-5


def test_an_electrode_has_values_in_the_sessions_of_its_own_subject_only(grid):
    known = np.isfinite(grid.data["auroc"]).all(("task", "bin"))
    same = grid.data["session_subject"] == grid.data["subject"]
    assert bool((known == same).all())
    assert [len(grid.electrodes_of(session)) for session in grid.sessions] == [40] * 5


def test_planted_electrodes_are_found_and_a_task_of_noise_has_none(grid):
    found = (grid.data["p_max"] <= 0.01).any(("session", "bin"))  # five sessions at .01 each
    planted = grid.data["planted"]
    assert float(found.where(planted).mean()) > 0.9
    assert int(found.sel(task="nothing").sum()) == 0


def test_the_null_of_an_electrode_that_a_session_lacks_is_no_number(tmp_path):
    table = pd.DataFrame(
        {"name": ["A", "B"], "subject": "1", "x": np.nan, "y": np.nan, "z": np.nan, "space": ""}
    )
    bins = pd.DataFrame({"start_s": [0.0], "centre_s": [0.125], "end_s": [0.25]})
    draws = np.random.default_rng(0).uniform(0.4, 0.6, (19, 2, 2, 1))
    lacking = draws.copy()
    lacking[:, :, 1] = np.nan
    parts = [GridPart("t", "1_1", "1", draws[0], draws, 9), GridPart("t", "1_2", "1", lacking[0], lacking, 9)]
    made = make_grid(parts, table, bins, split="s", simulated=True, provenance={})
    for each in (made, read_grid(write_grid(made, tmp_path))):
        assert np.isnan(each.null("t", "1_2")).any(axis=(0, 1, 3)).tolist() == [False, True]
        assert np.isnan(each.null("t", "1_2")[:, :, 1]).all()
        assert np.isfinite(each.null("t", "1_1")).all()


def test_what_is_no_map_is_refused(tmp_path):
    with pytest.raises(InputError, match="no such map"):
        read_grid(tmp_path)
    (tmp_path / "grid.nc").write_bytes(b"not HDF5")
    with pytest.raises(InputError, match=r"grid\.nc: cannot be read as a map"):
        read_grid(tmp_path)
    xr.Dataset(attrs={"schema_version": 99}).to_netcdf(tmp_path / "new.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="version 99"):
        read_grid(tmp_path / "new.nc")
    xr.Dataset(attrs={"schema_version": 1}).to_netcdf(tmp_path / "bare.nc", engine="h5netcdf")
    with pytest.raises(InputError, match=r"bare\.nc: A map needs auroc"):
        read_grid(tmp_path / "bare.nc")


def test_the_false_discovery_rate_is_that_of_scipy():
    p = np.random.default_rng(0).uniform(0, 0.3, 50)
    np.testing.assert_allclose(adjust_fdr(p), false_discovery_control(p))


def test_a_stretch_has_one_mass_and_a_gap_divides_two():
    z = np.array([[1.0, 2.0, 0.0, 3.0, 3.0], [0.0, 0.0, 0.0, 0.0, 2.0]])
    masses = cluster_masses(z, np.full((2, 5), 0.5))
    np.testing.assert_allclose(masses, [[2.0, 2.0, 0.0, 5.0, 5.0], [0.0, 0.0, 0.0, 0.0, 1.5]])


def test_p_values_of_exchangeable_draws_hold_their_level():
    rng = np.random.default_rng(1)
    p = [infer(draws[0], draws[1:]) for draws in rng.normal(0.5, 0.01, (300, 100, 4, 5))]
    for name in ("p_max", "p_cluster", "p_fdr"):
        rate = np.mean([getattr(each, name).min() <= 0.05 for each in p])
        assert 0.01 <= rate <= 0.09, name
    constant = infer(np.full((1, 2), 0.5), np.full((19, 1, 2), 0.5))
    assert (constant.p_max == 1).all()
