"""An encoder with a linear head, trained together; imported only when one is fine-tuned."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from neuroarena.decoders.decoder import Part
from neuroarena.decoders.encoders import Pooling, describe_channels, pool
from neuroarena.errors import InputError


class TunedEncoder(nn.Module):  # type: ignore[misc]
    """An encoder and a head that are asked for rows of a part, because every recording has electrodes of its own.

    Parameters
    ----------
    encoder : torch module
        Trained in place.
    pooling : {"mean", "flatten"}
    n_outputs : int
    part : Part
        What the rows are counted in, one recording after the other; see :meth:`show`.

    Raises
    ------
    InputError
        When recordings have embeddings of different lengths.
    """

    def __init__(self, encoder: Any, pooling: Pooling, n_outputs: int, part: Part) -> None:
        super().__init__()
        self.encoder, self.pooling = encoder, pooling
        self.show(part)
        encoder.eval()
        with torch.no_grad():
            few = [self._embed(place, torch.arange(min(len(group), 16))) for place, group in enumerate(part)]
        lengths = sorted({found.shape[1] for found in few})
        if len(lengths) != 1:
            raise InputError(
                f"The encoder's embeddings have {lengths[0]} numbers for one recording and {lengths[-1]} for another; "
                'one head needs one length. Use pooling="mean".'
            )
        self.head = nn.Linear(lengths[0], n_outputs)
        # Embeddings may have any scale: as they are at the start, they decide how the head sees them.
        found = torch.cat(few)
        spread = found.std(dim=0, correction=0)
        self.register_buffer("centre", found.mean(dim=0))
        self.register_buffer("spread", torch.where(spread > 0, spread, torch.ones_like(spread)))

    def show(self, part: Part) -> None:
        """Let rows be counted in another part; its windows are not kept in the state of the module."""
        self.part_ = list(part)
        sizes = torch.tensor([0, *(len(group) for group in part)])
        self.first_ = torch.cumsum(sizes, 0)

    def forward(self, rows: Any) -> Any:
        """Return the outputs (n, outputs) for rows (n,) of the part."""
        where = rows.cpu()
        found = rows.new_empty((len(rows), len(self.centre)), dtype=self.centre.dtype)
        owner = torch.searchsorted(self.first_, where, right=True) - 1
        for place in owner.unique().tolist():
            here = owner == place
            found[here.to(rows.device)] = self._embed(place, where[here] - self.first_[place]).to(found.dtype)
        return self.head((found - self.centre) / self.spread)

    def _embed(self, place: int, rows: Any) -> Any:
        group = self.part_[place]
        windows = torch.from_numpy(group.signals[rows.numpy()]).float()
        device = next((each.device for each in self.encoder.parameters()), torch.device("cpu"))
        said = self.encoder(windows.to(device), **describe_channels(group.channels, group.rate_hz))
        return pool(said, self.pooling, len(rows))
