"""Exact logistic regression on more features than fit into memory, a block of columns at a time.

L2-regularised logistic regression sees its standardised features Z only through Z Z': the best
weights are a combination of the training rows (the representer theorem). So the blocks of columns are
streamed once to add up the n x n matrix of products, the regression is solved by scikit-learn in
the at most n coordinates that this matrix spans, and the blocks are streamed again to turn the solution
into weights. Memory follows rows x rows and one block, never rows x features; the optimum is that
of scikit-learn on the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from neuroarena.decoders.probabilities import logistic_probabilities

# Columns standardised at once: 14 MB for 3,500 rows.
COLUMNS = 1024
# Directions with less than this share of the largest are rounding, not data.
SMALLEST = 1e-10

Blocks = Callable[[], Iterator[np.ndarray]]


@dataclass
class StreamedLogistic:
    """Standardise and regress on blocks of columns.

    Parameters
    ----------
    C, tol, max_iter
        As in scikit-learn's LogisticRegression.
    """

    C: float = 1.0
    tol: float = 1e-3
    max_iter: int = 10_000

    def fit(self, blocks: Blocks, targets: np.ndarray) -> StreamedLogistic:
        """Learn from training rows.

        Parameters
        ----------
        blocks : callable
            Returns an iterator over float32 arrays (rows, some columns); called twice, it must yield
            the same blocks both times.
        targets : int array (rows,)
        """
        from sklearn.linear_model import LogisticRegression

        self.scales_: list[tuple[np.ndarray, np.ndarray]] = []
        products = np.zeros((len(targets), len(targets)))
        for block in blocks():
            mean, spread = _moments(block)
            self.scales_.append((mean, spread))
            for columns in _columns(block):
                part = (block[:, columns] - mean[columns]) / spread[columns]
                products += part @ part.T
        values, vectors = np.linalg.eigh(products)
        kept = values > SMALLEST * max(float(values[-1]), 1e-300)
        roots = np.sqrt(values[kept])
        model = LogisticRegression(C=self.C, tol=self.tol, max_iter=self.max_iter)
        model.fit(vectors[:, kept] * roots, targets)
        self.classes_, self.intercept_ = model.classes_, model.intercept_
        rows = ((vectors[:, kept] / roots) @ model.coef_.T).astype(np.float32)
        self.weights_ = [
            _weights(block, scale, rows) for block, scale in zip(blocks(), self.scales_, strict=True)
        ]
        return self

    def predict_proba(self, blocks: Iterator[np.ndarray] | Sequence[np.ndarray]) -> np.ndarray:
        """Return probabilities (rows, classes of the training part) of rows given by blocks of columns."""
        total: np.ndarray | float = 0.0
        for block, (mean, spread), weights in zip(blocks, self.scales_, self.weights_, strict=True):
            for columns in _columns(block):
                total = total + ((block[:, columns] - mean[columns]) / spread[columns]) @ weights[columns]
        decisions = np.asarray(total, dtype=np.float64) + self.intercept_
        return logistic_probabilities(decisions)


def _moments(block: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, spread = (np.empty(block.shape[1], dtype=np.float32) for _ in range(2))
    for columns in _columns(block):
        part = np.asarray(block[:, columns], dtype=np.float64)
        mean[columns], spread[columns] = part.mean(axis=0), part.std(axis=0)
    return mean, np.where(spread > 0, spread, np.float32(1))


def _weights(block: np.ndarray, scale: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> np.ndarray:
    mean, spread = scale
    weights = np.empty((block.shape[1], rows.shape[1]), dtype=np.float32)
    for columns in _columns(block):
        weights[columns] = ((block[:, columns] - mean[columns]) / spread[columns]).T @ rows
    return weights


def _columns(block: np.ndarray) -> Iterator[slice]:
    for first in range(0, block.shape[1], COLUMNS):
        yield slice(first, first + COLUMNS)
