"""Z-score spectra with the statistics of a session's training windows."""

from __future__ import annotations

from typing import Any

import numpy as np

from neuroarena.decoders.decoder import Group, Part


class SessionScale:
    """Mean and spread of each electrode and frequency over the training windows of its session.

    An electrode of a session without training windows uses the statistics of the same electrode
    over the subject's other sessions; an electrode of another subject takes those of its
    frequency over all training electrodes. Nothing is ever learned from the part that is judged.
    """

    def __init__(self) -> None:
        self._sums: dict[tuple[str, ...], np.ndarray] = {}

    def fit(self, train: Part) -> SessionScale:
        """Learn from magnitudes (window, channel, frame, frequency)."""
        for group in train:
            if not len(group):
                continue
            subject, session = _owner(group)
            for place, name in enumerate(group.channels["name"]):
                values = group.signals[:, place].reshape(-1, group.signals.shape[-1])
                moments = np.stack(
                    [
                        np.full(values.shape[1], float(len(values))),
                        values.sum(axis=0, dtype=np.float64),
                        np.einsum("ij,ij->j", values, values, dtype=np.float64),
                    ]
                )
                for key in ((subject, session, str(name)), (subject, str(name)), ()):
                    self._sums[key] = self._sums.get(key, 0.0) + moments
        return self

    def apply(self, group: Group, rows: Any = slice(None), places: Any = slice(None)) -> np.ndarray:
        """Z-score some windows and channels of a group: a new float32 array."""
        subject, session = _owner(group)
        names = np.asarray(group.channels["name"])[places]
        mean, spread = np.stack([self._statistics(subject, session, str(name)) for name in names], axis=1)
        result: np.ndarray = (group.signals[rows][:, places] - mean[:, None]) / spread[:, None]
        return result.astype(np.float32, copy=False)

    def _statistics(self, subject: str, session: str, name: str) -> np.ndarray:
        """Return mean and spread, float32 (2, frequency)."""
        keys = ((subject, session, name), (subject, name), ())
        count, total, squares = next(self._sums[key] for key in keys if key in self._sums)
        mean = total / count
        spread = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
        return np.stack([mean, np.where(spread == 0, 1.0, spread)]).astype(np.float32)


class NoScale(SessionScale):
    """Leaves spectra as they are: they are already z-scored by window."""

    def fit(self, train: Part) -> NoScale:
        """Learn nothing."""
        return self

    def apply(self, group: Group, rows: Any = slice(None), places: Any = slice(None)) -> np.ndarray:
        """Return some windows and channels of a group."""
        result: np.ndarray = group.signals[rows][:, places]
        return result


def _owner(group: Group) -> tuple[str, str]:
    first = group.table.iloc[0]
    return str(first["subject"]), str(first["session"])
