"""Ridge regression of all splits from one matrix of products, with the penalty chosen by leave-one-out error.

Leaving out one training row changes its residual in closed form (Golub, Heath and Wahba 1979), so one
eigendecomposition per split serves every penalty. Where features outnumber the training rows, the inner products of
all rows are formed once, every split takes its part of them, and the features are never copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuroarena.families.brainscore.metrics.folds import Array, Fold, Products, Split, centred_gram

Values = npt.NDArray[np.floating]
# Columns of one matrix product when penalties are tried: several penalties times all targets.
COLUMNS = 2048
# Errors are computed in single precision first, in which their sums are right to about 1e-6; penalties this close to
# the best are computed again in double precision.
CLOSE = 1e-4


def ridge_folds(
    x: Values, y: Values, splits: Sequence[Split], alphas: Array
) -> Iterator[tuple[float, Array]]:
    """Yield the penalty chosen in each split, and the predictions of its test rows, (n_test, q).

    Parameters
    ----------
    x : ndarray, shape (n, p)
    y : ndarray, shape (n, q)
    splits : sequence of (train, test)
    alphas : ndarray
        Penalties to choose from. With one, nothing is chosen. One penalty serves all targets; of equals, the first.
    """
    fewest = min(len(train) for train, _ in splits)
    yield from (_dual if x.shape[1] >= fewest else _primal)(x, y, splits, alphas)


def _dual(x: Values, y: Values, splits: Sequence[Split], alphas: Array) -> Iterator[tuple[float, Array]]:
    """Do it with the inner products of rows: for more features than rows."""
    gram = centred_gram(x)
    for train, test in splits:
        kernel = gram[np.ix_(train, train)]
        means = kernel.mean(axis=0)
        kernel -= means
        kernel -= means[:, None] - means.mean()
        targets, y_mean = _centred(y[train])
        alpha, weights = _dual_weights(kernel, targets, alphas)
        # The weights of a target sum to zero: of centring, only the means of the columns are left.
        yield alpha, gram[np.ix_(test, train)] @ weights - means @ weights + y_mean


def _dual_weights(kernel: Array, targets: Array, alphas: Array) -> tuple[float, Array]:
    """Return the best penalty and (K + alpha)^-1 Y; the kernel is overwritten."""
    from scipy.linalg import eigh

    if len(alphas) == 1:
        return float(alphas[0]), _solved(kernel, targets, alphas[0])
    # Transposed, the symmetric matrix has LAPACK's own order and is overwritten in place; otherwise it would be copied.
    values, vectors = eigh(kernel.T, overwrite_a=True, check_finite=False, driver="evd")
    scale = 1.0 / (np.maximum(values, 0.0)[:, None] + alphas)
    # The constant direction belongs to the intercept, which has no penalty and no part in the residuals.
    left = (vectors**2) @ scale - 1.0 / (len(vectors) * alphas)
    tried = _Tried(vectors, vectors.T @ targets, scale, left)
    best = tried.best()
    return float(alphas[best]), tried.fitted(best)


def _primal(x: Values, y: Values, splits: Sequence[Split], alphas: Array) -> Iterator[tuple[float, Array]]:
    """Do it with the products of features: for more rows than features."""
    products = Products(x, y)
    for (train, _), fold in zip(splits, products.folds(splits), strict=True):
        if len(alphas) == 1:
            yield float(alphas[0]), fold.predictions(_solved(fold.covariance(), fold.cross, alphas[0]))
            continue
        alpha, coefficients = _primal_coefficients(fold, products.x[train], products.y[train], alphas)
        yield alpha, fold.predictions(coefficients)


def _primal_coefficients(fold: Fold, x: Array, y: Array, alphas: Array) -> tuple[float, Array]:
    """Return the best penalty of a training part, and the coefficients, (p, q)."""
    from scipy.linalg import eigh

    values, vectors = eigh(fold.covariance(), overwrite_a=True, check_finite=False, driver="evd")
    scale = 1.0 / (np.maximum(values, 0.0)[:, None] + alphas)
    basis, turned = (x - fold.x_mean) @ vectors, vectors.T @ fold.cross
    left = 1.0 - 1.0 / len(x) - (basis**2) @ scale
    best = _Tried(basis, turned, scale, left, _centred(y)[0]).best()
    coefficients: Array = vectors @ (scale[:, [best]] * turned)
    return float(alphas[best]), coefficients


def _solved(matrix: Array, right: Array, alpha: float) -> Array:
    """Return (M + alpha)^-1 R of a symmetric matrix, which is overwritten."""
    from scipy.linalg import cho_factor, cho_solve

    matrix[np.diag_indices_from(matrix)] += alpha
    solution: Array = cho_solve(cho_factor(matrix.T, overwrite_a=True, check_finite=False), right)
    return solution


@dataclass(frozen=True, eq=False)
class _Tried:
    """Penalties that are tried: the residual without row i is (target - basis @ (scale * turned)) / left of row i.

    Attributes
    ----------
    basis : ndarray, shape (n, m)
    turned : ndarray, shape (m, q)
    scale : ndarray, shape (m, penalties)
    left : ndarray, shape (n, penalties)
    targets : ndarray, shape (n, q), or None for zero
    """

    basis: Array
    turned: Array
    scale: Array
    left: Array
    targets: Array | None = None

    def fitted(self, at: int) -> Array:
        """Return basis @ (scale * turned) of one penalty."""
        found: Array = self.basis @ (self.scale[:, [at]] * self.turned)
        return found

    def best(self) -> int:
        """Return the place of the penalty with the smallest sum of squared residuals."""
        everything = np.arange(self.scale.shape[1])
        rough = self._errors(everything, np.float32)
        close = np.flatnonzero(rough <= rough.min() * (1 + CLOSE))
        # Single precision may overflow; then nothing is near anything.
        chosen = close if np.isfinite(rough).all() and len(close) else everything
        return int(chosen[np.argmin(self._errors(chosen, np.float64))])

    def _errors(self, chosen: npt.NDArray[np.int64], precision: type[np.floating]) -> Array:
        """Return the mean squared residual of some penalties."""
        basis, found = self.basis.astype(precision, copy=False), []
        targets = None if self.targets is None else self.targets.astype(precision, copy=False)
        n, q = len(basis), self.turned.shape[1]
        step = max(1, COLUMNS // q)
        for start in range(0, len(chosen), step):
            some = chosen[start : start + step]
            scaled = self.scale[:, some, None] * self.turned[:, None, :]
            values = basis @ scaled.reshape(len(scaled), -1).astype(precision, copy=False)
            residuals = values.reshape(n, len(some), q)
            if targets is not None:
                residuals = targets[:, None, :] - residuals
            residuals /= self.left[:, some, None].astype(precision, copy=False)
            found.append(
                np.einsum("iaj,iaj->a", residuals, residuals, dtype=np.float64) / residuals[:, 0].size
            )
        return np.concatenate(found)


def _centred(y: Values) -> tuple[Array, Array]:
    """Return targets as float64 less their means, and the means; a constant target is zero throughout."""
    values = np.asarray(y, dtype=np.float64)
    means = values.mean(axis=0)
    centred: Array = values - means
    centred[:, np.ptp(values, axis=0) == 0] = 0.0
    return centred, means
