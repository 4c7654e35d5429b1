"""The four ways the tutorial declares a benchmark, in code of our own: same classes, arguments and calls."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from tiny_recordings import PixelModel, recordings, stimuli

from neuroarena.families.brainscore import (
    Benchmark,
    BenchmarkBase,
    BrainModel,
    CrossRegressedCorrelation,
    Metric,
    NeuralBenchmark,
    NeuronalPropertyCeiling,
    PropertiesBenchmark,
    RSABenchmark,
    Score,
    TrainTestNeuralBenchmark,
    benchmark_registry,
    load_benchmark,
    load_ceiling,
    load_dataset,
    load_metric,
    load_model,
    load_stimulus_set,
    place_on_screen,
    score,
)
from neuroarena.families.brainscore.registries import data_registry, model_registry, stimulus_set_registry
from neuroarena.families.brainscore.repetitions import average_repetitions as averaged

BIBTEX = "@article{tiny, title={Tiny}, year={2026}}"


@pytest.fixture(autouse=True)
def _clean_registries():
    everything = (benchmark_registry, data_registry, stimulus_set_registry, model_registry)
    before = [dict(registry._registered) for registry in everything]
    yield
    for registry, kept in zip(everything, before, strict=True):
        registry._registered = kept


def test_the_names_of_the_public_package_are_exported():
    import neuroarena.families.brainscore as package

    exported = {
        each.__name__
        for each in (
            Benchmark,
            BenchmarkBase,
            NeuralBenchmark,
            PropertiesBenchmark,
            TrainTestNeuralBenchmark,
            RSABenchmark,
            BrainModel,
            Metric,
            CrossRegressedCorrelation,
            NeuronalPropertyCeiling,
            Score,
            load_benchmark,
            load_dataset,
            load_stimulus_set,
            load_metric,
            load_ceiling,
            load_model,
            score,
            place_on_screen,
        )
    }
    assert exported | {"benchmark_registry"} <= set(package.__all__) == set(dir(package))
    with pytest.raises(AttributeError):
        _ = package.nothing_of_this_name

    assert package.score is score


# Pattern 1: a factory of NeuralBenchmark, with and without a version.


def load_assembly(average_repetitions: bool, region: str) -> xr.DataArray:
    assembly = recordings(region, repetitions=6)
    return averaged(assembly) if average_repetitions else assembly


def _TinyHong2015Region(
    region: str, access: str, identifier_metric_suffix: str, similarity_metric: Metric, ceiler
):
    assembly_repetition = load_assembly(average_repetitions=False, region=region)
    assembly = load_assembly(average_repetitions=True, region=region)
    return NeuralBenchmark(
        identifier=f"TinyHong2015.{region}-{identifier_metric_suffix}",
        version=3,
        assembly=assembly,
        similarity_metric=similarity_metric,
        visual_degrees=8,
        number_of_trials=50,
        ceiling_func=lambda: ceiler(assembly_repetition),
        parent=region,
        bibtex=BIBTEX,
    )


def TinyHong2015ITPLS():
    ceiler = load_ceiling("internal_consistency")
    return _TinyHong2015Region(
        region="IT",
        access="public",
        identifier_metric_suffix="pls",
        similarity_metric=load_metric("pls"),
        ceiler=ceiler,
    )


def test_a_factory_of_a_neural_benchmark_is_registered_and_scored_by_name():
    benchmark_registry["TinyHong2015.IT-pls"] = TinyHong2015ITPLS
    model_registry["tiny-pixels"] = PixelModel
    result = score("tiny-pixels", "TinyHong2015.IT-pls")
    benchmark = load_benchmark("TinyHong2015.IT-pls")
    assert isinstance(benchmark, NeuralBenchmark)
    assert (benchmark.version, benchmark.parent, benchmark.bibtex) == (3, "IT", BIBTEX)
    assert (benchmark.region, benchmark.timebins) == ("IT", [(70, 170)])
    assert 0.5 < result.raw.value < 1
    assert 0.8 < result.ceiling.value < 1
    assert result.value == pytest.approx((result.raw.value / result.ceiling.value) ** 2)
    assert result.formula == "ratio_squared"
    assert result.raw.raw.dims == ("split", "neuroid")
    assert (result.n_splits, result.n_neuroids_used, result.n_neuroids_total) == (10, 6, 6)
    assert result.attrs["model_identifier"] == "tiny-pixels"
    assert result.attrs["benchmark_identifier"] == "TinyHong2015.IT-pls"
    assert result.provenance["benchmark_version"] == 3
    assert result.provenance["seed"] == 1
    assert set(result.provenance["versions"]) == {"neuroarena", "numpy", "xarray"}
    assert len(result.provenance["data"]["assembly"]) == 64
    assert Score.from_json(result.to_json()).to_json() == result.to_json()


def test_names_and_objects_give_the_same_score():
    benchmark_registry["TinyHong2015.IT-pls"] = TinyHong2015ITPLS
    model_registry["tiny-pixels"] = PixelModel
    named = score("tiny-pixels", "TinyHong2015.IT-pls")
    assert named == score(PixelModel(), TinyHong2015ITPLS()) == TinyHong2015ITPLS()(PixelModel())


def test_without_a_version_a_benchmark_uses_the_formula_of_today():
    ceiler = load_ceiling("internal_consistency")
    assembly_repetition = load_assembly(average_repetitions=False, region="IT")
    benchmark = NeuralBenchmark(
        identifier="TinyHong2015.IT-pls",
        assembly=load_assembly(average_repetitions=True, region="IT"),
        similarity_metric=CrossRegressedCorrelation(regression="pls"),
        visual_degrees=8,
        number_of_trials=50,
        ceiling_func=lambda: ceiler(assembly_repetition),
        parent="IT",
        bibtex=BIBTEX,
    )
    result = benchmark(PixelModel())
    assert benchmark.version == 4
    assert result.formula == "variance_ratio"
    assert result.value == pytest.approx(result.raw.value**2 / result.ceiling.value)


# Pattern 2: properties, with an assembly of indices and a function that measures them in a model.


def tiny2002_properties(model_identifier, responses, baseline):
    assert model_identifier == "tuned"
    radius = responses["radius"].values
    rates = responses.values - baseline.values.mean(axis=0)
    largest, best = rates[radius == radius.max()].mean(axis=0), rates.max(axis=0)
    index = (best - largest) / best
    return xr.DataArray(
        index[:, None],
        dims=("neuroid", "neuronal_property"),
        coords={
            "neuronal_property": ["surround_suppression_index"],
            "region": ("neuroid", ["V1"] * index.size),
        },
    )


def tiny_suppression() -> xr.DataArray:
    rng = np.random.default_rng(3)
    shown = stimuli(6, degrees=8, radius=[0.1, 0.2, 0.4, 0.8, 1.6, 3.2], position_y=0.5, position_x=0.5)
    return xr.DataArray(
        rng.uniform(0.1, 0.9, (40, 1)),
        dims=("neuroid", "neuronal_property"),
        coords={"neuronal_property": ["surround_suppression_index"], "region": ("neuroid", ["V1"] * 40)},
        attrs={
            "stimulus_set": shown,
            "number_of_trials": 20,
            "surround_suppression_index_bins": np.linspace(0, 1, num=11),
        },
    )


class Tuned:
    """Neuroids with a field at (0.5, 0.5) and suppression by large gratings, spread as in the recordings."""

    identifier = "tuned"

    def visual_degrees(self):
        return 8

    def start_recording(self, region, time_bins):
        assert (region, time_bins) == ("V1", [(70, 170)])

    def look_at(self, stimuli, number_of_trials=1):
        strength = np.linspace(0.1, 0.9, 30)
        table = stimuli.table
        contrast = table["contrast"].to_numpy() if "contrast" in table else np.ones(len(table))
        distance = np.hypot(table["position_y"] - 0.5, table["position_x"] - 0.5).to_numpy()
        radius = table["radius"].to_numpy() if "radius" in table else np.full(len(table), 0.4)
        drive = contrast * np.exp(-((distance / 0.3) ** 2)) * np.minimum(radius / 0.4, 1)
        kept = 1 - strength * (radius[:, None] >= 3)
        return xr.DataArray(
            1 + drive[:, None] * kept,
            dims=("presentation", "neuroid"),
            coords={"stimulus_id": ("presentation", list(stimuli)), "neuroid_id": ("neuroid", np.arange(30))},
        )


def TinyCavanaugh2002V1SurroundSuppressionIndex():
    assembly = load_dataset("TinyCavanaugh2002a")
    similarity_metric = load_metric("ks_similarity", property_name="surround_suppression_index")
    return PropertiesBenchmark(
        identifier="Tiny2020_Cavanaugh2002-surround_suppression_index",
        assembly=assembly,
        neuronal_property=tiny2002_properties,
        similarity_metric=similarity_metric,
        timebins=[(70, 170)],
        ceiling_func=NeuronalPropertyCeiling(similarity_metric),
        parent="V1-surround_modulation",
        bibtex=BIBTEX,
    )


def grid_of_gratings():
    ys, xs = np.meshgrid(np.arange(0, 1.01, 0.25), np.arange(0, 1.01, 0.25), indexing="ij")
    return stimuli(25, degrees=8, position_y=ys.ravel(), position_x=xs.ravel())


def test_a_property_is_measured_in_the_model_and_compared_with_the_recordings():
    data_registry["TinyCavanaugh2002a"] = tiny_suppression
    stimulus_set_registry["Marques2020_blank"] = lambda: stimuli(
        1, degrees=8, contrast=0.0, position_y=0.5, position_x=0.5
    )
    stimulus_set_registry["Marques2020_receptive_field"] = grid_of_gratings
    stimulus_set_registry["Marques2020_orientation"] = lambda: stimuli(
        8,
        degrees=8,
        position_y=0.5,
        position_x=0.5,
        orientation=[0, 0, 45, 45, 90, 90, 135, 135],
        phase=[0, 90] * 4,
    )
    benchmark_registry["Tiny2020_Cavanaugh2002-surround_suppression_index"] = (
        TinyCavanaugh2002V1SurroundSuppressionIndex
    )
    result = score(Tuned(), "Tiny2020_Cavanaugh2002-surround_suppression_index")
    assert result.formula == "ratio"
    assert 0.7 < result.raw.value < result.ceiling.value < 1
    assert result.value == pytest.approx(result.raw.value / result.ceiling.value)
    assert result.attrs["n_model_neuroids_in_place"] == result.attrs["n_model_neuroids"] == 30
    assert result == score(Tuned(), "Tiny2020_Cavanaugh2002-surround_suppression_index")


# Pattern 3: a class of one's own.


class _Tiny2019RSA(BenchmarkBase):
    def __init__(self, region):
        self._region = region
        self._stimulus_set = load_stimulus_set("Tiny2019")
        self._human_assembly = load_dataset("Tiny2019")
        self._metric = load_metric("rdm")
        super().__init__(
            identifier=f"Tiny2019.{region}-rdm",
            version=1,
            ceiling_func=lambda: 1,
            parent="Tiny2019",
            bibtex=BIBTEX,
        )

    def _get_human_ceiling(self, assembly):
        subjects = assembly["subject"].values
        halves = [assembly.isel(neuroid=subjects == subject) for subject in np.unique(subjects)]
        return self._metric(*halves)

    def __call__(self, candidate: BrainModel):
        candidate.start_recording(self._region, [(70, 170)])
        stimulus_set = place_on_screen(
            self._stimulus_set, target_visual_degrees=candidate.visual_degrees(), source_visual_degrees=8
        )
        dnn_assembly = candidate.look_at(stimulus_set, number_of_trials=1)
        ceiling = self._get_human_ceiling(self._human_assembly)
        similarity = self._metric(dnn_assembly, self._human_assembly)
        score = Score(similarity / ceiling)
        score.attrs["raw"] = similarity
        score.attrs["ceiling"] = ceiling
        return score


def test_a_class_of_ones_own_makes_its_own_score():
    stimulus_set_registry["Tiny2019"] = stimuli
    data_registry["Tiny2019"] = lambda: recordings(neuroids=60, noise=0.1)
    benchmark_registry["Tiny2019.IT-rdm"] = lambda: _Tiny2019RSA(region="IT")
    result = score(PixelModel(), "Tiny2019.IT-rdm")
    benchmark = load_benchmark("Tiny2019.IT-rdm")
    assert isinstance(benchmark.ceiling, Score)
    assert benchmark.ceiling == 1
    assert result.value == pytest.approx(result.raw.value / result.ceiling.value)
    assert result.raw.value > 0.3


# Pattern 4: registration by reference, by lambda with parameters, and by decorator.


def TinyNeuralBenchmark(region: str = "IT"):
    return NeuralBenchmark(
        identifier=f"TinyExperiment.{region}-pls",
        assembly=recordings(region),
        similarity_metric=load_metric("pls"),
        visual_degrees=8,
        number_of_trials=1,
        ceiling_func=lambda: 1,
    )


def test_registration_by_reference_by_lambda_and_by_decorator():
    benchmark_registry["TinyExperiment.IT-pls"] = TinyNeuralBenchmark
    benchmark_registry["TinyExperiment.V4-pls"] = lambda: TinyNeuralBenchmark(region="V4")

    @benchmark_registry.register("TinyExperiment.V1-pls")
    def decorated():
        return TinyNeuralBenchmark(region="V1")

    for region in ("IT", "V4", "V1"):
        assert load_benchmark(f"TinyExperiment.{region}-pls").region == region
    assert {"TinyExperiment.IT-pls", "TinyExperiment.V4-pls"} <= set(benchmark_registry)
    assert load_model(PixelModel()).identifier == "tiny-pixels"
