"""Scores and ceilings of single neuroids, read from the raw array of a Score."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import AlignmentError, ConfigError, DataQualityError, named
from neuroarena.families.brainscore.normalisation import NORMALISATIONS, check_ceiling


def beneath(score: Score) -> Any:
    """Return what lies beneath a Score, following raw through ceiled Scores: an array, or None."""
    found: Any = score
    while isinstance(found, Score):
        found = found.raw
    return found


def neuroid_values(score: Score) -> xr.DataArray | None:
    """Find the array over neuroids beneath a Score; None without one.

    Returns
    -------
    DataArray, [split x] neuroid
        With the coordinate ``neuroid_id``.
    """
    found = beneath(score)
    if isinstance(found, xr.DataArray) and "neuroid" in found.dims and "neuroid_id" in found.coords:
        extra = set(found.dims) - {"split", "neuroid"}
        return None if extra else found
    return None


def ceiling_of(ceiling: Score, neuroid_ids: Sequence[Any] | np.ndarray, name: str = "") -> Score:
    """Return the ceiling of some neuroids: median over them in each split, then mean over splits.

    A ceiling without values per neuroid, or over exactly these neuroids, is returned as it is.

    Raises
    ------
    AlignmentError
        When the ceiling lacks one of the neuroids.
    """
    array = neuroid_values(ceiling)
    if array is None:
        return ceiling
    index = array["neuroid_id"].to_index()
    at = index.get_indexer(pd.Index(list(neuroid_ids)))
    if (at < 0).any():
        missing = [each for each, place in zip(neuroid_ids, at, strict=True) if place < 0]
        raise AlignmentError(f"The ceiling of {name} lacks the neuroids {named(missing)}.")
    if len(at) == len(index):
        return ceiling
    part = array.isel(neuroid=at)
    splits = part.median("neuroid")
    values = np.atleast_1d(splits.values)
    error = float(values.std() / math.sqrt(values.size)) if values.size > 1 else None
    used = int(part.notnull().any([dim for dim in part.dims if dim != "neuroid"]).sum())
    value = check_ceiling(float(values.mean()), f"{name} for {named(neuroid_ids)}").value
    return Score(
        value, error=error, raw=part, n_splits=values.size, n_neuroids_used=used, n_neuroids_total=len(at)
    )


def normalise_by_neuroid(raw: Score, ceiling: Score, formula: str) -> Score:
    """Normalise each neuroid by its own ceiling, then average over neuroids.

    Returns
    -------
    Score
        ``attrs["ceiled_scores"]`` holds the value of each neuroid; the error is the standard error of their mean.

    Raises
    ------
    ConfigError
        When one of the two has no values per neuroid.
    DataQualityError
        When a neuroid's ceiling is at or below zero; the message names it.
    """
    above, below = neuroid_values(raw), neuroid_values(ceiling)
    if above is None or below is None:
        what = "raw score" if above is None else "ceiling"
        raise ConfigError(
            f"The {what} has no values per neuroid, so neuroids cannot be normalised one by one."
        )
    r, c = _mean_over_splits(above), _mean_over_splits(below)
    place = c["neuroid_id"].to_index().get_indexer(r["neuroid_id"].to_index())
    ceilings = c.values[place]
    bad = ~(ceilings > 0) | (place < 0)
    if bad.any():
        raise DataQualityError(
            f"The ceilings of neuroids {named(r['neuroid_id'].values[bad])} are not positive. Leave these neuroids out."
        )
    used = np.isfinite(r.values)
    values = np.array(
        [
            float(NORMALISATIONS[formula](one, two)) if fine else math.nan
            for one, two, fine in zip(r.values, ceilings, used, strict=True)
        ]
    )
    if not used.any():
        raise DataQualityError("No neuroid has a score; every prediction or response is constant.")
    n = int(used.sum())
    return Score(
        float(np.nanmean(values)),
        error=float(np.nanstd(values, ddof=1) / math.sqrt(n)) if n > 1 else None,
        raw=raw,
        ceiling=ceiling,
        formula=formula,
        n_neuroids_used=n,
        n_neuroids_total=len(values),
        attrs={"ceiled_scores": r.copy(data=values)},
    )


def mean_of_scores(scores: Mapping[str, Score], over: str) -> Score:
    """Average Scores of subjects or other values; each is kept in ``attrs["scores"]``.

    The error is the standard error over them, or the error of the only one.
    """
    values = np.array([float(score) for score in scores.values()])
    first = next(iter(scores.values()))
    error = float(values.std(ddof=1) / math.sqrt(values.size)) if values.size > 1 else first.error
    used, total = (
        sum(counts) if all(counts) else None
        for counts in (
            [score.n_neuroids_used or 0 for score in scores.values()],
            [score.n_neuroids_total or 0 for score in scores.values()],
        )
    )
    raws = [score.raw for score in scores.values()]
    return Score(
        float(values.mean()),
        error=error,
        raw=Score(float(np.mean([float(raw) for raw in raws])))
        if all(isinstance(r, Score) for r in raws)
        else None,
        ceiling=first.ceiling if values.size == 1 else None,
        formula=first.formula,
        n_neuroids_used=used,
        n_neuroids_total=total,
        attrs={"scores": dict(scores), "averaged_over": over},
    )


def _mean_over_splits(array: xr.DataArray) -> xr.DataArray:
    return array.mean("split") if "split" in array.dims else array
