"""Every refusal of the scorer: what is done to good tables, and the words that must come back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, check_metadata, check_predictions, check_truth, score

from .tables import (
    IDS,
    LABELS,
    NUMBERS,
    PROBABILITIES,
    TEXTS,
    VECTORS,
    make_manifest,
    make_predictions,
    make_truth,
)

Change = Callable[[pd.DataFrame], Any]


def put(column: str, row: int, value: Any, dtype: Any = object) -> Change:
    """Put a value into one cell of a column."""

    def change(table: pd.DataFrame) -> pd.DataFrame:
        values = list(table[column])
        values[row] = value
        return table.assign(**{column: pd.Series(values, dtype=dtype)})

    return change


def whole(column: str, values: Any) -> Change:
    """Replace a whole column."""
    return lambda table: table.assign(**{column: values})


def twice(table: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([table, table[["id"]]], axis=1)


def without(*columns: str) -> Change:
    return lambda table: table.drop(columns=list(columns))


def rows(*positions: int) -> Change:
    return lambda table: table.iloc[list(positions)].reset_index(drop=True)


PREDICTION_REFUSALS: dict[str, tuple[Manifest, Change, tuple[str, ...]]] = {
    "not a table": (LABELS, lambda table: table.to_dict(), ("expected a table", "got dict")),
    "an array": (LABELS, lambda table: table.to_numpy(), ("expected a table", "got ndarray")),
    "no rows": (LABELS, rows(), ("has no rows",)),
    "no id column": (LABELS, without("id"), ('column "id" is missing', "expected id, label")),
    "ids that are numbers": (LABELS, whole("id", range(6)), ("row 0", "id must be text, got int")),
    "one id that is a number": (LABELS, put("id", 4, 7), ("row 4", "id must be text", '"7"')),
    "an id of bytes": (LABELS, put("id", 2, b"c"), ("row 2", "id must be text, got bytes")),
    "a null id": (LABELS, put("id", 3, None), ("row 3", "id is missing")),
    "a null id in a column of text": (LABELS, put("id", 3, None, "str"), ("row 3", "id is missing")),
    "an empty id": (LABELS, put("id", 3, ""), ("row 3", "id is empty")),
    "an id with a NUL byte": (LABELS, put("id", 3, "d\0"), ("row 3", "id holds a NUL byte")),
    "an id beyond UTF-8": (LABELS, put("id", 3, "\ud800"), ("row 3", "cannot be written as UTF-8")),
    "an endless id": (LABELS, put("id", 3, "d" * 2000), ("row 3", "longer than 1024 bytes")),
    "one missing id": (LABELS, rows(0, 1, 2, 3, 4), ("1 of 6 ids have no prediction", 'first "f"')),
    "many missing ids": (LABELS, rows(5), ("5 of 6 ids have no prediction", 'first "a", "b", "c"')),
    "a duplicate id": (LABELS, put("id", 4, "b"), ("row 4", '(id "b")', "rows 1 and 4")),
    "a row given twice": (LABELS, rows(0, 1, 2, 3, 4, 5, 2), ("row 6", "rows 2 and 6")),
    "an unknown id": (LABELS, put("id", 2, "zz"), ("row 2", '(id "zz")', "the id is unknown")),
    "an id too many": (
        LABELS,
        lambda table: pd.concat([table, pd.DataFrame({"id": ["g"], "label": ["face"]})], ignore_index=True),
        ("row 6", '(id "g")', "the id is unknown"),
    ),
    "no prediction column": (LABELS, without("label"), ('column "label" is missing', 'got "id"')),
    "a probability column short": (PROBABILITIES, without("p_yes"), ('column "p_yes" is missing',)),
    "an extra column": (LABELS, whole("confidence", 1.0), ('column "confidence" is not expected',)),
    "a column twice": (LABELS, twice, ('column "id" occurs twice',)),
    "text where a number is due": (NUMBERS, whole("number", "high"), ("row 0", "must be a number", '"high"')),
    "numbers kept as text": (NUMBERS, whole("number", "1.5"), ("row 0", "must be a number, got text")),
    "one number that is text": (NUMBERS, put("number", 4, "5.0"), ("row 4", "must be a number, got text")),
    "a column of booleans": (NUMBERS, whole("number", True), ("row 0", "must be a number, got a boolean")),
    "a boolean among numbers": (NUMBERS, put("number", 2, True), ("row 2", "got a boolean")),
    "complex numbers": (NUMBERS, whole("number", 1j), ("row 0", "must be a number, got complex")),
    "dates": (
        NUMBERS,
        whole("number", pd.Timestamp("2026-01-01")),
        ("row 0", "must be a number, got Timestamp"),
    ),
    "a list among numbers": (NUMBERS, put("number", 1, [2.0]), ("row 1", "must be a number, got list")),
    "a missing number": (NUMBERS, put("number", 1, None), ("row 1", '(id "b")', "is missing or NaN")),
    "a masked number": (NUMBERS, put("number", 1, pd.NA, "Float64"), ("row 1", "number is NaN")),
    "NaN": (NUMBERS, put("number", 5, np.nan, float), ("row 5", '(id "f")', "NaN", "must be finite")),
    "+infinity": (NUMBERS, put("number", 0, np.inf, float), ("row 0", "+infinity", "must be finite")),
    "-infinity": (NUMBERS, put("number", 3, -np.inf, float), ("row 3", "-infinity", "must be finite")),
    "a whole number of 400 digits": (NUMBERS, put("number", 1, 10**400), ("beyond double precision",)),
    "a NaN probability": (PROBABILITIES, put("p_no", 2, np.nan, float), ("row 2", "p_no is NaN")),
    "a probability below 0": (
        PROBABILITIES,
        lambda table: table.assign(p_no=[1.25] + [0.5] * 5, p_yes=[-0.25] + [0.5] * 5),
        ("row 0", "p_no is 1.25, above 1"),
    ),
    "a tiny negative probability": (
        PROBABILITIES,
        put("p_yes", 1, -1e-9, float),
        ("row 1", "p_yes is -1e-09, below 0"),
    ),
    "a probability above 1": (PROBABILITIES, put("p_yes", 1, 1.5, float), ("row 1", "p_yes is 1.5, above 1")),
    "probabilities that sum to 1.2": (
        PROBABILITIES,
        put("p_yes", 4, 0.7, float),
        ("row 4", "sum to 1.2, expected 1"),
    ),
    "percentages": (PROBABILITIES, whole("p_no", 90), ("row 0", "p_no is 90, above 1")),
    "a label of no class": (LABELS, put("label", 2, "piano"), ("row 2", '"piano" is not one of the classes')),
    "a label misspelt": (LABELS, put("label", 2, "hous"), ("row 2", 'did you mean "house"?')),
    "a null label": (LABELS, put("label", 5, None), ("row 5", "label is missing", '"face", "house", "tool"')),
    "a label that is a fraction": (LABELS, whole("label", 0.5), ("row 0", "must be text or a whole number")),
    "a label that is a boolean": (LABELS, put("label", 1, True), ("row 1", "must be text or a whole number")),
    "a vector too short": (VECTORS, put("vector", 2, [1.0]), ("row 2", "has 1 numbers, expected 2")),
    "vectors that are all too long": (
        VECTORS,
        whole("vector", [[1.0, 2.0, 3.0]] * 6),
        ("row 0", "has 3 numbers, expected 2"),
    ),
    "a ragged vector": (VECTORS, put("vector", 2, [[1.0], [1.0, 2.0]]), ("row 2", "must hold numbers only")),
    "a matrix for a vector": (
        VECTORS,
        put("vector", 2, np.ones((2, 2))),
        ("row 2", "must hold numbers only"),
    ),
    "NaN inside a vector": (VECTORS, put("vector", 3, [0.0, np.nan]), ("row 3", "NaN at position 1")),
    "infinity inside a vector": (
        VECTORS,
        put("vector", 3, [np.inf, 0.0]),
        ("row 3", "+infinity at position 0"),
    ),
    "None inside a vector": (VECTORS, put("vector", 3, [1.0, None]), ("row 3", "must hold numbers only")),
    "text for a vector": (VECTORS, put("vector", 1, "12"), ("row 1", "must be a list of numbers, got str")),
    "no vector": (VECTORS, put("vector", 1, None), ("row 1", "must be a list of numbers, got nothing")),
    "a null text": (TEXTS, put("text", 1, None), ("row 1", "text is missing")),
    "a text that is a number": (TEXTS, put("text", 1, 5), ("row 1", "text must be text, got int")),
    "a NUL byte in a text": (TEXTS, put("text", 1, "on\0e"), ("row 1", "text holds a NUL byte")),
}


@pytest.mark.parametrize(
    ("manifest", "change", "phrases"), PREDICTION_REFUSALS.values(), ids=PREDICTION_REFUSALS.keys()
)
def test_bad_predictions_are_refused_by_name_and_row(
    manifest: Manifest, change: Change, phrases: tuple[str, ...]
) -> None:
    truth = make_truth(manifest)
    bad = change(make_predictions(manifest))
    with pytest.raises(InputError) as refusal:
        check_predictions(bad, truth, manifest, source="team7.parquet")
    message = str(refusal.value)
    assert message.startswith("team7.parquet: ")
    assert message.endswith("Nothing was scored.")
    assert "\n" not in message
    for phrase in phrases:
        assert phrase in message
    with pytest.raises(InputError) as again:
        score(bad, truth, manifest, source="team7.parquet")
    assert str(again.value) == message


@pytest.mark.parametrize(
    "manifest", [LABELS, PROBABILITIES, NUMBERS, VECTORS, TEXTS], ids=lambda m: m.prediction
)
def test_good_tables_of_every_kind_are_accepted(manifest: Manifest) -> None:
    check_truth(make_truth(manifest), manifest)
    check_predictions(make_predictions(manifest), make_truth(manifest), manifest)


CLUSTERED = make_manifest(cluster="subject")

TRUTH_REFUSALS: dict[str, tuple[Manifest, Change, tuple[str, ...]]] = {
    "not a table": (LABELS, lambda table: [1, 2], ("expected a table", "got list")),
    "no rows": (LABELS, rows(), ("has no rows",)),
    "a missing column": (LABELS, without("cluster"), ('column "cluster" is missing',)),
    "no target": (LABELS, without("target"), ('column "target" is missing',)),
    "a duplicate id": (LABELS, put("id", 3, "a"), ("row 3", "rows 0 and 3")),
    "an unknown class": (LABELS, put("target", 1, "cat"), ("row 1", '(id "b")', "not one of the classes")),
    "a missing class": (LABELS, put("target", 1, None), ("row 1", "target is missing")),
    "a class as a fraction": (LABELS, whole("target", 1.0), ("row 0", "must be text or a whole number")),
    "a NaN target": (NUMBERS, put("target", 2, np.nan, float), ("row 2", "target is NaN")),
    "an infinite target": (NUMBERS, put("target", 2, np.inf, float), ("row 2", "target is +infinity")),
    "a target vector of another length": (VECTORS, put("target", 2, [1.0]), ("row 2", "has 1 numbers")),
    "a null text": (TEXTS, put("target", 2, None), ("row 2", "target is missing")),
    "a unit that the metric cannot judge": (
        TEXTS,
        whole("target", ["", "", "", "x", "y", "z"]),
        ('unit "u1"', "the reference is empty", "metric test_exact"),
    ),
    "one class only in a unit": (
        PROBABILITIES,
        whole("target", ["no", "yes", "no", "yes", "yes", "yes"]),
        ('unit "u2", fold "0"', 'only the class "yes" occurs', "AUROC needs two"),
    ),
    "one class only in a fold": (
        PROBABILITIES,
        whole("fold", ["0", "0", "1", "0", "0", "0"]),
        ('unit "u1", fold "1"', 'only the class "no" occurs'),
    ),
    "an empty unit": (LABELS, put("unit", 2, ""), ("row 2", "unit is empty")),
    "a null unit": (LABELS, put("unit", 2, None), ("row 2", "unit is missing")),
    "a null fold": (LABELS, put("fold", 2, None), ("row 2", "fold is missing")),
    "a fold that is a number": (LABELS, whole("fold", 0), ("row 0", "fold must be text, got int")),
    "a null cluster": (LABELS, put("cluster", 2, None), ("row 2", "cluster is missing")),
    "an empty cluster where clusters count": (
        CLUSTERED,
        put("cluster", 2, ""),
        ("row 2", "cluster is empty"),
    ),
    "a unit in two clusters": (
        LABELS,
        put("cluster", 1, "p2"),
        ('unit "u1"', '"p1" in row 0', '"p2"', "one cluster per unit"),
    ),
}


@pytest.mark.parametrize(
    ("manifest", "change", "phrases"), TRUTH_REFUSALS.values(), ids=TRUTH_REFUSALS.keys()
)
def test_a_bad_truth_is_refused_by_name_and_row(
    manifest: Manifest, change: Change, phrases: tuple[str, ...]
) -> None:
    bad = change(make_truth(manifest))
    with pytest.raises(InputError) as refusal:
        check_truth(bad, manifest)
    message = str(refusal.value)
    assert message.startswith("truth: ")
    assert message.endswith("Nothing was scored.")
    for phrase in phrases:
        assert phrase in message
    with pytest.raises(InputError, match=r"^truth: "):
        score(make_predictions(manifest), bad, manifest)


METADATA_REFUSALS: dict[str, tuple[str | bytes, str]] = {
    "another task": ('{"benchmark": "example/houses"}', "names the benchmark"),
    "another definition": ('{"definition": "0"}', "names the definition"),
    "another manifest": ('{"manifest": "abc"}', 'names the manifest "abc"'),
    "a hash that is a number": ('{"manifest": 5}', 'names the manifest "5"'),
    "no JSON": (b"\xff\x00", "not a JSON object"),
    "a list": ("[]", "not a JSON object"),
    "another track": ('{"track": "houses"}', 'names the track "houses", expected "example"'),
    "nested without end": ("[" * 60_000, "not a JSON object"),
    "too long": ('{"model": "' + "m" * 70_000 + '"}', "take 70013 bytes; the limit is 65536"),
}


@pytest.mark.parametrize(("metadata", "phrase"), METADATA_REFUSALS.values(), ids=METADATA_REFUSALS.keys())
def test_metadata_of_another_task_are_refused(metadata: str | bytes, phrase: str) -> None:
    with pytest.raises(InputError, match=phrase) as refusal:
        check_metadata(metadata, LABELS, "team7.parquet")
    assert str(refusal.value).startswith("team7.parquet: ")
    assert str(refusal.value).endswith("Nothing was scored.")


def test_a_participant_without_the_answers_gets_the_same_verdict() -> None:
    only_ids = make_truth(LABELS)[["id"]]
    check_predictions(make_predictions(LABELS), only_ids, LABELS)
    with pytest.raises(InputError, match="1 of 6 ids"):
        check_predictions(make_predictions(LABELS).iloc[1:], only_ids, LABELS)


def test_the_length_of_vectors_may_be_fixed_by_the_manifest() -> None:
    capped = VECTORS.replace(caps={"vector_length": 3})
    with pytest.raises(InputError, match="has 2 numbers, expected 3"):
        check_predictions(make_predictions(capped), make_truth(capped)[["id"]], capped)


def test_whole_number_labels_are_compared_as_text() -> None:
    manifest = make_manifest(classes=("0", "1", "2"))
    truth = make_truth(LABELS).assign(target=[0, 1, 2, 0, 1, 2])
    for labels in ([0, 1, 2, 0, 1, 2], ["0", "1", "2", "0", "1", "2"], pd.Categorical([0, 1, 2, 0, 1, 2])):
        assert score(pd.DataFrame({"id": IDS, "label": labels}), truth, manifest).value == 1.0


def test_an_empty_text_is_a_prediction() -> None:
    predictions = make_predictions(TEXTS).assign(text="")
    assert score(predictions, make_truth(TEXTS), TEXTS).value == 0.0


def test_a_stranger_cannot_write_lines_into_a_message() -> None:
    bad = put("id", 2, "x\nrow 3: all is well\x1b[2J" + "y" * 500)(make_predictions(LABELS))
    with pytest.raises(InputError) as refusal:
        check_predictions(bad, make_truth(LABELS), LABELS)
    assert str(refusal.value).isprintable()
    assert len(str(refusal.value)) < 250
