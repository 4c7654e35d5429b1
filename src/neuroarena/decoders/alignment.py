"""Bring recordings with different electrodes into one matrix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Group, Part
from neuroarena.features import region_average, shared_regions


@dataclass(frozen=True)
class Alignment:
    """How the channels of several recordings become the same columns.

    Recordings with the same channels in the same order keep them. Otherwise channels are averaged
    over the regions that all recordings share, the published rule for decoding across subjects.
    """

    regions: tuple[str, ...] | None

    @classmethod
    def between(cls, tables: Sequence[pd.DataFrame]) -> Alignment:
        """Choose the alignment of these channel tables.

        Raises
        ------
        InputError
            When channels differ and no region is shared.
        """
        names = {tuple(table["name"]) for table in tables}
        return cls(None) if len(names) == 1 else cls(tuple(shared_regions(tables)))

    def matrix(self, part: Part) -> np.ndarray:
        """Flatten a part: float32 array (examples, features), newly allocated."""
        rows = sum(len(group) for group in part)
        matrix: np.ndarray | None = None
        first = 0
        for group in part:
            flat = self._align_group(group).reshape(len(group), -1)
            if matrix is None:
                matrix = np.empty((rows, flat.shape[1]), dtype=np.float32)
            matrix[first : first + len(group)] = flat
            first += len(group)
        return np.empty((0, 0), dtype=np.float32) if matrix is None else matrix

    def _align_group(self, group: Group) -> np.ndarray:
        if self.regions is None:
            return group.signals
        return region_average(group.signals, group.channels, list(self.regions))[0]


def stack(alignment: Alignment, part: Part) -> np.ndarray:
    """Join the groups of a part: float32 array (n, channels or regions, ...), newly allocated."""
    shape = part[0].signals.shape[1:]
    n_channels = shape[0] if alignment.regions is None else len(alignment.regions)
    return alignment.matrix(part).reshape(-1, n_channels, *shape[1:])
