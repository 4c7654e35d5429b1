"""How benchmarks call models, what they check, and what they do with the ceiling."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from scipy.stats import spearmanr
from tiny_recordings import PixelModel, pixels, recordings, stimuli

from neuroarena.errors import UnknownName
from neuroarena.families.brainscore import (
    Benchmark,
    BenchmarkBase,
    BrainModel,
    NeuralBenchmark,
    RSABenchmark,
    Score,
    TrainTestNeuralBenchmark,
    load_ceiling,
    load_metric,
)
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError
from neuroarena.families.brainscore.neuroids import ceiling_of, normalise_by_neuroid


def neural(assembly=None, ceiling=1, metric=None, **options) -> NeuralBenchmark:
    return NeuralBenchmark(
        identifier="Tiny.IT-ridge",
        assembly=recordings() if assembly is None else assembly,
        similarity_metric=metric or load_metric("ridge"),
        visual_degrees=8,
        number_of_trials=5,
        ceiling_func=ceiling if callable(ceiling) else lambda: ceiling,
        **options,
    )


def test_a_model_is_called_as_the_protocol_says():
    model, seen = PixelModel(degrees=4), []

    def metric(source, target):
        seen.append((source, target))
        return Score(0.5)

    result = neural(metric=metric, ceiling=0.8)(model)
    assert [call[0] for call in model.calls] == ["start_recording", "visual_degrees", "look_at"]
    assert model.calls[0] == ("start_recording", "IT", [(70, 170)])
    _, shown, trials = model.calls[2]
    assert trials == 5
    assert shown.image("im000").size == (8, 8)
    ((source, target),) = seen
    assert source.dims == ("presentation", "neuroid")
    assert source["time_bin_start"].item() == 70
    assert target["region"].values[0] == "IT"
    assert result.value == pytest.approx(0.5**2 / 0.8)


def test_the_order_of_rows_on_either_side_changes_nothing():
    expected = neural()(PixelModel())
    order = np.random.default_rng(1).permutation(60)
    assert neural(recordings().isel(presentation=order))(PixelModel()) == pytest.approx(expected, abs=1e-12)
    shuffled = PixelModel(change=lambda array: array.isel(presentation=order))
    assert neural()(shuffled) == pytest.approx(expected, abs=1e-12)


def test_the_ceiling_is_checked_before_the_model_runs_and_computed_once():
    model, calls = PixelModel(), []

    def broken():
        calls.append(1)
        return Score(-0.1)

    benchmark = neural(ceiling=broken)
    for _ in range(2):
        with pytest.raises(DataQualityError, match=r"ceiling of Tiny\.IT-ridge is -0\.1"):
            benchmark(model)
    assert model.calls == []
    assert calls == [1]


def test_repeated_trials_of_a_model_are_averaged():
    def two_trials(array):
        trials = [
            (array + sign).assign_coords(repetition=("presentation", [trial] * 60))
            for trial, sign in enumerate((1, -1))
        ]
        return xr.concat(trials, "presentation")

    assert neural()(PixelModel(change=two_trials)) == pytest.approx(float(neural()(PixelModel())), abs=1e-9)


def test_only_the_stimuli_of_the_assembly_are_shown():
    model = PixelModel()
    neural(recordings().isel(presentation=slice(0, 48)))(model)
    assert len(model.calls[-1][1]) == 48


def _called_x(array):
    return array.isel(presentation=[0]).assign_coords(stimulus_id=("presentation", ["x"]))


@pytest.mark.parametrize(
    ("change", "error", "said"),
    [
        (lambda a: a.isel(presentation=slice(1, None)), AlignmentError, 'no response to the stimuli "im000"'),
        (
            lambda a: a.assign_coords(stimulus_id=("presentation", [f"x{i}" for i in range(60)])),
            AlignmentError,
            'no response to the stimuli "im000", "im001", "im002" and 57 more',
        ),
        (
            lambda a: xr.concat([a, _called_x(a)], "presentation"),
            AlignmentError,
            'responses to "x", which',
        ),
        (
            lambda a: xr.concat([a, a.isel(presentation=[3])], "presentation"),
            AlignmentError,
            'several responses to the stimuli "im003"',
        ),
        (
            lambda a: a.where(a["stimulus_id"] != "im005"),
            DataQualityError,
            'NaN, the first to stimulus "im005"',
        ),
        (lambda a: a.drop_vars("stimulus_id"), ConfigError, "look_at.. did not return an assembly"),
        (lambda a: a.values, ConfigError, "got a ndarray"),
    ],
)
def test_what_a_model_gives_is_checked_by_name(change, error, said):
    with pytest.raises(error, match=rf'model "tiny-pixels": .*{said}'):
        neural()(PixelModel(change=change))


def _with_nan(array):
    array.values[4, 2] = np.nan
    return array


def _without_stimuli(array):
    array.attrs = {}
    return array


def _other_stimuli(array):
    array.attrs["stimulus_set"] = stimuli(3)
    return array


@pytest.mark.parametrize(
    ("spoil", "error", "said"),
    [
        (lambda a: a.drop_vars("region"), ConfigError, 'no coordinate "region"'),
        (lambda a: a.assign_coords(region=("neuroid", list("ABABAB"))), ConfigError, "2 regions"),
        (lambda a: a.drop_vars(["time_bin_start"]), ConfigError, r"no time bins\..*timebins=\[\(70, 170\)\]"),
        (_without_stimuli, ConfigError, "must be a StimulusSet, got none"),
        (_other_stimuli, AlignmentError, '"im003", "im004", "im005" and 54 more of the assembly are not in'),
        (_with_nan, DataQualityError, 'the recordings of neuroids "IT2" hold NaN'),
        (lambda a: recordings(repetitions=2), DataQualityError, r"average_repetitions\(assembly\)"),
    ],
)
def test_recordings_that_cannot_serve_are_refused_when_the_benchmark_is_made(spoil, error, said):
    with pytest.raises(error, match=said):
        neural(spoil(recordings()))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"identifier": ""}, "needs an identifier such as"),
        ({"identifier": "X", "ceiling_func": 1}, "expected a function: lambda: 1"),
        ({"identifier": "X", "version": "3"}, "version is '3', expected a whole number"),
    ],
)
def test_a_benchmark_declared_wrongly_is_refused(options, said):
    class Own(BenchmarkBase):
        def __call__(self, candidate):
            return Score(1)

    with pytest.raises(ConfigError, match=said):
        Own(**{"ceiling_func": lambda: 1, **options})


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"similarity_metric": 3}, ConfigError, "similarity_metric is a int"),
        ({"similarity_metric": "plss"}, UnknownName, 'Did you mean "pls"'),
        ({"number_of_trials": 0}, ConfigError, "number_of_trials is 0, expected a count"),
        ({"number_of_trials": "many"}, ConfigError, "number_of_trials is 'many'"),
        ({"normalisation": "cubed"}, ConfigError, 'No normalisation "cubed"'),
    ],
)
def test_a_neural_benchmark_declared_wrongly_is_refused(options, error, said):
    fine = {"similarity_metric": "pls", "visual_degrees": 8, "number_of_trials": 1, "ceiling_func": lambda: 1}
    assert NeuralBenchmark("X", recordings(), **fine)(PixelModel()).n_splits == 10
    with pytest.raises(error, match=said):
        NeuralBenchmark("X", recordings(), **{**fine, **options})


def test_a_benchmark_must_be_callable():
    with pytest.raises(TypeError, match="abstract"):
        BenchmarkBase("X", lambda: 1)  # type: ignore[abstract]
    assert issubclass(NeuralBenchmark, Benchmark)
    assert isinstance(PixelModel(), BrainModel)


def test_what_is_no_model_is_refused_by_the_method_it_lacks():
    with pytest.raises(ConfigError, match=r"A dict is not a model: it has no start_recording\(\)"):
        neural()({})  # type: ignore[arg-type]


def test_time_bins_and_formula_can_be_given():
    array = recordings().drop_vars(["time_bin_start", "time_bin_end"])
    benchmark = neural(array, timebins=[(50, 200)], normalisation="ratio")
    assert benchmark.timebins == [(50, 200)]
    assert benchmark(PixelModel()).formula == "ratio"
    assert repr(benchmark) == "NeuralBenchmark('Tiny.IT-ridge', version=4)"


def train_test(**options) -> TrainTestNeuralBenchmark:
    array = recordings(noise=0.3)
    ceiler = load_ceiling("internal_consistency")
    return TrainTestNeuralBenchmark(
        identifier="Tiny.IT-ridge_split",
        train_assembly=array.isel(presentation=slice(0, 40)),
        test_assembly=array.isel(presentation=slice(40, 60), neuroid=[5, 4, 3, 2, 1, 0]),
        similarity_metric=load_metric("ridge_split"),
        visual_degrees=8,
        number_of_trials=1,
        **{"ceiling_func": lambda: ceiler(recordings(repetitions=6, noise=0.3)), **options},
    )


def test_one_part_is_fitted_and_the_other_tested():
    model = PixelModel()
    result = train_test()(model)
    source, target = pixels(stimuli()), recordings(noise=0.3).values
    centre = source[:40].mean(axis=0)
    weights = np.linalg.solve(
        (source[:40] - centre).T @ (source[:40] - centre) + np.eye(48),
        (source[:40] - centre).T @ (target[:40] - target[:40].mean(axis=0)),
    )
    predicted = (source[40:] - centre) @ weights
    r = [np.corrcoef(predicted[:, each], target[40:, each])[0, 1] for each in range(6)]
    assert result.raw.value == pytest.approx(np.median(r), abs=1e-9)
    assert [call[0] for call in model.calls].count("start_recording") == 2
    assert [len(call[1]) for call in model.calls if call[0] == "look_at"] == [40, 20]


def test_subjects_are_fitted_separately_and_averaged():
    result = train_test(alpha_coord="subject")(PixelModel())
    parts = result.attrs["scores"]
    assert set(parts) == {"monkey0", "monkey1"}
    assert result.value == pytest.approx(np.mean([float(part) for part in parts.values()]))
    assert result.error == pytest.approx(
        np.std([float(part) for part in parts.values()], ddof=1) / np.sqrt(2)
    )
    assert parts["monkey0"].ceiling != parts["monkey1"].ceiling
    assert (result.n_neuroids_used, result.n_neuroids_total) == (6, 6)


def test_each_neuroid_can_have_its_own_ceiling():
    result = train_test(per_neuroid_ceiling=True)(PixelModel())
    r, c = result.raw.raw, result.ceiling.raw.mean("split")
    expected = np.sign(r.values) * r.values**2 / c.values
    np.testing.assert_allclose(result.attrs["ceiled_scores"].values.ravel(), expected.ravel())
    assert result.value == pytest.approx(expected.mean())
    with pytest.raises(ConfigError, match="The ceiling has no values per neuroid"):
        train_test(per_neuroid_ceiling=True, ceiling_func=lambda: 1)(PixelModel())


def test_a_neuroid_with_a_ceiling_below_zero_is_named():
    ids = {"neuroid_id": ("neuroid", ["a", "b"])}
    raw = Score(0.5, raw=xr.DataArray([0.5, 0.5], dims="neuroid", coords=ids))
    ceiling = Score(0.5, raw=xr.DataArray([[0.5, -0.1]], dims=("split", "neuroid"), coords=ids))
    with pytest.raises(DataQualityError, match='neuroids "b" are not positive'):
        normalise_by_neuroid(raw, ceiling, "variance_ratio")
    with pytest.raises(AlignmentError, match='lacks the neuroids "c"'):
        ceiling_of(ceiling, ["a", "c"], "Tiny")
    assert ceiling_of(ceiling, ["a"]).value == 0.5


def test_parts_with_other_neuroids_or_without_the_coordinate_are_refused():
    other = recordings().assign_coords(neuroid_id=("neuroid", ["other", *(f"IT{i}" for i in range(1, 6))]))
    with pytest.raises(AlignmentError, match='neuroids "IT0", "other" are in only one of the two'):
        train_test_of(recordings(), other)
    with pytest.raises(ConfigError, match='no coordinate "lab"'):
        train_test(alpha_coord="lab")


def test_a_stimulus_in_both_parts_is_refused_by_name():
    array = recordings()
    with pytest.raises(
        AlignmentError, match='stimuli "im038", "im039" are in both the training and the test'
    ):
        train_test_of(array.isel(presentation=slice(0, 40)), array.isel(presentation=slice(38, 60)))


def train_test_of(train, test):
    return TrainTestNeuralBenchmark(
        "X", train, test, load_metric("ridge_split"), 8, 1, ceiling_func=lambda: 1
    )


def test_rsa_averages_over_subjects_and_divides_by_the_upper_bound():
    array = recordings(neuroids=40, noise=1.0)
    benchmark = RSABenchmark(identifier="Tiny.IT-rsa", assembly=array, visual_degrees=8, number_of_trials=1)
    result = benchmark(PixelModel())

    def rdm(values):
        return (1 - np.corrcoef(values))[np.triu_indices(60, 1)]

    people = [rdm(array.values[:, array["subject"].values == subject]) for subject in ("monkey0", "monkey1")]
    model = rdm(pixels(stimuli()))
    raw = np.mean([spearmanr(model, person).statistic for person in people])
    upper = np.mean([spearmanr(np.mean(people, axis=0), person).statistic for person in people])
    assert result.raw.value == pytest.approx(raw, abs=1e-9)
    assert result.ceiling.value == pytest.approx(upper, abs=1e-9)
    assert result.value == pytest.approx(raw / upper, abs=1e-9)
    assert result.raw.raw["subject"].values.tolist() == benchmark.subjects == ["monkey0", "monkey1"]
    with pytest.raises(ConfigError, match='no coordinate "subject"'):
        RSABenchmark("X", array.drop_vars("subject"), 8, 1)


def test_rsa_with_a_similarity_that_is_no_number_names_the_subject():
    benchmark = RSABenchmark("X", recordings(), 8, 1, lambda source, target: Score(np.nan), lambda: 1)
    with pytest.raises(DataQualityError, match='subjects "monkey0", "monkey1" is not a number'):
        benchmark(PixelModel())
