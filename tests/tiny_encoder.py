"""A small encoder for the tests: random weights, and a count of the windows it has seen."""

from __future__ import annotations

import torch

SEEN: list[int] = []


class Tiny(torch.nn.Module):
    """Channel means through one layer, per quarter of the window."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(4, 6)

    def forward(self, windows, names, positions, rate_hz):
        assert len(names) == windows.shape[1] == len(positions)
        assert rate_hz > 0
        SEEN.append(len(windows))
        quarters = torch.stack([part.mean(dim=2) for part in windows.tensor_split(4, dim=2)], dim=1)
        return self.layer(quarters)


class Wide(torch.nn.Module):
    """Quarters of each channel through one layer: (windows, channels, 8) for any number of electrodes."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(1)
        self.layer = torch.nn.Linear(4, 8)

    def forward(self, windows, names, positions, rate_hz):
        assert len(names) == windows.shape[1] == len(positions)
        quarters = torch.stack([part.mean(dim=2) for part in windows.tensor_split(4, dim=2)], dim=2)
        return torch.relu(self.layer(quarters))
