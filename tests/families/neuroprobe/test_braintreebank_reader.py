from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank


def test_sessions_card_and_movies_of_a_twin_are_read(twin: BrainTreebank) -> None:
    assert twin.sessions == [(1, 1), (1, 2)]
    assert twin.simulated
    assert twin.card is not None
    assert twin.card["options"]["seed"] == 3
    assert [twin.movie(*session) for session in twin.sessions] == ["the-martian", "thor-ragnarok"]
    assert twin.metadata(1, 1)["filename"] == "the-martian"
    assert "simulated" in repr(twin)


def test_a_folder_without_a_card_is_real(broken: Callable[..., Path]) -> None:
    root = broken()
    (root / "simulated.json").unlink()
    data = BrainTreebank(root)
    assert not data.simulated
    assert data.card is None


def test_marks_are_cleaned_and_unusable_channels_dropped(twin: BrainTreebank) -> None:
    raw = json.loads((twin.root / "electrode_labels/sub_1/electrode_labels.json").read_text())
    assert any("*" in label for label in raw)
    assert any("#" in label for label in raw)
    table = twin.electrodes(1)
    expected = [f"T1bIc{c}" for c in range(1, 9)] + [f"T1cIf{c}" for c in range(10, 17)] + ["T1aIb1"]
    assert table["name"].tolist() == expected
    assert {"T1bIc9", "F3cId10", "DC10", "TRIG4"} <= set(twin.labels(1))
    assert table.columns.tolist() == ["name", "kind", "x", "y", "z", "region"]
    assert (table["kind"] == "ieeg").all()
    assert table[["x", "y", "z"]].notna().all(axis=None)
    assert (table["region"] != "").all()


def test_channels_named_dc_or_trig_in_any_case_are_dropped(broken: Callable[..., Path]) -> None:
    root = broken()
    path = root / "electrode_labels/sub_1/electrode_labels.json"
    labels = json.loads(path.read_text())
    labels[0], labels[1] = "dc3", "Trig_x"
    path.write_text(json.dumps(labels))
    assert not {"dc3", "Trig_x"} & set(BrainTreebank(root).electrodes(1)["name"])


def test_missing_places_are_nan_and_missing_regions_empty(broken: Callable[..., Path]) -> None:
    root = broken()
    for name in ("localization/elec_coords_full.csv", "localization/sub_1/depth-wm.csv"):
        table = pd.read_csv(root / name)
        table[table["Electrode"].str.strip("*") != "T1bIc2"].to_csv(root / name, index=False)
    table = BrainTreebank(root).electrodes(1).set_index("name")
    assert table.loc["T1bIc2", ["x", "y", "z"]].isna().all()
    assert table.loc["T1bIc2", "region"] == ""
    assert table.loc["T1bIc3", ["x", "y", "z"]].notna().all()


def test_an_electrode_is_read_from_its_place_in_the_unfiltered_label_list(twin: BrainTreebank) -> None:
    recording = twin.recording(1, 2, electrodes=["T1cIf12", "T1bIc3"])
    assert recording.rate_hz == 2048
    assert recording.channels["name"].tolist() == ["T1cIf12", "T1bIc3"]
    labels = twin.labels(1)
    with h5py.File(twin.root / "sub_1_trial002.h5") as file:
        for row, name in enumerate(["T1cIf12", "T1bIc3"]):
            stored = file[f"data/electrode_{labels.index(name)}"][100:200]
            np.testing.assert_array_equal(recording.read(100, 200)[row], stored)
    assert twin.recording(1, 1).n_samples == 2 * 60 * 2048


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (
            lambda data: data.recording(1, 1, ["T1bIc33"]),
            r'no usable electrode "T1bIc33"\. Did you mean T1bIc3',
        ),
        (lambda data: data.recording(1, 1, ["T1bIc9"]), 'no usable electrode "T1bIc9"'),
        (lambda data: data.recording(1, 7), "no session 1_7. Sessions there: 1_1, 1_2"),
        (lambda data: data.features(5, 0), "no session 5_0"),
        (lambda data: data.electrodes(2), "sub_2/electrode_labels.json: this file does not exist"),
    ],
)
def test_what_is_not_there_is_refused_by_name(
    twin: BrainTreebank, ask: Callable[[BrainTreebank], object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        ask(twin)


def test_words_triggers_and_pitch_are_read(twin: BrainTreebank) -> None:
    features = twin.features(1, 1)
    assert features.index.tolist() == list(range(len(features)))
    assert {"charecter_num", "gpt2_surprisal", "speaker", "word_length"} <= set(features.columns)
    triggers = twin.triggers(1, 1)
    assert set(triggers["type"]) == {"beginning", "trigger", "pause", "unpause", "end"}
    pitch = twin.pitch("the-martian")
    assert pitch is not None
    assert {f"{float(key):.5f}" for key in pitch} == {f"{start:.5f}" for start in features["start"]}
    assert twin.pitch("no-such-film") is None


def test_pitch_is_also_found_in_the_folder_of_the_benchmark_package(broken: Callable[..., Path]) -> None:
    root = broken()
    name = "the-martian_pitch_volume_features.json"
    (root / "pitch_volume_features").mkdir()
    (root / "transcripts/the-martian" / name).rename(root / "pitch_volume_features" / name)
    assert BrainTreebank(root).pitch("the-martian")


def test_the_film_of_a_session_outside_the_known_table_comes_from_its_metadata(
    broken: Callable[..., Path],
) -> None:
    root = broken()
    for source, target in (
        ("sub_1_trial001.h5", "sub_1_trial009.h5"),
        ("subject_metadata/sub_1_trial001_metadata.json", "subject_metadata/sub_1_trial009_metadata.json"),
    ):
        (root / source).rename(root / target)
    assert BrainTreebank(root).movie(1, 9) == "the-martian"
    (root / "subject_metadata/sub_1_trial009_metadata.json").write_text("{}")
    with pytest.raises(InputError, match='"filename" must name the film'):
        BrainTreebank(root).movie(1, 9)


@pytest.mark.parametrize(
    ("file", "content", "ask", "message"),
    [
        (
            "corrupted_elec.json",
            "{",
            lambda data: data.electrodes(1),
            "corrupted_elec.json: cannot be read as JSON",
        ),
        ("corrupted_elec.json", "[]", lambda data: data.electrodes(1), "expected an object at the top level"),
        (
            "corrupted_elec.json",
            '{"sub_1": "x"}',
            lambda data: data.electrodes(1),
            "expected a list of labels",
        ),
        ("corrupted_elec.json", '{"sub_2": []}', lambda data: data.electrodes(1), 'has no list "sub_1"'),
        (
            "electrode_labels/sub_1/electrode_labels.json",
            '["A1", "*A1"]',
            lambda data: data.labels(1),
            'the label "A1" occurs twice',
        ),
        (
            "localization/elec_coords_full.csv",
            "Subject,Electrode,X,Y\n",
            lambda data: data.electrodes(1),
            'elec_coords_full.csv: has no column "Z"',
        ),
        (
            "localization/elec_coords_full.csv",
            "Subject,Electrode,X,Y,Z\nsub_1,T1bIc1,1,two,3\n",
            lambda data: data.electrodes(1),
            "column \"Y\", row 1: expected a number, got 'two'",
        ),
        (
            "localization/sub_1/depth-wm.csv",
            "Electrode,L,P,I\n",
            lambda data: data.electrodes(1),
            'depth-wm.csv: has no column "DesikanKilliany"',
        ),
        (
            "transcripts/the-martian/features.csv",
            ",text,start\n0,a,1.0\n",
            lambda data: data.features(1, 1),
            'features.csv: has no column "end"',
        ),
        (
            "transcripts/the-martian/features.csv",
            "",
            lambda data: data.features(1, 1),
            "features.csv: cannot be read as CSV",
        ),
        (
            "subject_timings/sub_1_trial001_timings.csv",
            "type,movie_time\n",
            lambda data: data.triggers(1, 1),
            'timings.csv: has no column "index"',
        ),
        (
            "transcripts/the-martian/the-martian_pitch_volume_features.json",
            "[]",
            lambda data: data.pitch("the-martian"),
            "expected an object",
        ),
    ],
)
def test_a_malformed_file_is_refused_with_its_name_and_column(
    broken: Callable[..., Path],
    file: str,
    content: str,
    ask: Callable[[BrainTreebank], object],
    message: str,
) -> None:
    root = broken()
    (root / file).write_text(content)
    with pytest.raises(InputError, match=message):
        ask(BrainTreebank(root))


def test_a_folder_without_sessions_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"holds no sub_<subject>_trial<NNN>\.h5"):
        BrainTreebank(tmp_path)
    with pytest.raises(InputError, match="this folder does not exist"):
        BrainTreebank(tmp_path / "nowhere")
