"""How alike the distributions of a neuronal property are in a model and in a brain."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from neuroarena.families.brainscore.assemblies import flat
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError, named
from neuroarena.families.brainscore.metrics.alignment import neuroid_coordinates
from neuroarena.families.brainscore.metrics.folds import Array
from neuroarena.families.brainscore.metrics.metric import Metric, level_values

# A model scores 0 +- 0 when more than this share of its draws hold no value.
MOST_EMPTY = 0.1


class BootstrapDistributionSimilarity(Metric):
    """One minus the Kolmogorov-Smirnov distance of two histograms, relative to the largest possible one.

    The model's neuroids are drawn `ns` times with replacement, as many as were recorded. Drawing from binned
    values is a multinomial draw on the model's own frequencies, so no loop is needed.

    Parameters
    ----------
    property_name : str
        Name of the property; the target's attrs hold its histogram edges as ``<property_name>_bins``.
    ns : int
        Number of draws.
    seed : int
        Seed of the draws: two calls give the same Score.
    """

    def __init__(self, property_name: str, ns: int = 1000, seed: int = 0) -> None:
        if ns < 1:
            raise ConfigError(f"The number of draws is {ns}, expected 1 or more.")
        self.property_name = property_name
        self.ns = ns
        self.seed = seed

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score a model's property against the recorded one, neuroid x neuronal_property each.

        Returns
        -------
        Score
            Mean over draws; `error` is their standard deviation, `raw` the draws. ``attrs["levels"]`` has one value
            per recorded neuroid, whose mean is the score.

        Raises
        ------
        ConfigError
            When the property or its bins are missing.
        DataQualityError
            When no recorded neuroid has the property.
        """
        edges = self.edges(target)
        model, data = self.values(source, "source"), self.values(target, "target")
        n_data = int(np.isfinite(data).sum())
        if not n_data:
            raise DataQualityError(
                f'No recorded neuroid has the property "{self.property_name}": all are NaN.'
            )
        drawn = self.draws(_binned(model, edges), n_data, n_model=len(model))
        recorded = _binned(data, edges)
        similarity = histogram_similarity(drawn, recorded)
        empty = int(np.isnan(similarity).sum())
        if empty > MOST_EMPTY * self.ns:
            value, error, without = 0.0, 0.0, np.zeros(len(recorded))
        else:
            value, error = float(np.nanmean(similarity)), float(np.nanstd(similarity))
            without = _without_one(drawn, recorded, value)
        fine = np.isfinite(data)
        ids = neuroid_coordinates(flat(target))["neuroid_id"][1][fine]
        levels = level_values(value, without[_bin_of(data[fine], edges)], "neuroid", "neuroid_id", ids)
        return Score(
            value,
            error=error,
            raw=xr.DataArray(similarity, dims=("draw",)),
            n_neuroids_used=int(np.isfinite(model).sum()),
            n_neuroids_total=len(model),
            attrs={"n_nan": empty, "seed": self.seed, "n_recorded": n_data, "levels": levels},
        )

    def draws(self, model: npt.NDArray[Any], n_data: int, n_model: int) -> npt.NDArray[Any]:
        """Draw as many model neuroids as were recorded, `ns` times, and return their histograms, (draws, bins).

        Parameters
        ----------
        model : ndarray of int, shape (bins,)
            How many neuroids of the model lie in each bin.
        n_data : int
            Number of recorded neuroids.
        n_model : int
            Number of model neuroids, including those without the property: they are drawn, too.
        """
        rng = np.random.default_rng(self.seed)
        without = n_model - model.sum()
        drawn: npt.NDArray[Any] = rng.multinomial(n_data, np.append(model, without) / n_model, size=self.ns)[
            :, :-1
        ]
        return drawn

    def values(self, array: xr.DataArray, side: str) -> Array:
        """Return the property of every neuroid, NaN where it has none."""
        array = flat(array)
        if set(array.dims) != {"neuroid", "neuronal_property"}:
            raise ConfigError(
                f"The {side} has the dims {', '.join(map(str, array.dims))}; expected neuroid, neuronal_property."
            )
        names = [str(name) for name in array["neuronal_property"].values]
        if self.property_name not in names:
            raise ConfigError(
                f'The {side} has no property "{self.property_name}"; there are {named(names, 8)}.'
            )
        column = array.transpose("neuroid", "neuronal_property").values[:, names.index(self.property_name)]
        return np.array(column, dtype=np.float64)

    def edges(self, target: xr.DataArray) -> Array:
        """Return the histogram edges that the target's attrs hold for the property."""
        key = f"{self.property_name}_bins"
        if key not in target.attrs:
            raise ConfigError(f'The target has no attrs["{key}"]: the histogram edges of the property.')
        edges = np.asarray(target.attrs[key], dtype=np.float64)
        if edges.ndim != 1 or len(edges) < 3 or not (np.diff(edges) > 0).all():
            raise ConfigError(
                f'attrs["{key}"] must hold three or more increasing edges, got {edges.tolist()}.'
            )
        return edges


def histogram_similarity(drawn: npt.NDArray[Any], data: npt.NDArray[Any]) -> Array:
    """Return 1 - D / D_max of histograms against the recorded one.

    D is the largest distance between cumulative distributions; D_max is the larger distance of the two histograms
    that hold everything in the first or in the last bin.

    Parameters
    ----------
    drawn : ndarray, shape (draws, bins)
        Counts; an empty draw yields NaN.
    data : ndarray, shape (bins,)
        Recorded counts.

    Examples
    --------
    >>> histogram_similarity(np.array([[1, 1], [2, 0], [0, 0]]), np.array([5, 5]))
    array([ 1.,  0., nan])
    """
    recorded = np.cumsum(data) / data.sum()
    with np.errstate(invalid="ignore"):
        cumulative = np.cumsum(drawn, axis=1) / drawn.sum(axis=1, keepdims=True)
    first, last = np.ones_like(recorded), np.zeros_like(recorded)
    last[-1] = 1.0
    largest = max(np.abs(first - recorded).max(), np.abs(last - recorded).max())
    result: Array = 1.0 - np.abs(cumulative - recorded).max(axis=1) / largest
    return result


def _without_one(drawn: npt.NDArray[Any], data: npt.NDArray[Any], value: float) -> Array:
    """Return the score without one recorded neuroid of each bin, (bins,), on the same draws of the model."""
    found = np.full(len(data), value)
    if data.sum() > 1:
        for at in np.flatnonzero(data):
            fewer = data.copy()
            fewer[at] -= 1
            found[at] = np.nanmean(histogram_similarity(drawn, fewer))
    return found


def _binned(values: Array, edges: Array) -> npt.NDArray[Any]:
    return np.bincount(_bin_of(values[~np.isnan(values)], edges), minlength=len(edges) - 1)


def _bin_of(values: Array, edges: Array) -> npt.NDArray[Any]:
    """Return the bin of each value; what lies outside the edges is in the first or the last one."""
    return np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
