"""Shipped benchmarks on the twin: expected scores of shipped models, versions, and where data are found."""

from __future__ import annotations

import shutil

import h5py
import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bsd_twin import small_twin, twin

import neuroarena
from neuroarena.errors import InputError
from neuroarena.families.brainscore import (
    benchmark_registry,
    load_benchmark,
    load_dataset,
    load_model,
    score,
)
from neuroarena.families.brainscore.definitions import QUESTIONS
from neuroarena.families.brainscore.definitions.files import neurons_in
from neuroarena.families.brainscore.definitions.solution_times import (
    TIME_BINS,
    SolutionTimeBenchmark,
    read_solution_times,
)
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.models import PrecomputedFeatures
from neuroarena.families.brainscore.registries import data_registry, stimulus_set_registry

SSI = "Marques2020_Cavanaugh2002-surround_suppression_index"
# Benchmark, model, score, raw score: measured 2026-11-16 on the default twin, seed 0.
EXPECTED = [
    ("MajajHong2015.V4-pls", "tiny-cnn", 0.776, 0.840),
    ("MajajHong2015.V4-pls", "pixels", 0.270, 0.495),
    ("MajajHong2015.IT-pls", "tiny-cnn", 0.773, 0.839),
    ("MajajHong2015.IT-pls", "pixels", 0.215, 0.442),
    ("FreemanZiemba2013.V1-pls", "tiny-cnn", 0.675, 0.790),
    ("FreemanZiemba2013.V1-pls", "pixels", 0.620, 0.757),
    ("FreemanZiemba2013.V2-pls", "tiny-cnn", 0.679, 0.791),
    ("FreemanZiemba2013.V2-pls", "pixels", 0.493, 0.674),
    (SSI, "tiny-cnn", 0.088, 0.083),
    ("Marques2020_Ringach2002-circular_variance", "tiny-cnn", 0.308, 0.289),
    ("Marques2020_DeValois1982-peak_sf", "tiny-cnn", 0.582, 0.550),
]


@pytest.mark.parametrize(("benchmark", "model", "value", "raw"), EXPECTED)
def test_a_shipped_model_scores_on_the_twin_as_it_did(benchmark, model, value, raw):
    found = score(load_model(model, cache=False), load_benchmark(benchmark, data=twin()))
    assert float(found) == pytest.approx(value, abs=0.02)
    assert float(found.raw) == pytest.approx(raw, abs=0.02)
    assert found.provenance["simulated"] is True
    assert found.attrs["benchmark_identifier"] == benchmark


def test_every_name_is_registered_described_and_its_own():
    assert set(QUESTIONS) <= set(benchmark_registry.names())
    for name in [
        each for each in QUESTIONS if each.partition("-")[0] not in ("Haxby2001", "Kriegeskorte2008.IT")
    ]:
        benchmark = load_benchmark(name, data=small_twin())
        assert benchmark.identifier == name
        assert benchmark.bibtex.startswith("@article{")
        assert "url = " in benchmark.bibtex
        assert benchmark.parent.startswith(("V1", "V2", "V4", "IT"))
        assert benchmark.simulated


def test_version_four_divides_the_variance_and_version_three_squares_the_ratio():
    model = load_model("pixels", cache=False)
    four, three = (
        score(model, load_benchmark("MajajHong2015.IT-pls", data=twin(), version=version))
        for version in (4, 3)
    )
    r, c = float(four.raw), float(four.ceiling)
    assert (four.formula, three.formula) == ("variance_ratio", "ratio_squared")
    assert (float(three.raw), float(three.ceiling)) == (r, c)
    assert float(four) == pytest.approx(r**2 / c)
    assert float(three) == pytest.approx((r / c) ** 2)


def test_recordings_are_averaged_over_repetitions_and_over_the_window():
    benchmark = load_benchmark("FreemanZiemba2013.V2-pls", data=small_twin())
    trials = load_dataset("FreemanZiemba2013.public", data=small_twin())
    neuron = trials.isel(neuroid=trials["region"].values == "V2").isel(neuroid=0)
    key = benchmark.assembly["stimulus_id"].values[5]
    shown = neuron.isel(presentation=neuron["stimulus_id"].values == key)
    window = shown.isel(time_bin=slice(50, 200)).values.mean()
    at = benchmark.assembly["stimulus_id"].values.tolist().index(key)
    assert benchmark.assembly.values[at, 0] == pytest.approx(window)
    assert benchmark.timebins == [(50, 200)]
    assert benchmark.region == "V2"


def test_the_folder_is_found_by_argument_variable_or_the_folder_of_all_data(tmp_path, monkeypatch):
    (tmp_path / "brainscore_vision").symlink_to(small_twin())
    with pytest.raises(InputError, match=r"\$NEUROARENA_BRAINSCORE"):
        load_benchmark("MajajHong2015.IT-pls")
    monkeypatch.setenv("NEUROARENA_DATA", str(tmp_path))
    assert load_benchmark("MajajHong2015.IT-pls").simulated
    assert neuroarena.load_benchmark("MajajHong2015.IT-pls").identifier == "MajajHong2015.IT-pls"
    monkeypatch.setenv("NEUROARENA_BRAINSCORE", str(tmp_path / "nowhere"))
    with pytest.raises(InputError, match="nowhere, which is not a folder"):
        load_benchmark("MajajHong2015.IT-pls")
    loaded = neuroarena.load_benchmark("MajajHong2015.IT-pls", data=str(small_twin()), version=3)
    assert loaded.version == 3


def test_a_study_that_is_not_there_is_named_with_its_file(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=r"there is no assy_dicarlo_MajajHong2015_public\.nc"):
        load_benchmark("MajajHong2015.IT-pls", data=tmp_path / "empty")


def test_a_missing_table_and_a_missing_picture_are_named(tmp_path):
    for name in ("assy_Kar2019.nc", "stimulus_Kar2019.csv"):
        shutil.copy(small_twin() / name, tmp_path)
    with pytest.raises(ConfigError, match=r"stimulus_Kar2019\.zip: this file does not exist"):
        load_benchmark("Kar2019-ost", data=tmp_path)
    (tmp_path / "stimulus_Kar2019.csv").unlink()
    with pytest.raises(ConfigError, match=r"stimulus_Kar2019\.csv: this file does not exist"):
        load_benchmark("Kar2019-ost", data=tmp_path)


def test_a_region_without_neuroids_is_refused():
    array = read_solution_times(small_twin())
    with pytest.raises(ConfigError, match="no neuroid of region V4"):
        neurons_in(array, "V4")


def test_solution_times_are_read_under_their_published_names(tmp_path):
    array = load_dataset("Kar2019", data=small_twin())
    assert array["decoder"].values.tolist() == ["svm"]
    assert set(array["image_label"].values) == set(array["object_name"].values)
    assert read_solution_times(small_twin())["region"].values.tolist() == ["IT"]
    for file in small_twin().glob("*Kar2019.*"):
        shutil.copy(file, tmp_path)
    with h5py.File(tmp_path / "assy_Kar2019.nc", "r+") as file:
        file["decoder"][:] = ["logistic"]
    with pytest.raises(ConfigError, match='no decoder "svm" in the file; there are "logistic"'):
        load_benchmark("Kar2019-ost", data=tmp_path)


def test_every_dataset_and_stimulus_set_is_registered():
    assert {"MajajHong2015.public", "Cavanaugh2002a", "Kar2019"} <= set(data_registry.names())
    assert {"hvm-public", "Marques2020_blank", "Marques2020_size"} <= set(stimulus_set_registry.names())


def test_a_published_name_may_be_registered_with_data_of_ones_own():
    name = "MajajHong2015.V4-pls"
    mine = load_benchmark(name, data=small_twin())
    with pytest.warns(UserWarning, match=f'"{name}" from .*test_bsd_definitions.* replaces the one'):
        benchmark_registry[name] = lambda: mine
    try:
        assert load_benchmark(name) is mine
        assert benchmark_registry.origin(name).endswith("test_bsd_definitions.py")
    finally:
        del benchmark_registry[name]
    assert benchmark_registry.origin(name) == "neuroarena"


def solver(order: str) -> PrecomputedFeatures:
    """Make a model that tells objects from a moment on: later for small ones, or for none in particular."""
    assembly = load_dataset("Kar2019", data=twin())
    table = assembly.attrs["stimulus_set"].table
    rank = table["s"].rank(ascending=False).to_numpy() / len(table)
    rng = np.random.default_rng(0)
    late = rng.permutation(rank) if order == "shuffled" else rank
    starts = np.array([start for start, _ in TIME_BINS])
    told = np.clip((starts[None] - 90 - 90 * late[:, None]) / 40, 0, 1)
    labels = pd.get_dummies(table["object_name"]).to_numpy(dtype=float)
    values = 3 * labels[:, :, None] * told[:, None, :] + 0.3 * rng.normal(size=(len(table), 8, 1))
    features = xr.DataArray(
        values,
        dims=("presentation", "neuroid", "time_bin"),
        coords={
            "stimulus_id": ("presentation", table["stimulus_id"].to_numpy()),
            "time_bin_start": ("time_bin", starts),
            "time_bin_end": ("time_bin", starts + 10),
        },
    )
    return PrecomputedFeatures(features, identifier=order)


def test_a_model_that_solves_small_objects_late_scores_high_on_solution_times():
    benchmark = load_benchmark("Kar2019-ost", data=twin())
    found = score(solver("as the twin"), benchmark)
    assert found.formula == "ratio"
    assert float(found) == pytest.approx(float(found.raw) / 0.79)
    assert float(found.raw) > 0.6
    assert float(score(solver("shuffled"), benchmark).raw) < 0.3


@pytest.mark.parametrize("model", ["pixels", "tiny-cnn"])
def test_a_model_without_time_has_no_solution_times_and_is_told_at_once(model):
    candidate = load_model(model, cache=False)
    looked: list[int] = []
    look_at = candidate.look_at
    candidate.look_at = lambda stimuli, **options: looked.append(len(stimuli)) or look_at(stimuli, **options)
    with pytest.raises(DataQualityError, match=f'"{model}" does not change over time'):
        score(candidate, load_benchmark("Kar2019-ost", data=small_twin()))
    assert looked == [2]


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (
            lambda a: xr.concat([a, a.assign_coords(neuroid_id=("neuroid", ["b"]))], "neuroid"),
            "one solution time",
        ),
        (lambda a: a.isel(presentation=[0, 0, 1]), "one solution time"),
        (lambda a: a.assign_attrs(stimulus_set=None), "must be a StimulusSet"),
    ],
)
def test_solution_times_that_cannot_serve_are_refused(spoil, said):
    assembly = read_solution_times(small_twin())
    with pytest.raises(ConfigError, match=said):
        SolutionTimeBenchmark("Mine-ost", spoil(assembly), 8, 44, ceiling_func=lambda: 1)
