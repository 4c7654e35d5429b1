"""A model's activations as firing rates: receptive fields, calibration, and the rates of neuroids at the stimuli.

The constants are those of macaque V1, as stated in the specification of the property benchmarks.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.stimuli import StimulusSet

Position = tuple[float, float]

FIELD_THRESHOLD = 0.05
ROUNDING = 1e-5
FARTHEST_DEGREES = 0.15
# What distinguishes one grating from another besides its phase.
GRATING_COLUMNS = (
    "position_y",
    "position_x",
    "contrast",
    "radius",
    "spatial_frequency",
    "orientation",
)


@dataclass(frozen=True)
class RateConstants:
    """Firing rates of a region that a model's activations are scaled to, in spikes/s.

    Attributes
    ----------
    spontaneous : float
        Median rate without a stimulus.
    best : float
        Median rate to the best grating.
    responsive_share : float
        A neuroid is responsive when its best response above blank exceeds this share of the largest one.
    """

    spontaneous: float = 0.82
    best: float = 33.8
    responsive_share: float = 5 / 243.1


RATES = {"V1": RateConstants()}


@dataclass(frozen=True)
class Calibration:
    """Rates = max(0, slope * max(0, activation) + offset)."""

    slope: float
    offset: float

    def rates(self, activations: xr.DataArray) -> xr.DataArray:
        """Return activations as firing rates in spikes/s."""
        rectified = activations.clip(min=0)
        rates: xr.DataArray = (self.slope * rectified + self.offset).clip(min=0)
        rates.attrs = dict(activations.attrs)
        return rates


def stimulus_position(stimuli: StimulusSet) -> Position:
    """Return the one place (y, x) in degrees where all stimuli of a set were shown.

    Raises
    ------
    ConfigError
        When the columns are missing or name several places.
    """
    places = {(float(y), float(x)) for y, x in zip(stimuli["position_y"], stimuli["position_x"], strict=True)}
    if len(places) != 1:
        raise ConfigError(
            f"{stimuli.name}: the stimuli are at {len(places)} places, expected one position_y and position_x."
        )
    return places.pop()


def receptive_field_centres(responses: xr.DataArray, blank: xr.DataArray) -> np.ndarray:
    """Find the centre of each neuroid's receptive field from its responses to gratings on a grid of places.

    Parameters
    ----------
    responses : DataArray, presentation x neuroid
        With the coordinates ``position_y`` and ``position_x`` in degrees, covering a complete grid; at each place the
        largest response over all other parameters counts.
    blank : DataArray, presentation x neuroid
        Responses to an empty screen.

    Returns
    -------
    ndarray, (neuroids, 2)
        y and x in degrees: the centroid, weighted by response, of the places where the response exceeds 5 % of the
        largest. NaN where a neuroid never responds above blank.

    Raises
    ------
    ConfigError
        When the places do not form a complete grid.
    """
    ys, row = np.unique(_numbers(responses, "position_y"), return_inverse=True)
    xs, column = np.unique(_numbers(responses, "position_x"), return_inverse=True)
    cell = row * xs.size + column
    if np.unique(cell).size != ys.size * xs.size:
        raise ConfigError(
            f"The mapping stimuli are at {np.unique(cell).size} places, expected a grid of {ys.size} x {xs.size}."
        )
    above = np.maximum(responses.values, 0) - np.maximum(blank.values, 0).mean(axis=0)
    order = np.argsort(cell, kind="stable")
    starts = np.searchsorted(cell[order], np.arange(ys.size * xs.size))
    # (places, neuroids): the best response at each place.
    field = np.maximum(np.maximum.reduceat(above[order], starts, axis=0), 0)
    best = field.max(axis=0)
    weights = np.where(field > FIELD_THRESHOLD * best, field, 0.0)
    grid_y, grid_x = np.divmod(np.arange(ys.size * xs.size), xs.size)
    with np.errstate(invalid="ignore"):
        at_y, at_x = (grid @ weights / weights.sum(axis=0) for grid in (grid_y, grid_x))
    centres = np.stack(
        [np.interp(at_y, np.arange(ys.size), ys), np.interp(at_x, np.arange(xs.size), xs)], axis=1
    )
    # A network's responses differ by rounding between batches; a receptive field must exceed that.
    centres[best <= ROUNDING * np.abs(responses.values).max(axis=0)] = np.nan
    return centres


def neuroids_at(centres: np.ndarray, position: Position, farthest: float = FARTHEST_DEGREES) -> np.ndarray:
    """Mark the neuroids whose field is centred within `farthest` degrees of a place: bool (neuroids,)."""
    distance = np.hypot(centres[:, 0] - position[0], centres[:, 1] - position[1])
    # Equal grids give distances that differ in the last digit; the border itself counts.
    near: np.ndarray = distance <= farthest + 1e-9
    return near


def calibrate(
    gratings: xr.DataArray, blank: xr.DataArray, constants: RateConstants, name: str = "the model"
) -> Calibration:
    """Find the line that maps activations to the firing rates of a region.

    Parameters
    ----------
    gratings : DataArray, presentation x neuroid
        Responses to gratings that differ in the parameters of :data:`GRATING_COLUMNS` and in ``phase``.
    blank : DataArray, presentation x neuroid
        Responses to an empty screen.
    constants : RateConstants
    name : str
        Name of the model in messages.

    Raises
    ------
    DataQualityError
        When no neuroid responds to gratings more than to blank.
    """
    best = _mean_over_phase(gratings).max(axis=0)
    spontaneous = np.maximum(blank.values, 0).mean(axis=0)
    above = best - spontaneous
    responsive = above > constants.responsive_share * above.max() if above.size else np.zeros(0, dtype=bool)
    if not responsive.any() or above.max() <= 0:
        raise DataQualityError(
            f"{name}: none of {above.size} neuroids responds to gratings above blank, "
            "so activations cannot be turned into firing rates."
        )
    low, high = float(np.median(spontaneous[responsive])), float(np.median(best[responsive]))
    slope = (constants.best - constants.spontaneous) / (high - low)
    return Calibration(slope, constants.spontaneous - slope * low)


def _mean_over_phase(gratings: xr.DataArray) -> np.ndarray:
    """Rectify, then average the phases of each grating: (gratings, neuroids)."""
    columns = [name for name in GRATING_COLUMNS if name in gratings.coords]
    if not columns:
        raise ConfigError(f"The gratings have none of the coordinates {named(GRATING_COLUMNS, 8)}.")
    keys = pd.DataFrame({name: gratings[name].values for name in columns})
    code = keys.groupby(columns, sort=True, dropna=False).ngroup().to_numpy()
    order = np.argsort(code, kind="stable")
    counts = np.bincount(code)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    means: np.ndarray = (
        np.add.reduceat(np.maximum(gratings.values, 0)[order], starts, axis=0) / counts[:, None]
    )
    return means


def _numbers(responses: xr.DataArray, name: str) -> np.ndarray:
    if name not in responses.coords:
        raise ConfigError(
            f'The responses have no coordinate "{name}": a model must copy the columns of the stimulus set.'
        )
    return responses[name].values.astype(np.float64)
