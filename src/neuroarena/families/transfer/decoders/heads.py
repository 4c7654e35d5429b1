"""The organiser's heads, fitted on a frozen encoder, the same for everyone.

Every setting is a constant of this module. Nothing is chosen by validation: a head must not compensate for an encoder.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from neuroarena.errors import InputError

# Ridge regressions, on standardised numbers: the penalty for every training example, of vectors and numbers of windows,
# and of the seconds to go of a stream, whose windows follow each other closely.
WINDOW_PENALTY, STREAM_PENALTY = 1.0, 0.1
# Logistic regression of labels: inverse of the strength of the L2 penalty, largest number of iterations of lbfgs.
LABEL_C, LABEL_ITERATIONS = 0.01, 1000
# The same, of the keys of frames.
FRAME_C, FRAME_ITERATIONS, FRAME_TOLERANCE = 1.0, 100, 1e-3


class Standard:
    """Scale every number to mean 0 and deviation 1 on the training part; one that never varies stays 0."""

    def __init__(self, rows: np.ndarray) -> None:
        self.mean = rows.mean(axis=0, dtype=np.float64)
        deviation = rows.std(axis=0, dtype=np.float64)
        still = deviation <= 1e-7 * (np.abs(self.mean) + 1e-30)
        self.scale = np.where(still, 1.0, deviation)

    def __call__(self, rows: np.ndarray) -> np.ndarray:
        """Standardise rows: float64 (n, d)."""
        standard: np.ndarray = (rows - self.mean) / self.scale
        return standard


class RidgeHead:
    """Standardise, then ridge regression on targets minus their mean.

    Parameters
    ----------
    rows : array (n, d)
    targets : array (n,) or (n, length)
    penalty : float
        For every example.
    centred : bool
        Leave the mean of the targets out of predictions: for retrieval, where it lies along every candidate alike.

    Examples
    --------
    >>> rows = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> RidgeHead(rows, np.array([0.0, 2.0, 4.0, 6.0])).predict(np.array([[1.5], [3.0]])).round(2).tolist()
    [3.0, 4.5]
    """

    def __init__(
        self, rows: np.ndarray, targets: np.ndarray, penalty: float = WINDOW_PENALTY, centred: bool = False
    ) -> None:
        self.standard = Standard(rows)
        x, y = self.standard(rows), np.asarray(targets, dtype=np.float64)
        mean = y.mean(axis=0)
        self.offset = np.zeros_like(mean) if centred else mean
        total = penalty * len(x)
        if x.shape[1] <= len(x):
            gram = x.T @ x + total * np.eye(x.shape[1])
            self.weights = np.linalg.solve(gram, x.T @ (y - mean))
        else:
            # Fewer examples than numbers: the same solution from the smaller system.
            gram = x @ x.T + total * np.eye(len(x))
            self.weights = x.T @ np.linalg.solve(gram, y - mean)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Predict targets: float64 (n,) or (n, length)."""
        said: np.ndarray = self.standard(rows) @ self.weights + self.offset
        return said


class LabelHead:
    """Standardise, then multinomial logistic regression.

    Parameters
    ----------
    rows : array (n, d)
    numbers : int array (n,)
        Class numbers.
    n_classes : int

    Raises
    ------
    InputError
        When the training part holds only one class.
    """

    def __init__(self, rows: np.ndarray, numbers: np.ndarray, n_classes: int) -> None:
        from sklearn.linear_model import LogisticRegression

        if len(np.unique(numbers)) < 2:
            raise InputError("The label head needs training examples of two classes or more.")
        self.n_classes, self.standard = n_classes, Standard(rows)
        self.model: Any = LogisticRegression(C=LABEL_C, max_iter=LABEL_ITERATIONS)
        self.model.fit(self.standard(rows), numbers)

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the probability of each class; one never seen in training gets zero: float64 (n, classes)."""
        said = np.zeros((len(rows), self.n_classes))
        said[:, self.model.classes_] = self.model.predict_proba(self.standard(rows))
        return said


class FrameHead:
    """Standardise, then multinomial logistic regression of the key of every frame.

    Parameters
    ----------
    rows : array (n, d)
    labels : int array (n,)
        Key or blank of each frame.
    weights : array (n,)
        Number of frames of the recording that each represents.

    Raises
    ------
    InputError
        When all frames have the same label.
    """

    def __init__(self, rows: np.ndarray, labels: np.ndarray, weights: np.ndarray) -> None:
        from sklearn.linear_model import LogisticRegression

        if len(np.unique(labels)) < 2:
            raise InputError("The frame head needs keys and blanks; the training part has only one of them.")
        self.standard = Standard(rows)
        model = LogisticRegression(C=FRAME_C, max_iter=FRAME_ITERATIONS, tol=FRAME_TOLERANCE)
        model.fit(self.standard(rows), labels, sample_weight=weights)
        self.labels: np.ndarray = model.classes_
        coefficients, bias = model.coef_, model.intercept_
        if len(self.labels) == 2:
            coefficients, bias = np.concatenate([-coefficients, coefficients]), np.concatenate([-bias, bias])
        self.coefficients, self.bias = coefficients, bias

    def predict(self, rows: np.ndarray) -> np.ndarray:
        """Return the likeliest label of each frame: int (n,)."""
        chosen: np.ndarray = self.labels[
            (self.standard(rows) @ self.coefficients.T + self.bias).argmax(axis=1)
        ]
        return chosen
