"""What a metric is, and how one value per split and neuroid becomes one Score."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import xarray as xr

from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import DataQualityError, named
from neuroarena.families.brainscore.metrics.folds import Array
from neuroarena.statistics import pseudovalues


class Metric:
    """Compares a model with recordings: two assemblies in, one Score out."""

    def __call__(self, source: xr.DataArray, target: xr.DataArray) -> Score:
        """Score how well `source` (the model) agrees with `target` (the recording)."""
        raise NotImplementedError


def pearson(predicted: npt.NDArray[np.floating], target: npt.NDArray[np.floating]) -> Array:
    """Correlate matching columns; NaN where a column is constant or holds NaN.

    Parameters
    ----------
    predicted, target : ndarray, shape (n, q)

    Returns
    -------
    ndarray, shape (q,)

    Examples
    --------
    >>> pearson(np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0]]), np.array([[1.0, 1.0], [2.0, 2.0], [3.0, 0.0]]))
    array([ 1., nan])
    """
    a, a_length, a_flat = _centred(predicted)
    b, b_length, b_flat = _centred(target)
    with np.errstate(divide="ignore", invalid="ignore"):
        result: Array = np.clip(np.einsum("ij,ij->j", a, b) / (a_length * b_length), -1.0, 1.0)
    result[a_flat | b_flat] = np.nan
    return result


def _centred(values: npt.NDArray[np.floating]) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
    """Return centred columns, their lengths, and which of them are constant."""
    columns = np.asarray(values, dtype=np.float64)
    means = columns.mean(axis=0)
    centred = columns - means
    length = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    # Rounding leaves a constant column a little length; only such columns are checked again.
    flat = length <= 1e-12 * np.abs(means) * np.sqrt(len(columns))
    flat[flat] = np.ptp(columns[:, flat], axis=0) == 0
    return centred, length, flat


def spearman(a: npt.NDArray[np.floating], b: npt.NDArray[np.floating]) -> Array:
    """Correlate the ranks of matching columns; ties share their mean rank, NaN where a column is constant."""
    from scipy.stats import rankdata

    return pearson(rankdata(np.asarray(a), axis=0), rankdata(np.asarray(b), axis=0))


def split_table(values: Array, neuroids: dict[str, Any], **more: Any) -> xr.DataArray:
    """Label values of shape (splits, neuroids[, time bins]) as the `raw` of a Score."""
    dims = ("split", "neuroid", "time_bin")[: values.ndim]
    return xr.DataArray(values, dims=dims, coords={"split": np.arange(len(values)), **neuroids, **more})


def aggregate(raw: xr.DataArray, **attrs: Any) -> Score:
    """Combine one value per split and neuroid into a Score: median over neuroids, then mean over splits.

    Neuroids without a value (their responses are constant) are left out and counted. The error is the standard
    error over splits, std / sqrt(splits); splits overlap, so it is too small for a test between models.

    Parameters
    ----------
    raw : DataArray, split x neuroid [x time_bin]
        With time bins, each bin is aggregated and the value is the mean over bins.
    **attrs
        Kept in the Score.

    Raises
    ------
    DataQualityError
        When a split has no neuroid with a value.
    """
    values = raw.values
    finite = np.isfinite(values)
    usable = finite.any(axis=1).reshape(len(values), -1).all(axis=1)
    if not usable.all():
        ids = raw["neuroid_id"].values
        raise DataQualityError(
            f"No neuroid has a correlation in split {int(usable.argmin())}: the responses or predictions of all "
            f"{len(ids)} neuroids ({named(ids)}) are constant there."
        )
    with_value = finite.reshape(len(values), len(raw["neuroid"]), -1).any(axis=(0, 2))
    centres = np.nanmedian(values, axis=1)
    per_split = centres if centres.ndim == 1 else centres.mean(axis=1)
    if centres.ndim == 2:
        attrs["time_bin_values"] = centres.mean(axis=0).tolist()
    if not with_value.all():
        attrs["neuroids_left_out"] = [str(each) for each in raw["neuroid_id"].values[~with_value][:20]]
    attrs["n_nan"] = int((~finite).sum())
    return Score(
        float(per_split.mean()),
        error=float(per_split.std() / np.sqrt(len(per_split))),
        raw=raw,
        n_splits=len(per_split),
        n_neuroids_used=int(with_value.sum()),
        n_neuroids_total=len(with_value),
        attrs=attrs,
    )


def level_values(
    value: float, without: npt.NDArray[np.floating], dim: str, name: str, labels: npt.NDArray[Any]
) -> xr.DataArray:
    """Return one value per level of a score that is not a mean over levels, for boards.

    They are the jackknife's pseudo-values, shifted so that their mean is the score itself; the standard error of that
    mean is the jackknife's. Neurons of a study of properties and images of solution times are such levels.

    Parameters
    ----------
    value : float
        The score.
    without : ndarray, (levels,)
        The score without each level.
    dim, name
        Dim and coordinate of the result.
    labels : ndarray, (levels,)

    Examples
    --------
    >>> level_values(2.0, np.array([1.5, 2.5, 2.0]), "neuroid", "neuroid_id", np.arange(3)).values.tolist()
    [3.0, 1.0, 2.0]
    """
    values = pseudovalues(np.array([value]), np.asarray(without)[:, None])[:, 0]
    return xr.DataArray(values - values.mean() + value, dims=(dim,), coords={name: (dim, labels)})


def finished(found: Any, raw: xr.DataArray) -> Score:
    """Turn what a metric's `aggregate` returned into a Score: a Score as it is, otherwise the mean of the values.

    Parameters
    ----------
    found : Score, DataArray or number
        A DataArray may still have the dim split, over which it is averaged and its error taken.
    raw : DataArray, split [x neuroid [x time_bin]]
        What was aggregated.

    Raises
    ------
    DataQualityError
        When the value is not a finite number.
    """
    if isinstance(found, Score):
        return found
    error = None
    if isinstance(found, xr.DataArray):
        found = found.mean([dim for dim in found.dims if dim != "split"], skipna=False)
        if "split" in found.dims:
            error = float(found.values.std() / np.sqrt(found.sizes["split"]))
            found = found.mean("split", skipna=False)
    value = float(found)
    if not np.isfinite(value):
        raise DataQualityError(
            f"The metric's aggregate returned {value}, expected a finite number for every split."
        )
    if "neuroid" not in raw.dims:
        return Score(value, error=error, raw=raw, n_splits=raw.sizes["split"])
    used = raw.notnull().any([dim for dim in raw.dims if dim != "neuroid"])
    return Score(
        value,
        error=error,
        raw=raw,
        n_splits=raw.sizes["split"],
        n_neuroids_used=int(used.sum()),
        n_neuroids_total=raw.sizes["neuroid"],
    )
