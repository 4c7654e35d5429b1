"""Listing, renaming and removing kept results: explicit, logged, and nothing is lost."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from neuroarena import atomic
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate, find_results, load_result
from neuroarena.evaluation.bookkeeping import remove_result, rename_result
from neuroarena.evaluation.shelf import LOG, REMOVED
from toy import Mean, toy_benchmark

OLD = Path(__file__).parent / "results_0_1_0"


@pytest.fixture
def kept(tmp_path):
    return evaluate(Mean(), toy_benchmark(), "cross", name="mean", out=tmp_path / "results").folder


def log_of(folder):
    return [json.loads(line) for line in (folder.parent / LOG).read_text().splitlines()]


def ask(*words):
    ran = CliRunner().invoke(app, ["results", *map(str, words)], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def test_results_are_listed_with_kind_name_score_and_time(kept):
    (row,) = json.loads(ask("list", kept.parent, "--json"))
    record = load_result(kept).record
    assert (row["kind"], row["name"], row["benchmark"]) == ("run", "mean", "toy@1/blip")
    assert (row["split"], row["simulated"], row["score"]) == ("cross", True, record.score)
    assert row["finished"] == record.finished.isoformat()
    assert "toy@1/blip" in ask("list", kept.parent)


def test_a_renamed_result_is_shown_by_its_new_name_and_the_old_one_is_logged(kept):
    before = load_result(kept)
    ask("rename", kept, "better name")
    after = load_result(kept)
    assert after.record.decoder.name == "better name"
    assert (after.record.run_key, after.score) == (before.record.run_key, before.score)
    (line,) = log_of(kept)
    assert (line["act"], line["from"], line["to"]) == ("rename", "mean", "better name")
    # Running the same again finds the renamed result and writes no second one.
    evaluate(Mean(), toy_benchmark(), "cross", name="mean", out=kept.parent)
    assert find_results([kept.parent]) == [kept]


def test_an_old_record_is_renamed_without_changing_its_version(tmp_path):
    folder = shutil.copytree(next(OLD.glob("toy*")), tmp_path / "run")
    rename_result(folder, "other")
    plain = json.loads((folder / "record.json").read_text())
    assert (plain["schema_version"], plain["decoder"]["name"]) == (1, "other")


def test_a_crash_while_renaming_leaves_the_old_record_whole(kept, monkeypatch):
    def crash(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(atomic.os, "replace", crash)
    with pytest.raises(KeyboardInterrupt):
        rename_result(kept, "new")
    assert load_result(kept).record.decoder.name == "mean"
    assert log_of(kept)[0]["to"] == "new"


def test_a_removed_result_leaves_the_boards_and_can_be_brought_back(kept):
    moved = remove_result(kept)
    with pytest.raises(InputError, match="no run in this folder"):
        find_results([kept.parent])
    assert log_of(kept)[0]["act"] == "remove"
    shutil.move(moved, kept)
    assert load_result(kept).record.decoder.name == "mean"


def test_forever_deletes_and_says_so_in_the_log(kept):
    ask("remove", kept, "--forever")
    assert not list((kept.parent / REMOVED).iterdir())
    assert log_of(kept)[0]["act"] == "delete"


def test_a_folder_that_is_no_result_is_refused_and_none_is_removed(kept, tmp_path):
    ran = CliRunner().invoke(app, ["results", "remove", str(kept), str(tmp_path)])
    assert isinstance(ran.exception, InputError)
    assert kept.exists()


def test_a_name_that_cannot_be_shown_is_refused_and_nothing_changes(kept):
    with pytest.raises(InputError, match="is empty"):
        rename_result(kept, "  ")
    assert not (kept.parent / LOG).exists()


def test_a_run_that_lost_its_record_is_named_instead_of_left_out(kept):
    (lost, *_) = find_results([kept])
    (lost / "record.json").unlink()
    with pytest.raises(InputError, match=rf"{lost.name}: there are unit scores and no record\.json"):
        find_results([kept])


def test_a_damaged_result_is_listed_with_its_reason_beside_the_others(kept):
    evaluate(Mean(), toy_benchmark(), "cross", name="other", out=kept.parent)
    (kept / "unit_scores.parquet").write_bytes(b"PAR1")
    rows = {row["status"]: row for row in json.loads(ask("list", kept.parent, "--json"))}
    assert rows.keys() == {"complete", "damaged"}
    assert "unit_scores.parquet" in rows["damaged"]["reason"]
    assert f"neuroarena results remove {kept}" in ask("list", kept.parent)
