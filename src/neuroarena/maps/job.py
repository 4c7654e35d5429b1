"""The work of a map: a few electrodes of one session, in every time bin and fold, with every draw of the null."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neuroarena.errors import InputError
from neuroarena.features import FeatureChain
from neuroarena.features.blocks import window_slices
from neuroarena.maps.bin_features import BinFeatures
from neuroarena.maps.decoding import FoldLayout, LabelColumns, decode_cell
from neuroarena.recordings import Recording
from neuroarena.sealed import SealedFolder

# Draws of the null are kept as whole numbers of this many steps between 0 and 1: exact to 8e-6.
STEPS = 65535
# Windows are prepared for this many bytes at a time.
_RUN_BYTES = 16 << 20


@dataclass(frozen=True)
class ItemSource:
    """Items that lie in one recording.

    Attributes
    ----------
    recording : Recording
    rows : int array
        Places of these items among those of the job.
    starts : int array
        First samples of their windows.
    """

    recording: Recording
    rows: np.ndarray
    starts: np.ndarray


@dataclass(frozen=True)
class MapJob:
    """Decode some electrodes of one session; tasks that share their items are decoded together.

    Attributes
    ----------
    label, key : str
        A description for people, and the name of the product.
    sources : tuple of ItemSource
    electrodes : tuple of str
    length : int
        Samples of a window as it is read.
    preparation : FeatureChain
        What windows go through first.
    bins : tuple of int
        First sample of every time bin within a prepared window.
    features : BinFeatures
    layout : FoldLayout
    labels : dict of task to array (items,)
    shifts : int array (draws, blocks), or (draws, folds) where folds do not swap roles
    """

    label: str
    key: str
    sources: tuple[ItemSource, ...]
    electrodes: tuple[str, ...]
    length: int
    preparation: FeatureChain
    bins: tuple[int, ...]
    features: BinFeatures
    layout: FoldLayout
    labels: dict[str, np.ndarray]
    shifts: np.ndarray

    def is_done(self, cache: Path) -> bool:
        """Return whether the product is in the cache already."""
        return entry_of(self.key) in SealedFolder(cache)

    def run(self, cache: Path) -> None:
        """Decode every electrode and bin; the AUROCs are in the cache afterwards.

        Raises
        ------
        InputError
            When an electrode holds numbers that are not finite.
        """
        signals = self._read()
        shape = (len(self.labels), self.layout.n_folds, len(self.electrodes), len(self.bins))
        observed, tested = np.empty(shape), np.empty(shape)
        null = np.empty((len(self.labels), len(self.shifts), *shape[1:]), dtype=np.uint16)
        columns = {}
        if len(self.shifts) and self.layout.swaps_roles:
            columns = {
                task: LabelColumns.shifted(truth, self.layout, self.shifts)
                for task, truth in self.labels.items()
            }
        for electrode in range(len(self.electrodes)):
            for place, first in enumerate(self.bins):
                segments = signals[:, electrode, first : first + self.features.n_samples]
                found = decode_cell(self.features(segments), self.layout, self.labels, columns, self.shifts)
                for row, each in enumerate(found.values()):
                    observed[row, :, electrode, place] = each.observed
                    tested[row, :, electrode, place] = each.tested
                    null[row, :, :, electrode, place] = np.rint(each.null * STEPS)
        sink = io.BytesIO()
        np.savez_compressed(sink, observed=observed, tested=tested, null=null)
        SealedFolder(cache).write(entry_of(self.key), sink.getbuffer())

    def _read(self) -> np.ndarray:
        """Read the windows of these electrodes: float32 (items, electrodes, samples)."""
        signals = self._read_source(self.sources[0])
        if len(self.sources) > 1:
            n_items = sum(len(source.rows) for source in self.sources)
            whole = np.empty((n_items, *signals.shape[1:]), dtype=np.float32)
            whole[self.sources[0].rows] = signals
            for source in self.sources[1:]:
                whole[source.rows] = self._read_source(source)
            signals = whole
        # Extremes pass on what is not finite, without an array of answers as large as the signals.
        broken = ~np.isfinite(signals.max(axis=(0, 2)) - signals.min(axis=(0, 2)))
        if broken.any():
            name = self.electrodes[int(np.flatnonzero(broken)[0])]
            raise InputError(
                f"{self.sources[0].recording.name}: electrode {name} has values that are not finite in some windows. "
                "Leave it out, for example by marking it as bad, or leave those events out."
            )
        return signals

    def _read_source(self, source: ItemSource) -> np.ndarray:
        recording, names = source.recording, list(self.electrodes)
        if not self.preparation.steps:
            return recording.windows(source.starts, self.length, names)
        # A step may need every channel, as an average reference does: all are read, these are kept.
        size = 4 * len(recording.channels) * self.length
        kept = []
        for run in window_slices(len(source.starts), size, _RUN_BYTES):
            block, channels = self.preparation(
                recording.windows(source.starts[run], self.length), recording.channels, recording.rate_hz
            )
            order = {name: row for row, name in enumerate(channels["name"])}
            kept.append(block[:, [order[name] for name in names]])
        return np.concatenate(kept)


def entry_of(key: str) -> str:
    """Return the name of a job's product in the cache."""
    return f"maps/{key[:2]}/{key}.array"


@dataclass(frozen=True)
class JobResult:
    """What a job left in the cache: AUROC (tasks, folds, electrodes, bins), and the null with draws after tasks."""

    observed: np.ndarray
    tested: np.ndarray
    null: np.ndarray


def read_result(cache: Path, key: str, with_null: bool = True) -> JobResult | None:
    """Read the product of a job; None when there is none, or none that can be trusted."""
    content = SealedFolder(cache).read(entry_of(key))
    if content is None:
        return None
    with np.load(io.BytesIO(content), allow_pickle=False) as arrays:
        null = arrays["null"] if with_null else np.empty((0,), dtype=np.uint16)
        return JobResult(arrays["observed"], arrays["tested"], null)
