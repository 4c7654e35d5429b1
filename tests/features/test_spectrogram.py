"""Spectrograms against torch.stft."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from features.tables import RATE_HZ, noise, numbered
from neuroarena.errors import InputError
from neuroarena.features import Spectrogram, fourier, spectrogram


def torch_stft(signals: np.ndarray, step: Spectrogram, rate_hz: float = RATE_HZ) -> np.ndarray:
    """Give complex (window, channel, frame, frequency) by torch, in the parameters of the specification."""
    torch = pytest.importorskip("torch", reason="torch is the oracle of the spectrogram")
    size = step.window_samples
    taper = torch.hann_window(size) if step.window == "hann" else torch.ones(size)
    spectrum = torch.stft(
        torch.from_numpy(signals.reshape(-1, signals.shape[-1])),
        n_fft=size,
        hop_length=size - int(size * step.overlap),
        win_length=size,
        window=taper,
        center=True,
        pad_mode="reflect",
        normalized=False,
        onesided=True,
        return_complex=True,
    ).numpy()
    frequency = np.arange(size // 2 + 1) * rate_hz / size
    spectrum = spectrum[:, (frequency >= step.min_hz) & (frequency <= step.max_hz)]
    return spectrum.transpose(0, 2, 1).reshape(*signals.shape[:2], spectrum.shape[2], spectrum.shape[1])


def complex_parts(step: Spectrogram, signals: np.ndarray, rate_hz: float = RATE_HZ) -> np.ndarray:
    result, _ = step(signals, numbered(signals.shape[1]), rate_hz)
    return result[..., 0] + 1j * result[..., 1]


@pytest.mark.parametrize(
    ("samples", "frames"), [(2048, 17), (512, 5), (4096, 33), (257, 3), (300, 3), (2047, 16)]
)
def test_the_defaults_equal_torch(samples: int, frames: int) -> None:
    signals = noise(3, 4, samples)
    result, channels = Spectrogram()(signals, numbered(4), RATE_HZ)
    assert result.shape == (3, 4, frames, 38)
    assert result.dtype == np.float32
    assert Spectrogram().n_frames(samples) == frames
    assert channels["name"].tolist() == ["P1", "P2", "P3", "P4"]
    np.testing.assert_allclose(result, np.abs(torch_stft(signals, Spectrogram())), atol=1e-4, rtol=0)


def test_the_kept_frequencies_are_those_of_the_specification() -> None:
    frequencies = Spectrogram().frequencies_hz(2048.0)
    np.testing.assert_array_equal(frequencies, np.arange(0, 149, 4))
    bounded = Spectrogram(min_hz=4.0, max_hz=12.0).frequencies_hz(2048.0)
    np.testing.assert_array_equal(bounded, [4, 8, 12])


@pytest.mark.parametrize(
    "step",
    [
        Spectrogram(overlap=0.875, max_hz=200.0),
        Spectrogram(window_samples=256, overlap=0.0, window="boxcar"),
        Spectrogram(window="boxcar"),
        Spectrogram(overlap=0.5),
        Spectrogram(max_hz=1024.0),
        Spectrogram(min_hz=70.0, max_hz=150.0),
        Spectrogram(min_hz=990.0, max_hz=1024.0),
        Spectrogram(window_samples=400, overlap=0.6),
        Spectrogram(window_samples=255, overlap=0.9),
        Spectrogram(window_samples=1024, overlap=0.75, max_hz=60.0),
    ],
)
def test_magnitudes_and_complex_parts_equal_torch(step: Spectrogram) -> None:
    signals = noise(2, 3, 2048, seed=1)
    expected = torch_stft(signals, step)
    result, _ = step(signals, numbered(3), RATE_HZ)
    np.testing.assert_allclose(result, np.abs(expected), atol=1e-4, rtol=0)
    parts = Spectrogram(**{**step.__dict__, "output": "complex-parts"})
    shaped, _ = parts(signals, numbered(3), RATE_HZ)
    assert shaped.shape == (*expected.shape, 2)
    np.testing.assert_allclose(complex_parts(parts, signals), expected, atol=1e-4, rtol=0)


@given(st.data())
def test_any_frame_overlap_and_band_equals_torch(data: st.DataObject) -> None:
    size = data.draw(
        st.one_of(st.sampled_from([4, 8, 16, 32, 64, 128, 256, 512]), st.integers(4, 600)), "size"
    )
    overlap = data.draw(st.one_of(st.sampled_from([0.0, 0.5, 0.75, 0.875]), st.floats(0, 0.95)), "overlap")
    samples = data.draw(st.integers(size // 2 + 1, size // 2 + 700), "samples")
    rate = data.draw(st.sampled_from([100.0, 256.0, 2048.0]), "rate")
    # Bounds between bins, so that rounding cannot move one across.
    low = data.draw(st.integers(0, size // 2), "low")
    high = data.draw(st.integers(low, size // 2), "high")
    step = Spectrogram(
        window_samples=size,
        overlap=overlap,
        min_hz=max(0.0, (low - 0.5) * rate / size),
        max_hz=(high + 0.5) * rate / size,
        window=data.draw(st.sampled_from(["hann", "boxcar"]), "window"),
        output="complex-parts",
    )
    signals = noise(2, 2, samples, seed=size)
    expected = torch_stft(signals, step, rate)
    result = complex_parts(step, signals, rate)
    assert result.shape == (2, 2, step.n_frames(samples), high - low + 1)
    assert len(step.frequencies_hz(rate)) == high - low + 1
    np.testing.assert_allclose(result, expected, atol=1e-4, rtol=0)


@pytest.mark.parametrize("offset", [0.0, 300.0])
def test_large_signals_agree_relative_to_their_largest_value(offset: float) -> None:
    signals = 500 * noise(2, 3, 2048) + np.float32(offset)
    result, _ = Spectrogram()(signals, numbered(3), RATE_HZ)
    expected = np.abs(torch_stft(signals, Spectrogram()))
    np.testing.assert_allclose(result, expected, atol=1e-6 * expected.max(), rtol=0)


@pytest.mark.parametrize("transform", [fourier.SharedParts, fourier.WholeFrames])
@pytest.mark.parametrize("window", ["hann", "boxcar"])
def test_both_transforms_give_the_same_whatever_the_choice(transform: type, window: str) -> None:
    signals = noise(2, 3, 1000)
    step = Spectrogram(window=window)
    layout = fourier.Layout(window, 512, 128, first=2, last=30, samples=1000, frames=step.n_frames(1000))
    spectrum = transform(layout, windows=2, channels=3)(signals)
    wanted = Spectrogram(window=window, min_hz=8, max_hz=120)
    np.testing.assert_allclose(spectrum, torch_stft(signals, wanted), atol=1e-4, rtol=0)


@pytest.mark.parametrize(
    ("step", "chosen"),
    [
        (Spectrogram(), "SharedParts"),
        (Spectrogram(max_hz=1024.0), "WholeFrames"),
        (Spectrogram(overlap=0.7), "WholeFrames"),
        (Spectrogram(window_samples=510, overlap=2 / 3), "WholeFrames"),
    ],
)
def test_the_faster_transform_is_chosen(
    step: Spectrogram, chosen: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SharedParts", "WholeFrames"):
        if name != chosen:
            monkeypatch.delattr(fourier, name)
    step(noise(1, 2, 2048), numbered(2), RATE_HZ)


@pytest.mark.parametrize("channels", [1, 7, 30, 120])
@pytest.mark.parametrize("step", [Spectrogram(), Spectrogram(overlap=0.6)])
def test_a_window_has_the_same_bits_whichever_windows_it_is_computed_with(
    channels: int, step: Spectrogram
) -> None:
    signals, names = noise(9, channels, 512), numbered(channels)
    together, _ = step(signals, names, RATE_HZ)
    alone = [step(signals[place : place + 1], names, RATE_HZ)[0] for place in range(9)]
    np.testing.assert_array_equal(together, np.concatenate(alone))


@pytest.mark.parametrize("run_bytes", [1, 200_000, 1 << 28])
@pytest.mark.parametrize("step", [Spectrogram(), Spectrogram(overlap=0.6, output="complex-parts")])
def test_the_size_of_a_run_changes_nothing(
    step: Spectrogram, run_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals = noise(5, 11, 700)
    expected, _ = step(signals, numbered(11), RATE_HZ)
    monkeypatch.setattr(spectrogram, "RUN_BYTES", run_bytes)
    result, _ = step(signals, numbered(11), RATE_HZ)
    np.testing.assert_allclose(result, expected, atol=3e-5)


def test_signals_that_are_not_contiguous_are_transformed_alike() -> None:
    signals = noise(4, 10, 1400)
    view = signals[::2, ::3, 100::2]
    result, _ = Spectrogram()(view, numbered(4), RATE_HZ)
    expected, _ = Spectrogram()(view.copy(), numbered(4), RATE_HZ)
    np.testing.assert_array_equal(result, expected)


def test_a_broken_channel_spoils_only_itself() -> None:
    signals = noise(2, 3, 2048)
    signals[0, 1, 1000] = np.nan
    result, _ = Spectrogram()(signals, numbered(3), RATE_HZ)
    assert np.isnan(result).any(axis=(2, 3)).tolist() == [[False, True, False], [False, False, False]]


@pytest.mark.parametrize("step", [Spectrogram(), Spectrogram(max_hz=1024.0)])
def test_temporary_memory_does_not_follow_the_number_of_windows(step: Spectrogram) -> None:
    signals, channels = noise(24, 120, 2048), numbered(120)
    step(signals[:1], channels, RATE_HZ)
    tracemalloc.start()
    result, _ = step(signals, channels, RATE_HZ)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak - result.nbytes < 40e6


def test_no_windows_give_no_spectrograms() -> None:
    result, _ = Spectrogram()(noise(0, 3, 2048), numbered(3), RATE_HZ)
    assert result.shape == (0, 3, 17, 38)


def test_the_rate_after_is_the_number_of_frames_a_second() -> None:
    assert Spectrogram().hop_samples == 128
    assert Spectrogram().rate_after(2048.0) == 16.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"window_samples": 3}, "window_samples must be a whole number of at least 4, got 3"),
        ({"window_samples": 512.0}, "window_samples must be a whole number"),
        ({"overlap": 1.0}, r"overlap must be in \[0, 1\), got 1.0"),
        ({"overlap": -0.1}, "overlap must be in"),
        ({"overlap": float("nan")}, "overlap must be in"),
        ({"min_hz": -1.0}, "expected 0 <= min_hz <= max_hz, got min_hz=-1.0"),
        ({"min_hz": 200.0}, "min_hz=200.0 and max_hz=150.0"),
        ({"max_hz": float("inf")}, "max_hz=inf"),
        ({"window": "hamming"}, 'window must be one of hann, boxcar, got "hamming"'),
        ({"output": "power"}, 'output must be one of magnitude, complex-parts, got "power"'),
    ],
)
def test_parameters_out_of_range_are_refused_by_name(options: dict, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Spectrogram(**options)


@pytest.mark.parametrize(
    ("step", "signals", "rate", "message"),
    [
        (
            Spectrogram(),
            noise(1, 2, 256),
            2048.0,
            "256 samples cannot be reflected by 256.* at least 257 samples",
        ),
        (Spectrogram(), noise(1, 2, 4, 600), 2048.0, "come before a spectrogram"),
        (Spectrogram(), noise(1, 3, 600), 2048.0, "holds 3 channels but the channel table has 2 rows"),
        (Spectrogram(), noise(1, 2, 600), 0.0, "rate_hz must be a finite number above zero, got 0.0"),
        (Spectrogram(), noise(1, 2, 600), float("nan"), "rate_hz must be a finite number above zero"),
        (
            Spectrogram(min_hz=1, max_hz=3),
            noise(1, 2, 600),
            2048.0,
            "no frequency between 1 and 3 Hz.* of 4 Hz",
        ),
    ],
)
def test_signals_that_do_not_fit_are_refused_by_name(
    step: Spectrogram, signals: np.ndarray, rate: float, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        step(signals, numbered(2), rate)
