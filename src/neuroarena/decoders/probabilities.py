"""Probabilities of classifiers in double precision, so that confident answers still have an order.

In single precision the logistic function is exactly 1 from a decision value of 17 on, in double precision from 37 on.
Across people, whose signals differ in scale, decision values are often that large, and a metric that ranks
sees nothing but ties.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

_ROWS_AT_ONCE = 256


def class_probabilities(model: Any, matrix: np.ndarray, n_classes: int) -> np.ndarray:
    """Compute the probabilities of a fitted classifier for all classes: float64 (examples, classes).

    Parameters
    ----------
    model : scikit-learn classifier
        Fitted on class numbers; it has ``predict_proba``.
    matrix : array (examples, features)
        Cast to double precision block by block, because a second matrix of that size may not fit in memory.
    n_classes : int
        A class that was never seen in training gets zero.
    """
    probabilities = np.zeros((len(matrix), n_classes))
    for rows in _blocks(len(matrix)):
        said = model.predict_proba(matrix[rows].astype(np.float64))
        probabilities[rows, model.classes_] = said
    return probabilities


def _blocks(n: int) -> Iterator[slice]:
    for first in range(0, n, _ROWS_AT_ONCE):
        yield slice(first, first + _ROWS_AT_ONCE)


def logistic_probabilities(decisions: np.ndarray) -> np.ndarray:
    """Turn decision values into probabilities: float64 (examples, classes), by logistic function or softmax.

    Parameters
    ----------
    decisions : array (examples,) or (examples, classes)
        One number per example where there are two classes.

    Examples
    --------
    >>> logistic_probabilities(np.array([0.0, 2.0], dtype=np.float32)).round(3)
    array([[0.5  , 0.5  ],
           [0.119, 0.881]])
    """
    from scipy.special import expit, softmax

    values = np.asarray(decisions, dtype=np.float64)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim == 1:
        return np.stack([expit(-values), expit(values)], axis=1)
    probabilities: np.ndarray = softmax(values, axis=1)
    return probabilities


def share_of_ties(probabilities: np.ndarray) -> float:
    """Return the share of examples that got exactly the same probabilities as another example.

    Examples
    --------
    >>> share_of_ties(np.array([[0.0, 1.0], [0.0, 1.0], [0.4, 0.6], [0.7, 0.3]]))
    0.5
    """
    if not len(probabilities):
        return 0.0
    ordered = probabilities[np.lexsort(probabilities.T)]
    same = (ordered[1:] == ordered[:-1]).all(axis=1)
    tied = np.append(same, False) | np.append(False, same)
    return float(tied.sum() / len(probabilities))
