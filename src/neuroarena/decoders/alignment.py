"""Bring recordings with different electrodes into one matrix."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Group, Part
from neuroarena.errors import InputError
from neuroarena.features import region_average, shared_regions

_LISTED = 12


@dataclass(frozen=True)
class Alignment:
    """How the channels of several recordings become the same columns.

    Recordings with the same channels in the same order keep them. Otherwise channels are matched by name: those that
    all recordings have, in the order of the first. The name of an implanted electrode says nothing about another
    person's, so channels that differ are then averaged over the regions that all recordings share, the
    published rule for decoding across subjects; so are channels without a name in common.

    Attributes
    ----------
    regions : tuple of str, optional
        The regions that are averaged over.
    names : tuple of str, optional
        The channels taken from every recording, in this order.
    """

    regions: tuple[str, ...] | None
    names: tuple[str, ...] | None = None

    @classmethod
    def between(cls, tables: Sequence[pd.DataFrame]) -> Alignment:
        """Choose the alignment of these channel tables. A warning tells which channels are left out.

        Raises
        ------
        InputError
            When channels differ and neither a name nor a region is shared.
        """
        listed = list(dict.fromkeys(tuple(table["name"]) for table in tables))
        if len(listed) == 1:
            return cls(None)
        if any("ieeg" in set(table.get("kind", ())) for table in tables):
            return cls(tuple(shared_regions(tables)))
        everywhere = set.intersection(*(set(names) for names in listed))
        if everywhere:
            _tell_what_is_left_out(listed, everywhere)
            return cls(None, tuple(name for name in listed[0] if name in everywhere))
        if set.intersection(*(set(table["region"]) - {""} for table in tables)):
            return cls(tuple(shared_regions(tables)))
        first = listed[0]
        other = next((names for names in listed[1:] if not set(names) & set(first)), listed[-1])
        raise InputError(
            f"The recordings have no channel name in common, and no region. One has {_list(first)}; another has "
            f"{_list(other)}. Rename channels, or interpolate to one montage (features.InterpolateChannels)."
        )

    @property
    def n_channels(self) -> int | None:
        """Number of channels or regions after alignment; None where every recording keeps its own."""
        kept = self.regions if self.regions is not None else self.names
        return None if kept is None else len(kept)

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
        if self.regions is not None:
            return region_average(group.signals, group.channels, list(self.regions))[0]
        if self.names is None:
            return group.signals
        place = {name: row for row, name in enumerate(group.channels["name"])}
        return group.signals[:, [place[name] for name in self.names]]


def stack(alignment: Alignment, part: Part) -> np.ndarray:
    """Join the groups of a part: float32 array (n, channels or regions, ...), newly allocated."""
    shape = part[0].signals.shape[1:]
    return alignment.matrix(part).reshape(-1, alignment.n_channels or shape[0], *shape[1:])


def _tell_what_is_left_out(listed: Sequence[Sequence[str]], everywhere: set[str]) -> None:
    some = sorted({name for names in listed for name in names} - everywhere)
    if some:
        warnings.warn(
            f"Channels: {len(everywhere)} are in all recordings; {len(some)} that some recordings lack are left out: "
            f"{_list(some)}.",
            stacklevel=3,
        )


def _list(names: Sequence[str]) -> str:
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(names[:_LISTED]) + more
