"""The trial table and the windows of both challenges, against rows and numbers written by hand."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.eeg2025.trials import COLUMNS, trial_table
from neuroarena.families.eeg2025.windows import crop_offsets, cropped_starts, spread_starts, stimulus_starts
from neuroarena.recordings.bids import bids_events

# What Python's Random(42).randint(0, 200) gives, written out once.
FIRST_50 = [
    163, 28, 6, 189, 70, 62, 57, 35, 188, 26, 173, 189, 139, 22, 151, 108, 8, 7, 23, 55, 59, 129, 154, 6, 143,
    50, 183, 166, 179, 139, 107, 56, 114, 150, 71, 1, 194, 40, 178, 108, 87, 71, 39, 55, 195, 86, 26, 23, 97, 24,
]  # fmt: skip

S, L, R, LB, RB = (
    "contrastTrial_start",
    "left_target",
    "right_target",
    "left_buttonPress",
    "right_buttonPress",
)


def table(*rows: tuple[float, str] | tuple[float, str, str]) -> pd.DataFrame:
    full = [(*row, None)[:3] for row in rows]
    return trial_table(pd.DataFrame(full, columns=["onset_s", "value", "feedback"]))


def times(trials: pd.DataFrame) -> list[tuple[float, float, float]]:
    columns = ["stimulus_onset", "response_onset", "rt_from_stimulus"]
    return [tuple(round(value, 6) for value in row) for row in trials[columns].to_numpy().tolist()]


CASES = {
    "plain": ([(3, S), (5.8, L), (7.4, LB), (8.2, S)], [(5.8, 7.4, 1.6)]),
    "double press: the first counts": (
        [(3, S), (5.8, L), (7.0, RB), (7.5, LB), (8.2, S)],
        [(5.8, 7.0, 1.2)],
    ),
    "press before the stimulus is none": (
        [(3, S), (4.0, LB), (5.8, R), (7.4, RB), (8.2, S)],
        [(5.8, 7.4, 1.6)],
    ),
    "only a press before the stimulus": ([(3, S), (4.0, LB), (5.8, R), (8.2, S)], []),
    "press at the very stimulus counts": ([(3, S), (5.8, L), (5.8, LB), (8.2, S)], [(5.8, 5.8, 0.0)]),
    "missing target": ([(3, S), (7.4, LB), (8.2, S)], []),
    "unanswered trial": ([(3, S), (5.8, L), (8.2, S), (9.0, LB)], []),
    "press at the next start belongs to the next trial": ([(3, S), (5.8, L), (8.2, S), (8.2, LB)], []),
    "two targets: the first counts": ([(3, S), (5.8, L), (6.5, R), (7.4, LB), (8.2, S)], [(5.8, 7.4, 1.6)]),
    "last trial without an end is dropped": (
        [(3, S), (5.8, L), (7.4, LB), (8.2, S), (11.0, R), (12.5, RB)],
        [(5.8, 7.4, 1.6)],
    ),
    "last trial with the end of the experiment is kept": (
        [(3, S), (5.8, L), (7.4, LB), (8.2, S), (11.0, R), (12.5, RB), (13.5, "end_experiment")],
        [(5.8, 7.4, 1.6), (11.0, 12.5, 1.5)],
    ),
    "of two ends the last counts": (
        [(3, S), (4.0, "end_experiment"), (5.8, L), (7.4, LB), (9.0, "end_experiment")],
        [(5.8, 7.4, 1.6)],
    ),
    "an end before the last start is none": ([(1.0, "end_experiment"), (3, S), (5.8, L), (7.4, LB)], []),
    "a press after the end is none": ([(3, S), (5.8, L), (7.0, "end_experiment"), (7.4, LB)], []),
    "slow, quick and wrong answers all count": (
        [(3, S), (5.8, L), (8.59, RB, "sad_face"), (8.6, S), (11.4, L), (11.5, LB), (14, S)],
        [(5.8, 8.59, 2.79), (11.4, 11.5, 0.1)],
    ),
    "no trial at all": ([(0, "video_start"), (5, "video_stop")], []),
    "out of order in the file": ([(8.2, S), (7.4, LB), (3, S), (5.8, L)], [(5.8, 7.4, 1.6)]),
}


@pytest.mark.parametrize("case", CASES, ids=list(CASES))
def test_trials_are_told_from_events_by_the_published_rule(case: str):
    rows, expected = CASES[case]
    assert times(table(*rows)) == expected


def test_every_column_of_a_trial_is_given():
    (row,) = table((3, S), (5.8, L), (7.4, RB, "smiley_face"), (8.2, S)).to_dict("records")
    assert tuple(row) == COLUMNS
    assert row["trial_start_onset"] == 3
    assert row["trial_stop_onset"] == 8.2
    assert row["rt_from_trialstart"] == pytest.approx(4.4)
    assert row["response_type"] == "right"
    assert row["correct"] is True


def test_a_hand_written_events_file_gives_the_expected_rows(tmp_path: Path):
    lines = [
        "onset\tduration\tvalue\tevent_code\tfeedback",
        "0\tn/a\tbreak cnt\tbreak cnt\tn/a",
        "0.5\tn/a\tvideo_stop\t101\tn/a",  # a stray of the task before
        "1.5\tn/a\tcontrastChangeB1_start\t94\tn/a",
        "3\tn/a\tcontrastTrial_start\t5\tn/a",
        "4.1\tn/a\tleft_buttonPress\t12\tnon_target",
        "5.8\tn/a\tleft_target\t8\tn/a",
        "7.43\tn/a\tleft_buttonPress\t12\tsmiley_face",
        "7.9\tn/a\tleft_buttonPress\t12\tnon_target",
        "8.2\tn/a\tcontrastTrial_start\t5\tn/a",
        "12.6\tn/a\tright_target\t9\tn/a",
        "15\tn/a\tcontrastTrial_start\t5\tn/a",
        "15.4\tn/a\tright_buttonPress\t13\tnon_target",
        "19.4\tn/a\tright_target\t9\tn/a",
        "21.07\tn/a\tleft_buttonPress\t12\tsad_face",
        "21.8\tn/a\tcontrastTrial_start\t5\tn/a",
    ]
    (tmp_path / "sub-X_task-contrastChangeDetection_run-1_events.tsv").write_text("\n".join(lines))
    trials = trial_table(bids_events(tmp_path / "sub-X_task-contrastChangeDetection_run-1_eeg.bdf"))
    assert times(trials) == [(5.8, 7.43, 1.63), (19.4, 21.07, 1.67)]
    assert trials["correct"].tolist() == [True, False]


@pytest.mark.parametrize(
    ("events", "message"),
    [
        ({"onset_s": [1.0]}, '"value" is missing'),
        ({"value": ["a"]}, '"onset_s" is missing'),
        ({"onset_s": [np.nan], "value": ["a"]}, "not finite"),
    ],
)
def test_events_that_cannot_be_a_trial_table_are_refused(events: dict, message: str):
    with pytest.raises(InputError, match=message):
        trial_table(pd.DataFrame(events))


@given(
    st.lists(st.tuples(st.floats(0, 60), st.sampled_from([S, L, R, LB, RB, "end_experiment", "boundary"])))
)
def test_every_trial_lies_between_its_start_and_its_stop(rows: list[tuple[float, str]]):
    trials = trial_table(pd.DataFrame(rows, columns=["onset_s", "value"]))
    assert (trials["trial_start_onset"] <= trials["stimulus_onset"]).all()
    assert (trials["stimulus_onset"] <= trials["response_onset"]).all()
    assert (trials["response_onset"] < trials["trial_stop_onset"]).all()
    assert trials["trial_start_onset"].is_monotonic_increasing
    assert (trials["rt_from_stimulus"] >= 0).all()


def test_a_window_goes_from_half_a_second_to_two_and_a_half_after_the_stimulus():
    assert stimulus_starts(np.array([5.8, 0.0, 10.004, 10.006])).tolist() == [630, 50, 1050, 1051]


def test_the_first_fifty_crops_of_seed_42_are_the_ones_written_here():
    assert crop_offsets(50).tolist() == FIRST_50
    assert crop_offsets(50, seed=43).tolist() != FIRST_50


def test_every_recording_sees_the_same_crops_in_the_order_of_its_windows():
    long, short = cropped_starts(3000), cropped_starts(1100)
    assert short.tolist() == long[: len(short)].tolist()
    assert (long - np.arange(len(long)) * 200).tolist() == FIRST_50[: len(long)]


@pytest.mark.parametrize(
    ("samples", "windows"), [(399, 0), (400, 1), (599, 1), (600, 2), (799, 2), (800, 3), (12_345, 60)]
)
def test_windows_of_four_seconds_begin_every_two_and_the_last_partial_one_is_dropped(samples, windows):
    starts = cropped_starts(samples)
    assert len(starts) == windows
    assert (starts + 200 <= samples).all()
    assert (starts >= 0).all()


def test_crops_reach_both_ends_of_their_window():
    offsets = crop_offsets(5000)
    assert offsets.min() == 0
    assert offsets.max() == 200
    chance = random.Random(42)
    assert offsets.tolist() == [chance.randrange(201) for _ in range(5000)]


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=12), st.integers(1, 100))
def test_pieces_are_distinct_in_order_and_inside_their_recordings(lengths: list[int], wanted: int):
    there = sum(length // 200 for length in lengths)
    wanted = min(wanted, there)
    owners, starts = spread_starts(lengths, wanted)
    assert len(owners) == wanted
    pairs = list(zip(owners.tolist(), starts.tolist(), strict=True))
    assert pairs == sorted(set(pairs))
    assert all(start + 200 <= lengths[owner] for owner, start in pairs)
