"""Metrics over time: shared weights, and object solution times."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn.linear_model
import xarray as xr
from bsm_arrays import assembly, shuffled
from scipy.stats import norm, pearsonr

from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError
from neuroarena.families.brainscore.metrics import METRIC_FACTORIES, OSTCorrelation
from neuroarena.families.brainscore.metrics.ost import first_crossing, image_level_d_prime
from neuroarena.families.brainscore.metrics.splits import CrossValidation


def timed_pair() -> tuple[xr.DataArray, xr.DataArray]:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 30, 3))
    y = np.einsum("npt,pq->nqt", x, rng.normal(size=(30, 4))) / 5 + rng.normal(size=(80, 4, 3))
    return assembly(x), assembly(y)


def test_one_set_of_weights_serves_all_time_bins():
    source, target = timed_pair()
    score = METRIC_FACTORIES["spantime_ridge"]()(source, target)
    assert score.raw.dims == ("split", "neuroid", "time_bin")
    assert score.raw["time_bin_start"].values.tolist() == [70, 80, 90]
    x, y = source.values, target.values
    train, test = CrossValidation().divide(80, source["object_name"].values)[0]
    rows = [np.concatenate([side[train][:, :, at] for at in range(3)]) for side in (x, y)]
    fitted = sklearn.linear_model.Ridge().fit(*rows)
    for at in range(3):
        predicted = fitted.predict(x[test][:, :, at])
        r = [pearsonr(a, b)[0] for a, b in zip(predicted.T, y[test][:, :, at].T, strict=True)]
        np.testing.assert_allclose(score.raw.values[0, :, at], r, atol=1e-9)
    assert float(score) == pytest.approx(np.median(score.raw.values, axis=1).mean(), abs=1e-12)


@pytest.mark.parametrize("name", ["pls", "ridge", "linear_predictivity", "neuron_to_neuron"])
def test_one_time_bin_gives_the_static_score(name: str):
    source, target = (side.isel(time_bin=[1]) for side in timed_pair())
    static = METRIC_FACTORIES[name]()(source.isel(time_bin=0), target.isel(time_bin=0))
    assert float(METRIC_FACTORIES[f"spantime_{name}"]()(source, target)) == pytest.approx(
        float(static), abs=1e-9
    )


def test_i1_is_the_difference_of_z_scores_written_out():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.3, 0.6, 0.1], [0.2, 0.2, 0.6], [0.5, 0.3, 0.2]])
    labels = np.array([0, 1, 2, 0])
    hit = np.mean([0.7 / 0.9, 0.7 / 0.8])
    alarm = np.mean([0.3 / 0.9, 0.2 / 0.8])
    found = image_level_d_prime(probabilities, labels)
    assert found[0] == pytest.approx(norm.ppf(hit) - norm.ppf(alarm))
    assert image_level_d_prime(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1])).tolist() == [5, 5]


def test_a_solution_time_is_interpolated_between_the_bins_around_the_threshold():
    values = np.array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0], [0.0, 0.0, 0.4], [np.nan, 2.0, 2.0]])
    times = first_crossing(values, np.array([1.5, 1.0, 0.5, 1.0]), np.array([70.0, 80.0, 90.0]))
    np.testing.assert_array_equal(times, [85.0, 70.0, np.nan, 80.0])


def solving_model(n: int = 120, bins: int = 6, seed: int = 0) -> tuple[xr.DataArray, xr.DataArray]:
    """Images of three objects that become readable in different bins, and the times at which they do."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % 3
    onset = rng.integers(0, bins - 1, n)
    visible = (np.arange(bins) >= onset[:, None]).astype(float)
    signal = np.eye(3)[labels][:, :, None] * visible[:, None, :]
    source = assembly(2 * signal + 0.1 * rng.normal(size=(n, 3, bins)), objects=3)
    times = xr.DataArray(
        70.0 + 10 * onset + rng.normal(size=n),
        dims=("presentation",),
        coords={
            "stimulus_id": source["stimulus_id"],
            "object_name": source["object_name"],
            "i1_threshold": ("presentation", np.full(n, 0.9)),
        },
    )
    times[::10] = np.nan
    return source, times


def test_a_model_that_solves_images_in_the_brains_order_scores_high_and_a_shuffled_one_does_not():
    source, times = solving_model()
    score = OSTCorrelation()(source, times)
    assert float(score) > 0.8
    assert score.n_splits == 10
    assert score.attrs["n_images_with_time"] == 108
    assert float(OSTCorrelation()(shuffled(source, 1), shuffled(times, 2))) == pytest.approx(float(score))
    wrong = times.copy(data=np.random.default_rng(0).permutation(times.values))
    assert abs(float(OSTCorrelation()(source, wrong))) < 0.4


def test_solution_times_of_a_model_without_time_are_refused():
    source, times = solving_model(n=60)
    still = source.copy(data=np.repeat(source.values[:, :, :1], 6, axis=2))
    with pytest.raises(DataQualityError, match="does not change over time"):
        OSTCorrelation()(still, times)
    with pytest.raises(ConfigError, match='"i1_threshold", which is missing'):
        OSTCorrelation()(source, times.drop_vars("i1_threshold"))
    with pytest.raises(DataQualityError, match="none of 10 splits"):
        OSTCorrelation()(source, times.assign_coords(i1_threshold=("presentation", np.full(60, 99.0))))
    with pytest.raises(AlignmentError, match="stim0003"):
        OSTCorrelation()(source.isel(presentation=np.delete(np.arange(60), 3)), times)
