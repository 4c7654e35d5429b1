"""Bring two assemblies to the same stimuli in the same order, or explain why that is impossible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.assemblies import flat, squeeze_time
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named

Order = Literal["sorted", "as_given"]
STATIC = ("presentation", "neuroid")
TEMPORAL = ("presentation", "neuroid", "time_bin")


@dataclass(frozen=True)
class Aligned:
    """Two sides with the same stimuli, row by row.

    Attributes
    ----------
    source, target : ndarray, (n, p[, t]) and (n, q[, t])
        Responses.
    ids : ndarray, shape (n,)
        The stimulus of each row.
    strata : ndarray or None
        The group of each row that splits are balanced over.
    neuroids : dict
        Coordinates of the target's neuroids, as xarray takes them.
    """

    source: npt.NDArray[np.floating]
    target: npt.NDArray[np.floating]
    ids: npt.NDArray[Any]
    strata: npt.NDArray[Any] | None
    neuroids: dict[str, tuple[str, npt.NDArray[Any]]]

    @property
    def neuroid_ids(self) -> npt.NDArray[Any]:
        """Names of the target's neuroids."""
        return self.neuroids["neuroid_id"][1]


def align(
    source: xr.DataArray,
    target: xr.DataArray,
    *,
    coordinate: str = "stimulus_id",
    stratification: str | None = None,
    order: Order = "sorted",
    dims: Sequence[str] = STATIC,
) -> Aligned:
    """Bring two assemblies to the same rows.

    Parameters
    ----------
    source, target : DataArray
        Model and recording, one row per stimulus.
    coordinate : str
        The coordinate that rows are matched by.
    stratification : str, optional
        Coordinate that splits are balanced over; it must be on the target or the source.
    order : {"sorted", "as_given"}
        Rows sorted by `coordinate`, or in the target's own order.
    dims : sequence of str
        The dims both must have, in the order of the arrays returned.

    Raises
    ------
    AlignmentError
        When a stimulus is missing on one side or occurs twice, or when its group differs between the sides.
    DataQualityError
        When a response is NaN or infinite; stimulus and neuroid are named.
    ConfigError
        When dims or coordinates are not the expected ones.
    """
    if order not in ("sorted", "as_given"):
        raise ConfigError(f'The split order is "{order}", expected "sorted" or "as_given".')
    source, target = oriented(source, "source", dims), oriented(target, "target", dims)
    source_ids, target_ids = keys(source, "source", coordinate), keys(target, "target", coordinate)
    check_same(source_ids, target_ids, coordinate)
    rows = np.argsort(target_ids) if order == "sorted" else np.arange(len(target_ids))
    ids = target_ids[rows]
    source_rows = pd.Index(source_ids).get_indexer(pd.Index(ids))
    strata = _strata(source, target, source_rows, rows, stratification, ids)
    values = taken(source, source_rows), taken(target, rows)
    for side, array, name in ((values[0], source, "source"), (values[1], target, "target")):
        check_finite(side, ids, neuroid_coordinates(array)["neuroid_id"][1], name)
    return Aligned(*values, ids, strata, neuroid_coordinates(target))


def shared_stimuli(source: xr.DataArray, target: xr.DataArray) -> tuple[xr.DataArray, xr.DataArray]:
    """Keep the stimuli that both assemblies hold; metrics never do this on their own.

    Raises
    ------
    AlignmentError
        When no stimulus is in both.
    """
    source, target = flat(source), flat(target)
    source_ids, target_ids = source["stimulus_id"].values, target["stimulus_id"].values
    both = set(source_ids.tolist()) & set(target_ids.tolist())
    if not both:
        raise AlignmentError(
            f"No stimulus is in both assemblies: the source holds {named(source_ids)}, the target {named(target_ids)}."
        )
    rows = [np.array([key in both for key in ids.tolist()]) for ids in (source_ids, target_ids)]
    return source.isel(presentation=rows[0]), target.isel(presentation=rows[1])


def ordered(array: xr.DataArray, coordinate: str, ids: npt.NDArray[Any]) -> xr.DataArray:
    """Return presentation x neuroid with its rows in the order of `ids`, all of which it holds."""
    array = oriented(array, "assembly", STATIC)
    return array.isel(presentation=pd.Index(array[coordinate].values).get_indexer(pd.Index(ids)))


def oriented(array: xr.DataArray, side: str, dims: Sequence[str]) -> xr.DataArray:
    """Return an array with flat coordinates and its dims in the given order, or refuse it.

    Where no time bins are expected, a single bin is dropped.
    """
    array = flat(array) if "time_bin" in dims else squeeze_time(flat(array))
    if set(array.dims) != set(dims):
        hint = " Average over time or use a temporal metric." if "time_bin" in array.dims else ""
        raise ConfigError(
            f"The {side} has the dims {', '.join(map(str, array.dims))}; expected {', '.join(dims)}.{hint}"
        )
    return array.transpose(*dims)


def keys(array: xr.DataArray, side: str, coordinate: str) -> npt.NDArray[Any]:
    """Return the coordinate that rows are matched by; it must exist and hold no duplicates."""
    if coordinate not in array.coords:
        raise ConfigError(
            f'The {side} has no coordinate "{coordinate}" on its presentations; there are {named(array.coords, 8)}.'
        )
    values: npt.NDArray[Any] = array[coordinate].values
    index = pd.Index(values)
    if not index.is_unique:
        raise AlignmentError(
            f"The {side} holds {named(index[index.duplicated()].unique())} more than once. "
            f"Average repetitions first, so that each {coordinate} has one row."
        )
    return values


def check_same(source: npt.NDArray[Any], target: npt.NDArray[Any], coordinate: str) -> None:
    """Refuse two lists that do not hold the same stimuli, and name the first few that differ."""
    there, here = set(source.tolist()), set(target.tolist())
    problems = []
    if missing := [key for key in target.tolist() if key not in there]:
        problems.append(f"the source lacks {named(missing)}")
    if extra := [key for key in source.tolist() if key not in here]:
        problems.append(f"the target lacks {named(extra)}")
    if problems:
        raise AlignmentError(
            f"Source and target must hold the same {coordinate}s, but {' and '.join(problems)}. "
            "Use metrics.shared_stimuli to keep those that both hold."
        )


def _strata(
    source: xr.DataArray,
    target: xr.DataArray,
    source_rows: npt.NDArray[Any],
    target_rows: npt.NDArray[Any],
    name: str | None,
    ids: npt.NDArray[Any],
) -> npt.NDArray[Any] | None:
    """Return the group of each row, which must agree where both sides state it."""
    if not name:
        return None
    sides = [
        array[name].values[rows]
        for array, rows in ((target, target_rows), (source, source_rows))
        if name in array.coords
    ]
    if not sides:
        raise ConfigError(
            f'Neither side has the coordinate "{name}" that splits are balanced over. '
            "Add it to the target, or pass stratification_coord=None."
        )
    if len(sides) == 2 and (differs := np.flatnonzero(sides[0] != sides[1])).size:
        at = differs[0]
        raise AlignmentError(
            f'The {name} of {ids[at]} is "{sides[1][at]}" in the source and "{sides[0][at]}" in the target '
            f"({len(differs)} stimuli differ). Correct one side."
        )
    missing = pd.isna(sides[0])
    if missing.any():
        raise DataQualityError(
            f"The stimulus {ids[missing.argmax()]} has no {name}. Every stimulus needs one."
        )
    found: npt.NDArray[Any] = sides[0]
    return found


def taken(array: xr.DataArray, rows: npt.NDArray[Any]) -> npt.NDArray[np.floating]:
    """Return rows of an array as floating point numbers, without a copy where they are in order already."""
    values = array.values
    if values.dtype.kind != "f":
        values = values.astype(np.float64)
    return values if np.array_equal(rows, np.arange(len(values))) else values[rows]


def check_finite(
    values: npt.NDArray[np.floating], ids: npt.NDArray[Any], neuroids: npt.NDArray[Any], side: str
) -> None:
    """Refuse NaN and infinity, and name the first."""
    finite = np.isfinite(values)
    if not finite.all():
        at = np.argwhere(~finite)[0]
        raise DataQualityError(
            f'The {side} holds {values[tuple(at)]} for stimulus "{ids[at[0]]}", neuroid "{neuroids[at[1]]}" '
            f"({int((~finite).sum())} such values). Every response must be finite: leave out the stimulus or the "
            "neuroid."
        )


def neuroid_coordinates(array: xr.DataArray) -> dict[str, tuple[str, npt.NDArray[Any]]]:
    """Return the coordinates along neuroid; where there are no ids, the neuroids are numbered."""
    found = {
        str(name): ("neuroid", coord.values)
        for name, coord in array.coords.items()
        if coord.dims == ("neuroid",) and name != "neuroid"
    }
    found.setdefault("neuroid_id", ("neuroid", np.arange(array.sizes["neuroid"])))
    return found
