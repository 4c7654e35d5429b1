"""Reduce wide layers to fewer coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.models.features import Features, FeatureSource, layer_batches
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

    def fit_layers(
        self, source: FeatureSource, layers: Sequence[str], batch_size: int
    ) -> dict[str, Projection | None]:
        """Fit the components of several layers in one pass; None for a layer with few enough features already."""
        tables: dict[str, Features] = {}
        narrow: set[str] = set()
        for rows, found in layer_batches(source, self.stimuli, layers, batch_size):
            for layer, values in found.items():
                flat = values.reshape(len(values), -1) if source.times is None else _all_times(values)
                if flat.shape[1] <= self.components:
                    narrow.add(layer)
                    continue
                per_image = len(flat) // len(values)
                if layer not in tables:
                    shape = (len(self.stimuli) * per_image, flat.shape[1])
                    tables[layer] = np.empty(shape, dtype=np.float32)
                tables[layer][rows.start * per_image : rows.stop * per_image] = flat
        return {layer: None if layer in narrow else self._fitted(tables[layer]) for layer in layers}

    def _fitted(self, table: Features) -> Projection:
        from sklearn.decomposition import PCA

        fitted = PCA(self.components, svd_solver="full").fit(table)
        return Projection(fitted.mean_.astype(np.float32), fitted.components_.astype(np.float32))

    def fingerprint(self) -> str:
        """Hash the number of components and the images they are fitted on."""
        return digest([self.components, [self.stimuli.digest(key) for key in self.stimuli.ids]])


def _all_times(values: Features) -> Features:
    """Return (n, ..., time) as rows of image and time, (n * time, features)."""
    moved = np.moveaxis(values, -1, 1)
    return moved.reshape(moved.shape[0] * moved.shape[1], -1)
