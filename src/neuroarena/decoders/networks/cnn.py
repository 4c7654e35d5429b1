"""A convolutional network with electrodes as input maps."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuroarena.decoders.networks.decoder import NetworkDecoder, window_shape
from neuroarena.errors import InputError


@dataclass
class CNN(NetworkDecoder):
    """Convolutions over frame x frequency, or over time for raw voltage; electrodes are the input maps.

    Three 3-wide convolutions, each with ReLU and a maximum over pairs; flattened; dropout, a dense
    layer, dropout, the classes. Items of 17 x 38 flatten to 2 * 4 * 128 = 1024. An axis that is down to
    one entry is no longer halved, so that short time bins can be decoded too. The published settings:
    Adam at 1e-4, 128 items per batch in the order of the part.

    Parameters
    ----------
    maps : tuple of int
        Maps of each convolution.
    hidden : int
        Units of the dense layer.
    dropout : float
        Before and after the dense layer.
    """

    learning_rate: float = 1e-4
    batch_size: int = 128
    shuffle: bool = False
    maps: tuple[int, ...] = (32, 64, 128)
    hidden: int = 256
    dropout: float = 0.5

    def build(self, inputs: np.ndarray, n_classes: int) -> Any:
        """Make the network for items (channel, time) or (channel, frame, frequency).

        Raises
        ------
        InputError
            When items have other axes.
        """
        from torch import nn

        channels, *size = window_shape(inputs, ("channel", "time or frame"), "CNN")
        if len(size) > 2:
            raise InputError(
                "CNN: expected items of the axes (channel, time) or (channel, frame, frequency), "
                f"got the shape {inputs.shape[1:]}. Choose other features."
            )
        convolution, pool = (nn.Conv1d, nn.MaxPool1d) if len(size) == 1 else (nn.Conv2d, nn.MaxPool2d)
        layers: list[Any] = []
        for maps in self.maps:
            halved = tuple(2 if entries > 1 else 1 for entries in size)
            layers += [convolution(channels, maps, 3, padding=1), nn.ReLU(), pool(halved)]
            channels = maps
            size = [entries // step for entries, step in zip(size, halved, strict=True)]
        flat = channels * math.prod(size)
        return nn.Sequential(
            *layers,
            nn.Flatten(),
            nn.Dropout(self.dropout),
            nn.Linear(flat, self.hidden),
            nn.ReLU(),
            nn.Dropout(self.dropout),
            nn.Linear(self.hidden, n_classes),
        )
