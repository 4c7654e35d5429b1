"""What maps conclude is true: planted electrodes, times and orders are found, and the null holds its level."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.signal import butter, lfilter, sosfiltfilt

from neuroarena import Benchmark
from neuroarena.maps import MapSettings, compute_map
from neuroarena.maps.decoding import CellDecoder, FoldLayout, LabelColumns
from neuroarena.maps.inference import infer
from neuroarena.maps.latency import find_peak
from neuroarena.maps.shifts import draw_shifts
from neuroarena.recordings import from_array

pytestmark = pytest.mark.drill

RATE, GAP_S, ITEMS, ELECTRODES, PLANTED = 512.0, 2.0, 1_000, 30, 6
PEAKS_S = {"early": 0.25, "late": 0.625}
BURST_SD_S, STRIDE_S = 0.06, 0.125


def _slow(rng, shape, tau):
    """Draw processes along the first axis whose correlation falls by e in so many items."""
    keep = np.exp(-1 / tau)
    noise = rng.standard_normal((shape[0] + round(10 * tau), *shape[1:]))
    return lfilter([np.sqrt(1 - keep**2)], [1, -keep], noise, axis=0)[-shape[0] :]


def _labels(rng, n_items, tau):
    state = _slow(rng, (n_items,), tau)
    return (state > np.median(state)).astype(np.int64)


def _simulate(seed):
    """Simulate noise with bursts of 70 to 145 Hz after events of one class; each task has electrodes of its own."""
    rng = np.random.default_rng(seed)
    onsets = np.rint((1.0 + GAP_S * np.arange(ITEMS)) * RATE).astype(int)
    n_samples = onsets[-1] + round(2 * RATE)
    signals = rng.standard_normal((ELECTRODES, n_samples), dtype=np.float32)
    span = np.arange(round(0.4 * RATE)) - round(0.2 * RATE)
    envelope = np.exp(-0.5 * (span / RATE / BURST_SD_S) ** 2)
    band = butter(4, (70, 145), "bandpass", fs=RATE, output="sos")
    truth, labels = {}, {}
    places = rng.permutation(ELECTRODES)
    for number, (task, peak_s) in enumerate(PEAKS_S.items()):
        labels[task] = _labels(rng, ITEMS, 15)
        truth[task] = places[number * PLANTED : (number + 1) * PLANTED]
        for onset in onsets[labels[task] == 1]:
            bursts = sosfiltfilt(band, rng.standard_normal((PLANTED, len(span) + 128)), axis=1)[:, 64:-64]
            rows = slice(onset + round(peak_s * RATE) + span[0], onset + round(peak_s * RATE) + span[-1] + 1)
            signals[truth[task], rows] += (1.5 * bursts * envelope).astype(np.float32)
    recording = from_array(signals, RATE, channels=[f"E{each}" for each in range(ELECTRODES)], kind="ieeg")
    events = pd.DataFrame({"sample": onsets, **{task: each.astype(str) for task, each in labels.items()}})
    told = {"window_s": (-0.5, 1.375), "split": "blocked-2-folds", "metric": "auroc"}
    benchmarks = [
        Benchmark.from_events({"one": recording}, events=events, target=task, name=f"own/{task}", **told)
        for task in PEAKS_S
    ]
    return benchmarks, truth


def test_planted_electrodes_times_and_orders_are_found_over_five_seeds(tmp_path):
    precision, false_alarms, weakest = [], 0, 1.0
    for seed in range(5):
        benchmarks, truth = _simulate(seed)
        grid = compute_map(benchmarks, settings=MapSettings(draws=99), cache=tmp_path)
        centres, peaks = grid.bins["centre_s"].to_numpy(), {}
        for task, planted in truth.items():
            values = grid.data["auroc"].sel(task=task).values[0]
            weakest = min(weakest, values[planted].max(axis=1).min())
            best = np.argsort(-values.max(axis=1))[:PLANTED]
            precision.append(np.isin(best, planted).mean())
            peaks[task] = find_peak(values[planted].mean(axis=0), centres)
            assert abs(peaks[task] - PEAKS_S[task]) <= STRIDE_S
            found = (grid.data["p_max"].sel(task=task).values[0] <= 0.05).any(axis=1)
            assert found[planted].all()
            false_alarms += int(np.delete(found, planted).sum())
        assert peaks["early"] < peaks["late"]
    assert weakest >= 0.62  # what the bars are stated for
    assert np.mean(precision) >= 0.9
    assert false_alarms <= 2  # of 240, ten maps at a level of 0.05


FOLD, CELLS, FEATURES, DRAWS = 1_000, (4, 4), 6, 99


def _runs_with_a_finding(runs, shuffle):
    """Count null runs in which any cell is significant: labels of tau 15 (a 67th of a fold), features of tau 30."""
    first = np.arange(2 * FOLD) < FOLD
    layout, order = FoldLayout.arranged(
        np.stack([~first, first]), np.stack([first, ~first]), first.astype(int)
    )
    found = 0
    for run in range(runs):
        rng = np.random.default_rng([17, run])
        labels = _labels(rng, 2 * FOLD, 15)[order]
        if shuffle:
            columns = LabelColumns.shuffled(labels, layout, DRAWS, rng)
        else:
            names = [[f"run {run} item {row}" for row in rows] for rows in layout.blocks]
            shifts = np.stack([draw_shifts(0, DRAWS, each) for each in names], axis=1)
            columns = LabelColumns.shifted(labels, layout, shifts)
        areas = np.empty((DRAWS + 1, *CELLS))
        for cell in np.ndindex(*CELLS):
            decoder = CellDecoder(_slow(rng, (2 * FOLD, FEATURES), 30)[order], layout)
            areas[(slice(None), *cell)] = decoder.refit(columns).mean(axis=1)
        found += bool((infer(areas[0], areas[1:]).p_max <= 0.05).any())
    return found


def test_shifts_hold_the_family_wise_level_where_labels_and_signals_are_slow():
    assert _runs_with_a_finding(400, shuffle=False) <= 0.10 * 400


def test_plain_shuffling_fails_the_same_check():
    assert _runs_with_a_finding(60, shuffle=True) > 0.10 * 60
