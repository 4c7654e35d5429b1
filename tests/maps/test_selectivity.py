"""Power that differs between classes: scipy's t test, and a null that slow signals do not fool."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from scipy.ndimage import gaussian_filter1d

from neuroarena.maps.selectivity import band_power_db, find_selectivity


def test_t_and_its_false_discovery_rate_are_those_of_scipy():
    rng = np.random.default_rng(0)
    values, labels = rng.normal(3, 2, (120, 6)), np.repeat([0, 1, 1], 40)
    values[labels == 1, 2] += 2
    found = find_selectivity(values, labels, rng.integers(0, 120, 99))
    expected = stats.ttest_ind(values[labels == 1], values[labels == 0])
    np.testing.assert_allclose(found.t, expected.statistic, rtol=1e-9)
    np.testing.assert_allclose(found.q_plain, stats.false_discovery_control(expected.pvalue), rtol=1e-7)


def test_power_of_a_band_is_that_of_a_periodogram():
    windows = np.random.default_rng(0).normal(0, 5, (3, 256))
    frequencies, density = stats_periodogram(windows)
    inside = (frequencies >= 70) & (frequencies <= 300)
    expected = 10 * np.log10(density[:, inside].sum(axis=1) * 8)
    np.testing.assert_allclose(band_power_db(windows, 2048, 70, 300), expected, rtol=1e-9)


def stats_periodogram(windows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    from scipy.signal import periodogram

    frequencies, density = periodogram(windows, 2048, detrend="constant")
    return frequencies, density


def test_slow_signals_and_labels_fool_the_plain_test_and_not_the_shifts():
    rng = np.random.default_rng(1)
    plain, shifted = [], []
    for _ in range(60):
        labels = (gaussian_filter1d(rng.normal(size=600), 8, mode="wrap") > 0).astype(int)
        values = gaussian_filter1d(rng.normal(size=(600, 1)), 8, axis=0, mode="wrap")
        found = find_selectivity(values, labels, rng.integers(0, 600, 99))
        plain.append(found.q_plain[0] <= 0.05)
        shifted.append(found.q[0] <= 0.05)
    assert np.mean(plain) > 0.4
    assert np.mean(shifted) <= 0.15  # 60 runs at .05: more than nine have a probability of .001


def test_a_selective_electrode_is_found_with_its_sign():
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 400)
    values = rng.normal(size=(400, 3))
    values[:, 1] -= 0.6 * labels
    found = find_selectivity(values, labels, rng.integers(0, 400, 199))
    assert (found.q <= 0.05).tolist() == [False, True, False]
    assert found.t[1] < 0


def test_an_electrode_that_never_changes_says_nothing():
    found = find_selectivity(np.ones((20, 1)), np.tile([0, 1], 10), np.arange(19))
    assert found.t[0] == 0
    assert found.q[0] == pytest.approx(1.0)
