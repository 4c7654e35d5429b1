"""From a Score to UnitScores: one row per neuroid and split, or per subject, combined into the Score itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.benchmark import Benchmark
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.neuroids import beneath, neuroid_values
from neuroarena.families.brainscore.normalisation import NORMALISATIONS
from neuroarena.families.brainscore.rules import Units, rules_of
from neuroarena.scoring import Manifest, UnitScores
from neuroarena.scoring.score import SCORER_VERSION

# What owns several neuroids, under the names recordings use; the first one found counts.
CLUSTERS = ("subject", "animal", "array", "arr")
# What the levels of a metric are called, by their dim.
LEVEL_NOUNS = {"neuroid": "neuroid", "presentation": "image"}
LEVELS_MADE = (
    "the mean of what each adds (pseudo-values of the jackknife), because it is not a mean over them"
)


def units_of(score: Score) -> Units | None:
    """Find the units that a Score is made of: neuroids, subjects, images, or the values it was averaged over.

    Returns
    -------
    Units or None
        None when the Score has no values per unit.

    Raises
    ------
    DataQualityError
        When no neuroid has a score.
    """
    ceiled = score.attrs.get("ceiled_scores")
    if isinstance(ceiled, xr.DataArray):
        return _neuroids(ceiled, None, 1.0, "mean")
    array = neuroid_values(score)
    if array is not None:
        return _neuroids(array, score.formula, _ceiling(score), _median_combiner(score))
    parts = score.attrs.get("scores")
    if isinstance(parts, dict) and parts:
        return _named(
            str(score.attrs.get("averaged_over", "value")), [*parts], [float(one) for one in parts.values()]
        )
    levels = _levels_of(score)
    if levels is not None:
        return levels
    found = beneath(score)
    if isinstance(found, xr.DataArray) and set(found.dims) == {"split", "neuroid", "time_bin"}:
        return _by_time_bin(found, score)
    if isinstance(found, xr.DataArray) and found.dims == ("subject",):
        values = [_normalised(float(value), score.formula, _ceiling(score)) for value in found.values]
        return _named("subject", [str(each) for each in found["subject"].values], values)
    return None


def manifest_of(benchmark: Benchmark, score: Score | None = None) -> Manifest:
    """Return the rules of a benchmark as boards read them; the definition is the benchmark's version.

    Parameters
    ----------
    benchmark : Benchmark
    score : Score, optional
        One of its scores, which holds the formula, the units, and what owns several of them.
    """
    units = units_of(score) if score is not None else None
    question = f"How like the recordings of {benchmark.identifier} is a model?"
    return rules_of(benchmark.identifier, str(benchmark.version), question, units, score)


def unit_scores(score: Score, benchmark: Benchmark) -> UnitScores:
    """Return the units of a Score: one row per neuroid and split, clustered by subject, animal or array.

    Parameters
    ----------
    score : Score
        Of a metric with values per neuroid (somewhere beneath it ``raw`` is an array over neuroid or split x neuroid
        with the coordinate ``neuroid_id``) or subjects.
    benchmark : Benchmark

    Returns
    -------
    UnitScores
        ``raw`` is the correlation of a neuroid in a split and ``score`` the same, normalised as the Score was. The
        combined value is the Score. A neuroid whose correlation is undefined in every split is left out.

    Raises
    ------
    ConfigError
        When the Score has no values per neuroid or subject.
    DataQualityError
        When no neuroid has a score.
    """
    units = units_of(score)
    if units is None:
        raise ConfigError(
            f"{benchmark.identifier}: the Score has no values per neuroid, so boards have no units to rank by. "
            "Expected raw with the dim neuroid and the coordinate neuroid_id, or with the dim subject."
        )
    manifest = manifest_of(benchmark, score)
    return UnitScores(
        table=units.rows.sort_values(["unit", "fold"], ignore_index=True),
        name=manifest.name,
        definition=manifest.definition,
        manifest_hash=manifest.hash,
        metric=manifest.metric,
        tie_break=None,
        combiner=manifest.combiner,
        directions={"score": "higher"},
        scorer_version=SCORER_VERSION,
    )


def _neuroids(
    array: xr.DataArray, formula: str | None, ceiling: float, combiner: str, folds: list[str] | None = None
) -> Units:
    """Lay out an array over [split x] neuroid as rows; undefined values are left out."""
    table = array.transpose(..., "neuroid").values.reshape(-1, array.sizes["neuroid"])
    ids, owners = array["neuroid_id"].values, _clusters(array)
    rows = []
    for fold, values in zip(folds or [f"{at:03d}" for at in range(len(table))], table, strict=True):
        for unit, cluster, value in zip(ids, owners, values, strict=True):
            if np.isfinite(value):
                normal = _normalised(float(value), formula, ceiling)
                rows.append((str(unit), fold, str(cluster), 1, normal, float(value), ceiling))
    if not rows:
        raise DataQualityError("No neuroid has a score: check for constant responses or predictions.")
    names = ["unit", "fold", "cluster", "n", "score", "raw", "ceiling"]
    return Units("neuroid", pd.DataFrame(rows, columns=names), combiner, _cluster_name(array))


def _by_time_bin(array: xr.DataArray, score: Score) -> Units:
    """Lay out split x neuroid x time_bin as rows: every time bin of every split is a fold with a median of its own."""
    names = ("time_bin_start", "time_bin_end")
    bins = array.sizes["time_bin"]
    if all(name in array.coords for name in names):
        starts, ends = (array[name].values for name in names)
        labels = [f"{start:g}-{end:g} ms" for start, end in zip(starts, ends, strict=True)]
    else:
        labels = [f"bin {at:03d}" for at in range(bins)]
    stacked = array.transpose("split", "time_bin", "neuroid")
    folds = [f"{split:03d}, {label}" for split in range(stacked.sizes["split"]) for label in labels]
    flat = xr.DataArray(
        stacked.values.reshape(-1, stacked.sizes["neuroid"]),
        dims=("split", "neuroid"),
        coords={name: each for name, each in stacked.coords.items() if each.dims == ("neuroid",)},
    )
    return _neuroids(flat, score.formula, _ceiling(score), _median_combiner(score), folds)


def _median_combiner(score: Score) -> str:
    return "median" if score.formula is None else f"median_{score.formula}"


def _levels_of(score: Score) -> Units | None:
    """Return the levels of a score that is not a mean over them, as its metric computed them; None without any."""
    found: Any = score
    while isinstance(found, Score) and "levels" not in found.attrs:
        found = found.raw
    if not isinstance(found, Score) or score.formula not in (None, "ratio"):
        return None
    values = found.attrs["levels"]
    (dim,) = values.dims
    (names,) = (each.values for name, each in values.coords.items() if name != dim)
    shown = [_normalised(float(value), score.formula, _ceiling(score)) for value in values.values]
    return replace(_named(LEVEL_NOUNS[dim], list(names), shown), made=LEVELS_MADE)


def _named(noun: str, names: list[Any], values: list[float]) -> Units:
    labels = [str(name) for name in names]
    rows = {
        "unit": labels,
        "fold": "all",
        "cluster": labels,
        "n": 1,
        "score": values,
        "raw": values,
        "ceiling": 1.0,
    }
    return Units(noun, pd.DataFrame(rows), "mean")


def _ceiling(score: Score) -> float:
    return 1.0 if score.formula is None or score.ceiling is None else float(score.ceiling)


def _normalised(value: float, formula: str | None, ceiling: float) -> float:
    return value if formula is None else float(NORMALISATIONS[formula](value, ceiling))


def _cluster_name(array: xr.DataArray) -> str | None:
    return next((name for name in CLUSTERS if name in array.coords), None)


def _clusters(array: xr.DataArray) -> Any:
    name = _cluster_name(array)
    if name is None:
        # Units without an owner are their own clusters.
        return array["neuroid_id"].values
    return np.broadcast_to(array[name].values, (array.sizes["neuroid"],))
