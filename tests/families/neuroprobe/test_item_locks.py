"""The items of real sessions are compared with the published ones, and a run that differs says so."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from neuroprobe_runs import make_runs
from twin_copies import copy_twin

from neuroarena import load_benchmark
from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import export_submission, item_locks
from neuroarena.families.neuroprobe.item_locks import ITEMS_DIFFER, Lock, compare_items, find_lock
from neuroarena.families.neuroprobe.sessions import LITE, session_key
from neuroarena.families.neuroprobe.tasks import TASKS

SESSIONS = [session_key(session) for session in LITE]


def items(session: str = "btbank1_1", n: int = 4, shift: int = 0, recordings: int = 1) -> pd.DataFrame:
    """Examples of one session, for each of several recordings."""
    one = pd.DataFrame(
        {"start": [5000 * row + shift for row in range(n)], "target": [(row + 1) % 2 for row in range(n)]}
    )
    parts = [one.assign(session=session, recording=f"{session}/{name}") for name in range(recordings)]
    return pd.concat(parts, ignore_index=True)


def digest(table: pd.DataFrame) -> str:
    lines = [
        f"{start},{start + 2048},{target}\n"
        for start, target in zip(table["start"], table["target"], strict=True)
    ]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


@pytest.fixture
def locked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions 1_1 and 1_2 of speech have a hash, 2_0 a count, 2_4 nothing."""
    known = {
        "btbank1_1": Lock(digest(items()), 4),
        "btbank1_2": Lock(digest(items()), None),
        "btbank2_0": Lock(None, 4),
    }
    monkeypatch.setattr(item_locks, "find_lock", lambda *about: known.get(about[-1], Lock()))


def test_speech_is_locked_by_hash_in_all_sessions_and_pitch_in_six() -> None:
    hashed = {
        (task, n_classes): [s for s in SESSIONS if find_lock(task, "2025.10", n_classes, s).sha256]
        for task in TASKS
        for n_classes in (2, 3)
    }
    six = ["btbank1_2", "btbank2_0", "btbank2_4", "btbank4_0", "btbank4_1", "btbank7_1"]
    assert {key: sessions for key, sessions in hashed.items() if sessions} == {
        ("speech", 2): SESSIONS,
        ("pitch", 2): six,
        ("pitch", 3): six,
    }


@pytest.mark.parametrize(
    ("definition", "unlocked"), [("2025.09", set()), ("2025.10", {"word_gap"}), ("strict", {"word_gap"})]
)
def test_counts_lock_every_task_but_word_gap_after_its_rule_changed(
    definition: str, unlocked: set[str]
) -> None:
    free = {
        task
        for task in TASKS
        for session in SESSIONS
        if find_lock(task, definition, 2, session).count is None
    }
    assert free == unlocked


def test_nothing_is_locked_in_july_nor_outside_the_lite_sessions() -> None:
    assert find_lock("speech", "2025.07", 2, "btbank1_1") == Lock()
    assert find_lock("speech", "2025.10", 2, "btbank1_0") == Lock()
    assert find_lock("word_part_speech", "2025.10", 6, "btbank1_1") == Lock()


@pytest.mark.usefixtures("locked")
def test_equal_items_are_said_to_be_equal_by_what_is_known() -> None:
    four = pd.concat([items(session) for session in SESSIONS[:4]], ignore_index=True)
    assert compare_items(four, "speech", "2025.10", 2) == (
        "Items: their hash is the published one in btbank1_1, btbank1_2; their number is the published one in "
        "btbank2_0; nothing is published to compare them with in btbank2_4."
    )


@pytest.mark.usefixtures("locked")
@pytest.mark.parametrize(
    ("table", "said"),
    [
        (items(n=2), "btbank1_1 has 2 items instead of 4."),
        (items(shift=1), f"btbank1_1 has other items (SHA-256 {digest(items(shift=1))} instead of {digest(items())})."),
        (items().iloc[::-1], "btbank1_1 has other items"),
        (items("btbank2_0", n=6), "btbank2_0 has 6 items instead of 4."),
        (pd.concat([items("btbank1_2", n=2), items(n=2)]), "instead of"),
    ],
)  # fmt: skip
def test_items_that_differ_are_named_by_session_with_what_was_expected(
    table: pd.DataFrame, said: str
) -> None:
    sentence = compare_items(table, "speech", "2025.10", 2)
    assert sentence.startswith(ITEMS_DIFFER)
    assert said in sentence
    assert "--tables" in sentence


@pytest.mark.usefixtures("locked")
def test_neither_the_offset_of_windows_nor_the_number_of_electrodes_makes_a_difference() -> None:
    early = items(shift=-512, recordings=3)
    assert compare_items(early, "speech", "2025.10", 2, begin_s=-0.25).startswith("Items: their hash is")
    assert compare_items(early, "speech", "2025.10", 2).startswith(ITEMS_DIFFER)


@pytest.fixture
def real_folder(twin_root: Path, tmp_path: Path) -> Path:
    """The small twin without its card: a folder that says it is real."""
    root = copy_twin(twin_root, tmp_path / "real")
    (root / "simulated.json").unlink()
    return root


@pytest.mark.parametrize("split", ["within-session", "cross-session"])
def test_a_real_folder_with_other_items_says_so_in_every_split(real_folder: Path, split: str) -> None:
    options = {"sessions": ["1_1", "1_2"], "data": str(real_folder)}
    (note,) = [
        note
        for note in load_benchmark("neuroprobe/onset", **options).split(split).notes
        if ITEMS_DIFFER in note
    ]
    assert "btbank1_1 has" in note
    assert "items instead of 3134; btbank1_2 has" in note


@pytest.mark.parametrize("unlike", [{"max_samples": 20}, {"subset": "full"}])
def test_items_that_were_never_published_are_not_compared(real_folder: Path, unlike: dict[str, Any]) -> None:
    benchmark = load_benchmark("neuroprobe/onset", sessions=["1_1"], data=str(real_folder), **unlike)
    assert not [note for note in benchmark.split("within-session").notes if "published" in note]


def test_a_twin_is_not_compared(twin_root: Path) -> None:
    notes = load_benchmark("neuroprobe/onset", data=str(twin_root)).split("within-session").notes
    assert not [note for note in notes if "published" in note]


def test_a_run_that_differs_is_not_attested(tmp_path: Path) -> None:
    runs = make_runs(splits=["cross-session"], tasks=list(TASKS)[1:])
    differing = make_runs(
        splits=["cross-session"],
        tasks=["onset"],
        notes=[f"{ITEMS_DIFFER}: btbank1_1 has 3132 items instead of 3134."],
    )
    asked = {"author": "Ada Lovelace", "splits": ["cross-session"]}
    with pytest.raises(
        InputError, match=r"1 runs cannot be attested: .*onset.*btbank1_1 has 3132 items instead of 3134"
    ):
        export_submission([*runs, *differing], tmp_path, attest=True, **asked)
    assert list(tmp_path.iterdir()) == []
    folder = export_submission([*runs, *differing], tmp_path, **asked)
    assert (folder / "ATTESTATION.txt").read_text() == "N/A"
    same = make_runs(
        splits=["cross-session"], notes=["Items: their number is the published one in btbank1_1."]
    )
    assert (
        "I attest"
        in (export_submission(same, tmp_path / "b", attest=True, **asked) / "ATTESTATION.txt").read_text()
    )
