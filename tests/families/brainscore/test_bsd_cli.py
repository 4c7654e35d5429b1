"""``neuroarena brainscore``: scores on the command line, kept for boards."""

from __future__ import annotations

import json

import pytest
from bsd_twin import small_twin, twin
from typer.testing import CliRunner

from neuroarena.board import Board, entries_from_results
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.evaluation.results import find_results, load_result
from neuroarena.families.brainscore import load_benchmark, load_model, score
from neuroarena.families.brainscore.verbs import save_score

IT = "MajajHong2015.IT-pls"


def run(*words: str) -> str:
    ran = CliRunner().invoke(app, list(words))
    if ran.exception is not None:
        raise ran.exception
    return ran.output


def test_scores_are_kept_and_ranked_on_a_board(tmp_path):
    out = str(tmp_path / "results")
    for model in ("tiny-cnn", "pixels"):
        rows = json.loads(run("brainscore", model, IT, "--data", str(twin()), "--out", out, "--json"))
        assert rows[0]["simulated"] is True
        assert rows[0]["score"] == pytest.approx(rows[0]["raw"] ** 2 / rows[0]["ceiling"])
    results = [load_result(folder) for folder in find_results([tmp_path / "results"])]
    assert all(result.complete and result.record.simulated for result in results)
    ranking = Board(entries_from_results(results)).ranking(IT, "neuroids")
    assert ranking.table["team"].tolist() == ["tiny-cnn", "pixels"]
    assert ranking.n_units == 24
    assert "simulated" in run("board", out)


def test_the_same_score_is_kept_once_and_another_recording_apart(tmp_path):
    for root in (small_twin(), small_twin(), twin()):
        benchmark = load_benchmark(IT, data=root)
        save_score(score(load_model("pixels", cache=False), benchmark), benchmark, tmp_path)
    assert len(find_results([tmp_path])) == 2


def test_a_table_shows_score_raw_ceiling_and_formula(tmp_path):
    shown = run(
        "brainscore", "pixels", IT, "MajajHong2015.V4-pls", "--data", str(small_twin()), "--version", "3"
    )
    for word in ("simulated recordings", IT, "MajajHong2015.V4-pls", "ratio_squared", "ceiling"):
        assert word in shown


def test_a_score_without_neuroids_is_shown_but_not_kept(tmp_path, capfd):
    name = "Marques2020_Ringach2002-circular_variance"
    run("brainscore", "tiny-cnn", name, "--data", str(small_twin()), "--out", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


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
