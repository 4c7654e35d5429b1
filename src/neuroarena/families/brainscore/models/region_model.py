"""A model of vision made of features: which layer stands for which region, and how it is recorded from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from neuroarena.families.brainscore.assemblies import TimeBins
from neuroarena.families.brainscore.errors import ConfigError, named
from neuroarena.families.brainscore.models.cache import FeatureCache
from neuroarena.families.brainscore.models.features import Features, FeatureSource, layer_batches
from neuroarena.families.brainscore.models.microsaccades import show_trials
from neuroarena.families.brainscore.models.pca import Projection, Reduction
from neuroarena.families.brainscore.models.time_bins import average_into_bins, check_bins
from neuroarena.families.brainscore.stimuli import StimulusSet, stimuli_from_paths
from neuroarena.fingerprint import digest


class RegionModel:
    """A BrainModel whose regions are layers of features.

    Parameters
    ----------
    identifier : str
        Name of the model.
    features : FeatureSource
        `TorchFeatures`, `CallableFeatures`, or a class of your own.
    region_layer_map : mapping of region to layer, optional
        What stands for V1, V2, V4, IT, ... With a single layer, that layer stands for every region. See
        :func:`~neuroarena.families.brainscore.models.choose_layers` for choosing by data.
    visual_degrees : float
        Width of the model's visual field.
    batch_size : int
        Number of images in memory at a time.
    reduction : Reduction, optional
        Principal components of wide layers.
    cache : FeatureCache or bool
        Store responses on disk by content: a cache, True for the default folder, False for none. Features whose content
        cannot be hashed (anonymous functions) are never stored.
    microsaccades : bool
        Whether the trials of an image differ by small shifts of it; otherwise one trial stands for all.

    Raises
    ------
    ConfigError
        When a mapped layer does not exist.

    Examples
    --------
    >>> import pandas as pd
    >>> from neuroarena.families.brainscore.models import CallableFeatures
    >>> model = RegionModel("size", CallableFeatures(lambda images: np.array([i.size for i in images])), cache=False)
    >>> model.start_recording("IT", [(70, 170)])
    >>> gray = np.zeros((4, 6, 3), np.uint8)
    >>> model.look_at(StimulusSet(pd.DataFrame({"stimulus_id": ["a"]}), images={"a": gray})).values
    array([[6., 4.]], dtype=float32)
    """

    def __init__(
        self,
        identifier: str,
        features: FeatureSource,
        region_layer_map: Mapping[str, str] | None = None,
        visual_degrees: float = 8,
        batch_size: int = 64,
        reduction: Reduction | None = None,
        cache: FeatureCache | bool = True,
        microsaccades: bool = False,
    ) -> None:
        if batch_size < 1:
            raise ConfigError(f"The batch size is {batch_size}, expected 1 or more.")
        self.features = features
        self.region_layer_map = dict(region_layer_map or {})
        for layer in self.region_layer_map.values():
            features.check_layer(layer)
        self.batch_size = batch_size
        self.reduction = reduction
        self.cache = FeatureCache.default() if cache is True else cache or None
        self._identifier = identifier
        self._visual_degrees = visual_degrees
        self.microsaccades = microsaccades
        self._recording: tuple[str, str, TimeBins] | None = None
        self._projections: dict[str, Projection | None] = {}
        # Layers that are recorded together, in one pass over a set of stimuli, and what was recorded.
        self._together: list[str] = []
        self._held: dict[str, dict[str, Features]] = {}

    @property
    def identifier(self) -> str:
        """Name of the model."""
        return self._identifier

    def visual_degrees(self) -> float:
        """Return the width of the visual field in degrees."""
        return self._visual_degrees

    def content(self) -> dict[str, Any]:
        """Return what the model is, part by part: features, layers, field and reduction; never its name."""
        return {
            **self.features.content(),
            "layers": dict(sorted(self.region_layer_map.items())),
            "visual_degrees": float(self._visual_degrees),
            **({} if self.reduction is None else {"reduction": self.reduction.fingerprint()}),
            **({"microsaccades": True} if self.microsaccades else {}),
        }

    def start_recording(self, region: str, time_bins: Any = None) -> None:
        """Record the layer of a region, in time bins of (start, end) ms.

        Raises
        ------
        ConfigError
            When no layer stands for the region.
        """
        self._recording = (region, self._layer_of(region), check_bins(time_bins))

    def _layer_of(self, region: str) -> str:
        if region in self.region_layer_map:
            return self.region_layer_map[region]
        if not self.region_layer_map and len(self.features.layers) == 1:
            return self.features.layers[0]
        raise ConfigError(
            f'{self.identifier}: no layer stands for the region "{region}"; '
            f"there are {named(self.region_layer_map) or 'none'}. Pass region_layer_map, or use choose_layers."
        )

    def look_at(self, stimuli: StimulusSet | Sequence[str | Path], number_of_trials: int = 1) -> xr.DataArray:
        """Show stimuli and return the recorded layer's responses.

        Parameters
        ----------
        stimuli : StimulusSet or list of paths
        number_of_trials : int
            How many trials there are, where they differ (`microsaccades`): they are told apart by the coordinate
            ``repetition``. Otherwise one trial stands for all.

        Returns
        -------
        DataArray, presentation x neuroid [x time_bin]
            A single time bin is squeezed to scalar coordinates.

        Raises
        ------
        ConfigError
            When nothing is being recorded.
        """
        if self._recording is None:
            raise ConfigError(
                f"{self.identifier}: nothing is being recorded yet. Call start_recording(region, time_bins) first."
            )
        if number_of_trials < 1:
            raise ConfigError(f"The number of trials is {number_of_trials}, expected 1 or more.")
        region, layer, wanted = self._recording
        shown = stimuli if isinstance(stimuli, StimulusSet) else stimuli_from_paths(list(stimuli))
        if not self.microsaccades or number_of_trials == 1:
            return self._look_once(shown, region, layer, wanted)
        trials = [
            self._look_once(each, region, layer, wanted).assign_coords(
                repetition=("presentation", np.full(len(shown), trial))
            )
            for trial, each in enumerate(show_trials(shown, number_of_trials, self._visual_degrees))
        ]
        return xr.concat(trials, dim="presentation")

    def _look_once(self, shown: StimulusSet, region: str, layer: str, wanted: TimeBins) -> xr.DataArray:
        values = self.responses(shown, layer)
        n_units = int(np.prod(values.shape[1 : values.ndim - (self.features.times is not None)]))
        coords = {**_presentations(shown), **self._neuroids(layer, region, n_units, self._shape(values))}
        flat = values.reshape(
            len(values), n_units, *values.shape[values.ndim - (self.features.times is not None) :]
        )
        return _assembly(flat, self.features.times, wanted, coords)

    def responses(self, stimuli: StimulusSet, layer: str) -> Features:
        """Return the features of a layer, (stimuli, ...[, time]), from the cache where it holds them."""
        key = self._key(stimuli, layer)
        found = self.cache.get(key) if self.cache is not None and key is not None else None
        if found is not None:
            return found
        if layer in self._together:
            shown = digest([stimuli.digest(each) for each in stimuli.ids])
            if shown not in self._held:
                self._held[shown] = self._record(stimuli, self._together)
            table = self._held[shown][layer]
        else:
            table = self._record(stimuli, [layer])[layer]
        if self.cache is not None and key is not None:
            self.cache.put(key, table)
        return table

    def _record(self, stimuli: StimulusSet, layers: Sequence[str]) -> dict[str, Features]:
        """Return the features of several layers, in one pass over the stimuli."""
        self._fit_projections(layers)
        tables: dict[str, Features] = {}
        for rows, found in layer_batches(self.features, stimuli, layers, self.batch_size):
            for layer, values in found.items():
                projection = self._projections.get(layer)
                kept = values if projection is None else self._projected(projection, values)
                if layer not in tables:
                    tables[layer] = np.empty((len(stimuli), *kept.shape[1:]), dtype=kept.dtype)
                tables[layer][rows] = kept
        if not tables:
            raise ConfigError(f"{stimuli.name}: the set is empty, so there is nothing to look at.")
        return tables

    def _key(self, stimuli: StimulusSet, layer: str) -> str | None:
        if self.cache is None:
            return None
        source = self.features.fingerprint()
        if source is None:
            return None
        return self.cache.key(
            features=source,
            layer=layer,
            reduction=None if self.reduction is None else self.reduction.fingerprint(),
            stimuli=[stimuli.digest(key) for key in stimuli.ids],
        )

    def _fit_projections(self, layers: Sequence[str]) -> None:
        missing = [layer for layer in layers if layer not in self._projections]
        if self.reduction is not None and missing:
            self._projections |= self.reduction.fit_layers(self.features, missing, self.batch_size)

    def _projected(self, projection: Projection, values: Features) -> Features:
        if self.features.times is None:
            return projection(values.reshape(len(values), -1))
        steps = [projection(values[..., at].reshape(len(values), -1)) for at in range(values.shape[-1])]
        return np.stack(steps, axis=-1)

    def _shape(self, values: Features) -> tuple[int, ...]:
        shape = values.shape[1:]
        return shape if self.features.times is None else shape[:-1]

    def _neuroids(self, layer: str, region: str, count: int, shape: tuple[int, ...]) -> dict[str, Any]:
        numbers = np.arange(count)
        found: dict[str, Any] = {
            "neuroid_id": [f"{self.identifier}.{layer}.{number}" for number in numbers],
            "neuroid_num": numbers,
            "model": np.full(count, self.identifier),
            "layer": np.full(count, layer),
            "region": np.full(count, region),
        }
        places = {3: ("channel", "channel_y", "channel_x"), 2: ("channel", "embedding")}
        if len(shape) in places:
            found.update(zip(places[len(shape)], np.unravel_index(numbers, shape), strict=True))
        return {name: ("neuroid", values) for name, values in found.items()}


def _presentations(stimuli: StimulusSet) -> dict[str, Any]:
    return {str(name): ("presentation", stimuli.table[name].to_numpy()) for name in stimuli.table.columns}


def _assembly(
    values: Features, own: TimeBins | None, wanted: TimeBins, coords: dict[str, Any]
) -> xr.DataArray:
    """Label responses (n, units[, own bins]), in the wanted bins; a single one is squeezed."""
    bins = wanted or own or []
    if own is None and len(bins) <= 1:
        # One bin of a model without time: nothing is repeated, so nothing is copied.
        scalars = {"time_bin_start": bins[0][0], "time_bin_end": bins[0][1]} if bins else {}
        return xr.DataArray(values, dims=("presentation", "neuroid"), coords={**coords, **scalars})
    times = {
        "time_bin_start": ("time_bin", np.array([start for start, _ in bins])),
        "time_bin_end": ("time_bin", np.array([end for _, end in bins])),
    }
    binned = average_into_bins(values, own, bins)
    array = xr.DataArray(binned, dims=("presentation", "neuroid", "time_bin"), coords={**coords, **times})
    return array.squeeze("time_bin") if len(bins) == 1 else array
