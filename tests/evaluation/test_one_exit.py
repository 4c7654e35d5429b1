"""Four paths, one ending: a run, a submission file, a code zip and a model of vision on one board."""

from __future__ import annotations

import json
import shutil

import pytest
from typer.testing import CliRunner

from hbn_twin import twin as hbn_twin
from neuroarena import load_dataset
from neuroarena.cli.app import app
from neuroarena.evaluation import find_results, load_result
from sample_submissions import code, zipped

TASK = "eeg2025/response-time"
IT = "MajajHong2015.IT-pls"
FILES = {"record.json", "predictions.parquet", "unit_scores.parquet"}


def ask(*words: str):
    ran = CliRunner().invoke(app, [*words, "--json"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return json.loads(ran.stdout)


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """What each command printed, by path; every result is in a folder of its own."""
    place = tmp_path_factory.mktemp("exit")
    people, vision = str(hbn_twin()), place / "vision"
    load_dataset("brainscore_vision").simulate(vision, images=12, repetitions=4, neuroids=6)
    file, archive = place / "mine.parquet", zipped(place, code(), "mine.zip")
    few = ["--data", people]
    run = ["run", TASK, "-d", "dummy", "--workers", "1", "--submission", str(file)]
    said = {
        "run": ask(*run, *few, "--cache", str(place / "cache"), "--out", str(place / "run"))[0],
        "predictions": ask("score", TASK, str(file), *few, "--out", str(place / "predictions")),
        "code": ask("score", "eeg2025", str(archive), *few, "--out", str(place / "code")),
        "model": ask(
            "run", f"brainscore/{IT}", "-d", "pixels", "--data", str(vision), "--out", str(place / "model")
        )[0],
        "brainscore": ask("brainscore", "pixels", IT, "--data", str(vision))[0],
    }
    return place, said


def test_every_path_leaves_a_folder_of_the_same_three_files(printed):
    place, _ = printed
    for kind, count in (("run", 1), ("predictions", 1), ("code", 2), ("model", 1)):
        folders = find_results([place / kind])
        assert len(folders) == count
        for folder in folders:
            assert {path.name for path in folder.iterdir()} == FILES
            assert load_result(folder).record.kind == kind


def test_one_board_ranks_all_four_with_the_scores_that_were_printed(printed):
    place, said = printed
    folders = [str(place / kind) for kind in ("run", "predictions", "code", "model")]
    board = ask("board", *folders, "--draws", "200")
    shown = {
        (ranking["task"], row["team"]): row["score"]
        for ranking in board["rankings"]
        if ranking["kind"] == "task"
        for row in ranking["table"]
    }
    first, second = said["code"]["results"]
    expected = {
        ("response-time", "dummy"): said["run"]["score"],
        ("response-time", "dummy (predictions)"): said["predictions"]["score"],
        ("response-time", "mine"): first["score"],
        ("externalizing", "mine"): second["score"],
        (IT, "pixels"): said["model"]["score"],
    }
    assert shown == pytest.approx(expected, abs=1e-12)
    assert said["run"]["score"] == said["predictions"]["score"]
    assert said["model"]["score"] == said["brainscore"]["score"]
    # The published keys of 2025 are rounded to five decimals.
    assert [said["code"]["challenge1"], said["code"]["challenge2"]] == [
        round(first["score"], 5),
        round(second["score"], 5),
    ]


def test_the_interval_of_a_scored_file_is_the_one_on_the_board(printed):
    place, said = printed
    board = ask("board", str(place / "predictions"))
    (row,) = board["rankings"][0]["table"]
    assert [row["ci95_low"], row["ci95_high"]] == pytest.approx(said["predictions"]["interval"], abs=1e-12)


def test_the_intervals_of_scored_code_are_those_on_the_board(printed):
    place, said = printed
    shown = {
        ranking["task"] if ranking["kind"] == "task" else "overall": [row["ci95_low"], row["ci95_high"]]
        for ranking in ask("board", str(place / "code"), "--draws", "200")["rankings"]
        for row in ranking["table"]
    }
    tasks = {"challenge1": "response-time", "challenge2": "externalizing", "overall": "overall"}
    assert said["code"]["intervals"].keys() == tasks.keys()
    for name, edges in said["code"]["intervals"].items():
        assert edges == pytest.approx(shown[tasks[name]], abs=1e-5), name


def test_score_says_what_a_participant_needs(printed):
    _, said = printed
    keys = {"score", "interval", "tie_break", "additional_metrics", "units", "n_units", "direction", "metric"}
    assert keys <= set(said["predictions"])
    assert said["predictions"]["n_units"] == len({row["unit"] for row in said["predictions"]["units"]})


def test_out_that_names_a_file_is_refused_with_the_reason(printed):
    place, _ = printed
    words = ["score", TASK, str(place / "mine.parquet"), "--out", "scores.parquet"]
    ran = CliRunner().invoke(app, words)
    assert "takes a folder now" in str(ran.exception)


def test_a_copied_folder_is_still_ranked(printed, tmp_path):
    place, _ = printed
    shutil.copytree(place / "code", tmp_path / "elsewhere")
    assert {
        row["team"]
        for each in ask("board", str(tmp_path), "--draws", "100")["rankings"]
        for row in each["table"]
    } == {"mine"}


def test_a_task_whose_score_some_draws_leave_undefined_does_not_cost_the_others_their_board(tmp_path):
    few = ["--data", str(hbn_twin()), "--fast", "--out", str(tmp_path / "out")]
    said = ask("score", "eeg2025", str(zipped(tmp_path, code(), "mine.zip")), *few)
    board = ask("board", str(tmp_path / "out"), "--draws", "2000")
    found = {ranking["task"]: ranking for ranking in board["rankings"] if ranking["kind"] == "task"}
    assert found["response-time"]["table"][0]["score"] == pytest.approx(
        said["results"][0]["score"], abs=1e-12
    )
    # Four people: a draw of one of them alone has no spread to divide by, and four prove nothing.
    assert said["results"][1]["interval"] is None
    (row,) = found["externalizing"]["table"]
    assert row["score"] is not None
    assert row["seed_ci95_low"] is None
    assert row["ci95_low"] is None
