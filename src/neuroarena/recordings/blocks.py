"""Reading many windows in few large blocks, within a fixed amount of memory."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

import numpy as np

from neuroarena.errors import InputError

# One block handed over by a source. Two are held at once, and a source may need up to three times
# its block in temporary arrays (float64), so that all of it stays below 256 MB.
BLOCK_BYTES = 32 * 2**20
# Asking HDF5 for one more electrode stretch costs about as much as reading 4096 samples too many.
GAP_SAMPLES = 4096
_SAMPLE_BYTES = 4


class Source(Protocol):
    """Where the samples of a recording come from.

    A source may also have ``chunk_samples`` (int): it can only be read in whole chunks of that many
    samples, like a compressed file. Blocks then end where chunks end.
    """

    name: str

    @property
    def n_channels(self) -> int:
        """Number of channels."""

    @property
    def n_samples(self) -> int:
        """Number of samples of each channel."""

    def read_block(self, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
        """Read samples start to stop of the channels `indices`: float32 (len(indices), stop - start)."""

    def fingerprint(self) -> str:
        """Return a hash of the content."""


class BlockReader:
    """Fill windows, visited in time order, from blocks that are each read once.

    Parameters
    ----------
    source : Source
        What to read from.
    indices : int array (channels,)
        Channels of the source, in the order wanted.
    starts : int64 array (windows,)
        Sorted starts of all the windows that will be asked for, already checked.
    length : int
        Samples in a window.
    """

    def __init__(self, source: Source, indices: np.ndarray, starts: np.ndarray, length: int) -> None:
        self.source = source
        self.indices = indices
        self.starts = starts
        self.length = length
        chunk = max(1, int(getattr(source, "chunk_samples", 1)))
        self.group = channels_per_block(len(indices), chunk)
        longest = max(1, BLOCK_BYTES // (_SAMPLE_BYTES * self.group))
        self.begins, self.ends = plan_blocks(starts, length, longest, chunk)
        self._held: OrderedDict[tuple[int, int, int], np.ndarray] = OrderedDict()

    def fill(self, first: int, last: int, out: np.ndarray, rows: np.ndarray) -> None:
        """Write the windows `first` to `last` of the sorted starts into the given rows of `out`.

        `out` is float32 (any, channels, length); `rows` has one entry per window.
        """
        if first == last:
            return
        starts = self.starts[first:last]
        one = int(np.searchsorted(self.ends, starts[0], side="right"))
        end = int(np.searchsorted(self.begins, starts[-1] + self.length, side="left"))
        for channel in range(0, len(self.indices), self.group):
            part = slice(channel, channel + self.group)
            for block in range(one, end):
                self._copy(block, part, starts, out, rows)

    def _copy(self, block: int, part: slice, starts: np.ndarray, out: np.ndarray, rows: np.ndarray) -> None:
        begin, end, length = int(self.begins[block]), int(self.ends[block]), self.length
        low = int(np.searchsorted(starts, begin - length, side="right"))
        high = int(np.searchsorted(starts, end, side="left"))
        if low >= high:  # only the gap between two windows
            return
        if self.group < len(self.indices):
            # Channels are read in turn, so that a block is gone before the next windows could use
            # it: do not read ahead of these ones.
            begin, end = max(begin, int(starts[low])), min(end, int(starts[high - 1]) + length)
        samples = self._block(begin, end, part)
        for start, row in zip(starts[low:high].tolist(), rows[low:high].tolist(), strict=True):
            left, right = max(start, begin), min(start + length, end)
            out[row, part, left - start : right - start] = samples[:, left - begin : right - begin]

    def _block(self, begin: int, end: int, part: slice) -> np.ndarray:
        key = (begin, end, part.start)
        if key in self._held:
            self._held.move_to_end(key)
            return self._held[key]
        while sum(held.nbytes for held in self._held.values()) > BLOCK_BYTES:
            self._held.popitem(last=False)
        self._held[key] = read_and_check(self.source, begin, end, self.indices[part])
        return self._held[key]


def read_and_check(source: Source, start: int, stop: int, indices: np.ndarray) -> np.ndarray:
    """Read one block and check that the source returned the requested shape as float32."""
    samples = np.asarray(source.read_block(start, stop, indices))
    expected = (len(indices), stop - start)
    if samples.shape != expected or samples.dtype != np.float32:
        raise InputError(
            f"{source.name}: its source returned {samples.dtype} {samples.shape} for samples {start} to {stop}; "
            f"expected float32 {expected}."
        )
    return samples


def channels_per_block(n_channels: int, chunk: int) -> int:
    """Return how many channels to read together so that a block can hold at least one whole chunk.

    Examples
    --------
    >>> channels_per_block(100, 1)
    100
    >>> channels_per_block(100, 2**20)  # a chunk of 4 MB: eight channels fill a block of 32 MB
    8
    """
    return max(1, min(n_channels, BLOCK_BYTES // (_SAMPLE_BYTES * chunk)))


def plan_blocks(
    starts: np.ndarray, length: int, longest: int, chunk: int = 1
) -> tuple[np.ndarray, np.ndarray]:
    """Cover sorted windows with blocks that do not overlap.

    Windows whose gap is small are covered together; anything longer than `longest` is cut, at a
    multiple of `chunk` where one is within reach.

    Returns
    -------
    begins, ends : int64 arrays (blocks,)
        In time order.

    Examples
    --------
    >>> plan_blocks(np.array([0, 50, 90_000]), 100, longest=120)
    (array([    0,   120, 90000]), array([  120,   150, 90100]))
    """
    if not len(starts):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    # Near each other, as in most small requests.
    if starts[-1] - starts[0] <= min(GAP_SAMPLES, longest - length):
        return starts[:1], starts[-1:] + length
    new = np.flatnonzero(starts[1:] - (starts[:-1] + length) > max(GAP_SAMPLES, chunk)) + 1
    begins = starts[np.concatenate([[0], new])]
    ends = starts[np.concatenate([new - 1, [len(starts) - 1]])] + length
    if np.all(ends - begins <= longest):
        return begins, ends
    cuts: list[tuple[int, int]] = []
    for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
        while end - begin > longest:
            cut = (begin + longest) // chunk * chunk
            cut = cut if cut > begin else begin + longest
            cuts.append((begin, cut))
            begin = cut
        cuts.append((begin, end))
    table = np.array(cuts, dtype=np.int64)
    return table[:, 0], table[:, 1]
