"""From probabilities of deep sleep, one per window, to the first stable N2."""

from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

EPOCH_S = 30.0
# Candidates that are tried on the training streams: seconds over which probabilities are averaged, and thresholds.
SMOOTHINGS_S = (0.0, 30.0, 60.0, 90.0, 150.0)
THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7)


@dataclass(frozen=True)
class OnsetRule:
    """The rule for stable N2: probable for an epoch and for `k` further epochs.

    Attributes
    ----------
    hop_s : float
        Seconds from one window to the next.
    smoothing : int
        Windows over which probabilities are averaged, backwards from now: no window waits for the future.
    threshold : float
        Average from which on a window counts as N2 or deeper.
    k : int
        Epochs of 30 s that must follow.
    shift_s : float
        Added to the answer: an average is late, and a window is ahead of its middle.
    fallback_s : float
        The answer as long as there is no stable N2.
    earliest_s : float
        An earlier onset does not count: no training stream was stable so soon, and an average of the first few
        windows is the least certain.
    """

    hop_s: float
    smoothing: int
    threshold: float
    k: int = 1
    shift_s: float = 0.0
    fallback_s: float = 0.0
    earliest_s: float = 0.0

    @property
    def run(self) -> int:
        """Windows in a row that must count as N2 or deeper."""
        return 1 + round(self.k * EPOCH_S / self.hop_s)

    @classmethod
    def tuned(
        cls, probabilities: Sequence[np.ndarray], targets: np.ndarray, hop_s: float, k: int = 1
    ) -> OnsetRule:
        """Choose smoothing, threshold and shift by the mean absolute error on training streams.

        Parameters
        ----------
        probabilities : sequence of float arrays (windows,)
            Of N2 or deeper, one array per stream.
        targets : float array (streams,)
            Seconds to the onset.
        hop_s, k
            As in the rule.
        """
        fallback, earliest = float(np.median(targets)), max(0.0, float(targets.min()) - EPOCH_S)
        best, least = cls(hop_s, 1, 0.5, k, 0.0, fallback, earliest), np.inf
        for seconds, threshold in itertools.product(SMOOTHINGS_S, THRESHOLDS):
            rule = cls(hop_s, 1 + round(seconds / hop_s), threshold, k, earliest_s=earliest)
            found = [rule.first(stream) for stream in probabilities]
            answers = np.array([np.nan if index is None else index * hop_s for index in found])
            if np.isnan(answers).all():
                continue
            shift = float(np.nanmedian(targets - answers))
            error = float(np.abs(np.where(np.isnan(answers), fallback, answers + shift) - targets).mean())
            if error < least:
                least = error
                best = cls(hop_s, rule.smoothing, threshold, k, shift, fallback, earliest)
        return best

    def first(self, probabilities: np.ndarray) -> int | None:
        """Find the first window of the first stable run, or None."""
        finder = OnsetFinder(self)
        for probability in probabilities:
            finder.add(float(probability))
        return finder.found


@dataclass
class OnsetFinder:
    """Applies an onset rule to a stream as it arrives."""

    rule: OnsetRule
    found: int | None = None
    _recent: deque[float] = field(default_factory=deque)
    _run: int = 0
    _windows: int = 0

    def add(self, probability: float) -> float:
        """Take the probability of the next window; return the answer so far, in seconds from the stream's start."""
        self._recent.append(probability)
        if len(self._recent) > self.rule.smoothing:
            self._recent.popleft()
        deep = sum(self._recent) / len(self._recent) >= self.rule.threshold
        early = self._windows * self.rule.hop_s < self.rule.earliest_s
        self._run = self._run + 1 if deep and not early else 0
        self._windows += 1
        if self.found is None and self._run >= self.rule.run:
            self.found = self._windows - self._run
        if self.found is None:
            return self.rule.fallback_s
        return max(0.0, self.found * self.rule.hop_s + self.rule.shift_s)
