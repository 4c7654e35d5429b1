"""The two kinds of work in a run: computing a shard of features, and judging one decoder on one fold."""

from __future__ import annotations

import copy
import hashlib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from neuroarena.decoders import Context, Decoder, Group
from neuroarena.evaluation.cache import CellCache
from neuroarena.evaluation.feature_store import FeatureStore
from neuroarena.evaluation.prediction_table import prediction_table
from neuroarena.features import FeatureChain
from neuroarena.recordings import Recording
from neuroarena.scoring import Manifest


@dataclass(frozen=True)
class WindowSet:
    """Examples of one part that lie in one recording."""

    recording: Recording
    fingerprint: str
    starts: np.ndarray
    length: int
    table: pd.DataFrame
    targets: np.ndarray | None

    def digest(self) -> str:
        """SHA-256 over the recording's fingerprint, the windows, the ids and the targets."""
        content = hashlib.sha256(f"{self.fingerprint} {self.length}".encode())
        content.update(self.starts.tobytes())
        targets = [] if self.targets is None else self.targets.tolist()
        for values in (self.table["id"].tolist(), targets):
            content.update("\n".join(map(str, values)).encode() + b"\0")
        return content.hexdigest()

    def group(self, chain: FeatureChain, cache: Path, blind: bool = False) -> Group:
        """Read the windows, or gather their features, as a decoder sees them; nothing for a blind one."""
        recording = self.recording
        if blind:
            signals = np.empty((len(self.starts), len(recording.channels), 0), dtype=np.float32)
            return Group(signals, recording.channels, recording.rate_hz, self.table, self.targets)
        if not chain.steps:
            signals = recording.windows(self.starts, self.length)
            return Group(signals, recording.channels, recording.rate_hz, self.table, self.targets)
        signals = FeatureStore(cache, self.fingerprint, chain, self.length).gather(self.starts)
        return Group(
            signals, self.channels(chain), chain.rate_after(recording.rate_hz), self.table, self.targets
        )

    def channels(self, chain: FeatureChain) -> pd.DataFrame:
        """Give the channel table that comes out of a feature chain."""
        blank = np.zeros((1, len(self.recording.channels), self.length), dtype=np.float32)
        return chain(blank, self.recording.channels, self.recording.rate_hz)[1]


@dataclass(frozen=True)
class FeatureShard:
    """Compute the features of some windows of one recording and keep them."""

    recording: Recording
    fingerprint: str
    chain: FeatureChain
    length: int
    starts: np.ndarray

    @property
    def label(self) -> str:
        """What this work is, for people."""
        return f"{self.chain.name} of {self.recording.name}"

    def run(self, cache: Path) -> None:
        """Do it; the shard is in the store afterwards."""
        FeatureStore(cache, self.fingerprint, self.chain, self.length).compute(self.recording, self.starts)


@dataclass(frozen=True)
class Cell:
    """Fit one decoder on the training part of one fold and predict its test part."""

    benchmark: str
    split: str
    fold: str
    decoder: Decoder
    manifest: Manifest
    seed: int
    key: str
    train: tuple[WindowSet, ...]
    validation: tuple[WindowSet, ...]
    test: tuple[WindowSet, ...]

    @property
    def label(self) -> str:
        """What this work is, for people."""
        return f"{self.benchmark} {self.split} {self.fold}"

    def window_sets(self) -> Iterator[WindowSet]:
        """Go through the windows of all three parts."""
        yield from (*self.train, *self.validation, *self.test)

    def run(self, cache: Path) -> None:
        """Do it; the predictions are in the cell cache afterwards.

        Raises
        ------
        NeuroarenaError
            When the predictions do not have the form that the manifest asks for.
        """
        decoder = copy.deepcopy(self.decoder)
        chain, blind = decoder.features, getattr(decoder, "blind", False)
        context = Context(
            classes=self.manifest.classes,
            test_channels=tuple(windows.channels(chain) for windows in self.test),
            rng=np.random.default_rng(self.seed),
        )
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            train = [windows.group(chain, cache, blind) for windows in self.train]
            validation = [windows.group(chain, cache, blind) for windows in self.validation] or None
            decoder.fit(train, validation, context)
            del train, validation
            predicted = decoder.predict([windows.group(chain, cache, blind) for windows in self.test])
        ids = np.concatenate([windows.table["id"].to_numpy() for windows in self.test])
        table = prediction_table(predicted, ids, self.manifest)
        said = sorted({f"{warning.category.__name__}: {warning.message}" for warning in caught})
        CellCache(cache).write(self.key, table, {"warnings": said})
