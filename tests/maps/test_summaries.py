"""What is drawn of a grid: chosen on other data than shown, significant where the null says so."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.maps import MapGrid, simulate_grid, summaries
from neuroarena.maps.assembly import GridPart, make_grid
from neuroarena.maps.windows import window_bins


@pytest.fixture(scope="module")
def grid() -> MapGrid:
    return simulate_grid(0)


def planted(grid: MapGrid, task: str) -> np.ndarray:
    return grid.data["planted"].sel(task=task).values.astype(bool)


def test_planted_electrodes_are_the_significant_ones(grid: MapGrid):
    found = summaries.significant_electrodes(grid, "sound")
    assert found[planted(grid, "sound")].mean() > 0.8
    assert found[~planted(grid, "sound")].mean() < 0.05
    assert summaries.significant_electrodes(grid, "nothing").sum() <= 1


def test_what_cannot_be_decoded_looks_like_chance_unless_chosen_as_published():
    """Null electrodes: the best bin of the same data lies above chance, that of other data does not."""
    values, same = [], []
    for seed in range(4):
        null = simulate_grid(seed, permutations=19)
        values.append(np.nanmean(summaries.electrode_values(null, "nothing")))
        same.append(np.nanmean(summaries.average_sessions(null, "nothing").max(axis=1)))
    assert np.mean(values) == pytest.approx(0.5, abs=0.0015)
    assert np.mean(same) > 0.508


def test_regions_without_an_effect_stay_at_chance_and_the_published_choice_does_not(grid: MapGrid):
    ours = summaries.region_table(grid, "nothing", "region_dk")
    published = summaries.region_table(grid, "nothing", "region_dk", as_published=True)
    assert ours["auroc"].mean() == pytest.approx(0.5, abs=0.006)
    assert published["auroc"].mean() > ours["auroc"].mean() + 0.005
    assert ours["electrodes"].sum() == len(grid.electrodes)


def test_the_region_of_the_planted_place_comes_first(grid: MapGrid):
    table = summaries.region_table(grid, "sound", "region_dk")
    assert table["region"][0].endswith(("superiortemporal", "middletemporal"))
    assert table["significant"].sum() == summaries.significant_electrodes(grid, "sound").sum()
    bins = summaries.region_bins(grid, "sound", "region_dk").loc[table["region"][0]]
    assert grid.bins["centre_s"][int(bins.to_numpy().argmax())] == pytest.approx(0.125, abs=0.126)


def test_sessions_are_averaged_and_as_published_their_maximum_is_taken(grid: MapGrid):
    values = grid.data["auroc"].sel(task="word")
    first = grid.electrodes_of("1_1")[0]
    both = values.sel(session=["1_1", "1_2"]).values[:, first]
    np.testing.assert_allclose(summaries.average_sessions(grid, "word")[first], both.mean(axis=0), rtol=1e-6)
    np.testing.assert_allclose(
        summaries.average_sessions(grid, "word", as_published=True)[first], both.max(axis=0), rtol=1e-6
    )


def small_grid(p: float) -> MapGrid:
    """Make a grid of one electrode with two sessions, whose null has as many draws above it as `p` asks for."""
    bins = window_bins(0.0, 0.5, 0.25, 0.25)
    electrodes = pd.DataFrame(
        {
            "name": ["A1"],
            "subject": ["1"],
            "x": [0.0],
            "y": [0.0],
            "z": [0.0],
            "space": ["MNI305"],
            "region": ["a"],
        }
    )
    draws = 99
    null = np.full((draws, 1, 1, 2), 0.5) + np.linspace(0, 0.01, draws)[:, None, None, None]
    place = max(0, round(p * (draws + 1)) - 1)
    observed = np.full((1, 1, 2), float(np.sort(null.ravel())[::-1][2 * place]) if place else 0.6)
    parts = [GridPart("t", f"1_{number}", "1", observed, null, 10) for number in (1, 2)]
    return make_grid(parts, electrodes, bins, split="s", simulated=False, provenance={})


@pytest.mark.parametrize(("level", "significant"), [(0.05, True), (0.015, False)])
def test_two_sessions_cost_a_factor_of_two(level: float, significant: bool):
    made = small_grid(0.01)
    assert float(made.data["p_max"].min()) == pytest.approx(0.01)
    assert summaries.significant_cells(made, "t", level).any() == significant


def test_coverage_says_how_many_items_were_judged(grid: MapGrid):
    table = summaries.task_coverage(grid)
    assert table.shape == (4, 5)
    assert (table == 3500).all(axis=None)


def test_the_overlap_of_regions_is_shared_over_all(grid: MapGrid):
    table = summaries.region_overlap(grid, "region_dk")
    assert np.diag(table).tolist() == [1.0, 1.0, 1.0]
    names = grid.electrodes.groupby("subject")["region_dk"].agg(set)
    expected = len(names["1"] & names["2"]) / len(names["1"] | names["2"])
    assert table.loc["1", "2"] == expected


def test_a_subset_of_electrodes_does_not_look_at_the_session_that_is_judged(grid: MapGrid):
    chosen = summaries.choose_subset(grid, "sound", "1_1", 5)
    values = grid.data["auroc"].sel(task="sound", session="1_2").values
    best = grid.data["electrode"].values[np.argsort(-np.nan_to_num(values).max(axis=1))[:5]]
    assert chosen == list(best)  # subject 1 has two sessions: the other one decides
    changed = grid.data.copy(deep=True)
    changed["auroc"].loc[{"session": "1_1"}] = 0.9
    assert summaries.choose_subset(MapGrid(changed), "sound", "1_1", 5) == chosen
    ranked = summaries.rank_elsewhere(grid, "sound", "1_1")
    assert ranked["electrode"].head(5).tolist() == chosen
    first = grid.data["auroc"].sel(task="sound", session="1_2", electrode=chosen[0]).values
    assert ranked["elsewhere"][0] == first.max()
    there = grid.data["auroc"].sel(task="sound", session="1_1", electrode=chosen[0]).values
    assert ranked["here"][0] == there[first.argmax()]
    assert summaries.rank_elsewhere(grid, "sound", "3_1").empty


def test_electrodes_are_not_chosen_where_there_is_no_other_session(grid: MapGrid):
    with pytest.raises(InputError, match="no other session of sound"):
        summaries.choose_subset(grid, "sound", "3_1", 5)
