"""Cross products of all stimuli, adapted to each fold by subtracting the left-out stimuli.

Ten splits of 3,200 stimuli share nine tenths of their rows. The products X'X and X'Y are formed once, and a
fold subtracts what its few left-out rows contributed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]
Split = tuple[Rows, Rows]
# Columns of a wide feature table are converted to float64 this many at a time, which bounds the copy.
BLOCK = 2048


@dataclass(frozen=True)
class Fold:
    """What a linear regression needs of one training part, centred on its own means.

    Attributes
    ----------
    x_mean, y_mean : ndarray
        Means of the training rows, (p,) and (q,).
    cross : ndarray, shape (p, q)
        X'Y of the centred training rows.
    y_squares : ndarray, shape (q,)
        Sums of squares of the centred training targets.
    n_train : int
        Number of training rows.
    x_test : ndarray, shape (n_test, p)
        Test rows, not centred on the training means.
    """

    x_mean: Array
    y_mean: Array
    cross: Array
    y_squares: Array
    n_train: int
    x_test: Array
    _whole: Array
    _removed: Array | None

    def covariance_times(self, vector: Array) -> Array:
        """Return X'X v of the centred training rows without forming X'X for this fold."""
        product = self._whole @ vector
        if self._removed is not None:
            product -= self._removed.T @ (self._removed @ vector)
        return product - self.n_train * self.x_mean * (self.x_mean @ vector)

    def covariance(self) -> Array:
        """Return X'X of the centred training rows, (p, p)."""
        product = self._whole - self.n_train * np.outer(self.x_mean, self.x_mean)
        if self._removed is not None:
            product -= self._removed.T @ self._removed
        return product

    def predictions(self, coefficients: Array) -> Array:
        """Return the predictions of the test rows, (n_test, q), for coefficients (p, q)."""
        return (self.x_test - self.x_mean) @ coefficients + self.y_mean


class Products:
    """X'X and X'Y over all rows, and the same for any training part of them.

    Parameters
    ----------
    x : ndarray, shape (n, p)
        Features. Where p > n they are replaced by n coordinates with the same inner products.
    y : ndarray, shape (n, q)
        Targets.
    """

    def __init__(self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating]) -> None:
        self.x = compact(x)
        y = np.asarray(y, dtype=np.float64)
        self.y_offset = y.mean(axis=0)
        self.y: Array = y - self.y_offset
        # Rounding leaves a constant column at 1e-17 instead of 0, and a fit would follow that.
        self.y[:, np.ptp(y, axis=0) == 0] = 0.0
        self.whole = self.x.T @ self.x
        self.cross = self.x.T @ self.y

    def folds(self, splits: Sequence[Split]) -> Iterator[Fold]:
        """Yield the fold of each split, one at a time."""
        for train, test in splits:
            yield self.fold(train, test)

    def fold(self, train: Rows, test: Rows) -> Fold:
        """Return what a regression on `train` needs to predict `test`."""
        left_out = np.ones(len(self.x), dtype=bool)
        left_out[train] = False
        y_train, n_train = self.y[train], len(train)
        removed: Array | None
        if 2 * np.count_nonzero(left_out) <= len(self.x):
            # All columns sum to zero, so the training sum is what the left-out rows lack.
            removed, whole = self.x[left_out], self.whole
            x_mean = -removed.sum(axis=0) / n_train
            cross = self.cross - removed.T @ self.y[left_out]
        else:
            rows = self.x[train]
            removed, whole, cross = None, rows.T @ rows, rows.T @ y_train
            x_mean = rows.mean(axis=0)
        y_mean = y_train.mean(axis=0)
        cross -= n_train * np.outer(x_mean, y_mean)
        y_squares = ((y_train - y_mean) ** 2).sum(axis=0)
        flat = np.ptp(y_train, axis=0) == 0
        cross[:, flat], y_squares[flat] = 0.0, 0.0
        return Fold(x_mean, y_mean + self.y_offset, cross, y_squares, n_train, self.x[test], whole, removed)


def compact(x: npt.NDArray[np.floating]) -> Array:
    """Centre features; where they outnumber the rows, replace them by as many coordinates with the same inner products.

    Every linear method that depends on rows only through inner products (PLS, ridge, least squares of smallest
    norm) predicts the same from either.

    Parameters
    ----------
    x : ndarray, shape (n, p)

    Returns
    -------
    ndarray, shape (n, min(n, p) at most)
        Columns sum to zero.

    Examples
    --------
    >>> wide = np.random.default_rng(0).normal(size=(5, 40))
    >>> centred = wide - wide.mean(axis=0)
    >>> small = compact(wide)
    >>> small.shape, bool(np.allclose(small @ small.T, centred @ centred.T))
    ((5, 4), True)
    """
    n, p = x.shape
    if p <= n:
        wide = np.asarray(x, dtype=np.float64)
        centred: Array = wide - wide.mean(axis=0)
        return centred
    return _square_root(centred_gram(x))


def centred_gram(x: npt.NDArray[np.floating]) -> Array:
    """Return XX' of features (n, p) centred over rows, (n, n), without a float64 copy of all features."""
    gram = np.zeros((len(x), len(x)))
    for start in range(0, x.shape[1], BLOCK):
        block = np.asarray(x[:, start : start + BLOCK], dtype=np.float64)
        block = block - block.mean(axis=0)
        gram += block @ block.T
    return gram


def _square_root(gram: Array) -> Array:
    """Return L with LL' = gram, by a Cholesky factorisation that stops at the rank."""
    from scipy.linalg.lapack import dpstrf

    factor, pivots, rank, _ = dpstrf(gram, lower=1)
    root = np.zeros((len(gram), rank))
    root[pivots - 1] = np.tril(factor)[:, :rank]
    result: Array = root - root.mean(axis=0)
    return result
