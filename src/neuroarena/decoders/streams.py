"""Streams: recordings played to a decoder one window at a time, so that it cannot see the future."""

from __future__ import annotations

import copy
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd

from neuroarena.decoders.decoder import Context, Part
from neuroarena.errors import NeuroarenaError
from neuroarena.features import FeatureChain
from neuroarena.recordings import Recording
from neuroarena.scoring import StreamRule

# What is replayed at either end comes from this many windows there: close enough to be of the same kind.
_WINDOWS_PLAYED_AGAIN = 2


@dataclass(frozen=True)
class StreamMeta:
    """What a decoder knows before a stream begins; nothing about who, when, or how long.

    Attributes
    ----------
    channels : DataFrame
        The channel table, as the decoder's features leave it.
    rate_hz : float
        Of the windows, before features.
    """

    channels: pd.DataFrame
    rate_hz: float


@runtime_checkable
class StreamDecoder(Protocol):
    """A decoder of a task whose state is ``stream``.

    Every stream is played to a fresh copy of the fitted decoder.
    """

    features: FeatureChain

    def fit(self, train: Part, validation: Part | None = None, context: Context | None = None) -> Any:
        """Learn from recordings and what is annotated in them."""
        ...

    def start(self, meta: StreamMeta) -> None:
        """Prepare for a stream."""
        ...

    def step(self, window: np.ndarray) -> Any:
        """Take the next window, (channels, samples) or what the features make of it; answer or return None."""
        ...


class Playback:
    """A stretch of a recording as it is played: begun with a random delay, brought to the horizon.

    Parameters
    ----------
    recording : Recording
    start, stop : int
        Samples; the stretch that is the example.
    rule : StreamRule
    rng : numpy Generator
        Draws the delay and what is replayed.

    Attributes
    ----------
    delay_s : float
        Seconds played before the stretch begins; an answer in "seconds from the start" is corrected by it.
    """

    def __init__(
        self, recording: Recording, start: int, stop: int, rule: StreamRule, rng: np.random.Generator
    ) -> None:
        self.recording, self.rule = recording, rule
        rate = recording.rate_hz
        self.window = round(rule.window_s * rate)
        self.hop = round(rule.hop_s * rate)
        self.before, self.after = round(rule.before_s * rate), round(rule.after_s * rate)
        delay = int(rng.integers(round(rule.start_jitter_s * rate) + 1))
        again = _WINDOWS_PLAYED_AGAIN * self.window
        pieces = _again(start, min(stop, start + self.window), delay, self.window, rng)
        pieces.append((start, stop - start))
        length = delay + stop - start
        if rule.horizon_s is not None:
            horizon = round(rule.horizon_s * rate)
            pieces += _again(max(start, stop - again), stop, horizon - length, self.window, rng)
            length = horizon
        self.delay_s = delay / rate
        self.length = length
        self._firsts = np.array([first for first, _ in pieces])
        self._edges = np.concatenate([[0], np.cumsum([samples for _, samples in pieces])])

    def __len__(self) -> int:
        """Count the windows; where pieces are joined the last may be part silence."""
        if self.rule.answer == "joined":
            return max(1, math.ceil(self.length / self.hop))
        return max(1, (self.length - self.window) // self.hop + 1)

    def __iter__(self) -> Iterator[np.ndarray]:
        """Iterate over the windows with the signal before and after: float32 (channels, samples)."""
        for number in range(len(self)):
            first = number * self.hop - self.before
            yield self.read(first, number * self.hop + self.window + self.after)

    def read(self, first: int, last: int) -> np.ndarray:
        """Read played samples; silence outside: float32 (channels, last - first)."""
        out = np.zeros((len(self.recording.channels), last - first), dtype=np.float32)
        position, end = max(first, 0), min(last, self.length)
        while position < end:
            piece = int(np.searchsorted(self._edges, position, side="right")) - 1
            until = min(end, int(self._edges[piece + 1]))
            origin = int(self._firsts[piece]) + position - int(self._edges[piece])
            out[:, position - first : until - first] = self.recording.read(origin, origin + until - position)
            position = until
        return out


def _again(
    first: int, last: int, samples: int, longest: int, rng: np.random.Generator
) -> list[tuple[int, int]]:
    """Choose pieces of a stretch at random places that together make this many samples."""
    pieces: list[tuple[int, int]] = []
    while samples > 0:
        size = min(samples, longest, last - first)
        pieces.append((int(rng.integers(first, last - size + 1)), size))
        samples -= size
    return pieces


def drive(
    decoder: StreamDecoder,
    recording: Recording,
    start: int,
    stop: int,
    rule: StreamRule,
    rng: np.random.Generator,
) -> Any:
    """Play a stretch of a recording to a fresh copy of a fitted decoder, and return its answer.

    Parameters
    ----------
    decoder : StreamDecoder
        Fitted; left as it is.
    recording : Recording
    start, stop : int
        Samples; the stretch that is the example.
    rule : StreamRule
    rng : numpy Generator

    Returns
    -------
    float or str
        For the answer "last": seconds from `start`; for "joined": the text.

    Raises
    ------
    NeuroarenaError
        When the decoder never answers, or answers with something other than a number or text.
    """
    listener = copy.deepcopy(decoder)
    playback = Playback(recording, start, stop, rule, rng)
    return listen(listener, playback, recording.channels, recording.rate_hz)


def listen(listener: StreamDecoder, playback: Playback, channels: pd.DataFrame, rate_hz: float) -> Any:
    """Play a stream to a decoder used for nothing else, and return its answer as :func:`drive` does."""
    rule, answers = playback.rule, []
    begun = False
    for window in playback:
        signals, table = listener.features(window[np.newaxis], channels, rate_hz)
        if not begun:
            listener.start(StreamMeta(table, rate_hz))
            begun = True
        answer = listener.step(signals[0])
        if answer is not None:
            answers.append(_check_answer(answer, rule, listener))
    if not answers:
        raise NeuroarenaError(
            f"{type(listener).__name__} returned no answer in {len(playback)} windows of a stream; step() must "
            "answer at least once."
        )
    return "".join(answers) if rule.answer == "joined" else answers[-1] - playback.delay_s


def _check_answer(answer: Any, rule: StreamRule, decoder: Any) -> Any:
    if rule.answer == "joined":
        if isinstance(answer, str):
            return answer
        raise NeuroarenaError(
            f"{type(decoder).__name__}: step() returned {answer!r}; expected a text or None."
        )
    if isinstance(answer, (int, float, np.integer, np.floating)) and math.isfinite(answer):
        return float(answer)
    raise NeuroarenaError(
        f"{type(decoder).__name__}: step() returned {answer!r}; expected a finite number or None."
    )
