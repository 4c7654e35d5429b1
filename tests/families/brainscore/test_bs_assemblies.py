"""Assemblies: what is checked on construction, and averaging over repetitions."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st
from tiny_recordings import recordings, stimuli

from neuroarena.families.brainscore.assemblies import (
    NeuralAssembly,
    PropertyAssembly,
    average_time,
    flat,
    join_stimuli,
    squeeze_time,
)
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError
from neuroarena.families.brainscore.repetitions import average_repetitions
from neuroarena.families.brainscore.stimuli import StimulusSet


def test_dims_come_in_one_order_and_facts_are_readable():
    assembly = NeuralAssembly(recordings().transpose("neuroid", "presentation"))
    assert assembly.array.dims == ("presentation", "neuroid")
    assert assembly.region == "IT"
    assert assembly.time_bins == [(70, 170)]
    assert assembly.stimulus_ids[:2] == ["im000", "im001"]
    assert assembly.stimulus_set.identifier == "tiny"


def test_a_multi_index_is_flattened_and_the_given_array_is_left_alone():
    given_ = recordings().set_index(
        presentation=["stimulus_id", "object_name"], neuroid=["neuroid_id", "region"]
    )
    array = NeuralAssembly(given_).array
    assert array["stimulus_id"].dims == ("presentation",)
    assert "presentation" not in array.indexes
    assert isinstance(given_.indexes["presentation"], pd.MultiIndex)
    np.testing.assert_array_equal(array.values, recordings().values)


def test_an_old_image_id_serves_as_stimulus_id():
    old = recordings().rename(stimulus_id="image_id")
    array = NeuralAssembly(old).array
    assert array["stimulus_id"].values.tolist() == array["image_id"].values.tolist()


def test_a_squeezed_bin_of_a_multi_index_is_understood():
    array = recordings().drop_vars(["time_bin_start", "time_bin_end"])
    pair = np.empty((), dtype=object)
    pair[()] = (50, 200)
    assert NeuralAssembly(array.assign_coords(time_bin=((), pair))).time_bins == [(50, 200)]


def _nan_id(array):
    ids = array["stimulus_id"].values.astype(object)
    ids[3] = np.nan
    return array.assign_coords(stimulus_id=("presentation", ids))


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (
            lambda a: a.rename(presentation="a", neuroid="b"),
            ConfigError,
            "dims are a, b, expected presentation, neuroid",
        ),
        (lambda a: a.expand_dims("subjects"), ConfigError, "dims are subjects"),
        (lambda a: a.drop_vars("stimulus_id"), ConfigError, '"stimulus_id" of dim "presentation" is missing'),
        (lambda a: a.drop_vars("neuroid_id"), ConfigError, '"neuroid_id" of dim "neuroid" is missing'),
        (lambda a: a.drop_vars("neuroid_id").assign_coords(neuroid_id="x"), ConfigError, "lies on none"),
        (_nan_id, DataQualityError, 'presentation 3 has no "stimulus_id"'),
        (
            lambda a: a.assign_coords(neuroid_id=("neuroid", ["n"] * 6)),
            DataQualityError,
            'neuroid_id "n" occurs more than once',
        ),
        (lambda a: a.expand_dims("time_bin"), ConfigError, 'time_bin has no coordinate "time_bin_start"'),
        (lambda a: a.astype(str), DataQualityError, "expected numbers"),
        (lambda a: a.where(a["neuroid_id"] != "IT2", np.inf), DataQualityError, "infinity"),
        (lambda a: a.isel(presentation=[]), DataQualityError, "empty"),
        (lambda a: a.values, ConfigError, "got a ndarray"),
    ],
)
def test_what_is_no_neural_assembly_is_refused(spoil, error, said):
    with pytest.raises(error, match=said):
        NeuralAssembly(spoil(recordings()))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda a: a.drop_vars("region"), 'no coordinate "region"'),
        (
            lambda a: a.assign_coords(region=("neuroid", list("ABABAB"))),
            r'2 regions \("A", "B"\), expected exactly one',
        ),
    ],
)
def test_a_region_that_is_missing_or_not_unique_is_refused(spoil, said):
    with pytest.raises(ConfigError, match=said):
        _ = NeuralAssembly(spoil(recordings())).region


def test_an_assembly_without_stimuli_says_so():
    array = recordings()
    array.attrs = {}
    with pytest.raises(ConfigError, match="there is no stimulus set"):
        _ = NeuralAssembly(array).stimulus_set


def test_properties_need_their_dims_and_names():
    values = xr.DataArray(np.ones((2, 1)), dims=("neuroid", "neuronal_property"))
    with pytest.raises(ConfigError, match="names of the properties"):
        PropertyAssembly(values)
    with pytest.raises(ConfigError, match="dims are presentation, neuroid"):
        PropertyAssembly(recordings())
    named = values.assign_coords(neuronal_property=["index"]).T
    assert PropertyAssembly(named).properties == ["index"]
    assert PropertyAssembly(named).array.dims == ("neuroid", "neuronal_property")


def test_time_is_averaged_only_where_the_bins_cover_the_window():
    steps = np.arange(0, 100, 10)
    array = recordings().drop_vars(["time_bin_start", "time_bin_end"]).expand_dims(time_bin=10)
    array = array * xr.DataArray(np.arange(10.0), dims="time_bin")
    array = array.assign_coords(time_bin_start=("time_bin", steps), time_bin_end=("time_bin", steps + 10))
    averaged = average_time(array, 20, 50)
    np.testing.assert_allclose(averaged.values, 3 * recordings().values)
    assert NeuralAssembly(averaged).time_bins == [(20, 50)]
    for start, end in ((15, 50), (20, 120), (200, 300)):
        with pytest.raises(ConfigError, match="do not cover"):
            average_time(array, start, end)
    with pytest.raises(ConfigError, match="do not cover"):
        average_time(array.isel(time_bin=[2, 4]), 20, 50)
    assert squeeze_time(array.isel(time_bin=[3])).dims == ("presentation", "neuroid")
    assert "time_bin" in squeeze_time(array).dims


def test_columns_of_stimuli_are_joined_by_id_and_the_arrays_own_win():
    array = recordings().isel(presentation=slice(None, None, -1))
    shown = stimuli(size_s=[float(i) for i in range(60)])
    shown = StimulusSet(shown.table.assign(object_name="other"), images=shown.images, identifier="joined")
    joined = join_stimuli(array, shown)
    assert joined["size_s"].values.tolist() == list(range(59, -1, -1))
    assert set(joined["object_name"].values) == {"object0", "object1", "object2", "object3"}
    assert joined.attrs["stimulus_set_identifier"] == "joined"
    assert joined.stimulus_set is shown
    with pytest.raises(AlignmentError, match='"im003" are not in the stimulus set "tiny"'):
        join_stimuli(array, stimuli().select([key for key in stimuli() if key != "im003"]))


def test_averaging_gives_the_mean_of_each_stimulus():
    trials = recordings(repetitions=5)
    averaged = average_repetitions(trials)
    np.testing.assert_allclose(averaged.values, trials.values.reshape(5, 60, 6).mean(axis=0), atol=1e-12)
    assert "repetition" not in averaged.coords
    assert averaged["object_name"].values.tolist() == trials["object_name"].values[:60].tolist()
    assert averaged.attrs["stimulus_set"] is trials.attrs["stimulus_set"]
    assert averaged.attrs["averaging"] == {
        "n_presentations": 300,
        "n_stimuli": 60,
        "fewest": 5,
        "most": 5,
        "n_nan": 0,
        "dropped": (),
    }


def test_metadata_that_are_missing_throughout_do_not_prevent_averaging():
    trials = recordings(repetitions=6)
    size = np.tile(np.where(np.arange(60) == 7, np.nan, 1.0), 6)
    averaged = average_repetitions(trials.assign_coords(size=("presentation", size)))
    assert averaged.sizes["presentation"] == 60
    assert np.isnan(averaged["size"].values).sum() == 1


def test_a_coordinate_that_differs_between_repetitions_is_dropped_and_named():
    trials = recordings(repetitions=6)
    partly = np.where(np.arange(360) == 7, np.nan, 1.0)
    trials = trials.assign_coords(
        trial=("presentation", np.arange(360)),
        partly=("presentation", partly),
        kept=("presentation", ["x"] * 360),
    )
    with pytest.warns(UserWarning, match='dropped the coordinates "trial", "partly"'):
        averaged = average_repetitions(trials)
    assert averaged.sizes["presentation"] == 60
    assert averaged.attrs["averaging"]["dropped"] == ("trial", "partly")
    assert "trial" not in averaged.coords
    assert "kept" in averaged.coords


def test_a_nan_trial_is_left_out_and_counted():
    trials = recordings(repetitions=3)
    trials.values[60, 2] = np.nan
    averaged = average_repetitions(trials)
    assert averaged.attrs["averaging"]["n_nan"] == 1
    assert averaged.values[0, 2] == pytest.approx(trials.values[[0, 120], 2].mean())


def test_a_stimulus_without_any_response_is_refused_by_name():
    trials = recordings(repetitions=3)
    trials.values[[4, 64, 124], 1] = np.nan
    with pytest.raises(DataQualityError, match='stimulus "im004" is NaN for neuroid "IT1"'):
        average_repetitions(trials)


def test_averaging_keeps_time_and_ragged_counts():
    trials = (
        recordings(repetitions=3)
        .isel(presentation=slice(0, 150))
        .drop_vars(["time_bin_start", "time_bin_end"])
    )
    stacked = xr.concat([trials, 2 * trials], "time_bin").assign_coords(
        time_bin_start=("time_bin", [0, 10]), time_bin_end=("time_bin", [10, 20])
    )
    averaged = average_repetitions(stacked)
    assert averaged.dims == ("presentation", "neuroid", "time_bin")
    assert (averaged.attrs["averaging"]["fewest"], averaged.attrs["averaging"]["most"]) == (2, 3)
    np.testing.assert_allclose(averaged.values[..., 1], 2 * averaged.values[..., 0])


@given(st.permutations(range(24)), st.integers(1, 130))
def test_the_order_of_presentations_changes_no_mean(order, neuroids):
    rng = np.random.default_rng(neuroids)
    array = xr.DataArray(
        rng.normal(size=(24, neuroids)).astype(np.float32),
        dims=("presentation", "neuroid"),
        coords={
            "stimulus_id": ("presentation", [f"s{i % 7}" for i in range(24)]),
            "repetition": ("presentation", [i // 7 for i in range(24)]),
            "neuroid_id": ("neuroid", np.arange(neuroids)),
        },
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        one, two = (average_repetitions(each) for each in (array, array.isel(presentation=list(order))))
    two = two.isel(presentation=np.argsort(two["stimulus_id"].values))
    np.testing.assert_allclose(one.sortby("stimulus_id").values, two.values, rtol=1e-12, atol=1e-12)


def test_flat_takes_assemblies_too():
    assembly = NeuralAssembly(recordings())
    assert flat(assembly) is assembly.array
