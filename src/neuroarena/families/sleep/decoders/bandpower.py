"""A classical stager: band power, logistic regression, and the rule of the first stable N2."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Context, Part
from neuroarena.decoders.streams import StreamMeta
from neuroarena.errors import InputError
from neuroarena.families.sleep.decoders.onset_rule import OnsetFinder, OnsetRule
from neuroarena.families.sleep.decoders.training_windows import DEEP, UNKNOWN, classes_of, heard, stream_rule
from neuroarena.features import FeatureChain

# The last, below the mains, is muscle: in real nights nothing tells wake from sleep better.
BANDS_HZ = ((0.5, 4.0), (4.0, 8.0), (8.0, 12.0), (12.0, 16.0), (16.0, 30.0), (30.0, 48.0))


@dataclass(frozen=True)
class BandPower:
    """Logarithm of the power in each band, of each channel, separately in every window.

    Parameters
    ----------
    bands_hz : tuple of (low, high)
        Below half the rate.
    segment_s : float
        Power is averaged over half-overlapping Hann segments of this length, each without its mean: an offset
        of an electrode is not a slow wave.

    Examples
    --------
    >>> noise = np.random.default_rng(0).standard_normal((2, 3, 3000)).astype(np.float32)
    >>> BandPower()(noise, pd.DataFrame({"name": ["a", "b", "c"]}), 100.0)[0].shape
    (2, 3, 6)
    """

    bands_hz: tuple[tuple[float, float], ...] = BANDS_HZ
    segment_s: float = 4.0

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        """Turn windows (window, channel, sample) into log powers (window, channel, band).

        Raises
        ------
        InputError
            When a window is shorter than a segment, or a band reaches beyond half the rate.
        """
        length = round(self.segment_s * rate_hz)
        if signals.shape[-1] < length:
            raise InputError(
                f"BandPower: windows of {signals.shape[-1]} samples are shorter than a segment of {length}."
            )
        frequencies = np.fft.rfftfreq(length, 1 / rate_hz)
        if max(high for _, high in self.bands_hz) > rate_hz / 2:
            raise InputError(f"BandPower: a band reaches beyond half the rate of {rate_hz:g} Hz.")
        segments = np.lib.stride_tricks.sliding_window_view(signals, length, axis=-1)[..., :: length // 2, :]
        taper = np.hanning(length).astype(np.float32)
        spectrum = np.fft.rfft((segments - segments.mean(axis=-1, keepdims=True)) * taper)
        power = (spectrum.real**2 + spectrum.imag**2).mean(axis=-2)
        bands = [
            power[..., (frequencies >= low) & (frequencies < high)].mean(axis=-1)
            for low, high in self.bands_hz
        ]
        # A dead electrode has no power; the floor keeps its logarithm finite.
        return np.log(np.stack(bands, axis=-1) + 1e-6).astype(np.float32), channels


class RunningBaseline:
    """The mean of everything heard so far in a stream; it never sees the future."""

    def __init__(self) -> None:
        self._sum: np.ndarray | float = 0.0
        self._n = 0

    def beside(self, values: np.ndarray) -> np.ndarray:
        """Return the values, and their distance from the mean so far: float (2 n,)."""
        self._sum = self._sum + values.astype(np.float64)
        self._n += 1
        return np.concatenate([values, values - self._sum / self._n])


@dataclass
class BandpowerStager:
    """Band power, a multinomial logistic stager, and the first stable N2 in its output.

    Everything is causal: a window is compared with the mean of the windows before it, the scaler is fitted on
    training people only, and the rule looks back.

    Parameters
    ----------
    regularisation : float
        C of the logistic regression.
    k : int
        Epochs of N2 or deeper that must follow.
    features : FeatureChain
    """

    role: ClassVar[str] = "classical"
    regularisation: float = 0.01
    k: int = 1
    features: FeatureChain = field(default_factory=lambda: FeatureChain((BandPower(),)))

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> BandpowerStager:
        """Learn the stages of training windows, then tune the rule on training streams.

        Raises
        ------
        InputError
            When the training part has no stages.
        """
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        rule = stream_rule(context)
        streams = list(heard(train, self.features, rule))
        self.classes_ = classes_of(streams)
        rows = [_causal(stream.windows) for stream in streams]
        stages = np.concatenate([stream.stages for stream in streams])
        known = stages != UNKNOWN
        model: Any = make_pipeline(StandardScaler(), LogisticRegression(C=self.regularisation, max_iter=500))
        model.fit(np.concatenate(rows)[known], stages[known])
        self.model_ = model
        self.deep_ = np.isin(model.classes_, DEEP)
        said = [model.predict_proba(part)[:, self.deep_].sum(axis=1) for part in rows]
        targets = np.array([stream.target_s for stream in streams])
        self.rule_ = OnsetRule.tuned(said, targets, rule.hop_s, self.k)
        return self

    def start(self, meta: StreamMeta) -> None:
        """Begin a stream with an empty baseline."""
        self.baseline_ = RunningBaseline()
        self.finder_ = OnsetFinder(self.rule_)

    def step(self, window: np.ndarray) -> float:
        """Take the band powers (channels, bands) of a window; answer in seconds from the stream's start."""
        row = self.baseline_.beside(window.ravel())
        probability = self.model_.predict_proba(row[np.newaxis])[0, self.deep_].sum()
        return self.finder_.add(float(probability))


def _causal(windows: np.ndarray) -> np.ndarray:
    """Join every window of a stream with its distance from the mean so far: float (windows, 2 n)."""
    baseline = RunningBaseline()
    return np.stack([baseline.beside(window.ravel()) for window in windows])
