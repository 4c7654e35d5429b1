"""An array in a temporary file: space for one block of features, outside memory."""

from __future__ import annotations

import tempfile
from pathlib import Path
from types import TracebackType

import numpy as np


class Spill:
    """A float32 array (rows, columns) that is backed by a file and removed at the end of its block.

    Examples
    --------
    >>> with Spill(2, 3) as block:
    ...     block[:] = 1
    ...     float(block.sum())
    6.0
    """

    def __init__(self, rows: int, columns: int) -> None:
        self.shape = (rows, columns)

    def __enter__(self) -> np.ndarray:
        self._folder = tempfile.TemporaryDirectory(prefix="neuroarena-")
        if 0 in self.shape:
            return np.empty(self.shape, dtype=np.float32)
        path = Path(self._folder.name) / "block.f32"
        return np.memmap(path, dtype=np.float32, mode="w+", shape=self.shape)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()
