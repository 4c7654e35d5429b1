"""Properties of neurons from their responses to gratings: size, orientation and spatial frequency.

Responses are firing rates, phase by phase: DC is their mean over phases, AC twice the amplitude of the first harmonic
divided by the number of phases. A neuroid is described by DC above baseline or by AC, whichever is larger at its best
grating; one whose best is not above 5 spikes/s is not described (NaN).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.errors import ConfigError, named

FEWEST_SPIKES = 5.0
AXES = ("radius", "spatial_frequency", "orientation", "phase")
SUPPRESSED = 0.1
RISE, FALL = 0.95, 0.05
HALF_POWER = 0.707
# Weights of neighbours when a curve is smoothed, before they are normalised.
SMOOTHING = {"hanning": (2 / 5, 1.0, 2 / 5), "smooth": (1 / 5, 1.0, 1 / 5)}


@dataclass(frozen=True)
class Tuning:
    """Responses of neuroids to a complete grid of gratings, and the best cell of each.

    Attributes
    ----------
    axes : dict of str to ndarray
        Values of radius, spatial_frequency and orientation, each sorted.
    above, modulated : ndarray, shape (neuroids, radii, frequencies, orientations)
        DC above baseline, and AC.
    best : ndarray of int, shape (neuroids, 3)
        The cell with the largest of the two.
    by_modulation : ndarray of bool, shape (neuroids,)
        Whether AC is the larger one there.
    described : ndarray of bool, shape (neuroids,)
        Whether the best response exceeds 5 spikes/s.
    """

    axes: dict[str, np.ndarray]
    above: np.ndarray
    modulated: np.ndarray
    best: np.ndarray
    by_modulation: np.ndarray
    described: np.ndarray

    @classmethod
    def of(cls, responses: xr.DataArray, baseline: xr.DataArray) -> Tuning:
        """Lay out responses, presentation x neuroid with the coordinates of a grating, as a grid.

        Raises
        ------
        ConfigError
            When a coordinate is missing, or when the gratings do not form a complete grid.
        """
        axes, cube = _grid(responses)
        steady = cube.mean(axis=-1)
        phases = cube.shape[-1]
        modulated = (
            2 * np.abs(np.fft.fft(cube, axis=-1)[..., 1]) / phases if phases > 2 else np.zeros_like(steady)
        )
        above = (
            steady - baseline.transpose("presentation", "neuroid").values.mean(axis=0)[:, None, None, None]
        )
        both = np.stack([above, modulated], axis=1)
        flat = both.reshape(len(both), -1)
        which, *cell = np.unravel_index(flat.argmax(axis=1), both.shape[1:])
        return cls(
            axes, above, modulated, np.stack(cell, axis=1), which == 1, flat.max(axis=1) > FEWEST_SPIKES
        )

    def curves(self, axis: str) -> np.ndarray:
        """Return each neuroid's responses along one axis, through its best cell: (neuroids, values)."""
        at = ("radius", "spatial_frequency", "orientation").index(axis)
        chosen = np.where(self.by_modulation[:, None, None, None], self.modulated, self.above)
        index: list[Any] = [np.arange(len(chosen)), *self.best.T]
        moved = np.moveaxis(chosen, at + 1, -1)
        others = [index[place + 1] for place in range(3) if place != at]
        curves: np.ndarray = moved[index[0], others[0], others[1]]
        return curves

    def modulation_ratio(self) -> np.ndarray:
        """Return AC / DC above baseline at the best cell: (neuroids,)."""
        cell = (np.arange(len(self.best)), *self.best.T)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio: np.ndarray = self.modulated[cell] / self.above[cell]
        return ratio


def size_tuning(
    model_identifier: str,  # noqa: ARG001
    responses: xr.DataArray,
    baseline: xr.DataArray,
) -> xr.DataArray:
    """Measure surround suppression from gratings of several radii (Cavanaugh et al. 2002).

    Returns
    -------
    DataArray, neuroid x neuronal_property
        ``surround_suppression_index`` = (peak - response at the largest radius) / peak; ``strongly_suppressed`` (1
        where the index is 0.1 or more); and in degrees, where the index exceeds 0.1, ``grating_summation_field``
        (twice the smallest radius with 95 % of the peak), ``surround_diameter`` (twice the smallest radius beyond
        the preferred one with a response within 5 % of the one at the largest radius) and
        ``surround_grating_summation_field_ratio``.
    """
    tuning = Tuning.of(responses, baseline)
    curves, radii = tuning.curves("radius"), tuning.axes["radius"]
    peak, plateau = curves.max(axis=1), curves[:, -1]
    with np.errstate(divide="ignore", invalid="ignore"):
        index = np.where(tuning.described, (peak - plateau) / peak, np.nan)
    field = np.full(len(curves), np.nan)
    surround = np.full(len(curves), np.nan)
    for at in np.flatnonzero(tuning.described & (index > SUPPRESSED)):
        curve, preferred = curves[at], int(curves[at].argmax())
        field[at] = 2 * radii[np.argmax(curve >= RISE * peak[at])]
        beyond = np.flatnonzero(curve[preferred:] <= plateau[at] + FALL * abs(plateau[at]))
        surround[at] = 2 * radii[preferred + beyond[0]]
    return _properties(
        responses,
        {
            "surround_suppression_index": index,
            "strongly_suppressed": np.where(np.isnan(index), np.nan, index >= SUPPRESSED),
            "grating_summation_field": field,
            "surround_diameter": surround,
            "surround_grating_summation_field_ratio": surround / field,
        },
    )


def orientation_tuning(
    model_identifier: str,  # noqa: ARG001
    responses: xr.DataArray,
    baseline: xr.DataArray,
) -> xr.DataArray:
    """Measure orientation selectivity (Ringach et al. 2002).

    Returns
    -------
    DataArray, neuroid x neuronal_property
        ``circular_variance`` (0: a single orientation, 1: all alike), ``bandwidth`` (half width in degrees at 0.707 of
        the peak), ``orth_pref_ratio``, ``preferred_orientation`` (-22.5 to 157.5 degrees) and ``modulation_ratio``.
    """
    tuning = Tuning.of(responses, baseline)
    curves, angles = tuning.curves("orientation"), tuning.axes["orientation"]
    variance = circular_variance(curves, angles)
    preferred, width, orthogonal = (np.full(len(curves), np.nan) for _ in range(3))
    for at in np.flatnonzero(tuning.described):
        preferred[at], full, orthogonal[at] = _bandwidth(curves[at], angles, HALF_POWER)
        width[at] = full / 2
    return _properties(
        responses,
        {
            "circular_variance": np.where(tuning.described, variance, np.nan),
            "bandwidth": width,
            "orth_pref_ratio": orthogonal,
            "preferred_orientation": np.where(preferred >= 157.5, preferred - 180, preferred),
            "modulation_ratio": np.where(tuning.described, tuning.modulation_ratio(), np.nan),
        },
    )


def spatial_frequency_tuning(
    model_identifier: str,  # noqa: ARG001
    responses: xr.DataArray,
    baseline: xr.DataArray,
) -> xr.DataArray:
    """Measure tuning to spatial frequency (De Valois et al. 1982; Schiller et al. 1976).

    Returns
    -------
    DataArray, neuroid x neuronal_property
        ``peak_spatial_frequency`` in cycles per degree, and ``sf_bandwidth``: 100 * the low over the high frequency at
        which the response is 0.707 of the peak; NaN where the curve does not fall off on both sides.
    """
    tuning = Tuning.of(responses, baseline)
    curves, frequencies = tuning.curves("spatial_frequency"), tuning.axes["spatial_frequency"]
    peak, width = np.full(len(curves), np.nan), np.full(len(curves), np.nan)
    for at in np.flatnonzero(tuning.described):
        peak[at], width[at] = _frequency_peak(curves[at], frequencies)
    return _properties(responses, {"peak_spatial_frequency": peak, "sf_bandwidth": width})


def circular_variance(curves: np.ndarray, angles: np.ndarray) -> np.ndarray:
    """Return 1 - |sum R exp(2i theta)| / sum |R| of responses (neuroids, orientations) in degrees.

    Examples
    --------
    >>> circular_variance(np.array([[1.0, 1.0], [1.0, 0.0]]), np.array([0.0, 90.0])).round(12).tolist()
    [1.0, 0.0]
    """
    turned = np.exp(2j * np.deg2rad(angles))
    with np.errstate(divide="ignore", invalid="ignore"):
        variance: np.ndarray = 1 - np.abs(curves @ turned) / np.abs(curves).sum(axis=1)
    return variance


def _bandwidth(
    curve: np.ndarray, angles: np.ndarray, share: float, smoothing: str = "hanning"
) -> tuple[float, float, float]:
    """Return preferred orientation, full width at a share of the peak, and orthogonal over preferred response.

    The curve is periodic: it is repeated three times, smoothed, and interpolated by a cubic spline at one degree.
    """
    from scipy.interpolate import CubicSpline

    tiled = _smoothed(np.tile(curve, 3), smoothing)
    places = np.concatenate([angles - 180, angles, angles + 180])
    fine = np.arange(np.ceil(places[0]), np.floor(places[-1]) + 1)
    values = CubicSpline(places, tiled)(fine)
    middle = np.flatnonzero((fine >= 0) & (fine < 180))
    top = int(middle[values[middle].argmax()])
    peak = values[top]
    below = values < share * peak
    left, right = np.flatnonzero(below[:top]), np.flatnonzero(below[top:])
    width = float(fine[top + right[0]] - fine[left[-1]]) if left.size and right.size else np.nan
    orthogonal = values[min(top + 90, len(values) - 1)] if top + 90 < len(values) else values[top - 90]
    return float(fine[top]), np.nan if width > 180 else width, float(orthogonal / peak)


def _frequency_peak(curve: np.ndarray, frequencies: np.ndarray) -> tuple[float, float]:
    from scipy.interpolate import CubicSpline

    edged = np.concatenate([curve[:1], curve, curve[-1:]])
    octaves = np.log2(frequencies)
    fine = np.linspace(octaves[0], octaves[-1], 100)
    values = CubicSpline(octaves, _smoothed(edged)[1:-1])(fine)
    top = int(values.argmax())
    below = values < HALF_POWER * values[top]
    left, right = np.flatnonzero(below[:top]), np.flatnonzero(below[top:])
    if not (left.size and right.size):
        return float(2 ** fine[top]), np.nan
    return float(2 ** fine[top]), float(100 * 2 ** (fine[left[-1]] - fine[top + right[0]]))


def _smoothed(values: np.ndarray, smoothing: str = "hanning") -> np.ndarray:
    weights = np.array(SMOOTHING[smoothing])
    padded = np.concatenate([values[:1], values, values[-1:]])
    return np.convolve(padded, weights / weights.sum(), mode="valid")


def _grid(responses: xr.DataArray) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the values of each axis, and responses as (neuroids, radii, frequencies, orientations, phases)."""
    missing = [name for name in AXES if name not in responses.coords]
    if missing:
        raise ConfigError(f"The responses to gratings lack the coordinates {named(missing)}.")
    axes, places = {}, []
    for name in AXES:
        axes[name], place = np.unique(responses[name].values.astype(np.float64), return_inverse=True)
        places.append(place)
    shape = tuple(len(axes[name]) for name in AXES)
    cell = np.ravel_multi_index(tuple(places), shape)
    if len(cell) != np.prod(shape) or np.unique(cell).size != len(cell):
        sizes = " x ".join(str(size) for size in shape)
        raise ConfigError(
            f"The {len(cell)} gratings do not form a complete grid of {sizes} radii, frequencies, "
            "orientations and phases."
        )
    values = responses.transpose("neuroid", "presentation").values.astype(np.float64)
    cube = np.empty((len(values), len(cell)))
    cube[:, cell] = values
    return axes, cube.reshape(len(values), *shape)


def _properties(responses: xr.DataArray, found: Mapping[str, np.ndarray]) -> xr.DataArray:
    return xr.DataArray(
        np.stack([np.asarray(values, dtype=np.float64) for values in found.values()], axis=1),
        dims=("neuroid", "neuronal_property"),
        coords={
            "neuroid_id": ("neuroid", responses["neuroid_id"].values),
            "neuronal_property": ("neuronal_property", list(found)),
        },
    )
