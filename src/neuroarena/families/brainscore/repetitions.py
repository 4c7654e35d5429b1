"""Average the repetitions of each stimulus, and report what that dropped."""

from __future__ import annotations

import warnings
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.assemblies import as_array
from neuroarena.families.brainscore.errors import DataQualityError, named

_COLUMNS_AT_ONCE = 64


@dataclass(frozen=True)
class Averaging:
    """What averaging over repetitions did.

    Attributes
    ----------
    n_presentations, n_stimuli : int
        Rows before and after.
    fewest, most : int
        Repetitions of a stimulus.
    n_nan : int
        Values that were NaN and were left out of their mean.
    dropped : tuple of str
        Coordinates that differ between the repetitions of a stimulus, ``repetition`` itself left out.
    """

    n_presentations: int
    n_stimuli: int
    fewest: int
    most: int
    n_nan: int
    dropped: tuple[str, ...]


def average_repetitions(assembly: Any) -> xr.DataArray:
    """Average the presentations of each stimulus.

    Rows are grouped by ``stimulus_id`` alone. A coordinate that differs within a stimulus (a trial number, metadata
    that some rows lack) is dropped and named in a warning; NaN responses are left out of the mean.

    Parameters
    ----------
    assembly : DataArray or NeuralAssembly, presentation x neuroid [x time_bin]

    Returns
    -------
    DataArray
        One row per stimulus in order of first appearance, float64, without ``repetition``;
        ``attrs["averaging"]`` holds the fields of :class:`Averaging`.

    Raises
    ------
    DataQualityError
        When a neuroid has no response at all to a stimulus; the message names both.

    Examples
    --------
    >>> trials = xr.DataArray(
    ...     [[1.0], [3.0], [5.0]], dims=("presentation", "neuroid"),
    ...     coords={"stimulus_id": ("presentation", ["a", "b", "a"]), "neuroid_id": ("neuroid", [0])},
    ... )
    >>> average_repetitions(trials).values.ravel().tolist()
    [3.0, 3.0]
    """
    array = as_array(assembly)
    codes, ids = pd.factorize(array["stimulus_id"].values)
    counts = np.bincount(codes, minlength=len(ids))
    means, n_nan = _means(array.values, codes, counts)
    _check_means(means, array, ids)
    coords, dropped = _kept_coordinates(array, codes)
    report = Averaging(len(codes), len(ids), int(counts.min()), int(counts.max()), n_nan, tuple(dropped))
    if dropped:
        warnings.warn(
            f"Averaging over repetitions dropped the coordinates {named(dropped, 8)}: "
            "they differ between presentations of one stimulus.",
            stacklevel=2,
        )
    attrs = {**array.attrs, "averaging": asdict(report)}
    return xr.DataArray(means, dims=array.dims, coords=coords, attrs=attrs, name=array.name)


def _means(values: np.ndarray, codes: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, int]:
    """Average rows by code, NaN left out; also count the NaN."""
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    table = values.reshape(len(codes), -1)
    means = np.empty((len(counts), table.shape[1]))
    n_nan = 0
    # A few columns at a time: the sorted float64 copy of a whole recording would triple the memory.
    for first in range(0, table.shape[1], _COLUMNS_AT_ONCE):
        part = table[order, first : first + _COLUMNS_AT_ONCE].astype(np.float64)
        missing = np.isnan(part)
        divisor: np.ndarray = counts[:, None]
        if missing.any():
            n_nan += int(missing.sum())
            part[missing] = 0.0
            divisor = np.add.reduceat((~missing).astype(np.int64), starts, axis=0)
        with np.errstate(invalid="ignore"):
            means[:, first : first + _COLUMNS_AT_ONCE] = np.add.reduceat(part, starts, axis=0) / divisor
    return means.reshape(len(counts), *values.shape[1:]), n_nan


def _check_means(means: np.ndarray, array: xr.DataArray, ids: Any) -> None:
    empty = np.isnan(means)
    if empty.any():
        at = tuple(int(each) for each in np.argwhere(empty)[0])
        raise DataQualityError(
            f'Every repetition of stimulus "{ids[at[0]]}" is NaN for neuroid "{array["neuroid_id"].values[at[1]]}" '
            f"({int(empty.sum())} such means). Leave out the stimulus or the neuroid."
        )


def _kept_coordinates(array: xr.DataArray, codes: np.ndarray) -> tuple[dict[str, Any], list[str]]:
    """Return the coordinates of the averaged array, and the names of those that differ within a stimulus."""
    _, first = np.unique(codes, return_index=True)
    coords: dict[str, Any] = {}
    dropped = []
    for name, coord in array.coords.items():
        if "presentation" not in coord.dims:
            coords[str(name)] = (coord.dims, coord.values)
        elif name == "presentation" or name == "repetition":
            continue
        else:
            # After factorising, NaN equals NaN: metadata missing throughout a stimulus are constant.
            labels, _ = pd.factorize(coord.values, use_na_sentinel=True)
            if (labels == labels[first][codes]).all():
                coords[str(name)] = ("presentation", coord.values[first])
            else:
                dropped.append(str(name))
    return coords, dropped
