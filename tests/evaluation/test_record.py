"""The record of a run: typed, strict, versioned; folders of 0.1.0 are still read and ranked."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from pydantic import ValidationError

from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate, find_results, load_result
from neuroarena.evaluation.record import RunRecord, read_record
from toy import Mean, toy_benchmark

# Two folders exactly as 0.1.0 wrote them: a run of tests/toy.py, and pixels on a small twin of MajajHong2015.IT-pls.
OLD = Path(__file__).parent / "results_0_1_0"


def rankings(folder):
    results = [load_result(each) for each in find_results([folder])]
    board = Board(entries_from_results(results), Rules(n_draws=200))
    return {ranking.task: ranking.table.set_index("team") for ranking in board.rankings}


def test_folders_of_version_0_1_0_are_ranked_with_the_scores_they_had():
    found = rankings(OLD)
    assert found["blip"].loc["mean", "score"] == pytest.approx(0.9802777777777778, abs=1e-12)
    assert found["MajajHong2015.IT-pls"].loc["pixels", "score"] == pytest.approx(
        -0.0251828997294036, abs=1e-12
    )


def test_an_old_run_and_a_new_one_stand_on_one_board(tmp_path):
    shutil.copytree(OLD, tmp_path / "old")
    new = evaluate(Mean(), toy_benchmark(), "cross", name="new", out=tmp_path / "new")
    table = rankings(tmp_path)["blip"]
    assert table.loc["new", "score"] == table.loc["mean", "score"] == new.score


def test_reading_an_old_record_upgrades_it_in_memory_and_leaves_the_file_alone():
    folder = next(OLD.glob("brainscore*"))
    before = (folder / "record.json").read_bytes()
    record = load_result(folder).record
    assert (record.schema_version, record.kind) == (2, "model")
    assert record.reported["score"] == pytest.approx(-0.009405796036290716)
    assert record.reported["formula"] == "variance_ratio"
    assert "0.1.0" in record.left_out["predictions"]
    assert (folder / "record.json").read_bytes() == before


def test_what_an_old_record_said_beyond_the_schema_is_kept_as_reported():
    plain = json.loads((next(OLD.glob("toy*")) / "record.json").read_text())
    plain["weather"], plain["decoder"]["colour"] = "rain", "red"
    assert read_record(plain, Path("r")).reported == {"weather": "rain", "decoder.colour": "red"}


@pytest.mark.parametrize("where", ["", "benchmark", "split", "decoder"])
def test_a_new_record_with_an_unknown_key_is_refused_by_name(where, tmp_path):
    plain = evaluate(Mean(), toy_benchmark(), "cross").record.to_json()
    (plain[where] if where else plain)["colour"] = "red"
    name = f"{where}.colour" if where else "colour"
    with pytest.raises(InputError, match=f'record.json: the record is damaged: "{name}" is unknown'):
        read_record(plain, Path("record.json"))


def test_a_record_survives_json_with_the_schema_version_first_and_cannot_be_changed():
    record = evaluate(Mean(), toy_benchmark(), "cross").record
    plain = json.loads(json.dumps(record.to_json(), allow_nan=False))
    assert next(iter(plain)) == "schema_version"
    assert RunRecord.model_validate(plain) == record
    with pytest.raises(ValidationError, match="frozen"):
        record.kind = "code"


def test_a_result_shows_itself_in_one_line_with_the_interval_of_the_board(tmp_path):
    few = evaluate(Mean(), toy_benchmark(), "cross", name="mean", out=tmp_path)
    assert few.interval is None  # two people prove nothing
    table = few.unit_scores.table
    people = [
        table.assign(
            unit=table["unit"] + f" {at}", cluster=f"person {at}", score=table["score"] * (1 - 0.02 * at)
        )
        for at in range(8)
    ]
    many = replace(few.unit_scores, table=pd.concat(people, ignore_index=True))
    result = replace(few, unit_scores=many, record=few.record.model_copy(update={"score": many.value}))
    row = Board(entries_from_results([result])).rankings[0].table.iloc[0]
    assert result.interval == pytest.approx((row["ci95_low"], row["ci95_high"]), abs=1e-12)
    low, high = result.interval
    assert repr(result) == (
        f"<Result: mean on toy@1/blip, cross: auroc {result.score:.4f}, "
        f"95 % interval {low:.4f} to {high:.4f}, simulated>"
    )


def test_the_interval_of_a_result_with_several_seeds_is_that_of_the_board_and_wider_than_without_them():
    from neuroarena.evaluation.repeats import Repeat, average_scores

    once = evaluate(Mean(), toy_benchmark(), "cross")
    first = once.unit_scores.table
    units = pd.concat(
        [
            first.assign(unit=first["unit"] + f" {at}", cluster=f"person {at}", score=0.5 + 0.02 * at)
            for at in range(8)
        ],
        ignore_index=True,
    )
    repeats = tuple(
        Repeat(seed, replace(once.unit_scores, table=units.assign(score=units["score"] + luck)))
        for seed, luck in enumerate((-0.04, 0.0, 0.04))
    )
    mean = average_scores(repeats)
    alone = replace(once, unit_scores=mean, record=once.record.model_copy(update={"score": mean.value}))
    noisy = replace(alone, repeats=repeats)
    row = Board(entries_from_results([noisy])).rankings[0].table.iloc[0]
    assert noisy.interval == pytest.approx((row["ci95_low"], row["ci95_high"]), abs=1e-12)
    assert noisy.interval[0] < alone.interval[0] < alone.interval[1] < noisy.interval[1]


def test_one_unit_has_no_interval(tmp_path):
    result = evaluate(Mean(), toy_benchmark(), "cross")
    table = result.unit_scores.table
    one = type(result.unit_scores)(**{**vars(result.unit_scores), "table": table[table["unit"] == "1_0"]})
    alone = type(result)(result.record, None, one)
    assert alone.interval is None
    assert "no interval" in repr(alone)
