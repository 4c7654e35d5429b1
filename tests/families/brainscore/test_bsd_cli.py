"""``neuroarena brainscore``: scores on the command line, kept for boards."""

from __future__ import annotations

import json
import shutil

import pytest
from bsd_twin import small_twin, twin
from typer.testing import CliRunner

from neuroarena import evaluate
from neuroarena.board import Board, entries_from_results
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.evaluation.results import find_results, load_result
from neuroarena.families.brainscore import load_model

IT = "MajajHong2015.IT-pls"


def run(*words: str) -> str:
    ran = CliRunner().invoke(app, list(words))
    if ran.exception is not None:
        raise ran.exception
    return ran.stdout


def test_scores_are_kept_and_ranked_on_a_board(tmp_path):
    out = str(tmp_path / "results")
    for model in ("tiny-cnn", "pixels"):
        rows = json.loads(run("brainscore", model, IT, "--data", str(twin()), "--out", out, "--json"))
        assert rows[0]["simulated"] is True
        assert rows[0]["score"] == pytest.approx(rows[0]["raw"] ** 2 / rows[0]["ceiling"])
    results = [load_result(folder) for folder in find_results([tmp_path / "results"])]
    assert all(result.complete and result.record.simulated for result in results)
    board = Board(entries_from_results(results))
    ranking = board.ranking(IT, "neuroids")
    assert ranking.table["team"].tolist() == ["tiny-cnn", "pixels"]
    assert ranking.n_units == 24
    assert "simulated" in run("board", out)


def test_the_same_score_is_kept_once_and_another_recording_apart(tmp_path):
    for root in (small_twin(), small_twin(), twin()):
        evaluate(load_model("pixels", cache=False), f"brainscore/{IT}", data=str(root), out=tmp_path)
    assert len(find_results([tmp_path])) == 2


def test_the_board_shows_the_score_that_the_command_prints_with_an_interval_around_it(tmp_path):
    words = ["--data", str(small_twin()), "--out", str(tmp_path / "results"), "--json"]
    for version in ("3", "4"):
        (printed,) = json.loads(run("brainscore", "pixels", IT, *words, "--version", version))
        (row,) = json.loads(run("run", f"brainscore@{version}/{IT}", "-d", "pixels", *words))
        board = json.loads(run("board", str(tmp_path / "results"), "--draws", "200", "--json"))
        (shown,) = board["rankings"][0]["table"]
        assert printed["score"] == row["score"]
        assert shown["score"] == pytest.approx(printed["score"], abs=1e-12)
        assert shown["ci95_low"] <= shown["score"] <= shown["ci95_high"]
        assert load_result(row["folder"]).record.score == printed["score"]
        shutil.rmtree(tmp_path / "results")


def test_predictions_are_kept_for_every_split_and_image(tmp_path):
    result = evaluate("pixels", f"brainscore/{IT}", data=str(small_twin()), out=tmp_path)
    table = load_result(result.folder).predictions
    assert list(table.columns) == ["split", "id", "values", "contributions"]
    assert table["split"].nunique() == 10
    assert not table.duplicated(["split", "id"]).any()
    assert {len(values) for values in table["values"]} == {6}
    assert len(result.record.reported["columns"]) == 6


def test_a_table_shows_score_raw_ceiling_and_formula(tmp_path):
    shown = run(
        "brainscore", "pixels", IT, "MajajHong2015.V4-pls", "--data", str(small_twin()), "--version", "3"
    )
    for word in ("simulated recordings", IT, "MajajHong2015.V4-pls", "ratio_squared", "ceiling"):
        assert word in shown


def test_a_score_of_properties_is_kept_and_ranked_over_the_recorded_neurons(tmp_path):
    name = "Marques2020_Ringach2002-circular_variance"
    words = ["--data", str(small_twin()), "--out", str(tmp_path / "out"), "--json"]
    (row,) = json.loads(run("brainscore", "tiny-cnn", name, *words))
    result = load_result(row["folder"])
    assert result.score == row["score"]
    assert result.unit_scores.table["unit"].is_unique
    assert "predicts no responses" in result.record.left_out["predictions"]
    (ranking,) = json.loads(run("board", str(tmp_path / "out"), "--json"))["rankings"]
    (team,) = ranking["table"]
    assert (ranking["unit"], ranking["n_units"]) == ("neuroid", len(result.unit_scores.table))
    assert team["ci95_low"] < team["score"] < team["ci95_high"]
    assert team["score"] == pytest.approx(row["score"])


def test_layers_are_chosen_from_the_command_line():
    words = ["MajajHong2015.IT-pls", "--layers", "stage1,stage4", "--data", str(twin())]
    found = json.loads(run("brainscore-layers", "tiny-cnn", *words, "--json"))
    assert found["region_layer_map"] == {"IT": "stage4"}
    assert [row["layer"] for row in found["scores"]] == ["stage1", "stage4"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (
            ["tiny-cnn", "MajajHong2015.IT-pls", "--components", "5"],
            "--components and --images belong together",
        ),
        (["tiny-cnn", "MajajHong2015.IT-pls", "--layers", "stage9"], 'There is no layer "stage9"'),
        (
            ["tiny-cnn", "MajajHong2015.IT-pls", "--components", "5", "--images", "."],
            "there is no picture here",
        ),
    ],
)
def test_a_choice_of_layers_that_cannot_be_made_is_refused(words, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=says):
        run("brainscore-layers", *words, "--data", str(small_twin()))


def test_a_model_of_a_file_in_the_folder_serves(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my_bsd_model.py").write_text(
        "import numpy as np\n"
        "from neuroarena.families.brainscore.models import CallableFeatures, RegionModel\n"
        "def small(images):\n"
        "    return np.stack([np.asarray(each.resize((8, 8)), dtype=float).ravel() for each in images])\n"
        "def make():\n"
        "    return RegionModel('mine', CallableFeatures(small), cache=False)\n"
    )
    rows = json.loads(run("brainscore", "my_bsd_model:make", IT, "--data", str(small_twin()), "--json"))
    assert rows[0]["model"] == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("nothing", IT), 'No model "nothing"'),
        (("pixels", "MajajHong2015.IT-plz"), 'Did you mean "MajajHong2015.IT-pls"'),
        (("pixels", IT), "no folder was named"),
        (("pixels", "Kar2019-ost", "--data", "TWIN"), "does not change over time"),
    ],
)
def test_what_cannot_be_scored_is_refused(words, said):
    with pytest.raises(InputError, match=said):
        run("brainscore", *(str(small_twin()) if word == "TWIN" else word for word in words))


def test_an_option_that_a_benchmark_does_not_take_is_refused():
    from neuroarena.families.brainscore import benchmark_registry

    benchmark_registry["Plain-bsd"] = lambda: None
    try:
        with pytest.raises(InputError, match='"Plain-bsd" has no option "data"'):
            run("brainscore", "pixels", "Plain-bsd", "--data", "x")
    finally:
        del benchmark_registry["Plain-bsd"]


def test_comparisons_are_listed_with_their_question():
    rows = {row["name"]: row for row in json.loads(run("list", "benchmarks", "--json"))}
    assert rows[f"brainscore/{IT}"]["question"].startswith("How well does a model predict IT neurons")
    assert rows["brainscore/Kriegeskorte2008.IT-rdm"]["from"] == "neuroarena"
    assert {"neuroprobe/onset", "brainscore/Haxby2001-slice"} <= set(rows)


@pytest.mark.parametrize(("version", "said"), [("99", "it has 4, 3"), ("0", "version")])
def test_a_version_that_a_benchmark_does_not_have_is_refused(version, said):
    for words in (
        ("brainscore", "pixels", IT, "--version", version),
        ("run", f"brainscore/{IT}", "-d", "pixels", "-O", f"version={version}"),
    ):
        with pytest.raises(InputError, match=said):
            run(*words, "--data", str(small_twin()))


@pytest.mark.parametrize("model", ["pixels", "tiny-cnn"])
def test_a_model_that_is_listed_can_be_checked(model):
    checks = json.loads(run("check", "decoder", model, "--benchmark", f"brainscore/{IT}", "--json"))
    assert len(checks) == 3
    assert all(check["passed"] for check in checks), checks
