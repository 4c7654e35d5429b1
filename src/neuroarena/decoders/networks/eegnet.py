"""EEGNet: a filter bank in time, a spatial filter for each band, a separable convolution."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.networks.decoder import NetworkDecoder, window_shape
from neuroarena.decoders.networks.saved import restore_network, save_network
from neuroarena.decoders.networks.training import import_torch
from neuroarena.errors import InputError
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import file_digest
from neuroarena.recordings.paths import existing_file

# Shortest window: it is averaged over 4, then over 8 samples.
_SHORTEST = 32


@dataclass
class EEGNet(NetworkDecoder):
    """The compact network of EEG decoding on raw windows: for classes, numbers or vectors.

    Filters in time of half a second; for each of them `depth` spatial filters; a separable convolution;
    means over 4 and 8 samples; a dense layer. Every channel is standardised by the mean and deviation
    of the items that are trained on.

    Parameters
    ----------
    filters, depth : int
        Filters in time, and spatial filters for each of them.
    dropout : float
    weights : path, optional
        A file written by :meth:`save`: its network is used as it is, and `fit` learns nothing.
    """

    features: FeatureChain = field(default_factory=FeatureChain)
    max_epochs: int = 60
    patience: int = 15
    filters: int = 8
    depth: int = 2
    dropout: float = 0.25
    weights: str | Path | None = None

    def __post_init__(self) -> None:
        if self.weights is not None:
            # Predictions depend on what the file holds, not on where it is.
            self.weights_sha256 = file_digest(existing_file(self.weights))

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> EEGNet:
        """Train from a seeded start and keep the best epoch on held-out items, or load the weights."""
        import_torch("The decoder EEGNet")
        if self.weights is not None:
            restore_network(self, self.weights, train, context or Context())
            return self
        self.kernel_ = max(3, round(train[0].rate_hz / 2) | 1)
        super().fit(train, validation, context)
        return self

    def build(self, inputs: np.ndarray, n_classes: int) -> Any:
        """Make the network for windows (channel, time).

        Raises
        ------
        InputError
            When items have other axes or are too short.
        """
        from torch import nn

        channels, *size = window_shape(inputs, ("channel", "time"), "EEGNet")
        if len(size) != 1 or size[0] < _SHORTEST:
            raise InputError(
                f"EEGNet: expected items of the axes (channel, time) with at least {_SHORTEST} samples, got the "
                f"shape {inputs.shape[1:]}. Choose other features."
            )
        bands, maps = self.filters, self.filters * self.depth
        samples = size[0] // 4 // 8
        return nn.Sequential(
            nn.Unflatten(1, (1, channels)),
            nn.Conv2d(1, bands, (1, self.kernel_), padding=(0, self.kernel_ // 2), bias=False),
            nn.BatchNorm2d(bands),
            nn.Conv2d(bands, maps, (channels, 1), groups=bands, bias=False),
            nn.BatchNorm2d(maps),
            nn.ELU(),
            nn.AvgPool2d((1, 4)),
            nn.Dropout(self.dropout),
            nn.Conv2d(maps, maps, (1, 15), padding=(0, 7), groups=maps, bias=False),
            nn.Conv2d(maps, maps, 1, bias=False),
            nn.BatchNorm2d(maps),
            nn.ELU(),
            nn.AvgPool2d((1, 8)),
            nn.Dropout(self.dropout),
            nn.Flatten(),
            nn.Linear(maps * samples, n_classes),
        )

    def built_with(self) -> dict[str, Any]:
        """Return the length of the filters in time."""
        return {"kernel_": self.kernel_}

    def save(self, path: str | Path, **note: Any) -> None:
        """Write the fitted network as safetensors, which `weights` reads; `note` goes into its header."""
        save_network(self, path, **note)

    def standardise(self, inputs: np.ndarray, n_fitted: int) -> tuple[np.ndarray, np.ndarray]:
        """Standardise every channel in place, and return the mean and the scale, each (channels, 1)."""
        fitted = inputs[:n_fitted]
        mean = fitted.mean(axis=(0, 2), dtype=np.float64)[:, np.newaxis]
        variance = np.einsum("nct,nct->c", fitted, fitted, dtype=np.float64)[:, np.newaxis]
        variance = variance / (fitted.shape[0] * fitted.shape[2]) - mean**2
        scale = np.sqrt(np.where(variance > 1e-12 * mean**2 + 1e-30, variance, 1.0)).astype(np.float32)
        inputs -= mean.astype(np.float32)
        inputs /= scale
        return mean.astype(np.float32), scale
