"""emg2qwerty's network of time-depth-separable convolutions, as a torch module.

Written from its published description (Sivakumar et al. 2024, "emg2qwerty: A large dataset with baselines for
touch typing using surface electromyography"; the blocks are those of Hannun et al. 2019, "Sequence-to-sequence
speech recognition with time-depth separable convolutions"). The names of its tensors are those of the published
checkpoints. This module needs torch; import it where it is used.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from neuroarena.families.emg.decoders.shapes import CLASSES, TdsShape
from neuroarena.families.emg.decoders.spectra import BANDS, BINS, ELECTRODES


class SpectrogramNorm(nn.Module):  # type: ignore[misc]
    """Normalise every electrode of both wristbands over time, frequency and batch."""

    def __init__(self) -> None:
        super().__init__()
        self.batch_norm = nn.BatchNorm2d(BANDS * ELECTRODES)

    def forward(self, frames: Any) -> Any:
        """Keep the shape (time, batch, 2, 16, 33)."""
        time, batch, bands, electrodes, bins = frames.shape
        by_channel = frames.reshape(time, batch, bands * electrodes, bins).permute(1, 2, 3, 0)
        return self.batch_norm(by_channel).permute(3, 0, 1, 2).reshape(frames.shape)


class TurnInvariantDense(nn.Module):  # type: ignore[misc]
    """A dense layer of one wristband, averaged over the band as it is and rotated by one electrode each way."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.mlp = nn.Sequential(nn.Linear(ELECTRODES * BINS, features), nn.ReLU())

    def forward(self, frames: Any) -> Any:
        """Turn (time, batch, 16, 33) into (time, batch, features)."""
        dense, relu = self.mlp[0], self.mlp[1]
        # Rotating the weights the other way equals rotating the band without copying signals: half the time of a step.
        grid = dense.weight.unflatten(1, (ELECTRODES, BINS))
        turned = torch.cat([grid.roll(turn, dims=1).flatten(start_dim=1) for turn in (-1, 0, 1)])
        found = nn.functional.linear(frames.flatten(start_dim=2), turned, dense.bias.repeat(3))
        return relu(found).unflatten(2, (3, -1)).mean(dim=2)


class BothWrists(nn.Module):  # type: ignore[misc]
    """A dense layer for each wristband."""

    def __init__(self, features: int) -> None:
        super().__init__()
        self.mlps = nn.ModuleList([TurnInvariantDense(features) for _ in range(BANDS)])

    def forward(self, frames: Any) -> Any:
        """Turn (time, batch, 2, 16, 33) into (time, batch, 2, features)."""
        return torch.stack([mlp(frames[:, :, band]) for band, mlp in enumerate(self.mlps)], dim=2)


class TimeConvolution(nn.Module):  # type: ignore[misc]
    """A convolution over time that shares its weights along the width of the features."""

    def __init__(self, wide: int, channels: int, kernel: int) -> None:
        super().__init__()
        self.channels = channels
        self.conv2d = nn.Conv2d(channels, channels, kernel_size=(1, kernel))
        self.layer_norm = nn.LayerNorm(wide)

    def forward(self, inputs: Any) -> Any:
        """Turn (time, batch, wide) into (time - kernel + 1, batch, wide): only the past is used."""
        time, batch, wide = inputs.shape
        grid = inputs.permute(1, 2, 0).reshape(batch, self.channels, wide // self.channels, time)
        found = torch.relu(self.conv2d(grid))
        found = found.reshape(batch, wide, found.shape[3]).permute(2, 0, 1)
        return self.layer_norm(found + inputs[time - found.shape[0] :])


class Dense(nn.Module):  # type: ignore[misc]
    """Two dense layers on each frame, added to their input."""

    def __init__(self, wide: int) -> None:
        super().__init__()
        self.fc_block = nn.Sequential(nn.Linear(wide, wide), nn.ReLU(), nn.Linear(wide, wide))
        self.layer_norm = nn.LayerNorm(wide)

    def forward(self, inputs: Any) -> Any:
        """Keep the shape (time, batch, wide)."""
        return self.layer_norm(inputs + self.fc_block(inputs))


class Blocks(nn.Module):  # type: ignore[misc]
    """Alternating convolutions and dense layers."""

    def __init__(self, shape: TdsShape) -> None:
        super().__init__()
        wide = BANDS * shape.features
        made = [
            block
            for _ in range(shape.blocks)
            for block in (TimeConvolution(wide, shape.channels, shape.kernel), Dense(wide))
        ]
        self.tds_conv_blocks = nn.Sequential(*made)

    def forward(self, inputs: Any) -> Any:
        """Turn (time, batch, wide) into (time - lookback, batch, wide)."""
        return self.tds_conv_blocks(inputs)


class TdsNetwork(nn.Module):  # type: ignore[misc]
    """From log spectrograms to the log probability of each key, or blank, at each frame.

    Parameters
    ----------
    shape : TdsShape
        The published one is "large": 5,293,315 parameters.
    """

    def __init__(self, shape: TdsShape) -> None:
        super().__init__()
        self.model = nn.Sequential(
            SpectrogramNorm(),
            BothWrists(shape.features),
            nn.Flatten(start_dim=2),
            Blocks(shape),
            nn.Linear(BANDS * shape.features, CLASSES),
            nn.LogSoftmax(dim=-1),
        )

    def forward(self, frames: Any) -> Any:
        """Turn frames (time, batch, 2, 16, 33) into log probabilities (time - lookback, batch, 99)."""
        return self.model(frames)
