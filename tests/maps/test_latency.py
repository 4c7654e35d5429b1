"""Time courses, peaks, onsets and the order of tasks, against plain loops and planted truths."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena.maps import MapGrid, simulate_grid
from neuroarena.maps.assembly import GridPart, make_grid
from neuroarena.maps.conventions import OURS, Conventions
from neuroarena.maps.courses import list_rows, time_course
from neuroarena.maps.latency import draw_weights, find_latencies, find_onset, find_peak
from neuroarena.maps.windows import window_bins

PUBLISHED = Conventions("published", same_data=True, label_starts=True, log_floor=0.48, share=1.0)


@pytest.fixture(scope="module")
def grid() -> MapGrid:
    return simulate_grid(0)


def flat_grid(
    sessions: dict[str, int], electrodes: int, seed: int = 0, draws: int = 0, folds: int = 2
) -> MapGrid:
    """Make a grid of chance: `sessions` of each subject, the same number of electrodes each."""
    rng = np.random.default_rng(seed)
    bins = window_bins(-0.25, 0.75, 0.25, 0.125)
    table = pd.concat(
        [
            pd.DataFrame({"name": [f"E{n}" for n in range(electrodes)], "subject": subject})
            for subject in sessions
        ],
        ignore_index=True,
    ).assign(x=0.0, y=0.0, z=0.0, space="MNI305")
    parts = []
    for subject, count in sessions.items():
        for number in range(count):
            noise = rng.normal(0.5, 0.0135, (draws + 1, folds, electrodes, len(bins)))
            parts.append(GridPart("t", f"{subject}_{number}", subject, noise[0], noise[1:], n_test=100))
    return make_grid(parts, table, bins, split="s", simulated=True, provenance={})


def test_rows_are_sessions_and_folds_where_there_is_one_session():
    rows = list_rows(flat_grid({"1": 2, "2": 1}, 3), "t")
    assert rows.to_numpy().tolist() == [
        *[[electrode, session, -1] for electrode in range(3) for session in range(2)],
        *[[electrode, 2, fold] for electrode in range(3, 6) for fold in range(2)],
    ]


def plain_course(grid: MapGrid) -> np.ndarray:
    """Choose by the other part's highest bin, show one's own: with loops, for two parts per electrode."""
    folds, auroc = grid.data["fold_auroc"].values[0], grid.data["auroc"].values[0]
    found = []
    for electrode in range(auroc.shape[1]):
        sessions = [s for s in range(auroc.shape[0]) if np.isfinite(auroc[s, electrode]).all()]
        if len(sessions) == 2:
            parts = [auroc[s, electrode] for s in sessions]
        else:
            parts = [folds[sessions[0], electrode, :, f] for f in range(2)]
        found += [(max(parts[1 - own]), parts[own]) for own in range(2)]
    found.sort(key=lambda pair: -pair[0])
    return np.mean([shown for _, shown in found[: 2 * 5]], axis=0)


def test_a_time_course_is_that_of_a_plain_loop():
    made = flat_grid({"1": 2, "2": 1}, 20)  # 40 electrodes: at least five stand in the curve, two parts each
    course = time_course(made, "t")
    np.testing.assert_allclose(course.curve, plain_course(made), rtol=1e-6)
    assert not course.same_data


def test_the_published_choice_is_the_best_by_their_mean_over_bins_and_sessions():
    made = flat_grid({"1": 2, "2": 1}, 20)
    values = np.nanmean(made.data["auroc"].values[0], axis=0)
    best = np.argsort(-values.mean(axis=1))[:7]
    course = time_course(made, "t", Conventions("p", same_data=True, share=1.0, most_electrodes=7))
    assert set(course.rows["electrode"]) <= set(best)
    assert course.same_data


def test_the_published_curve_averages_logarithms():
    made = flat_grid({"1": 2}, 4)
    course = time_course(made, "t", PUBLISHED)
    values = made.data["auroc"].values[0].reshape(-1, 7).astype(float)
    expected = [np.exp(np.log(column[column > 0.48] - 0.48).mean()) + 0.48 for column in values.T]
    np.testing.assert_allclose(course.curve, expected)


def test_chance_stays_at_chance_and_rises_when_chosen_on_the_same_data():
    made = flat_grid({"1": 2, "2": 2}, 300)
    assert time_course(made, "t").curve.mean() == pytest.approx(0.5, abs=0.0015)
    assert time_course(made, "t", Conventions("p", same_data=True)).curve.mean() > 0.504


def test_one_session_with_one_fold_is_said_to_be_chosen_on_the_same_data():
    assert time_course(flat_grid({"1": 1}, 10, folds=1), "t").same_data


def test_curves_of_the_null_are_chosen_anew_and_a_threshold_holds_its_level():
    """Selected on the same data or not, the observed curve is one more draw of its null."""
    for conventions in (OURS, PUBLISHED):
        above = []
        for seed in range(40):
            course = time_course(flat_grid({"1": 2}, 12, seed, draws=39), "t", conventions)
            above.append(course.curve.max() > course.threshold)
        assert np.mean(above) <= 0.15  # 40 runs at .05: more than six have a probability of .003
    assert course.null.shape == (39, 7)


@pytest.mark.parametrize(("draws", "place"), [(19, 19), (99, 95), (199, 190)])
def test_the_threshold_is_where_p_falls_to_five_percent(draws: int, place: int):
    course = time_course(flat_grid({"1": 2}, 4, draws=draws), "t")
    assert course.threshold == np.sort(course.null.max(axis=1))[place - 1]
    assert (1 + (course.null.max(axis=1) > course.threshold).sum()) / (draws + 1) == pytest.approx(0.05)


def test_planted_peaks_are_found_in_their_order_and_noise_has_none(grid: MapGrid):
    found = find_latencies(grid, np.random.default_rng(0), draws=300)
    table = found.table.set_index("task")
    truth = dict(zip(grid.tasks, grid.data["planted_peak_s"].values, strict=True))
    for task in ("sound", "word", "face"):
        assert table.loc[task, "peak_s"] == pytest.approx(truth[task], abs=0.03)
        assert table.loc[task, "peak_low_s"] <= table.loc[task, "peak_s"] <= table.loc[task, "peak_high_s"]
        assert table.loc[task, "onset_s"] <= truth[task] + 0.125
    assert table["resolved"].tolist() == [True, True, True, False]
    assert np.isnan(table.loc["nothing", "onset_s"])
    assert found.order == [0, 1, 2, 3]
    assert found.before[0, 1] == found.before[1, 2] == 1.0
    assert np.isnan(found.before[3]).all()
    assert found.levels == ("subjects", "sessions", "electrodes")


def test_as_published_peaks_are_starts_of_windows(grid: MapGrid):
    table = find_latencies(grid, np.random.default_rng(0), PUBLISHED, draws=20).table.set_index("task")
    assert set(table["peak_s"]) <= set(grid.bins["start_s"])
    assert table.loc["sound", "peak_s"] == 0.0  # its centre is 0.125


def test_the_same_draws_serve_all_tasks_and_a_seed_repeats_them(grid: MapGrid):
    one = find_latencies(grid, np.random.default_rng(5), draws=50).table
    two = find_latencies(grid, np.random.default_rng(5), draws=50, tasks=["word"]).table
    columns = ["peak_low_s", "peak_high_s"]
    assert one.set_index("task").loc["word", columns].tolist() == two.loc[0, columns].tolist()


def test_bootstrap_weights_are_products_of_what_was_drawn():
    made = flat_grid({"1": 2, "2": 1}, 5)
    weights, _ = draw_weights(made, np.random.default_rng(1), 400)
    first, second = weights[:, :5, :2], weights[:, 5:, 2]
    # Each copy of a subject brings as many electrode-sessions as the subject has.
    copies = first.sum(axis=(1, 2)) / 10
    np.testing.assert_array_equal(copies + second.sum(axis=1) / 5, 2)
    assert set(copies) == {0, 1, 2}
    assert not weights[:, :5, 2].any()
    assert not weights[:, 5:, :2].any()
    once = first[copies == 1]
    # Of one copy the table is an outer product: rank one, rows and columns add up.
    np.testing.assert_array_equal(
        once * once.sum(axis=(1, 2), keepdims=True),
        once.sum(axis=2, keepdims=True) * once.sum(axis=1, keepdims=True),
    )
    assert weights.mean() == pytest.approx(15 / 30, abs=0.05)  # of five electrodes in three sessions each


def test_a_single_subject_has_electrodes_alone():
    _, levels = draw_weights(flat_grid({"1": 1}, 5), np.random.default_rng(0), 3)
    assert levels == ("electrodes",)


def test_a_map_without_a_null_resolves_no_peak_and_dates_no_onset():
    table = find_latencies(flat_grid({"1": 2}, 5), np.random.default_rng(0), draws=10).table
    assert not table["resolved"][0]
    assert np.isnan(table[["peak_p", "onset_s"]].iloc[0]).all()


@pytest.mark.parametrize(
    ("curve", "peak"),
    [([1, 2, 3, 2, 1], 0.2), ([1, 2, 3, 3, 1], 0.25), ([5, 2, 3, 2, 1], 0.0), ([1, 1, 1, 1, 9], 0.4)],
)
def test_a_peak_is_refined_inside_and_left_alone_at_the_ends(curve: list[float], peak: float):
    assert find_peak(np.array(curve, dtype=float), np.arange(5) * 0.1) == pytest.approx(peak)


@pytest.mark.parametrize(
    ("curve", "onset"),
    [([0, 1, 1, 0], 0.2), ([1, 0, 1, 1], 0.3), ([1, 0, 1, 0], None), ([0, 0, 0, 1], None)],
)
def test_an_onset_needs_two_windows_and_is_by_the_end_of_the_first(curve: list[float], onset: float | None):
    found = find_onset(np.array(curve, dtype=float), 0.5, np.array([0.1, 0.2, 0.3, 0.4]))
    assert np.isnan(found) if onset is None else found == pytest.approx(onset)
