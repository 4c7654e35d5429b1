"""The organiser's head of sleep onset: ridge to the seconds to go, and where their running sum is highest.

Ridge regression predicts, from each window separately, the seconds from the window's middle to the onset, cut off at
:data:`MOST_SECONDS` either way. Before the onset they are positive, after it negative, so that their running sum climbs
up to the onset and falls from there. The answer of a stream is the time at which the sum was highest so far, put on the
straight line that fits best on training people that the regression had not seen. An encoder that hears nothing
thereby answers the median of the training part. Nothing uses the future.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from neuroarena.families.transfer.decoders.heads import STREAM_PENALTY, RidgeHead
from neuroarena.scoring import StreamRule

MOST_SECONDS = 120.0
PARTS = 4
# 0 is the median of the training part, whatever is heard.
SLOPES = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class EncodedStream:
    """A training stream: vectors of its windows (windows, d), seconds to its onset, and its person."""

    rows: np.ndarray
    target_s: float
    subject: str


class OnsetHead:
    """Learn seconds to go from encoded streams.

    Parameters
    ----------
    streams : sequence of EncodedStream
    rule : StreamRule
    """

    def __init__(self, streams: Sequence[EncodedStream], rule: StreamRule) -> None:
        self.hop_s, self.window_s = rule.hop_s, rule.window_s
        targets = np.array([stream.target_s for stream in streams])
        self.slope, self.offset = _line(self._find_peaks(streams), targets)
        self.ridge = self._fit(streams)

    def tracker(self) -> OnsetTracker:
        """Make a tracker for one stream."""
        return OnsetTracker(self)

    def _fit(self, streams: Sequence[EncodedStream]) -> RidgeHead:
        togo = [stream.target_s - self.middles(np.arange(len(stream.rows))) for stream in streams]
        clipped = np.clip(np.concatenate(togo), -MOST_SECONDS, MOST_SECONDS)
        return RidgeHead(np.concatenate([stream.rows for stream in streams]), clipped, STREAM_PENALTY)

    def middles(self, windows: np.ndarray) -> np.ndarray:
        """Return the seconds from the stream's start to the middle of windows."""
        return windows * self.hop_s + self.window_s / 2

    def peak_s(self, number: int) -> float:
        """Return the time between the window before `number` and this one, by their middles."""
        return (number - 0.5) * self.hop_s + self.window_s / 2

    def _find_peaks(self, streams: Sequence[EncodedStream]) -> np.ndarray:
        """Find the peak of every stream with a regression on other people: a quarter of them is left out at a time."""
        people = sorted({stream.subject for stream in streams})
        part_of = {person: place % PARTS for place, person in enumerate(people)}
        peaks = np.empty(len(streams))
        for part in sorted(set(part_of.values())):
            own = [place for place, stream in enumerate(streams) if part_of[stream.subject] == part]
            others = [stream for stream in streams if part_of[stream.subject] != part]
            ridge = self._fit(others or streams)
            for place in own:
                sums = np.concatenate([[0.0], np.cumsum(ridge.predict(streams[place].rows))])
                peaks[place] = self.peak_s(int(sums.argmax()))
        return peaks


class OnsetTracker:
    """Follows one stream."""

    def __init__(self, head: OnsetHead) -> None:
        self.head = head
        self.total = self.highest = 0.0
        self.windows = self.peak = 0

    def add(self, row: np.ndarray) -> float:
        """Take the vector (d,) of the next window; return the answer so far, in seconds from the stream's start."""
        self.total += float(self.head.ridge.predict(row[np.newaxis])[0])
        self.windows += 1
        if self.total > self.highest:
            self.highest, self.peak = self.total, self.windows
        return max(0.0, self.head.offset + self.head.slope * self.head.peak_s(self.peak))


def _line(found: np.ndarray, targets: np.ndarray) -> tuple[float, float]:
    """Fit targets by a straight line: of a few slopes the one with the least mean absolute error, and its median."""
    lines = [(slope, float(np.median(targets - slope * found))) for slope in SLOPES]
    return min(lines, key=lambda line: float(np.abs(line[1] + line[0] * found - targets).mean()))
