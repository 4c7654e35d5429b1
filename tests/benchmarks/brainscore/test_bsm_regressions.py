"""Regressions against scikit-learn, split by split."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
import xarray as xr
from bsm_arrays import assembly, pair
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from neuroarena.benchmarks.brainscore.errors import AlignmentError
from neuroarena.benchmarks.brainscore.metrics import METRIC_FACTORIES, CrossRegressedCorrelation
from neuroarena.benchmarks.brainscore.metrics.pls import PartialLeastSquares
from neuroarena.benchmarks.brainscore.metrics.regressions import (
    BestUnit,
    LeastSquares,
    Ridge,
    RidgeCV,
    ridge_alphas,
)
from neuroarena.benchmarks.brainscore.metrics.splits import CrossValidation

SPLITS = [(np.arange(0, 70), np.arange(70, 90)), (np.arange(20, 90), np.arange(0, 20))]


def drawn(n: int, p: int, q: int, seed: int = 0, dtype: Any = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, 12)) @ rng.normal(size=(12, p)) + 0.3 * rng.normal(size=(n, p)) + 3
    y = x @ rng.normal(size=(p, q)) / p + rng.normal(size=(n, q)) - 2
    return x.astype(dtype), y.astype(dtype)


def correlations(predicted: np.ndarray, target: np.ndarray) -> list[float]:
    return [pearsonr(a, b)[0] for a, b in zip(predicted.T, target.T, strict=True)]


@pytest.mark.parametrize(
    ("p", "q", "dtype"),
    [
        (40, 7, np.float64),
        (40, 7, np.float32),
        (300, 7, np.float64),
        (300, 7, np.float32),
        (30, 60, np.float64),
        (40, 1, np.float64),
        (89, 5, np.float64),
    ],
)
def test_pls_gives_the_correlations_of_sklearn(p: int, q: int, dtype: Any):
    x, y = drawn(90, p, q, dtype=dtype)
    predictions = PartialLeastSquares(n_components=25).cross_predict(x, y, SPLITS)
    for (train, test), predicted in zip(SPLITS, predictions, strict=True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # sklearn says so when a component takes all 500 rounds
            fitted = PLSRegression(25, scale=False).fit(x[train], y[train])
        expected = correlations(fitted.predict(x[test]).reshape(len(test), q), y[test])
        np.testing.assert_allclose(correlations(predicted, y[test]), expected, atol=1e-6)


def test_pls_starts_from_the_first_target_that_varies_as_sklearn_does():
    x, y = drawn(90, 40, 4)
    y[:, 0] = 5.0
    train, test = SPLITS[0]
    predicted = next(PartialLeastSquares(10).cross_predict(x, y, SPLITS[:1]))
    expected = PLSRegression(10, scale=False).fit(x[train], y[train]).predict(x[test])
    np.testing.assert_allclose(predicted[:, 1:], expected[:, 1:], atol=1e-8)
    assert (predicted[:, 0] == 5.0).all()


def test_pls_stops_when_the_targets_are_explained():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(90, 30))
    y = x[:, :1] @ np.ones((1, 2))
    predicted = next(PartialLeastSquares(25).cross_predict(x, y, SPLITS[:1]))
    np.testing.assert_allclose(predicted, y[SPLITS[0][1]], atol=1e-6)


@pytest.mark.parametrize("p", [30, 300])
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (Ridge(alpha=1.0), sklearn.linear_model.Ridge(alpha=1.0)),
        (Ridge(alpha=50.0), sklearn.linear_model.Ridge(alpha=50.0)),
        (LeastSquares(), sklearn.linear_model.LinearRegression()),
        (RidgeCV(), sklearn.linear_model.RidgeCV(alphas=ridge_alphas())),
    ],
    ids=["ridge", "ridge50", "linear", "ridgecv"],
)
def test_linear_regressions_predict_what_sklearn_predicts(ours: Any, theirs: Any, p: int):
    x, y = drawn(90, p, 5)
    for (train, test), predicted in zip(SPLITS, ours.cross_predict(x, y, SPLITS), strict=True):
        np.testing.assert_allclose(predicted, theirs.fit(x[train], y[train]).predict(x[test]), atol=1e-6)


def test_least_squares_of_doubled_features_gives_the_solution_of_smallest_norm():
    x, y = drawn(90, 15, 3)
    x = np.concatenate([x, x], axis=1)
    train, test = SPLITS[0]
    expected = sklearn.linear_model.LinearRegression().fit(x[train], y[train]).predict(x[test])
    np.testing.assert_allclose(next(LeastSquares().cross_predict(x, y, SPLITS)), expected, atol=1e-6)


def test_a_training_part_smaller_than_the_rest_is_fitted_the_same():
    x, y = drawn(90, 20, 3)
    train, test = np.arange(30), np.arange(30, 60)
    expected = sklearn.linear_model.Ridge().fit(x[train], y[train]).predict(x[test])
    np.testing.assert_allclose(next(Ridge().cross_predict(x, y, [(train, test)])), expected, atol=1e-8)
    np.testing.assert_allclose(Ridge().fit(x[train], y[train]).predict(x[test]), expected, atol=1e-8)


def test_the_penalties_of_ridgecv_are_ninety_nine_from_a_hundredth_to_ten_million():
    alphas = ridge_alphas()
    assert len(alphas) == 99
    assert (np.diff(alphas) > 0).all()
    assert alphas[[0, 3, 4, -1]].tolist() == [0.01, 1, 10, 1e7]
    assert [int(((alphas >= 10**k) & (alphas < 10 ** (k + 1))).sum()) for k in (1, 2, 3, 4, 5)] == [
        4,
        18,
        18,
        18,
        18,
    ]


def test_ridgecv_says_which_penalty_each_split_chose():
    source, target = pair()
    score = METRIC_FACTORIES["ridgecv"]()(source, target)
    assert len(score.attrs["alpha"]) == 10
    assert set(score.attrs["alpha"]) <= set(ridge_alphas().tolist())


def test_the_best_unit_is_the_one_with_the_highest_training_correlation_and_never_a_constant_one():
    x, y = drawn(90, 6, 4)
    x[:, 2] = 1.0
    train, test = SPLITS[0]
    r = np.array([[pearsonr(a, b)[0] if np.ptp(a) else -2 for b in y[train].T] for a in x[train].T])
    np.testing.assert_array_equal(
        next(BestUnit().cross_predict(x, y, SPLITS[:1])), x[test][:, r.argmax(axis=0)]
    )


def test_the_score_is_the_mean_over_splits_of_the_median_over_neuroids():
    source, target = pair()
    score = METRIC_FACTORIES["ridge"]()(source, target)
    medians = np.median(score.raw.values, axis=1)
    assert float(score) == pytest.approx(medians.mean(), abs=1e-12)
    assert score.error == pytest.approx(medians.std(ddof=0) / np.sqrt(10), abs=1e-12)
    assert score.raw["neuroid_id"].values.tolist() == target["neuroid_id"].values.tolist()
    assert score.raw["region"].values.tolist() == ["IT"] * 7


def test_an_estimator_of_sklearn_serves_as_regression_and_a_function_as_correlation():
    source, target = pair()
    own = CrossRegressedCorrelation(sklearn.linear_model.Ridge(), lambda a, b: np.array(correlations(a, b)))
    np.testing.assert_allclose(
        own(source, target).raw.values,
        CrossRegressedCorrelation("ridge")(source, target).raw.values,
        atol=1e-9,
    )


def test_reverse_pls_exchanges_the_sides():
    source, target = pair(p=9, q=30)
    reverse = METRIC_FACTORIES["reverse_pls"]()(source, target)
    assert float(reverse) == float(METRIC_FACTORIES["pls"]()(target, source))
    assert reverse.raw.shape == (10, 9)


def test_a_fixed_split_fits_on_one_pair_and_scores_on_the_other_without_error():
    source, target = pair(n=120)
    parts = {"train": slice(0, 90), "test": slice(90, 120)}
    sides = {
        f"{side}_{part}": array.isel(presentation=rows)
        for side, array in (("source", source), ("target", target))
        for part, rows in parts.items()
    }
    score = METRIC_FACTORIES["ridge_split"]()(**sides)
    fitted = sklearn.linear_model.Ridge().fit(source.values[:90], target.values[:90])
    expected = correlations(fitted.predict(source.values[90:]), target.values[90:])
    np.testing.assert_allclose(score.raw.values[0], expected, atol=1e-9)
    assert float(score) == pytest.approx(np.median(expected))
    assert score.error is None
    sides["source_test"] = sides["source_test"].isel(neuroid=slice(0, 39))
    with pytest.raises(AlignmentError, match="same neuroids"):
        METRIC_FACTORIES["ridge_split"]()(**sides)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, StratifiedShuffleSplit(10, train_size=0.9, random_state=1)),
        ({"stratification_coord": None}, ShuffleSplit(10, train_size=0.9, random_state=1)),
        ({"stratification_coord": ""}, ShuffleSplit(10, train_size=0.9, random_state=1)),
        ({"kfold": True, "splits": 5}, StratifiedKFold(5, shuffle=True, random_state=1)),
        ({"kfold": True, "stratification_coord": None}, KFold(10, shuffle=True, random_state=1)),
        ({"train_size": None, "test_size": 0.9}, StratifiedShuffleSplit(10, test_size=0.9, random_state=1)),
    ],
)
@pytest.mark.parametrize("groups", [np.arange(160) % 12, np.array([f"object{at % 8}" for at in range(160)])])
def test_splits_are_those_of_sklearn(options: dict[str, Any], expected: Any, groups: np.ndarray):
    plan = CrossValidation(**options)
    strata = groups if plan.stratification_coord else None
    for (train, test), (train2, test2) in zip(
        plan.divide(160, strata), expected.split(np.empty((160, 1)), groups), strict=True
    ):
        np.testing.assert_array_equal(train, train2)
        np.testing.assert_array_equal(test, test2)


@settings(max_examples=15)
@given(seed=st.integers(0, 10_000), shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_a_shift_and_scale_of_the_responses_changes_no_correlation(seed: int, shift: float, scale: float):
    source, target = pair(n=80, p=10, q=3, seed=seed)
    score = METRIC_FACTORIES["linear_predictivity"]()
    moved: xr.DataArray = assembly(target.values * scale + shift)
    np.testing.assert_allclose(score(source, moved).raw.values, score(source, target).raw.values, atol=1e-7)
