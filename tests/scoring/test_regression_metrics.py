"""Metrics of numbers against scikit-learn, by hand, and their bootstrap by recomputation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import mean_absolute_error, median_absolute_error, r2_score, root_mean_squared_error

from neuroarena.errors import InputError
from neuroarena.scoring import UnitScores, check_truth, columns_of, combine, score

from .tables import make_manifest


def rules(metric: str, **changes: Any) -> Any:
    return make_manifest(name="example/time", metric=metric, prediction="number", classes=(), **changes)


def tables(prediction: Any, target: Any, unit: Any = None) -> tuple[pd.DataFrame, pd.DataFrame]:
    ids = [f"e{row:04d}" for row in range(len(target))]
    truth = pd.DataFrame({"id": ids, "fold": "0", "unit": ids if unit is None else unit, "cluster": ""})
    truth["target"] = np.asarray(target, dtype=np.float64)
    return pd.DataFrame({"id": ids, "number": np.asarray(prediction, dtype=np.float64)}), truth


def scored(metric: str, prediction: Any, target: Any, unit: Any = None, **changes: Any) -> UnitScores:
    return score(*tables(prediction, target, unit), rules(metric, **changes))


def some(seed: int, n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    target = rng.gamma(2, 100, n).astype(np.float32).astype(np.float64)
    return target + rng.normal(0, 60, n), target


@given(st.integers(0, 2**32 - 1), st.integers(2, 80))
def test_one_unit_equals_scikit_learn(seed: int, n: int) -> None:
    prediction, target = some(seed, n)
    rmse = root_mean_squared_error(target, prediction)
    expected = {
        "mae": mean_absolute_error(target, prediction),
        "median_absolute_error": median_absolute_error(target, prediction),
        "rmse": rmse,
        "nrmse": rmse / target.std(),
        "r2": r2_score(target, prediction),
    }
    for name, wanted in expected.items():
        found = scored(name, prediction, target, unit="one")
        assert found.value == pytest.approx(wanted, rel=1e-9)
        assert found.table["score"].iloc[0] == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("name", ["rmse", "nrmse", "r2"])
def test_pooled_metrics_do_not_depend_on_how_rows_are_cut_into_units(name: str) -> None:
    prediction, target = some(1)
    unit = [f"u{row % 7}" for row in range(60)]
    assert scored(name, prediction, target, unit).value == pytest.approx(
        scored(name, prediction, target, "one").value, rel=1e-12
    )


def test_the_mean_of_the_targets_has_an_nrmse_of_one() -> None:
    _, target = some(2)
    found = scored("nrmse", np.full(60, target.mean()), target, [f"u{row % 5}" for row in range(60)])
    assert found.value == pytest.approx(1.0, abs=1e-12)


def test_targets_of_nrmse_are_kept_in_single_precision() -> None:
    rng = np.random.default_rng(3)
    target = 1000 + 1e-4 * rng.standard_normal(200)
    prediction = target + 1e-4 * rng.standard_normal(200)
    kept = target.astype(np.float32).astype(np.float64)
    expected = np.sqrt(np.mean((prediction - kept) ** 2)) / kept.std()
    assert scored("nrmse", prediction, target, "one").table["score"].iloc[0] == pytest.approx(
        expected, rel=1e-9
    )
    assert scored("nrmse", kept, target, "one").table["score"].iloc[0] == 0.0


@pytest.mark.parametrize("name", ["nrmse", "r2", "rmse"])
def test_the_bootstrap_of_a_pooled_metric_equals_recomputing_every_draw(name: str) -> None:
    rng = np.random.default_rng(4)
    prediction, target = some(5, 120)
    unit = np.array([f"u{code:02d}" for code in rng.integers(0, 15, 120)])
    manifest = rules(name)
    found = score(*tables(prediction, target, unit), manifest)
    columns = columns_of(found, manifest)
    units = np.unique(unit)
    drawn = rng.integers(0, len(units), (300, len(units)))
    counts = np.stack([np.bincount(draw, minlength=len(units)) for draw in drawn])
    fast = combine(manifest.combiner, {key: counts @ column for key, column in columns.items()})
    slow = []
    for draw in drawn:
        rows = np.concatenate([np.flatnonzero(unit == units[code]) for code in draw])
        rmse = root_mean_squared_error(target[rows], prediction[rows])
        by_name = {
            "rmse": rmse,
            "nrmse": rmse / target[rows].std(),
            "r2": r2_score(target[rows], prediction[rows]),
        }
        slow.append(by_name[name])
    np.testing.assert_allclose(fast, slow, rtol=1e-10)
    interval = np.quantile(fast, [0.025, 0.975])
    np.testing.assert_allclose(interval, np.quantile(slow, [0.025, 0.975]), rtol=1e-10)


def binned_by_hand(prediction: np.ndarray, target: np.ndarray, weights: list[float]) -> float:
    bins = [(0, 40), (40, 90), (90, 300), (300, np.inf)]
    parts = []
    for (low, high), weight in zip(bins, weights, strict=True):
        inside = (target >= low) & (target < high)
        if inside.any():
            parts.append((weight, np.abs(prediction - target)[inside].mean()))
    return sum(weight * error for weight, error in parts) / sum(weight for weight, _ in parts)


@pytest.mark.parametrize(
    ("name", "weights"), [("binned_mae", [1, 1, 1, 1]), ("binned_mae_weighted", [10, 5, 3, 1])]
)
@pytest.mark.parametrize("beside", [False, True])
def test_binned_errors_are_means_of_bins_over_all_units(
    name: str, weights: list[float], beside: bool
) -> None:
    for seed in range(5):
        prediction, target = some(seed, 40)
        expected = binned_by_hand(prediction, target, weights)
        if beside:
            found = scored("mae", prediction, target, additional_metrics=(name,)).values()[name]
        else:
            found = scored(name, prediction, target).value
        assert found == pytest.approx(expected, rel=1e-12)


def test_the_edges_of_the_bins_belong_to_the_next_one_and_nothing_is_dropped() -> None:
    target = [0.0, 39.9, 40.0, 89.0, 90.0, 299.0, 300.0, 600.0, 5000.0]
    found = scored("binned_mae", [value + 1 for value in target], target, "one").table.iloc[0]
    assert [found[f"n_{edge}"] for edge in (0, 40, 90, 300)] == [2.0, 2.0, 2.0, 3.0]
    assert found["score"] == pytest.approx(1.0)


def test_an_empty_bin_has_no_weight() -> None:
    assert scored("binned_mae_weighted", [14.0, 310.0], [10.0, 300.0], "one").value == pytest.approx(
        (10 * 4 + 1 * 10) / 11
    )


def test_the_median_breaks_ties_by_the_median_over_units() -> None:
    # Errors of five recordings: 1, 2, 3, 4, 90. The mean is 20, the median 3.
    found = scored("mae", [1.0, 2.0, 3.0, 4.0, 90.0], [0.0] * 5, tie_break="median_absolute_error")
    assert found.values() == {"mae": 20.0, "median_absolute_error": 3.0}


def test_values_survive_a_round_trip_through_the_file(tmp_path: Any) -> None:
    prediction, target = some(6)
    names = ("binned_mae", "rmse", "nrmse")
    found = scored("mae", prediction, target, [f"u{row % 9}" for row in range(60)], additional_metrics=names)
    found.write(tmp_path / "scores.parquet")
    again = UnitScores.read(tmp_path / "scores.parquet")
    assert again.values() == found.values()
    assert found.values()["rmse"] == pytest.approx(root_mean_squared_error(target, prediction))


BAD_TRUTHS: dict[str, tuple[str, list[float], str]] = {
    "equal targets": ("nrmse", [2.0, 2.0, 2.0], "every target is 2, and an error cannot be measured"),
    "equal in single precision": ("nrmse", [1.0, 1.0 + 1e-12], "every target is 1"),
    "equal targets for r2": ("r2", [0.0, 0.0], "every target is 0"),
    "beyond single precision": ("nrmse", [1.0, 1e39], "beyond single precision"),
    "a time before zero": ("binned_mae", [3.0, -1.0], "the target -1 is below zero"),
}


@pytest.mark.parametrize(("name", "target", "phrase"), BAD_TRUTHS.values(), ids=BAD_TRUTHS.keys())
def test_a_truth_that_leaves_a_metric_undefined_is_refused_by_name(
    name: str, target: list[float], phrase: str
) -> None:
    _, truth = tables(target, target)
    with pytest.raises(InputError, match=phrase) as refusal:
        check_truth(truth, rules(name))
    assert f"(metric {name})" in str(refusal.value)


def test_a_number_that_squares_to_infinity_is_refused_by_row() -> None:
    prediction, target = some(7)
    prediction[5] = -1e200
    with pytest.raises(
        InputError, match=r'row 5 \(id "e0005"\): number is -1e\+200; expected a number up to'
    ):
        scored("nrmse", prediction, target)
