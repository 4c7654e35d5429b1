"""Code submissions of the 2025 contract, in this process: windows, scores, intervals, and state."""

from __future__ import annotations

import zlib
from collections import deque
from functools import cache

import numpy as np
import pytest
from scipy import stats

from hbn_twin import twin
from neuroarena.benchmarks import load_benchmark
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.families.eeg2025 import overall, prediction_rows, score_windows, submission_windows
from neuroarena.families.eeg2025.submissions import measure_intervals
from neuroarena.families.eeg2025.windows import cropped_starts
from neuroarena.scoring import score


@cache
def load(task: str, definition: str = "as-scored", **options):
    return load_benchmark(f"eeg2025@{definition}/{task}", str(twin()), **options)


@cache
def windows_of(task: str, definition: str = "as-scored", fast: bool = False):
    return dict(submission_windows(load(task, definition, fast=fast)))


class Reader:
    """A noisy model that reads the planted carrier of externalizing, 24 Hz on E65 to E128; no state."""

    def __call__(self, window: np.ndarray) -> float:
        spectrum = np.abs(np.fft.rfft(window[64:128] * np.hanning(200), axis=1)) ** 2
        level = np.log(spectrum[:, 44:53].mean())
        noise = np.random.default_rng(zlib.crc32(window.tobytes())).normal()
        return 0.8 * (level - 8.8) + 0.8 * noise


class Averager(Reader):
    """The same model, answering with the mean of its own last twenty outputs."""

    def __init__(self) -> None:
        self.last: deque[float] = deque(maxlen=20)

    def __call__(self, window: np.ndarray) -> float:
        self.last.append(super().__call__(window))
        return float(np.mean(self.last))


def in_order(model, windows):
    """Ask one long-lived model window by window, as the published scorer did."""
    return {key: np.array([model(window) for window in own]) for key, own in windows.items()}


def protected(make, windows, rng):
    """Ask a fresh copy for every window, in one random order, as as-described does."""
    answers = {key: np.empty(len(own)) for key, own in windows.items()}
    places = [(key, place) for key, own in windows.items() for place in range(len(own))]
    for number in rng.permutation(len(places)):
        key, place = places[number]
        answers[key][place] = make()(windows[key][place])
    return answers


def constant(task: str, definition: str = "as-scored", value: float | None = None, fast: bool = False):
    benchmark = load(task, definition, fast=fast)
    truth = benchmark.truth(benchmark.split("validation"))
    mean = np.float32(truth["target"]).mean(dtype=np.float64) if value is None else value
    return {key: np.full(len(own), mean) for key, own in windows_of(task, definition, fast).items()}


def nrmse(predictions, task: str, definition: str = "as-scored") -> float:
    benchmark = load(task, definition)
    truth = benchmark.truth(benchmark.split("validation"))
    return score(prediction_rows(benchmark, predictions), truth, benchmark.manifest).value


def test_windows_are_given_recording_by_recording_in_order_and_in_microvolts():
    given = windows_of("externalizing")
    benchmark = load("externalizing")
    assert list(given) == sorted(given)
    for key, own in list(given.items())[:3]:
        assert own.dtype == np.float32
        assert own.shape[1:] == (129, 200)
        assert not own[:, 128].any()
        recording = benchmark.recording(key)
        starts = cropped_starts(recording.n_samples)
        np.testing.assert_array_equal(own, recording.windows(starts, 200))


def test_one_person_a_time_is_given_where_one_prediction_a_person_is_asked():
    given = windows_of("externalizing", "as-described")
    assert len(given) == 12
    assert {own.shape for own in given.values()} == {next(iter(given.values())).shape}
    recording = load("externalizing", "as-described").recording(next(iter(given)))
    np.testing.assert_array_equal(next(iter(given.values()))[3], recording.read(600, 800))


@pytest.mark.parametrize("definition", ["as-scored", "as-described"])
def test_predicting_the_mean_of_what_is_judged_scores_one(definition):
    said = score_windows(
        load("response-time", definition),
        constant("response-time", definition),
        load("externalizing", definition),
        constant("externalizing", definition),
    )
    assert [said[name] for name in ("overall", "challenge1", "challenge2")] == pytest.approx(
        [1, 1, 1], abs=1e-9
    )
    if definition == "as-scored":
        assert said["overall"] == said["challenge1"] == said["challenge2"] == 1.0


def test_as_scored_pools_windows_and_rounds_to_five_decimals():
    predictions = in_order(Reader(), windows_of("externalizing"))
    benchmark = load("externalizing")
    targets = benchmark.examples.set_index("id")["target"]
    rows = prediction_rows(benchmark, predictions)
    y = np.float32(targets[rows["id"]].to_numpy()).astype(np.float64)
    expected = np.sqrt(np.mean((rows["number"].to_numpy() - y) ** 2)) / y.std()
    said = score_windows(load("response-time"), constant("response-time"), benchmark, predictions)
    assert said["challenge2"] == round(expected, 5)
    assert said["challenge1"] == 1.0
    assert said["overall"] == round(0.3 + 0.7 * expected, 5)
    assert said["definition"] == "as-scored"
    assert said["simulated"] is True


def test_the_weights_are_three_and_seven_tenths():
    assert overall(0.90, 0.98) == pytest.approx(0.956)
    assert overall(np.array([1.0, 0.0]), np.array([0.0, 1.0])).tolist() == [0.3, 0.7]


def test_a_model_that_averages_its_last_outputs_gains_as_scored_and_nothing_as_described():
    scored = windows_of("externalizing")
    honest, averaged = (nrmse(in_order(model, scored), "externalizing") for model in (Reader(), Averager()))
    assert averaged < honest - 0.05
    described = windows_of("externalizing", "as-described")
    few = {key: own[:20] for key, own in described.items()}
    alike = (
        protected(Reader, few, np.random.default_rng(1)),
        protected(Averager, few, np.random.default_rng(2)),
    )
    for key in few:
        np.testing.assert_array_equal(alike[0][key], alike[1][key])
    # Every window was answered by a copy without a past, so that the mean over a person is the same number too.
    full = {key: np.resize(own, len(described[key])) for key, own in alike[0].items()}
    again = {key: np.resize(own, len(described[key])) for key, own in alike[1].items()}
    assert nrmse(full, "externalizing", "as-described") == nrmse(again, "externalizing", "as-described")


def test_a_person_s_prediction_is_the_mean_over_their_windows():
    predictions = in_order(Reader(), dict(windows_of("externalizing", "as-described").items()))
    rows = prediction_rows(load("externalizing", "as-described"), predictions)
    assert rows["id"].tolist() == list(predictions)
    assert rows["number"].tolist() == pytest.approx([own.mean() for own in predictions.values()])


def test_numbers_in_one_array_or_one_column_are_taken_as_they_come():
    predictions = constant("externalizing")
    benchmark = load("externalizing")
    flat = np.arange(sum(map(len, predictions.values())), dtype=float)
    cuts = np.cumsum([len(own) for own in predictions.values()])[:-1]
    columns = dict(zip(predictions, (part[:, None] for part in np.split(flat, cuts)), strict=True))
    one, two = prediction_rows(benchmark, flat), prediction_rows(benchmark, columns)
    assert one.equals(two)
    assert one["number"].tolist() == flat.tolist()


def test_intervals_are_those_of_leaving_people_out_and_scoring_the_others_anew():
    first, second = load("response-time"), load("externalizing")
    predictions = {
        key: own + 0.3 * np.sin(np.arange(len(own))) for key, own in constant("response-time").items()
    }
    other = in_order(Reader(), windows_of("externalizing"))
    tables = []
    for benchmark, said in ((first, predictions), (second, other)):
        truth = benchmark.truth(benchmark.split("validation"))
        rows = prediction_rows(benchmark, said)
        joined = truth.merge(rows, on="id")
        joined["target"] = np.float32(joined["target"]).astype(np.float64)
        tables.append((joined, score(rows, truth, benchmark.manifest)))
    people = sorted({unit for joined, _ in tables for unit in joined["unit"]})

    def scores_of(some: list[str]) -> np.ndarray:
        """Pool the answers for some people: nRMSE of both challenges, and their overall."""
        values = []
        for joined, _ in tables:
            own = joined[joined["unit"].isin(some)]
            y, p = own["target"].to_numpy(), own["number"].to_numpy()
            values.append(np.sqrt(np.mean((y - p) ** 2)) / y.std())
        return np.array([*values, 0.3 * values[0] + 0.7 * values[1]])

    point, found = scores_of(people), measure_intervals(tables[0][1], first, tables[1][1], second)
    for at, name in enumerate(("challenge1", "challenge2", "overall")):
        if name == "overall":
            weights = dict.fromkeys(people, 1.0)
        else:
            weights = tables[at][0].groupby("unit").size().astype(float).to_dict()
        left = np.array([scores_of([who for who in people if who != out])[at] for out in weights])
        # Lower is better: the formulas are those of the negated score, and no error is below zero.
        low, high = guarded(-point[at], -left, np.array(list(weights.values())))
        assert found[name] == pytest.approx((max(-high, 0), -low), rel=1e-9)


def guarded(theta: float, left: np.ndarray, weights: np.ndarray) -> tuple[float, float]:
    """The guarded jackknife t of one score, from its formulas."""
    n_levels = len(left)
    se = np.sqrt((n_levels - 1) / n_levels * ((left - theta) ** 2).sum())
    c = left.mean() - left
    s = (c**3).mean() / (c**2).mean() ** 1.5
    g_eff = weights.sum() ** 2 / (weights**2).sum()
    k, q = np.sqrt(g_eff), stats.t.ppf(0.975, g_eff - 1)

    def restored(x: float) -> float:
        return 3 * k / s * (np.cbrt(1 + s / k * (x - s / (6 * k))) - 1)

    return theta - se * max(q, restored(q)), theta + se * max(q, -restored(-q))


def test_a_quick_look_gives_scores_and_says_why_there_are_no_intervals():
    said = score_windows(
        load("response-time", fast=True),
        constant("response-time", fast=True),
        load("externalizing", fast=True),
        constant("externalizing", value=0.1, fast=True),
    )
    assert said["n_people"] == 4
    assert said["challenge2"] >= 1.0
    assert said["intervals"] is None
    assert "too few" in said["no_intervals"]
    assert any("Not a score" in note for note in said["notes"])


def broken(change) -> dict[str, np.ndarray]:
    predictions = {key: own.copy() for key, own in constant("externalizing").items()}
    change(predictions, next(iter(predictions)))
    return predictions


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda said, key: said.pop(key), "predictions for .* are missing"),
        (lambda said, key: said.update({key: said[key][:-1]}), "expected one number for each of"),
        (
            lambda said, key: said.update({key: np.zeros((len(said[key]), 2))}),
            "expected one number for each of",
        ),
        (lambda said, key: said[key].__setitem__(2, np.nan), "window 2 is nan"),
        (lambda said, key: said[key].__setitem__(1, np.inf), "window 1 is inf"),
    ],
)
def test_answers_that_are_no_predictions_are_refused_by_name(change, message):
    with pytest.raises(NeuroarenaError, match=message):
        prediction_rows(load("externalizing"), broken(change))


def test_one_array_of_another_length_is_refused():
    with pytest.raises(NeuroarenaError, match="got 3 predictions for"):
        prediction_rows(load("externalizing"), np.zeros(3))


def test_challenges_that_are_not_the_two_of_one_definition_are_refused():
    first, second = load("response-time"), load("externalizing")
    with pytest.raises(InputError, match="Challenge 1 is eeg2025/response-time"):
        score_windows(second, {}, first, {})
    with pytest.raises(InputError, match="one definition"):
        score_windows(first, {}, load("externalizing", "as-described"), {})
    with pytest.raises(InputError, match="does not accept code submissions"):
        next(submission_windows(load("response-time", "zero-shot")))


def test_a_constant_target_is_refused_by_name():
    benchmark = load("externalizing")
    truth = benchmark.truth(benchmark.split("validation")).assign(target=0.25)
    with pytest.raises(InputError, match=r"every target is 0\.25"):
        score(prediction_rows(benchmark, constant("externalizing")), truth, benchmark.manifest)
