"""What a cell reads: the windows, or the streams, of one part that lie in one recording."""

from __future__ import annotations

import functools
import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Codebook
from neuroarena.decoders import Group
from neuroarena.evaluation.feature_store import FeatureStore
from neuroarena.features import FeatureChain
from neuroarena.recordings import Recording


@dataclass(frozen=True)
class WindowSet:
    """Examples of one part that lie in one recording, windows of equal length.

    `shards` names where their features are, so far as whoever planned the run knows.
    """

    recording: Recording
    fingerprint: str
    starts: np.ndarray
    length: int
    table: pd.DataFrame
    targets: np.ndarray | None
    codebook: Codebook | None = None
    shards: tuple[str, ...] = ()
    _shuffled: dict[bytes, WindowSet] = field(default_factory=dict, init=False, repr=False, compare=False)

    @functools.cached_property
    def ids(self) -> np.ndarray:
        """The ids of the examples; every cell of a fold asks for them."""
        return self.table["id"].to_numpy(dtype=object)

    def digest(self) -> str:
        """SHA-256 over the recording's fingerprint, the windows, what is known about them and the targets."""
        content = hashlib.sha256(f"{self.fingerprint} {self.length}".encode())
        content.update(self.starts.tobytes())
        _update(content, self.table, self.targets)
        if self.codebook is not None and self.targets is not None:
            content.update(self.codebook.fingerprint().encode())
        return content.hexdigest()

    def group(self, chain: FeatureChain, cache: Path, blind: bool = False) -> Group:
        """Read the windows, or gather their features, as a decoder sees them; nothing for a blind one."""
        recording = self.recording
        targets = self.targets
        if self.codebook is not None and targets is not None:
            targets = self.codebook.vectors(targets)
        if blind:
            return Group(_no_samples(self), recording.channels, recording.rate_hz, self.table, targets)
        if not chain.steps:
            signals = recording.windows(self.starts, self.length)
            return Group(signals, recording.channels, recording.rate_hz, self.table, targets)
        store = FeatureStore(cache, self.fingerprint, chain, self.length, self.shards)
        signals = store.gather(recording, self.starts)
        return Group(signals, self.channels(chain), chain.rate_after(recording.rate_hz), self.table, targets)

    def channels(self, chain: FeatureChain) -> pd.DataFrame:
        """Return the channel table that comes out of a feature chain."""
        return channels_after(chain, self.recording, self.length)

    def select(self, rows: np.ndarray) -> WindowSet:
        """Return some of these examples, with their targets."""
        table = self.table.iloc[rows].reset_index(drop=True)
        targets = None if self.targets is None else self.targets[rows]
        return replace(self, starts=self.starts[rows], table=table, targets=targets)

    def shuffle(self, rows: np.ndarray, tokens: np.ndarray) -> WindowSet:
        """Return these examples in another order, without targets, and with ids replaced by tokens.

        All decoders on a fold are asked in one order, so the last one is kept. It is shared: a decoder is given a part
        of it, as :meth:`cut` returns it, and never the whole.
        """
        key = rows.tobytes() + tokens.tobytes()
        if key not in self._shuffled:
            table = self.table.take(rows)
            table.index = pd.RangeIndex(len(rows))
            table["id"] = [f"{token:08d}" for token in tokens.tolist()]
            self._shuffled.clear()
            self._shuffled[key] = replace(
                self, starts=self.starts[rows], table=table, targets=None, codebook=None
            )
        return self._shuffled[key]

    def cut(self, first: int, last: int) -> WindowSet:
        """Return a copy of the examples from `first` to before `last`, which must be without targets."""
        assert self.targets is None
        table = self.table.iloc[first:last].set_axis(pd.RangeIndex(last - first))
        return replace(self, starts=self.starts[first:last], table=table)


@dataclass(frozen=True)
class StreamSet:
    """Examples of one part that lie in one recording, stretches to be played as streams."""

    recording: Recording
    fingerprint: str
    starts: np.ndarray
    stops: np.ndarray
    window: int
    table: pd.DataFrame
    targets: np.ndarray | None
    events: pd.DataFrame | None

    @functools.cached_property
    def ids(self) -> np.ndarray:
        """The ids of the examples; all cells of a fold ask for them."""
        return self.table["id"].to_numpy(dtype=object)

    def digest(self) -> str:
        """SHA-256 over the recording's fingerprint, the stretches, the ids, the targets and the events."""
        content = hashlib.sha256(f"{self.fingerprint} {self.window}".encode())
        content.update(self.starts.tobytes() + self.stops.tobytes())
        _update(content, self.table, self.targets)
        if self.events is not None:
            content.update(self.events.to_csv(index=False).encode())
        return content.hexdigest()

    def select(self, rows: np.ndarray) -> StreamSet:
        """Return some of these examples, with their targets."""
        table = self.table.iloc[rows].reset_index(drop=True)
        targets = None if self.targets is None else self.targets[rows]
        return replace(self, starts=self.starts[rows], stops=self.stops[rows], table=table, targets=targets)

    def group(self, chain: FeatureChain) -> Group:
        """Return the examples as a decoder learns from them: the recording itself, and its events."""
        table = self.table.assign(start=self.starts, stop=self.stops)
        recording = self.recording
        return Group(
            _no_samples(self),
            self.channels(chain),
            recording.rate_hz,
            table,
            self.targets,
            recording,
            self.events,
        )

    def channels(self, chain: FeatureChain) -> pd.DataFrame:
        """Return the channel table that comes out of a feature chain."""
        return channels_after(chain, self.recording, self.window)


def channels_after(chain: FeatureChain, recording: Recording, length: int) -> pd.DataFrame:
    """Return the channel table of a recording after a feature chain."""
    if not chain.steps:
        return recording.channels
    blank = np.zeros((1, len(recording.channels), length), dtype=np.float32)
    return chain(blank, recording.channels, recording.rate_hz)[1]


def _no_samples(examples: WindowSet | StreamSet) -> np.ndarray:
    return np.empty((len(examples.starts), len(examples.recording.channels), 0), dtype=np.float32)


def _update(content: Any, table: pd.DataFrame, targets: np.ndarray | None) -> None:
    for column in table.columns:
        content.update("\n".join(map(str, table[column].tolist())).encode() + b"\0")
    content.update("\n".join(map(str, [] if targets is None else targets.tolist())).encode() + b"\0")
