"""Features of windows, computed once and shared by every task, fold and decoder that uses them."""

from __future__ import annotations

import functools
import os
from pathlib import Path

import numpy as np

from neuroarena.atomic import replacing
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import digest
from neuroarena.recordings import Recording

SHARD_BYTES = 64 * 2**20
# Small chunks stay in the cache of the processor: reading 3,500 windows took 1.9 s with 32, 6.6 s with 256.
_READ_CHUNK = 32


@functools.lru_cache(maxsize=256)
def _chain_fingerprint(chain: FeatureChain) -> str:
    """Fingerprint a chain once per process: a plan asks for every recording of every fold."""
    return chain.fingerprint()


class FeatureStore:
    """Shards of features on disk, found by recording, feature chain and window length.

    A shard is two arrays: the sample at which each window starts, and the features of each window.
    The starts are renamed into place last, so a shard exists completely or not at all. Shards may
    overlap; a window found twice has the same features in both.

    Parameters
    ----------
    root : Path
        Folder of the cache.
    recording_fingerprint : str
    chain : FeatureChain
    length : int
        Samples of a window.
    """

    def __init__(self, root: Path, recording_fingerprint: str, chain: FeatureChain, length: int) -> None:
        self.chain = chain
        self.length = length
        key = digest([recording_fingerprint, _chain_fingerprint(chain), length])
        self.folder = root / "features" / key[:2] / key

    def missing(self, starts: np.ndarray) -> np.ndarray:
        """Return the starts that are not stored yet, sorted and unique."""
        stored = [np.load(path) for path in self._shards()]
        wanted = np.unique(starts)
        return wanted if not stored else np.setdiff1d(wanted, np.concatenate(stored))

    def compute(self, recording: Recording, starts: np.ndarray) -> None:
        """Compute the features of these windows and store them as one shard."""
        shard: np.ndarray | None = None
        for positions, windows in recording.iter_windows(starts, self.length, chunk=_READ_CHUNK):
            values, _ = self.chain(windows, recording.channels, recording.rate_hz)
            if shard is None:
                shard = np.empty((len(starts), *values.shape[1:]), dtype=np.float32)
            shard[positions] = values
        if shard is None:
            return
        name = digest(starts.tolist())[:24]
        with replacing(self.folder / f"{name}.features.npy") as temporary, open(temporary, "wb") as file:
            np.save(file, shard, allow_pickle=False)
        with replacing(self.folder / f"{name}.starts.npy") as temporary, open(temporary, "wb") as file:
            np.save(file, starts, allow_pickle=False)

    def gather(self, starts: np.ndarray) -> np.ndarray:
        """Return the features of these windows in this order: float32 array (n, channels, ...)."""
        gathered: np.ndarray | None = None
        found = np.zeros(len(starts), dtype=bool)
        for path in self._shards():
            shard_starts = np.load(path)
            rows = np.searchsorted(shard_starts, starts)
            rows[rows == len(shard_starts)] = 0
            here = (shard_starts[rows] == starts) & ~found
            if not here.any():
                continue
            values = np.load(path.with_name(path.name.replace(".starts.", ".features.")), mmap_mode="r")
            if gathered is None:
                gathered = np.empty((len(starts), *values.shape[1:]), dtype=np.float32)
            gathered[here] = values[rows[here]]
            found |= here
        if gathered is None or not found.all():
            raise FileNotFoundError(
                f"{int((~found).sum())} windows have no stored features; the cache was emptied. "
                "Run the same command again."
            )
        return gathered

    def _shards(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(self.folder / name for name in os.listdir(self.folder) if name.endswith(".starts.npy"))


def shard_starts(starts: np.ndarray, bytes_a_window: int) -> list[np.ndarray]:
    """Divide sorted starts into shards of about :data:`SHARD_BYTES`, neighbours in time together."""
    size = int(np.clip(SHARD_BYTES // max(bytes_a_window, 1), 16, 2048))
    return [starts[first : first + size] for first in range(0, len(starts), size)]
