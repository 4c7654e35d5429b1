"""Metrics of classes: AUROC, accuracy, balanced accuracy and macro F1.

Classes are positions in ``manifest.classes``. A label from probabilities is the class with the
highest one, ties to the lowest class.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from neuroarena.scoring.metrics import Metric

if TYPE_CHECKING:
    from neuroarena.scoring.manifest import Manifest


def labels_of(prediction: np.ndarray) -> np.ndarray:
    """Return the class positions of predictions: labels as they are, probabilities by their argmax.

    Parameters
    ----------
    prediction : ndarray, (n,) class positions or (n, classes) probabilities

    Returns
    -------
    ndarray of int64, (n,)
        Ties go to the lowest class.

    Examples
    --------
    >>> labels_of(np.array([[0.5, 0.5], [0.2, 0.8]])).tolist()
    [0, 1]
    """
    return prediction.argmax(axis=1) if prediction.ndim == 2 else prediction


def binary_auroc(score: np.ndarray, positive: np.ndarray) -> float:
    """Compute the area under the ROC curve from mid-ranks.

    The probability that a positive example scores above a negative one, equal scores counting one half
    (Hanley and McNeil 1982, Radiology 143:29). Ranks are counted in whole numbers, so that only the last
    division rounds and the order of the rows cannot matter.

    Parameters
    ----------
    score : ndarray of float, (n,)
    positive : ndarray of bool, (n,)
        Both values must occur.

    Returns
    -------
    float
        In [0, 1].

    Examples
    --------
    >>> binary_auroc(np.array([0.1, 0.4, 0.4, 0.8]), np.array([False, False, True, True]))
    0.875
    """
    order = np.argsort(score, kind="stable")
    ordered = score[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = np.diff(np.append(starts, score.size))
    # Twice the mid-rank of a run of equals that covers ranks start+1 .. start+count.
    twice_rank = np.repeat(2 * starts + counts + 1, counts)
    n_positive = int(np.count_nonzero(positive))
    n_negative = positive.size - n_positive
    twice_u = int(twice_rank[positive[order]].sum()) - n_positive * (n_positive + 1)
    return twice_u / (2 * n_positive * n_negative)


def _auroc(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:
    if len(manifest.classes) == 2:
        return {"score": binary_auroc(prediction[:, 1], target == 1)}
    areas = [binary_auroc(prediction[:, code], target == code) for code in np.unique(target)]
    return {"score": float(np.mean(areas))}


def _two_classes(target: np.ndarray, manifest: Manifest) -> str | None:
    if target.size and (target == target[0]).all():
        return f'only the class "{manifest.classes[int(target[0])]}" occurs, and AUROC needs two'
    return None


def _accuracy(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    correct = int(np.count_nonzero(labels_of(prediction) == target))
    return {"score": correct / target.size, "correct": float(correct)}


def _counts(
    prediction: np.ndarray, target: np.ndarray, manifest: Manifest
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Count the hits, examples and predictions of each class that occurs in the truth."""
    labels, classes = labels_of(prediction), len(manifest.classes)
    hits = np.bincount(target[labels == target], minlength=classes)
    support = np.bincount(target, minlength=classes)
    predicted = np.bincount(labels, minlength=classes)
    occurs = support > 0
    return hits[occurs], support[occurs], predicted[occurs]


def _balanced_accuracy(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:
    hits, support, _ = _counts(prediction, target, manifest)
    return {"score": float(np.mean(hits / support))}


def _macro_f1(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:
    hits, support, predicted = _counts(prediction, target, manifest)
    # 2 TP / (2 TP + FP + FN); support is above zero, so the quotient is always defined.
    return {"score": float(np.mean(2 * hits / (support + predicted)))}


AUROC = Metric(
    name="auroc",
    direction="higher",
    bounds=(0.0, 1.0),
    predictions=("probabilities",),
    function=_auroc,
    title="AUROC",
    unit_label="",
    undefined=(
        "A unit in which only one class occurs is refused when the truth is checked. With more than two "
        "classes: the mean of one-vs-rest areas over the classes that occur in the unit's truth."
    ),
    truth_rule=_two_classes,
    ranks=True,
)

ACCURACY = Metric(
    name="accuracy",
    direction="higher",
    bounds=(0.0, 1.0),
    predictions=("label", "probabilities"),
    function=_accuracy,
    title="Accuracy",
    unit_label="",
    undefined="Defined for every unit with at least one example.",
    columns=("n", "correct"),
    roles={"numerator": "correct", "denominator": "n"},
)

BALANCED_ACCURACY = Metric(
    name="balanced_accuracy",
    direction="higher",
    bounds=(0.0, 1.0),
    predictions=("label", "probabilities"),
    function=_balanced_accuracy,
    title="Balanced accuracy",
    unit_label="",
    undefined="The mean recall over the classes that occur in the unit's truth; an absent class is not counted.",
)

MACRO_F1 = Metric(
    name="macro_f1",
    direction="higher",
    bounds=(0.0, 1.0),
    predictions=("label", "probabilities"),
    function=_macro_f1,
    title="Mean per-class F1",
    unit_label="",
    undefined=(
        "The mean F1 over the classes that occur in the unit's truth; a class that is only predicted lowers "
        "the others' F1 but has none of its own. A class that occurs and is never predicted has F1 0."
    ),
)
