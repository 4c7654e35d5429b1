from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest

from neuroarena.families.neuroprobe.braintreebank import verify

H5 = "sub_1_trial001.h5"
TIMINGS = "subject_timings/sub_1_trial001_timings.csv"
FEATURES = "transcripts/the-martian/features.csv"
PITCH = "transcripts/the-martian/the-martian_pitch_volume_features.json"
METADATA = "subject_metadata/sub_1_trial001_metadata.json"
LABELS = "electrode_labels/sub_1/electrode_labels.json"
COORDINATES = "localization/elec_coords_full.csv"
DEPTH = "localization/sub_1/depth-wm.csv"


def remove(path: Path) -> None:
    path.unlink()


def write(text: str) -> Callable[[Path], None]:
    return lambda path: path.write_text(text) and None


def cut_in_half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def edit_csv(change: Callable[[pd.DataFrame], pd.DataFrame]) -> Callable[[Path], None]:
    return lambda path: change(pd.read_csv(path)).to_csv(path, index=False)


def without(column: str) -> Callable[[Path], None]:
    return edit_csv(lambda table: table.drop(columns=column))


def swap_rows(column: str) -> Callable[[Path], None]:
    def change(table: pd.DataFrame) -> pd.DataFrame:
        values = table[column].to_numpy().copy()
        values[[50, 51]] = values[[51, 50]]
        return table.assign(**{column: values})

    return edit_csv(change)


def edit_json(change: Callable[[Any], Any]) -> Callable[[Path], None]:
    return lambda path: path.write_text(json.dumps(change(json.loads(path.read_text())))) and None


def edit_h5(change: Callable[[h5py.File], None]) -> Callable[[Path], None]:
    def damage(path: Path) -> None:
        with h5py.File(path, "r+") as file:
            change(file)

    return damage


def replace_electrode(values: np.ndarray) -> Callable[[Path], None]:
    def change(file: h5py.File) -> None:
        del file["data/electrode_4"]
        file["data/electrode_4"] = values

    return edit_h5(change)


def drop_electrode(file: h5py.File) -> None:
    del file["data/electrode_4"]


def drop_group(file: h5py.File) -> None:
    del file["data"]


def shorten_all(file: h5py.File) -> None:
    for name in list(file["data"]):
        values = file["data"][name][: 60 * 2048]
        del file["data"][name]
        file["data"][name] = values


DAMAGES = [
    (H5, remove, H5, "is missing, but simulated.json lists"),
    (H5, cut_in_half, H5, "cannot be opened as HDF5"),
    (H5, edit_h5(drop_group), H5, 'no group "data"'),
    (H5, edit_h5(drop_electrode), H5, "no dataset data/electrode_4, the signal of T1bIc4"),
    (H5, replace_electrode(np.zeros(10)), H5, "data/electrode_4 (T1bIc4) holds 10 samples"),
    (H5, replace_electrode(np.zeros((2, 2))), H5, "should be one row of numbers"),
    (H5, edit_h5(shorten_all), H5, "words ends after the recording"),
    (H5, edit_h5(shorten_all), TIMINGS, "the last trigger is at sample"),
    (LABELS, remove, LABELS, "this file does not exist"),
    (LABELS, write("{}"), LABELS, "expected a list"),
    ("corrupted_elec.json", write("{"), "corrupted_elec.json", "cannot be read as JSON"),
    ("corrupted_elec.json", write('{"sub_2": []}'), "corrupted_elec.json", 'no list "sub_1"'),
    ("corrupted_elec.json", write('{"sub_1": ["Z9"]}'), "corrupted_elec.json", "lists Z9 for sub_1"),
    (COORDINATES, remove, COORDINATES, "this file does not exist"),
    (COORDINATES, without("Y"), COORDINATES, 'no column "Y"'),
    (COORDINATES, edit_csv(lambda t: t.iloc[1:]), COORDINATES, "no complete X, Y, Z for 1 electrodes"),
    (DEPTH, remove, DEPTH, "this file does not exist"),
    (DEPTH, edit_csv(lambda t: t.iloc[1:]), DEPTH, "no DesikanKilliany region for 1 electrodes"),
    (METADATA, remove, METADATA, "this file does not exist"),
    (METADATA, edit_json(lambda m: m | {"filename": "up"}), METADATA, 'should be "the-martian"'),
    (FEATURES, remove, FEATURES, "this file does not exist"),
    (FEATURES, without("gpt2_surprisal"), FEATURES, 'no column "gpt2_surprisal"'),
    (FEATURES, edit_csv(lambda t: t.assign(rms=np.nan)), FEATURES, "no word falls into the recording"),
    (TIMINGS, remove, TIMINGS, "this file does not exist"),
    (TIMINGS, without("index"), TIMINGS, 'no column "index"'),
    (TIMINGS, swap_rows("index"), TIMINGS, 'column "index" goes backwards at row 52'),
    (TIMINGS, swap_rows("movie_time"), TIMINGS, 'column "movie_time" goes backwards'),
    (TIMINGS, edit_csv(lambda t: t[t["type"] != "trigger"]), TIMINGS, "does not hold any trigger"),
    (
        TIMINGS,
        edit_csv(lambda t: t.assign(index=[*t["index"][:-1], None])),
        TIMINGS,
        '"index" is empty in the last',
    ),
    (TIMINGS, edit_csv(lambda t: t.iloc[:0]), TIMINGS, "has no rows"),
    (PITCH, remove, PITCH, "is missing"),
    (PITCH, cut_in_half, PITCH, "cannot be read as JSON"),
    (PITCH, edit_json(lambda p: dict(list(p.items())[3:])), PITCH, "lacks 3 words"),
    (PITCH, edit_json(lambda p: p | {"x": {}}), PITCH, "not a start time"),
    (PITCH, edit_json(lambda p: p | {"1.0": {}}), PITCH, 'without "enhanced_pitch"'),
]


@pytest.mark.parametrize(
    ("file", "damage", "named", "message"), DAMAGES, ids=[f"{row[0]}-{row[3][:30]}" for row in DAMAGES]
)
def test_every_damage_is_named(
    broken: Callable[..., Path], file: str, damage: Callable[[Path], None], named: str, message: str
) -> None:
    root = broken(file)
    damage(root / file)
    found = [problem for problem in verify(root) if problem.file == named and message in problem.what]
    assert len(found) == 1, [str(problem) for problem in verify(root)]


def test_a_good_folder_has_no_problem(twin_root: Path) -> None:
    assert verify(twin_root) == []


def test_a_published_table_that_cannot_be_used_is_a_problem(broken: Callable[..., Path]) -> None:
    root = broken()
    path = root / "braintreebank_features_time_alignment" / "subject1_trial1_words_df.csv"
    path.parent.mkdir()
    path.write_text("original_index,est_idx\n")
    (problem,) = verify(root)
    assert str(problem).startswith(f"{path.relative_to(root)}: has no column")


def test_unlabelled_extra_datasets_are_no_problem(broken: Callable[..., Path]) -> None:
    root = broken(H5)
    with h5py.File(root / H5, "r+") as file:
        file["data/electrode_999"] = np.zeros(3)
    assert verify(root) == []


def test_a_folder_without_sessions_is_one_problem(tmp_path: Path) -> None:
    (problem,) = verify(tmp_path)
    assert "not a BrainTreebank folder" in problem.what
