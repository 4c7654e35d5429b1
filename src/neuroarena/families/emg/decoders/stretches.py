"""Stretches of recordings to train on: their windows, their keys, and the ways in which they are varied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuroarena.decoders.ctc import frame_labels
from neuroarena.decoders.decoder import Part
from neuroarena.errors import InputError
from neuroarena.families.emg.decoders.spectra import BANDS, BINS, ELECTRODES, HOP, log_spectrogram
from neuroarena.families.emg.emg2qwerty.characters import labels_of
from neuroarena.recordings import Recording

# The published windows: 4 s whose labels are judged, and 0.1 s more, because a key may be recognised a little late.
CORE, AFTER = 8000, 200
# All signals are held in memory while they take no more than this; otherwise windows are read when needed.
_HELD_BYTES = 1 << 30
_MOST_TURN, MOST_SHIFT = 1, 120
# Samples after a press whose frames are labelled with the key.
TAUGHT = 80
_TIME_MASKS, _TIME_WIDTH, _BIN_MASKS, _BIN_WIDTH = 3, 25, 2, 4


@dataclass(frozen=True)
class Stretch:
    """One example: its signals, in memory or not, and its keys.

    Attributes
    ----------
    recording : Recording
    start, stop : int
        Samples.
    onsets, labels : int arrays (n,)
        Sample of each press, and its class number, in time order.
    held : float32 array (32, stop - start), optional
        The signals, when they are in memory.
    """

    recording: Recording
    start: int
    stop: int
    onsets: np.ndarray
    labels: np.ndarray
    held: np.ndarray | None = None

    def read(self, first: int, last: int) -> np.ndarray:
        """Read samples of the recording that are inside the stretch: float32 (32, last - first)."""
        first, last = max(first, self.start), min(last, self.stop)
        if self.held is None:
            return self.recording.read(first, last)
        return self.held[:, first - self.start : last - self.start]

    def keys(self, first: int, last: int) -> np.ndarray:
        """Return the labels of the keys pressed at samples first to last."""
        begin, end = np.searchsorted(self.onsets, [first, last])
        return self.labels[begin:end]


def stretches(part: Part) -> list[Stretch]:
    """List the examples of a part that have signals and keystrokes.

    Raises
    ------
    InputError
        When there is none.
    """
    found = []
    total = sum(int((group.table["stop"] - group.table["start"]).sum()) for group in part)
    hold = 4 * BANDS * ELECTRODES * total <= _HELD_BYTES
    for group in part:
        if group.recording is None or group.events is None:
            continue
        onsets = np.round(group.events["onset_s"].to_numpy() * group.rate_hz).astype(np.int64)
        labels = labels_of("".join(group.events["value"]))
        for start, stop in zip(
            group.table["start"].astype(int), group.table["stop"].astype(int), strict=True
        ):
            held = group.recording.read(start, stop) if hold else None
            found.append(Stretch(group.recording, start, stop, onsets, labels, held))
    if not found:
        raise InputError("tds-ctc learns from recordings with keystrokes; this part has none.")
    return found


def window_starts(stretch: Stretch, rng: np.random.Generator | None) -> np.ndarray:
    """Return the first samples of windows of 4 s side by side; with a generator, all shifted by one random step."""
    room = stretch.stop - stretch.start
    count = max(room - CORE, 0) // CORE + 1
    starts = stretch.start + CORE * np.arange(count)
    spare = min(CORE, room - count * CORE)
    return starts + int(rng.integers(spare)) if rng is not None and spare > 0 else starts


@dataclass(frozen=True)
class Item:
    """A window to train on.

    Attributes
    ----------
    frames : float32 array (n, 2, 16, 33)
    labels : int64 array (m,)
        Keys of the window itself, in order.
    taught : int64 array (n - lookback,)
        Label of each judged frame where the times of presses are used: a key, or the blank.
    """

    frames: np.ndarray
    labels: np.ndarray
    taught: np.ndarray


def window_item(
    stretch: Stretch,
    first: int,
    lookback: int,
    rng: np.random.Generator | None,
    most_shift: int = MOST_SHIFT,
    masks: bool = True,
) -> Item:
    """Make one training item from the window of 4 s that begins at sample `first`.

    The past that the network needs goes before the window, less the time by which it may answer late: for
    the published network 1800 samples. With a generator the item is varied as in the published training.
    """
    before = max(lookback * HOP - (AFTER - HOP), 0)
    begin = max(first - before, stretch.start)
    signals = stretch.read(begin, first + CORE + AFTER)
    labels = stretch.keys(first, first + CORE)
    frames = log_spectrogram(signals if rng is None else varied(signals, rng, most_shift))
    frames = masked(frames, rng) if rng is not None and masks else frames
    places = begin + HOP * np.arange(lookback, max(lookback, len(frames)))
    return Item(frames, labels, frame_labels(places, stretch.onsets, stretch.labels, TAUGHT))


def varied(signals: np.ndarray, rng: np.random.Generator, most_shift: int = MOST_SHIFT) -> np.ndarray:
    """Rotate each wristband by up to one electrode, and shift them in time against each other."""
    bands = signals.reshape(BANDS, ELECTRODES, -1)
    turns = rng.integers(-_MOST_TURN, _MOST_TURN + 1, size=BANDS)
    left, right = (np.roll(band, turn, axis=0) for band, turn in zip(bands, turns, strict=True))
    shift = int(rng.integers(-most_shift, most_shift + 1))
    length = signals.shape[1] - abs(shift)
    left, right = left[:, max(shift, 0) :][:, :length], right[:, max(-shift, 0) :][:, :length]
    return np.concatenate([left, right])


def masked(frames: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Set stretches of time and of frequency to zero, for each electrode separately (SpecAugment, Park et al. 2019)."""
    frames = frames.copy()
    for band in range(BANDS):
        for electrode in range(ELECTRODES):
            here = frames[:, band, electrode]
            for _ in range(int(rng.integers(_TIME_MASKS + 1))):
                width = int(rng.integers(_TIME_WIDTH + 1))
                begin = int(rng.integers(max(1, len(here) - width)))
                here[begin : begin + width] = 0.0
            for _ in range(int(rng.integers(_BIN_MASKS + 1))):
                width = int(rng.integers(_BIN_WIDTH + 1))
                begin = int(rng.integers(BINS - width))
                here[:, begin : begin + width] = 0.0
    return frames


def collate(items: Sequence[Item]) -> tuple[np.ndarray, np.ndarray]:
    """Stack frames, padded with zeros at the end: float32 (time, batch, 2, 16, 33), and their counts (batch,)."""
    lengths = np.array([len(item.frames) for item in items], dtype=np.int64)
    stacked = np.zeros((int(lengths.max()), len(items), BANDS, ELECTRODES, BINS), dtype=np.float32)
    for place, item in enumerate(items):
        stacked[: len(item.frames), place] = item.frames
    return stacked, lengths
