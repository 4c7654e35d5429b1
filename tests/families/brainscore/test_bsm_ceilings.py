"""Ceilings: arithmetic written out, ragged and damaged trials, and what a simulation must give."""

from __future__ import annotations

import numpy as np
import pytest
from bsm_arrays import assembly, trials
from scipy.stats import pearsonr
from sklearn.model_selection import ShuffleSplit

from neuroarena.families.brainscore.ceilings import (
    CEILING_FACTORIES,
    InternalConsistency,
    PerStimulusConsistency,
    TemporalInternalConsistency,
)


def recording(repetitions: int = 8, n: int = 80, q: int = 5, noise: float = 1.5, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, q)) + noise * rng.normal(size=(repetitions, n, q))


def by_hand(values: np.ndarray) -> np.ndarray:
    result = []
    for first, second in ShuffleSplit(10, train_size=0.5, random_state=1).split(np.arange(len(values))):
        a, b = np.nanmean(values[first], axis=0), np.nanmean(values[second], axis=0)
        r = np.array([pearsonr(x, y)[0] for x, y in zip(a.T, b.T, strict=True)])
        result.append(2 * r / (1 + r))
    return np.array(result)


@pytest.mark.parametrize("repetitions", [2, 7, 8])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_internal_consistency_is_the_corrected_correlation_of_halves(repetitions: int, dtype: type):
    values = recording(repetitions).astype(dtype)
    score = InternalConsistency()(trials(values))
    np.testing.assert_allclose(score.raw.values, by_hand(values.astype(float)), atol=1e-9)
    assert float(score) == pytest.approx(np.median(by_hand(values.astype(float)), axis=1).mean(), abs=1e-9)


def test_a_nan_trial_is_left_out_of_its_mean_and_counted():
    values = recording()
    values[2, 5, 1] = np.nan
    score = InternalConsistency()(trials(values))
    np.testing.assert_allclose(score.raw.values, by_hand(values), atol=1e-9)
    assert score.attrs["n_nan_trials"] == 1
    assert score.n_neuroids_used == 5


def test_a_neuroid_without_any_number_for_a_stimulus_is_left_out_and_named():
    values = recording()
    values[:, 5, 1] = np.nan
    score = InternalConsistency()(trials(values))
    assert (score.n_neuroids_used, score.n_neuroids_total) == (4, 5)
    assert score.attrs["neuroids_left_out"] == ["unit1"]
    assert np.isfinite(float(score))


def test_a_stimulus_with_fewer_trials_is_fine_while_both_halves_have_one():
    values = recording(8)
    values[7, 3] = np.nan
    whole = trials(values)
    missing = whole.isel(presentation=np.delete(np.arange(640), 7 * 80 + 3))
    score = InternalConsistency()(missing)
    np.testing.assert_allclose(score.raw.values, by_hand(values), atol=1e-9)
    assert score.attrs["n_nan_trials"] == 0


def test_the_temporal_consistency_is_the_static_one_in_each_bin():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(40, 3, 2)) + rng.normal(size=(6, 40, 3, 2))
    timed = assembly(
        values.reshape(240, 3, 2),
        objects=None,
        stimulus_id=("presentation", np.tile(np.arange(40), 6)),
        repetition=("presentation", np.repeat(np.arange(6), 40)),
    )
    score = TemporalInternalConsistency()(timed)
    each = [InternalConsistency()(timed.isel(time_bin=at)) for at in range(2)]
    assert score.raw.dims == ("split", "neuroid", "time_bin")
    np.testing.assert_allclose(
        score.raw.values, np.stack([one.raw.values for one in each], axis=2), atol=1e-12
    )
    assert float(score) == pytest.approx(np.mean([float(one) for one in each]), abs=1e-12)
    assert score.attrs["time_bin_values"] == pytest.approx([float(one) for one in each])


@pytest.mark.parametrize("name", ["internal_consistency", "internal_consistency_per_stimulus"])
def test_a_simulated_recording_has_its_analytic_reliability(name: str):
    noise, repetitions = 2.0, 10
    values = recording(repetitions, n=400, q=41, noise=noise)
    expected = 1 / (1 + noise**2 / repetitions)
    score = CEILING_FACTORIES[name]()(trials(values))
    assert float(score) == pytest.approx(expected, abs=0.03)


@pytest.mark.parametrize("name", ["internal_consistency", "internal_consistency_per_stimulus"])
def test_pure_noise_has_no_reliability_and_is_not_clipped(name: str):
    values = np.random.default_rng(0).normal(size=(6, 200, 21))
    score = CEILING_FACTORIES[name]()(trials(values))
    assert abs(float(score)) < 0.1
    assert (score.raw.values < 0).any()


def test_ragged_trials_are_halved_stimulus_by_stimulus():
    rng = np.random.default_rng(0)
    counts = rng.integers(1, 9, 150)
    signal = rng.normal(size=(150, 9))
    rows = np.repeat(np.arange(150), counts)
    ragged = assembly(
        signal[rows] + 0.5 * rng.normal(size=(len(rows), 9)), objects=None, stimulus_id=("presentation", rows)
    )
    score = PerStimulusConsistency()(ragged)
    assert score.attrs["n_stimuli_used"] == int((counts >= 2).sum())
    assert score.attrs["n_stimuli_total"] == 150
    assert 0.8 < float(score) < 1
    assert float(PerStimulusConsistency(seed=0)(ragged)) == float(score)
    assert float(PerStimulusConsistency(seed=1)(ragged)) != float(score)


def test_two_trials_a_stimulus_have_one_division_only():
    values = recording(2)
    score = PerStimulusConsistency()(trials(values))
    # Which trial is in which half differs between stimuli, so the value varies; the mean is that of all.
    r = np.array([pearsonr(a, b)[0] for a, b in zip(values[0].T, values[1].T, strict=True)])
    assert float(score) == pytest.approx(np.median(2 * r / (1 + r)), abs=0.1)


def test_nan_trials_are_left_out_of_the_halves_of_their_neuroid_only():
    values = recording()
    clean = PerStimulusConsistency()(trials(values))
    values[0, :, 2] = np.nan
    score = PerStimulusConsistency()(trials(values))
    kept = [0, 1, 3, 4]
    np.testing.assert_allclose(score.raw.values[:, kept], clean.raw.values[:, kept], atol=1e-12)
    assert np.isfinite(score.raw.values[:, 2]).all()
    assert score.attrs["n_nan_trials"] == 80
