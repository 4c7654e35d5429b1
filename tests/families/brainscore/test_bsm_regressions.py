"""Regressions against scikit-learn, split by split."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import sklearn.linear_model
import xarray as xr
from bsm_arrays import assembly, pair
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr
from sklearn.cross_decomposition import PLSRegression
from sklearn.model_selection import KFold, ShuffleSplit, StratifiedKFold, StratifiedShuffleSplit

from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError
from neuroarena.families.brainscore.metrics import (
    METRIC_FACTORIES,
    CrossRegressedCorrelation,
    SpanTimeRegressedCorrelation,
)
from neuroarena.families.brainscore.metrics.pls import PartialLeastSquares
from neuroarena.families.brainscore.metrics.regressions import (
    BestUnit,
    LeastSquares,
    Ridge,
    RidgeCV,
    ridge_alphas,
)
from neuroarena.families.brainscore.metrics.splits import CrossValidation

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


@pytest.mark.parametrize("shape", [(60, 150), (60, 57), (90, 20), (50, 400)], ids=str)
@pytest.mark.parametrize("noise", [0.1, 3.0], ids=["clean", "noisy"])
def test_ridgecv_chooses_and_predicts_as_scikit_learn_on_every_split(shape, noise):
    rng = np.random.default_rng(shape[1])
    x = rng.normal(size=shape) * np.linspace(3, 0.1, shape[1]) + 5
    y = x[:, :3] @ rng.normal(size=(3, 6)) + noise * rng.normal(size=(shape[0], 6))
    y[:, 5] = 2.5
    splits = CrossValidation(stratification_coord=None).divide(shape[0])
    ours = RidgeCV()
    for (train, test), predicted in zip(
        splits, ours.cross_predict(x.astype(np.float32), y, splits), strict=True
    ):
        theirs = sklearn.linear_model.RidgeCV(alphas=ridge_alphas())
        theirs.fit(x.astype(np.float32)[train].astype(np.float64), y[train])
        assert ours.chosen[-1] == theirs.alpha_
        np.testing.assert_allclose(predicted, theirs.predict(x.astype(np.float32)[test]), atol=1e-6)


def test_penalties_that_are_nearly_as_good_are_compared_in_double_precision():
    """Two penalties that single precision cannot tell apart: the better one is chosen, as scikit-learn does."""
    rng = np.random.default_rng(2)
    x = rng.normal(size=(40, 80))
    y = x @ rng.normal(size=(80, 3)) + rng.normal(size=(40, 3))
    for order in (1, -1):
        alphas = np.array([7.0, 7.0 + 1e-7, 7.0 + 2e-7])[::order]
        fitted = sklearn.linear_model.RidgeCV(alphas=alphas).fit(x[:30], y[:30])
        found = RidgeCV(alphas)
        next(iter(found.cross_predict(x, y, [(np.arange(30), np.arange(30, 40))])))
        assert found.chosen == [fitted.alpha_]


@pytest.mark.parametrize(
    "wrong", [RidgeCV(np.array([])), RidgeCV(np.array([0.0, 1.0])), Ridge(-1.0)], ids=str
)
def test_penalties_that_are_not_positive_are_refused(wrong):
    x = np.arange(20.0).reshape(10, 2)
    with pytest.raises(ConfigError, match="positive number"):
        wrong.fit(x, x[:, :1]).predict(x)


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


@given(seed=st.integers(0, 10_000), shift=st.floats(-100, 100), scale=st.floats(0.01, 100))
def test_a_shift_and_scale_of_the_responses_changes_no_correlation(seed: int, shift: float, scale: float):
    source, target = pair(n=80, p=10, q=3, seed=seed)
    score = METRIC_FACTORIES["linear_predictivity"]()
    moved: xr.DataArray = assembly(target.values * scale + shift)
    np.testing.assert_allclose(score(source, moved).raw.values, score(source, target).raw.values, atol=1e-7)


class SeedCorrelation(CrossRegressedCorrelation):
    """Both hooks as the tutorial writes them: assemblies in, an array over neuroids out."""

    def apply(self, source_train, target_train, source_test, target_test):
        self.regression.fit(source_train, target_train)
        prediction = self.regression.predict(source_test)
        return self.correlation(prediction, target_test)

    def aggregate(self, scores):
        return scores.median(dim="neuroid")


@pytest.mark.parametrize("correlation", ["pearsonr", "spearmanr"])
@pytest.mark.parametrize("regression", ["pls", "ridge", "ridgecv", "linear"])
def test_the_hooks_of_the_tutorial_give_what_the_metric_itself_gives(regression: str, correlation: str):
    source, target = pair(n=80, p=30, q=5)
    own = SeedCorrelation(regression, correlation)(source[::-1], target)
    ours = CrossRegressedCorrelation(regression, correlation)(source, target)
    np.testing.assert_allclose(own.raw.values, ours.raw.values, atol=1e-9)
    assert float(own) == pytest.approx(float(ours), abs=1e-9)
    assert own.error == pytest.approx(ours.error, abs=1e-9)
    assert (own.n_splits, own.n_neuroids_used, own.n_neuroids_total) == (10, 5, 5)


def test_an_overridden_apply_decides_the_score_and_may_call_the_one_it_overrides():
    class Halved(CrossRegressedCorrelation):
        def apply(self, *parts):
            assert [part.sizes["presentation"] for part in parts] == [72, 72, 8, 8]
            return super().apply(*parts) / 2

    source, target = pair(n=80, p=30, q=5)
    halved, whole = (kind("ridgecv")(source, target) for kind in (Halved, CrossRegressedCorrelation))
    assert float(halved) == pytest.approx(float(whole) / 2, abs=1e-9)
    assert halved.attrs["alpha"] == whole.attrs["alpha"]


def test_an_apply_without_a_value_for_each_neuroid_is_refused():
    class Overall(CrossRegressedCorrelation):
        def apply(self, *parts):
            return super().apply(*parts).mean()

    with pytest.raises(ConfigError, match=r"shape \(\), expected \(7,\)"):
        Overall("ridge")(*pair())

    class Timed(SpanTimeRegressedCorrelation):
        apply = SeedCorrelation.apply

    with pytest.raises(ConfigError, match="Timed overrides apply"):
        Timed("ridge")(*pair())


@pytest.mark.parametrize("over", [("neuroid",), ("neuroid", "time_bin"), ("neuroid", "split"), None])
def test_what_an_aggregate_leaves_is_averaged(over: tuple[str, ...] | None):
    class Own(SpanTimeRegressedCorrelation):
        def aggregate(self, scores):
            return scores.mean(dim=over)

    values = np.random.default_rng(0).normal(size=(80, 4, 2))
    score = Own("ridge")(assembly(values), assembly(values[:, :3] + values[:, 1:]))
    assert float(score) == pytest.approx(score.raw.values.mean())
    assert (score.error is None) == (over is None or "split" in over)


def test_an_aggregate_that_gives_no_number_is_refused():
    class Unfinished(CrossRegressedCorrelation):
        def aggregate(self, scores):
            return scores.median(dim="neuroid") * np.nan

    with pytest.raises(DataQualityError, match="aggregate returned nan"):
        Unfinished("ridge")(*pair())


@pytest.mark.parametrize("name", ["ridge", "rdm", "cka", "pls"])
def test_a_single_time_bin_left_over_changes_nothing(name: str):
    source, target = pair()
    timed = source.expand_dims("time_bin", axis=2).assign_coords(time_bin_start=("time_bin", [70]))
    assert float(METRIC_FACTORIES[name]()(timed, target)) == float(METRIC_FACTORIES[name]()(source, target))
