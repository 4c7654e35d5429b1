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
        return int(self._matrix().shape[1]) // (2 if self.kind == "spectrogram" else 1)

    def __call__(self, segments: np.ndarray) -> np.ndarray:
        """Turn samples (items, n_samples) into features (items, features)."""
        product: np.ndarray = segments @ self._matrix()
        if self.kind == "voltage":
            return product
        real, imaginary = np.split(product, 2, axis=1)
        np.multiply(real, real, out=real)
        np.multiply(imaginary, imaginary, out=imaginary)
        real += imaginary
        magnitude: np.ndarray = np.sqrt(real, out=real)
        return magnitude

    def _matrix(self) -> np.ndarray:
        if self.kind == "voltage":
            return _averages(self.n_samples)
        return _transform(self.rate_hz, self.n_samples)


@functools.lru_cache(maxsize=8)
def _averages(n_samples: int) -> np.ndarray:
    matrix = np.zeros((n_samples, AVERAGES), dtype=np.float32)
    for column, rows in enumerate(np.array_split(np.arange(n_samples), AVERAGES)):
        matrix[rows, column] = 1.0 / len(rows)
    return matrix


@functools.lru_cache(maxsize=8)
def _transform(rate_hz: float, n_samples: int) -> np.ndarray:
    """Transform every single sample by itself: the rows of the matrix, real parts first."""
    frame = min(n_samples, round(FRAME_S * rate_hz))
    steps = Spectrogram(frame, max_hz=min(HIGHEST_HZ, rate_hz / 2), output="complex-parts")
    single = np.eye(n_samples, dtype=np.float32)[:, np.newaxis]
    parts, _ = steps(single, channel_table(["one"]), rate_hz)
    flat = parts.reshape(n_samples, -1, 2)
    return np.ascontiguousarray(np.concatenate([flat[..., 0], flat[..., 1]], axis=1))
