"""Properties of V1: formulas by hand, and tuned units of the twin that are measured as they were planted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from bsd_twin import twin

from neuroarena.families.brainscore import load_benchmark, load_dataset, load_stimulus_set, score
from neuroarena.families.brainscore.definitions.tuning import (
    circular_variance,
    orientation_tuning,
    size_tuning,
    spatial_frequency_tuning,
)
from neuroarena.families.brainscore.errors import ConfigError
from neuroarena.families.brainscore.firing_rates import receptive_field_centres
from neuroarena.families.brainscore.models import PrecomputedFeatures

SETS = ("blank", "receptive_field", "size", "orientation", "spatial_frequency")
SSI = "Marques2020_Cavanaugh2002-surround_suppression_index"
STUDIES = [
    (SSI, "surround_suppression_index", "Cavanaugh2002a"),
    ("Marques2020_Ringach2002-circular_variance", "circular_variance", "Ringach2002"),
    ("Marques2020_DeValois1982-peak_sf", "peak_spatial_frequency", "DeValois1982b"),
]


def activations(table: pd.DataFrame, units: pd.DataFrame) -> np.ndarray:
    """Give the response of every unit (column) to every grating (row), as the card of the twin describes it."""
    here = units[["position_y", "position_x"]].to_numpy()
    places = table[["position_y", "position_x"]].to_numpy()
    distance = np.linalg.norm(places[:, None] - here[None], axis=2)
    turn = np.deg2rad(table["orientation"].to_numpy()[:, None] - units["preferred_orientation"].to_numpy())
    oriented = np.exp(units["orientation_sharpness"].to_numpy() * (np.cos(2 * turn) - 1))
    octaves = np.log2(
        table["spatial_frequency"].to_numpy().clip(1e-9)[:, None] / units["peak_spatial_frequency"].to_numpy()
    )
    frequency = np.exp(-(octaves**2) / (2 * units["frequency_octaves"].to_numpy() ** 2))
    radius, best = table["radius"].to_numpy()[:, None], units["preferred_radius"].to_numpy()
    rising, beyond = np.minimum(radius / best, 1), np.clip((radius - best) / (2 - best), 0, 1)
    size = rising - units["surround_suppression_index"].to_numpy() * beyond
    if table["position_x"].nunique() > 1:
        # Fields are mapped at their place, whatever the unit prefers.
        return np.exp(-((distance / 0.15) ** 2))
    return table["contrast"].to_numpy()[:, None] * oriented * frequency * size


def tuned_units() -> PrecomputedFeatures:
    """Make a model whose neuroids are the tuned units of the twin."""
    units = pd.read_csv(twin() / "marques2020_units.csv")
    tables = {}
    for name in SETS:
        table = load_stimulus_set(f"Marques2020_{name}", data=twin()).table
        tables[f"Marques2020_{name}"] = xr.DataArray(
            activations(table, units),
            dims=("presentation", "neuroid"),
            coords={"stimulus_id": ("presentation", table["stimulus_id"].to_numpy())},
        )
    return PrecomputedFeatures(tables, identifier="tuned units")


@pytest.mark.parametrize(("name", "prop", "study"), STUDIES)
def test_the_tuned_units_are_measured_as_they_were_planted(name, prop, study):
    benchmark = load_benchmark(name, data=twin())
    measured: list[xr.DataArray] = []
    measure = benchmark._neuronal_property
    benchmark._neuronal_property = lambda **given: measured.append(measure(**given)) or measured[-1]
    found = score(tuned_units(), benchmark)
    planted = load_dataset(study, data=twin()).sel(neuronal_property=prop).values
    values = measured[0].sel(neuronal_property=prop).values
    at = [int(number) for number in measured[0]["neuroid_id"].values]
    known = np.isfinite(values)
    assert known.mean() > 0.9
    tolerance = 0.02 if prop != "peak_spatial_frequency" else 0.2
    assert np.median(np.abs(values - planted[at])[known]) < tolerance
    assert float(found) == pytest.approx(1.0, abs=0.1)
    assert found.formula == "ratio"


def gratings(values: np.ndarray, **axes: list[float]) -> tuple[xr.DataArray, xr.DataArray]:
    """Label responses (conditions, neuroids) to the grid of some axes, and a silent baseline."""
    every = {"radius": [1.0], "spatial_frequency": [1.0], "orientation": [0.0], "phase": [0.0]} | axes
    index = pd.MultiIndex.from_product(every.values(), names=every.keys()).to_frame(index=False)
    coords = {name: ("presentation", index[name].to_numpy()) for name in every}
    ids = {"neuroid_id": ("neuroid", np.arange(values.shape[1]))}
    responses = xr.DataArray(values, dims=("presentation", "neuroid"), coords={**coords, **ids})
    baseline = xr.DataArray(np.zeros((1, values.shape[1])), dims=("presentation", "neuroid"), coords=ids)
    return responses, baseline


def measured(measure, values: np.ndarray, **axes: list[float]) -> dict[str, np.ndarray]:
    responses, baseline = gratings(values, **axes)
    found = measure(model_identifier="m", responses=responses, baseline=baseline)
    return {str(name): found.sel(neuronal_property=name).values for name in found["neuronal_property"].values}


def test_suppression_is_what_the_largest_grating_takes_from_the_peak():
    values = np.array([[2, 10, 0.1], [20, 20, 1], [10, 30, 2], [8, 30, 3]], dtype=float)
    found = measured(size_tuning, values, radius=[0.5, 1.0, 2.0, 3.0])
    np.testing.assert_allclose(found["surround_suppression_index"], [0.6, 0.0, np.nan])
    np.testing.assert_allclose(found["strongly_suppressed"], [1, 0, np.nan])
    np.testing.assert_allclose(found["grating_summation_field"], [2.0, np.nan, np.nan])
    np.testing.assert_allclose(found["surround_diameter"], [6.0, np.nan, np.nan])
    np.testing.assert_allclose(found["surround_grating_summation_field_ratio"], [3.0, np.nan, np.nan])


def test_a_neuron_that_follows_the_phase_is_described_by_its_modulation():
    phases = np.deg2rad([0, 90, 180, 270])
    # Mean 10; modulated by 8 at radius 1 and by 40 at radius 2: AC counts, DC would show no difference.
    values = np.concatenate([10 + 8 * np.cos(phases), 10 + 40 * np.cos(phases)])[:, None]
    found = measured(size_tuning, values, radius=[1.0, 2.0], phase=[0.0, 90.0, 180.0, 270.0])
    assert found["surround_suppression_index"][0] == pytest.approx(0)
    turned = measured(orientation_tuning, values, orientation=[0.0, 90.0], phase=[0.0, 90.0, 180.0, 270.0])
    assert turned["modulation_ratio"][0] == pytest.approx(40 / 10)
    assert turned["circular_variance"][0] == pytest.approx(1 - (40 - 8) / 48)


def test_orientation_of_a_smooth_curve_is_found_with_its_width():
    angles = np.arange(0, 180, 22.5)
    curve = 20 * np.exp(2 * (np.cos(2 * np.deg2rad(angles - 67.5)) - 1))
    found = measured(orientation_tuning, curve[:, None], orientation=angles.tolist())
    assert found["preferred_orientation"][0] == pytest.approx(67.5, abs=1)
    # exp(2 (cos 2x - 1)) = 0.707 at 17.1 degrees; smoothing with neighbours widens it a little.
    assert 17 < found["bandwidth"][0] < 25
    assert found["orth_pref_ratio"][0] == pytest.approx(np.exp(-4), abs=0.08)
    last = 20 * np.exp(2 * (np.cos(2 * np.deg2rad(angles - 170)) - 1))
    turned = measured(orientation_tuning, last[:, None], orientation=angles.tolist())
    assert turned["preferred_orientation"][0] == pytest.approx(-10, abs=4)


def test_an_untuned_neuron_has_circular_variance_one_and_no_width():
    angles = np.arange(0, 180, 22.5)
    found = measured(orientation_tuning, np.full((8, 1), 20.0), orientation=angles.tolist())
    assert found["circular_variance"][0] == pytest.approx(1)
    assert np.isnan(found["bandwidth"][0])
    assert circular_variance(np.array([[0.0, 3.0]]), np.array([0.0, 45.0]))[0] == pytest.approx(0)


def test_the_preferred_frequency_and_the_ratio_of_the_crossings():
    frequencies = 2.0 ** np.arange(-2, 2.1, 0.5)
    curve = 20 * np.exp(-((np.log2(frequencies) - 0.25) ** 2) / (2 * 0.8**2))
    flat = np.full(len(frequencies), 20.0)
    found = measured(
        spatial_frequency_tuning, np.stack([curve, flat], axis=1), spatial_frequency=frequencies.tolist()
    )
    assert np.log2(found["peak_spatial_frequency"][0]) == pytest.approx(0.25, abs=0.1)
    # The crossings lie 0.666 octaves to either side of a Gaussian of 0.8 octaves: 100 * 2^-1.33.
    assert found["sf_bandwidth"][0] == pytest.approx(39.7, abs=6)
    assert np.isnan(found["sf_bandwidth"][1])


def test_a_neuron_below_five_spikes_is_not_described():
    angles = np.arange(0, 180, 22.5)
    quiet = np.linspace(0, 4.9, 8)[:, None]
    for values in measured(orientation_tuning, quiet, orientation=angles.tolist()).values():
        assert np.isnan(values).all()


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda r: r.drop_vars("phase"), 'lack the coordinates "phase"'),
        (lambda r: r.isel(presentation=slice(1, None)), "do not form a complete grid"),
        (lambda r: r.isel(presentation=[0, 0, 1, 2]), "do not form a complete grid"),
    ],
)
def test_gratings_that_are_no_grid_are_refused(spoil, said):
    responses, baseline = gratings(np.ones((4, 2)), radius=[1.0, 2.0], orientation=[0.0, 90.0])
    with pytest.raises(ConfigError, match=said):
        size_tuning("m", spoil(responses), baseline)


def test_rounding_between_batches_is_no_receptive_field():
    grid = pd.MultiIndex.from_product([[-1.0, 0.0, 1.0]] * 2, names=["position_y", "position_x"]).to_frame()
    values = np.full((9, 2), 0.5) + 1e-7 * np.random.default_rng(0).normal(size=(9, 2))
    values[4, 1] = 0.9
    coords = {name: ("presentation", grid[name].to_numpy()) for name in grid}
    responses = xr.DataArray(values, dims=("presentation", "neuroid"), coords=coords)
    blank = xr.DataArray(np.full((1, 2), 0.5), dims=("presentation", "neuroid"))
    centres = receptive_field_centres(responses, blank)
    assert np.isnan(centres[0]).all()
    np.testing.assert_allclose(centres[1], [0, 0], atol=1e-9)
