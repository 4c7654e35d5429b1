"""Ridge regression from epochs to the embeddings of images: the classical baseline of retrieval."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from neuroarena.decoders.alignment import Alignment
from neuroarena.decoders.decoder import Context, Group, Part
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain

STRENGTHS = tuple(float(value) for value in 10.0 ** np.arange(-2, 4.5, 0.5))


@dataclass
class EmbeddingRidge:
    """Standardise, then regress every number of the embedding on all channels and times at once.

    The penalty is chosen on the validation part, by how often the right image is among the nearest tenth;
    without one, on the last fifth of the training images.

    Parameters
    ----------
    pool_s : float
        Samples are first averaged over stretches of this many seconds.
    centred : bool
        Predict how an embedding differs from the mean one. The mean lies along every image alike, and adding it
        would only favour images that are close to it.
    strengths : tuple of float
        Penalties to try, in units of the mean variance that the data have along their axes.
    """

    role: ClassVar[str] = "classical"
    features: FeatureChain = field(default_factory=FeatureChain)
    pool_s: float = 0.02
    centred: bool = True
    strengths: tuple[float, ...] = STRENGTHS

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> EmbeddingRidge:
        """Fit on the training part; choose the penalty on the validation part.

        Raises
        ------
        InputError
            When the targets are not vectors, or there are too few images to choose with.
        """
        context = context or Context()
        if context.kind != "vector":
            raise InputError(f'ridge-embedding predicts vectors; this task asks for "{context.kind}".')
        self.alignment_ = Alignment.between([*(group.channels for group in train), *context.test_channels])
        x, y = self._matrix(train), _vectors(train)
        self.mean_, self.deviation_ = x.mean(axis=0), x.std(axis=0) + 1e-12
        self.offset_ = y.mean(axis=0)
        if validation:
            held_x, held_y = self._standard(self._matrix(validation)), _vectors(validation)
        else:
            x, y, held_x, held_y = _last_fifth(x, y)
            held_x = self._standard(held_x)
        axes = _Axes(self._standard(x), y - self.offset_)
        nearest = _Nearest(held_y)
        seen = held_x @ axes.axes
        judged = [nearest.share(axes.predictions(seen, strength)) for strength in self.strengths]
        # Among equals, take the strongest penalty: it claims the least that the data do not support.
        best = max(range(len(judged)), key=lambda place: (judged[place], place))
        self.strength_ = self.strengths[best]
        self.weights_ = axes.weights(self.strength_)
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Predict a vector for every example: float32 (n, length)."""
        vectors = self._standard(self._matrix(test)) @ self.weights_
        said: np.ndarray = vectors if self.centred else vectors + self.offset_
        return said.astype(np.float32)

    def _matrix(self, part: Part) -> np.ndarray:
        return self.alignment_.matrix([_pool_samples(group, self.pool_s) for group in part]).astype(
            np.float64
        )

    def _standard(self, x: np.ndarray) -> np.ndarray:
        standard: np.ndarray = (x - self.mean_) / self.deviation_
        return standard


class _Axes:
    """Ridge regressions of one matrix for any penalty, from one decomposition."""

    def __init__(self, x: np.ndarray, y: np.ndarray) -> None:
        self.values, self.axes = np.linalg.eigh(x.T @ x)
        self.projected = self.axes.T @ (x.T @ y)

    def weights(self, strength: float) -> np.ndarray:
        """Return the regression weights of a penalty, (features, length)."""
        return self.predictions(self.axes, strength)

    def predictions(self, seen: np.ndarray, strength: float) -> np.ndarray:
        """Return predictions for rows that are already projected onto the axes."""
        values = np.maximum(self.values, 0)
        made: np.ndarray = (seen / (values + strength * float(values.mean()))) @ self.projected
        return made


def _pool_samples(group: Group, pool_s: float) -> Group:
    size = max(1, round(pool_s * group.rate_hz))
    n, channels, samples = group.signals.shape
    kept = group.signals[:, :, : samples - samples % size] if samples >= size else group.signals
    size = size if samples >= size else samples
    pooled = kept.reshape(n, channels, -1, size).mean(axis=3)
    return Group(pooled, group.channels, group.rate_hz / size, group.table, group.targets)


def _vectors(part: Part) -> np.ndarray:
    return np.concatenate([np.asarray(group.targets, dtype=np.float64) for group in part])


def _last_fifth(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Hold out the epochs of the last fifth of the images, in the order in which they come."""
    _, image = np.unique(y, axis=0, return_inverse=True)
    order = np.unique(image.ravel(), return_index=True)[1]
    place = np.argsort(np.argsort(order))[image.ravel()]
    held = place >= len(order) - max(1, len(order) // 5)
    if held.all():
        raise InputError("ridge-embedding needs epochs of at least two images.")
    return x[~held], y[~held], x[held], y[held]


class _Nearest:
    """Measures how often the right vector is among the nearest tenth of the different ones, by cosine."""

    def __init__(self, target: np.ndarray) -> None:
        candidates, own = np.unique(target, axis=0, return_inverse=True)
        lengths = np.linalg.norm(candidates, axis=1)
        self.directions = candidates / np.where(lengths > 0, lengths, 1.0)[:, None]
        self.own = own.ravel()

    def share(self, said: np.ndarray) -> float:
        scores = said @ self.directions.T
        above = np.count_nonzero(scores > scores[np.arange(len(said)), self.own][:, None], axis=1)
        return float(np.mean(above < max(1, len(self.directions) // 10)))


def ridge_embedding() -> EmbeddingRidge:
    """Ridge regression from raw voltage to image embeddings."""
    return EmbeddingRidge()
