"""Linear decoders of one cell of a map: what a fold shares, ridge for many label columns, logistic regression for one.

No standardised copy is made: means and scales come from the Gram matrix, and weights are returned for the features as
they are. Constants are left out, because they do not move an AUROC.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.special import expit

# With few features, which are often correlated voltages, single precision was off by 4e-4 in AUROC.
FEATURES_IN_DOUBLE = 64
# Shrinkage of the ridge that stands for the logistic regression in the null: 0.0005 away from it in AUROC on average.
RIDGE = 4.0
_PAIRS, _MOST_STEPS = 8, 200
# Largest component of the gradient at which the iteration stops.
_SMALL_GRADIENT = {np.dtype(np.float32): 2e-2, np.dtype(np.float64): 1e-6}


def prescale(features: np.ndarray) -> np.ndarray:
    """Centre and scale every feature over all rows; it cancels in the fit and keeps single precision accurate.

    Returns
    -------
    array (items, features)
        float64 when there are at most :data:`FEATURES_IN_DOUBLE` features, else float32; constant features are 0.
    """
    kind: Any = np.float64 if features.shape[1] <= FEATURES_IN_DOUBLE else np.float32
    scaled: np.ndarray = features.astype(kind)
    # Rounding here shifts what the fit centres and scales again; products are the quickest sums.
    mean = _sum_rows(scaled) / kind(len(scaled))
    scaled -= mean
    spread = np.sqrt(np.einsum("ij,ij->j", scaled, scaled) / len(scaled))
    # What rounding leaves of a constant is not a signal.
    varies = spread > 8 * np.finfo(kind).eps * np.abs(mean)
    scaled *= np.where(varies, 1.0 / np.where(varies, spread, 1.0), 0.0).astype(kind)
    return scaled


def _sum_rows(values: np.ndarray) -> np.ndarray:
    total: np.ndarray = np.ones(len(values), dtype=values.dtype) @ values
    return total


@dataclass(frozen=True)
class Moments:
    """Sums over some rows: how many, the sum of every feature, and the Gram matrix."""

    count: int
    total: np.ndarray
    gram: np.ndarray

    @classmethod
    def of(cls, features: np.ndarray) -> Moments:
        """Sum over all rows of (items, features)."""
        return cls(len(features), _sum_rows(features).astype(np.float64), features.T @ features)


class Standardised:
    """The training part of a fold, seen through means, scales and the Gram matrix of standardised features."""

    def __init__(self, parts: Sequence[Moments]) -> None:
        self.count = sum(part.count for part in parts)
        gram = sum((part.gram for part in parts[1:]), parts[0].gram)
        mean = sum((part.total for part in parts[1:]), parts[0].total) / self.count
        variance = np.diag(gram).astype(np.float64) / self.count - mean**2
        # As scikit-learn's scaler: a feature that does not vary keeps its scale.
        scale = np.sqrt(np.where(variance > 1e-9, variance, 1.0))
        self.mean, self.scale = mean.astype(gram.dtype), scale.astype(gram.dtype)
        centred = gram - self.count * np.outer(self.mean, self.mean)
        self.gram = centred / np.outer(self.scale, self.scale)
        # What is constant has no variance but that of rounding.
        self.gram[variance <= 1e-9] = 0.0
        self.gram[:, variance <= 1e-9] = 0.0

    def solve_ridge(self, products: np.ndarray, totals: np.ndarray) -> np.ndarray:
        """Fit ridge regressions to many columns of labels.

        Parameters
        ----------
        products : array (features, columns)
            Features times labels, summed over the training part.
        totals : array (columns,)
            Sum of the labels.

        Returns
        -------
        array (features, columns)
            Weights of the features as they are.
        """
        kind = self.gram.dtype
        right = products - np.outer(self.mean, totals.astype(kind))
        right /= self.scale[:, np.newaxis]
        factor = cho_factor(self._add_to_diagonal(self.gram, RIDGE), lower=True, check_finite=False)
        weights = cho_solve(factor, right, overwrite_b=True, check_finite=False)
        weights /= self.scale[:, np.newaxis]
        return np.asarray(weights)

    def fit_logistic(self, features: np.ndarray, labels: np.ndarray, strength: float = 1.0) -> np.ndarray:
        """Fit a logistic regression with a free intercept: scikit-learn's objective with C = `strength`.

        L-BFGS whose first guess of the inverse Hessian is that of 0.2 x Gram + 1 / C; from zero its first step is the
        ridge solution. In double precision, with few features, the Hessian itself is as cheap (Newton). Steps are
        judged by gradients alone, which single precision leaves accurate where it no longer resolves the loss.

        Parameters
        ----------
        features : array (items, features)
            The training part.
        labels : array (items,)
            0 or 1.

        Returns
        -------
        array (features,)
            Weights of the features as they are.
        """
        problem = _Logistic(self, features, labels, strength)
        point = np.zeros(features.shape[1] + 1, dtype=features.dtype)
        share = labels.mean()
        point[-1] = np.log(share / (1 - share))
        weights: np.ndarray = _minimise(problem, point)[:-1] / self.scale
        return weights

    @staticmethod
    def _add_to_diagonal(matrix: np.ndarray, value: float) -> np.ndarray:
        larger = matrix.copy()
        larger[np.diag_indices_from(larger)] += larger.dtype.type(value)
        return larger


class _Logistic:
    """The gradient of the penalised loss, and the preconditioner."""

    def __init__(self, seen: Standardised, features: np.ndarray, labels: np.ndarray, strength: float) -> None:
        self.seen, self.features, self.penalty = seen, features, 1.0 / strength
        self.labels = labels.astype(features.dtype)
        self.by_newton = features.dtype == np.float64
        if self.by_newton:
            scaled = (features - seen.mean) / seen.scale
            self.whole = np.column_stack([scaled, np.ones(len(features))])
            return
        curvature = Standardised._add_to_diagonal(
            (0.2 * seen.gram).astype(features.dtype, copy=False), self.penalty
        )
        self.factor = cho_factor(curvature, lower=True, check_finite=False)

    def gradient(self, point: np.ndarray) -> np.ndarray:
        weights, intercept = point[:-1] / self.seen.scale, point[-1]
        score = self.features @ weights
        score += intercept - self.seen.mean @ weights
        residual = expit(score) - self.labels
        total = residual.sum()
        slope = (self.features.T @ residual - self.seen.mean * total) / self.seen.scale
        slope += self.features.dtype.type(self.penalty) * point[:-1]
        return np.append(slope, total)

    def newton(self, point: np.ndarray, gradient: np.ndarray) -> np.ndarray:
        """Multiply a gradient by the inverse Hessian at a point."""
        chance = expit(self.whole @ point)
        hessian = self.whole.T @ (self.whole * (chance * (1 - chance))[:, np.newaxis])
        hessian[np.diag_indices(len(point) - 1)] += self.penalty
        # Where every probability is 0 or 1 the intercept has no curvature left.
        hessian[-1, -1] += 1e-12 * self.seen.count
        return np.asarray(cho_solve(cho_factor(hessian, check_finite=False), gradient, check_finite=False))

    def precondition(self, vector: np.ndarray) -> np.ndarray:
        inner = cho_solve(self.factor, vector[:-1], check_finite=False)
        return np.append(inner, vector[-1] / (0.2 * self.seen.count)).astype(vector.dtype, copy=False)


def _minimise(problem: _Logistic, point: np.ndarray) -> np.ndarray:
    """Follow L-BFGS directions until the gradient is small."""
    enough = _SMALL_GRADIENT[point.dtype]
    gradient = problem.gradient(point)
    steps: list[tuple[np.ndarray, np.ndarray, float]] = []
    for _ in range(_MOST_STEPS):
        if np.abs(gradient).max() < enough:
            break
        exact = problem.by_newton
        direction = -(problem.newton(point, gradient) if exact else _inverse_times(problem, steps, gradient))
        length, next_gradient = _search(problem, point, direction, gradient)
        step, change = length * direction, next_gradient - gradient
        point, gradient = point + step, next_gradient
        curvature = float(step @ change)
        if curvature > 0:
            steps = [*steps[-_PAIRS + 1 :], (step, change, curvature)]
    return point


def _search(
    problem: _Logistic, point: np.ndarray, direction: np.ndarray, gradient: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Find a step that does not overshoot: where the slope along the direction has not turned to 0.9 of its size."""
    before, length = float(gradient @ direction), point.dtype.type(1.0)
    found = problem.gradient(point + length * direction)
    for _ in range(20):
        after = float(found @ direction)
        if after <= 0.9 * abs(before):
            break
        # The loss is convex: the secant of its slope lies between the start and the overshoot.
        length = point.dtype.type(length * before / (before - after))
        found = problem.gradient(point + length * direction)
    return length, found


def _inverse_times(
    problem: _Logistic, steps: list[tuple[np.ndarray, np.ndarray, float]], gradient: np.ndarray
) -> np.ndarray:
    """Multiply a gradient by the approximate inverse Hessian (Nocedal and Wright, algorithm 7.4)."""
    vector, shares = gradient.copy(), []
    for step, change, curvature in reversed(steps):
        share = float(step @ vector) / curvature
        vector -= vector.dtype.type(share) * change
        shares.append(share)
    vector = problem.precondition(vector)
    for (step, change, curvature), share in zip(steps, reversed(shares), strict=True):
        vector += vector.dtype.type(share - float(change @ vector) / curvature) * step
    return vector
