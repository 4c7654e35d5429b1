"""Recordings made of pieces of others: one person's EEG in one piece, or two inputs side by side."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from neuroarena.families.eeg2025.windows import WINDOW
from neuroarena.fingerprint import digest
from neuroarena.recordings import Recording
from neuroarena.recordings.blocks import Source


class PiecesSource(Source):
    """Pieces of 2 s of several recordings, one after the other; read on demand.

    Parameters
    ----------
    recordings : sequence of Recording
        All with the same channels.
    owners, starts : int arrays (pieces,)
        Which recording each piece lies in, and its first sample there.
    name : str
        Name used in errors.
    """

    def __init__(
        self, recordings: Sequence[Recording], owners: np.ndarray, starts: np.ndarray, name: str
    ) -> None:
        self.name = name
        self.recordings = tuple(recordings)
        self.owners, self.starts = np.asarray(owners), np.asarray(starts)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self.recordings[0].channels)

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel."""
        return len(self.starts) * WINDOW

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        first, last = start // WINDOW, -(-stop // WINDOW)
        out = np.empty((last - first, len(indices), WINDOW), dtype=np.float32)
        names = self.recordings[0].channels["name"].to_numpy()[indices].tolist()
        owners, starts = self.owners[first:last], self.starts[first:last]
        for owner in np.unique(owners):
            own = np.flatnonzero(owners == owner)
            out[own] = self.recordings[owner].windows(starts[own], WINDOW, names)
        joined = out.transpose(1, 0, 2).reshape(len(indices), -1)
        return np.ascontiguousarray(joined[:, start - first * WINDOW : stop - first * WINDOW])

    def fingerprint(self) -> str:
        """Return a hash of the recordings and of the pieces."""
        content = [recording.fingerprint() for recording in self.recordings]
        return digest([content, self.owners.tolist(), self.starts.tolist()])


class StackedSource(Source):
    """Two sources of the same length, the channels of the second after those of the first."""

    def __init__(self, first: Source, second: Source, name: str) -> None:
        self.name = name
        self.parts = (first, second)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return self.parts[0].n_channels + self.parts[1].n_channels

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel."""
        return self.parts[0].n_samples

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices` as float32."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        border = self.parts[0].n_channels
        for part, own in zip(self.parts, (indices < border, indices >= border), strict=True):
            if own.any():
                shift = 0 if part is self.parts[0] else border
                out[own] = part.read_block(start, stop, indices[own] - shift)
        return out

    def fingerprint(self) -> str:
        """Return a hash of both."""
        return digest([part.fingerprint() for part in self.parts])


def stacked_channels(channels: pd.DataFrame, first: str, second: str) -> pd.DataFrame:
    """Return the channel table of two inputs side by side, each name followed by its input."""
    tables = [channels.assign(name=channels["name"] + f" {word}") for word in (first, second)]
    return pd.concat(tables, ignore_index=True)
