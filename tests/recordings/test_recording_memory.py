"""Reading takes the memory of the windows asked for, and reads each sample about once."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from neuroarena.recordings import open_file
from neuroarena.recordings.blocks import BLOCK_BYTES, BlockReader

BUDGET = 256 * 2**20


def covered(starts: np.ndarray, length: int) -> int:
    """Samples that lie in at least one window, found without the planner."""
    ordered = np.sort(starts)
    return int(np.minimum(np.diff(ordered), length).sum() + length)


@pytest.mark.parametrize("chunk_samples", [1, 1000, 15_407, 2**18, 2**21])
@pytest.mark.parametrize("chunk", [1, 7, 256])
def test_overlapping_windows_read_each_sample_once_in_blocks_within_the_budget(
    counting, chunk, chunk_samples
):
    source = counting(n_channels=130, n_samples=900_000, chunk_samples=chunk_samples)
    starts = np.random.default_rng(1).integers(0, 100_000, size=60)
    for positions, windows in source.recording().iter_windows(starts, 2048, chunk=chunk):
        expected = source.values(starts[positions[0]], starts[positions[0]] + 2048, np.arange(130))
        np.testing.assert_array_equal(windows[0], expected)
    assert source.largest_block_bytes() <= BLOCK_BYTES
    span = starts.max() + 2048 - starts.min()
    if chunk_samples <= BLOCK_BYTES // (4 * 130):
        assert source.samples_read() <= 130 * span
    else:
        # A chunk of all the channels is beyond the budget: windows that are asked for separately are
        # read separately, without reading ahead.
        assert source.samples_read() <= 130 * (span + 2048 * -(-len(starts) // chunk))


def test_windows_in_one_call_read_each_sample_once_even_when_they_are_dense(counting):
    source = counting(n_channels=3, n_samples=10**6)
    starts = np.random.default_rng(2).permutation(np.arange(0, 40_000, 5))
    windows = source.recording().windows(starts, 500)
    assert source.samples_read() == 3 * covered(starts, 500)
    assert len(source.blocks) == 1
    for row in (0, 17, len(starts) - 1):
        np.testing.assert_array_equal(
            windows[row], source.values(starts[row], starts[row] + 500, np.arange(3))
        )


def test_windows_far_apart_do_not_read_what_lies_between(counting):
    source = counting(n_channels=8, n_samples=10**12)
    starts = np.array([10**12 - 100, 0, 5 * 10**11])
    windows = source.recording().windows(starts, 100)
    assert source.samples_read() == 8 * 300
    np.testing.assert_array_equal(windows[0], source.values(10**12 - 100, 10**12, np.arange(8)))


def test_blocks_of_a_compressed_file_end_where_its_chunks_end(counting):
    chunk_samples = 4096
    source = counting(n_channels=500, n_samples=10**6, chunk_samples=chunk_samples)
    for _ in source.recording().iter_windows(np.arange(100, 200_000, 1500), 2000, chunk=16):
        pass
    unpacked: dict[int, int] = {}
    for start, stop, _ in source.blocks:
        for chunk in range(start // chunk_samples, -(-stop // chunk_samples)):
            unpacked[chunk] = unpacked.get(chunk, 0) + 1
    assert len(source.blocks) > 5
    assert max(unpacked.values()) == 1


@pytest.mark.parametrize(
    ("n_channels", "length", "starts"),
    [
        (1, 60_000_000, [5]),
        (64, 500_000, [0, 250_000]),
        (20_000_000, 1, [3, 4]),
        (4, 2048, list(range(0, 400_000, 4000))),
    ],
    ids=["one huge window", "huge windows that overlap", "very many channels", "many windows"],
)
def test_peak_memory_is_what_is_returned_and_a_fixed_amount(counting, n_channels, length, starts):
    source = counting(n_channels=n_channels, n_samples=10**10)
    # A table of millions of channels would drown what is measured: the reader is asked directly.
    indices = np.arange(n_channels)
    tracemalloc.start()
    try:
        out = np.empty((len(starts), n_channels, length), dtype=np.float32)
        BlockReader(source, indices, np.array(starts), length).fill(
            0, len(starts), out, np.arange(len(starts))
        )
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak - out.nbytes < BUDGET
    assert source.largest_block_bytes() <= BLOCK_BYTES
    expected = source.values(starts[-1], starts[-1] + min(length, 50), indices[:10])
    np.testing.assert_array_equal(out[-1, :10, :50], expected)


def test_a_chunk_is_let_go_before_the_next_is_made(counting):
    source = counting(n_channels=16, n_samples=10**8)
    starts = np.arange(0, 10**7, 100_000)
    tracemalloc.start()
    try:
        for _, windows in source.recording().iter_windows(starts, 100_000, chunk=10):
            size = windows.nbytes
            del windows, _
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < size + BUDGET


def test_the_stated_memory_holds_for_a_file_that_mne_reads(edf):
    recording = open_file(edf)
    recording.read(0, 10)
    tracemalloc.start()
    try:
        recording.read(0, 10)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    # The whole is 5 x 3000 float64: 120 kB. Ten samples take two data records of one second.
    assert peak < 100_000
