"""Partial least squares on cross products: the iterates of NIPALS without passes over the stimuli."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.metrics.folds import Array, Fold, Products, Split
from neuroarena.families.brainscore.metrics.regressions import Regression

EPSILON = float(np.finfo(np.float64).eps)
# Above this many targets a Gram matrix costs more than the rounds it saves.
LARGEST_GRAM = 2048


@dataclass
class PartialLeastSquares(Regression):
    """PLS2 regression of all targets at once, centred and not standardised.

    The weight vectors are those of the power iteration of NIPALS (Wegelin 2000): same start, same stopping
    rule. Round i of it only needs S'S of the cross product S = X'Y, which is targets x targets.

    Parameters
    ----------
    n_components : int
        Number of components.
    max_iter : int
        Largest number of rounds per component.
    tol : float
        Squared change of the weight vector at which a component has converged.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(50, 8))
    >>> y = x[:, :2] + 0.1 * rng.normal(size=(50, 2))
    >>> PartialLeastSquares(n_components=4).fit(x, y).predict(x).shape
    (50, 2)
    """

    n_components: int = 25
    max_iter: int = 500
    tol: float = 1e-6

    def check(self, n_train: int, n_features: int) -> None:
        """Refuse more components than features or training stimuli."""
        bound = min(n_train, n_features)
        if self.n_components > bound:
            what = "features" if n_features <= n_train else "training stimuli"
            raise ConfigError(
                f"PLS with {self.n_components} components needs at least as many features and training stimuli, "
                f"got {bound} {what}. Pass n_components={bound} or fewer."
            )

    def cross_predict(
        self, x: npt.NDArray[np.floating], y: npt.NDArray[np.floating], splits: Sequence[Split]
    ) -> Iterator[Array]:
        """Yield the predictions of each split's test rows; see :meth:`Regression.cross_predict`."""
        for train, _ in splits:
            self.check(len(train), x.shape[1])
        for fold in Products(x, y).folds(splits):
            yield fold.predictions(self.coefficients(fold))

    def coefficients(self, fold: Fold) -> Array:
        """Return the regression coefficients of one training part, (p, q)."""
        cross, residual = fold.cross.copy(), fold.y_squares.copy()
        p, q = cross.shape
        rotations, loadings = np.zeros((p, self.n_components)), np.zeros((p, self.n_components))
        y_loadings = np.zeros((q, self.n_components))
        smallest = fold.n_train * (10 * EPSILON) ** 2
        for k in range(self.n_components):
            # A target that no feature follows has no direction to start from.
            alive = np.flatnonzero((residual > smallest) & np.any(cross != 0, axis=0))
            if not len(alive):
                break
            weight = self._weight(cross, int(alive[0]))
            rotation = weight - rotations[:, :k] @ (loadings[:, :k].T @ weight)
            image = fold.covariance_times(rotation)
            size = float(rotation @ image)
            if size <= 0:  # the features are used up: nothing is left to explain the targets with
                break
            rotations[:, k], loadings[:, k] = rotation, image / size
            y_loadings[:, k] = cross.T @ rotation / size
            cross -= np.outer(image, y_loadings[:, k])
            residual -= size * y_loadings[:, k] ** 2
        return rotations @ y_loadings.T

    def _weight(self, cross: Array, start: int) -> Array:
        """Return the weight vector at which the power iteration from target `start` stops."""
        q = cross.shape[1]
        if q == 1:
            weight = cross[:, 0]
            return weight / np.linalg.norm(weight)
        if q > min(LARGEST_GRAM, cross.shape[0]):
            return self._weight_in_features(cross, start)
        gram = cross.T @ cross
        direction = np.zeros(q)
        direction[start] = 1.0
        image = gram[start]
        # `direction` is kept such that weight = cross @ direction has length one.
        scale = 1 / np.sqrt(image @ direction)
        direction, image = direction * scale, image * scale
        for _ in range(self.max_iter - 1):
            following = image
            image_after = gram @ following
            scale = 1 / np.sqrt(image_after @ following)
            following, image_after = following * scale, image_after * scale
            change = 2.0 - 2.0 * float(image @ following)
            direction, image = following, image_after
            if change < self.tol:
                break
        weight = cross @ direction
        result: Array = weight / np.linalg.norm(weight)
        return result

    def _weight_in_features(self, cross: Array, start: int) -> Array:
        """Do the same with more targets than features, where targets x targets would be the larger matrix."""
        weight = cross[:, start] / np.linalg.norm(cross[:, start])
        gram = cross @ cross.T if len(cross) <= LARGEST_GRAM else None
        for _ in range(self.max_iter - 1):
            following = gram @ weight if gram is not None else cross @ (cross.T @ weight)
            following = following / np.linalg.norm(following)
            change = following - weight
            weight = following
            if change @ change < self.tol:
                break
        return weight
