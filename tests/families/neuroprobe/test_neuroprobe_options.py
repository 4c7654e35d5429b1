"""What can be chosen when Neuroprobe is loaded: folds, caps, levels, windows, subsets."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from twin_copies import copy_twin
from typer.testing import CliRunner

import track_twins
from neuroarena import evaluate, load_benchmark
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import FAMILY, time_bins
from neuroarena.families.neuroprobe.braintreebank import facts

MODEL = "linear-laplacian-spectrogram"


@pytest.fixture(scope="module")
def twin() -> str:
    return str(track_twins.twin("braintreebank"))


@pytest.fixture
def changed(twin, tmp_path):
    """A copy of the twin that a test may spoil."""
    return copy_twin(twin, tmp_path / "changed")


def test_what_was_chosen_is_recorded_and_the_defaults_are_not(twin):
    plain = load_benchmark("neuroprobe/volume", data=twin)
    assert plain.options == {"subset": "lite", "multiclass": False}
    chosen = load_benchmark(
        "neuroprobe/volume",
        data=twin,
        sessions=["1_1", "1_2"],
        judged=["1_2"],
        folds=5,
        max_samples=60,
        electrode="T1bIc3",
        offset_s=(-0.25, 0.5),
    )
    assert chosen.options == {
        "subset": "lite",
        "multiclass": False,
        "sessions": ["btbank1_1", "btbank1_2"],
        "judged": ["btbank1_2"],
        "folds": 5,
        "max_samples": 60,
        "level": "electrode",
        "electrode": ["T1bIc3"],
        "offset_s": [-0.25, 0.5],
    }
    assert len(chosen.split("within-session").folds) == 5
    assert len(chosen.examples) == 2 * 60


def test_the_command_line_takes_the_same_options(twin, tmp_path):
    words = "-O sessions=1_1,1_2 -O judged=1_2 -O folds=5 -O max-samples=60 -O electrode=T1bIc3,T1bIc4"
    words += " --option offset_s=-0.25,0.5"
    run = ["run", "neuroprobe/volume", "--data", twin, "--decoder", "chance", "--out", str(tmp_path / "out")]
    ran = CliRunner().invoke(app, [*run, "--workers", "1", "--json", *words.split()])
    assert ran.exit_code == 0
    (row,) = json.loads(ran.stdout)
    record = json.loads((Path(row["folder"]) / "record.json").read_text())
    options = record["benchmark"]["options"]
    assert options["electrode"] == ["T1bIc3", "T1bIc4"]
    assert (options["folds"], options["judged"], options["offset_s"]) == (5, ["btbank1_2"], [-0.25, 0.5])
    assert record["split"]["folds"] == 10


def test_five_folds_on_request(twin):
    for definition in ("2025.10", "2025.09", "2025.07", "strict"):
        benchmark = load_benchmark(f"neuroprobe@{definition}/volume", data=twin, sessions=["1_1"], folds=5)
        folds = benchmark.split("within-session").folds
        assert [fold.name for fold in folds] == [f"btbank1_1/{number}" for number in range(5)]
        assert benchmark.truth(benchmark.split("within-session"))["fold"].nunique() == 5


def test_max_samples_are_the_earliest_and_an_honest_split(twin):
    everything = load_benchmark("neuroprobe/volume", data=twin).examples
    few = load_benchmark("neuroprobe/volume", data=twin, max_samples=41)
    assert (few.examples.groupby(["session", "target"]).size() == 20).all()
    kept = everything.merge(few.examples[["id"]], on="id")
    pd.testing.assert_frame_equal(kept, few.examples)
    assert (
        few.split("cross-session").hash
        != load_benchmark("neuroprobe/volume", data=twin).split("cross-session").hash
    )


def test_windows_of_any_offset_and_the_bins_of_a_time_course(twin):
    plain = load_benchmark("neuroprobe/onset", data=twin)
    hashes = {plain.manifest.hash}
    for offset_s in (*time_bins()[:2], (-0.5, 1.5)):
        moved = load_benchmark("neuroprobe/onset", data=twin, offset_s=offset_s)
        begin, end = (round(2048 * second) for second in offset_s)
        assert (moved.examples["start"] - plain.examples["start"] == begin).all()
        assert (moved.examples["stop"] - moved.examples["start"] == end - begin).all()
        assert moved.split("within-session").hash == plain.split("within-session").hash
        hashes.add(moved.manifest.hash)
    # Another window is another question: boards tell them apart by the manifest.
    assert len(hashes) == 4
    recording = moved.recording("btbank1_1")
    first = moved.examples.iloc[:3]
    assert recording.windows(first["start"].to_numpy(), 4096).shape == (3, 16, 4096)


def test_a_window_outside_the_recording_is_refused_by_name(twin):
    wide = load_benchmark("neuroprobe/onset", data=twin, offset_s=(-60.0, 1.0))
    with pytest.raises(
        InputError, match=r"btbank1_1: \d+ windows lie outside the recording, .*offset is too wide"
    ):
        wide.examples  # noqa: B018


def test_a_word_outside_the_recording_is_refused_by_name(changed):
    for path in changed.glob("subject_timings/sub_1_trial001_timings.csv"):
        table = pd.read_csv(path)
        table["index"] += 200 * 2048
        table.to_csv(path, index=False)
    with pytest.raises(
        InputError, match=r"btbank1_1: \d+ windows lie outside the recording, which has samples 0 to"
    ):
        load_benchmark("neuroprobe/volume", data=str(changed)).examples  # noqa: B018


def test_annotations_are_read_again_when_they_have_changed(changed):
    before = load_benchmark("neuroprobe/volume", data=str(changed)).examples
    for path in changed.glob("transcripts/*/features.csv"):
        table = pd.read_csv(path, index_col=0)
        table["rms"] = -table["rms"]
        table.to_csv(path)
    after = load_benchmark("neuroprobe/volume", data=str(changed)).examples
    assert not before.equals(after)


def test_a_features_file_without_a_column_or_a_value_is_named(changed):
    for path in changed.glob("transcripts/*/features.csv"):
        pd.read_csv(path, index_col=0).drop(columns="speaker").to_csv(path)
    with pytest.raises(InputError, match='btbank1_1: speaker: the features lack the column "speaker"'):
        load_benchmark("neuroprobe@2025.07/speaker", data=str(changed)).examples  # noqa: B018


def test_every_electrode_is_a_unit_of_its_own(twin):
    names = FAMILY.electrodes("1_1", data=twin)
    assert len(names) == 16
    benchmark = load_benchmark("neuroprobe/onset", data=twin, sessions=["1_1", "1_2"], level="electrode")
    table = benchmark.examples
    assert set(table["unit"]) == {f"btbank1_{trial}/{name}" for trial in (1, 2) for name in names}
    assert (table["unit"] == table["recording"]).all()
    assert benchmark.recording("btbank1_1/T1bIc3").channels["name"].tolist() == ["T1bIc3"]
    within, cross = benchmark.split("within-session"), benchmark.split("cross-session")
    assert (len(within.folds), len(cross.folds)) == (4 * 16, 2 * 16)
    for fold in cross.folds:
        session, name = fold.name.split("/")
        other = {"btbank1_1": "btbank1_2", "btbank1_2": "btbank1_1"}[session]
        assert {each.rpartition("-")[0] for each in fold.train} == {f"{other}/{name}"}
        assert {each.rpartition("-")[0] for each in fold.test} == {f"{session}/{name}"}
    whole = load_benchmark("neuroprobe/onset", data=twin)
    assert benchmark.manifest.hash != whole.manifest.hash
    with pytest.raises(InputError, match="no two people share one"):
        benchmark.split("cross-subject")


def test_single_electrodes_are_evaluated_with_the_default_chain(twin):
    result = evaluate(
        MODEL,
        "neuroprobe/onset",
        "cross-session",
        data=twin,
        sessions=["1_1", "1_2"],
        electrode=["T1bIc1", "T1bIc2"],
    )
    assert result.complete
    assert result.unit_scores.table["unit"].tolist() == [
        "btbank1_1/T1bIc1",
        "btbank1_1/T1bIc2",
        "btbank1_2/T1bIc1",
        "btbank1_2/T1bIc2",
    ]
    assert result.record.benchmark.options["electrode"] == ["T1bIc1", "T1bIc2"]


def test_nano_runs_with_the_default_chain_and_its_thirty_electrodes(twin):
    benchmark = load_benchmark("neuroprobe/onset", data=twin, subset="nano")
    assert set(benchmark.examples["session"]) == {"btbank1_1", "btbank2_4"}
    assert len(benchmark.recording("btbank1_1").channels) <= 30
    assert evaluate(MODEL, benchmark, "cross-subject").complete
    with pytest.raises(InputError, match="cross-session: not defined for the subset nano"):
        benchmark.split("cross-session")


def test_the_full_subset_uses_its_own_table(twin):
    benchmark = load_benchmark("neuroprobe/onset", data=twin, subset="full", judged=["2_0"])
    (fold,) = benchmark.split("cross-session").folds
    assert {each.partition("-")[0] for each in fold.train} == {"btbank2_4"}
    with pytest.raises(InputError, match="btbank1_1: its training session btbank1_0 is not in these data"):
        load_benchmark("neuroprobe/onset", data=twin, subset="full").split("cross-session")
    with pytest.raises(InputError, match="btbank2_6 is not in these data"):
        load_benchmark("neuroprobe/onset", data=twin, subset="full", judged=["2_0"], train_on="all").split(
            "cross-session"
        )


def test_july_2025_keeps_electrodes_without_a_place(twin, monkeypatch):
    monkeypatch.setitem(facts.UNLOCATED, 1, ("T1bIc3",))
    assert "T1bIc3" not in FAMILY.electrodes("1_1", data=twin)
    assert "T1bIc3" in FAMILY.electrodes("1_1", data=twin, definition="2025.07")
    benchmark = load_benchmark("neuroprobe@2025.07/speaker", data=twin, sessions=["1_1"])
    names = benchmark.recording("btbank1_1").channels["name"].tolist()
    assert "T1bIc3" in names
    assert names == list(FAMILY.electrodes("1_1", data=twin, definition="2025.07"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"folds": 1}, "option folds is 1; expected a whole number, 2 or more"),
        ({"folds": 2.5}, "option folds is 2.5"),
        ({"max_samples": 0}, "option max_samples is 0"),
        ({"level": "brain"}, 'option level is "brain"; expected population or electrode'),
        (
            {"level": "population", "electrode": "T1bIc3"},
            "the level is population; set the level to electrode",
        ),
        (
            {"electrode": "T1bIc33"},
            'btbank1_1 has no electrode "T1bIc33" in the subset lite; did you mean T1bIc3',
        ),
        ({"electrode": "T1bIc3"}, "btbank2_0 has no electrode .*belongs to one person"),
        ({"electrode": []}, "option electrode is empty"),
        ({"train_on": "some"}, 'option train_on is "some"; expected longest or all'),
        ({"offset_s": (0.5, 0.25)}, r"offset_s is \(0.5, 0.25\)"),
        ({"judged": ["3_0"]}, "judged names btbank3_0; expected some of the sessions that are loaded"),
        ({"judged": []}, "judged names no session"),
        ({"sessions": ["1_0"]}, "subset lite of Neuroprobe has no session btbank1_0"),
        ({"subset": "huge"}, "expected lite, nano or full"),
    ],
)
def test_options_out_of_range_are_refused_by_name(options, message, twin):
    with pytest.raises(InputError, match=message):
        load_benchmark("neuroprobe/onset", data=twin, **options)


def test_july_2025_has_no_multiclass_form(twin):
    with pytest.raises(InputError, match=r"2025\.07 is binary"):
        load_benchmark("neuroprobe@2025.07/volume", data=twin, multiclass=True)


def test_interleaved_passes_return_the_same_windows_whatever_was_read_between(twin):
    benchmark = load_benchmark("neuroprobe/speech", data=twin)
    table = benchmark.examples
    keys = ("btbank1_1", "btbank1_2")
    starts = {key: table.loc[table["session"] == key, "start"].to_numpy()[:20] for key in keys}
    recordings = {key: benchmark.recording(key) for key in keys}
    first = {key: recordings[key].windows(starts[key], 2048) for key in keys}
    for key in (*keys, *reversed(keys)):
        np.testing.assert_array_equal(recordings[key].windows(starts[key], 2048), first[key])
        fresh = benchmark.recording(key).windows(starts[key], 2048)
        np.testing.assert_array_equal(fresh, first[key])
