"""One decoder for all encoders: the organiser's head, chosen by what the benchmark predicts, on a frozen encoder."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.decoders.ctc import KEYBOARD, GreedyText, frame_labels
from neuroarena.decoders.decoder import Context, Group, Part, part_targets
from neuroarena.decoders.streams import Playback, StreamMeta
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.families.transfer.decoders.contract import Encoder, encoded, find_encoder
from neuroarena.families.transfer.decoders.heads import FrameHead, LabelHead, RidgeHead
from neuroarena.families.transfer.decoders.onset_head import EncodedStream, OnsetHead
from neuroarena.features import FeatureChain
from neuroarena.scoring import StreamRule

# Windows encoded at once.
BATCH = 64
# EMG: training windows, spread evenly over all sessions; of blank frames one in four is kept, and
# counts for four.
MOST_WINDOWS, BLANK_STEP = 600, 4
LEAST_FRAMES_A_SECOND = 25.0
# Seconds after a press whose frames are labelled with the key.
TAUGHT_S = 0.04
# Windows that are encoded again after training: a frozen encoder returns the same result for the same input.
_PROBED = 4


@dataclass
class EncoderProbe:
    """The organiser's head on a frozen encoder.

    What the benchmark predicts determines the head: vectors and numbers, ridge regression; labels, logistic regression;
    the seconds of a stream, :mod:`.onset_head`; the text of a stream, a linear classifier
    of frames with greedy CTC decoding. All standardise on the training part first.

    Parameters
    ----------
    encoder : str
        A registered encoder ("random", "handcrafted", "selfsupervised"), ``module:attribute``, or a folder with
        ``encoder.py``.
    features : FeatureChain
        Applied before the encoder.

    Attributes
    ----------
    encoder_weights : str
        Identity of the encoder's weights; recorded with every result.

    Raises
    ------
    UnknownName, InputError
        When there is no such encoder.
    """

    encoder: str = "handcrafted"
    features: FeatureChain = field(default_factory=FeatureChain)

    def __post_init__(self) -> None:
        found = find_encoder(self.encoder)
        self.encoder_weights, self.encoder_code = found.weights, found.code
        self.encoder_: Encoder | None = found.encoder

    @property
    def untrained(self) -> bool:
        """Whether the encoder states that its weights are random."""
        return bool(getattr(self._load(), "untrained", False))

    def __getstate__(self) -> dict[str, Any]:
        # An encoder of a folder cannot be sent to another process; it is made again there, and must be the same.
        return {**self.__dict__, "encoder_": None}

    def __deepcopy__(self, memo: dict[int, Any]) -> EncoderProbe:
        made = type(self).__new__(type(self))
        made.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return made

    def fit(
        self, train: Part, validation: Part | None = None, context: Context | None = None
    ) -> EncoderProbe:
        """Fit the head on the encoded training part; the validation part is not used.

        Raises
        ------
        NeuroarenaError
            When the encoder breaks its contract, or is not frozen.
        InputError
            When there is no head for what the benchmark predicts.
        """
        context = context or Context()
        said = self._load().weights_hash()
        self.head_: Any = None
        self.first_: tuple[np.ndarray, pd.DataFrame, float, np.ndarray] | None = None
        if context.stream is None:
            self.head_ = self._window_head(train, context)
        elif context.stream.answer == "last":
            self.rule_ = context.stream
            self.head_ = OnsetHead(list(self._streams(train)), context.stream)
        else:
            self.rule_ = context.stream
            self.head_ = self._frame_head(train, context.stream)
        self._check_frozen(said)
        return self

    def predict(self, test: Part) -> np.ndarray:
        """Predict windows: probabilities (n, classes), vectors (n, length) or numbers (n,)."""
        rows = [self._encode(group.signals, group.channels, group.rate_hz) for group in test]
        said: np.ndarray = self.head_.predict(np.concatenate(rows))
        return said

    def start(self, meta: StreamMeta) -> None:
        """Prepare for a stream."""
        self.channels_ = meta.channels
        self.rate_hz_ = self.features.rate_after(meta.rate_hz)
        if self.rule_.answer == "last":
            self.tracker_ = self.head_.tracker()
        else:
            self.text_ = GreedyText()

    def step(self, window: np.ndarray) -> float | str:
        """Take the next window (channels, samples); answer in seconds, or with the keys it adds."""
        if self.rule_.answer == "last":
            return float(
                self.tracker_.add(self._encode(window[np.newaxis], self.channels_, self.rate_hz_)[0])
            )
        rows, places = self._frames(window, self.channels_, self.rate_hz_)
        core = mark_core(places, self.rule_, self.rate_hz_)
        return str(self.text_.take(self.head_.predict(rows[core])))

    def _load(self) -> Encoder:
        if self.encoder_ is None:
            found = find_encoder(self.encoder)
            if found.weights != self.encoder_weights:
                raise NeuroarenaError(
                    f'The encoder "{self.encoder}" has changed its weights since the run was planned '
                    f"({found.weights[:12]}, planned {self.encoder_weights[:12]}). "
                    "A run judges one encoder: start again."
                )
            self.encoder_ = found.encoder
        return self.encoder_

    def _encode(self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float) -> np.ndarray:
        """Encode windows in batches: float32 (n, d)."""
        encoder = self._load()
        rows = [
            encoded(encoder, signals[first : first + BATCH], channels, rate_hz)
            for first in range(0, len(signals), BATCH)
        ]
        if len({part.shape[1] for part in rows}) > 1:
            raise NeuroarenaError(
                f"{type(encoder).__name__}.encode() returned vectors of different lengths for the same channels."
            )
        if getattr(self, "first_", 0) is None and len(signals):
            self.first_ = (np.array(signals[:_PROBED]), channels, rate_hz, rows[0][:_PROBED])
        return np.concatenate(rows)

    def _check_frozen(self, said: str) -> None:
        encoder = self._load()
        if encoder.weights_hash() != said:
            raise NeuroarenaError(
                f"{type(encoder).__name__}: weights_hash() changed while signals were encoded. Encoders must be frozen."
            )
        first = self.first_
        # Only training data are encoded again.
        del self.first_
        if first is None:
            return
        signals, channels, rate_hz, before = first
        after = encoded(encoder, signals, channels, rate_hz, frames=before.ndim == 3)
        if after.shape != before.shape or not np.allclose(after, before, rtol=1e-3, atol=1e-5):
            raise NeuroarenaError(
                f"{type(encoder).__name__}.encode() later returned other numbers for the same windows. An encoder "
                "must keep nothing from one call to the next."
            )

    def _window_head(self, train: Part, context: Context) -> RidgeHead | LabelHead:
        rows = np.concatenate([self._encode(group.signals, group.channels, group.rate_hz) for group in train])
        if context.kind in ("label", "probabilities"):
            return LabelHead(rows, part_targets(train, context.classes), len(context.classes))
        if context.kind not in ("vector", "number"):
            raise InputError(f'There is no head for windows that predicts "{context.kind}".')
        targets = np.concatenate([np.asarray(group.targets, dtype=np.float64) for group in train])
        return RidgeHead(rows, targets, centred=context.kind == "vector")

    def _streams(self, train: Part) -> Iterator[EncodedStream]:
        rule = self.rule_
        for group, start, stop, row in _stretches(train):
            assert group.recording is not None
            assert group.targets is not None
            rate = group.recording.rate_hz
            length, hop = round(rule.window_s * rate), round(rule.hop_s * rate)
            windows = group.recording.windows(np.arange(start, stop - length + 1, hop), length)
            signals, channels = self._seen(windows, group.recording.channels, rate)
            rows = self._encode(signals, channels, self.features.rate_after(rate))
            yield EncodedStream(rows, float(group.targets[row]), str(group.table["subject"].iloc[row]))

    def _seen(
        self, windows: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        return self.features(windows, channels, rate_hz) if self.features.steps else (windows, channels)

    def _frames(
        self, window: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Encode one window: float32 (frames, d), and the sample at which each frame starts (frames,)."""
        encoder = self._load()
        rows = encoded(encoder, window[np.newaxis], channels, rate_hz, frames=True)
        n, samples = rows.shape[1], window.shape[1]
        if n < LEAST_FRAMES_A_SECOND * samples / rate_hz:
            raise NeuroarenaError(
                f"{type(encoder).__name__}.encode() returned {n} frames for {samples / rate_hz:g} s of EMG; "
                "expected at "
                f"least {LEAST_FRAMES_A_SECOND:g} per second."
            )
        if getattr(self, "first_", 0) is None:
            self.first_ = (np.array(window[np.newaxis]), channels, rate_hz, rows)
        return rows[0], np.arange(n) * (samples / n)

    def _frame_head(self, train: Part, rule: StreamRule) -> FrameHead:
        due = []
        for group, start, stop, _ in _stretches(train):
            assert group.recording is not None
            playback = Playback(group.recording, start, stop, rule, np.random.default_rng(0))
            due += [(group, playback, start, number) for number in range(len(playback))]
        parts = [self._label_frames(due[place], rule) for place in choose_windows(len(due))]
        rows, labels, weights = (np.concatenate(each) for each in zip(*parts, strict=True))
        return FrameHead(rows, labels, weights)

    def _label_frames(
        self, due: tuple[Group, Playback, int, int], rule: StreamRule
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the kept frames of one window, the label of each, and how many frames it represents."""
        group, playback, start, number = due
        assert group.recording is not None
        assert group.events is not None
        rate = group.recording.rate_hz
        first = number * playback.hop - playback.before
        window = playback.read(first, number * playback.hop + playback.window + playback.after)
        signals, channels = self._seen(window[np.newaxis], group.recording.channels, rate)
        seen_hz = self.features.rate_after(rate)
        rows, places = self._frames(signals[0], channels, seen_hz)
        pressed = (group.events["onset_s"].to_numpy(), list(group.events["value"]))
        kept, labels, weights = label_frames(places, start + first, rate, seen_hz, pressed, rule)
        return rows[kept], labels, weights


def choose_windows(count: int) -> np.ndarray:
    """Return which of so many training windows the frame head learns from: spread evenly, at most 600."""
    return np.unique(np.linspace(0, count - 1, min(count, MOST_WINDOWS)).round().astype(int))


def label_frames(
    places: np.ndarray,
    origin: int,
    rate_hz: float,
    seen_hz: float,
    pressed: tuple[np.ndarray, list[str]],
    rule: StreamRule,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which frames of a training window are kept, the label of each, and how many frames it represents.

    Parameters
    ----------
    places : array (frames,)
        The sample of the window at which each frame starts, at `seen_hz`.
    origin : int
        The sample of the recording, at `rate_hz`, at which the window starts.
    rate_hz, seen_hz : float
    pressed : pair of array and list
        Seconds and keys of all presses of the recording.
    rule : StreamRule
    """
    core = np.flatnonzero(mark_core(places, rule, seen_hz))
    onsets = np.round(pressed[0] * rate_hz).astype(np.int64)
    at = origin + np.ceil(places[core] * (rate_hz / seen_hz)).astype(np.int64)
    keys = KEYBOARD.labels_of("".join(pressed[1]))
    labels = frame_labels(at, onsets, keys, within=round(TAUGHT_S * rate_hz))
    blank = labels == KEYBOARD.blank
    kept = ~blank | (np.cumsum(blank) % BLANK_STEP == 1)
    weights = np.where(blank, float(BLANK_STEP), 1.0)
    return core[kept], labels[kept], weights[kept]


def mark_core(places: np.ndarray, rule: StreamRule, rate_hz: float) -> np.ndarray:
    """Mark the frames that start in the part of a window that no other window has."""
    first, last = rule.before_s * rate_hz, (rule.before_s + rule.hop_s) * rate_hz
    within: np.ndarray = (places >= first - 1e-6) & (places < last - 1e-6)
    return within


def _stretches(train: Part) -> Iterator[tuple[Group, int, int, int]]:
    """Yield the streams of a training part: group, first and last sample, row in the group."""
    found = False
    for group in train:
        if group.recording is None or group.targets is None:
            continue
        for row in range(len(group.table)):
            found = True
            yield group, int(group.table["start"].iloc[row]), int(group.table["stop"].iloc[row]), row
    if not found:
        raise InputError("A stream head learns from recordings; this training part has none.")
