"""Bipolar pairs and common averages, on examples worked by hand."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from features.tables import RATE_HZ, noise, numbered, table
from neuroarena.errors import InputError
from neuroarena.features import Bipolar, CommonAverage


def values(*numbers: float) -> np.ndarray:
    return np.array(numbers, dtype=np.float32).reshape(1, -1, 1)


def test_pairs_follow_the_contacts_of_each_probe_and_skip_gaps() -> None:
    channels = table(
        ["B2", "A3", "A1", "Cz", "A2", "B1", "A5", "A10", "A9"],
        xyz=[(0, 0, float(row)) for row in range(9)],
        region=["b", "a", "x", "", "a", "", "a", "a", "a"],
    )
    result, pairs = Bipolar()(values(1, 2, 4, 8, 16, 32, 64, 128, 256), channels, RATE_HZ)
    assert pairs["name"].tolist() == ["B1-B2", "A1-A2", "A2-A3", "A9-A10"]
    assert result.ravel().tolist() == [31, -12, 14, 128]
    assert pairs["z"].tolist() == [2.5, 3.0, 2.5, 7.5]
    assert pairs["region"].tolist() == ["", "", "a", "a"]
    assert pairs["kind"].tolist() == ["ieeg"] * 4
    assert list(pairs.columns) == list(channels.columns)
    assert isinstance(pairs.index, pd.RangeIndex)
    assert result.dtype == np.float32


def test_a_pair_with_an_unknown_position_has_none() -> None:
    channels = table(["A1", "A2"], xyz=[(1.0, 2.0, 3.0), (np.nan, 4.0, 5.0)])
    _, pairs = Bipolar()(values(1, 2), channels, RATE_HZ)
    assert np.isnan(pairs["x"][0])
    assert (pairs["y"][0], pairs["z"][0]) == (3.0, 4.0)


def test_bipolar_signals_sum_to_the_ends_of_the_probe() -> None:
    signals = noise(300, 5, 200)
    result, _ = Bipolar()(signals, numbered(5), RATE_HZ)
    np.testing.assert_allclose(result.sum(axis=1), signals[:, 0] - signals[:, 4], atol=1e-5)


def test_the_common_average_of_all_channels_is_subtracted() -> None:
    result, channels = CommonAverage()(values(1, 2, 6), table(["A1", "B1", "Cz"]), RATE_HZ)
    assert result.ravel().tolist() == [-2, -1, 3]
    assert channels["name"].tolist() == ["A1", "B1", "Cz"]


def test_the_average_of_a_probe_leaves_lonely_channels_alone() -> None:
    channels = table(["A1", "B1", "A2", "Cz", "A9"])
    result, _ = CommonAverage(per_probe=True)(values(1, 2, 6, 7, 5), channels, RATE_HZ)
    assert result.ravel().tolist() == [-3, 2, 2, 7, 1]


@pytest.mark.parametrize("per_probe", [False, True])
def test_averages_are_zero_afterwards_and_the_input_is_unchanged(per_probe: bool) -> None:
    signals = noise(4, 7, 33)
    before = signals.copy()
    result, _ = CommonAverage(per_probe)(signals, numbered(7), RATE_HZ)
    np.testing.assert_allclose(result.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_array_equal(signals, before)
    assert result.dtype == np.float32


@pytest.mark.parametrize(
    ("step", "names", "message"),
    [
        (Bipolar(), ["A1", "B2", "A3"], r"Bipolar: no two of the 3 channels .* \(A1, B2, A3\)"),
        (Bipolar(), ["A1", "A01"], '"A1" and "A01" are both contact 1'),
        (Bipolar(), [f"A{2 * n}" for n in range(8)], r"A0, A2, A4, A6, A8, A10, \.\.\.\)"),
        (CommonAverage(), ["A1"], r"CommonAverage: needs at least two channels, got 1 \(A1\)"),
        (CommonAverage(per_probe=True), ["A1", "A01"], '"A1" and "A01" are both contact 1'),
    ],
)
def test_what_cannot_be_rereferenced_is_refused_by_name(
    step: Bipolar | CommonAverage, names: list[str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        step(noise(1, len(names), 2), table(names), RATE_HZ)
