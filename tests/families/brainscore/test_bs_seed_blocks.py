"""The eight code blocks of the public tutorial run as they stand: only the names of imports are changed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from test_bs_seed_patterns import (
    BIBTEX,
    Tuned,
    grid_of_gratings,
    load_assembly,
    tiny2002_properties,
    tiny_suppression,
)
from tiny_recordings import PixelModel, recordings, stimuli

import neuroarena.families.brainscore as package
from neuroarena.families.brainscore import (
    CrossRegressedCorrelation,
    CrossValidation,
    NeuralBenchmark,
    PropertiesBenchmark,
    Score,
    benchmark_registry,
    explained_variance,
    load_benchmark,
    load_metric,
    score,
)
from neuroarena.families.brainscore.metrics.metric import pearson
from neuroarena.families.brainscore.metrics.pls import PartialLeastSquares
from neuroarena.families.brainscore.plugins import add_plugins
from neuroarena.families.brainscore.registries import data_registry, stimulus_set_registry
from shared_data import SHARED

SEED = next(iter(sorted((SHARED / "seeds").glob("002_*.txt"))), None)
pytestmark = pytest.mark.skipif(SEED is None, reason="the public tutorial is not beside the project")


def changed(block: str) -> str:
    """Change the names of imports, and nothing else: everything is imported from the package itself."""
    return re.sub(r"from brainscore_vision[\w.]* import", "from neuroarena.families.brainscore import", block)


@pytest.fixture(scope="module")
def blocks() -> list[str]:
    found = re.findall(r"```python\n(.*?)```", SEED.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert len(found) == 8
    return [changed(block) for block in found]


@pytest.fixture(autouse=True)
def _clean_registries():
    everything = (benchmark_registry, data_registry, stimulus_set_registry)
    before = [dict(registry._registered) for registry in everything]
    yield
    for registry, kept in zip(everything, before, strict=True):
        registry._registered = kept


def run(*code: str, **given: object) -> dict[str, object]:
    """Run blocks one after the other, with the package's names and what the tutorial leaves to its reader."""
    names = {name: getattr(package, name) for name in package.__all__}
    names |= {"load_assembly": load_assembly, "BIBTEX": BIBTEX, **given}
    for block in code:
        exec(block, names)
    return names


def test_block_1_makes_a_neural_benchmark_whose_factory_scores_a_model(blocks):
    benchmark = run(blocks[0])["DicarloMajajHong2015ITPLS"]()
    assert isinstance(benchmark, NeuralBenchmark)
    assert (benchmark.identifier, benchmark.version) == ("MajajHong2015.IT-pls", 3)
    found = benchmark(PixelModel())
    assert float(found) == pytest.approx((found.raw.value / found.ceiling.value) ** 2)


def test_block_2_loads_the_ceiling_and_hands_it_to_the_factory(blocks):
    made = run(blocks[0], blocks[1])
    assert isinstance(made["ceiler"], package.Ceiling)
    assert made["benchmark"].ceiling.value == float(made["ceiler"](load_assembly(False, "IT")))


def test_block_3_is_the_call_of_a_neural_benchmark(blocks):
    call = run(blocks[2])["__call__"]
    overridden = type("Overridden", (NeuralBenchmark,), {"__call__": call})
    options = {
        "identifier": "Tiny.IT-pls",
        "assembly": recordings(),
        "similarity_metric": load_metric("pls"),
        "visual_degrees": 8,
        "number_of_trials": 50,
        "ceiling_func": lambda: 0.8,
    }
    model = PixelModel()
    found = overridden(**options)(model)
    assert found == NeuralBenchmark(**options)(PixelModel())
    assert [each[0] for each in model.calls] == ["start_recording", "visual_degrees", "look_at"]
    assert model.calls[2][2] == 50


def test_block_4_is_a_metric_with_methods_of_its_own(blocks):
    kind = run(blocks[3])["CrossRegressedCorrelation"]
    assert kind is not CrossRegressedCorrelation
    metric = kind()
    metric.regression, metric.correlation = PartialLeastSquares(), pearson
    metric.cross_validation = CrossValidation()
    source, target = recordings(neuroids=40, noise=0.1), recordings(seed=2)
    found, ours = metric(source, target), load_metric("pls")(source, target)
    assert float(found) == pytest.approx(float(ours), abs=1e-12)
    assert (found.error, found.n_splits) == (pytest.approx(ours.error), 10)
    assert found.raw.dims == ("split", "neuroid")


def test_block_5_makes_a_neural_benchmark_without_a_version(blocks):
    benchmark = run(blocks[0], blocks[1], blocks[4])["DicarloMajajHong2015ITPLS"]()
    assert (benchmark.version, benchmark.parent) == (4, "IT")
    assert benchmark(PixelModel()).formula == "variance_ratio"


def test_block_6_makes_a_benchmark_of_properties(blocks):
    data_registry["Cavanaugh2002a"] = tiny_suppression
    shown = {"degrees": 8, "position_y": 0.5, "position_x": 0.5}
    stimulus_set_registry["Marques2020_blank"] = lambda: stimuli(1, contrast=0.0, **shown)
    stimulus_set_registry["Marques2020_receptive_field"] = grid_of_gratings
    stimulus_set_registry["Marques2020_orientation"] = lambda: stimuli(
        8, orientation=[0, 0, 45, 45, 90, 90, 135, 135], phase=[0, 90] * 4, **shown
    )
    made = run(blocks[5], cavanaugh2002_properties=tiny2002_properties)
    benchmark = made["MarquesCavanaugh2002V1SurroundSuppressionIndex"]()
    assert isinstance(benchmark, PropertiesBenchmark)
    assert 0.7 < float(score(Tuned(), benchmark)) < 1.1


def test_block_7_is_a_benchmark_with_logic_of_its_own(blocks):
    stimulus_set_registry["Bracci2019"] = stimuli
    data_registry["Bracci2019"] = lambda: recordings(neuroids=60, noise=0.1)

    class WithCeiling(run(blocks[6])["_Bracci2019RSA"]):
        """The tutorial leaves the region and the ceiling to its reader."""

        _region = "IT"

        def _get_human_ceiling(self, assembly):
            own = assembly["subject"].values
            return self._metric(*(assembly.isel(neuroid=own == one) for one in np.unique(own)))

    benchmark_registry["Bracci2019.IT-rdm"] = lambda: WithCeiling("IT")
    found = score(PixelModel(), "Bracci2019.IT-rdm")
    assert float(found) == pytest.approx(found.raw.value / found.ceiling.value)
    assert load_benchmark("Bracci2019.IT-rdm").ceiling == 1


BENCHMARK_FILE = """
from neuroarena.families.brainscore import NeuralBenchmark, load_metric
from tiny_recordings import recordings


def MyNeuralBenchmark(region="IT"):
    return NeuralBenchmark(
        identifier=f"MyExperiment.{region}-pls", assembly=recordings(region), similarity_metric=load_metric("pls"),
        visual_degrees=8, number_of_trials=1, ceiling_func=lambda: 1,
    )
"""


def test_block_8_registers_the_benchmarks_of_a_plugin_folder(blocks, tmp_path: Path):
    folder = tmp_path / "myexperiment"
    folder.mkdir()
    (folder / "__init__.py").write_text(blocks[7], encoding="utf-8")
    (folder / "benchmark.py").write_text(BENCHMARK_FILE, encoding="utf-8")
    assert add_plugins(folder) == ["myexperiment"]
    for region in ("IT", "V4"):
        assert load_benchmark(f"MyExperiment.{region}-pls").region == region
    assert 0 < float(score(PixelModel(), "MyExperiment.V4-pls")) < 1


def test_the_worked_example_of_the_tutorial_is_the_older_formula():
    assert float(explained_variance(Score(0.65), Score(0.82), version=3)) == pytest.approx(0.63, abs=0.005)
    assert float(explained_variance(Score(0.65), Score(0.82))) == pytest.approx(0.515, abs=0.005)


def test_the_names_of_arrays_annotate_and_construct():
    made = package.NeuroidAssembly(
        np.eye(2), dims=("presentation", "neuroid"), coords={"stimulus_id": ("presentation", ["a", "b"])}
    )
    assert isinstance(made, package.DataAssembly)
    assert isinstance(made, xr.DataArray)
