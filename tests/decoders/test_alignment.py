"""Channels of different recordings are matched by name, by region, or refused."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

from neuroarena.decoders import Alignment, Group
from neuroarena.decoders.alignment import stack
from neuroarena.errors import InputError
from neuroarena.features import InterpolateChannels
from neuroarena.recordings import channel_table


def make_group(names, kind="eeg", regions=None) -> Group:
    """Make windows in which every channel holds a number of its own: the place of its name in the alphabet."""
    levels = np.array([ord(name[0]) for name in names], dtype=np.float32)
    signals = np.tile(levels[None, :, None], (2, 1, 5))
    table = pd.DataFrame({"id": ["1", "2"]})
    return Group(signals, channel_table(names, kind=kind, region=regions), 100.0, table)


def between(*groups: Group) -> np.ndarray:
    alignment = Alignment.between([group.channels for group in groups])
    return stack(alignment, groups)[:, :, 0]


def test_another_order_is_put_right_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = between(make_group(["A", "B", "C"]), make_group(["C", "A", "B"]))
    np.testing.assert_array_equal(found, [[65, 66, 67]] * 4)


def test_of_a_partial_overlap_the_shared_channels_are_kept_and_the_others_named():
    with pytest.warns(
        UserWarning, match="2 are in all recordings; 2 that some recordings lack are left out: B, D"
    ):
        found = between(make_group(["A", "B", "C"]), make_group(["D", "C", "A"]))
    np.testing.assert_array_equal(found, [[65, 67]] * 4)


def test_channels_without_a_shared_name_or_region_are_refused_with_both_lists():
    with pytest.raises(InputError, match=r"One has A, B; another has X, Y\."):
        between(make_group(["A", "B"]), make_group(["X", "Y"]))


def test_names_of_implanted_electrodes_say_nothing_about_another_person():
    one = make_group(["A", "B"], "ieeg", ["insula", "amygdala"])
    other = make_group(["B", "C"], "ieeg", ["insula", "amygdala"])
    np.testing.assert_array_equal(between(one, other), [[66, 65], [66, 65], [67, 66], [67, 66]])


def test_missing_electrodes_are_interpolated_as_mne_does():
    mne = pytest.importorskip("mne")
    names = ["Fp1", "Fp2", "F3", "F4", "C3", "C4", "P3", "P4", "O1", "O2"]
    signals = np.random.default_rng(0).standard_normal((1, 10, 50)).astype(np.float32)
    wanted = ("Cz", "C4", "C3")
    found, table = InterpolateChannels(wanted)(signals, channel_table(names, kind="eeg"), 100.0)
    raw = mne.io.RawArray(
        np.concatenate([signals[0], np.zeros((1, 50))]),
        mne.create_info([*names, "Cz"], 100.0, "eeg"),
        verbose="error",
    )
    raw.set_montage("colin27_1020").info["bads"] = ["Cz"]
    expected = raw.interpolate_bads(verbose="error").get_data(picks=list(wanted))
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
    assert list(table["name"]) == list(wanted)
    with pytest.raises(InputError, match="no electrode Q7"):
        InterpolateChannels(("Q7",))(signals, channel_table(names, kind="eeg"), 100.0)
