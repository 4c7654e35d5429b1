"""Similarity of distributions of neuronal properties."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

from neuroarena.families.brainscore.ceilings import NeuronalPropertyCeiling
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.metrics import BootstrapDistributionSimilarity
from neuroarena.families.brainscore.metrics.ks import histogram_similarity

EDGES = np.linspace(0, 1, 11)


def properties(values: np.ndarray, name: str = "index") -> xr.DataArray:
    return xr.DataArray(
        np.stack([values, np.zeros(len(values))], axis=1),
        dims=("neuroid", "neuronal_property"),
        coords={"neuronal_property": [name, "other"]},
        attrs={"index_bins": EDGES},
    )


DATA = properties(np.random.default_rng(0).beta(2, 4, 50))
METRIC = BootstrapDistributionSimilarity("index")


def test_the_similarity_of_given_draws_is_the_loop_written_out():
    rng = np.random.default_rng(0)
    model, data = rng.random(80), rng.beta(2, 4, 50)
    q = np.histogram(data, EDGES)[0] / 50
    expected, drawn = [], []
    for _ in range(20):
        p = np.histogram(rng.choice(model, 50), EDGES)[0]
        drawn.append(p)
        distance = np.abs(np.cumsum(p / 50) - np.cumsum(q)).max()
        extremes = [np.eye(10)[0], np.eye(10)[-1]]
        largest = max(np.abs(np.cumsum(e) - np.cumsum(q)).max() for e in extremes)
        expected.append(1 - distance / largest)
    counts = np.histogram(data, EDGES)[0]
    np.testing.assert_allclose(histogram_similarity(np.array(drawn), counts), expected, atol=1e-12)


def test_the_multinomial_draw_has_the_distribution_of_drawing_neuroids_one_by_one():
    rng = np.random.default_rng(1)
    model, data = rng.random(80), DATA.values[:, 0]
    loops = np.array([np.histogram(rng.choice(model, 50), EDGES)[0] for _ in range(4000)])
    looped = histogram_similarity(loops, np.histogram(data, EDGES)[0])
    score = BootstrapDistributionSimilarity("index", ns=4000)(properties(model), DATA)
    assert float(score) == pytest.approx(looped.mean(), abs=0.01)
    assert score.error == pytest.approx(looped.std(), abs=0.01)


def test_two_calls_agree_and_leave_their_input_alone():
    model = properties(np.random.default_rng(1).normal(0.5, 2, 60))
    before = model.copy(deep=True), DATA.copy(deep=True)
    first, second = METRIC(model, DATA), METRIC(model, DATA)
    assert float(first) == float(second)
    assert first.error == second.error > 0
    xr.testing.assert_identical(model, before[0])
    xr.testing.assert_identical(DATA, before[1])
    assert float(BootstrapDistributionSimilarity("index", seed=5)(model, DATA)) != float(first)


def test_values_beyond_the_edges_count_in_the_outer_bins():
    inside = properties(np.array([0.01, 0.99] * 20))
    beyond = properties(np.array([-7.0, 55.0] * 20))
    assert float(METRIC(beyond, DATA)) == float(METRIC(inside, DATA))


def test_the_ceiling_is_the_data_against_themselves_and_lies_below_one():
    ceiling = NeuronalPropertyCeiling(METRIC)(DATA)
    assert 0.8 < float(ceiling) < 0.95
    assert float(METRIC(properties(np.full(50, 0.95)), DATA)) < 0.1 < float(ceiling)


def test_neuroids_without_the_property_are_counted_and_a_model_without_any_scores_zero():
    values = np.random.default_rng(1).random(60)
    values[:10] = np.nan
    score = METRIC(properties(values), DATA)
    assert (score.n_neuroids_used, score.n_neuroids_total) == (50, 60)
    empty = METRIC(properties(np.full(60, np.nan)), DATA)
    assert (float(empty), empty.error, empty.n_neuroids_used) == (0.0, 0.0, 0)


@pytest.mark.parametrize(
    ("model", "data", "kind", "message"),
    [
        (
            properties(np.zeros(5), "index2"),
            DATA,
            ConfigError,
            'source has no property "index"; there are "index2"',
        ),
        (DATA, DATA.drop_attrs(), ConfigError, "index_bins"),
        (DATA, DATA.assign_attrs(index_bins=[0, 1, 1]), ConfigError, "increasing edges"),
        (DATA, properties(np.full(5, np.nan)), DataQualityError, "all are NaN"),
        (DATA.isel(neuronal_property=0), DATA, ConfigError, "source has the dims neuroid; expected"),
    ],
)
def test_properties_that_cannot_be_compared_are_refused(
    model: xr.DataArray, data: xr.DataArray, kind: type[Exception], message: str
):
    with pytest.raises(kind, match=message):
        METRIC(model, data)
