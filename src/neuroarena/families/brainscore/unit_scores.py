"""From a Score to UnitScores: one row per neuroid and split, or per subject, combined into the Score itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.families.brainscore.benchmark import Benchmark
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.neuroids import neuroid_values
from neuroarena.families.brainscore.normalisation import NORMALISATIONS
from neuroarena.scoring import Manifest, UnitScores
from neuroarena.scoring.combiners import Combiner
from neuroarena.scoring.metrics import Metric
from neuroarena.scoring.score import SCORER_VERSION

FAMILY = "brainscore"
# What owns several neuroids, under the names recordings use; the first one found counts.
CLUSTERS = ("subject", "animal", "array", "arr")


def _correlation(prediction: np.ndarray, target: np.ndarray, _: Manifest) -> dict[str, float]:
    r = 0.0 if np.ptp(prediction) == 0 else float(np.corrcoef(prediction, target)[0, 1])
    return {"score": r, "raw": r, "ceiling": 1.0}


def _constant_truth(target: np.ndarray, _: Manifest) -> str | None:
    return "its responses are constant" if target.size < 2 or np.ptp(target) == 0 else None


PREDICTIVITY = Metric(
    name="neural_predictivity",
    direction="higher",
    predictions=("number",),
    function=_correlation,
    title="Neural predictivity",
    unit_label="",
    undefined="A constant prediction correlates 0; constant responses are refused.",
    columns=("raw", "ceiling"),
    truth_rule=_constant_truth,
)


def _signed_square(values: np.ndarray) -> np.ndarray:
    squared: np.ndarray = np.sign(values) * values**2
    return squared


MEDIAN = Combiner(
    "median",
    ("raw",),
    lambda medians: medians["raw"],
    "median over neuroids in each split, then the mean over splits",
    over="medians",
)
# The formulas of `normalisation`, element by element over draws.
MEDIAN_VARIANCE_RATIO = Combiner(
    "median_variance_ratio",
    ("raw", "ceiling"),
    lambda medians: _signed_square(medians["raw"]) / medians["ceiling"],
    "r^2 / c with the sign of r, where r is the median over neuroids in each split, averaged over splits",
    over="medians",
)
MEDIAN_RATIO_SQUARED = Combiner(
    "median_ratio_squared",
    ("raw", "ceiling"),
    lambda medians: _signed_square(medians["raw"] / medians["ceiling"]),
    "(r / c)^2 with the sign of r, where r is the median over neuroids in each split, averaged over splits",
    over="medians",
)
MEDIAN_RATIO = Combiner(
    "median_ratio",
    ("raw", "ceiling"),
    lambda medians: medians["raw"] / medians["ceiling"],
    "r / c, where r is the median over neuroids in each split, averaged over splits",
    over="medians",
)


@dataclass(frozen=True, eq=False)
class Units:
    """What a Score is made of.

    Attributes
    ----------
    noun : str
        "neuroid", "subject", ...
    rows : DataFrame
        unit, fold, cluster, n, score, raw, ceiling.
    combiner : str
        How the rows become the Score.
    cluster : str or None
        What owns several units, in words.
    """

    noun: str
    rows: pd.DataFrame
    combiner: str
    cluster: str | None = None


def units_of(score: Score) -> Units | None:
    """Find the units that a Score is made of: neuroids, subjects, or the values it was averaged over.

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
        combiner = "median" if score.formula is None else f"median_{score.formula}"
        return _neuroids(array, score.formula, _ceiling(score), combiner)
    parts = score.attrs.get("scores")
    if isinstance(parts, dict) and parts:
        return _named(
            str(score.attrs.get("averaged_over", "value")), [*parts], [float(one) for one in parts.values()]
        )
    found: Any = score
    while isinstance(found, Score):
        found = found.raw
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


def rules_of(
    identifier: str,
    version: str,
    question: str,
    units: Units | None = None,
    score: Score | None = None,
) -> Manifest:
    """Return the rules of a benchmark of this name and version; without a Score, as far as they are known."""
    how = "as the result says" if score is None else f"by {score.formula or 'nothing'}"
    made = "" if units is None else f" It is made of {units.noun}s: {_MADE[units.combiner]}."
    return Manifest(
        name=f"{FAMILY}/{identifier}",
        definition=version,
        title=identifier,
        question=question,
        metric=PREDICTIVITY.name,
        prediction="number",
        unit="neuroid" if units is None else units.noun,
        cluster=None if units is None else units.cluster,
        combiner="mean" if units is None else units.combiner,
        split_rule="the splits of the benchmark's metric",
        chance=0.0,
        licence="as the recordings",
        notes=(f"The Score is normalised {how} with the ceiling of the recordings.{made}",),
    )


_MADE = {
    "mean": "the mean over them",
    "median": "their median in each split, averaged over splits",
    **dict.fromkeys(
        (f"median_{formula}" for formula in NORMALISATIONS),
        "their median in each split, averaged over splits and then normalised",
    ),
}


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


def _neuroids(array: xr.DataArray, formula: str | None, ceiling: float, combiner: str) -> Units:
    """Lay out an array over [split x] neuroid as rows; undefined values are left out."""
    table = array.transpose(..., "neuroid").values.reshape(-1, array.sizes["neuroid"])
    ids, owners = array["neuroid_id"].values, _clusters(array)
    rows = []
    for fold, values in enumerate(table):
        for unit, cluster, value in zip(ids, owners, values, strict=True):
            if np.isfinite(value):
                normal = _normalised(float(value), formula, ceiling)
                rows.append((str(unit), f"{fold:03d}", str(cluster), 1, normal, float(value), ceiling))
    if not rows:
        raise DataQualityError("No neuroid has a score: check for constant responses or predictions.")
    names = ["unit", "fold", "cluster", "n", "score", "raw", "ceiling"]
    return Units("neuroid", pd.DataFrame(rows, columns=names), combiner, _cluster_name(array))


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
