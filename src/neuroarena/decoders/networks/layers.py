"""The torch modules that are more than a sequence; imported only when a network is built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

ATTENTION_SIZE = 32


class Recurrent(nn.Module):  # type: ignore[misc]
    """A GRU over frames (axis 2) whose last state is classified."""

    def __init__(self, frame_size: int, hidden: int, dropout: float, n_classes: int) -> None:
        super().__init__()
        self.units = nn.GRU(frame_size, hidden, batch_first=True)
        self.classify = nn.Sequential(nn.Dropout(dropout), nn.Linear(hidden, n_classes))

    def forward(self, windows: Any) -> Any:
        """Turn windows (n, channel, frame, ...) into outputs (n, classes)."""
        _, last = self.units(windows.transpose(1, 2).flatten(2))
        return self.classify(last[-1])


class GraphConvolution(nn.Module):  # type: ignore[misc]
    """Mix the embeddings of channels by a fixed graph and, if asked, by learned attention; then a dense layer."""

    def __init__(self, mixing: np.ndarray, size: int, units: int, attention: bool) -> None:
        super().__init__()
        self.register_buffer("mixing", torch.from_numpy(mixing.copy()))
        self.dense = nn.Linear(size, units)
        self.query = nn.Linear(size, ATTENTION_SIZE, bias=False) if attention else None
        self.key = nn.Linear(size, ATTENTION_SIZE, bias=False) if attention else None

    def forward(self, embeddings: Any) -> Any:
        """Turn embeddings (n, channel, size) into (n, channel, units)."""
        mixing = self.mixing
        if self.query is not None and self.key is not None:
            match = self.query(embeddings) @ self.key(embeddings).transpose(1, 2)
            mixing = mixing + torch.softmax(match / ATTENTION_SIZE**0.5, dim=2)
        return torch.relu(self.dense(mixing @ embeddings))


class GraphNetwork(nn.Module):  # type: ignore[misc]
    """Temporal convolutions per channel, graph convolutions between channels, the mean over channels, the classes."""

    def __init__(
        self,
        mixing: np.ndarray,
        frame_size: int,
        temporal_maps: Sequence[int],
        graph_units: Sequence[int],
        attention: bool,
        dropout: float,
        n_classes: int,
    ) -> None:
        super().__init__()
        layers: list[Any] = []
        size = frame_size
        for maps in temporal_maps:
            layers += [nn.Conv1d(size, maps, 3, padding=1), nn.BatchNorm1d(maps), nn.ReLU()]
            size = maps
        self.temporal = nn.Sequential(*layers)
        self.graph = nn.ModuleList()
        for units in graph_units:
            self.graph.append(GraphConvolution(mixing, size, units, attention))
            size = units
        self.dropout = nn.Dropout(dropout)
        self.classify = nn.Linear(size, n_classes)

    def forward(self, windows: Any) -> Any:
        """Turn windows (n, channel, frame, ...) into outputs (n, classes)."""
        n, channels, frames = windows.shape[:3]
        # Channels share their temporal convolutions: each is a sequence of its own, frequencies are the maps.
        sequences = windows.reshape(n * channels, frames, -1).transpose(1, 2)
        embeddings = self.dropout(self.temporal(sequences).mean(dim=2).reshape(n, channels, -1))
        for convolution in self.graph:
            embeddings = self.dropout(convolution(embeddings))
        return self.classify(embeddings.mean(dim=1))
