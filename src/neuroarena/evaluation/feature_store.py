"""Features of windows, computed once and shared by every task, fold and decoder that uses them."""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np

from neuroarena.errors import NeuroarenaError
from neuroarena.features import FeatureChain
from neuroarena.fingerprint import digest
from neuroarena.recordings import Recording
from neuroarena.sealed import SealedFolder

SHARD_BYTES = 64 * 2**20
# Small chunks stay in the cache of the processor: reading 3,500 windows took 1.9 s with 32, 6.6 s with 256.
_READ_CHUNK = 32
_STARTS, _FEATURES = ".starts", ".features"
# NumPy's header of a plain array takes 128 bytes.
_HEADER_BYTES = 1024


@functools.lru_cache(maxsize=256)
def _chain_fingerprint(chain: FeatureChain) -> str:
    """Fingerprint a chain once per process: a plan asks for every recording of every fold."""
    return chain.fingerprint()


class FeatureStore:
    """Shards of features on disk, found by recording, feature chain and window length.

    A shard is two sealed arrays: the sample at which each window starts, and the features of each window.
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
    named : sequence of str
        Shards known to be there, read even where the folder does not list them: on a network drive, what another
        machine has just written may be missing from a listing for a minute.
    """

    def __init__(
        self,
        root: Path,
        recording_fingerprint: str,
        chain: FeatureChain,
        length: int,
        named: Sequence[str] = (),
    ) -> None:
        self.chain = chain
        self.length = length
        self.named = named
        self.cache = SealedFolder(root)
        key = digest([recording_fingerprint, _chain_fingerprint(chain), length])
        self.place = f"features/{key[:2]}/{key}"

    def missing(self, starts: np.ndarray) -> np.ndarray:
        """Return the starts that are not stored yet, sorted and unique."""
        wanted = np.unique(starts)
        stored = [shard_starts for _, shard_starts in self._shards()]
        return wanted if not stored else np.setdiff1d(wanted, np.concatenate(stored))

    def compute(self, recording: Recording, starts: np.ndarray) -> None:
        """Compute the features of these windows and store them as one shard."""
        shard = self._featurize(recording, starts)
        if shard is None:
            return
        name = name_shard(starts)
        for entry, array in ((self._features(name), shard), (self._starts(name), starts)):
            with self.cache.writing(entry) as writer:
                np.lib.format.write_array(cast(Any, writer), array, allow_pickle=False)

    def _featurize(self, recording: Recording, starts: np.ndarray) -> np.ndarray | None:
        """Return the features of these windows: float32 array (n, channels, ...); None for no windows."""
        shard: np.ndarray | None = None
        for positions, windows in recording.iter_windows(starts, self.length, chunk=_READ_CHUNK):
            values, _ = self.chain(windows, recording.channels, recording.rate_hz)
            if shard is None:
                shard = np.empty((len(starts), *values.shape[1:]), dtype=np.float32)
            shard[positions] = values
        return shard

    def gather(self, recording: Recording, starts: np.ndarray) -> np.ndarray:
        """Return the features of these windows in this order: float32 array (n, channels, ...).

        Those that are gone, or damaged, are computed from the recording again.

        Raises
        ------
        NeuroarenaError
            When what is written cannot be read back.
        """
        gathered, found = self._collect(recording, starts)
        if not found.all():
            lost = np.unique(starts[~found])
            for part in cut_shards(lost, self.bytes_a_window(recording)):
                self.compute(recording, part)
            gathered, found = self._collect(recording, starts)
        if gathered is None or not found.all():
            raise NeuroarenaError(
                f"{self.cache.root / self.place}: {int((~found).sum())} windows were stored and cannot be read back. "
                "Check the disk, or name another folder with --cache."
            )
        return gathered

    def bytes_a_window(self, recording: Recording) -> int:
        """Return how much room the features of one window take."""
        blank = np.zeros((1, len(recording.channels), self.length), dtype=np.float32)
        values: Any = self.chain(blank, recording.channels, recording.rate_hz)[0]
        return int(values.nbytes)

    def _collect(self, recording: Recording, starts: np.ndarray) -> tuple[np.ndarray | None, np.ndarray]:
        """Collect stored features, and which of the windows were found; a damaged shard is made again as it was."""
        gathered: np.ndarray | None = None
        found = np.zeros(len(starts), dtype=bool)
        for name, shard_starts in self._shards():
            rows = np.searchsorted(shard_starts, starts)
            rows[rows == len(shard_starts)] = 0
            here = (shard_starts[rows] == starts) & ~found
            if not here.any():
                continue
            content = self.cache.map(self._features(name))
            if content is None:
                self.compute(recording, shard_starts)
                content = self.cache.map(self._features(name))
            if content is None:
                continue
            values = _as_array(content)
            if gathered is None:
                gathered = np.empty((len(starts), *values.shape[1:]), dtype=np.float32)
            gathered[here] = values[rows[here]]
            found |= here
        return gathered, found

    def _shards(self) -> Iterator[tuple[str, np.ndarray]]:
        """Iterate over names and starts of the shards; one with damaged starts is left out."""
        for name in sorted({*self.list_shards(), *self.named}):
            content = self.cache.read(self._starts(name))
            if content is not None:
                yield name, _as_array(content)

    def list_shards(self) -> list[str]:
        """Return the names of the shards that the folder lists."""
        folder = self.cache.path(self.place)
        names = os.listdir(folder) if folder.is_dir() else []
        return [name.removesuffix(_STARTS) for name in names if name.endswith(_STARTS)]

    def _starts(self, name: str) -> str:
        return f"{self.place}/{name}{_STARTS}"

    def _features(self, name: str) -> str:
        return f"{self.place}/{name}{_FEATURES}"


def name_shard(starts: np.ndarray) -> str:
    """Return the name of the shard that holds exactly these windows."""
    return digest(starts.tolist())[:24]


def _as_array(content: memoryview) -> np.ndarray:
    """Return the array that an entry holds, without copying it."""
    head = io.BytesIO(content[:_HEADER_BYTES])
    np.lib.format.read_magic(head)
    shape, _, dtype = np.lib.format.read_array_header_1_0(head)
    return np.frombuffer(content, dtype=dtype, offset=head.tell()).reshape(shape)


def cut_shards(starts: np.ndarray, bytes_a_window: int) -> list[np.ndarray]:
    """Divide sorted starts into shards of about :data:`SHARD_BYTES`, neighbours in time together."""
    size = int(np.clip(SHARD_BYTES // max(bytes_a_window, 1), 16, 2048))
    return [starts[first : first + size] for first in range(0, len(starts), size)]
