from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.sleep.sleep_edf import first_n2, first_stable_n2, stage_epochs

LETTERS = {"w": "W", "1": "N1", "2": "N2", "3": "N3", "r": "R", "?": "?"}


def night(letters: str) -> list[str]:
    return [LETTERS[letter] for letter in letters]


def annotated(*rows: tuple[float, float, str]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["onset_s", "duration_s", "description"])


@pytest.mark.parametrize(
    ("letters", "k", "expected"),
    [
        ("www1122", 1, 5),
        ("ww1223", 1, 3),
        ("ww2122", 1, 4),  # a single N2 is not stable
        ("ww23", 1, 2),  # deeper counts as following
        ("ww2r22", 1, 4),  # REM is not deeper
        ("ww2?22", 1, 4),  # movement and unknown stages break the run
        ("ww2", 1, None),  # the last epoch has nothing after it
        ("ww22", 1, 2),  # the last but one has
        ("w11r", 1, None),
        ("", 1, None),
        ("33322", 1, 3),  # N3 alone is no N2: the rule asks for an epoch scored N2
        ("332", 1, None),
        ("ww22w222", 2, 5),
        ("ww22w222", 1, 2),
        ("ww2w", 0, 2),
        ("ww232", 2, 2),
        ("ww222", 3, None),
    ],
)
def test_the_first_stable_n2_of_hand_made_hypnograms(letters: str, k: int, expected: int | None):
    assert first_stable_n2(night(letters), k) == expected


def test_the_first_n2_asks_for_nothing_to_follow():
    assert first_n2(night("w12w22")) == 2
    assert first_n2(night("ww1r")) is None


@given(st.lists(st.sampled_from(["W", "N1", "N2", "N3", "R", "?"]), max_size=40), st.integers(0, 5))
def test_the_rule_agrees_with_its_words_read_aloud(stages: list[str], k: int):
    said = None
    for position, stage in enumerate(stages):
        following = stages[position + 1 : position + 1 + k]
        if stage == "N2" and len(following) == k and all(each in ("N2", "N3") for each in following):
            said = position
            break
    assert first_stable_n2(stages, k) == said


def test_a_negative_k_is_refused():
    with pytest.raises(InputError, match="cannot be below zero"):
        first_stable_n2(night("ww22"), -1)


def test_stages_three_and_four_are_both_n3_and_movement_is_unknown():
    rows = [(30.0 * number, 30.0, text) for number, text in enumerate(["3", "4", "R", "?", "W", "1", "2"])]
    table = annotated(*[(onset, length, f"Sleep stage {text}") for onset, length, text in rows])
    table = pd.concat([table, annotated((210.0, 30.0, "Movement time"))])
    assert stage_epochs(table)["stage"].tolist() == ["N3", "N3", "R", "?", "W", "N1", "N2", "?"]


def test_annotations_are_cut_from_their_own_onset_in_time_order():
    table = annotated((90.0, 60.0, "Sleep stage 2"), (0.0, 90.0, "Sleep stage W"))
    epochs = stage_epochs(table)
    assert epochs["start_s"].tolist() == [0.0, 30.0, 60.0, 90.0, 120.0]
    assert epochs["stage"].tolist() == ["W", "W", "W", "N2", "N2"]


def test_a_gap_breaks_a_run_of_n2():
    table = annotated((0.0, 30.0, "Sleep stage 2"), (45.0, 60.0, "Sleep stage 2"))
    epochs = stage_epochs(table)
    assert epochs["stage"].tolist() == ["N2", "?", "N2", "N2"]
    found = first_stable_n2(epochs["stage"].tolist())
    assert found is not None
    assert epochs["start_s"].iloc[found] == 45.0


def test_what_remains_of_an_annotation_that_is_no_multiple_of_thirty_seconds_is_unknown():
    table = annotated((0.0, 50.0, "Sleep stage 2"), (50.0, 30.0, "Sleep stage 2"))
    assert stage_epochs(table)["stage"].tolist() == ["N2", "?", "N2"]


def test_annotations_that_are_no_stages_are_left_alone():
    table = annotated((0.0, 0.0, "Lights off"), (0.0, 60.0, "Sleep stage N2"))
    assert stage_epochs(table)["stage"].tolist() == ["N2", "N2"]


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (
            annotated((0.0, 60.0, "Sleep stage W"), (30.0, 30.0, "Sleep stage 2")),
            "begins before the one before it ends, at 60 s",
        ),
        (annotated((0.0, 60.0, "Sleep stage 5")), '"Sleep stage 5" at 0 s is not a known stage'),
        (annotated((0.0, 0.0, "Lights off")), "holds no sleep stage"),
        (annotated(), "holds no sleep stage"),
    ],
)
def test_a_hypnogram_that_cannot_be_read_one_way_is_refused(table: pd.DataFrame, words: str):
    with pytest.raises(InputError, match=words):
        stage_epochs(table, "SC4001EC-Hypnogram.edf")
