"""What a recording refuses, and what it says."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError, UnknownName
from neuroarena.recordings import (
    ArraySource,
    Recording,
    channel_table,
    check_channel_table,
    from_array,
    from_npy,
)


@pytest.fixture
def recording() -> Recording:
    return from_array(np.zeros((3, 100)), 10.0, channels=["LT1", "LT2", "RF1"], name="sub_1_trial002.h5")


@pytest.mark.parametrize(
    ("starts", "length", "said"),
    [
        ([0, 91], 10, ["window 1", "start 91", "stop 101", "0 to 100", "0 to 90"]),
        ([5, -1], 10, ["window 1", "start -1", "stop 9", "0 to 100"]),
        ([0], 101, ["window 0", "stop 101", "0 to 100", "No window of 101 samples fits"]),
        ([0, 10**30], 10, ["window 1", f"start {10**30}"]),
        (np.array([2**63], dtype=np.uint64), 10, ["window 0", f"start {2**63}"]),
        ([1.0, 1e300], 10, ["window 1", "0 to 100"]),
        ([0, 1.5], 10, ["start of window 1", "whole number", "1.5"]),
        ([0.0, np.nan], 10, ["start of window 1", "whole number", "nan"]),
        (np.array([0.0, np.inf]), 10, ["start of window 1", "inf"]),
        ([3, True], 10, ["start of window 1", "True"]),
        (np.array([True, False]), 10, ["start of window 0", "True"]),
        (["3"], 10, ["start of window 0", "'3'"]),
        ([3, None], 10, ["start of window 1", "None"]),
        ("3", 10, ["one-dimensional"]),
        (3, 10, ["one-dimensional"]),
        (np.zeros((2, 2), dtype=int), 10, ["one-dimensional", "(2, 2)"]),
        ([0], 0, ["length of a window", "at least one", "0"]),
        ([0], -5, ["length of a window", "-5"]),
        ([0], 2.5, ["length of a window", "2.5"]),
        ([0], True, ["length of a window", "True"]),
    ],
)
def test_a_window_that_is_not_in_the_recording_is_refused_by_name(recording, starts, length, said):
    for call in (recording.windows, recording.iter_windows):
        with pytest.raises(InputError) as refused:
            call(starts, length)
        for words in ["sub_1_trial002.h5", *said]:
            assert words in str(refused.value)


@pytest.mark.parametrize(
    ("start", "stop"), [(-1, 5), (0, 101), (5, 5), (6, 5), (0.5, 3), (0, np.nan), (False, 3), ("0", 3)]
)
def test_a_stretch_that_is_not_in_the_recording_is_refused_by_name(recording, start, stop):
    with pytest.raises(InputError, match=r"sub_1_trial002\.h5: .*(0 <= start < stop <= 100|whole number)"):
        recording.read(start, stop)


@pytest.mark.parametrize(
    ("channels", "said"),
    [
        (["LT1", "lt3"], 'no channel "lt3". Did you mean "LT'),
        (["LT1", "zzzzzz"], "Its 3 channels are: LT1, LT2, RF1"),
        (["LT1", "RF1", "LT1"], '"LT1" is requested twice'),
        ("LT1", "must be a list of channel names"),
        ([], "no channels were requested"),
        ([0], "by its name, got 0"),
        (3, "must be a list of channel names"),
    ],
)
def test_a_channel_that_is_not_in_the_recording_is_refused_by_name(recording, channels, said):
    calls = [lambda: recording.windows([0], 5, channels), lambda: recording.read(0, 5, channels)]
    if not isinstance(channels, int):
        calls.append(lambda: recording.select(channels))
    for call in calls:
        with pytest.raises(InputError) as refused:
            call()
        assert said in str(refused.value)
        assert "sub_1_trial002.h5" in str(refused.value)


def test_an_unknown_channel_is_an_unknown_name(recording):
    with pytest.raises(UnknownName):
        recording.select(["nothing"])


@pytest.mark.parametrize("chunk", [0, -1, 1.5, True, None])
def test_a_chunk_that_is_no_number_of_windows_is_refused(recording, chunk):
    with pytest.raises(InputError, match="chunk"):
        recording.iter_windows([0], 5, chunk=chunk)


@pytest.mark.parametrize("rate_hz", [0, -1.0, np.nan, np.inf, "250", None, True])
def test_a_rate_that_is_not_positive_is_refused(rate_hz):
    with pytest.raises(InputError, match="array: rate_hz"):
        from_array(np.zeros((1, 5)), rate_hz)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros(5), "(channels, time), got (5,)"),
        (np.zeros((1, 2, 3)), "(channels, time), got (1, 2, 3)"),
        (np.zeros((2, 5), dtype=complex), "real numbers, got an array of type complex128"),
        (np.zeros((2, 5), dtype=bool), "real numbers"),
        (np.array([["a"]]), "real numbers"),
        (np.array([[None]]), "real numbers"),
        ([[1.0], [1.0, 2.0]], "expected an array"),
        (np.ma.masked_invalid([[1.0, np.nan]]), "mask"),
        (np.zeros((2, 0)), "2 channels of 0 samples"),
        (np.zeros((0, 5)), "0 channels of 5 samples"),
    ],
)
def test_an_array_that_is_no_recording_is_refused_by_name(array, said):
    with pytest.raises(InputError) as refused:
        from_array(array, 10.0, name="session 3")
    assert said in str(refused.value)
    assert "session 3" in str(refused.value)


def test_a_number_too_large_for_float32_is_refused_and_not_made_infinite():
    with pytest.raises(InputError, match="array: holds a number beyond the range of float32"):
        from_array(np.array([[0.0, 1e300]]), 10.0).read(0, 2)


@pytest.mark.parametrize("channels", [["a"], ["a", "b", "c"], channel_table(["a"])])
def test_channels_that_do_not_fit_the_signal_are_refused(channels):
    with pytest.raises(InputError, match=r"array: the channel table has [13] rows but there are 2 channels"):
        from_array(np.zeros((2, 5)), 10.0, channels)


def test_a_source_that_gives_another_shape_or_type_is_refused():
    class Wrong(ArraySource):
        def read_block(self, start, stop, indices):
            return self.array[:, start:stop].astype(np.float64)

    recording = Recording(Wrong(np.zeros((2, 5)), "odd"), channel_table(["a", "b"]), 10.0)
    with pytest.raises(
        InputError, match=r"odd: its source returned float64 \(2, 3\).*expected float32 \(2, 3\)"
    ):
        recording.read(0, 3)


def npy_bytes(array: np.ndarray, tmp_path) -> bytes:
    np.save(tmp_path / "whole.npy", array)
    return (tmp_path / "whole.npy").read_bytes()


def test_a_broken_npy_file_is_refused_by_name(tmp_path):
    good = npy_bytes(np.zeros((4, 100)), tmp_path)
    np.savez(tmp_path / "archive.npz", a=np.zeros((2, 2)))
    broken = {
        "cut.npy": good[:-1],
        "header.npy": good[:40],
        "magic.npy": good[:4],
        "noise.npy": b"not an array at all" * 20,
        "pickle.npy": b"\x80\x04\x95\x0b\x00\x00\x00\x00\x00\x00\x00\x8c\x07forbid\x94.",
        "archive.npy": (tmp_path / "archive.npz").read_bytes(),
        "huge.npy": good.replace(b"(4, 100)", b"(4, 9**9)"),
        "objects.npy": npy_bytes(np.array([[None, 1]]), tmp_path),
        "flat.npy": npy_bytes(np.zeros(5), tmp_path),
        "empty.npy": b"",
    }
    for name, content in broken.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=name):
            from_npy(tmp_path / name, 10.0)
    for name in ("absent.npy", ""):
        with pytest.raises(InputError, match=r"no such file|is a folder"):
            from_npy(tmp_path / name, 10.0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"names": "abc"}, "must be a list of names"),
        ({"names": ["a", "a", "b"]}, '"a" is in row 0 and again in row 1'),
        ({"names": ["a", "", "b"]}, "row 1: name must be text that is not empty"),
        ({"names": ["a", 3, "b"]}, "row 1: name must be text"),
        ({"kind": ["eeg", "eeg"]}, "3 channel names but 2 kinds"),
        ({"kind": ""}, "row 0: kind"),
        ({"region": ["insula"]}, "3 channel names but 1 regions"),
        ({"region": ["insula", None, ""]}, "row 1: region must be text"),
        ({"xyz": np.zeros((3, 2))}, "(3, 3)"),
        ({"xyz": [[0, 0, 0], [0, np.inf, 0], [0, 0, 0]]}, "row 1: y is infinite"),
        ({"xyz": [["left", 0, 0]] * 3}, "must be numbers"),
    ],
)
def test_a_channel_table_is_refused_where_it_is_wrong(changes, said):
    with pytest.raises(InputError) as refused:
        channel_table(**({"names": ["a", "b", "c"]} | changes))
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda table: table.drop(columns="region"), "expected exactly the columns"),
        (lambda table: table.assign(extra=1), "expected exactly the columns"),
        (lambda table: table[["kind", "name", "x", "y", "z", "region"]], "expected exactly the columns"),
        (lambda table: table.iloc[::-1], "index"),
        (lambda table: table.assign(x=0), "column x must be float64"),
        (lambda table: table.to_dict(), "expected a pandas DataFrame"),
    ],
)
def test_a_table_of_another_form_is_refused_by_name(spoil, said):
    with pytest.raises(InputError, match=said) as refused:
        check_channel_table(spoil(channel_table(["a", "b"])), "sub_3")
    assert "sub_3" in str(refused.value)


def test_a_channel_table_has_the_agreed_columns():
    table = channel_table(["a", "b"], kind=["eeg", "eog"], xyz=[[1, 2, 3], [np.nan] * 3], region=["V1", ""])
    expected = pd.DataFrame(
        {
            "name": ["a", "b"],
            "kind": ["eeg", "eog"],
            "x": [1.0, np.nan],
            "y": [2.0, np.nan],
            "z": [3.0, np.nan],
            "region": ["V1", ""],
        }
    )
    pd.testing.assert_frame_equal(table, expected)
    assert channel_table([]).shape == (0, 6)
