"""Reduce wide layers to fewer coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.models.features import Features, FeatureSource, batches
from neuroarena.families.brainscore.stimuli import StimulusSet
from neuroarena.fingerprint import digest


@dataclass(frozen=True)
class Projection:
    """Principal components of a layer.

    Attributes
    ----------
    mean : ndarray, shape (features,)
    axes : ndarray, shape (components, features)
    """

    mean: Features
    axes: Features

    def __call__(self, flat: Features) -> Features:
        """Project (n, features) to (n, components)."""
        return np.asarray((flat - self.mean) @ self.axes.T)


@dataclass(frozen=True)
class Reduction:
    """Project layers with more features than `components` onto their principal components.

    Parameters
    ----------
    components : int
        Number of components.
    stimuli : StimulusSet
        Images the components are fitted on, at least as many as components. Do not use those of the
        benchmark: components fitted on test stimuli leak them.
    """

    components: int
    stimuli: StimulusSet

    def __post_init__(self) -> None:
        """Check that there are enough images."""
        if not 1 <= self.components <= len(self.stimuli):
            raise ConfigError(
                f"Fitting {self.components} principal components needs at least as many images, "
                f"got {len(self.stimuli)}."
            )

    def fit(self, source: FeatureSource, layer: str, batch_size: int) -> Projection | None:
        """Fit the components of a layer; None when it has few enough features already."""
        from sklearn.decomposition import PCA

        table: Features | None = None
        for rows, values in batches(source, self.stimuli, layer, batch_size):
            flat = values.reshape(len(values), -1) if source.times is None else _all_times(values)
            if flat.shape[1] <= self.components:
                return None
            if table is None:
                per_image = len(flat) // len(values)
                table = np.empty((len(self.stimuli) * per_image, flat.shape[1]), dtype=np.float32)
            table[rows.start * per_image : rows.stop * per_image] = flat
        fitted = PCA(self.components, svd_solver="full").fit(table)
        return Projection(fitted.mean_.astype(np.float32), fitted.components_.astype(np.float32))

    def fingerprint(self) -> str:
        """Hash the number of components and the images they are fitted on."""
        return digest([self.components, [self.stimuli.digest(key) for key in self.stimuli.ids]])


def _all_times(values: Features) -> Features:
    """Return (n, ..., time) as rows of image and time, (n * time, features)."""
    moved = np.moveaxis(values, -1, 1)
    return moved.reshape(moved.shape[0] * moved.shape[1], -1)
