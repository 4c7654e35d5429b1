"""Chains: order, names, fingerprints, rates and refusals."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import pytest

from features.tables import RATE_HZ, noise, numbered, table
from neuroarena.errors import InputError
from neuroarena.features import (
    Bipolar,
    CommonAverage,
    Downsample,
    FeatureChain,
    Laplacian,
    Notch,
    Spectrogram,
    chain,
)


@dataclass(frozen=True)
class RateWitness:
    """Add the rate it is told, so that a test can see it."""

    times: float = 1.0

    def __call__(
        self, signals: np.ndarray, channels: pd.DataFrame, rate_hz: float
    ) -> tuple[np.ndarray, pd.DataFrame]:
        return (signals * 0 + rate_hz * self.times).astype(np.float64), channels


def test_steps_are_applied_in_order() -> None:
    signals, channels = noise(6, 5, 2048), numbered(5)
    features, after = FeatureChain((Laplacian(both=True), Spectrogram()))(signals, channels, RATE_HZ)
    referenced, kept = Laplacian(both=True)(signals, channels, RATE_HZ)
    expected, _ = Spectrogram()(referenced, kept, RATE_HZ)
    np.testing.assert_array_equal(features, expected)
    assert after["name"].tolist() == ["P2", "P3", "P4"]


@pytest.mark.parametrize("run_bytes", [1, 100_000, 1 << 30])
def test_the_size_of_a_run_changes_nothing(run_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    steps = FeatureChain((Laplacian(), Downsample(512), Spectrogram(window_samples=128)))
    signals, channels = noise(7, 6, 2048), numbered(6)
    expected, _ = steps(signals, channels, RATE_HZ)
    monkeypatch.setattr(chain, "RUN_BYTES", run_bytes)
    result, _ = steps(signals, channels, RATE_HZ)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ((), "raw"),
        ((Laplacian(), Spectrogram()), "laplacian-spectrogram"),
        ((Notch(), Downsample(200), CommonAverage()), "notch-downsample-common-average"),
        ((Bipolar(),), "bipolar"),
    ],
)
def test_the_name_lists_the_steps(steps: tuple, name: str) -> None:
    assert FeatureChain(steps).name == name


def test_a_chain_without_steps_gives_the_signals() -> None:
    signals, channels = noise(2, 3, 10), numbered(3)
    result, after = FeatureChain()(signals, channels, RATE_HZ)
    assert result is signals
    assert after is channels


def test_each_step_is_told_the_rate_at_its_place() -> None:
    steps = FeatureChain((Downsample(512), RateWitness()))
    result, _ = steps(noise(2, 3, 2048), numbered(3), RATE_HZ)
    assert np.unique(result).tolist() == [512.0]
    assert result.dtype == np.float32
    assert steps.rate_after(RATE_HZ) == 512.0
    assert FeatureChain((Downsample(512), Spectrogram(128), Laplacian())).rate_after(RATE_HZ) == 16.0
    assert FeatureChain().rate_after(RATE_HZ) == RATE_HZ


def test_parameters_are_plain_data_with_the_type_of_each_step() -> None:
    parameters = FeatureChain((Laplacian(), Notch((50,)))).parameters()
    assert json.loads(json.dumps(parameters)) == [
        {"type": "Laplacian", "both": False},
        {"type": "Notch", "frequencies_hz": [50], "q": 12.0},
    ]


def test_the_fingerprint_follows_parameters_order_and_code(monkeypatch: pytest.MonkeyPatch) -> None:
    chains = [
        FeatureChain(steps)
        for steps in [(), (Laplacian(),), (Laplacian(True),), (Laplacian(), Notch()), (Notch(), Laplacian())]
    ]
    prints = [steps.fingerprint() for steps in chains]
    assert len(set(prints)) == len(prints)
    assert [FeatureChain(steps.steps).fingerprint() for steps in chains] == prints
    monkeypatch.setattr(chain, "code_fingerprint", lambda step: "other code")
    assert chains[1].fingerprint() != prints[1]


def test_chains_within_a_chain_are_spliced_in_and_lists_are_accepted() -> None:
    inner = FeatureChain([Laplacian(), Notch()])  # type: ignore[arg-type]
    outer = FeatureChain((inner, Spectrogram()))
    flat = FeatureChain((Laplacian(), Notch(), Spectrogram()))
    assert outer == flat
    assert hash(outer) == hash(flat)
    assert outer.fingerprint() == flat.fingerprint()


@pytest.mark.parametrize(
    ("steps", "channels", "shape"),
    [
        ((), None, (120, 2048)),
        ((Laplacian(), Spectrogram()), None, (120, 17, 38)),
        ((Spectrogram(output="complex-parts"),), None, (120, 17, 38, 2)),
        ((Bipolar(), Downsample(200)), numbered(120), (119, 200)),
        ((Laplacian(both=True),), numbered(120), (118, 2048)),
    ],
)
def test_the_shape_of_one_window_is_known_beforehand(
    steps: tuple, channels: pd.DataFrame | None, shape: tuple[int, ...]
) -> None:
    assert FeatureChain(steps).output_shape(120, 2048, RATE_HZ, channels) == shape


@pytest.mark.parametrize("steps", [(), (Bipolar(), Spectrogram())])
def test_no_windows_give_no_features_of_the_right_shape(steps: tuple) -> None:
    features, channels = FeatureChain(steps)(noise(0, 4, 2048), numbered(4), RATE_HZ)
    assert features.shape == (0, *FeatureChain(steps).output_shape(4, 2048, RATE_HZ, numbered(4)))
    assert len(channels) == features.shape[1]


@dataclass
class Thawed:
    """A step that is not frozen."""

    def __call__(self, *parts: Any) -> Any:
        return parts[:2]


@dataclass(frozen=True)
class Silent:
    """A dataclass that cannot be called."""


@dataclass(frozen=True)
class Opaque(RateWitness):
    """A step whose parameter has no JSON form."""

    weights: Any = field(default_factory=lambda: np.ones(3))


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Laplacian, "got the class Laplacian"),
        (np.abs, "callable instance of a frozen dataclass, got ufunc"),
        (Silent(), "callable instance of a frozen dataclass, got Silent"),
        (Thawed(), "Thawed is a dataclass that is not frozen"),
        (Opaque(), "a parameter of Opaque cannot be written as JSON"),
        (RateWitness(float("nan")), "a parameter of RateWitness cannot be written as JSON"),
    ],
)
def test_what_is_not_a_step_is_refused_by_name(step: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureChain((step,))


@pytest.mark.parametrize(
    ("signals", "rate", "message"),
    [
        (noise(2, 3, 2048), RATE_HZ, "FeatureChain: axis 1 of the signals holds 3 channels"),
        (noise(2, 2048), RATE_HZ, "FeatureChain: signals must have axes"),
        (noise(2, 2, 2048), -5.0, "FeatureChain: rate_hz must be a finite number above zero, got -5.0"),
        (noise(2, 2, 100), RATE_HZ, "Spectrogram: windows of 100 samples"),
    ],
)
def test_signals_that_do_not_fit_are_refused_by_name(signals: np.ndarray, rate: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        FeatureChain((Spectrogram(),))(signals, table(["A1", "A2"]), rate)
