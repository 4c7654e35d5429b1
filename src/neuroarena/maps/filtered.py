"""A recording without its slow drifts, filtered where it is read: averages of voltages would show little else."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.recordings import Recording

HIGH_PASS_HZ = 0.5
# The length of a filter with a Hamming window, in units of one over its transition (Oppenheim and Schafer).
_HAMMING = 3.3
_CHUNK_S = 60.0


def high_passed(recording: Recording, edge_hz: float) -> Recording:
    """Return a view of a recording without frequencies below an edge; nothing is read yet.

    The filter is a windowed sinc (Hamming) of zero phase that passes everything from the edge on and is at half at
    half the edge. It reaches 3.3 periods of the edge to both sides and no further, so that stretches can be filtered
    one by one; beyond its ends a recording is mirrored about its first and last sample.

    Raises
    ------
    InputError
        For an edge that is not between 0 and half the rate.

    Examples
    --------
    >>> from neuroarena.recordings import from_array
    >>> time = np.arange(4000) / 100
    >>> drifting = from_array((np.sin(2 * np.pi * 5 * time) + time)[None], rate_hz=100.0, channels=["Cz"])
    >>> left = high_passed(drifting, 0.5).read(1000, 3000)[0]
    >>> bool(np.abs(left - np.sin(2 * np.pi * 5 * time[1000:3000])).max() < 0.02)
    True
    """
    if not 0 < edge_hz < recording.rate_hz / 2:
        raise InputError(
            f"{recording.name}: --high-pass {edge_hz:g} Hz is not between 0 and half of {recording.rate_hz:g} Hz."
        )
    return Recording(_HighPassed(recording, edge_hz), recording.channels, recording.rate_hz)


class _HighPassed:
    """Samples of another recording, filtered."""

    def __init__(self, recording: Recording, edge_hz: float) -> None:
        self.name, self.recording, self.edge_hz = recording.name, recording, edge_hz
        self.chunk_samples = round(_CHUNK_S * recording.rate_hz)
        self._half = round(_HAMMING * recording.rate_hz / edge_hz) // 2
        self._names = recording.channels["name"].tolist()
        self.path = getattr(recording._source, "path", None)

    @property
    def n_channels(self) -> int:
        """Number of channels."""
        return len(self._names)

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel."""
        return self.recording.n_samples

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read filtered samples start to stop of the channels `indices`."""
        out = np.empty((len(indices), stop - start), dtype=np.float32)
        names = [self._names[row] for row in indices]
        for place in range(start // self.chunk_samples, -(-stop // self.chunk_samples)):
            begin = place * self.chunk_samples
            low, high = max(start, begin), min(stop, begin + self.chunk_samples)
            end = min(begin + self.chunk_samples, self.n_samples)
            kept = self._filter(begin, end, names)
            out[:, low - start : high - start] = kept[:, low - begin : high - begin]
        return out

    def _filter(self, begin: int, end: int, names: list[str]) -> np.ndarray:
        from scipy.signal import oaconvolve

        half = self._half
        first, last = max(0, begin - half), min(self.n_samples, end + half)
        around = self.recording.read(first, last, names).astype(np.float64)
        missing = (half - (begin - first), half - (last - end))
        padded = np.pad(around, ((0, 0), missing), mode="reflect", reflect_type="odd")
        taps = _design(self.edge_hz, self.recording.rate_hz, half)
        return np.asarray(oaconvolve(padded, taps[np.newaxis], mode="valid", axes=1))

    def fingerprint(self) -> str:
        """Return a hash of the content."""
        settings = [self.edge_hz, self._half, self.chunk_samples]
        return digest({"of": self.recording.fingerprint(), "high-pass, windowed sinc": settings})

    def frame(self) -> Any:
        """Return the frame of the electrodes' positions, where the recording's source knows it."""
        return getattr(self.recording._source, "frame", lambda: "head")()


@functools.lru_cache(maxsize=8)
def _design(edge_hz: float, rate_hz: float, half: int) -> np.ndarray:
    from scipy.signal import firwin

    # One minus a low-pass of unit gain: whatever is constant is removed exactly.
    taps = -np.asarray(firwin(2 * half + 1, edge_hz / 2, window="hamming", fs=rate_hz))
    taps[half] += 1.0
    return taps
