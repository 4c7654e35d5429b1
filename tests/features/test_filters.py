"""Filters against plain scipy calls, channel by channel."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.signal

from features.tables import RATE_HZ, noise, numbered
from neuroarena.errors import InputError
from neuroarena.features import Downsample, Notch, filters


def test_the_notch_equals_scipy_channel_by_channel() -> None:
    signals = noise(3, 4, 2048)
    result, channels = Notch()(signals, numbered(4), RATE_HZ)
    for window in range(3):
        for channel in range(4):
            expected = signals[window, channel].astype(np.float64)
            for frequency in (60, 120, 180, 240, 300):
                b, a = scipy.signal.iirnotch(frequency, 12.0, fs=RATE_HZ)
                expected = scipy.signal.filtfilt(b, a, expected)
            np.testing.assert_allclose(result[window, channel], expected, atol=1e-5)
    assert result.dtype == np.float32
    assert len(channels) == 4


def test_the_notch_removes_the_line_and_keeps_the_rest_in_phase() -> None:
    time = np.arange(4 * 2048) / RATE_HZ
    kept = np.sin(2 * np.pi * 20 * time)
    signals = (kept + np.sin(2 * np.pi * 60 * time)).astype(np.float32)[None, None]
    result, _ = Notch()(signals, numbered(1), RATE_HZ)
    middle = slice(2048, 3 * 2048)
    np.testing.assert_allclose(result[0, 0, middle], kept[middle], atol=0.03)


@pytest.mark.parametrize("line_hz", [60, 120, 180, 240, 300])
def test_every_notch_of_several_removes_its_own_line(line_hz: int) -> None:
    time = np.arange(4 * 2048) / RATE_HZ
    signals = np.sin(2 * np.pi * line_hz * time).astype(np.float32)[None, None]
    middle = slice(2048, 3 * 2048)
    result, _ = Notch()(signals, numbered(1), RATE_HZ)
    assert np.abs(result[0, 0, middle]).max() < 0.03
    others = tuple(each for each in (60, 120, 180, 240, 300) if each != line_hz)
    kept, _ = Notch(others)(signals, numbered(1), RATE_HZ)
    assert np.abs(kept[0, 0, middle]).max() > 0.8


@pytest.mark.parametrize(
    ("to_hz", "up", "down"), [(200, 25, 256), (500, 125, 512), (512.0, 1, 4), (2048, 1, 1)]
)
def test_downsampling_equals_scipy_channel_by_channel(to_hz: float, up: int, down: int) -> None:
    signals = noise(2, 3, 2048)
    result, _ = Downsample(to_hz)(signals, numbered(3), RATE_HZ)
    for window in range(2):
        for channel in range(3):
            expected = scipy.signal.resample_poly(signals[window, channel].astype(np.float64), up, down)
            np.testing.assert_allclose(result[window, channel], expected, atol=1e-5)
    assert result.dtype == np.float32
    assert Downsample(to_hz).rate_after(RATE_HZ) == to_hz


@pytest.mark.parametrize("samples", [100, 101, 102, 103, 2047])
def test_a_length_that_does_not_divide_is_rounded_up(samples: int) -> None:
    result, _ = Downsample(512)(noise(1, 1, samples), numbered(1), RATE_HZ)
    assert result.shape == (1, 1, -(-samples // 4))


def test_rates_that_are_not_exact_in_binary_have_the_ratio_they_mean() -> None:
    result, _ = Downsample(100.1)(noise(1, 2, 1001), numbered(2), 1001.0)
    expected = scipy.signal.resample_poly(noise(1, 2, 1001), 1, 10, axis=-1)
    np.testing.assert_allclose(result, expected, atol=1e-6)


@pytest.mark.parametrize("step", [Notch(), Downsample(500)])
def test_the_size_of_a_run_changes_nothing(step: Notch | Downsample, monkeypatch: pytest.MonkeyPatch) -> None:
    signals = noise(5, 3, 400)
    before = signals.copy()
    expected, _ = step(signals, numbered(3), RATE_HZ)
    monkeypatch.setattr(filters, "RUN_BYTES", 1)
    result, _ = step(signals, numbered(3), RATE_HZ)
    np.testing.assert_allclose(result, expected, atol=1e-6)
    np.testing.assert_array_equal(signals, before)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Notch(frequencies_hz=()), "frequencies_hz is empty"),
        (lambda: Notch(frequencies_hz=(60, -1)), "frequencies_hz must be positive, got -1"),
        (lambda: Notch(q=0), "q must be a positive number, got 0"),
        (lambda: Notch(q=float("nan")), "q must be a positive number, got nan"),
        (lambda: Downsample(0), "to_hz must be a positive number, got 0"),
        (lambda: Downsample(float("inf")), "to_hz must be a positive number, got inf"),
        (lambda: Notch()(noise(1, 1, 9), numbered(1), RATE_HZ), "9 samples are too short"),
        (lambda: Notch()(noise(1, 1, 90), numbered(1), 600.0), "300 Hz is not below half .* 600 Hz"),
        (lambda: Notch()(noise(1, 1, 9, 9), numbered(1), RATE_HZ), r"axes \(window, channel, time\)"),
        (lambda: Downsample(500)(noise(1, 1, 90), numbered(1), 256.0), "to_hz=500 is above .* 256 Hz"),
        (lambda: Downsample(500).rate_after(256.0), "to_hz=500 is above"),
        (lambda: Downsample(np.pi).rate_after(256.0), "no ratio of whole numbers"),
        (lambda: Downsample(10).rate_after(-1.0), "rate_hz must be a finite number above zero"),
    ],
)
def test_filters_refuse_by_name(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]


def test_importing_the_room_does_not_import_scipy_or_torch() -> None:
    code = "import neuroarena.features, sys; print(sorted({'scipy', 'torch', 'sklearn'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
