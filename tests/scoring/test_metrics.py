"""Metrics against scikit-learn, and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.metrics import accuracy_score, balanced_accuracy_score, f1_score, roc_auc_score

from neuroarena.errors import UnknownName
from neuroarena.scoring import METRICS, Manifest, Metric
from neuroarena.scoring.classification import binary_auroc, labels_of

from .tables import make_manifest


def manifest_of(classes: int) -> Manifest:
    names = tuple(str(code) for code in range(classes))
    return make_manifest(metric="auroc", prediction="probabilities", classes=names)


def value(metric: str, prediction: Any, target: Any, classes: int) -> float:
    """Compute one metric for one unit."""
    function = METRICS.get(metric).function
    return function(np.asarray(prediction), np.asarray(target), manifest_of(classes))["score"]


# Few distinct values, so that ties are the rule; neighbours one ulp apart, so that near-ties are not ties.
COARSE = st.sampled_from(
    [0.0, -0.0, 0.25, 0.5, float(np.nextafter(0.5, 1)), float(np.nextafter(0.5, 0)), 1.0]
)
ANY = st.floats(0, 1)


@st.composite
def binary_units(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    n = draw(st.integers(2, 60))
    score = draw(hnp.arrays(np.float64, n, elements=draw(st.sampled_from([COARSE, ANY]))))
    positive = draw(hnp.arrays(np.bool_, n))
    assume(positive.any() and not positive.all())
    return score, positive


@given(binary_units())
def test_the_binary_area_equals_the_one_of_scikit_learn(unit: tuple[np.ndarray, np.ndarray]) -> None:
    score, positive = unit
    assert binary_auroc(score, positive) == pytest.approx(roc_auc_score(positive, score), abs=1e-12)


@given(binary_units())
def test_the_area_is_the_share_of_pairs_in_the_right_order(unit: tuple[np.ndarray, np.ndarray]) -> None:
    score, positive = unit
    above = score[positive][:, None] - score[~positive][None, :]
    pairs = (np.count_nonzero(above > 0) + 0.5 * np.count_nonzero(above == 0)) / above.size
    assert binary_auroc(score, positive) == pytest.approx(pairs, abs=1e-15)


@given(binary_units(), st.integers(0, 2**32 - 1))
def test_the_area_does_not_depend_on_the_order_of_rows(
    unit: tuple[np.ndarray, np.ndarray], seed: int
) -> None:
    score, positive = unit
    order = np.random.default_rng(seed).permutation(score.size)
    assert binary_auroc(score[order], positive[order]) == binary_auroc(score, positive)


@given(binary_units())
def test_swapping_the_classes_mirrors_the_area(unit: tuple[np.ndarray, np.ndarray]) -> None:
    score, positive = unit
    assert binary_auroc(score, ~positive) == pytest.approx(1 - binary_auroc(score, positive), abs=1e-15)


def test_near_ties_are_told_apart_and_ties_are_not() -> None:
    just_above = np.nextafter(0.5, 1)
    assert binary_auroc(np.array([0.5, just_above]), np.array([False, True])) == 1.0
    assert binary_auroc(np.array([0.5, 0.5]), np.array([False, True])) == 0.5
    assert binary_auroc(np.array([0.0, -0.0]), np.array([False, True])) == 0.5


def test_a_constant_prediction_scores_exactly_chance() -> None:
    target = np.array([0] * 7 + [1] * 3)
    assert value("auroc", np.full((10, 2), 0.5), target, 2) == 0.5


def test_the_binary_area_ranks_by_the_second_class() -> None:
    prediction = [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]
    assert value("auroc", prediction, [0, 1, 1], 2) == 1.0


@st.composite
def many_class_units(draw: Any) -> tuple[np.ndarray, np.ndarray, int]:
    """Probabilities with ties, and a truth in which every class may or may not occur."""
    classes, n = draw(st.integers(3, 7)), draw(st.integers(7, 50))
    weights = draw(hnp.arrays(np.int64, (n, classes), elements=st.integers(0, 3))) + 0.5
    target = draw(hnp.arrays(np.int64, n, elements=st.integers(0, classes - 1)))
    assume(len(np.unique(target)) > 1)
    return weights / weights.sum(axis=1, keepdims=True), target, classes


@given(many_class_units())
def test_many_classes_equal_scikit_learn_one_vs_rest(unit: tuple[np.ndarray, np.ndarray, int]) -> None:
    prediction, target, classes = unit
    target = np.concatenate([np.arange(classes), target])[: len(target)]
    assume(len(np.unique(target)) == classes)
    expected = roc_auc_score(target, prediction, multi_class="ovr", average="macro")
    assert value("auroc", prediction, target, classes) == pytest.approx(expected, abs=1e-12)


@given(many_class_units())
def test_classes_that_do_not_occur_leave_the_mean_of_areas(unit: tuple[np.ndarray, np.ndarray, int]) -> None:
    prediction, target, classes = unit
    areas = [roc_auc_score(target == code, prediction[:, code]) for code in np.unique(target)]
    assert value("auroc", prediction, target, classes) == pytest.approx(np.mean(areas), abs=1e-12)


@given(many_class_units())
@pytest.mark.filterwarnings("ignore:y_pred contains classes")
def test_label_metrics_equal_scikit_learn(unit: tuple[np.ndarray, np.ndarray, int]) -> None:
    prediction, target, classes = unit
    labels = labels_of(prediction)
    occurring = np.unique(target)
    expected = {
        "accuracy": accuracy_score(target, labels),
        "balanced_accuracy": balanced_accuracy_score(target, labels),
        "macro_f1": f1_score(target, labels, labels=occurring, average="macro", zero_division=0),
    }
    for name, wanted in expected.items():
        assert value(name, prediction, target, classes) == pytest.approx(wanted, abs=1e-12)
        assert value(name, labels, target, classes) == value(name, prediction, target, classes)


def test_a_tie_of_probabilities_goes_to_the_lowest_class() -> None:
    prediction = np.array([[0.4, 0.4, 0.2], [0.2, 0.4, 0.4], [1 / 3, 1 / 3, 1 / 3]])
    assert labels_of(prediction).tolist() == [0, 1, 0]


def test_an_absent_class_does_not_count_in_balanced_accuracy_and_f1() -> None:
    # Truth: a, a, b; class c is predicted once and never occurs.
    # Recalls: a 1/2, b 1/1. F1: a = 2*1/(2+1) = 2/3, b = 2*1/(1+1) = 1.
    labels, target = [0, 2, 1], [0, 0, 1]
    assert value("balanced_accuracy", labels, target, 3) == 0.75
    assert value("macro_f1", labels, target, 3) == pytest.approx(5 / 6, abs=1e-15)


def test_a_class_never_predicted_has_f1_zero() -> None:
    assert value("macro_f1", [0, 0], [0, 1], 2) == pytest.approx((2 / 3 + 0) / 2)


def test_every_registered_metric_states_its_rules() -> None:
    for name in METRICS.names():
        metric = METRICS.get(name)
        assert metric.name == name
        assert metric.direction in ("higher", "lower")
        assert metric.undefined.endswith(".")
        assert metric.title
        assert metric.predictions


def test_an_unknown_metric_gets_the_closest_names() -> None:
    with pytest.raises(UnknownName, match=r'No metric "aurocc"\. Did you mean "auroc"'):
        METRICS.get("aurocc")


def test_an_additive_column_cannot_take_a_reserved_name() -> None:
    auroc = METRICS.get("auroc")
    with pytest.raises(ValueError, match="reserved"):
        Metric("mine", "higher", ("label",), auroc.function, "Mine", "", "None.", columns=("unit",))
