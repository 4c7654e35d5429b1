"""Neuroprobe as of July 2025: no published list exists to compare with, so each rule is worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe import FAMILY, TASKS, examples, labels, tasks_of
from neuroarena.families.neuroprobe.labels_2025_07 import row_labels
from neuroarena.families.neuroprobe.sessions import subset_electrodes

SECOND = 2048


def session(n: int = 8, **columns: list) -> dict:
    """n words, one a second; two windows without speech."""
    number = np.arange(n)
    words = pd.DataFrame(
        {
            "original_index": number,
            "est_idx": number * 2048.0,
            "est_end_idx": number * 2048.0 + 500,
            "start": number * 1.0,
            "end": number + 0.25,
        }
    )
    nonverbal = pd.DataFrame({"est_idx": [30_000, 31_024], "est_end_idx": [32_048, 33_072]})
    return {"words": words, "nonverbal": nonverbal, "features": pd.DataFrame(columns)}


def items(task: str, tables: dict, **options: object) -> list[tuple[int, int]]:
    """Row of the word table (-1 - row for the others) and label, item by item."""
    table = examples(task, **tables, definition="2025.07", **options)
    return [
        (start // SECOND if start < 30_000 else -1 - (start - 30_000) // 1024, label)
        for start, label in table[["start", "label"]].to_numpy().tolist()
    ]


def test_it_has_the_fifteen_tasks_and_four_more():
    extra = ("delta_pitch", "global_flow_angle", "local_flow_angle", "speaker")
    assert FAMILY.tasks("2025.07") == (*TASKS, *extra)
    assert tuple(tasks_of("2025.07")) == FAMILY.tasks("2025.07")
    for definition in ("2025.10", "2025.09", "strict"):
        assert FAMILY.tasks(definition) == tuple(TASKS)
        with pytest.raises(InputError, match='No Neuroprobe task "speaker"'):
            examples("speaker", **session(), definition=definition)


def test_its_electrodes_are_lists_of_their_own():
    lite = [subset_electrodes("lite", subject, "2025.07") for subject in range(1, 11)]
    assert [len(names) for names in lite] == [120, 120, 110, 117, 116, 118, 117, 119, 99, 119]
    overlap = [
        len(set(names) & set(subset_electrodes("lite", subject))) for subject, names in enumerate(lite, 1)
    ]
    assert (min(overlap), max(overlap)) == (41, 111)
    assert subset_electrodes("nano", 8, "2025.07")[:2] == ("F3aOFa1", "F3aOFa2")
    assert subset_electrodes("full", 1, "2025.07") is None


def test_ranked_words_come_in_time_order_and_are_not_balanced():
    # Ranks in eighths: 0, 7, 1, 6, 2, 5, 3, 4. Low below 2/8: rows 0 and 2. High above 6/8: row 1 only.
    loud = session(rms=[0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6])
    assert items("volume", loud) == [(0, 0), (1, 1), (2, 0)]


def test_delta_pitch_is_ranked_from_the_pitch_table():
    values = [5.0, -3.0, 4.0, 0.0, 1.0, 2.0, 3.0, -1.0]
    pitch = {f"{row}.0": {"delta_enhanced_pitch": value} for row, value in enumerate(values)}
    # Ascending: -3, -1, 0, 1, 2, 3, 4, 5. Low: rows 1 and 7; high above 6/8: row 0.
    assert items("delta_pitch", {**session(), "pitch": pitch}) == [(0, 1), (1, 0), (7, 0)]


def gap_session(gaps: list[float], sentences: str) -> dict:
    """Words whose gap to the word before is given; the first word's is ignored."""
    tables = session(len(gaps), sentence=list(sentences))
    tables["words"]["end"] = [*(tables["words"]["start"].to_numpy()[1:] - gaps[1:]), 99.0]
    return tables


def test_gaps_are_ranked_strictly_and_a_gap_of_minus_one_is_lost():
    # Rows 0 and 5 open sentences. Row 9's gap is exactly the mark of "no gap". Eight gaps remain, rows 1-4 and
    # 6-8 and 10: 0.1 0.2 0.3 0.4 / 0.5 0.6 0.7 / 0.8. Low: rows 1, 2. High: above 6/8, row 10 only.
    gaps = [9.0, 0.1, 0.2, 0.3, 0.4, 9.0, 0.5, 0.6, 0.7, -1.0, 0.8]
    assert items("word_gap", gap_session(gaps, "aaaaabbbbbb")) == [(1, 0), (2, 0), (10, 1)]
    # Later definitions keep it: as the smallest of nine it is low, and 0.7 (7/9) is high beside 0.8.
    later = examples("word_gap", **gap_session(gaps, "aaaaabbbbbb"), subset="full")
    assert set(later["start"] // SECOND) <= {1, 2, 8, 9, 10}
    assert {8, 10} <= set(later["start"] // SECOND)


def test_speech_takes_turns_with_silence_and_draws_words_first():
    # RandomState(42).permutation(8) begins 1, 5: two of eight words. Both silences are drawn.
    assert items("speech", session()) == [(1, 1), (-1, 0), (5, 1), (-2, 0)]
    assert items("onset", session(is_onset=[1, 0, 0, 0, 1, 0, 0, 0])) == [(0, 1), (-1, 0), (4, 1), (-2, 0)]


def test_classes_are_balanced_by_drawing_the_lowest_first_and_sorted_by_time():
    faces = [0, 0, 0, 2, 1, 0, 0, 0, 3, 1]
    rows = {label: [row for row, n in enumerate(faces) if min(n, 1) == label] for label in (0, 1)}
    generator = np.random.RandomState(42)
    drawn = [np.array(rows[label])[generator.permutation(len(rows[label]))[:4]] for label in (0, 1)]
    expected = [(int(row), min(faces[row], 1)) for row in np.sort(np.concatenate(drawn))]
    found = items("face_num", session(10, face_num=faces))
    assert found == expected
    assert [label for _, label in found] != [1, 0] * 4


CLASSES = [
    ("face_num", [0, 1, 3, 0], [0, 1, 1, 0]),
    ("word_index", [0, 1, 2, 0], [0, 1, 1, 0]),
    ("word_head_pos", [0, 1, 1, 0], [0, 1, 1, 0]),
    ("word_part_speech", ["VERB", "NOUN", "X", "VERB"], [0, 1, 1, 0]),
    ("speaker", ["ben", "ada", "ben", "cleo"], [0, 1, 0, 1]),
    ("speaker", ["ben", "ada", "ben", "ada"], [1, 0, 1, 0]),
    ("global_flow_angle", [0, 90, 90.5, 180, 269.5, 270, -10, 460], [0, 0, 1, 1, 1, 0, 0, 1]),
    ("local_flow_angle", [359, 181, 91, 89], [0, 1, 1, 0]),
]


@pytest.mark.parametrize(("task", "values", "expected"), CLASSES)
def test_the_class_of_every_word(task, values, expected):
    rule = tasks_of("2025.07")[task]
    words = pd.DataFrame({"original_index": range(len(values)), rule.column: values})
    assert row_labels(rule, words).tolist() == expected


def test_the_cap_keeps_the_beginning_of_the_film(monkeypatch):
    loud = session(rms=[0.1, 0.9, 0.2, 0.8, 0.3, 0.7, 0.4, 0.6])
    assert items("volume", loud, max_samples=2) == [(0, 0), (1, 1)]
    monkeypatch.setitem(labels.MOST_ITEMS, "nano", 2)
    assert items("volume", loud, subset="nano") == [(0, 0), (1, 1)]
    # Drawn first, cut after: the cap does not change which words are drawn.
    assert items("speech", session(), subset="nano") == items("speech", session())[:2]


def test_windows_without_speech_do_not_move_with_the_offset():
    moved = examples("speech", **session(12), definition="2025.07", offset_s=(-0.5, 1.5))
    plain = examples("speech", **session(12), definition="2025.07")
    spoken = plain["label"] == 1
    assert (moved["start"] - plain["start"])[spoken].eq(-1024).all()
    assert (moved["start"] - plain["start"])[~spoken].eq(0).all()
    assert (moved["stop"] - moved["start"]).eq(2 * SECOND).all()
    later = examples("speech", **session(12), offset_s=(-0.5, 1.5))
    assert (later["start"] - examples("speech", **session(12))["start"]).eq(-1024).all()


@pytest.mark.parametrize(
    ("task", "tables", "options", "message"),
    [
        ("volume", session(rms=[0.0] * 8), {}, "volume: class 1 has no example"),
        ("face_num", session(face_num=[0] * 8), {}, "face_num: class 1 has no example"),
        ("speaker", session(speaker=["ada"] * 8), {}, "speaker: class 1 has no example"),
        ("speaker", session(speaker=["ada", None] * 4), {}, 'have no "speaker"'),
        ("speaker", session(), {}, 'lack the column "speaker"'),
        ("onset", session(is_onset=[0] * 8), {}, "onset: class 1 has no example"),
        ("speech", {**session(), "nonverbal": session()["nonverbal"][:0]}, {}, "class 0 has no example"),
        ("word_head_pos", session(bin_head=[0, 1, 2, 0, 1, 0, 1, 0]), {}, "row 2 .* is 2, expected 0 or 1"),
        ("word_gap", gap_session([0.0, -1.0, -1.0], "aaa"), {}, "every gap is exactly -1 s"),
        ("volume", session(rms=list(range(8))), {"multiclass": True}, "2025.07 is binary"),
        ("volume", session(rms=list(range(8))), {"max_samples": 2}, "first 2 items are all of one class"),
    ],
)
def test_what_cannot_be_asked_is_refused_by_name(task, tables, options, message):
    with pytest.raises(InputError, match=message):
        examples(task, **tables, definition="2025.07", **options)
