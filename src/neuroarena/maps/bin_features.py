"""Features of a time bin as one matrix product: padding, taper and transform are linear, and so are averages."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from neuroarena.errors import InputError
from neuroarena.features import Spectrogram
from neuroarena.recordings import channel_table

Kind = Literal["spectrogram", "voltage"]
KINDS: tuple[str, ...] = get_args(Kind)
# Below this rate a spectrogram of a quarter of a second has little above the slow waves that voltages show as well.
SPECTROGRAM_FROM_HZ = 500.0
AVERAGES = 8
FRAME_S, HIGHEST_HZ = 0.25, 150.0
# Items that are transformed at once: 11.7 ms for 3,500 of them, and 15.7 ms all together, which no cache holds.
_ROWS = 512


@dataclass(frozen=True)
class BinFeatures:
    """What is decoded of one electrode in one time bin.

    Parameters
    ----------
    kind : {"spectrogram", "voltage"}
        Magnitudes of frames of a quarter of a second, which overlap by three quarters, up to 150 Hz (at 2048 Hz and a
        bin of 0.25 s the published 5 x 38), or eight averages of the voltage.
    rate_hz : float
    n_samples : int
        Of a bin.

    Raises
    ------
    InputError
        For another kind, or a bin too short for it.

    Examples
    --------
    >>> BinFeatures("spectrogram", 2048.0, 512)(np.zeros((3, 512), dtype=np.float32)).shape
    (3, 190)
    >>> BinFeatures("voltage", 128.0, 32)(np.ones((1, 32), dtype=np.float32)).tolist()
    [[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]
    """

    kind: Kind
    rate_hz: float
    n_samples: int

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(
                f'Features of a map are {" or ".join(KINDS)}, got "{self.kind}". Choose one with --features.'
            )
        least = AVERAGES if self.kind == "voltage" else 4
        if self.n_samples < least:
            raise InputError(
                f"A time bin of {self.n_samples} samples at {self.rate_hz:g} Hz is too short for the features "
                f"{self.kind}, which need {least}. Choose a longer --window."
            )

    @property
    def n_features(self) -> int:
        """Number of features of a bin."""
        if self.kind == "voltage":
            return AVERAGES
        return sum(matrix.shape[1] // 2 for _, matrix in _transform(self.rate_hz, self.n_samples))

    def __call__(self, segments: np.ndarray) -> np.ndarray:
        """Turn samples (items, n_samples) into features (items, features)."""
        if self.kind == "voltage":
            averages: np.ndarray = segments @ _averages(self.n_samples)
            return averages
        features = np.empty((len(segments), self.n_features), dtype=np.float32)
        for row in range(0, len(segments), _ROWS):
            self._transform_rows(segments[row : row + _ROWS], features[row : row + _ROWS])
        return features

    def _transform_rows(self, segments: np.ndarray, out: np.ndarray) -> None:
        first = 0
        for samples, matrix in _transform(self.rate_hz, self.n_samples):
            product = segments[:, samples] @ matrix
            np.multiply(product, product, out=product)
            count = matrix.shape[1] // 2
            frame = out[:, first : first + count]
            np.add(product[:, :count], product[:, count:], out=frame)
            np.sqrt(frame, out=frame)
            first += count


@functools.lru_cache(maxsize=8)
def _averages(n_samples: int) -> np.ndarray:
    matrix = np.zeros((n_samples, AVERAGES), dtype=np.float32)
    for column, rows in enumerate(np.array_split(np.arange(n_samples), AVERAGES)):
        matrix[rows, column] = 1.0 / len(rows)
    return matrix


@functools.lru_cache(maxsize=8)
def _transform(rate_hz: float, n_samples: int) -> tuple[tuple[slice, np.ndarray], ...]:
    """Return the samples that each frame sees and the matrix that transforms them, real parts first.

    Every single sample is transformed by itself: these are the rows. A frame at the edge sees its half of the bin and
    the reflection of it, so that a third of the whole matrix would be zeros.
    """
    frame = min(n_samples, round(FRAME_S * rate_hz))
    steps = Spectrogram(frame, max_hz=min(HIGHEST_HZ, rate_hz / 2), output="complex-parts")
    single = np.eye(n_samples, dtype=np.float32)[:, np.newaxis]
    parts, _ = steps(single, channel_table(["one"]), rate_hz)
    frames = []
    for number in range(parts.shape[2]):
        matrix = np.concatenate([parts[:, 0, number, :, 0], parts[:, 0, number, :, 1]], axis=1)
        seen = np.flatnonzero(np.abs(matrix).max(axis=1) > 0)
        samples = slice(int(seen[0]), int(seen[-1]) + 1)
        frames.append((samples, np.ascontiguousarray(matrix[samples])))
    return tuple(frames)
