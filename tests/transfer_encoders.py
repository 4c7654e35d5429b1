"""Encoders that tests hand in as ``transfer_encoders:Name``: good ones, broken ones and dishonest ones."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import pandas as pd


class Means:
    """The mean and the deviation of every channel; of EMG, of every frame of 8 ms."""

    def __init__(self, factor: float = 1.0) -> None:
        self.factor = np.array([factor])

    def weights_hash(self) -> str:
        return hashlib.sha256(self.factor.tobytes()).hexdigest()

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        signals = signals * self.factor
        if (channels["kind"] == "emg").all():
            n, count, samples = signals.shape
            frames = signals.reshape(n, count, samples // 16, 16)
            return np.log(np.square(frames).mean(axis=3) + 1e-6).swapaxes(1, 2)
        return np.concatenate([signals.mean(axis=2), signals.std(axis=2)], axis=1)


class SaysTheSame(Means):
    """Has weights of its own each time it is made, and claims that they never change."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        super().__init__(float(type(self).made))

    def weights_hash(self) -> str:
        return "constant"


class ChangesWeights(Means):
    """Has other weights each time it is made, and says so."""

    made = 0

    def __init__(self) -> None:
        type(self).made += 1
        super().__init__(float(type(self).made))


class LearnsWhileEncoding(Means):
    """Updates its weights with every call."""

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        self.factor = self.factor + 1
        return super().encode(signals, channels, rate_hz)


class CountsCalls(Means):
    """Hides what it remembers from its hash, and gives it out."""

    calls = 0

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        self.calls += 1
        return super().encode(signals, channels, rate_hz) + self.calls


class WritesIntoItsInput(Means):
    """Scribbles over the signals it was given."""

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        said = super().encode(signals, channels, rate_hz)
        signals[:] = 0
        channels["name"] = "gone"
        return said


class Broken(Means):
    """Gives whatever it was told to give."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> Any:
        return self.answer


class FewFrames(Means):
    """One frame a second."""

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        return np.zeros((len(signals), int(signals.shape[2] / rate_hz), 3))


class NoHash:
    """Lacks weights_hash."""

    def encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        return signals[:, :, 0]


class EmptyHash(Means):
    def weights_hash(self) -> str:
        return ""


def needs_more(strength: float) -> Means:
    return Means(strength)


def load_encoder(meta: Any) -> Means:
    """As a submission has it."""
    assert meta.folder is None
    return Means(3.0)
