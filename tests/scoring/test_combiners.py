"""Combiners: sums over units, multiplied by counts, give what a recomputation gives."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError, UnknownName
from neuroarena.scoring import (
    COMBINERS,
    Combiner,
    Manifest,
    UnitScores,
    columns_of,
    combine,
    score,
    track_score,
)

from .tables import LABELS, NUMBERS, make_manifest, make_predictions, make_truth


def _nrmse(sums: Mapping[str, np.ndarray]) -> np.ndarray:
    spread = sums["sum_y2"] / sums["n"] - (sums["sum_y"] / sums["n"]) ** 2
    return np.sqrt(sums["sse"] / sums["n"]) / np.sqrt(spread)


COMBINERS.register("test_nrmse")(
    Combiner("test_nrmse", ("n", "sse", "sum_y", "sum_y2"), _nrmse, "RMSE / standard deviation")
)


def random_numbers(rng: np.random.Generator, rows: int = 200) -> tuple[pd.DataFrame, pd.DataFrame]:
    ids = [f"e{row:03d}" for row in range(rows)]
    unit = rng.integers(0, 12, rows)
    truth = pd.DataFrame(
        {
            "id": ids,
            "fold": [str(fold) for fold in rng.integers(0, 3, rows)],
            "unit": [f"u{code:02d}" for code in unit],
            "cluster": [f"c{code % 4}" for code in unit],
            "target": rng.normal(5, 2, rows),
        }
    )
    return pd.DataFrame({"id": ids, "number": truth["target"] + rng.normal(0, 1, rows)}), truth


def scored(manifest: Manifest, rng: np.random.Generator) -> tuple[UnitScores, pd.DataFrame]:
    predictions, truth = random_numbers(rng)
    return score(predictions, truth, manifest), truth.merge(predictions, on="id")


def test_the_mean_weighs_units_and_not_folds_or_examples() -> None:
    # u1: fold 0 scores 1/1, fold 1 scores 0/2 -> 0.5. u2: one fold, 3 of 3 -> 1. Mean 0.75.
    truth = make_truth(LABELS).assign(fold=["0", "1", "1", "0", "0", "0"])
    predictions = make_predictions(LABELS).assign(label=["face", "tool", "face", "face", "house", "tool"])
    scores = score(predictions, truth, LABELS)
    columns = columns_of(scores, LABELS)
    assert columns["score"].tolist() == [0.5, 1.0]
    assert columns["count"].tolist() == [1.0, 1.0]
    assert scores.value == track_score(columns, "mean") == 0.75


def test_the_ratio_pools_what_the_metric_names() -> None:
    manifest = make_manifest(combiner="ratio")
    truth = make_truth(manifest).assign(unit=["u1"] + ["u2"] * 5)
    predictions = make_predictions(manifest).assign(label="face")
    scores = score(predictions, truth, manifest)
    columns = columns_of(scores, manifest)
    assert columns["numerator"].tolist() == [1.0, 1.0]
    assert columns["denominator"].tolist() == [1.0, 5.0]
    assert scores.value == pytest.approx(2 / 6)


def test_another_combiner_can_be_asked_for_beside_the_headline() -> None:
    scores = score(make_predictions(LABELS), make_truth(LABELS), LABELS)
    assert track_score(columns_of(scores, LABELS, combiner="ratio"), "ratio") == 1.0


def test_an_nrmse_can_be_registered_and_equals_a_recomputation() -> None:
    manifest = NUMBERS.replace(combiner="test_nrmse")
    scores, rows = scored(manifest, np.random.default_rng(0))
    expected = np.sqrt(np.mean((rows["number"] - rows["target"]) ** 2)) / np.std(rows["target"])
    assert scores.value == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("combiner", ["mean", "test_nrmse"])
def test_draws_equal_a_recomputation_from_the_drawn_units(combiner: str) -> None:
    manifest = NUMBERS.replace(combiner=combiner)
    rng = np.random.default_rng(1)
    scores, rows = scored(manifest, rng)
    columns = columns_of(scores, manifest)
    units = scores.by_unit()
    draws = rng.integers(0, len(units), (50, len(units)))
    counts = np.stack([np.bincount(draw, minlength=len(units)) for draw in draws])
    values = combine(combiner, {name: counts @ column for name, column in columns.items()})
    for drawn, got in zip(draws, values, strict=True):
        if combiner == "mean":
            expected = units["score"].to_numpy()[drawn].mean()
        else:
            pool = pd.concat([rows[rows["unit"] == units["unit"][unit]] for unit in drawn])
            expected = np.sqrt(np.mean((pool["number"] - pool["target"]) ** 2)) / np.std(pool["target"])
        assert got == pytest.approx(expected, rel=1e-12)


def test_sums_of_any_shape_are_combined_element_by_element() -> None:
    sums = {"score": np.arange(6.0).reshape(3, 2), "count": np.full((3, 1), 2.0)}
    assert combine("mean", sums).tolist() == [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]]


def test_an_undefined_combination_is_refused_and_counted() -> None:
    sums = {"numerator": np.array([0.0, 1.0, 1.0]), "denominator": np.array([0.0, 0.0, 2.0])}
    with pytest.raises(InputError, match='"ratio" is undefined for 2 of 3 sums'):
        combine("ratio", sums)


def test_a_missing_column_is_refused_by_name() -> None:
    with pytest.raises(InputError, match='"mean" needs the column "count"; got score'):
        combine("mean", {"score": np.ones(3)})
    scores = score(make_predictions(LABELS), make_truth(LABELS), LABELS)
    with pytest.raises(
        InputError, match='needs the column "sse", which the metric "accuracy" does not provide'
    ):
        columns_of(scores, LABELS, combiner="test_nrmse")


def test_an_unknown_combiner_is_refused() -> None:
    with pytest.raises(UnknownName, match='No combiner "meen"'):
        combine("meen", {})


def test_scores_of_another_manifest_are_refused() -> None:
    scores = score(make_predictions(LABELS), make_truth(LABELS), LABELS)
    with pytest.raises(InputError, match="were made with manifest"):
        columns_of(scores, LABELS.replace(title="Other"))
