"""Scoring a file of predictions: the same score, record and folder as a run, by the rules of a submission."""

from __future__ import annotations

import dataclasses

import numpy as np
import pandas as pd
import pytest

import neuroarena
from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate, find_results, load_result, score_predictions
from neuroarena.scoring import check_possible, check_predictions, write_predictions
from toy import Mean, toy_benchmark, toy_manifest


@pytest.fixture(scope="module")
def ran():
    return evaluate(Mean(), toy_benchmark(), "cross", name="ridge")


def submitted(ran, path, **words):
    said = {"model": "ridge", "contact": "a@b.c", **words}
    neuroarena.write_submission(path, ran.predictions, ran.manifest, **said)
    return path


def test_a_file_scores_as_the_run_that_made_it_and_survives_the_disk(ran, tmp_path):
    file = submitted(ran, tmp_path / "mine.parquet", external_data=["another set"])
    result = score_predictions(file, toy_benchmark(), "cross", out=tmp_path / "out")
    assert result.score == ran.score
    assert result.interval == ran.interval
    assert sorted(path.name for path in result.folder.iterdir()) == [
        "predictions.parquet",
        "record.json",
        "unit_scores.parquet",
    ]
    again = load_result(result.folder)
    assert again.record == result.record
    assert (again.record.kind, again.record.decoder.name) == ("predictions", "ridge")
    assert again.record.source.file == "mine.parquet"
    assert again.record.reported["metadata"]["external_data"] == ["another set"]
    pd.testing.assert_frame_equal(again.predictions, ran.predictions, check_dtype=False)


def test_the_name_is_the_given_one_else_the_models_else_the_files(ran, tmp_path):
    file = submitted(ran, tmp_path / "mine.parquet")
    ran.predictions.to_csv(tmp_path / "plain.csv", index=False)
    names = [
        score_predictions(file, toy_benchmark(), "cross", name="given"),
        score_predictions(file, toy_benchmark(), "cross"),
        score_predictions(tmp_path / "plain.csv", toy_benchmark(), "cross"),
    ]
    assert [result.record.decoder.name for result in names] == ["given", "ridge", "plain"]


def test_an_empty_name_is_refused_rather_than_ignored(ran, tmp_path):
    file = submitted(ran, tmp_path / "mine.parquet")
    with pytest.raises(InputError, match=r"mine.parquet: the name of the entry is empty"):
        score_predictions(file, toy_benchmark(), "cross", name="")


def test_one_name_from_two_paths_is_two_entries_shown_with_their_kind(ran, tmp_path):
    file = submitted(ran, tmp_path / "mine.parquet")
    kept = evaluate(Mean(), toy_benchmark(), "cross", name="ridge", out=tmp_path / "out")
    scored = score_predictions(file, toy_benchmark(), "cross", out=tmp_path / "out")
    assert kept.folder != scored.folder
    results = [load_result(folder) for folder in find_results([tmp_path / "out"])]
    table = Board(entries_from_results(results), Rules(n_draws=100)).rankings[0].table
    assert sorted(table["team"]) == ["ridge", "ridge (predictions)"]
    assert table["score"].nunique() == 1


def test_the_same_file_is_kept_once_and_another_content_apart(ran, tmp_path):
    for words in ({}, {}, {"contact": "somebody else"}):
        file = submitted(ran, tmp_path / "mine.parquet", **words)
        score_predictions(file, toy_benchmark(), "cross", out=tmp_path / "out")
    assert len(find_results([tmp_path / "out"])) == 2


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"model": "x" * 300}, '"model" has 300 characters'),
        ({"contact": "  "}, '"contact" is empty'),
        ({"external_data": "a set"}, '"external_data" is str, expected a list'),
    ],
)
def test_score_refuses_the_metadata_that_a_submission_may_not_have(ran, tmp_path, words, sentence):
    write_predictions(tmp_path / "a.parquet", ran.predictions, ran.manifest, **words)
    with pytest.raises(InputError, match=sentence):
        score_predictions(tmp_path / "a.parquet", toy_benchmark(), "cross", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_saved_index_is_refused_with_the_cure(ran, tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    table = ran.predictions.set_index(np.arange(5, 5 + len(ran.predictions)))
    table.to_csv(path) if suffix == "csv" else table.to_parquet(path, index=True)
    with pytest.raises(InputError, match=r"index=False, or write the file with neuroarena\.write_submission"):
        score_predictions(path, toy_benchmark(), "cross")


SECONDS = {"metric": "mae", "prediction": "number", "prediction_column": "seconds", "classes": ()}


@pytest.mark.parametrize("value", [-1.0, 1e18])
def test_seconds_that_cannot_be_are_refused_by_row(value):
    table = pd.DataFrame({"id": ["a", "b"], "seconds": [3.0, value]})
    with pytest.raises(
        InputError, match=r'row 1 \(id "b"\): seconds is .*; expected a number from 0 to 604800'
    ):
        check_possible(table, toy_manifest(**SECONDS))


def test_a_manifest_may_declare_what_is_possible_and_its_hash_stays_when_it_does_not():
    bounded = toy_manifest(metric="mae", prediction="number", classes=(), allowed_range=(10, 20))
    with pytest.raises(InputError, match="number is 9; expected a number from 10 to 20"):
        check_possible(pd.DataFrame({"id": ["a"], "number": [9.0]}), bounded)
    assert toy_manifest().hash == toy_manifest(allowed_range=None).hash != bounded.hash
    # As version 0.1.0 hashed it.
    assert toy_manifest().hash == "3f2db6e38ff809b83b1e61c42dc4dc81697642488bd01fed9ba654ee5cedc901"


def test_embeddings_that_cannot_be_are_refused_by_row():
    manifest = toy_manifest(metric="top5", prediction="vector", classes=())
    table = pd.DataFrame({"id": ["a", "b"], "vector": [[0.0, 1.0], [0.0, 1e300]]})
    with pytest.raises(InputError, match=r'row 1 \(id "b"\): vector holds 1e\+300 at position 1'):
        check_predictions(table, pd.DataFrame({"id": ["a", "b"]}), manifest)


def test_corrected_labels_are_another_question_and_never_answered_by_the_old_score(ran, tmp_path):
    file = submitted(ran, tmp_path / "mine.parquet")
    benchmark = toy_benchmark()
    before = score_predictions(file, benchmark, "cross", out=tmp_path / "out")
    examples = benchmark.examples
    turned = examples.assign(target=examples["target"].to_numpy()[::-1])
    corrected = dataclasses.replace(benchmark, make_examples=lambda: turned)
    after = score_predictions(file, corrected, "cross", out=tmp_path / "out")
    assert after.record.run_key != before.record.run_key
    assert after.folder != before.folder
    assert score_predictions(file, corrected, "cross").score == after.score
