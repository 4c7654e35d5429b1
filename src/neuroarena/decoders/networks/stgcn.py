"""A spatio-temporal graph convolutional network, with what its ablations leave out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from neuroarena.decoders.networks.decoder import NetworkDecoder, window_shape
from neuroarena.decoders.networks.graph import correlation, nearest_neighbours, normalise_graph


@dataclass
class STGCN(NetworkDecoder):
    """Temporal convolutions for each electrode, then graph convolutions between electrodes.

    Each electrode's frames become one embedding; two graph convolutions mix the embeddings; their mean
    over electrodes is classified. The graph joins every electrode to the `neighbours` others with which
    it correlates most over the items that are trained on. With attention, a mixing learned from the
    embeddings (softmax of query times key) is added to that of the graph. Without the graph every
    electrode is its own only neighbour.

    From the paper: eight neighbours, two graph convolutions, dropout 0.4, 64 items per batch. The model
    of its main tables has the graph and no attention. Its text leaves out the learning rate and the
    widths; those here are ours.

    Parameters
    ----------
    attention, graph : bool
        False for the ablations.
    neighbours : int
    temporal_maps : tuple of int
        Maps of the temporal convolutions; the last is the size of the embedding.
    graph_units : tuple of int
        Units of the graph convolutions.
    dropout : float
    """

    attention: bool = True
    graph: bool = True
    neighbours: int = 8
    temporal_maps: tuple[int, ...] = (32, 64)
    graph_units: tuple[int, ...] = (64, 64)
    dropout: float = 0.4

    def build(self, inputs: np.ndarray, n_classes: int) -> Any:
        """Make the network for items (channel, frame, ...); the graph comes from these items."""
        from neuroarena.decoders.networks.layers import GraphNetwork

        channels, _, *rest = window_shape(inputs, ("channel", "frame"), "STGCN")
        mixing = np.eye(channels)
        if self.graph:
            mixing = normalise_graph(nearest_neighbours(correlation(inputs), self.neighbours))
        return GraphNetwork(
            mixing.astype(np.float32),
            frame_size=math.prod(rest),
            temporal_maps=self.temporal_maps,
            graph_units=self.graph_units,
            attention=self.attention,
            dropout=self.dropout,
            n_classes=n_classes,
        )
