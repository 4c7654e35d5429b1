"""The final board of the EEG Foundation Challenge 2025: its facts, and what is refused."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.families.eeg2025 import (
    NO_INTERVALS,
    final_board_json,
    print_final_board,
    read_final_board,
    summary,
)
from shared_data import SHARED

REAL = SHARED / "data" / "eeg2025" / "final_board.csv"
needs_board = pytest.mark.skipif(not REAL.is_file(), reason="the final board is not beside the project")

HEADING = "submission,account,team,created,overall,challenge1,challenge2"
ROWS = (
    "11,ada,alpha,2025-10-11T00:00:00Z,0.97000,0.90000,1.00000",
    "12,bob,,2025-11-03T12:00:01Z,0.95000,0.95000,0.95000",
    "13,cyd,alpha,2025-11-03T12:00:00Z,1.30000,2.00000,1.00000",
    "14,dan,,2025-10-12T00:00:00Z,0.97000,0.90000,1.00000",
)


def write(tmp_path: Path, *rows: str, heading: str = HEADING) -> Path:
    path = tmp_path / "board.csv"
    path.write_text("\n".join([heading, *rows]) + "\n", encoding="utf-8")
    return path


@needs_board
def test_the_facts_of_the_final_board():
    table = read_final_board(REAL)
    facts = summary(table)
    assert facts["n"] == len(table) == 184
    assert table["overall"].head(5).tolist() == [0.96381, 0.96388, 0.96472, 0.96480, 0.96498]
    assert facts["gap_first_second"] == 0.00007
    assert facts["best"] == {"overall": 0.96381, "challenge1": 0.88668, "challenge2": 0.97843}
    assert facts["worst_overall"] == pytest.approx(23.0, abs=0.05)
    assert facts["beats_constant"] == {"overall": 62, "challenge1": 91, "challenge2": 24}
    assert facts["constant_challenge2"] == 10
    assert facts["shared_values"]["challenge2"] == 44
    assert facts["n_late"] == 10
    assert facts["late"][0]["rank"] == 2
    assert (facts["rows_with_team"], facts["teams_named"]) == (116, 103)
    several = facts["teams_with_several_accounts"]
    assert len(several) == 11
    assert {len(accounts) for accounts in several.values()} == {2, 4}


@needs_board
def test_ranks_of_the_final_board_agree_with_counting():
    raw = pd.read_csv(REAL)
    table = read_final_board(REAL).set_index("submission")
    for name, rank in (
        ("overall", "rank"),
        ("challenge1", "rank_challenge1"),
        ("challenge2", "rank_challenge2"),
    ):
        values = raw[name].to_numpy()
        better = (values[None, :] < values[:, None]).sum(axis=1) + 1
        assert table.loc[raw["submission"].astype(str), rank].tolist() == better.tolist()
        shared = (values[None, :] == values[:, None]).sum(axis=1) > 1
        assert table.loc[raw["submission"].astype(str), f"tied_{name}"].tolist() == shared.tolist()
    assert table["rank"].is_monotonic_increasing


@needs_board
def test_a_later_deadline_marks_fewer_rows():
    assert read_final_board(REAL, "2025-11-13T00:00:00+00:00")["late"].sum() == 1
    zone = datetime.timezone(datetime.timedelta(hours=-12))
    same = read_final_board(REAL, datetime.datetime(2025, 11, 3, tzinfo=zone))
    assert same["late"].sum() == 10


def test_a_small_board_is_ranked_marked_and_tied(tmp_path: Path):
    table = read_final_board(write(tmp_path, *ROWS))
    assert table["submission"].tolist() == ["12", "11", "14", "13"]
    assert table["rank"].tolist() == [1, 2, 2, 4]
    assert table["rank_challenge1"].tolist() == [3, 1, 1, 4]
    assert table["late"].tolist() == [True, False, False, False]
    assert table["same_team_accounts"].tolist() == ["", "cyd", "", "ada"]
    assert table["tied_overall"].tolist() == [False, True, True, False]
    assert table["tied_challenge2"].tolist() == [False, True, True, True]
    assert table["beats_constant"].tolist() == [True, True, True, False]
    assert table["beats_constant_challenge2"].tolist() == [True, False, False, False]


def test_values_equal_at_five_decimals_share_their_rank(tmp_path: Path):
    rows = ("1,a,,2025-10-11T00:00:00Z,0.900001,0.9,0.9", "2,b,,2025-10-11T00:00:00Z,0.900002,0.9,0.9")
    assert read_final_board(write(tmp_path, *rows))["rank"].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("15,e,,2025-10-11T00:00:00Z,abc,1,1", r'row 5 \(submission 15\): "overall" is "abc"'),
        ("15,e,,2025-10-11T00:00:00Z,nan,1,1", r'row 5 .*"overall" is "nan"; expected a finite number'),
        ("15,e,,2025-10-11T00:00:00Z,1,inf,1", '"challenge1" is "inf"'),
        ("15,e,,2025-10-11T00:00:00Z,1,1e999,1", '"challenge1" is "1e999"'),
        ("15,e,,2025-10-11T00:00:00Z,1,1,", '"challenge2" is ""'),
        ("15,e,,2025-10-11T00:00:00Z,1,1,-1", '"challenge2" is "-1"'),
        ("15,e,,2025-10-11T00:00:00Z,1_0,1,1", '"overall" is "1_0"'),
        ("15,e,,yesterday,1,1,1", r'row 5 \(submission 15\): "created" "yesterday" is not a time'),
        ("15,e,,2025-10-11T00:00:00,1,1,1", "with a time zone"),
        ("15,e,,2025-13-11T00:00:00Z,1,1,1", "is not a time"),
        ("11,e,,2025-10-11T00:00:00Z,1,1,1", 'rows 1 and 5 have the same submission "11"'),
        (",e,,2025-10-11T00:00:00Z,1,1,1", 'row 5: "submission" is empty'),
        ("15,,,2025-10-11T00:00:00Z,1,1,1", 'row 5: "account" is empty'),
        (
            "15,e\x1b[2J,,2025-10-11T00:00:00Z,1,1,1",
            'row 5: "account" holds characters that cannot be printed',
        ),
        ("15,e,2025-10-11T00:00:00Z,1,1,1", "row 5 has 6 fields, but the heading has 7"),
        ("15,e,,2025-10-11T00:00:00Z,1.0001,1,1", r"within 2e-05 in row 5 \(submission 15\)"),
    ],
)
def test_a_bad_row_is_refused_with_file_and_row(row: str, words: str, tmp_path: Path):
    with pytest.raises(InputError, match=words) as refusal:
        read_final_board(write(tmp_path, *ROWS, row))
    assert str(refusal.value).startswith("board.csv: ")


def test_every_row_that_breaks_the_weighted_sum_is_named(tmp_path: Path):
    broken = [f"{number},x{number},,2025-10-11T00:00:00Z,2,1,1" for number in range(20, 27)]
    with pytest.raises(InputError, match=r"row 5 \(submission 20\), row 6 .* and 2 more"):
        read_final_board(write(tmp_path, *ROWS, *broken))
    within = "20,x,,2025-10-11T00:00:00Z,1.00002,1,1"
    assert len(read_final_board(write(tmp_path, within))) == 1


@pytest.mark.parametrize("column", HEADING.split(","))
def test_a_missing_column_is_named(column: str, tmp_path: Path):
    with pytest.raises(InputError, match=f'board.csv: the column "{column}" is missing'):
        read_final_board(write(tmp_path, *ROWS, heading=HEADING.replace(column, "other")))


def test_files_that_are_no_board_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="this file does not exist"):
        read_final_board(tmp_path / "nothing.csv")
    with pytest.raises(InputError, match="no rows below the heading"):
        read_final_board(write(tmp_path))
    with pytest.raises(InputError, match="occurs more than once"):
        read_final_board(write(tmp_path, heading=f"{HEADING},team"))
    path = tmp_path / "empty.csv"
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r'empty\.csv: the column "submission" is missing'):
        read_final_board(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"empty\.csv: cannot be read as CSV"):
        read_final_board(path)


@pytest.mark.parametrize("deadline", ["soon", "2025-11-03T12:00:00", datetime.datetime(2025, 11, 3)])
def test_a_deadline_without_a_zone_is_refused(deadline: str | datetime.datetime, tmp_path: Path):
    with pytest.raises(InputError, match="deadline"):
        read_final_board(write(tmp_path, *ROWS), deadline)


def test_the_board_as_json_says_that_there_are_no_intervals(tmp_path: Path):
    said = json.loads(json.dumps(final_board_json(read_final_board(write(tmp_path, *ROWS))), allow_nan=False))
    assert said["notes"] == [NO_INTERVALS]
    assert said["rows"][1]["same_team_accounts"] == ["cyd"]
    assert said["rows"][0]["created"] == "2025-11-03T12:00:01+00:00"
    assert said["summary"]["n_late"] == 1
    assert not any("ci95" in key for row in said["rows"] for key in row)


@pytest.mark.parametrize("width", [80, 120])
def test_the_printed_board_shows_numbers_ties_late_rows_and_the_note(width: int, tmp_path: Path):
    from rich.console import Console

    out = io.StringIO()
    print_final_board(read_final_board(write(tmp_path, *ROWS)), top=3, console=Console(file=out, width=width))
    text = " ".join(out.getvalue().split())
    assert "0.95000 0.95000 (3) 0.95000 (1) late" in text
    assert "2= ada alpha 0.97000 0.90000 (1=) 1.00000 (2=) also cyd" in text
    assert "The first 3 of 4 rows." in text
    assert "Rows dated after the deadline (2025-11-03T12:00:00+00:00): 1." in text
    assert "Teams with several accounts, 1: alpha (ada, cyd)." in text
    assert NO_INTERVALS in text


def test_a_board_of_one_row_has_no_gap(tmp_path: Path):
    table = read_final_board(write(tmp_path, ROWS[0]))
    assert summary(table)["gap_first_second"] is None
    print_final_board(table)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    scores=st.lists(
        st.tuples(*[st.floats(0.5, 30, allow_nan=False).map(lambda value: round(value, 5))] * 2),
        min_size=1,
        max_size=12,
    )
)
def test_ranks_are_counts_of_better_rows_whatever_the_scores(
    scores: list[tuple[float, float]], tmp_path: Path
):
    rows = [
        f"{at},account {at},,2025-10-11T00:00:00Z,{0.3 * one + 0.7 * two:.5f},{one:.5f},{two:.5f}"
        for at, (one, two) in enumerate(scores)
    ]
    table = read_final_board(write(tmp_path, *rows))
    values = table["overall"].to_numpy()
    assert np.array_equal(table["rank"], (values[None, :] < values[:, None]).sum(axis=1) + 1)
    assert np.all(np.diff(values) >= 0)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(content=st.binary(max_size=200))
def test_any_bytes_are_a_board_or_an_input_error(content: bytes, tmp_path: Path):
    path = tmp_path / "board.csv"
    path.write_bytes(HEADING.encode() + b"\n" + content)
    said = "board.csv"
    try:
        read_final_board(path)
    except InputError as refusal:
        said = str(refusal)
    assert said.startswith("board.csv")
