"""Neural responses as plain labelled arrays: dims, flat coordinates, and the checks they must pass."""

from __future__ import annotations

import hashlib
import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named

if TYPE_CHECKING:
    from neuroarena.families.brainscore.stimuli import StimulusSet

TimeBins = list[tuple[float, float]]

# What the public package calls its arrays. Ours are plain ones, so these names serve annotations and construction.
DataAssembly = xr.DataArray
NeuroidAssembly = xr.DataArray

NEURAL_DIMS = ("presentation", "neuroid", "time_bin")
PROPERTY_DIMS = ("neuroid", "neuronal_property")


@dataclass(frozen=True, eq=False)
class NeuralAssembly:
    """Responses of neuroids to stimuli, checked.

    Parameters
    ----------
    array : DataArray, presentation x neuroid [x time_bin]
        In any order of dims. Coordinates: ``stimulus_id`` on presentation, ``neuroid_id`` on neuroid, and where
        there is time ``time_bin_start`` and ``time_bin_end`` in ms from stimulus onset (scalars when a single bin
        was squeezed). MultiIndexes are flattened; an old ``image_id`` is copied to ``stimulus_id``. NaN is
        allowed where ``repetition`` distinguishes trials, infinity never.

    Raises
    ------
    ConfigError
        When a dim or a coordinate is missing, unknown, or not flat.
    DataQualityError
        When an id is missing or a value is not a number.

    Examples
    --------
    >>> responses = xr.DataArray(
    ...     [[1.0, 2.0]], dims=("presentation", "neuroid"),
    ...     coords={"image_id": ("presentation", ["a"]), "neuroid_id": ("neuroid", [7, 8])},
    ... )
    >>> NeuralAssembly(responses).stimulus_ids
    ['a']
    """

    array: xr.DataArray

    def __post_init__(self) -> None:
        """Flatten and check the array."""
        object.__setattr__(self, "array", _checked_neural(flat(self.array)))

    @property
    def name(self) -> str:
        """Name used in messages."""
        return _name(self.array)

    @property
    def stimulus_ids(self) -> list[Any]:
        """The stimulus of each presentation."""
        return list(self.array["stimulus_id"].values.tolist())

    @property
    def stimulus_set(self) -> StimulusSet:
        """The stimuli that were shown.

        Raises
        ------
        ConfigError
            When the assembly carries none.
        """
        found: StimulusSet | None = self.array.attrs.get("stimulus_set")
        if found is None:
            raise ConfigError(
                f'{self.name}: there is no stimulus set. Put a StimulusSet into attrs["stimulus_set"].'
            )
        return found

    @property
    def region(self) -> str:
        """The one region all neuroids are in.

        Raises
        ------
        ConfigError
            When there is no coordinate ``region``, or when it has several values.
        """
        return region_of(self.array)

    @property
    def time_bins(self) -> TimeBins:
        """The time bins as (start, end) in ms; empty when the assembly has no time."""
        return time_bins_of(self.array)


@dataclass(frozen=True, eq=False)
class PropertyAssembly:
    """Properties of neuroids, such as a suppression index, checked.

    Parameters
    ----------
    array : DataArray, neuroid x neuronal_property
        Coordinate ``neuronal_property`` with the names of the properties. NaN marks a property that a neuroid does
        not have.

    Raises
    ------
    ConfigError
        When a dim or the names are missing.
    """

    array: xr.DataArray

    def __post_init__(self) -> None:
        """Flatten and check the array."""
        array = flat(self.array)
        if set(array.dims) != set(PROPERTY_DIMS):
            raise ConfigError(
                f"{_name(array)}: dims are {_listed(array.dims)}, expected {_listed(PROPERTY_DIMS)}."
            )
        if "neuronal_property" not in array.coords:
            raise ConfigError(
                f'{_name(array)}: the names of the properties, "neuronal_property", are missing.'
            )
        _check_numbers(array)
        object.__setattr__(self, "array", array.transpose(*PROPERTY_DIMS))

    @property
    def properties(self) -> list[str]:
        """The names of the properties."""
        return [str(name) for name in self.array["neuronal_property"].values]


def flat(array: xr.DataArray) -> xr.DataArray:
    """Return an array with plain coordinates only: MultiIndexes flattened, old names copied to the new ones.

    Neither the values nor the object passed in are changed.
    """
    if not isinstance(array, xr.DataArray):
        inner = getattr(array, "array", None)
        if not isinstance(inner, xr.DataArray):
            raise ConfigError(f"Expected an xarray.DataArray as assembly, got a {type(array).__name__}.")
        array = inner
    for dim in array.dims:
        if isinstance(array.indexes.get(dim), pd.MultiIndex):
            array = array.reset_index(dim)
    if "image_id" in array.coords and "stimulus_id" not in array.coords:
        array = array.assign_coords(stimulus_id=(array["image_id"].dims, array["image_id"].values))
    if "time_bin" in array.coords and "time_bin" not in array.dims and "time_bin_start" not in array.coords:
        # Squeezing one bin of a MultiIndex leaves a scalar that holds the tuple (start, end).
        pair = array["time_bin"].item()
        if isinstance(pair, tuple) and len(pair) == 2:
            array = array.drop_vars("time_bin").assign_coords(time_bin_start=pair[0], time_bin_end=pair[1])
    return array


def as_array(assembly: Any) -> xr.DataArray:
    """Return the checked array of neural responses, from an array or from an assembly."""
    return assembly.array if isinstance(assembly, NeuralAssembly) else NeuralAssembly(assembly).array


def region_of(array: xr.DataArray) -> str:
    """Return the one region of an array's neuroids."""
    if "region" not in array.coords:
        raise ConfigError(
            f'{_name(array)}: the neuroids have no coordinate "region". Add it to name where they were recorded.'
        )
    regions = pd.unique(np.atleast_1d(array["region"].values))
    if len(regions) != 1:
        raise ConfigError(
            f"{_name(array)}: the neuroids are in {len(regions)} regions ({named(regions)}), expected exactly one. "
            "Select one first."
        )
    return str(regions[0])


def time_bins_of(array: xr.DataArray) -> TimeBins:
    """Return the time bins of an array as (start, end) in ms, whole numbers where they are whole."""
    if "time_bin_start" not in array.coords or "time_bin_end" not in array.coords:
        return []
    starts, ends = (np.atleast_1d(array[name].values) for name in ("time_bin_start", "time_bin_end"))
    return [(_whole(start), _whole(end)) for start, end in zip(starts, ends, strict=True)]


def squeeze_time(array: xr.DataArray) -> xr.DataArray:
    """Drop the time dim when it has a single bin; several bins are kept."""
    return array.squeeze("time_bin") if "time_bin" in array.dims and array.sizes["time_bin"] == 1 else array


def average_time(array: xr.DataArray, start_ms: float, end_ms: float) -> xr.DataArray:
    """Average the time bins that lie within a window.

    Parameters
    ----------
    array : DataArray, presentation x neuroid x time_bin
    start_ms, end_ms : float
        From stimulus onset.

    Returns
    -------
    DataArray, presentation x neuroid
        With scalar ``time_bin_start`` and ``time_bin_end``.

    Raises
    ------
    ConfigError
        When the bins do not cover the window exactly.
    """
    bins = time_bins_of(array)
    inside = np.array([start_ms <= start and end <= end_ms for start, end in bins], dtype=bool)
    chosen = sorted(pair for pair, keep in zip(bins, inside, strict=True) if keep)
    joined = all(one[1] == two[0] for one, two in itertools.pairwise(chosen))
    if not chosen or chosen[0][0] != start_ms or chosen[-1][1] != end_ms or not joined:
        raise ConfigError(
            f"{_name(array)}: the time bins do not cover {start_ms} to {end_ms} ms without gaps; "
            f"there are {len(bins)} from {min(bins, default='none')} to {max(bins, default='none')}."
        )
    averaged = array.isel(time_bin=np.flatnonzero(inside)).mean("time_bin", keep_attrs=True)
    return averaged.assign_coords(time_bin_start=_whole(start_ms), time_bin_end=_whole(end_ms))


def join_stimuli(array: xr.DataArray, stimulus_set: StimulusSet) -> xr.DataArray:
    """Add the columns of a stimulus set to the presentations, by stimulus id; the array's own columns take precedence.

    Raises
    ------
    AlignmentError
        When a presentation shows a stimulus that the set does not hold.
    """
    array = as_array(array)
    table = stimulus_set.table.set_index("stimulus_id")
    at = table.index.get_indexer(pd.Index(array["stimulus_id"].values))
    if (at < 0).any():
        missing = pd.unique(array["stimulus_id"].values[at < 0])
        raise AlignmentError(
            f'{_name(array)}: the stimuli {named(missing)} are not in the stimulus set "{stimulus_set.identifier}".'
        )
    columns = {
        str(name): ("presentation", table[name].to_numpy()[at])
        for name in table.columns
        if name not in array.coords and name not in array.dims
    }
    joined = array.assign_coords(columns)
    joined.attrs = {**array.attrs, "stimulus_set": stimulus_set}
    if stimulus_set.identifier is not None:
        joined.attrs["stimulus_set_identifier"] = stimulus_set.identifier
    return joined


def _checked_neural(array: xr.DataArray) -> xr.DataArray:
    dims = set(array.dims)
    if dims not in ({"presentation", "neuroid"}, set(NEURAL_DIMS)):
        raise ConfigError(
            f"{_name(array)}: dims are {_listed(array.dims)}, expected presentation, neuroid and at most time_bin."
        )
    array = array.transpose(*(dim for dim in NEURAL_DIMS if dim in dims))
    _check_ids(array, "stimulus_id", "presentation")
    _check_ids(array, "neuroid_id", "neuroid")
    neuroids = pd.Index(array["neuroid_id"].values)
    if not neuroids.is_unique:
        raise DataQualityError(
            f"{_name(array)}: the neuroid_id {named(neuroids[neuroids.duplicated()].unique())} occurs more than once."
        )
    if "time_bin" in dims:
        for name in ("time_bin_start", "time_bin_end"):
            if name not in array.coords or array[name].dims != ("time_bin",):
                raise ConfigError(
                    f'{_name(array)}: the dim time_bin has no coordinate "{name}" (ms from onset).'
                )
    _check_numbers(array)
    return array


def _check_ids(array: xr.DataArray, coordinate: str, dim: str) -> None:
    if coordinate not in array.coords:
        raise ConfigError(
            f'{_name(array)}: the coordinate "{coordinate}" of dim "{dim}" is missing; '
            f"there are {named(array.coords, 8)}."
        )
    if array[coordinate].dims != (dim,):
        raise ConfigError(
            f'{_name(array)}: the coordinate "{coordinate}" lies on {_listed(array[coordinate].dims)}, expected {dim}.'
        )
    missing = pd.isna(array[coordinate].values)
    if missing.any():
        raise DataQualityError(f'{_name(array)}: {dim} {int(missing.argmax())} has no "{coordinate}".')


def _check_numbers(array: xr.DataArray) -> None:
    if array.dtype.kind not in "fiub":
        raise DataQualityError(f"{_name(array)}: the values are of type {array.dtype}, expected numbers.")
    if array.size == 0:
        raise DataQualityError(f"{_name(array)}: the assembly is empty; its shape is {array.shape}.")
    if array.dtype.kind == "f" and np.isinf(array.values).any():
        raise DataQualityError(
            f"{_name(array)}: the values hold infinity. Every response must be finite or NaN."
        )


def _name(array: xr.DataArray) -> str:
    return str(array.attrs.get("identifier") or array.name or "assembly")


def _listed(dims: Any) -> str:
    return ", ".join(str(dim) for dim in dims) or "none"


def _whole(value: Any) -> float:
    number = float(value)
    return int(number) if number.is_integer() else number


def assembly_digest(array: xr.DataArray) -> str:
    """Return the SHA-256 of an assembly: its values, and the ids of its rows and columns."""
    hashed = hashlib.sha256(np.ascontiguousarray(array.values).tobytes())
    hashed.update(repr((array.dims, array.shape, str(array.dtype))).encode())
    for name in ("stimulus_id", "neuroid_id", "neuronal_property"):
        if name in array.coords:
            hashed.update(repr([str(each) for each in array[name].values]).encode())
    return hashed.hexdigest()
