"""Bad input to Neuroprobe: whatever is wrong with a folder or an option is named, in one sentence, with exit code 2."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest
from twin_copies import copy_twin

import track_twins
from neuroarena import evaluate, load_benchmark
from neuroarena.cli import main
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank, word_table


@pytest.fixture(scope="module")
def twin() -> Path:
    return track_twins.twin("braintreebank", minutes=2, subjects=1)


def features(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    """Change the features.csv of every film."""

    def spoil(root: Path) -> None:
        for path in root.glob("transcripts/*/features.csv"):
            change(pd.read_csv(path, index_col=0)).to_csv(path)

    return spoil


def pitch(value: object) -> Callable[[Path], None]:
    """Give the eighth word of every pitch table this value."""

    def spoil(root: Path) -> None:
        for path in root.glob("transcripts/*/*_pitch_volume_features.json"):
            table = json.loads(path.read_text())
            table[list(table)[7]]["enhanced_pitch"] = value
            path.write_text(json.dumps(table))

    return spoil


def late_triggers(root: Path) -> None:
    for path in root.glob("subject_timings/*_timings.csv"):
        table = pd.read_csv(path)
        table["index"] += 600 * 2048
        table.to_csv(path, index=False)


def other_labels(root: Path) -> None:
    path = root / "electrode_labels" / "sub_1" / "electrode_labels.json"
    labels = json.loads(path.read_text())
    path.write_text(json.dumps([f"Q{place}x{place + 1}" for place in range(len(labels))]))


def no_last_index(root: Path) -> None:
    path = root / "subject_timings" / "sub_1_trial002_timings.csv"
    table = pd.read_csv(path)
    table.loc[len(table) - 1, "index"] = None
    table.to_csv(path, index=False)


SPOILT_RECORDING = "sub_1_trial002.h5"


def signal(value: float, where: slice = slice(None)) -> Callable[[Path], None]:
    """Put a value into the signal of T1bIc5 of session 1_2."""

    def spoil(root: Path) -> None:
        labels = json.loads((root / "electrode_labels" / "sub_1" / "electrode_labels.json").read_text())
        place = [label.strip("*#") for label in labels].index("T1bIc5")
        with h5py.File(root / SPOILT_RECORDING, "r+") as file:
            file[f"data/electrode_{place}"][where] = value

    return spoil


def nothing(root: Path) -> None:
    del root


# What is wrong, the task, options of the command, and what must be said.
BAD = {
    "a class is missing": (
        features(lambda table: table.assign(face_num=0)),
        "face_num",
        "",
        "btbank1_1: face_num: class 1 has no example in this session, so the task cannot be judged on it.",
    ),
    "a class of several is missing": (
        features(lambda table: table.assign(face_num=table["face_num"].clip(upper=1))),
        "face_num",
        "-O multiclass=yes",
        "btbank1_1: face_num: class 2 has no example",
    ),
    "a column is missing": (
        features(lambda table: table.drop(columns="rms")),
        "volume",
        "",
        'transcripts/the-martian/features.csv: has no column "rms". Columns there: bin_head',
    ),
    "a word lies outside the recording": (
        late_triggers,
        "speech",
        "",
        "windows lie outside the recording, which has samples 0 to 245760",
    ),
    "an electrode is unknown": (
        nothing,
        "onset",
        "-O electrode=T1bIc99",
        'btbank1_1 has no electrode "T1bIc99" in the subset lite; did you mean T1bIc',
    ),
    "no electrode is known": (
        other_labels,
        "onset",
        "",
        "btbank1_1: 120 electrodes of the subset lite are not in this folder",
    ),
    "a label is NaN": (
        pitch(float("nan")),
        "pitch",
        "",
        'btbank1_1: pitch: 1 words have no "enhanced_pitch", the first is row 7 of the word table',
    ),
    "a label is null": (pitch(None), "pitch", "", '1 words have no "enhanced_pitch"'),
    "a label is infinite": (pitch(float("inf")), "pitch", "", "not a finite number"),
    "the last row of the timings has no index": (
        no_last_index,
        "speech",
        "",
        'subject_timings/sub_1_trial002_timings.csv: "index" is empty in the last row',
    ),
    "an electrode is flat": (
        signal(7.5),
        "speech",
        "",
        "Session 1_2: electrode T1bIc5 is flat: 8 stretches from all over sub_1_trial002.h5 hold one value only.",
    ),
    "an electrode is NaN throughout": (
        signal(float("nan")),
        "speech",
        "",
        "Session 1_2: electrode T1bIc5 holds nan at sample",
    ),
    "every label is NaN": (
        features(lambda table: table.assign(rms=float("nan"))),
        "volume",
        "",
        "btbank1_1: volume: the word table is empty. Words with a missing value in any column are left out",
    ),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_named_in_one_sentence(case, twin, tmp_path, monkeypatch, capsys):
    spoil, task, options, message = BAD[case]
    root = copy_twin(twin, tmp_path / "spoilt", SPOILT_RECORDING)
    spoil(root)
    asked = (
        f"run neuroprobe/{task} --data {root} --decoder chance --workers 1 --out {tmp_path / 'out'} {options}"
    )
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["neuroarena", *asked.split()])
    with pytest.raises(SystemExit) as left:
        main()
    said = capsys.readouterr().err
    assert message in said
    assert left.value.code == 2
    assert len(said.strip().splitlines()) == 1
    assert not (tmp_path / "out").exists()


@pytest.fixture
def spoilt(twin: Path, tmp_path: Path) -> Path:
    return copy_twin(twin, tmp_path / "spoilt", SPOILT_RECORDING)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_window_with_a_sample_that_is_not_finite_is_named_by_session_and_electrode(spoilt, tmp_path, value):
    benchmark = load_benchmark("neuroprobe/speech", data=str(spoilt))
    items = benchmark.examples.query("session == 'btbank1_2'")
    at = int(items["start"].iloc[10]) + 100
    signal(value, slice(at, at + 1))(spoilt)
    result = evaluate("linear", benchmark, "cross-session", cache=tmp_path / "cache")
    failed = result.record.failed_cells
    assert len(failed) == len(result.record.cells)
    assert (
        f"Session 1_2: electrode T1bIc5 holds {value} at sample {at} of sub_1_trial002.h5" in failed[0].error
    )


def test_a_sample_that_no_window_holds_may_be_missing(spoilt):
    benchmark = load_benchmark("neuroprobe/speech", data=str(spoilt))
    items = benchmark.examples.query("session == 'btbank1_2'")
    signal(float("nan"), slice(0, int(items["start"].min())))(spoilt)
    assert np.isfinite(benchmark.recording("btbank1_2").windows(items["start"].to_numpy(), 2048)).all()


def test_a_signal_that_is_still_for_a_while_is_not_flat(spoilt):
    middle = 245760 // 2
    signal(0.0, slice(middle - 4096, middle + 4096))(spoilt)
    recording = load_benchmark("neuroprobe/speech", data=str(spoilt)).recording("btbank1_2")
    signal(0.0, slice(0, 1))(spoilt)  # looking for flat electrodes did not leave the file open
    assert recording.select(["T1bIc5"]).read(middle, middle + 10).tolist() == [[0.0] * 10]


def test_a_view_of_some_electrodes_is_checked_too(spoilt):
    signal(float("nan"), slice(10, 11))(spoilt)
    recording = load_benchmark("neuroprobe/speech", data=str(spoilt)).recording("btbank1_2")
    assert len(recording.select(["T1bIc4"]).read(0, 50)) == 1
    with pytest.raises(InputError, match="Session 1_2: electrode T1bIc5 holds nan at sample 10 "):
        recording.select(["T1bIc4", "T1bIc5"]).read(0, 50)
    chunks = recording.iter_windows([500, 0], 50, ["T1bIc4", "T1bIc5"], chunk=1)
    with pytest.raises(InputError, match="electrode T1bIc5 holds nan at sample 10 "):
        list(chunks)


def test_a_word_without_a_value_is_left_out_as_published_and_never_gets_a_class(twin, tmp_path):
    root = copy_twin(twin, tmp_path / "spoilt")
    options = {"subset": "full", "sessions": ["1_1"]}
    before = load_benchmark("neuroprobe/volume", data=str(twin), **options).examples
    dataset = BrainTreebank(twin)
    words = word_table(dataset.features(1, 1), dataset.triggers(1, 1)).set_index("est_idx")
    item = before[before["target"] == 1].iloc[3]
    path = root / "transcripts" / "the-martian" / "features.csv"
    table = pd.read_csv(path, index_col=0)
    table.loc[words.loc[item["start"], "original_index"], "rms"] = float("nan")
    table.to_csv(path)
    after = load_benchmark("neuroprobe/volume", data=str(root), **options).examples
    assert item["start"] in set(before["start"])
    assert item["start"] not in set(after["start"])
