"""Windows are slices of the whole, whatever the format, the order and the size of the blocks."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.recordings import blocks, from_array

LENGTHS = st.one_of(st.integers(1, 40), st.integers(300, 3000))


def small_blocks(size: int, gap: int) -> pytest.MonkeyPatch:
    patch = pytest.MonkeyPatch()
    patch.setattr(blocks, "BLOCK_BYTES", size)
    patch.setattr(blocks, "GAP_SAMPLES", gap)
    return patch


@given(data=st.data())
def test_windows_and_their_chunks_equal_slices_of_the_whole(backend, names, data):
    recording, whole = backend
    length = data.draw(LENGTHS)
    starts = data.draw(st.lists(st.integers(0, whole.shape[1] - length), max_size=20))
    starts += data.draw(st.lists(st.sampled_from(starts), max_size=3)) if starts else []
    wanted = data.draw(st.none() | st.lists(st.sampled_from(names), min_size=1, unique=True))
    rows = slice(None) if wanted is None else [names.index(name) for name in wanted]
    expected = np.array([whole[rows, start : start + length] for start in starts], dtype=np.float32)
    expected = expected.reshape(len(starts), len(whole[rows]), length)

    patch = small_blocks(
        data.draw(st.sampled_from([600, 9000, 2**25])), data.draw(st.sampled_from([0, 50, 4096]))
    )
    try:
        found = recording.windows(starts, length, channels=wanted)
        chunk = data.draw(st.integers(1, 12))
        parts = list(recording.iter_windows(starts, length, channels=wanted, chunk=chunk))
    finally:
        patch.undo()

    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, expected)
    positions = np.concatenate([part[0] for part in parts]) if parts else np.empty(0, int)
    assert sorted(positions) == list(range(len(starts)))
    assert [starts[position] for position in positions] == sorted(starts)
    assert all(len(part[0]) == len(part[1]) <= chunk for part in parts)
    for places, windows in parts:
        assert windows.dtype == np.float32
        np.testing.assert_array_equal(windows, expected[places])


def test_a_stretch_equals_the_slice_of_the_whole(backend, names):
    recording, whole = backend
    np.testing.assert_array_equal(recording.read(0, whole.shape[1]), whole)
    np.testing.assert_array_equal(recording.read(10, 11, channels=["Cz", "Fp1"]), whole[[2, 0], 10:11])
    assert (recording.n_samples, recording.rate_hz) == (whole.shape[1], 250.0)
    assert recording.channels["name"].tolist() == names


def test_a_selection_is_a_view_with_its_own_channels_and_order(backend):
    recording, whole = backend
    view = recording.select(["O2", "Cz", "Fp1"]).select(["Fp1", "O2"])
    assert view.channels["name"].tolist() == ["Fp1", "O2"]
    assert view.channels.index.tolist() == [0, 1]
    np.testing.assert_array_equal(view.read(5, 50), whole[[0, 4], 5:50])
    np.testing.assert_array_equal(view.read(5, 50, channels=["O2"]), whole[[4], 5:50])
    assert len(recording.channels) == 5


@pytest.mark.parametrize(
    "starts",
    [
        [4, 0, 4],
        (4, 0, 4),
        np.array([4, 0, 4], dtype=np.uint16),
        np.array([4.0, 0.0, 4.0]),
        pd.Series([4, 0, 4], index=[9, 8, 7]),
        [np.int64(4), 0, 4.0],
        range(4, -1, -4),
    ],
    ids=["list", "tuple", "uint16", "whole floats", "series", "mixed", "range"],
)
def test_starts_may_come_in_any_form_of_whole_numbers(starts):
    recording = from_array(np.arange(20).reshape(2, 10), 10.0)
    expected = [[int(start), int(start) + 1] for start in starts]
    assert recording.windows(starts, 2, channels=["ch0"])[:, 0].tolist() == expected


@pytest.mark.parametrize("starts", [[], np.array([]), np.array([], dtype=int), pd.Series([], dtype=int)])
def test_no_starts_give_no_windows(starts):
    recording = from_array(np.zeros((3, 10)), 10.0)
    assert recording.windows(starts, 4).shape == (0, 3, 4)
    assert list(recording.iter_windows(starts, 4)) == []


def test_what_is_returned_belongs_to_the_caller():
    array = np.zeros((1, 10), dtype=np.float32)
    recording = from_array(array, 10.0)
    recording.read(0, 10)[:] = 1
    recording.windows([0], 10)[:] = 1
    assert not array.any()


def test_nan_in_a_recording_stays_nan():
    recording = from_array(np.array([[1.0, np.nan, np.inf]]), 10.0)
    np.testing.assert_array_equal(recording.read(0, 3), np.array([[1.0, np.nan, np.inf]], dtype=np.float32))
