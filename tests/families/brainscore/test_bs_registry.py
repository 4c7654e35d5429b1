"""Names: registration, plugin folders, entry points, scaffolds, and the way to boards."""

from __future__ import annotations

import datetime
import importlib
import importlib.metadata
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from tiny_recordings import PixelModel, recordings, stimuli

from command_line import BARE_PYTEST
from neuroarena.board import Board, Entry
from neuroarena.cli.app import app
from neuroarena.errors import InputError, UnknownName
from neuroarena.families.brainscore import (
    BenchmarkBase,
    NeuralBenchmark,
    Score,
    benchmark_registry,
    load_benchmark,
    load_ceiling,
    load_dataset,
    load_metric,
    load_model,
    load_stimulus_set,
    score,
)
from neuroarena.families.brainscore import plugins as plugin_folders
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.plugins import add_plugins
from neuroarena.families.brainscore.registries import (
    FactoryRegistry,
    data_registry,
    metric_registry,
    model_registry,
    stimulus_set_registry,
)
from neuroarena.families.brainscore.scaffold import new_benchmark
from neuroarena.families.brainscore.unit_scores import manifest_of, unit_scores
from neuroarena.scoring import UnitScores


@pytest.fixture(autouse=True)
def _clean_registries(monkeypatch):
    monkeypatch.delenv("NEUROARENA_PLUGINS", raising=False)
    monkeypatch.setattr(plugin_folders, "_imported", {})
    for registry in (
        benchmark_registry,
        data_registry,
        stimulus_set_registry,
        model_registry,
        metric_registry,
    ):
        monkeypatch.setattr(registry, "_registered", dict(registry._registered))


def tiny(identifier: str = "Tiny.IT-ridge", **options) -> NeuralBenchmark:
    return NeuralBenchmark(
        identifier, recordings(), load_metric("ridge"), 8, 1, ceiling_func=lambda: 0.9, **options
    )


def test_an_unknown_name_is_answered_with_the_closest_ones():
    benchmark_registry["Tiny.IT-ridge"] = tiny
    with pytest.raises(UnknownName, match=r'No benchmark "Tiny\.IT-rigde".* Did you mean "Tiny\.IT-ridge"'):
        load_benchmark("Tiny.IT-rigde")
    with pytest.raises(
        UnknownName, match=r'No metric "plss".* Did you mean "pls".*metric_registry\.names\(\)'
    ):
        load_metric("plss")
    for load, kind in ((load_model, "model"), (load_dataset, "dataset"), (load_stimulus_set, "stimulus set")):
        with pytest.raises(UnknownName, match=f'No {kind} "nope"'):
            load("nope")


def test_a_name_must_be_what_the_benchmark_calls_itself():
    benchmark_registry["Tinypublic.IT-ridge"] = tiny
    with pytest.raises(
        ConfigError, match=r'registered as "Tinypublic\.IT-ridge" calls itself "Tiny\.IT-ridge"'
    ):
        load_benchmark("Tinypublic.IT-ridge")


@pytest.mark.parametrize(
    ("name", "factory", "said"),
    [
        ("", tiny, "under a name"),
        ("X", 3, "as a int, expected a function"),
        ("Tiny.IT-ridge", print, 'already a benchmark "Tiny.IT-ridge", from .*test_bs_registry'),
    ],
)
def test_a_registration_that_cannot_work_is_refused(name, factory, said):
    benchmark_registry["Tiny.IT-ridge"] = tiny
    with pytest.raises(ConfigError, match=said):
        benchmark_registry[name] = factory


def test_the_same_file_may_register_again_and_names_of_neuroarena_stay():
    benchmark_registry["Tiny.IT-ridge"] = tiny
    benchmark_registry["Tiny.IT-ridge"] = lambda: tiny()
    assert load_benchmark("Tiny.IT-ridge").version == 4
    with pytest.raises(ConfigError, match='already a metric "pls", from neuroarena'):
        metric_registry["pls"] = tiny
    assert metric_registry.origin("pls") == "neuroarena"
    assert benchmark_registry.origin("Tiny.IT-ridge").endswith("test_bs_registry.py")


def test_a_registry_is_also_a_mapping():
    registry = FactoryRegistry("model", "neuroarena.families.brainscore.definitions:STIMULUS_SET_FACTORIES")
    before = len(registry)
    registry["one"] = PixelModel
    assert "one" in registry
    assert registry["one"] is PixelModel
    assert len(list(registry)) == len(registry) == before + 1
    del registry["one"]
    assert "one" not in registry
    with pytest.raises(UnknownName):
        del registry["one"]


def test_an_address_serves_as_a_name():
    assert load_model("tiny_recordings:PixelModel").identifier == "tiny-pixels"
    with pytest.raises(InputError, match="cannot be loaded from tiny_recordings:Nothing"):
        load_model("tiny_recordings:Nothing")


def test_entry_points_of_installed_packages_are_found(monkeypatch):
    point = importlib.metadata.EntryPoint(
        "brought", "tiny_recordings:PixelModel", "neuroarena.brainscore.models"
    )
    monkeypatch.setattr(
        "neuroarena.registry.installed_points",
        lambda group: {"brought": point} if group == point.group else {},
    )
    assert load_model("brought").identifier == "tiny-pixels"
    assert "brought" in model_registry


def test_factories_that_make_something_else_are_refused():
    benchmark_registry["X"] = lambda: 3
    stimulus_set_registry["X"] = lambda: 3
    model_registry["X"] = lambda: 3
    data_registry["X"] = lambda: 3
    for load, said in (
        (load_benchmark, "not a benchmark"),
        (load_stimulus_set, "not a StimulusSet"),
        (load_model, "A int is not a model"),
        (load_dataset, "got a int"),
    ):
        with pytest.raises(ConfigError, match=said):
            load("X")
    with pytest.raises(ConfigError, match="cannot be called with a model"):
        score(PixelModel(), 3)


def test_data_and_stimuli_are_loaded_checked():
    data_registry["D"] = recordings
    stimulus_set_registry["S"] = stimuli
    assert load_dataset("D", region="V4")["region"].values[0] == "V4"
    assert len(load_stimulus_set("S", n=3)) == 3


def test_names_of_other_families_are_loaded_too(monkeypatch):
    from neuroarena import benchmarks

    monkeypatch.setattr(benchmarks, "load_benchmark", lambda name, data=None: (name, data))
    assert load_benchmark("neuroprobe/onset", data="d") == ("neuroprobe/onset", "d")


def test_the_one_registry_of_neuroarena_loads_comparisons_too():
    import neuroarena

    benchmark_registry["Tiny.IT-ridge"] = tiny
    loaded = neuroarena.load_benchmark("Tiny.IT-ridge")
    assert loaded.region == "IT"
    assert float(loaded(PixelModel())) == float(tiny()(PixelModel()))
    with pytest.raises(UnknownName, match='No benchmark "neuroprob"'):
        neuroarena.load_benchmark("neuroprob")


def write_plugin(folder: Path, name: str, text: str) -> Path:
    plugin = folder / name
    plugin.mkdir(parents=True)
    (plugin / "__init__.py").write_text(
        "from neuroarena.families.brainscore import benchmark_registry\n"
        f"from .benchmark import make\nfor region in ('IT', 'V4'):\n"
        f"    benchmark_registry[f'{name}.{{region}}-own'] = lambda region=region: make(region)\n"
    )
    (plugin / "benchmark.py").write_text(text)
    return plugin


OWN = """
from neuroarena.families.brainscore import BenchmarkBase, Score

class Own(BenchmarkBase):
    def __call__(self, candidate):
        return Score(0.5)

def make(region):
    return Own(f'{PLUGIN}.{region}-own', lambda: 1)
"""


def test_a_plugin_folder_is_found_by_the_environment_with_names_made_at_run_time(tmp_path, monkeypatch):
    write_plugin(tmp_path, "Alpha", OWN.replace("{PLUGIN}", "Alpha"))
    monkeypatch.setenv("NEUROARENA_PLUGINS", str(tmp_path))
    assert load_benchmark("Alpha.V4-own").identifier == "Alpha.V4-own"
    assert score(PixelModel(), "Alpha.IT-own") == 0.5
    assert "Alpha.IT-own" in benchmark_registry.names()


def test_two_plugins_of_one_folder_name_do_not_mix(tmp_path):
    write_plugin(tmp_path / "a", "Alpha", OWN.replace("{PLUGIN}", "Alpha"))
    beta = write_plugin(tmp_path / "b", "Beta", OWN.replace("{PLUGIN}", "Beta"))
    beta.rename(tmp_path / "b" / "Alpha")
    assert add_plugins(tmp_path / "a") == ["Alpha"]
    assert add_plugins(tmp_path / "b" / "Alpha") == ["Alpha"]
    assert {"Alpha.IT-own", "Beta.IT-own"} <= set(benchmark_registry)


def test_a_broken_plugin_does_not_hide_the_others_and_is_named(tmp_path, monkeypatch):
    write_plugin(tmp_path, "Alpha", OWN.replace("{PLUGIN}", "Alpha"))
    write_plugin(tmp_path, "Broken", "import nothing_of_this_name")
    monkeypatch.setenv("NEUROARENA_PLUGINS", str(tmp_path))
    assert load_benchmark("Alpha.IT-own").version == 4
    with pytest.raises(UnknownName, match=r"The plugin .*Broken could not be imported: ModuleNotFoundError"):
        load_benchmark("Broken.IT-own")
    monkeypatch.setattr(plugin_folders, "_imported", {})
    with pytest.raises(ConfigError, match="Broken could not be imported"):
        add_plugins(tmp_path / "Broken")


def test_folders_without_plugins_are_refused(tmp_path, monkeypatch):
    with pytest.raises(ConfigError, match="there is no plugin here"):
        add_plugins(tmp_path)
    monkeypatch.setenv("NEUROARENA_PLUGINS", str(tmp_path / "gone"))
    with pytest.raises(ConfigError, match=r"\$NEUROARENA_PLUGINS names .*gone, which is not a folder"):
        load_benchmark("X")


def new(*words: str) -> None:
    app(["new", "benchmark", "--kind", "brainscore", *words], standalone_mode=False)


def test_the_scaffold_passes_its_own_test_and_is_found_by_name(tmp_path, monkeypatch, capsys):
    new("my-experiment", "--folder", str(tmp_path), "--json")
    written = [Path(path).name for path in json.loads(capsys.readouterr().out)]
    assert written == ["__init__.py", "benchmark.py", "test.py"]
    monkeypatch.setenv("NEUROARENA_PLUGINS", str(tmp_path))
    benchmark = load_benchmark("MyExperiment.V4-ridge")
    assert (benchmark.region, benchmark.parent) == ("V4", "V4")
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my_experiment/test.py"]
    environment = {**os.environ, **BARE_PYTEST, "OMP_NUM_THREADS": "1"}
    tested = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "4 passed" in tested.stdout, tested.stdout + tested.stderr


@pytest.mark.parametrize(
    ("name", "said"), [("3 wishes", "made into a Python package name"), ("class", "Python package")]
)
def test_a_name_that_makes_no_package_is_refused(tmp_path, name, said):
    with pytest.raises(InputError, match=said):
        new_benchmark(name, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_scaffold_overwrites_nothing(tmp_path, capsys):
    before = {path: path.read_text() for path in new_benchmark("Mine", tmp_path)}
    with pytest.raises(InputError, match="Nothing was written"):
        new("mine", "--folder", str(tmp_path))
    assert {path: path.read_text() for path in before} == before
    new("other", "--folder", str(tmp_path))
    assert "export NEUROARENA_PLUGINS=" in capsys.readouterr().out


def test_a_score_becomes_one_row_a_neuroid_and_split_and_the_rows_make_the_score(tmp_path):
    benchmark = tiny()
    result = benchmark(PixelModel())
    units = unit_scores(result, benchmark)
    r = result.raw.raw
    wide = units.table.pivot(index="fold", columns="unit", values="raw")[
        [str(key) for key in r["neuroid_id"].values]
    ]
    np.testing.assert_array_equal(wide.to_numpy(), r.values)
    expected = np.sign(units.table["raw"]) * units.table["raw"] ** 2 / 0.9
    np.testing.assert_allclose(units.table["score"], expected)
    assert units.table["cluster"].tolist() == [name for name in ["monkey0", "monkey1"] * 3 for _ in range(10)]
    # Written out: the median over neuroids in each split, the mean over splits, then normalised.
    by_hand = np.median(r.values, axis=1).mean()
    assert units.value == pytest.approx(np.sign(by_hand) * by_hand**2 / 0.9, abs=1e-12)
    assert units.value == pytest.approx(float(result), abs=1e-12)
    assert (units.name, units.definition) == ("brainscore/Tiny.IT-ridge", "4")
    units.write(tmp_path / "units.parquet")
    assert UnitScores.read(tmp_path / "units.parquet").table.equals(units.table)


def test_models_are_ranked_on_a_board_with_intervals_over_neuroids():
    benchmark = tiny()
    rng = np.random.default_rng(0)

    def blurred(array):
        return array + 0.5 * rng.normal(size=array.shape)

    entries = []
    for team, model in (("sharp", PixelModel()), ("noisy", PixelModel(change=blurred))):
        result = benchmark(model)
        units = unit_scores(result, benchmark)
        manifest = manifest_of(benchmark, result)
        assert units.manifest_hash == manifest.hash
        entries.append(
            Entry(
                team=team,
                benchmark=f"brainscore@{benchmark.version}/{benchmark.identifier}",
                split="neuroids",
                manifest=manifest,
                unit_scores=units.table,
                time=datetime.datetime(2026, 11, 16, tzinfo=datetime.UTC),
            )
        )
    ranking = Board(entries).ranking("Tiny.IT-ridge", "neuroids")
    assert ranking.table["team"].tolist() == ["sharp", "noisy"]
    assert ranking.n_units == 6
    assert ranking.manifest.cluster == "subject"


@pytest.mark.parametrize("shape", [(2,), (1, 2)], ids=["no split", "one split"])
def test_a_single_split_is_its_own_mean(shape):
    dims = ("split", "neuroid")[-len(shape) :]
    ids = {"neuroid_id": ("neuroid", ["a", "b"])}
    raw = xr.DataArray(np.reshape([0.5, 0.25], shape), dims=dims, coords=ids)
    units = unit_scores(Score(0.375, raw=raw), tiny())
    assert units.table[["unit", "n", "score"]].values.tolist() == [["a", 1, 0.5], ["b", 1, 0.25]]


def test_neuroids_without_a_value_are_left_out_of_the_rows():
    ids = {"neuroid_id": ("neuroid", ["a", "b"])}
    raw = xr.DataArray([[0.5, np.nan], [0.7, np.nan]], dims=("split", "neuroid"), coords=ids)
    units = unit_scores(Score(0.6, raw=raw), tiny())
    assert units.table[["unit", "cluster", "score"]].values.tolist() == [["a", "a", 0.5], ["a", "a", 0.7]]
    assert units.value == pytest.approx(0.6)
    with pytest.raises(DataQualityError, match="No neuroid has a score"):
        unit_scores(Score(0.6, raw=raw * np.nan), tiny())
    with pytest.raises(ConfigError, match="has no values per neuroid"):
        unit_scores(Score(0.6), tiny())


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_benchmark_that_gives_no_number_is_refused_by_name(value):
    class Own(BenchmarkBase):
        def __call__(self, candidate):
            return Score(value)

    with pytest.raises(DataQualityError, match=f'Own.IT-x: the score of the model "tiny-pixels" is {value}'):
        score(PixelModel(), Own("Own.IT-x", lambda: 1))


@pytest.mark.parametrize(
    ("load", "command"), [(load_benchmark, "benchmarks brainscore"), (load_model, "decoders")]
)
def test_what_the_command_line_lists_is_hinted_at_with_its_command(load, command):
    with pytest.raises(UnknownName, match=f"See: neuroarena list {command}$"):
        load("nope")


@pytest.mark.parametrize("load", [load_dataset, load_stimulus_set, load_metric])
def test_the_hint_for_an_unknown_name_runs_as_it_is_written(load):
    with pytest.raises(UnknownName) as refused:
        load("nope")
    module, name = re.search(r"See: from (\S+) import (\w+); \2\.names\(\)$", str(refused.value)).groups()
    assert getattr(importlib.import_module(module), name).names()


@pytest.mark.parametrize(
    ("load", "said"),
    [
        (
            lambda: load_metric("pls", nope=1),
            'metric "pls" .*nope.* takes crossvalidation_kwargs, regression_kw',
        ),
        (lambda: load_metric("cka_biased", 1), 'metric "cka_biased" .* takes no options'),
        (lambda: load_ceiling("internal_consistency", 1, 2, 3), "takes splits, random_state"),
        (lambda: load_dataset(3), "A dataset is loaded by its name, got 3"),
        (lambda: load_stimulus_set(None), "A stimulus set is loaded by its name, got None"),
    ],
)
def test_options_and_names_that_cannot_be_are_refused(load, said):
    with pytest.raises(ConfigError, match=said):
        load()


def test_an_error_within_a_factory_stays_its_own():
    data_registry["Broken"] = lambda: len(3)
    with pytest.raises(TypeError, match="has no len"):
        load_dataset("Broken")
