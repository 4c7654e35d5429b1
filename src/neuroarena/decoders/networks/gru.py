"""A recurrent network over the frames of a window."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuroarena.decoders.networks.decoder import NetworkDecoder, window_shape


@dataclass
class GRU(NetworkDecoder):
    """Gated recurrent units that read a window frame by frame; the last state is classified.

    A frame is the vector of all electrodes and frequencies. The papers report a row "RNN (gru)"
    without describing it, so size, dropout, learning rate and batch size are ours.

    Parameters
    ----------
    hidden : int
        Size of the state.
    dropout : float
        On the last state.
    """

    hidden: int = 128
    dropout: float = 0.5

    def build(self, inputs: np.ndarray, n_classes: int) -> Any:
        """Make the network for items (channel, frame, ...)."""
        from neuroarena.decoders.networks.layers import Recurrent

        channels, _, *rest = window_shape(inputs, ("channel", "frame"), "GRU")
        return Recurrent(channels * math.prod(rest), self.hidden, self.dropout, n_classes)
