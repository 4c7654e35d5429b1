"""Receptive fields, calibration to firing rates, and the refusals of property benchmarks."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr
from tiny_recordings import stimuli

from neuroarena.errors import UnknownName
from neuroarena.families.brainscore import PropertiesBenchmark, Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.firing_rates import (
    Calibration,
    RateConstants,
    calibrate,
    neuroids_at,
    receptive_field_centres,
    stimulus_position,
)

GRID = np.round(np.arange(0, 2.01, 0.1), 3)


def responses(values, **coords) -> xr.DataArray:
    return xr.DataArray(
        np.asarray(values, dtype=float),
        dims=("presentation", "neuroid"),
        coords={name: ("presentation", np.asarray(value)) for name, value in coords.items()},
    )


def bumps(centres, width=0.2):
    """Responses of Gaussian fields to gratings of two orientations at every place of a grid, in shuffled order."""
    ys, xs, orientations = (each.ravel() for each in np.meshgrid(GRID, GRID, [0, 90], indexing="ij"))
    distance = (ys[:, None] - centres[:, 0]) ** 2 + (xs[:, None] - centres[:, 1]) ** 2
    values = np.exp(-distance / (2 * width**2)) * np.where(orientations == 0, 1.0, 0.3)[:, None]
    order = np.random.default_rng(0).permutation(ys.size)
    return responses(
        1 + values[order], position_y=ys[order], position_x=xs[order], orientation=orientations[order]
    )


def test_centres_of_receptive_fields_are_found_in_degrees():
    planted = np.array([[1.0, 1.0], [0.8, 1.25], [1.13, 0.9]])
    blank = responses(np.ones((2, 3)))
    np.testing.assert_allclose(receptive_field_centres(bumps(planted), blank), planted, atol=0.02)


def test_the_centroid_counts_only_places_above_a_twentieth_of_the_best():
    field = np.zeros((3, 3))
    field[1, 1], field[0, 2], field[2, 0] = 10, 0.4, -3
    ys, xs = (each.ravel() for each in np.meshgrid([0, 1, 2], [10, 20, 30], indexing="ij"))
    array = responses(field.ravel()[:, None], position_y=ys, position_x=xs)
    np.testing.assert_array_equal(receptive_field_centres(array, responses([[0.0]])), [[1, 20]])
    field[0, 2] = 5
    array = responses(field.ravel()[:, None], position_y=ys, position_x=xs)
    np.testing.assert_allclose(
        receptive_field_centres(array, responses([[0.0]])), [[2 / 3, 10 + 10 * (10 + 10) / 15]]
    )


def test_a_neuroid_that_never_responds_has_no_field():
    centres = receptive_field_centres(bumps(np.array([[1.0, 1.0]])) * 0, responses([[0.5]]))
    assert np.isnan(centres).all()
    assert not neuroids_at(centres, (1.0, 1.0)).any()


def test_neuroids_in_place_are_within_a_seventh_of_a_degree():
    centres = np.array([[0.5, 0.5], [0.5, 0.65], [0.5, 0.66], [0.6, 0.6], [0.61, 0.61], [np.nan, np.nan]])
    assert neuroids_at(centres, (0.5, 0.5)).tolist() == [True, True, False, True, False, False]


def test_a_grid_with_a_hole_and_missing_places_are_refused():
    array = bumps(np.array([[1.0, 1.0]]))
    hole = array.isel(presentation=~((array["position_y"].values == 0) & (array["position_x"].values == 0)))
    with pytest.raises(ConfigError, match="440 places, expected a grid of 21 x 21"):
        receptive_field_centres(hole, responses([[0.0]]))
    with pytest.raises(ConfigError, match='no coordinate "position_x"'):
        receptive_field_centres(array.drop_vars("position_x"), responses([[0.0]]))


def test_calibration_by_hand():
    # Three neuroids, two gratings of two phases; the third neuroid does not respond.
    gratings = responses(
        [[4, 2, 1], [8, 2, 1], [-9, 6, 1], [3, 10, 1]], orientation=[0, 0, 90, 90], phase=[0, 180, 0, 180]
    )
    blank = responses([[1, 2, 1]])
    best, spontaneous = np.array([6.0, 8.0]), np.array([1.0, 2.0])
    slope = (33.8 - 0.82) / (np.median(best) - np.median(spontaneous))
    found = calibrate(gratings, blank, RateConstants())
    assert found.slope == pytest.approx(slope)
    assert found.offset == pytest.approx(0.82 - slope * 1.5)
    rates = found.rates(responses([[-1.0, 7.0]]))
    np.testing.assert_allclose(rates.values, [[0.0, slope * 7 + found.offset]])
    assert rates.values[0, 1] == pytest.approx(33.8)


def test_calibrated_medians_are_those_of_the_region():
    rng = np.random.default_rng(2)
    blank = responses(rng.uniform(0, 1, (1, 51)))
    gratings = responses(blank.values + rng.uniform(1, 3, (8, 51)), orientation=np.arange(8))
    found = calibrate(gratings, blank, RateConstants())
    assert np.median(found.rates(blank).values) == pytest.approx(0.82, abs=1e-9)
    assert np.median(found.rates(gratings).values.max(axis=0)) == pytest.approx(33.8, abs=1e-9)
    assert Calibration(2.0, -1.0).rates(responses([[0.0, 1.0]])).values.tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize("values", [[[1.0, 1.0]], [[0.5, 0.2]]])
def test_a_model_that_does_not_respond_to_gratings_is_refused(values):
    with pytest.raises(DataQualityError, match="none of 2 neuroids responds to gratings"):
        calibrate(responses(values, orientation=[0]), responses([[1.0, 1.0]]), RateConstants())
    with pytest.raises(ConfigError, match='none of the coordinates "position_y"'):
        calibrate(responses(values, hue=[0]), responses([[1.0, 1.0]]), RateConstants())


def test_the_stimuli_must_be_in_one_place():
    assert stimulus_position(stimuli(3, position_y=0.5, position_x=-0.25)) == (0.5, -0.25)
    with pytest.raises(ConfigError, match="at 3 places"):
        stimulus_position(stimuli(3, position_y=[0, 1, 2], position_x=0))
    with pytest.raises(ConfigError, match='no column "position_y"'):
        stimulus_position(stimuli(3))


class Ring:
    """Neuroids that all look at (1, 1); responses follow contrast, in as many bins as said."""

    identifier = "ring"

    def __init__(self, bins: int = 1, place: float = 1.0) -> None:
        self.bins, self.place, self.trials = bins, place, []

    def visual_degrees(self):
        return 8

    def start_recording(self, region, time_bins):
        self.recorded = (region, time_bins)

    def look_at(self, stimuli, number_of_trials=1):
        self.trials.append((stimuli.identifier, number_of_trials))
        table = stimuli.table
        near = np.exp(
            -((table["position_y"] - self.place) ** 2 + (table["position_x"] - self.place) ** 2) / 0.02
        )
        drive = (near * table.get("contrast", 1.0)).to_numpy()
        values = drive[:, None] * np.array([1.0, 2.0, 3.0]) + 0.1
        return xr.DataArray(
            np.repeat(values[:, :, None], self.bins, axis=2),
            dims=("presentation", "neuroid", "time_bin"),
            coords={
                "stimulus_id": ("presentation", list(stimuli)),
                "neuroid_id": ("neuroid", np.arange(3)),
                "time_bin_start": ("time_bin", np.arange(self.bins)),
                "time_bin_end": ("time_bin", np.arange(self.bins) + 1),
            },
        )


def measured(model_identifier, responses, baseline):
    return xr.DataArray(
        responses.values.max(axis=0)[:, None],
        dims=("neuroid", "neuronal_property"),
        coords={"neuronal_property": ["best"]},
    )


def properties(region="V1", attrs=None, **options) -> PropertiesBenchmark:
    here = {"degrees": 8, "position_y": 1.0, "position_x": 1.0}
    places = np.round(np.arange(0, 2.01, 0.2), 3)
    ys, xs = (each.ravel() for each in np.meshgrid(places, places, indexing="ij"))
    array = xr.DataArray(
        np.ones((4, 1)),
        dims=("neuroid", "neuronal_property"),
        coords={"neuronal_property": ["best"], "region": ("neuroid", [region] * 4)},
        attrs={"stimulus_set": stimuli(3, **here), "number_of_trials": 7} if attrs is None else attrs,
    )
    sets = {
        "blank": stimuli(1, contrast=0.0, **here),
        "receptive_field": stimuli(ys.size, degrees=8, position_y=ys, position_x=xs),
        "orientation": stimuli(4, orientation=[0, 45, 90, 135], phase=0, **here),
    }
    return PropertiesBenchmark(
        identifier="Tiny.V1-best",
        assembly=array,
        neuronal_property=measured,
        similarity_metric=lambda source, target: Score(float(source.values.max()) / 100, raw=source),
        timebins=[(70, 170)],
        **{"ceiling_func": lambda assembly: assembly.sizes["neuroid"] / 8, **sets, **options},
    )


def test_the_whole_flow_gives_rates_of_the_region():
    model = Ring()
    result = properties()(model)
    # The middle neuroid, of three, is the median one: its best response is the region's.
    np.testing.assert_allclose(sorted(result.raw.raw.values.ravel())[1], 33.8)
    assert result.ceiling == 0.5
    assert result.value == pytest.approx(result.raw.value / 0.5)
    assert model.recorded == ("V1", [(70, 170)])
    assert [trials for _, trials in model.trials] == [10, 10, 20, 20, 7, 7]


@pytest.mark.parametrize(
    ("options", "model", "error", "said"),
    [
        ({}, Ring(place=0.2), DataQualityError, "none of 3 neuroids has its receptive field .* y 1, x 1"),
        ({}, Ring(bins=2), ConfigError, "answered in 2 time bins"),
        ({"blank": None}, Ring(), UnknownName, 'No stimulus set "Marques2020_nothing"'),
    ],
)
def test_a_model_that_cannot_be_measured_is_refused(monkeypatch, options, model, error, said):
    monkeypatch.setattr("neuroarena.families.brainscore.properties.BLANK", "Marques2020_nothing")
    with pytest.raises(error, match=said):
        properties(**options)(model)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"region": "MT"}, "firing rates of MT are not known"),
        ({"attrs": {}}, "must be a StimulusSet"),
        ({"attrs": {"stimulus_set": stimuli(2, degrees=8)}}, r'"number_of_trials"\] of the assembly is None'),
        ({"attrs": {"stimulus_set": stimuli(2), "number_of_trials": 3}}, 'no column "degrees"'),
    ],
)
def test_an_assembly_that_cannot_serve_is_refused(options, said):
    with pytest.raises(ConfigError, match=said):
        properties(**options)


def test_rates_of_another_region_can_be_given():
    assert properties("V2", rates=RateConstants(best=20.0))(Ring()).raw.raw.values[1, 0] == pytest.approx(
        20.0
    )


@pytest.mark.parametrize(
    "ceiling", [lambda: 1, lambda kept=1: kept, lambda assembly: assembly.sizes["neuroid"] / 4]
)
def test_a_ceiling_may_take_the_assembly_or_nothing(ceiling):
    assert properties(ceiling_func=ceiling).ceiling == 1
