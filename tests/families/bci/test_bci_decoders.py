"""Classical decoders of the BCI track, and the steps they stand on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.signal import butter, sosfiltfilt
from sklearn.cross_decomposition import CCA

from neuroarena.decoders import Context, Group, check_decoder
from neuroarena.errors import InputError
from neuroarena.families.bci import FAMILY, CspLda, RiemannLr, cca, filterbank_lda
from neuroarena.features import FeatureChain
from neuroarena.features.bands import BandCovariances, BandPower, FlickerCorrelation
from neuroarena.recordings import channel_table

CLASSES = ("13Hz", "17Hz", "21Hz")
NAMES = ["O1", "Oz", "O2", "Pz"]


@pytest.mark.parametrize("make", [CspLda, RiemannLr, cca, filterbank_lda])
@pytest.mark.parametrize("task", ["ssvep-exo"])
def test_a_classical_decoder_keeps_the_contract(make: Any, task: str) -> None:
    shape = FAMILY.window(task, "2026")
    checks = check_decoder(make(), shape.channels, shape.rate_hz, shape.n_samples, CLASSES)
    assert [f"{check.name}: {check.detail}" for check in checks if not check.passed] == []
    assert len(checks) == 9


def flicker(n: int, seed: int, names: list[str] = NAMES, chain: FeatureChain | None = None) -> Group:
    """Windows of a 13, 17 or 21 Hz wave in noise, or what a chain makes of them."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    time = np.arange(1024) / 256
    waves = np.sin(2 * np.pi * np.array([13.0, 17.0, 21.0])[labels][:, None] * time)
    weights = np.array([{"O1": 0.8, "Oz": 1.0, "O2": 0.6, "Pz": 0.2}[name] for name in NAMES])
    noise = rng.standard_normal((n, len(NAMES), 1024))
    signals = (3 * noise + weights[:, None] * waves[:, None]).astype(np.float32)
    signals = signals[:, [NAMES.index(name) for name in names]]
    table = channel_table(names, kind="eeg")
    features, channels = (chain or FeatureChain())(signals, table, 256.0)
    known = pd.DataFrame({"id": [str(i) for i in range(n)], "subject": "1", "session": "1"})
    return Group(features, channels, 256.0, known, np.array(CLASSES)[labels])


@pytest.mark.parametrize(
    "decoder",
    [
        cca(),
        filterbank_lda(),
        RiemannLr(FeatureChain((BandCovariances(((12.0, 14.0), (16.0, 18.0), (20.0, 22.0))),))),
        CspLda(FeatureChain((BandCovariances(((12.0, 14.0), (16.0, 18.0), (20.0, 22.0))),))),
    ],
    ids=["cca", "filterbank-lda", "riemann-lr", "csp-lda"],
)
def test_a_planted_wave_is_found(decoder: Any) -> None:
    train, test = flicker(60, 0, chain=decoder.features), flicker(60, 1, chain=decoder.features)
    decoder.fit([train], None, Context(classes=CLASSES, test_channels=(test.channels,)))
    answers = np.array(CLASSES)[decoder.predict([test]).argmax(axis=1)]
    assert np.mean(answers == test.targets) > 0.8


def test_channels_are_matched_by_name_and_those_not_shared_are_left_out() -> None:
    decoder = RiemannLr(FeatureChain((BandCovariances(((12.0, 14.0), (16.0, 18.0))),)))
    train = flicker(30, 0, chain=decoder.features)
    swapped = flicker(30, 1, ["Oz", "O2", "O1"], decoder.features)
    straight = flicker(30, 1, ["O1", "Oz", "O2"], decoder.features)
    decoder.fit([train], None, Context(classes=CLASSES, test_channels=(swapped.channels,)))
    assert decoder.names_ == ("O1", "Oz", "O2")
    np.testing.assert_allclose(decoder.predict([swapped]), decoder.predict([straight]), atol=1e-6)


def test_recordings_without_a_shared_channel_are_refused() -> None:
    decoder = CspLda()
    train = flicker(12, 0, chain=decoder.features)
    with pytest.raises(InputError, match="share 0 channels by name"):
        decoder.fit(
            [train], None, Context(classes=CLASSES, test_channels=(channel_table(["C3"], kind="eeg"),))
        )


def test_features_that_are_no_covariances_are_refused() -> None:
    group = flicker(12, 0)
    with pytest.raises(InputError, match="must end in BandCovariances"):
        RiemannLr(FeatureChain()).fit([group], None, Context(classes=CLASSES))


def test_scaling_is_learned_from_the_training_part_alone() -> None:
    decoder = filterbank_lda()
    train, test = flicker(30, 0, chain=decoder.features), flicker(9, 1, chain=decoder.features)
    decoder.fit([train], None, Context(classes=CLASSES, test_channels=(test.channels,)))
    flat = train.signals.reshape(30, -1)
    np.testing.assert_allclose(decoder.scaler_.mean_, flat.mean(axis=0), rtol=1e-4, atol=1e-4)
    loud = Group(test.signals + 5.0, test.channels, 256.0, test.table)
    together = decoder.predict([test, loud])
    np.testing.assert_allclose(together[:9], decoder.predict([test]), atol=1e-9)


# --- steps against independent arithmetic ------------------------------------------------------------------


def test_covariances_equal_numpys_own_of_the_filtered_window() -> None:
    signals = flicker(3, 0).signals
    step = BandCovariances(((8.0, 13.0), (13.0, 30.0)), shrinkage=0.0)
    found, _ = step(signals, channel_table(NAMES, kind="eeg"), 256.0)
    for band, edges in enumerate(step.bands_hz):
        sections = butter(4, edges, "bandpass", fs=256.0, output="sos")
        for row, window in enumerate(signals):
            centred = window - window.mean(axis=1, keepdims=True, dtype=np.float64)
            filtered = sosfiltfilt(sections, centred, axis=1)
            np.testing.assert_allclose(
                found[row, :, band], filtered @ filtered.T / filtered.shape[1], rtol=1e-4, atol=1e-6
            )


def test_covariances_of_a_flat_or_a_doubled_channel_stay_positive_definite() -> None:
    signals = flicker(2, 0).signals.copy()
    signals[0] = 0.0
    signals[1, 1] = signals[1, 0]
    found, _ = BandCovariances()(signals, channel_table(NAMES, kind="eeg"), 256.0)
    for matrix in found.transpose(0, 2, 1, 3).reshape(-1, 4, 4):
        assert np.linalg.eigvalsh(matrix.astype(np.float64)).min() > 0


def test_canonical_correlations_equal_scikit_learns() -> None:
    signals = flicker(4, 3).signals
    step = FlickerCorrelation((13.0, 17.0), harmonics=2, n_correlations=1)
    found, _ = step(signals, channel_table(NAMES, kind="eeg"), 256.0)
    sections = butter(3, (7.0, 60.0), "bandpass", fs=256.0, output="sos")
    time = np.arange(1024) / 256
    for row, window in enumerate(signals):
        filtered = sosfiltfilt(sections, window.astype(np.float64), axis=1).T
        for column, hz in enumerate((13.0, 17.0)):
            waves = np.stack([f(2 * np.pi * hz * k * time) for k in (1, 2) for f in (np.sin, np.cos)], axis=1)
            left, right = CCA(n_components=1, max_iter=5000, tol=1e-10).fit_transform(filtered, waves)
            oracle = np.corrcoef(left[:, 0], right[:, 0])[0, 1]
            assert found[row, 0, column] == pytest.approx(oracle, abs=2e-3)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: BandCovariances(()), "bands_hz is empty"),
        (lambda: BandCovariances(((13.0, 8.0),)), "rising pair of positive numbers"),
        (lambda: BandCovariances(shrinkage=2.0), "shrinkage must be from 0 to 1"),
        (lambda: BandPower(((0.0, 4.0),)), "rising pair of positive numbers"),
        (lambda: FlickerCorrelation(()), "frequencies_hz must be positive"),
        (lambda: FlickerCorrelation((13.0,), harmonics=0), "harmonics must be at least 1"),
        (lambda: FlickerCorrelation((13.0,), n_correlations=5), "n_correlations from 1 to twice"),
    ],
)
def test_a_step_with_wrong_parameters_is_refused(make: Any, sentence: str) -> None:
    with pytest.raises(InputError) as refusal:
        make()
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    ("step", "rate_hz", "samples", "sentence"),
    [
        (BandCovariances(), 50.0, 400, "is not below half the sampling rate of 50 Hz"),
        (BandCovariances(), 200.0, 20, "too short to filter"),
        (BandPower(((8.0, 30.0),)), 50.0, 400, "is not below half the sampling rate"),
        (FlickerCorrelation((30.0,)), 100.0, 400, "the highest harmonic, 60 Hz, is not"),
    ],
)
def test_windows_that_a_step_cannot_use_are_refused(
    step: Any, rate_hz: float, samples: int, sentence: str
) -> None:
    with pytest.raises(InputError) as refusal:
        step(np.ones((1, 2, samples), dtype=np.float32), channel_table(["C3", "C4"], kind="eeg"), rate_hz)
    assert sentence in str(refusal.value)
