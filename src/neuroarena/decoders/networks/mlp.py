"""A multi-layer perceptron on flattened features."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuroarena.decoders.networks.decoder import NetworkDecoder, window_shape


@dataclass
class MLP(NetworkDecoder):
    """Dense layers with ReLU and dropout on all features of all electrodes.

    The published settings: two layers of 1024, dropout 0.2, Adam at 1e-5, 200 items per batch, up to
    100 epochs of which the best is kept, with a patience as long as that.

    Parameters
    ----------
    hidden : tuple of int
        Units of each hidden layer.
    dropout : float
        After each hidden layer.
    """

    learning_rate: float = 1e-5
    batch_size: int = 200
    patience: int = 100
    tolerance: float = 1e-8
    hidden: tuple[int, ...] = (1024, 1024)
    dropout: float = 0.2

    def build(self, inputs: np.ndarray, n_classes: int) -> Any:
        """Make the network for items of any shape."""
        from torch import nn

        width = math.prod(window_shape(inputs, ("channel",), "MLP"))
        layers: list[Any] = [nn.Flatten()]
        for units in self.hidden:
            layers += [nn.Linear(width, units), nn.ReLU(), nn.Dropout(self.dropout)]
            width = units
        return nn.Sequential(*layers, nn.Linear(width, n_classes))
