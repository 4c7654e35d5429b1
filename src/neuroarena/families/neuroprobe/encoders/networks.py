"""BrainBERT and PopulationTransformer as torch modules.

Written from their published description (Wang et al. 2023, "BrainBERT: Self-supervised
representation learning for intracranial recordings"; Chau et al. 2024, "Population Transformer:
Learning population-level representations of neural activity"). The names of their tensors are those of the published
checkpoints. This module needs torch; import it where it is used.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from neuroarena.families.neuroprobe.encoders.shapes import POSITIONS, EncoderShape

DROPOUT = 0.1


def sinusoids(width: int, length: int = POSITIONS) -> Any:
    """Make a table of positions: float32 tensor (length, width).

    Even columns hold sin(p / 10000^(2i / width)), odd ones the cosine (Vaswani et al. 2017).

    Examples
    --------
    >>> [round(float(value), 6) for value in sinusoids(768)[1, :4]]
    [0.841471, 0.540302, 0.828431, 0.560091]
    """
    step = 10000.0 ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = torch.arange(length, dtype=torch.float64)[:, None] * step
    return torch.stack([angles.sin(), angles.cos()], dim=2).reshape(length, width).float()


class PositionTable(nn.Module):  # type: ignore[misc]
    """A fixed table of sinusoids, kept in the checkpoint as `pe`."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.register_buffer("pe", sinusoids(width)[None])


class InputEncoding(nn.Module):  # type: ignore[misc]
    """Project tokens, add their position vectors, normalise."""

    def __init__(self, shape: EncoderShape, table_width: int) -> None:
        super().__init__()
        self.in_proj = nn.Linear(shape.inputs, shape.hidden)
        self.positional_encoding = PositionTable(table_width)
        self.layer_norm = nn.LayerNorm(shape.hidden)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, tokens: Any, positions: Any) -> Any:
        """Turn tokens (batch, n, inputs) and position vectors (..., n, hidden) into (batch, n, hidden)."""
        return self.dropout(self.layer_norm(self.in_proj(tokens) + positions))


class SpectrogramHead(nn.Module):  # type: ignore[misc]
    """Predict a token's input from its output; used in pretraining only."""

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.hidden_layer = nn.Linear(shape.hidden, shape.hidden)
        self.layer_norm = nn.LayerNorm(shape.hidden)
        self.output = nn.Linear(shape.hidden, shape.inputs)

    def forward(self, outputs: Any) -> Any:
        """Turn (..., hidden) into (..., inputs)."""
        return self.output(self.layer_norm(nn.functional.gelu(self.hidden_layer(outputs))))


class BrainBert(nn.Module):  # type: ignore[misc]
    """A transformer over the frames of one electrode's spectrogram.

    Parameters
    ----------
    shape : EncoderShape
        The published one is "large": 43,183,144 parameters.
    """

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.input_encoding = InputEncoding(shape, shape.hidden)
        self.transformer = _stack(shape)
        self.spec_prediction_head = SpectrogramHead(shape)
        self.apply(_start)

    def forward(self, spectra: Any, padded: Any = None) -> Any:
        """Encode spectra (batch, frames, 40) to (batch, frames, hidden).

        `padded` (batch, frames) is True where a frame is padding; each electrode is a sequence of
        its own.
        """
        table = self.input_encoding.positional_encoding.pe[0, : spectra.shape[1]]
        return self.transformer(self.input_encoding(spectra, table), src_key_padding_mask=padded)


class PopulationTransformer(nn.Module):  # type: ignore[misc]
    """A transformer over the electrodes of a recording, each a BrainBERT feature with a place.

    Parameters
    ----------
    shape : EncoderShape
        The published one has 19,967,746 parameters.
    """

    def __init__(self, shape: EncoderShape) -> None:
        super().__init__()
        self.input_encoding = InputEncoding(shape, shape.hidden // 4)
        self.transformer_encoder = _stack(shape)
        self.spec_prediction_head = SpectrogramHead(shape)
        self.cls_head = nn.Linear(shape.hidden, 1)
        self.token_cls_head = nn.Linear(shape.hidden, 1)
        for part in (self.input_encoding, self.transformer_encoder, self.spec_prediction_head):
            part.apply(_start)

    def forward(self, features: Any, places: Any, sequence: Any = None, padded: Any = None) -> Any:
        """Encode a population.

        Parameters
        ----------
        features : tensor (batch, electrodes, inputs)
            BrainBERT features.
        places : int64 tensor (batch, electrodes, 3)
            Left, inferior, posterior, each in [0, 4999].
        sequence : int64 tensor (batch, electrodes), optional
            Which of two windows an electrode is from, in pretraining; 0 for all by default.
        padded : bool tensor (batch, electrodes), optional
            True where there is no electrode.

        Returns
        -------
        tensor (batch, 1 + electrodes, hidden)
            The first token stands for the population.
        """
        batch, electrodes = features.shape[:2]
        if sequence is None:
            sequence = torch.zeros(batch, electrodes, dtype=torch.int64, device=features.device)
        table = self.input_encoding.positional_encoding.pe[0]
        indices = torch.cat([places, sequence[..., None]], dim=2)
        positions = table[indices].flatten(2)
        # The population's token is made of ones, and stands at position 0 four times.
        ones = torch.ones_like(features[:, :1])
        origin = table[0].repeat(4).expand(batch, 1, -1)
        tokens = self.input_encoding(torch.cat([ones, features], 1), torch.cat([origin, positions], 1))
        if padded is not None:
            padded = torch.cat([torch.zeros_like(padded[:, :1]), padded], dim=1)
        return self.transformer_encoder(tokens, src_key_padding_mask=padded)


def _stack(shape: EncoderShape) -> Any:
    layer = nn.TransformerEncoderLayer(
        shape.hidden, shape.heads, shape.feedforward, DROPOUT, activation="gelu", batch_first=True
    )
    # Nested tensors drop padded places from the output; ours keep their shape.
    return nn.TransformerEncoder(layer, shape.layers, enable_nested_tensor=False)


def _start(module: Any) -> None:
    """Initialise as the authors do: zero biases, and layer norms whose bias is one."""
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
    elif isinstance(module, nn.LayerNorm):
        nn.init.ones_(module.bias)
