"""scikit-learn pipelines as decoders: the form of windows, probabilities, numbers and vectors."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from neuroarena import evaluate
from neuroarena.decoders import Context, Group, check_decoder, from_sklearn
from neuroarena.errors import InputError
from neuroarena.recordings import channel_table
from toy import toy_benchmark

CLASSES = ("a", "b")
CHANNELS = channel_table(["A1", "A2", "A3"])


def make_group(n=60, seed=0, classes=CLASSES) -> Group:
    rng = np.random.default_rng(seed)
    numbers = np.arange(n) % len(classes)
    signals = rng.standard_normal((n, 3, 32)).astype(np.float32)
    # Classes differ in loudness and in the mean.
    signals[:, 0] *= 1 + numbers[:, None]
    signals[:, 1] += 0.3 * numbers[:, None]
    table = pd.DataFrame({"id": [f"{seed}-{row}" for row in range(n)], "subject": "1", "session": "1"})
    return Group(signals, CHANNELS, 100.0, table, np.asarray(classes)[numbers])


class Nearest(ClassifierMixin, BaseEstimator):
    """Returns the label of the nearest mean, and nothing else."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.means_ = np.stack([X[y == each].mean(axis=0) for each in self.classes_])
        return self

    def predict(self, X):
        return self.classes_[
            ((X[:, None] - self.means_) ** 2).reshape(len(X), len(self.classes_), -1).sum(2).argmin(1)
        ]


def riemann():
    from pyriemann.estimation import Covariances
    from pyriemann.tangentspace import TangentSpace

    return make_pipeline(Covariances("oas"), TangentSpace(), LogisticRegression())


def csp():
    from mne.decoding import CSP

    return make_pipeline(CSP(2), LogisticRegression())


@pytest.mark.parametrize("make", [riemann, csp])
def test_pipelines_of_windows_work_unchanged_and_equal_what_they_do_alone(make):
    train, test = make_group(seed=1), make_group(seed=2)
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*flattened")
        found = from_sklearn(make()).fit([train], None, Context(CLASSES)).predict([test])
    alone = make().fit(train.signals.astype(float), train.targets).predict_proba(test.signals.astype(float))
    np.testing.assert_allclose(found, alone, rtol=1e-6)


def test_an_estimator_that_refuses_windows_gets_them_flattened_and_the_record_says_so(tmp_path):
    result = evaluate(
        from_sklearn(make_pipeline(StandardScaler(), RidgeClassifier())), toy_benchmark(), "cross"
    )
    said = [warning for cell in result.record.cells for warning in cell.warnings]
    assert any("ending in RidgeClassifier got windows flattened" in warning for warning in said), said
    asked = evaluate(
        from_sklearn(make_pipeline(StandardScaler(), RidgeClassifier()), input="2d"), toy_benchmark(), "cross"
    )
    assert not any("flattened" in warning for cell in asked.record.cells for warning in cell.warnings)
    assert asked.score == result.score


def test_an_error_that_is_not_about_dimensions_is_not_hidden():
    class Broken(Nearest):
        def fit(self, X, y):
            raise ValueError("the tea is cold")

    with pytest.raises(ValueError, match="tea is cold"):
        from_sklearn(Broken()).fit([make_group()], None, Context(CLASSES))


@pytest.mark.parametrize("classes", [("a", "b"), ("a", "b", "c")])
@pytest.mark.parametrize("estimator", [RidgeClassifier(), SVC()])
def test_decision_values_rank_as_the_estimator_does(estimator, classes):
    train, test = make_group(90, 1, classes), make_group(90, 2, classes)
    found = from_sklearn(estimator).fit([train], None, Context(classes, ranks=True)).predict([test])
    alone = type(estimator)().fit(train.signals.reshape(90, -1), train.targets)
    said = alone.decision_function(test.signals.reshape(90, -1).astype(float))
    if len(classes) == 2:
        said = np.stack([-said, said], axis=1)
    for number, name in enumerate(classes):
        truth = test.targets == name
        assert roc_auc_score(truth, found[:, number]) >= roc_auc_score(truth, said[:, number]) - 0.05
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert len(np.unique(found[:, 0])) == 90
    if len(classes) == 2:
        assert roc_auc_score(test.targets == "b", found[:, 1]) == roc_auc_score(
            test.targets == "b", said[:, 1]
        )


REFUSED = {
    "labels for a metric that ranks": (
        Nearest(),
        {},
        Context(CLASSES, ranks=True),
        "most of the score would be lost",
    ),
    "a regressor for classes": (Ridge(), {}, Context(CLASSES), "Ridge is a regressor"),
    "a classifier for numbers": (RidgeClassifier(), {}, Context(kind="number"), "asks for a number"),
    "text": (Ridge(), {}, Context(kind="text"), "do not predict text"),
    "an unknown form": (
        Ridge(),
        {"input": "4d"},
        Context(kind="number"),
        "input must be one of auto, 2d, 3d",
    ),
    "pairs of classes": (
        SVC(decision_function_shape="ovo"),
        {},
        Context(("a", "b", "c", "d")),
        "6 columns for 4 classes",
    ),
}


def test_what_is_no_estimator_is_refused_at_once():
    with pytest.raises(InputError, match=r"got the class Ridge\. Write from_sklearn\(Ridge\(\)\)"):
        from_sklearn(Ridge)
    with pytest.raises(InputError, match="got ndarray, which has no fit"):
        from_sklearn(np.zeros(3))


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_answer_is_refused_in_a_sentence(case):
    estimator, options, context, sentence = REFUSED[case]
    one = make_group(40, classes=context.classes or CLASSES)
    if context.kind == "number":
        one = Group(one.signals, one.channels, one.rate_hz, one.table, np.arange(40.0))
    with pytest.raises(InputError, match=sentence):
        from_sklearn(estimator, **options).fit([one], None, context).predict([one])


def test_hard_labels_are_taken_when_asked_for_by_name_and_their_ties_are_told():
    refused = evaluate(from_sklearn(Nearest()), toy_benchmark(), "cross")
    assert not refused.complete
    assert "neither predict_proba nor decision_function" in refused.record.cells[0].error
    allowed = evaluate(from_sklearn(Nearest(), probabilities="labels"), toy_benchmark(), "cross")
    assert allowed.complete
    assert allowed.record.cells[0].warnings[-1].startswith("Ties: 100% of")


KINDS = {
    "probabilities": (LogisticRegression(), {"classes": CLASSES}),
    "label": (SVC(), {"classes": CLASSES}),
    "number": (Ridge(), {}),
    "vector": (Ridge(), {"vector_length": 5}),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_prediction_keeps_the_contract(kind):
    estimator, asked = KINDS[kind]
    checks = check_decoder(from_sklearn(estimator), CHANNELS, 100.0, 32, kind=kind, **asked)
    assert [check for check in checks if not check.passed] == []
