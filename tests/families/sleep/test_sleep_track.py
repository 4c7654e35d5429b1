from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.benchmarks import Benchmark, load_benchmark
from neuroarena.decoders.streams import Playback
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from neuroarena.families.sleep import FAMILY, muse_sleep, sleep_edf
from neuroarena.families.sleep.decoders import SleepChance, SleepMedian
from neuroarena.families.sleep.people import choose_people, folds, known_people, other_people
from neuroarena.families.sleep.stretches import StretchRule
from neuroarena.scoring import score
from sleep_streams import TASKS, CallCounter, OrderReader, RepeatDetector, errors, make_benchmark

pytest.importorskip("edfio")
pytest.importorskip("pybv")
RULE = StretchRule("sleep/sleep-edf", 300.0, 1500.0, 1800.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sleep")


@pytest.fixture(scope="module", params=TASKS)
def benchmark_of(request: pytest.FixtureRequest, folders: Path) -> Benchmark:
    return make_benchmark(folders / request.param, request.param)


def test_the_manifests_say_all_that_the_track_asks_for():
    assert FAMILY.tasks("2026") == ("sleep-edf", "muse")
    for task in TASKS:
        manifest = FAMILY.manifest(task, "2026")
        assert (manifest.metric, manifest.tie_break) == ("mae", "median_absolute_error")
        assert set(manifest.additional_metrics) == {"binned_mae", "binned_mae_weighted"}
        assert manifest.prediction_columns == ("seconds",)
        assert (manifest.unit, manifest.cluster, manifest.state) == ("recording", "person", "stream")
        assert manifest.stream is not None
        assert manifest.stream.window_s == 30.0
        assert manifest.stream.start_jitter_s > 0
        assert manifest.chance == (manifest.caps["most_seconds"] - manifest.caps["least_seconds"]) / 4
    assert FAMILY.manifest("sleep-edf", "2026").caps["following_n2_epochs"] == 1
    assert "k = 1" in FAMILY.manifest("sleep-edf", "2026").title


@pytest.mark.parametrize("task", TASKS)
def test_every_onset_lies_inside_its_stream_with_the_epochs_that_make_it_stable(task: str):
    manifest = FAMILY.manifest(task, "2026")
    assert manifest.stream is not None
    assert manifest.stream.horizon_s is not None
    latest = manifest.caps["most_seconds"] + manifest.stream.start_jitter_s + 60
    assert latest <= manifest.stream.horizon_s
    if task == "muse":  # recordings end 300 s after N2, and no stream may reach beyond
        assert manifest.stream.horizon_s - manifest.caps["least_seconds"] <= 300


def test_all_streams_have_one_length_and_targets_are_as_the_files_say(benchmark_of: Benchmark):
    examples = benchmark_of.examples
    rule = benchmark_of.manifest.stream
    assert rule is not None
    for row in examples.itertuples():
        recording = benchmark_of.recording(row.recording)
        assert row.stop - row.start == round(rule.horizon_s * recording.rate_hz)
        events = benchmark_of.read_events(row.recording)
        onset = row.target + row.start / recording.rate_hz
        at = events[np.isclose(events["onset_s"], onset)]
        assert at["value"].tolist() in (["N2"], ["n2_onset"])
    assert (
        examples["target"]
        .between(benchmark_of.manifest.caps["least_seconds"], benchmark_of.manifest.caps["most_seconds"])
        .all()
    )
    assert benchmark_of.simulated


def test_a_folder_that_serves_one_task_is_refused_for_the_family_with_what_is_missing(folders: Path):
    make_benchmark(folders / "sleep-edf", "sleep-edf")
    with pytest.raises(InputError) as refused:
        load_benchmark("sleep", str(folders / "sleep-edf"))
    assert str(refused.value).startswith("sleep/muse, one of the 2 tasks asked for: ")
    assert str(refused.value).endswith("Here the dataset muse_sleep is needed.")


def test_the_muse_streams_never_come_to_the_end_of_their_recording_at_a_telling_distance(folders: Path):
    """Trap 3: every file ends 300 s after N2, so that neither the file nor the stream may tell its length."""
    examples = make_benchmark(folders / "muse", "muse").examples
    assert (examples["stop"] - examples["start"]).nunique() == 1
    left_after_onset = (examples["stop"] - examples["start"]) / 128 - examples["target"]
    assert left_after_onset.std() > 30  # the end of a stream is no fixed time after N2


@given(st.text("abcdefgh0123", min_size=1, max_size=8), st.floats(300, 50_000))
def test_a_stream_begins_at_most_its_own_draw_before_the_onset(key: str, onset_s: float):
    start, stop, target = RULE.stretch(key, onset_s, 100.0, 10_000_000)
    assert 0 <= start < stop
    assert target <= 1500 + 0.01
    assert start / 100 + target == pytest.approx(onset_s)
    assert start == 0 or target == pytest.approx(RULE.most_before_s(key), abs=0.01)


def test_draws_are_spread_evenly_and_depend_on_nothing_but_task_and_id():
    draws = np.array([RULE.most_before_s(f"SC4{number:03d}") for number in range(500)])
    assert np.histogram(draws, bins=5, range=(300, 1500))[0].min() > 70
    assert draws[7] == RULE.most_before_s("SC4007")
    other = StretchRule("sleep/muse", 300.0, 1500.0, 1800.0)
    assert other.most_before_s("SC4007") != draws[7]


def test_an_onset_outside_of_its_recording_is_refused():
    with pytest.raises(InputError, match="lies outside the recording"):
        RULE.stretch("SC4001", 700.0, 100.0, 60_000)


def test_nobody_is_judged_who_was_trained_on(benchmark_of: Benchmark):
    person = benchmark_of.examples.set_index("id")["subject"]
    split = benchmark_of.split("other-people")
    judged = [example for fold in split.folds for example in fold.test]
    assert sorted(judged) == sorted(benchmark_of.examples["id"])
    for fold in split.folds:
        assert not set(person[list(fold.train)]) & set(person[list(fold.test)])


@given(st.randoms(use_true_random=False))
def test_folds_do_not_change_with_the_order_of_rows_or_when_someone_is_missing(random):
    """Trap 2, on this track."""
    people = list(known_people("cassette"))
    table = pd.DataFrame({"id": [f"{p}1" for p in people], "subject": people})
    whole = other_people(("cassette",), table)
    random.shuffle(people)
    fewer = table.set_index("subject", drop=False).loc[people[:60]].reset_index(drop=True)
    cut = other_people(("cassette",), fewer)
    for fold in cut.folds:
        assert set(fold.test) == set(whole.fold(fold.name).test) & set(fewer["id"])


@pytest.mark.parametrize(("group", "n"), [("cassette", 78), ("telemetry", 22), ("muse", 203)])
def test_the_lists_of_people_hold_everyone_once(group: str, n: int):
    assert len(known_people(group)) == len(set(known_people(group))) == n
    sizes = [len(people) for people in folds(group).values()]
    assert max(sizes) - min(sizes) <= 2


def test_in_real_data_a_missing_person_is_an_error_and_a_subset_must_be_asked_for():
    everyone = known_people("muse")
    assert choose_people("muse", everyone, None, False, "here") == everyone
    with pytest.raises(InputError, match="1 of 203 people are missing, the first 002"):
        choose_people("muse", [p for p in everyone if p != "002"], None, False, "here")
    assert choose_people("muse", ["001", "003"], None, True, "here") == ("001", "003")
    assert choose_people("muse", everyone, ["003", "001"], False, "here") == ("001", "003")
    with pytest.raises(InputError, match='no person "999"'):
        choose_people("muse", everyone, ["999"], False, "here")
    with pytest.raises(InputError, match='"204" is in no fold'):
        choose_people("muse", [*everyone, "204"], None, False, "here")


def test_a_real_folder_that_lacks_a_night_is_an_error(tmp_path: Path):
    sleep_edf.simulate(tmp_path / "twin", people=2, nights=2, minutes=51)
    shutil.move(tmp_path / "twin" / "sleep-cassette", tmp_path / "sleep-cassette")
    with pytest.raises(InputError, match="76 of 78 people are missing, the first SC402"):
        FAMILY.load("sleep-edf", "2026", str(tmp_path))
    some = load_benchmark("sleep/sleep-edf", str(tmp_path), subjects=["SC400", "SC401"])
    assert sorted(some.examples["subject"].unique()) == ["SC400", "SC401"]
    assert not some.simulated
    for path in (tmp_path / "sleep-cassette").glob("SC4012*"):
        path.unlink()
    with pytest.raises(InputError, match=r"nights are missing \(1 in all\); the first is SC4012"):
        load_benchmark("sleep/sleep-edf", str(tmp_path), subjects=["SC400", "SC401"])


def test_recordings_without_a_usable_onset_are_left_out_and_named(tmp_path: Path):
    import edfio

    sleep_edf.simulate(tmp_path / "twin", people=3, nights=1, minutes=51)
    folder = tmp_path / "twin" / "sleep-cassette"
    hypnograms = {
        "SC4001": [(0, 3000, "Sleep stage W"), (3000, 30, "Sleep stage 2")],  # N2 in the last epoch only
        "SC4011": [(0, 270, "Sleep stage W"), (270, 90, "Sleep stage 2")],  # sooner than any stream may begin
    }
    for key, rows in hypnograms.items():
        scored = [edfio.EdfAnnotation(*row) for row in rows]
        edfio.Edf([], annotations=scored).write(folder / f"{key}EC-Hypnogram.edf")
    benchmark = FAMILY.load("sleep-edf", "2026", str(tmp_path / "twin"))
    assert benchmark.examples["id"].tolist() == ["SC4021"]
    assert benchmark.notes == (
        "1 recordings never reach stable N2 and are left out: SC4001.",
        "1 recordings reach N2 sooner than 300 s after their start and are left out: SC4011.",
    )


def test_another_k_is_another_task_and_zero_is_the_first_n2(folders: Path):
    make_benchmark(folders / "sleep-edf", "sleep-edf")
    data = str(folders / "sleep-edf")
    usual, first, strict = (load_benchmark("sleep/sleep-edf", data, k=k) for k in (1, 0, 6))
    assert usual.manifest.hash == FAMILY.manifest("sleep-edf", "2026").hash
    assert len({each.manifest.hash for each in (usual, first, strict)}) == 3
    assert "k = 0" in first.manifest.title

    def onsets(benchmark: Benchmark) -> pd.Series:
        table = benchmark.examples.set_index("id")
        return table["start"] / 100 + table["target"]

    table = pd.DataFrame({"first": onsets(first), "usual": onsets(usual), "strict": onsets(strict)})
    assert not (table["first"] > table["usual"]).any()
    assert (table["first"] < table["usual"]).any()
    assert not (table["usual"] > table["strict"]).any()


@pytest.mark.parametrize(
    ("task", "options", "words"),
    [
        ("muse", {"k": 2}, 'sleep/muse has no option "k"; it is an option of sleep/sleep-edf'),
        ("muse", {"study": "cassette"}, 'sleep/muse has no option "study"'),
        ("sleep-edf", {"study": "hospital"}, 'study is "hospital"; expected cassette or telemetry'),
        ("sleep-edf", {"study": "telemetry"}, "holds no night of the telemetry study"),
        ("sleep-edf", {"k": -1}, "k is -1; expected a whole number, 0 or more"),
    ],
)
def test_options_that_are_none_are_refused(folders: Path, task: str, options: dict, words: str):
    make_benchmark(folders / task, task)
    with pytest.raises(InputError, match=words):
        load_benchmark(f"sleep/{task}", str(folders / task), **options)


def test_without_data_the_message_says_how_to_make_some():
    with pytest.raises(InputError, match="neuroarena data simulate muse_sleep DIR"):
        FAMILY.load("muse", "2026")


def test_windows_are_described_without_data_as_they_will_be(benchmark_of: Benchmark):
    shape = FAMILY.window(benchmark_of.manifest.name.partition("/")[2], "2026")
    recording = benchmark_of.recording(benchmark_of.examples["recording"].iloc[0])
    assert shape.channels["name"].tolist() == recording.channels["name"].tolist()
    assert (shape.rate_hz, shape.n_samples) == (recording.rate_hz, round(30 * recording.rate_hz))


def test_a_perfect_submission_scores_zero_and_the_worked_example_of_the_docs_holds():
    manifest = FAMILY.manifest("sleep-edf", "2026")
    truth = pd.DataFrame(
        {"id": ["a", "b", "c"], "fold": "f", "unit": ["a", "b", "c"], "cluster": ["p", "p", "q"]}
    )
    truth["target"] = [420.0, 900.0, 1300.0]
    predictions = pd.DataFrame({"id": ["a", "b", "c"], "seconds": [420.0, 900.0, 1300.0]})
    assert float(score(predictions, truth, manifest).table["score"].mean()) == 0.0
    predictions["seconds"] = [450.0, 840.0, 1000.0]
    assert float(score(predictions, truth, manifest).table["score"].mean()) == pytest.approx(
        (30 + 60 + 300) / 3
    )


@pytest.mark.parametrize("adversary", [CallCounter, OrderReader, SleepChance])
def test_who_does_not_listen_scores_chance(benchmark_of: Benchmark, adversary: type):
    """Traps 3 and 5: order, length and call count tell nothing."""
    assert errors(adversary(), benchmark_of).mean() > 0.8 * errors(SleepMedian(), benchmark_of).mean()


SLOWLY = ["muse", pytest.param("sleep-edf", marks=pytest.mark.drill)]


@pytest.mark.parametrize("task", SLOWLY)
def test_who_waits_for_the_end_to_be_played_again_scores_chance(folders: Path, task: str):
    """Trap 3 once more: no stream comes to the end of its recording, so that nothing is played again there."""
    benchmark = make_benchmark(folders / task, task)
    assert errors(RepeatDetector(), benchmark).mean() > 0.8 * errors(SleepMedian(), benchmark).mean()


@pytest.mark.parametrize("task", SLOWLY)
def test_a_planted_length_is_a_leak_that_a_detector_of_repeats_finds(tmp_path: Path, task: str):
    """The same detector that scores chance on a clean twin: so that the test above can fail."""
    leaky = make_benchmark(tmp_path / "leak", task, plant_leak="length", people=3)
    lengths = leaky.examples["stop"] - leaky.examples["start"]
    assert np.corrcoef(lengths, leaky.examples["target"])[0, 1] > 0.999
    assert errors(RepeatDetector(), leaky).mean() < 15


@pytest.mark.parametrize("task", TASKS)
def test_a_planted_order_and_a_planted_channel_can_be_read_off_the_examples(tmp_path: Path, task: str):
    ordered = make_benchmark(tmp_path / "order", task, plant_leak="order")
    examples = ordered.examples.sort_values("id")
    assert np.corrcoef(np.arange(len(examples)), examples["target"])[0, 1] > 0.6
    counted = make_benchmark(tmp_path / "channel", task, plant_leak="channel", people=2)
    for row in counted.examples.itertuples():
        assert counted.recording(row.recording).read(row.start, row.start + 10)[
            -1
        ].mean() * 20 == pytest.approx(row.target, abs=2)


def test_the_start_of_a_stream_is_jittered(benchmark_of: Benchmark):
    row = benchmark_of.examples.iloc[0]
    rule = benchmark_of.manifest.stream
    assert rule is not None
    recording = benchmark_of.recording(row["recording"])
    delays = {
        Playback(recording, row["start"], row["stop"], rule, np.random.default_rng(seed)).delay_s
        for seed in range(8)
    }
    assert len(delays) > 4
    assert max(delays) <= 30.0


def test_the_whole_line_runs_and_keeps_units_clusters_and_seconds(benchmark_of: Benchmark, tmp_path: Path):
    result = evaluate(SleepMedian(), benchmark_of, cache=tmp_path / "cache")
    assert list(result.predictions.columns) == ["id", "seconds"]
    table = result.unit_scores.table
    assert sorted(table["unit"]) == sorted(benchmark_of.examples["id"])
    assert table["cluster"].nunique() == benchmark_of.examples["subject"].nunique()
    assert result.score == pytest.approx(errors(SleepMedian(), benchmark_of).mean(), rel=0.25)


def test_both_datasets_are_what_the_family_asks_for():
    assert sleep_edf.DATASET.name == "sleep_edf"
    assert muse_sleep.DATASET.name == "muse_sleep"
