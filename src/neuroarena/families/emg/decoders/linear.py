"""A linear classifier of frames with greedy CTC decoding: the classical baseline of EMG-to-text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import ClassVar

import numpy as np

from neuroarena.decoders.ctc import GreedyText, frame_labels
from neuroarena.decoders.decoder import Context, Group, Part
from neuroarena.decoders.streams import StreamMeta
from neuroarena.errors import InputError
from neuroarena.families.emg.decoders.listening import TRACK_RULE, Listener
from neuroarena.families.emg.decoders.spectra import BINS, FRAME, HOP, log_spectrogram
from neuroarena.families.emg.decoders.stretches import TAUGHT
from neuroarena.families.emg.emg2qwerty.characters import BLANK, labels_of
from neuroarena.features import FeatureChain

# Mean log power between these bins (31.25 Hz each) of a frame: a quiet band, the EMG's own, and above.
_EDGES = (1, 4, 12, BINS)
# Each of three neighbouring blocks of frames is averaged: a burst of a press lasts about as long as all three.
_BLOCK, _BLOCKS = 4, 3
LOOKBACK = _BLOCK * _BLOCKS - 1
# Read in pieces of a minute, so that memory does not grow with the length of a session.
_PIECE_S = 60


@dataclass
class CtcLinear:
    """Distinguish keys from blank in every frame by logistic regression, then collapse repeats and drop blanks.

    Frames that start within 40 ms after a press are taught its key, all others the blank.

    Parameters
    ----------
    C : float
        Inverse of the regularisation strength.
    max_iter : int
        Largest number of iterations of the solver (lbfgs).
    max_frames : int
        Blank frames are thinned evenly until this many frames are left.
    """

    role: ClassVar[str] = "classical"
    features: FeatureChain = field(default_factory=FeatureChain)
    C: float = 1.0
    max_iter: int = 100
    max_frames: int = 60_000

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> CtcLinear:
        """Learn scaling and weights from the frames of the training part.

        Raises
        ------
        InputError
            When the training part has no recordings with keystrokes.
        """
        from sklearn.linear_model import LogisticRegression

        pieces = [piece for group in train for piece in self._taught(group)]
        if not pieces:
            raise InputError("ctc-linear learns from recordings with keystrokes; the training part has none.")
        matrix = np.concatenate([frames for frames, _ in pieces])
        labels = np.concatenate([taught for _, taught in pieces])
        kept = self._thin(labels)
        matrix, labels = matrix[kept], labels[kept]
        self.mean_ = matrix.mean(axis=0, dtype=np.float64).astype(np.float32)
        deviation = matrix.std(axis=0, dtype=np.float64)
        self.scale_ = np.where(deviation > 0, deviation, 1.0).astype(np.float32)
        model = LogisticRegression(C=self.C, max_iter=self.max_iter, tol=1e-3)
        model.fit((matrix - self.mean_) / self.scale_, labels)
        weights, bias = model.coef_, model.intercept_
        if len(model.classes_) == 2:
            weights, bias = np.concatenate([-weights, weights]), np.concatenate([-bias, bias])
        self.labels_ = model.classes_
        self.weights_, self.bias_ = weights.astype(np.float32), bias.astype(np.float32)
        self.rule_ = (context or Context()).stream or TRACK_RULE
        return self

    def start(self, meta: StreamMeta) -> None:
        """Prepare for a stream."""
        self.listener_ = Listener(self.rule_, meta.rate_hz, lookback=LOOKBACK)
        self.text_ = GreedyText()

    def step(self, window: np.ndarray) -> str:
        """Return the keys that this window adds."""
        return self.text_.take(self.judge(self.listener_.take(window)))

    def judge(self, frames: np.ndarray) -> np.ndarray:
        """Return the likeliest label of each frame, (n, 2, 16, 33) -> int (n - lookback,)."""
        features = (frame_features(frames) - self.mean_) / self.scale_
        chosen: np.ndarray = self.labels_[(features @ self.weights_.T + self.bias_).argmax(axis=1)]
        return chosen

    @staticmethod
    def _taught(group: Group) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Yield the features of a group's frames with their training labels, one piece at a time."""
        if group.recording is None or group.events is None:
            return
        rate = group.rate_hz
        onsets = np.round(group.events["onset_s"].to_numpy() * rate).astype(np.int64)
        keys = labels_of("".join(group.events["value"]))
        for start, stop in zip(group.table["start"], group.table["stop"], strict=True):
            for first in range(int(start), int(stop), int(_PIECE_S * rate)):
                last = min(first + int(_PIECE_S * rate), int(stop))
                if last - first < (LOOKBACK + 1) * HOP + FRAME:
                    continue
                features = frame_features(log_spectrogram(group.recording.read(first, last)))
                places = first + HOP * np.arange(LOOKBACK, LOOKBACK + len(features))
                yield features, frame_labels(places, onsets, keys, TAUGHT)

    def _thin(self, labels: np.ndarray) -> np.ndarray:
        pressed, blank = np.flatnonzero(labels != BLANK), np.flatnonzero(labels == BLANK)
        room = max(self.max_frames - len(pressed), len(pressed))
        step = max(1, -(-len(blank) // max(room, 1)))
        return np.sort(np.concatenate([pressed, blank[::step]]))


def frame_features(frames: np.ndarray) -> np.ndarray:
    """Average log power over bands of frequency and over three blocks of four frames.

    Parameters
    ----------
    frames : float32 array (n, 2, 16, 33)

    Returns
    -------
    float32 array (n - 11, 288)
        Row i belongs to frame i + 11, the last it is made of.
    """
    if len(frames) <= LOOKBACK:
        return np.empty((0, _BLOCKS * frames[0:1].size // BINS * (len(_EDGES) - 1)), dtype=np.float32)
    cut = [frames[..., low:high].mean(axis=3) for low, high in pairwise(_EDGES)]
    bands = np.stack(cut, axis=3).reshape(len(frames), -1)
    # A plain sum of four, not a running one: the result for a frame must not depend on where a piece began.
    n = len(bands) - _BLOCK + 1
    blocks: np.ndarray = np.stack([bands[shift : shift + n] for shift in range(_BLOCK)]).mean(axis=0)
    rows = len(frames) - LOOKBACK
    parts = [blocks[_BLOCK * part : _BLOCK * part + rows] for part in range(_BLOCKS)]
    return np.concatenate(parts, axis=1)
