"""The published word and non-verbal tables win over rebuilding, and a record says which were used."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from twin_copies import copy_twin

from neuroarena import evaluate, load_benchmark
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.braintreebank import BrainTreebank, nonverbal_table, word_table

FOLDER = "braintreebank_features_time_alignment"


def rebuilt(root: Path, trial: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    data = BrainTreebank(root)
    words = word_table(data.features(1, trial), data.triggers(1, trial))
    return words, nonverbal_table(words)


def publish(root: Path, trial: int, words: pd.DataFrame | None, nonverbal: pd.DataFrame | None) -> None:
    (root / FOLDER).mkdir(exist_ok=True)
    for kind, table in (("words", words), ("nonverbal", nonverbal)):
        if table is not None:
            table.to_csv(root / FOLDER / f"subject1_trial{trial}_{kind}_df.csv", index=False)


@pytest.fixture
def root(twin_root: Path, tmp_path: Path) -> Path:
    """A copy of the small twin without its recordings' bytes: they are not read."""
    return copy_twin(twin_root, tmp_path / "copy")


def windows(root: Path, task: str = "speech", definition: str = "2025.10", **options: Any) -> pd.DataFrame:
    table = load_benchmark(
        f"neuroprobe@{definition}/{task}", data=str(root), sessions=["1_1"], **options
    ).examples
    return table[["start", "target"]]


def test_a_published_table_wins_over_rebuilding_and_is_read_again_when_it_changes(root: Path) -> None:
    words, silent = rebuilt(root, 1)
    before = windows(root)
    publish(root, 1, words, silent)
    assert windows(root).equals(before)
    # Moved by a sample, as no rebuilt table would be.
    publish(root, 1, words.assign(est_idx=words["est_idx"] + 1), silent.assign(est_idx=silent["est_idx"] + 3))
    after = windows(root)
    assert (after["start"] - before["start"]).tolist() == [1 if target else 3 for target in before["target"]]


def test_one_table_may_be_published_and_the_other_rebuilt(root: Path) -> None:
    words, silent = rebuilt(root, 1)
    before = windows(root)
    publish(root, 1, None, silent.assign(est_idx=silent["est_idx"] + 3))
    assert set((windows(root)["start"] - before["start"]).tolist()) == {0, 3}
    shutil.rmtree(root / FOLDER)
    fewer = words[words["est_idx"] < words["est_idx"].iloc[-1] / 2].reset_index(drop=True)
    publish(root, 1, fewer, None)
    quiet = windows(root).query("target == 0")["start"]
    assert set(quiet) <= set(nonverbal_table(fewer)["est_idx"])


def test_the_tables_suffice_for_speech_and_pitch_and_other_tasks_ask_for_the_rest(root: Path) -> None:
    before = {task: windows(root, task) for task in ("speech", "pitch")}
    publish(root, 1, *rebuilt(root, 1))
    tables = root / "pitch_volume_features"
    tables.mkdir()
    pitch = "the-martian_pitch_volume_features.json"
    (root / "transcripts" / "the-martian" / pitch).rename(tables / pitch)
    shutil.rmtree(root / "transcripts")
    shutil.rmtree(root / "subject_timings")
    assert all(windows(root, task).equals(table) for task, table in before.items())
    with pytest.raises(
        InputError, match=r'btbank1_1: volume: this task needs the column "rms" of features\.csv'
    ):
        windows(root, "volume")


def test_the_words_of_july_are_rebuilt_because_the_published_ones_lack_suffixes(root: Path) -> None:
    words, silent = rebuilt(root, 1)
    before = windows(root, definition="2025.07")
    publish(root, 1, words.iloc[:5], silent)
    assert windows(root, definition="2025.07").equals(before)
    notes = load_benchmark("neuroprobe@2025.07/speech", data=str(root), sessions=["1_1"]).notes
    assert "Words: rebuilt from features.csv and the timings in btbank1_1." in notes
    assert "Windows without speech: from the published tables in btbank1_1." in notes


def test_a_record_says_which_tables_were_used(root: Path) -> None:
    publish(root, 1, *rebuilt(root, 1))
    record = evaluate("chance", "neuroprobe/speech", "cross-session", data=str(root)).record
    assert (
        "Words: from the published tables in btbank1_1; rebuilt from features.csv and the timings in btbank1_2."
        in record.benchmark.notes
    )


def test_a_real_folder_without_published_tables_says_so_and_a_twin_does_not(
    twin_root: Path, root: Path
) -> None:
    assert not [
        note for note in load_benchmark("neuroprobe/speech", data=str(twin_root)).notes if "Words:" in note
    ]
    (root / "simulated.json").unlink()
    notes = load_benchmark("neuroprobe/speech", data=str(root), sessions=["1_1"]).notes
    assert "Words: rebuilt from features.csv and the timings in btbank1_1." in notes


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("words", lambda table: table.iloc[:0], "words_df.csv: holds no row"),
        ("words", lambda table: table.drop(columns="est_idx"), 'words_df.csv: has no column "est_idx"'),
        ("words", lambda table: table.assign(start="soon"), 'words_df.csv: column "start", row 1: expected a number'),
        (
            "nonverbal",
            lambda table: table.assign(est_idx=table["est_idx"].where(table.index != 2)),
            'nonverbal_df.csv: column "est_idx", row 3: expected a finite number',
        ),
    ],
)  # fmt: skip
def test_a_published_table_that_cannot_be_used_is_named(
    root: Path, kind: str, change: Any, message: str
) -> None:
    publish(root, 1, *rebuilt(root, 1))
    path = root / FOLDER / f"subject1_trial1_{kind}_df.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)
    with pytest.raises(InputError, match=message):
        windows(root)
