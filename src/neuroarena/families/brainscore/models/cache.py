"""Responses of models cached on disk, keyed by the content they were computed from."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from neuroarena import __version__
from neuroarena.evaluation import default_cache
from neuroarena.fingerprint import digest
from neuroarena.sealed import SealedFolder


@dataclass(frozen=True)
class FeatureCache:
    """A folder of arrays named by what they were computed from.

    A key is made of hashes of the weights and code, the preprocessing, the layer, the bytes of every stimulus and the
    version of neuroarena. Renaming a model changes nothing; changing one weight changes the key.

    Parameters
    ----------
    folder : path
        Created when something is first stored.
    largest_bytes : int
        Larger arrays are not stored: the first layers of a large network would fill a disk.
    """

    folder: Path
    largest_bytes: int = 2_000_000_000

    @classmethod
    def default(cls) -> FeatureCache:
        """Return the cache in ``$NEUROARENA_CACHE``, else in the user's cache folder."""
        return cls(default_cache() / "brainscore-features")

    def key(self, **content: Any) -> str:
        """Make the key of some content, which must be representable as plain JSON."""
        return digest({"neuroarena": __version__, **content})

    def get(self, key: str) -> npt.NDArray[np.floating] | None:
        """Return the array stored under a key, or None; a damaged one is reported and counts as missing."""
        content = self._entries.read(self._entry(key))
        if content is None:
            return None
        found: npt.NDArray[np.floating] = np.load(io.BytesIO(content), allow_pickle=False)
        return found

    def put(self, key: str, values: npt.NDArray[np.floating]) -> None:
        """Store an array, whole or not at all; one that is too large is skipped."""
        if values.nbytes > self.largest_bytes:
            return
        with self._entries.writing(self._entry(key)) as writer:
            np.lib.format.write_array(cast(Any, writer), np.ascontiguousarray(values), allow_pickle=False)

    def info(self) -> dict[str, int]:
        """Return how many arrays are stored, and their total size in bytes."""
        files = self._files()
        return {"arrays": len(files), "bytes": sum(path.stat().st_size for path in files)}

    def clear(self) -> int:
        """Remove every array and return how many there were."""
        files = self._files()
        for path in files:
            path.unlink(missing_ok=True)
        return len(files)

    @property
    def _entries(self) -> SealedFolder:
        return SealedFolder(self.folder.absolute().parent)

    def _entry(self, key: str) -> str:
        return f"{self.folder.absolute().name}/{key}.array"

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("*.array")) if self.folder.is_dir() else []
