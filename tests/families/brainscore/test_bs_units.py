"""Every kind of Score has units that boards rank by: neurons of properties, images of solution times, time bins."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from tiny_recordings import PixelModel, recordings, stimuli

from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.evaluation import evaluate
from neuroarena.families.brainscore import NeuralBenchmark, Score, load_metric
from neuroarena.families.brainscore.comparison import NeuralComparison
from neuroarena.families.brainscore.metrics.ost import _rank_agreement, predicted_times
from neuroarena.statistics.trees import correlate_shared

EDGES = np.linspace(0, 1, 11)


def properties(values: np.ndarray) -> xr.DataArray:
    return xr.DataArray(
        np.asarray(values, dtype=float)[:, None],
        dims=("neuroid", "neuronal_property"),
        coords={
            "neuronal_property": ["index"],
            "neuroid_id": ("neuroid", [f"n{at}" for at in range(len(values))]),
        },
        attrs={"index_bins": EDGES},
    )


def similarity_by_hand(drawn: np.ndarray, recorded: np.ndarray) -> float:
    """One minus the Kolmogorov-Smirnov distance over its largest value, draw by draw, written again."""
    q = np.cumsum(recorded) / recorded.sum()
    largest = max(np.abs(np.cumsum(np.eye(len(q))[at]) - q).max() for at in (0, -1))
    return float(np.mean([1 - np.abs(np.cumsum(p) / p.sum() - q).max() / largest for p in drawn]))


def test_the_levels_of_a_property_are_the_jackknife_over_recorded_neurons():
    rng = np.random.default_rng(0)
    model, data = properties(rng.beta(2, 3, 80)), rng.beta(3, 2, 25)
    data[3] = np.nan
    metric = load_metric("ks_similarity", property_name="index", ns=50)
    found = metric(model, properties(data))
    levels = found.attrs["levels"]
    assert levels["neuroid_id"].values.tolist() == [f"n{at}" for at in range(25) if at != 3]
    assert float(levels.mean()) == pytest.approx(float(found), abs=1e-12)
    kept = data[np.isfinite(data)]
    drawn = metric.draws(np.histogram(model.values[:, 0], EDGES)[0], 24, 80)
    without = [similarity_by_hand(drawn, np.histogram(np.delete(kept, at), EDGES)[0]) for at in range(24)]
    jackknife = np.sqrt(23 / 24 * np.sum((without - np.mean(without)) ** 2))
    assert levels.values.std(ddof=1) / np.sqrt(24) == pytest.approx(jackknife, rel=1e-9)
    assert Score.from_json(found.to_json()).attrs["levels"].equals(levels)


def test_a_model_without_the_property_scores_zero_on_every_neuron():
    metric = load_metric("ks_similarity", property_name="index", ns=50)
    found = metric(properties(np.full(30, np.nan)), properties(np.linspace(0.1, 0.9, 12)))
    assert float(found) == 0
    assert (found.attrs["levels"].values == 0).all()


def solution_times(n: int = 60) -> tuple[xr.DataArray, xr.DataArray]:
    """A model in which one object after the other stands out of noise, and times that follow it roughly."""
    rng = np.random.default_rng(1)
    labels = np.arange(n) % 4
    onset = rng.uniform(1, 8, n)
    strength = np.clip(np.arange(10)[None, :] - onset[:, None], 0, 3)
    values = rng.normal(0, 0.6, (n, 4, 10)) + np.eye(4)[labels][:, :, None] * strength[:, None, :]
    rows = {
        "stimulus_id": ("presentation", [f"im{at:02d}" for at in range(n)]),
        "object_name": ("presentation", labels),
    }
    bins = {"time_bin_start": ("time_bin", 70 + 10 * np.arange(10))}
    times = 70 + 10 * onset + rng.normal(0, 15, n)
    times[::9] = np.nan
    source = xr.DataArray(values, dims=("presentation", "neuroid", "time_bin"), coords={**rows, **bins})
    return source, xr.DataArray(
        times,
        dims=("presentation",),
        coords={**rows, "i1_threshold": ("presentation", np.full(n, 1.0))},
    )


def test_the_levels_of_solution_times_are_the_jackknife_over_images():
    source, target = solution_times()
    metric = load_metric("ost")
    found = metric(source, target)
    levels = found.attrs["levels"]
    assert float(levels.mean()) == pytest.approx(float(found), abs=1e-12)
    splits = metric.cross_validation.divide(60)
    measured, labels = target.values, target["object_name"].values
    thresholds, times = target["i1_threshold"].values, source["time_bin_start"].values
    predicted = [predicted_times(source.values, labels, thresholds, times, *split) for split in splits]
    tested = sorted({at for _, test in splits for at in test if np.isfinite(measured[at])})
    assert levels["stimulus_id"].values.tolist() == [f"im{at:02d}" for at in tested]
    without = []
    for image in tested:
        values = []
        for own, (_, test) in zip(predicted, splits, strict=True):
            whole, kept = _rank_agreement(own, measured[test]), test != image
            r = _rank_agreement(own[kept], measured[test][kept])
            values.append(r if np.isfinite(r) else whole)
        without.append(np.nanmean(values))
    count = len(tested)
    jackknife = np.sqrt((count - 1) / count * np.sum((without - np.mean(without)) ** 2))
    assert levels.values.std(ddof=1) / np.sqrt(count) == pytest.approx(jackknife, rel=1e-6)


class TimedPixels(PixelModel):
    """Pixels that fade in over the time bins that are recorded."""

    def start_recording(self, region, time_bins):
        self.bins = list(time_bins)

    def look_at(self, stimuli, number_of_trials=1):
        seen = super().look_at(stimuli, number_of_trials).isel(time_bin=0, drop=True)
        noise = np.random.default_rng(len(self.identifier)).normal(size=(*seen.shape, len(self.bins)))
        fading = np.linspace(1, 0, len(self.bins))
        times = {
            "time_bin_start": ("time_bin", [start for start, _ in self.bins]),
            "time_bin_end": ("time_bin", [end for _, end in self.bins]),
        }
        kept = {name: each for name, each in seen.coords.items() if each.dims}
        return xr.DataArray(
            seen.values[:, :, None] + fading * noise, dims=(*seen.dims, "time_bin"), coords={**kept, **times}
        )


def timed_benchmark() -> NeuralBenchmark:
    static = recordings(neuroids=7)
    array = xr.concat([static, 2 * static + 1], dim="time_bin").drop_vars(["time_bin_start", "time_bin_end"])
    array = array.assign_coords(time_bin_start=("time_bin", [70, 80]), time_bin_end=("time_bin", [80, 90]))
    array.attrs["stimulus_set"] = stimuli()
    return NeuralBenchmark(
        "Tiny.IT-time", array, load_metric("spantime_ridge"), 8, 1, ceiling_func=lambda: 0.9
    )


def test_temporal_scores_are_ranked_by_time_bin():
    result = evaluate(TimedPixels(), NeuralComparison(timed_benchmark()))
    table = result.unit_scores.table
    assert table["fold"].unique().tolist()[:3] == ["000, 70-80 ms", "000, 80-90 ms", "001, 70-80 ms"]
    assert result.unit_scores.value == pytest.approx(result.score, abs=1e-12)
    by_fold = table.groupby("fold")["raw"].median().mean()
    assert result.score == pytest.approx(by_fold**2 / 0.9)
    ranking = Board(entries_from_results([result]), Rules(n_draws=100)).rankings[0]
    assert ranking.table["score"].tolist() == pytest.approx([result.score], abs=1e-12)
    assert ranking.table["ci95_low"].iloc[0] < result.score < ranking.table["ci95_high"].iloc[0]
    assert ranking.levels == "images and neuroids"


def test_benchmarks_on_the_same_images_are_known_to_share_them():
    def ranking(name, seed, n=60):
        target = recordings(neuroids=7, seed=seed, n=n)
        benchmark = NeuralBenchmark(name, target, load_metric("ridge"), 8, 1, ceiling_func=lambda: 0.9)
        result = evaluate(PixelModel(), NeuralComparison(benchmark))
        return Board(entries_from_results([result]), Rules(n_draws=100)).rankings[0]

    first, second = ranking("Tiny.V4-ridge", 1), ranking("Tiny.IT-ridge", 2)
    other = ranking("Tiny.IT-other", 2, n=48)
    assert first.shared.key == second.shared.key != other.shared.key
    found = correlate_shared([first.shared, second.shared, other.shared], "tiny-pixels")
    assert found[0, 2] == found[1, 2] == 0
    assert 0 < abs(found[0, 1]) < 1
    np.testing.assert_allclose(found, found.T)
