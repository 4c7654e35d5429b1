"""Linear regressions from features to responses, each with one way to predict all splits at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.metrics.folds import Array, Fold, Products, Split
from neuroarena.families.brainscore.metrics.leave_one_out import ridge_folds

# Normal equations are as good as an orthogonal factorisation to 1e-6 while X'X is this well conditioned.
WELL_CONDITIONED = 1e-9


class Regression:
    """A regression: predicts the test rows of every split, so that splits may share work.

    A subclass implements :meth:`cross_predict`; :meth:`fit` and :meth:`predict` come from it.
    """

    def cross_predict(
        self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating], splits: Sequence[Split]
    ) -> Iterator[Array]:
        """Fit on the training rows of each split and return the predictions of its test rows.

        Parameters
        ----------
        x : ndarray, shape (n, p)
            Features of all rows.
        y : ndarray, shape (n, q)
            Targets of all rows.
        splits : sequence of (train, test)
            Row numbers.

        Yields
        ------
        ndarray, shape (n_test, q)
        """
        raise NotImplementedError

    def fit(self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating]) -> Regression:
        """Keep the training rows; the fit is made together with the prediction."""
        self._train = np.asarray(x), np.asarray(y)
        return self

    def predict(self, x: npt.NDArray[np.floating]) -> Array:
        """Predict the targets of new rows, (m, q), after :meth:`fit`."""
        x_train, y_train = self._train
        n = len(x_train)
        both = np.concatenate([x_train, np.asarray(x)])
        # Test rows get targets only for the shape; they are outside the training part.
        targets = np.concatenate([y_train, np.broadcast_to(y_train[:1], (len(x), y_train.shape[1]))])
        return next(iter(self.cross_predict(both, targets, [(np.arange(n), np.arange(n, len(both)))])))


class Estimator(Protocol):
    """Anything with `fit` and `predict` on arrays, as scikit-learn has them."""

    def fit(self, x: Any, y: Any) -> Any:
        """Fit on (n, p) features and (n, q) targets."""
        ...

    def predict(self, x: Any) -> Any:
        """Predict (m, q) targets of (m, p) features."""
        ...


@dataclass
class Fitted(Regression):
    """Use an estimator with `fit` and `predict`, one split at a time.

    Parameters
    ----------
    estimator : object
        Anything with `fit(x, y)` and `predict(x)`; it is fitted anew for each split.
    """

    estimator: Estimator

    def cross_predict(
        self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating], splits: Sequence[Split]
    ) -> Iterator[Array]:
        """Yield the predictions of each split's test rows; see :meth:`Regression.cross_predict`."""
        for train, test in splits:
            self.estimator.fit(x[train], y[train])
            predicted = np.asarray(self.estimator.predict(x[test]), dtype=np.float64)
            yield predicted.reshape(len(test), y.shape[1])


@dataclass
class Ridge(Regression):
    """Ridge regression with an intercept, not standardised.

    Parameters
    ----------
    alpha : float
        Weight of the squared coefficients beside the sum of squared residuals.

    Examples
    --------
    >>> x = np.arange(6.0)[:, None]
    >>> bool(np.allclose(Ridge(alpha=1e-9).fit(x, 2 * x + 1).predict(np.array([[10.0]])), 21))
    True
    """

    alpha: float = 1.0

    def cross_predict(
        self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating], splits: Sequence[Split]
    ) -> Iterator[Array]:
        """Yield the predictions of each split's test rows; see :meth:`Regression.cross_predict`."""
        if not self.alpha > 0:
            raise ConfigError(
                f"The penalty of a ridge regression is {self.alpha}; expected a positive number."
            )
        for _, predicted in ridge_folds(x, y, splits, np.array([self.alpha])):
            yield predicted


@dataclass
class LeastSquares(Regression):
    """Ordinary least squares with an intercept; of all best solutions, the one with the smallest norm."""

    def cross_predict(
        self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating], splits: Sequence[Split]
    ) -> Iterator[Array]:
        """Yield the predictions of each split's test rows; see :meth:`Regression.cross_predict`."""
        products = Products(x, y)
        for (train, _), fold in zip(splits, products.folds(splits), strict=True):
            coefficients = _normal_equations(fold)
            if coefficients is None:
                from scipy.linalg import lstsq

                rows = products.x[train]
                centred = products.y[train] - products.y[train].mean(axis=0)
                # Centring removes one rank, and what rounding leaves of it must not be inverted.
                smallest = max(rows.shape) * np.finfo(np.float64).eps
                coefficients = lstsq(rows - rows.mean(axis=0), centred, cond=smallest)[0]
            yield fold.predictions(coefficients)


def _normal_equations(fold: Fold) -> Array | None:
    """Solve X'X B = X'Y, or return None where X'X is too close to singular."""
    from scipy.linalg import cho_solve
    from scipy.linalg.lapack import dpocon, dpotrf

    covariance = fold.covariance()
    if len(covariance) >= fold.n_train:
        return None
    factor, failed = dpotrf(covariance)
    if failed or dpocon(factor, np.abs(covariance).sum(axis=0).max())[0] < WELL_CONDITIONED:
        return None
    solution: Array = cho_solve((factor, False), fold.cross)
    return solution


def ridge_alphas() -> Array:
    """Return the 99 penalties that `ridgecv` chooses from, 0.01 to 10 million."""
    small = [0.01, 0.1, 0.5, 1.0]
    decades = [np.linspace(10.0**k, 10.0 ** (k + 1), m, endpoint=False) for k, m in GRID]
    return np.concatenate([small, *decades, np.linspace(1e6, 1e7, 19)])


# Decade (as the exponent of its lower end) and how many penalties it gets.
GRID = ((1, 4), (2, 18), (3, 18), (4, 18), (5, 18))


@dataclass
class RidgeCV(Regression):
    """Ridge regression with the penalty chosen by leave-one-out error on the training rows.

    One penalty serves all targets. The penalties chosen are kept in `chosen`, one per split.

    Parameters
    ----------
    alphas : ndarray, optional
        Penalties to choose from; by default :func:`ridge_alphas`.
    """

    alphas: Array | None = None

    def cross_predict(
        self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating], splits: Sequence[Split]
    ) -> Iterator[Array]:
        """Yield the predictions of each split's test rows; see :meth:`Regression.cross_predict`."""
        self.chosen: list[float] = []
        alphas = ridge_alphas() if self.alphas is None else np.asarray(self.alphas, dtype=np.float64)
        if not (alphas.size and (alphas > 0).all()):
            raise ConfigError(
                "The penalties of a ridge regression must be positive numbers; got none, or others."
            )
        for alpha, predicted in ridge_folds(x, y, splits, alphas):
            self.chosen.append(alpha)
            yield predicted


@dataclass
class BestUnit(Regression):
    """Predict each target by the one feature that correlates best with it on the training rows."""

    def cross_predict(
        self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating], splits: Sequence[Split]
    ) -> Iterator[Array]:
        """Yield the predictions of each split's test rows; see :meth:`Regression.cross_predict`."""
        for train, test in splits:
            best = np.argmax(_correlations(x[train], y[train]), axis=0)
            yield np.asarray(x[test][:, best], dtype=np.float64)


def _correlations(x: npt.NDArray[np.floating], y: npt.NDArray[np.floating]) -> Array:
    """Correlate every column of x with every column of y, (p, q); constant columns never win."""
    a, b = _standardised(x), _standardised(y)
    product = a.T @ b
    product[np.ptp(x, axis=0) == 0] = -np.inf
    return product


def _standardised(values: npt.NDArray[np.floating]) -> Array:
    centred = np.asarray(values, dtype=np.float64)
    centred = centred - centred.mean(axis=0)
    length = np.linalg.norm(centred, axis=0)
    result: Array = centred / np.where(length > 0, length, 1.0)
    return result
