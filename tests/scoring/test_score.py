"""score(): values by hand, any order of rows, and the file of unit scores."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import roc_auc_score

from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import SCORER_VERSION, UnitScores, score, write_predictions

from .tables import LABELS, NUMBERS, PROBABILITIES, make_manifest, make_predictions, make_truth

FULL = PROBABILITIES.replace(
    tie_break="balanced_accuracy", additional_metrics=("accuracy", "macro_f1"), cluster="subject"
)


def random_tables(seed: int, rows: int = 300) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Coarse probabilities (many ties) of examples in several units and folds."""
    rng = np.random.default_rng(seed)
    unit = np.arange(rows) // 2 % 7
    second = rng.integers(0, 11, rows) / 10
    ids = [f"é{row}" if row % 3 else f"e{row}" for row in range(rows)]
    truth = pd.DataFrame(
        {
            "id": ids,
            "fold": [f"fold{row // 14 % 2}" for row in range(rows)],
            "unit": [f"s{code}" for code in unit],
            "cluster": [f"p{code % 3}" for code in unit],
            "target": np.where(np.arange(rows) % 2, "yes", "no"),
        }
    )
    return pd.DataFrame({"id": ids, "p_no": 1 - second, "p_yes": second}), truth


def test_scores_of_units_equal_scikit_learn_on_their_rows() -> None:
    predictions, truth = random_tables(0)
    table = score(predictions, truth, FULL).table
    assert table[["unit", "fold"]].to_records(index=False).tolist() == sorted(
        set(zip(truth["unit"], truth["fold"], strict=True))
    )
    rows = truth.merge(predictions, on="id")
    for line in table.itertuples():
        cell = rows[(rows["unit"] == line.unit) & (rows["fold"] == line.fold)]
        assert line.n == len(cell)
        assert line.score == pytest.approx(roc_auc_score(cell["target"] == "yes", cell["p_yes"]), abs=1e-12)
        assert line.accuracy == ((cell["p_yes"] > cell["p_no"]) == (cell["target"] == "yes")).mean()
        assert line.cluster == cell["cluster"].iloc[0]


def test_the_columns_of_the_table_are_the_ones_of_the_contract() -> None:
    table = score(*random_tables(0), FULL).table
    assert list(table.columns) == [
        "unit", "fold", "cluster", "n", "score", "tie_break", "accuracy", "macro_f1",
    ]  # fmt: skip
    labels = score(make_predictions(LABELS), make_truth(LABELS), LABELS).table
    assert list(labels.columns) == ["unit", "fold", "cluster", "n", "score", "correct"]
    assert labels["n"].dtype == np.int64
    assert labels["correct"].tolist() == [3.0, 3.0]


@given(seed=st.integers(0, 2**16), sort_seed=st.integers(0, 2**16))
def test_the_order_of_rows_changes_no_bit(seed: int, sort_seed: int) -> None:
    predictions, truth = random_tables(seed, rows=60)
    rng = np.random.default_rng(sort_seed)
    shuffled = score(
        predictions.iloc[rng.permutation(len(predictions))], truth.iloc[rng.permutation(len(truth))], FULL
    )
    pd.testing.assert_frame_equal(shuffled.table, score(predictions, truth, FULL).table, check_exact=True)


def test_sums_of_floats_do_not_depend_on_the_order_of_rows_either() -> None:
    rng = np.random.default_rng(3)
    ids = [f"e{row:04d}" for row in range(1000)]
    truth = pd.DataFrame(
        {"id": ids, "fold": "0", "unit": "u", "cluster": "", "target": rng.normal(size=1000)}
    )
    predictions = pd.DataFrame({"id": ids, "number": rng.normal(size=1000) * 1e6})
    scores = {
        score(
            predictions.sample(frac=1, random_state=k), truth.sample(frac=1, random_state=k + 1), NUMBERS
        ).value
        for k in range(5)
    }
    assert len(scores) == 1


def test_the_inputs_are_left_as_they_were() -> None:
    predictions, truth = random_tables(1)
    before = predictions.copy(deep=True), truth.copy(deep=True)
    score(predictions, truth, FULL)
    pd.testing.assert_frame_equal(predictions, before[0])
    pd.testing.assert_frame_equal(truth, before[1])


def test_errors_are_negated_only_where_higher_shall_be_better() -> None:
    predictions = make_predictions(NUMBERS).assign(number=[2.0, 3.0, 4.0, 4.0, 5.0, 6.0])
    scores = score(predictions, make_truth(NUMBERS), NUMBERS)
    assert scores.direction == "lower"
    assert scores.table["score"].tolist() == [1.0, 0.0]
    assert scores.value == 0.5
    oriented = scores.oriented()["score"]
    assert oriented.tolist() == [-1.0, 0.0]
    assert not np.signbit(oriented[1])
    assert scores.table["score"].tolist() == [1.0, 0.0]
    higher = score(*random_tables(0), FULL)
    pd.testing.assert_frame_equal(higher.oriented(), higher.table)


def test_by_unit_merges_the_folds() -> None:
    scores = score(*random_tables(2), FULL)
    units = scores.by_unit()
    assert list(units.columns) == ["unit", "cluster", "n", "score", "tie_break", "accuracy", "macro_f1"]
    first = scores.table[scores.table["unit"] == "s0"]
    assert units["unit"].tolist() == [f"s{code}" for code in range(7)]
    assert units["n"][0] == first["n"].sum()
    assert units["score"][0] == pytest.approx(first["score"].mean(), abs=1e-15)
    assert scores.value == pytest.approx(units["score"].mean(), abs=1e-15)


def test_a_result_says_by_which_rules_it_was_made() -> None:
    scores = score(make_predictions(LABELS), make_truth(LABELS), LABELS)
    assert (scores.name, scores.definition, scores.metric) == ("example/faces", "1", "accuracy")
    assert scores.manifest_hash == LABELS.hash
    assert scores.scorer_version == SCORER_VERSION


def test_a_metric_with_a_hole_in_its_rules_fails_and_names_the_unit() -> None:
    manifest = make_manifest(metric="test_hole")
    with pytest.raises(
        NeuroarenaError, match='"test_hole" returned no finite score for unit "u1", fold "0"'
    ) as error:
        score(make_predictions(manifest), make_truth(manifest), manifest)
    assert not isinstance(error.value, InputError)


def test_unit_scores_survive_a_round_trip(tmp_path: Path) -> None:
    scores = score(*random_tables(4), FULL)
    scores.write(tmp_path / "s.parquet")
    again = UnitScores.read(tmp_path / "s.parquet")
    pd.testing.assert_frame_equal(again.table, scores.table, check_exact=True)
    for field in ("name", "definition", "manifest_hash", "metric", "tie_break", "combiner", "directions"):
        assert getattr(again, field) == getattr(scores, field)
    assert again.value == scores.value


def test_two_writes_of_the_same_scores_are_byte_identical(tmp_path: Path) -> None:
    predictions, truth = random_tables(4)
    score(predictions, truth, FULL).write(tmp_path / "one.parquet")
    shuffled = score(predictions.sample(frac=1, random_state=1), truth, FULL)
    shuffled.write(tmp_path / "two.parquet")
    UnitScores.read(tmp_path / "two.parquet").write(tmp_path / "three.parquet")
    first = (tmp_path / "one.parquet").read_bytes()
    assert first == (tmp_path / "two.parquet").read_bytes()
    assert first == (tmp_path / "three.parquet").read_bytes()


def _rewritten(path: Path, change: Any) -> None:
    """Write good unit scores, then change the arrow table and write it back."""
    score(make_predictions(LABELS), make_truth(LABELS), LABELS).write(path)
    table = change(pq.read_table(path))
    pq.write_table(table, path)


def _without_metadata(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({})


def _said(old: bytes, new: bytes) -> Any:
    def change(table: pa.Table) -> pa.Table:
        said = table.schema.metadata[b"neuroarena"]
        assert old in said
        return table.replace_schema_metadata({b"neuroarena": said.replace(old, new)})

    return change


def _with_scores(values: Any) -> Any:
    return lambda table: table.set_column(table.schema.get_field_index("score"), "score", pa.array(values))


SCORE_FILE_REFUSALS: dict[str, tuple[Any, str]] = {
    "no metadata": (_without_metadata, "holds no unit scores"),
    "broken metadata": (_said(b"{", b"<"), "holds no unit scores"),
    "another schema": (_said(b'"schema_version":1', b'"schema_version":9'), "schema version 9, expected 1"),
    "no metric": (_said(b'"metric"', b'"metrik"'), 'does not say its "metric"'),
    "no direction": (_said(b'"higher"', b'"upper"'), 'does not say its "directions"'),
    "no score": (lambda table: table.drop_columns(["score"]), 'column "score" is missing'),
    "a NaN": (_with_scores([0.5, float("nan")]), 'row 1: "score" is not finite'),
    "text": (_with_scores(["a", "b"]), '"score" holds no numbers'),
}


@pytest.mark.parametrize(("change", "phrase"), SCORE_FILE_REFUSALS.values(), ids=SCORE_FILE_REFUSALS.keys())
def test_a_file_that_holds_no_unit_scores_is_refused(tmp_path: Path, change: Any, phrase: str) -> None:
    path = tmp_path / "s.parquet"
    _rewritten(path, change)
    with pytest.raises(InputError) as refusal:
        UnitScores.read(path)
    assert str(refusal.value).startswith("s.parquet: ")
    assert phrase in str(refusal.value)


def test_predictions_are_not_unit_scores(tmp_path: Path) -> None:
    write_predictions(tmp_path / "p.parquet", make_predictions(LABELS), LABELS)
    with pytest.raises(InputError, match="holds no unit scores"):
        UnitScores.read(tmp_path / "p.parquet")
