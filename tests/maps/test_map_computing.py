"""Maps are computed through the engine and the cache: resumable, the same everywhere, and honest about failures."""

from __future__ import annotations

import contextlib
import os
import signal
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from neuroarena import Benchmark
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.engines import Local, make_engine
from neuroarena.evaluation.evaluate import Interrupted
from neuroarena.evaluation.shards import Shard
from neuroarena.maps import read_grid, write_grid
from neuroarena.maps.compute import compute_map, compute_map_share
from neuroarena.maps.job import MapJob
from neuroarena.maps.settings import MapSettings
from neuroarena.maps.shifts import correlation_time, draw_shifts, repeats_itself
from neuroarena.progress import Silence
from slurm import running_slurm

RATE, N_EVENTS = 64.0, 120
NAMES = ["A", "B", "C"]
QUICK = MapSettings(draws=39)


def _signals(seed, classes=2, span_s=1.0):
    """Simulate noise in which channel B rises in the middle of the second after an event of the last class."""
    rng = np.random.default_rng(seed)
    words = rng.permutation(np.resize([f"c{each}" for each in range(classes)], N_EVENTS))
    onsets = 1.0 + 1.5 * np.arange(N_EVENTS)
    signals = rng.standard_normal((len(NAMES), round(RATE * (onsets[-1] + 2.5))))
    for onset in onsets[words == f"c{classes - 1}"]:
        start = round((onset + 0.5) * RATE)
        signals[1, start : start + round(0.25 * RATE)] += 1.5
    return signals, pd.DataFrame({"onset_s": onsets, "value": words})


def _benchmark(seed=0, classes=2, **rules):
    signals, events = _signals(seed, classes)
    told = {"split": "blocked-3-folds", "window_s": (0.0, 1.0), "metric": "balanced_accuracy", **rules}
    from neuroarena.recordings import from_array

    data = {"one": from_array(signals, RATE, channels=NAMES, name="one", kind="eeg")}
    return Benchmark.from_events(data, events=events, **told)


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def grid(cache):
    return compute_map([_benchmark()], settings=QUICK, cache=cache)


def test_the_planted_electrode_is_found_in_its_bins_and_no_other(grid):
    found = grid.data["p_max"].values[0, 0] <= 0.025  # the smallest that 39 draws allow
    assert grid.bins["centre_s"].tolist() == pytest.approx([0.125 + 0.125 * place for place in range(7)])
    assert found.sum(axis=1).tolist() == [0, 3, 0]
    assert np.flatnonzero(found[1]).tolist() == [3, 4, 5]
    assert int(grid.data["auroc"].values[0, 0, 1].argmax()) == 4
    assert float(grid.data["n_test"].values[0, 0]) == N_EVENTS
    assert grid.null("events", "1").shape == (39, 3, 3, 7)


def test_a_second_map_finds_everything_in_the_cache_and_a_stopped_one_goes_on(
    grid, cache, tmp_path, monkeypatch
):
    class Watching(Silence):
        def __init__(self):
            self.begun = []

        def begin(self, stage, total, done=0):
            self.begun.append((stage, total, done))

    def stop_after_one(self, folder, ran=[]):  # noqa: B006 - counts over calls
        if ran:
            os.kill(os.getpid(), signal.SIGINT)
        ran.append(run(self, folder))

    watching = Watching()
    compute_map([_benchmark()], settings=QUICK, cache=cache, progress=watching)
    assert watching.begun == []
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    run = MapJob.run
    monkeypatch.setattr("neuroarena.maps.plan._MOST_ELECTRODES", 1)
    monkeypatch.setattr(MapJob, "run", stop_after_one)
    try:
        with pytest.raises(Interrupted, match=r"1 of 3 electrodes are kept"):
            compute_map([_benchmark()], settings=QUICK, cache=tmp_path, progress=watching)
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.setattr(MapJob, "run", run)
    again = compute_map([_benchmark()], settings=QUICK, cache=tmp_path, progress=watching)
    assert watching.begun == [("electrodes", 3, 0), ("electrodes", 3, 1)]
    assert np.array_equal(again.data["auroc"], grid.data["auroc"])
    assert np.array_equal(again.data["p_max"], grid.data["p_max"])


def test_processes_and_files_change_no_number(grid, tmp_path):
    other = compute_map([_benchmark()], settings=QUICK, cache=tmp_path, engine=Local(2))
    assert np.array_equal(other.data["fold_auroc"], grid.data["fold_auroc"])
    read = read_grid(write_grid(other, tmp_path))
    assert np.abs(read.null("events", "1") - grid.null("events", "1")).max() < 1e-5
    assert np.array_equal(read.data["p_cluster"], grid.data["p_cluster"])


def _products(cache):
    return {path.name: path.read_bytes() for path in (cache / "maps").rglob("*") if path.is_file()}


def test_shares_of_a_map_assemble_to_the_same_bytes(grid, tmp_path, monkeypatch):
    monkeypatch.setattr("neuroarena.maps.plan._MOST_ELECTRODES", 1)
    whole = compute_map([_benchmark()], settings=QUICK, cache=tmp_path / "whole")
    shared = tmp_path / "shared"
    shares = [
        compute_map_share([_benchmark()], settings=QUICK, cache=shared, shard=Shard(number, 2))
        for number in (1, 2)
    ]
    assert sum(each.pieces for each in shares) == shares[0].planned == len(NAMES)
    assert _products(shared) == _products(tmp_path / "whole")
    monkeypatch.setattr(MapJob, "run", lambda *_: pytest.fail("computed again"))
    assembled = compute_map([_benchmark()], settings=QUICK, cache=shared)
    written = [
        write_grid(each, tmp_path / f"{n}.nc").read_bytes() for n, each in enumerate((whole, assembled))
    ]
    assert written[0] == written[1]
    assert np.array_equal(assembled.data["p_max"], grid.data["p_max"])


@pytest.mark.drill
@pytest.mark.parametrize(
    ("started", "told"),
    [
        (running_slurm, {"name": "slurm", "pack": 4, "options": {"mem_gb": "1"}}),
        (contextlib.nullcontext, {"name": "dask", "pack": 1, "workers": 2}),
    ],
)
def test_clusters_compute_the_same_bytes(grid, cache, tmp_path, started, told):
    with started():
        there = compute_map(
            [_benchmark()], settings=QUICK, cache=tmp_path / "there", engine=make_engine(**told)
        )
    compute_map([_benchmark()], settings=QUICK, cache=tmp_path / "local")
    products = {name: _products(tmp_path / name) for name in ("there", "local")}
    assert products["there"]
    assert products["there"] == products["local"]
    assert (
        write_grid(there, tmp_path / "a.nc").read_bytes() == write_grid(grid, tmp_path / "b.nc").read_bytes()
    )


def test_more_classes_are_maps_of_one_against_the_rest(cache):
    grid = compute_map([_benchmark(classes=3)], settings=MapSettings(draws=0), cache=cache)
    assert grid.tasks == ("events: c0", "events: c1", "events: c2")
    best = grid.data["auroc"].values[2, 0]
    assert np.unravel_index(best.argmax(), best.shape) == (1, 4)
    assert grid.permutations == 0
    assert np.isnan(grid.data["p_max"]).all()


def test_numbers_are_maps_of_their_outer_quarters(cache):
    signals, events = _signals(4)
    events["value"] = np.where(events["value"] == "c1", 3.0, 1.0) + np.random.default_rng(4).random(N_EVENTS)
    benchmark = Benchmark.from_events(
        signals, rate_hz=RATE, events=events, window_s=(0, 1), split="blocked-3-folds", metric="mae"
    )
    grid = compute_map([benchmark], settings=MapSettings(draws=0), cache=cache)
    assert float(grid.data["n_test"].values[0, 0]) == N_EVENTS / 2
    best = grid.data["auroc"].values[0, 0]
    assert best[1].max() > 0.9
    assert best[[0, 2]].max() < 0.75


def test_filters_of_a_benchmark_are_applied_and_bins_stay_within_its_windows(cache):
    prepared = _benchmark(window_s=(-0.25, 1.0), baseline_s=(-0.25, 0.0), resample_hz=32.0)
    grid = compute_map([prepared], settings=MapSettings(draws=0), cache=cache)
    assert grid.bins["start_s"].iloc[0] == -0.25
    best = grid.data["auroc"].values[0, 0]
    electrode, place = np.unravel_index(best.argmax(), best.shape)
    assert (electrode, grid.bins["centre_s"].iloc[place]) == (1, 0.625)
    with pytest.raises(InputError, match="reach beyond the windows"):
        compute_map([prepared], settings=MapSettings(draws=0, last_s=1.25), cache=cache)


def test_slow_labels_and_few_draws_are_said(cache):
    signals, events = _signals(6)
    lengths = np.array([3, 7, 5, 1, 6, 2, 4, 2]) * N_EVENTS // 30
    events["value"] = np.repeat(["c0", "c1"] * 4, lengths)
    slow = Benchmark.from_events(
        signals, rate_hz=RATE, events=events, window_s=(0, 1), split="blocked-2-folds", metric="auroc"
    )
    notes = " ".join(compute_map([slow], settings=MapSettings(draws=19), cache=cache).notes)
    assert "change slowly" in notes
    assert "alternate by a rule" not in notes
    assert "19 draws: no p value is below 0.05" in notes
    events["value"] = ["c0", "c1"] * (N_EVENTS // 2)
    ruled = Benchmark.from_events(
        signals, rate_hz=RATE, events=events, window_s=(0, 1), split="blocked-2-folds", metric="auroc"
    )
    assert "alternate by a rule" in compute_map([ruled], settings=MapSettings(draws=0), cache=cache).notes[0]
    events["value"] = np.repeat(["c0", "c1"] * 4, N_EVENTS // 8)
    in_turn = Benchmark.from_events(
        signals, rate_hz=RATE, events=events, window_s=(0, 1), split="blocked-2-folds", metric="auroc"
    )
    notes = " ".join(compute_map([in_turn], settings=MapSettings(draws=0), cache=cache).notes)
    assert "alternate by a rule" in notes
    assert "change slowly" not in notes  # p values cannot be both too large and too small
    assert not compute_map([_benchmark()], settings=MapSettings(draws=0), cache=cache).notes


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"draws": 18}, "Take 19 or more"),
        ({"window_s": 0.0}, "--window is a length"),
        ({"first_s": 1.0, "last_s": 0.0}, "--tmin 1 is not before --tmax 0"),
        ({"features": "wavelets"}, "--features is spectrogram or voltage"),
    ],
)
def test_settings_that_cannot_be_are_refused(changes, message):
    with pytest.raises(InputError, match=message):
        replace(MapSettings(), **changes)


def test_an_electrode_without_numbers_is_named(cache):
    signals, events = _signals(7)
    signals[2, 2000] = np.nan
    benchmark = Benchmark.from_events(
        signals, rate_hz=RATE, events=events, window_s=(0, 1), split="blocked-2-folds", metric="auroc"
    )
    with pytest.raises(NeuroarenaError, match=r"electrode ch2 has values that are not finite"):
        compute_map([benchmark], settings=MapSettings(draws=0), cache=cache)


def test_what_shares_items_is_shifted_together_and_every_shift_occurs():
    items = [f"one {place}" for place in range(10)]
    shifts = draw_shifts(0, 500, items)
    assert (shifts == draw_shifts(0, 500, items)).all()
    assert set(shifts) == set(range(10))
    assert (shifts != draw_shifts(0, 500, [*items[:-1], "two 9"])).any()
    assert (shifts != draw_shifts(1, 500, items)).any()


def test_slow_labels_are_not_taken_for_a_rule_and_blocks_in_turn_are():
    rng = np.random.default_rng(0)
    slow = np.repeat(rng.integers(0, 2, 30), rng.integers(5, 25, 30))
    assert correlation_time(slow) > 5
    assert not repeats_itself(slow)
    assert repeats_itself(np.tile(np.repeat([0, 1], 20), 6))


def test_the_correlation_time_of_a_slow_process_is_found():
    rng = np.random.default_rng(0)
    state, tau, values = 0.0, 30.0, []
    for _ in range(40_000):
        state = state * np.exp(-1 / tau) + rng.standard_normal() * np.sqrt(1 - np.exp(-2 / tau))
        values.append(state)
    assert correlation_time(np.array(values)) == pytest.approx(tau, rel=0.2)
