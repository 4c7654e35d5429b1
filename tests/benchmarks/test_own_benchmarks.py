"""Benchmarks of one's own recordings, in Python: from events and from epochs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import mne
import numpy as np
import pandas as pd
import pytest

from neuroarena import Benchmark, evaluate, from_sklearn
from neuroarena.benchmarks import check_benchmark
from neuroarena.errors import InputError
from neuroarena.evaluation.plan import plan_runs
from neuroarena.features import BandPass, FeatureChain
from own_recordings import CHANNELS, N_EVENTS, RATE, raw_of, run_of, windows_of, write_files

RULES: dict[str, Any] = {"window_s": (0.0, 1.0), "split": "leave-one-run-out"}


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lab")
    write_files(folder)
    return folder


def two_runs(**changes: Any) -> Benchmark:
    runs = {"1": raw_of(0), "2": raw_of(1)}
    return Benchmark.from_events(runs, **{**RULES, "run": "recording", **changes})


def cell_keys(benchmark: Benchmark) -> set[str]:
    from neuroarena.decoders import load_decoder

    (plan,) = plan_runs([("linear", load_decoder("linear"))], [benchmark], [None])
    return {cell.key for cell in plan.cells}


def test_files_of_two_people_become_a_benchmark_that_keeps_the_contract(files: Path):
    benchmark = Benchmark.from_events(
        files, names="P{subject}R{run}", window_s=(0, 1), split=("leave-one-run-out", "leave-one-subject-out")
    )
    assert [check for check in check_benchmark(benchmark) if not check.passed] == []
    assert len(benchmark.examples) == 4 * N_EVENTS
    assert benchmark.manifest.classes == ("left", "right")
    assert [fold.name for fold in benchmark.split("leave-one-run-out").folds] == ["1/1", "1/2", "2/1", "2/2"]
    assert [fold.name for fold in benchmark.split("leave-one-subject-out").folds] == ["1", "2"]
    assert (benchmark.manifest.unit, set(benchmark.examples["unit"])) == ("subject", {"1", "2"})
    # What a decoder sees are the channels of the brain: no marker, and no eye.
    assert benchmark.recording("P1R1").channels["name"].tolist() == CHANNELS[:3]


def test_the_same_data_as_files_raws_and_arrays_are_the_same_question(files: Path, tmp_path: Path):
    from sklearn.linear_model import LogisticRegression

    signals, tables = zip(*(run_of(seed) for seed in (0, 1)), strict=True)
    events = pd.concat([table.assign(recording=str(place)) for place, table in enumerate(tables)])
    windows, metadata = windows_of()
    asked = [
        Benchmark.from_events([files / "P1R1.fif", files / "P1R2.fif"], names="P{subject}R{run}", **RULES),
        two_runs(),
        Benchmark.from_events(
            [signal[:3] * 1e6 for signal in signals], events=events, rate_hz=RATE, run="recording", **RULES
        ),
        Benchmark.from_epochs(
            windows * 1e6, metadata=metadata, rate_hz=RATE, target="label", split="leave-one-run-out"
        ),
    ]
    decoder = from_sklearn(LogisticRegression(), features=FeatureChain((BandPass(8, 16),)))
    results = [evaluate(decoder, each, cache=tmp_path) for each in asked]
    assert len({round(result.score, 9) for result in results}) == 1
    answers = [np.sort(result.predictions["p_left"].to_numpy()) for result in results]
    for other in answers[1:]:
        # Not bit for bit: a file of MNE is read as volts and multiplied by a million.
        np.testing.assert_allclose(other, answers[0], rtol=1e-3)


def test_epochs_are_read_when_they_are_asked_for_and_match_the_array(tmp_path: Path):
    raw = raw_of(0)
    events, numbers = mne.events_from_annotations(raw, verbose="error")
    epochs = mne.Epochs(
        raw, events, numbers, tmin=0, tmax=0.99, baseline=None, preload=False, verbose="error"
    )
    epochs.metadata = pd.DataFrame({"half": np.repeat(["first", "second"], N_EVENTS // 2)})
    rules: dict[str, Any] = {"target": "event", "split": "leave-one-half-out", "unit": "half"}
    benchmark = Benchmark.from_epochs(epochs, **rules)
    assert not epochs.preload
    windows, _ = windows_of((0,))
    first = benchmark.examples.iloc[0]
    recording = benchmark.recording(first["recording"])
    np.testing.assert_allclose(recording.read(first["start"], first["stop"]), windows[0] * 1e6, rtol=1e-5)
    epochs.save(tmp_path / "lab-epo.fif", fmt="double", verbose="error")
    again = Benchmark.from_epochs(tmp_path / "lab-epo.fif", **rules)
    assert again.split("leave-one-half-out").hash == benchmark.split("leave-one-half-out").hash


def test_a_changed_sample_or_rule_is_another_question_to_the_cache():
    keys = cell_keys(two_runs())
    assert cell_keys(two_runs()) == keys
    changed = raw_of(0)
    changed._data[0, 150] += 1e-9
    other = Benchmark.from_events({"1": changed, "2": raw_of(1)}, **RULES, run="recording")
    assert not cell_keys(other) & keys
    assert not cell_keys(two_runs(band_hz=(8, 30))) & keys
    assert two_runs(band_hz=(8, 30)).name != two_runs().name
    # Another split beside the first is no other question.
    assert two_runs(split=("leave-one-run-out", "blocked-2-folds")).name == two_runs().name


def test_filters_rate_and_baseline_are_applied_before_a_decoder_sees_windows(tmp_path: Path):
    seen: list[Any] = []

    class Looks:
        features = FeatureChain()

        def fit(self, train: Any, validation: Any = None, context: Any = None) -> Any:
            seen.extend(train)
            return self

        def predict(self, test: Any) -> Any:
            return np.full((sum(len(group) for group in test), 2), 0.5)

    benchmark = two_runs(
        window_s=(-0.2, 0.8), pad_s=0.5, band_hz=(2, 20), resample_hz=50, baseline_s=(-0.2, 0)
    )
    evaluate(Looks(), benchmark, cache=tmp_path)
    group = seen[0]
    assert group.signals.shape[1:] == (3, 50)
    assert group.rate_hz == 50
    np.testing.assert_allclose(group.signals[:, :, :10].mean(axis=2), 0, atol=1e-4)
    # The padding is what a filter over the whole recording would have seen.
    whole = raw_of(1).filter(2, 20, method="iir", verbose="error").get_data(picks="eeg") * 1e6
    start = int(group.table["id"].iloc[0].rpartition("/")[2]) - 20
    expected = whole[:, start : start + 100 : 2]
    ours = group.signals[0] - group.signals[0].mean(axis=1, keepdims=True)
    theirs = expected - expected.mean(axis=1, keepdims=True)
    assert np.corrcoef(ours.ravel(), theirs.ravel())[0, 1] > 0.99


def test_events_of_a_marker_channel_are_the_annotated_ones():
    marked = two_runs(stim_channel="STI", classes={"1": "left", "2": "right"}, target="value")
    annotated = two_runs()
    assert marked.examples["id"].tolist() == annotated.examples["id"].tolist()
    assert marked.examples["target"].tolist() == annotated.examples["target"].tolist()


def test_bad_channels_and_windows_beyond_the_recording_are_left_out_and_named():
    raw = raw_of(0)
    raw.info["bads"] = ["Cz"]
    benchmark = Benchmark.from_events(
        {"1": raw, "2": raw_of(1)}, run="recording", split="leave-one-run-out", window_s=(-1.5, 0)
    )
    assert benchmark.recording("1").channels["name"].tolist() == ["C3", "C4"]
    assert len(benchmark.examples) == 2 * N_EVENTS - 2
    assert any("2 of 32 events were left out" in note for note in benchmark.notes)
    assert any("marked as bad" in note for note in benchmark.notes)


def test_a_number_can_be_decoded():
    windows, metadata = windows_of()
    metadata["amplitude"] = np.abs(windows).mean(axis=(1, 2)) * 1e6
    benchmark = Benchmark.from_epochs(
        windows, metadata=metadata, rate_hz=RATE, target="amplitude", split="leave-one-run-out", metric="rmse"
    )
    assert benchmark.manifest.prediction == "number"
    assert benchmark.manifest.classes == ()
    assert [check for check in check_benchmark(benchmark) if not check.passed] == []


def test_lists_cut_a_split_by_any_column():
    lists = {
        "mine": {"column": "recording", "test": ["2"]},
        "folds": {"column": "run", "folds": {"a": ["1"], "b": ["2"]}},
    }
    benchmark = two_runs(split=lists)
    (fold,) = benchmark.split("mine").folds
    assert {example.partition("/")[0] for example in fold.test} == {"2"}
    assert {example.partition("/")[0] for example in fold.train} == {"1"}
    assert [fold.name for fold in benchmark.split("folds").folds] == ["a", "b"]


def test_blocked_folds_share_no_sample_and_judge_every_example():
    benchmark = two_runs(split="blocked-4-folds", window_s=(0, 3))
    split, table = benchmark.split("blocked-4-folds"), benchmark.examples.set_index("id")
    assert sum(len(fold.test) for fold in split.folds) == len(table)
    for fold in split.folds:
        train, test = table.loc[list(fold.train)], table.loc[list(fold.test)]
        apart = [
            (row.stop <= test["start"].min()) or (row.start >= test["stop"].max())
            for row in train.itertuples()
        ]
        assert all(apart)


AT_ONE = pd.DataFrame({"onset_s": [1.0], "value": ["a"]})
REFUSALS = [
    ({"split": None}, 'the key "split" is missing'),
    ({"split": "leave-one-out"}, 'the split "leave-one-out" is unknown. Expected leave-one-subject-out'),
    ({"split": "leave-one-session-out"}, 'needs two values of "session" of one subject or more'),
    ({"split": "leave-one-day-out"}, 'needs a column "day", which the events do not have; there are: id,'),
    ({"split": {"mine": {"column": "recording", "test": ["9"]}}}, 'lists "9", which is no recording of these data'),
    ({"split": {"mine": {"column": "recording"}}}, "has either test or folds"),
    ({"split": "blocked-50-folds"}, "50 folds of 1, which has 16 items"),
    ({"window_s": None}, 'the key "window_s" is missing'),
    ({"window_s": (1, 0)}, "the end of a stretch comes after its beginning, got 1 to 0"),
    ({"window_s": "long"}, "expected two numbers, as in [0.5, 3.5], got 'long'"),
    ({"window_s": (0, 100)}, "no window lies inside its recording"),
    ({"windows": (0, 1)}, 'there is no key "windows". Did you mean "window_s"?'),
    ({"target": "colour"}, 'the events have no column "colour"; there are: onset_s, duration_s, description'),
    ({"classes": {"left": "L", "up": "U"}}, 'no event has the description "up"; there are: left (16), right (16)'),
    ({"classes": ["left"]}, 'has one class, left; two or more are needed'),
    ({"where": {"description": "up"}}, 'no event is left of those that the key "where" selects'),
    ({"metric": "aurocc"}, 'No metric "aurocc". Did you mean "auroc"'),
    ({"metric": "rmse"}, 'rmse judges numbers, and the column "description" holds "'),
    ({"channels": ["meg"]}, "1 has no channel of the kind meg"),
    ({"channels": ["c3"]}, '1 has no channel or kind "c3". Did you mean "C3"?'),
    ({"channels": ["Fz"]}, '1 has no channel or kind "Fz". Its kinds are eeg, eog, stim; its channels are C3, Cz, C4'),
    ({"baseline_s": (-0.2, 0)}, "baseline_s -0.2 to 0 s lies outside of the window 0 to 1 s"),
    ({"band_hz": (30, 8)}, "a band is a rising pair of numbers"),
    ({"resample_hz": -1}, 'the key "resample_hz": expected a number above zero, got -1'),
    ({"known": ["age"]}, 'the key "known" names "age"'),
    ({"known": "description"}, '"description", which is decoded: decoders would be told the answer'),
    ({"split": "leave-one-subject-out"}, 'Who is who comes from BIDS, from a column (subject = "...") or from names'),
    ({"where": {"description": True}}, 'none has the description True; there are: left (16), right (16)'),
    ({"names": "S{subject}"}, '1: is not named as "S{subject}" says'),
    ({"unit": "day"}, 'the events have no column "day"'),
    ({"stim_channel": "STI 014"}, 'no channel "STI 014"'),
    ({"reference": "mastoids"}, 'the key "reference": expected "average"'),
]  # fmt: skip


@pytest.mark.parametrize(("change", "message"), REFUSALS, ids=[message[:40] for _, message in REFUSALS])
def test_a_mistake_is_named(change: dict[str, Any], message: str):
    rules = {**RULES, "run": "recording", **change}
    with pytest.raises(InputError) as refusal:
        Benchmark.from_events(
            {"1": raw_of(0), "2": raw_of(1)},
            **{key: value for key, value in rules.items() if value is not None},
        )
    assert message in str(refusal.value)


@pytest.mark.parametrize(
    ("data", "rules", "message"),
    [
        ("nowhere.edf", {}, "nowhere.edf: there is no such file or folder"),
        (".", {}, "holds no recording. Expected files that end in"),
        (np.zeros((2, 100)), {"events": pd.DataFrame({"onset_s": [1.0]})}, "An array needs rate_hz"),
        (np.zeros((2, 100)), {"rate_hz": 100.0}, "has no events of its own"),
        (None, {}, "A recording is a file, a folder, an mne.io.Raw or an array"),
        (mne.EpochsArray(np.zeros((2, 1, 9)), mne.create_info(1, 100.0), verbose="error"), {}, "from_epochs"),
        (np.zeros((2, 100)), {"rate_hz": 100.0, "events": pd.DataFrame({"when": [1.0]})}, "say nowhere when they are"),
        (np.zeros((2, 100)), {"rate_hz": 100.0, "events": pd.DataFrame({"onset_s": ["soon"]})}, 'onset_s is "soon"'),
        (np.zeros((2, 100)), {"rate_hz": 100.0, "events": "events.tsv"}, "events.tsv: there is no such file"),
        ([np.zeros((2, 9))] * 2, {"rate_hz": 9, "events": AT_ONE}, 'Add a column "recording" with 0, 1, or pass one'),
        ([np.zeros((2, 9))] * 2, {"rate_hz": 9, "events": AT_ONE.assign(recording="O")}, 'a recording "O", which'),
        ([np.zeros((2, 9))] * 2, {"rate_hz": 9, "events": [AT_ONE]}, "Events are a list of 1, and recordings of 2"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_used_are_named(data: Any, rules: dict[str, Any], message: str, tmp_path: Path):
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        Benchmark.from_events(data, folder=tmp_path, window_s=(0, 0.1), split="blocked-2-folds", **rules)


def test_a_window_below_one_sample_is_refused():
    with pytest.raises(InputError, match=r"window_s 0 to 0\.001 s is shorter than one sample at 100 Hz"):
        two_runs(window_s=(0, 0.001))


def test_names_say_who_is_who_of_objects_as_they_do_of_files(tmp_path: Path):
    raws = {f"P{person}R{run}": raw_of(2 * person + run) for person in (1, 2) for run in (1, 2)}
    benchmark = Benchmark.from_events(
        raws, **{**RULES, "split": ("leave-one-subject-out", "leave-one-run-out")}, names="P{subject}R{run}"
    )
    assert sorted(benchmark.examples["subject"].unique()) == ["1", "2"]
    for name, raw in raws.items():
        raw.save(tmp_path / f"{name}_raw.fif", verbose="error")
    listed = Benchmark.from_events(
        (path for path in sorted(tmp_path.glob("*.fif"))), **RULES, names="P{subject}R{run}_raw"
    )
    by_pattern = Benchmark.from_events(str(tmp_path / "*.fif"), **RULES, names="P{subject}R{run}_raw")
    pd.testing.assert_frame_equal(listed.examples, by_pattern.examples)
    assert listed.examples["subject"].tolist() == benchmark.examples["subject"].tolist()


def test_arrays_have_named_channels_and_a_table_of_events_each():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"onset_s": np.arange(1.0, 9.0), "value": ["a", "b"] * 4})
    benchmark = Benchmark.from_events(
        [rng.standard_normal((3, 1000)), rng.standard_normal((3, 1000))],
        rate_hz=100.0,
        channel_names=["C3", "Cz", "C4"],
        channels=["C4", "C3"],
        events=[table, table.iloc[:6]],
        window_s=(0, 0.5),
        split="leave-one-recording-out",
    )
    assert benchmark.examples.groupby("recording").size().to_dict() == {"0": 8, "1": 6}
    assert benchmark.recording("0").channels["name"].tolist() == ["C4", "C3"]


def test_a_recording_without_an_event_is_named():
    silent = raw_of(0)
    silent.set_annotations(None)
    benchmark = Benchmark.from_events(
        {"1": raw_of(0), "2": raw_of(1), "rest": silent}, **RULES, run="recording"
    )
    assert "1 of 3 recordings has no event and takes no part: rest." in benchmark.notes


def test_values_are_told_apart_as_people_write_them():
    """Numbers of NumPy, whole numbers that pandas made floats of, truth values, and one thing in place of a list."""
    about = pd.DataFrame(
        {"label": [1.0, 2.0, np.nan] * 8, "kept": [True] * 18 + [False] * 6, "day": [1.0] * 12 + [2.0] * 12}
    )
    benchmark = Benchmark.from_epochs(
        np.random.default_rng(0).standard_normal((24, 2, 100)),
        metadata=about,
        rate_hz=200.0,
        target="label",
        classes={np.int64(1): "face", 2: "house"},
        where={"kept": True},
        notch_hz=50,
        channels="ch1",
        split={"column": "day", "test": [2]},
    )
    assert benchmark.manifest.classes == ("face", "house")
    (fold,) = benchmark.split("listed").folds
    assert (len(fold.train), len(fold.test)) == (8, 4)


def test_what_is_not_epochs_is_refused_by_name():
    recording = raw_of(0)
    with pytest.raises(
        InputError, match=r"takes epochs, got RawArray\. Pass a recording to Benchmark\.from_events"
    ):
        Benchmark.from_epochs(recording, split="blocked-2-folds")
    with pytest.raises(InputError, match=r"2 sets of windows, which need a table of metadata each"):
        Benchmark.from_epochs(
            [np.zeros((2, 1, 9))] * 2, rate_hz=9, metadata=pd.DataFrame({"label": list("ab")}), split="x"
        )


def test_metadata_that_are_no_table_are_refused():
    windows, about = np.zeros((4, 2, 9)), {"label": list("abab"), "run": list("1122")}
    with pytest.raises(InputError, match=r"must be a pandas\.DataFrame, a row for each window, got dict"):
        Benchmark.from_epochs(
            windows, metadata=about, rate_hz=100.0, target="label", split="leave-one-run-out"
        )  # type: ignore[arg-type]


def test_an_onset_that_is_no_number_is_named_with_the_file_and_line_of_its_table(tmp_path: Path):
    (tmp_path / "marks.csv").write_text("onset_s,label\n1,a\nsoon,b\n")
    with pytest.raises(InputError, match=r'marks\.csv: line 3: onset_s is "soon"; expected a number'):
        two_runs(events=tmp_path / "marks.csv", target="label")


def test_recordings_of_two_rates_need_one_to_be_brought_to():
    runs = {"1": raw_of(0), "2": raw_of(1).resample(50, verbose="error")}
    with pytest.raises(InputError, match="1 has 100 samples per second and 2 has 50"):
        Benchmark.from_events(runs, **RULES, run="recording")
    assert Benchmark.from_events(runs, **RULES, run="recording", resample_hz=50).features.name == "downsample"


def test_no_table_of_events_goes_to_several_recordings(files: Path):
    _, events = run_of(0)
    rules = {"window_s": (0, 1), "split": "blocked-2-folds"}
    with pytest.raises(InputError, match=r"4 recordings and one table of events, which does not say"):
        Benchmark.from_events([files], events=[events], **rules)
    with pytest.raises(InputError, match=r"a list of 2, and recordings of 1\. Pass one table for each"):
        Benchmark.from_events(files / "*.fif", events=[events, events], **rules)
    spelt = pd.concat([events.assign(recording=name) for name in ("a", "b", "B.fif")])
    with pytest.raises(InputError, match=r'recording "B\.fif", which is not there\. Did you mean "b"'):
        Benchmark.from_events({"a": raw_of(0), "b": raw_of(1)}, events=spelt, **rules)


def test_tables_are_matched_with_recordings_and_windows_by_any_name(tmp_path: Path):
    rules = {"window_s": (0, 1), "split": "leave-one-recording-out"}
    _, events = run_of(0)
    events.to_csv(tmp_path / "events.csv", index=False)
    named = Benchmark.from_events(
        {1: raw_of(0), 2: raw_of(1)}, events={1: events, 2: "events.csv"}, folder=tmp_path, **rules
    )
    assert set(named.examples["recording"]) == {"1", "2"}
    windows, metadata = windows_of()
    asked = {"rate_hz": RATE, "target": "label", "split": "leave-one-run-out"}
    ways = [({1: windows}, {1: metadata}), ([windows], [metadata]), (windows, {"all": metadata})]
    for data, tables in ways:
        assert len(Benchmark.from_epochs(data, metadata=tables, **asked).examples) == len(windows)
    with pytest.raises(InputError, match=r'no metadata for "2"; there are: 1'):
        Benchmark.from_epochs({1: windows, 2: windows}, metadata={1: metadata}, **asked)


def test_files_that_go_on_in_others_are_read_once_and_none_stands_for_another(tmp_path: Path):
    rng, info = np.random.default_rng(0), mne.create_info(40, 500.0, "eeg")
    marks = mne.Annotations(np.arange(1.0, 60.0), 0.0, ["left", "right"] * 29 + ["left"])
    recording = mne.io.RawArray(rng.normal(size=(40, 30_000)) * 1e-6, info).set_annotations(marks)
    for name in ("raws/s_raw.fif", "a/x/s-epo.fif", "b/x/s-epo.fif"):
        (tmp_path / name).parent.mkdir(parents=True)
    recording.save(tmp_path / "raws/s_raw.fif", split_size="3MB")
    epochs = mne.Epochs(recording, tmin=0, tmax=0.5, baseline=None, preload=True)
    epochs.save(tmp_path / "a/x/s-epo.fif", split_size="3MB")
    epochs.save(tmp_path / "b/x/s-epo.fif")
    assert (tmp_path / "raws/s_raw-1.fif").exists()
    assert (tmp_path / "a/x/s-epo-1.fif").exists()
    cut = {"split": "blocked-2-folds"}
    for data in (tmp_path / "raws", tmp_path / "raws/*.fif"):
        made = Benchmark.from_events(data, window_s=(0, 0.5), **cut)
        assert made.examples["recording"].value_counts().to_dict() == {"s_raw": 59}
    made = Benchmark.from_epochs(tmp_path, **cut)
    assert made.examples["recording"].value_counts().to_dict() == {"a/x/s-epo": 59, "b/x/s-epo": 59}
    with pytest.raises(InputError, match=r"s-epo\.fif: this file is named twice"):
        Benchmark.from_epochs([tmp_path / "b/x/s-epo.fif"] * 2, **cut)
    whose = pd.DataFrame({"subject": ["1", "1-2"], "session": ["2-3", "3"], "label": ["a", "b"]})
    with pytest.raises(InputError, match=r'Two recordings are called "1-2-3"'):
        Benchmark.from_epochs(np.zeros((2, 1, 9)), metadata=whose, rate_hz=9.0, target="label", **cut)


def test_a_number_is_called_the_same_whatever_stands_beside_it_and_nobody_is_called_nan():
    windows = np.random.default_rng(0).standard_normal((16, 2, 50))
    table = pd.DataFrame(
        {"label": [0.5, 2.0] * 8, "subject": [1.0, 1.0, 2.0, 2.0] * 4, "day": [1.0] * 15 + [np.nan]}
    )
    rules: dict[str, Any] = {"metadata": table, "rate_hz": 50.0, "target": "label"}
    made = Benchmark.from_epochs(
        windows, classes=[0.5, 2.0], split={"column": "subject", "test": 2.0}, **rules
    )
    assert made.manifest.classes == ("0.5", "2")
    assert len(made.split("listed").folds[0].test) == 8
    with pytest.raises(InputError, match=r'needs a value of "day" for every event; 1 of 16 have none'):
        Benchmark.from_epochs(windows, split="leave-one-day-out", **rules)
    with pytest.raises(InputError, match=r'has no value for "(subject|unit)"'):
        Benchmark.from_epochs(windows, split="leave-one-subject-out", subject="day", **rules)
    events = pd.DataFrame({"onset_s": [1.0, 2.0], "label": ["a", "b"], "recording": ["x", None]})
    with pytest.raises(InputError, match="1 of 2 events name no recording"):
        Benchmark.from_events(
            {"x": raw_of(0), "y": raw_of(1)}, events=events, split="blocked-2-folds", window_s=(0, 1)
        )
