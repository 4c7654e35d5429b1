"""The signals of a session, refused where they are damaged: session and electrode are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.recordings import Recording
from neuroarena.recordings.hdf5 import ElectrodeSource

# A flat electrode is told by as many stretches, spread over the whole recording, of as many samples.
PROBES = 8
PROBE_SAMPLES = 256
_CURE = "Fetch the file again; an electrode that is damaged in it belongs in corrupted_elec.json."


class SessionRecording(Recording):
    """A recording whose windows are checked as they are read.

    Parameters
    ----------
    source, channels, rate_hz
        As for :class:`neuroarena.recordings.Recording`.
    session : str
        What errors call the session.
    """

    def __init__(self, source: ElectrodeSource, channels: pd.DataFrame, rate_hz: float, session: str) -> None:
        super().__init__(source, channels, rate_hz)
        self.session = session
        self._close = source.close

    def windows(self, starts: Any, length: int, channels: Sequence[str] | None = None) -> np.ndarray:
        """Read windows of equal length; see :meth:`neuroarena.recordings.Recording.windows`.

        Raises
        ------
        InputError
            Also for a sample that is not a finite number.
        """
        read = super().windows(starts, length, channels)
        self._check_finite(read, np.asarray(starts), channels)
        return read

    def iter_windows(
        self, starts: Any, length: int, channels: Sequence[str] | None = None, chunk: int = 256
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Iterate over windows in chunks; see :meth:`neuroarena.recordings.Recording.iter_windows`.

        Raises
        ------
        InputError
            Also for a sample that is not a finite number.
        """
        chunks = super().iter_windows(starts, length, channels, chunk)
        return self._check(chunks, np.asarray(starts), channels)

    def _check(
        self,
        chunks: Iterator[tuple[np.ndarray, np.ndarray]],
        starts: np.ndarray,
        channels: Sequence[str] | None,
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        for positions, read in chunks:
            self._check_finite(read, starts[positions], channels)
            yield positions, read

    def _check_finite(self, read: np.ndarray, starts: np.ndarray, channels: Sequence[str] | None) -> None:
        # A sum is finite when all its parts are, and takes no memory of the windows' size.
        bad = np.argwhere(~np.isfinite(np.add.reduce(read, axis=-1)))
        if not len(bad):
            return
        window, row = bad[0]
        at = np.flatnonzero(~np.isfinite(read[window, row]))
        if not len(at):
            return  # finite samples whose sum is not: nothing is missing
        name = (list(channels) if channels is not None else self.channels["name"].tolist())[row]
        raise InputError(
            f"Session {self.session}: electrode {name} holds {read[window, row, at[0]]} at sample "
            f"{int(starts[window]) + at[0]} of {self.name}; every sample of a window must be a finite number. {_CURE}"
        )

    def check_alive(self) -> None:
        """Refuse an electrode that holds one value throughout; the file is closed again.

        Raises
        ------
        InputError
            Naming the session and the electrode; also for a sample that is not finite.
        """
        length = min(PROBE_SAMPLES, self.n_samples)
        starts = np.linspace(0, self.n_samples - length, PROBES).astype(np.int64)
        try:
            still = self._still(starts[PROBES // 2 : PROBES // 2 + 1], length, self.channels["name"].tolist())
            flat = self._still(starts, length, still) if still else []
        finally:
            self._close()
        if flat:
            more = f", and so are {len(flat) - 1} more" if len(flat) > 1 else ""
            raise InputError(
                f"Session {self.session}: electrode {flat[0]} is flat{more}: {PROBES} stretches from all over "
                f"{self.name} hold one value only. {_CURE}"
            )

    def _still(self, starts: np.ndarray, length: int, names: list[str]) -> list[str]:
        """Name the electrodes that hold one value in all these stretches."""
        read = self.windows(starts, length, names)
        spread = read.max(axis=(0, 2)) - read.min(axis=(0, 2))
        return [name for name, each in zip(names, spread, strict=True) if each == 0]
