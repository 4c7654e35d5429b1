"""From a Score to UnitScores: one row a neuroid, so that boards and statistics take it as any other result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from neuroarena.families.brainscore.benchmark import Benchmark
from neuroarena.families.brainscore.brain_score import Score
from neuroarena.families.brainscore.errors import ConfigError, DataQualityError
from neuroarena.families.brainscore.neuroids import neuroid_values
from neuroarena.families.brainscore.normalisation import NORMALISATIONS
from neuroarena.scoring import Manifest, UnitScores
from neuroarena.scoring.metrics import Metric
from neuroarena.scoring.score import SCORER_VERSION

if TYPE_CHECKING:
    import xarray as xr

FAMILY = "brainscore"
# What owns several neuroids, by the names recordings use, the first one found counts.
CLUSTERS = ("subject", "animal", "array", "arr")


def _correlation(prediction: np.ndarray, target: np.ndarray, _: Manifest) -> dict[str, float]:
    if np.ptp(prediction) == 0:
        return {"score": 0.0}
    return {"score": float(np.corrcoef(prediction, target)[0, 1])}


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
    truth_rule=_constant_truth,
)


def manifest_of(benchmark: Benchmark, score: Score | None = None) -> Manifest:
    """Give the rules of a benchmark as boards read them; the definition is the benchmark's version.

    Parameters
    ----------
    benchmark : Benchmark
    score : Score, optional
        One of its scores, which tells the formula and what owns several neuroids.
    """
    formula = score.formula if score is not None else None
    array = neuroid_values(score) if score is not None else None
    cluster = _cluster_name(array) if array is not None else None
    question = f"How well does a model predict the neuroids of {benchmark.identifier}?"
    return rules_of(benchmark.identifier, str(benchmark.version), question, cluster, formula)


def rules_of(
    identifier: str, version: str, question: str, cluster: str | None = None, formula: str | None = None
) -> Manifest:
    """Return the rules of a benchmark of this name and version."""
    return Manifest(
        name=f"{FAMILY}/{identifier}",
        definition=version,
        title=identifier,
        question=question,
        metric=PREDICTIVITY.name,
        prediction="number",
        unit="neuroid",
        cluster=cluster,
        split_rule="the splits of the benchmark's metric; a neuroid's correlation is its mean over them",
        chance=0.0,
        licence="as the recordings",
        notes=(
            f"Each neuroid's correlation is normalised by {formula or 'nothing'} with the ceiling of the benchmark; "
            "the board shows their mean, the Score itself normalises their median.",
        ),
    )


def unit_scores(score: Score, benchmark: Benchmark) -> UnitScores:
    """Give a Score as one row a neuroid, clustered by subject, animal or array.

    Parameters
    ----------
    score : Score
        Of a metric that tells neuroids apart: somewhere beneath it ``raw`` is an array over neuroid or
        split x neuroid with the coordinate ``neuroid_id``.
    benchmark : Benchmark

    Returns
    -------
    UnitScores
        The score of a neuroid is its correlation, averaged over splits and normalised as the Score was. A neuroid whose
        correlation is undefined in every split is left out.

    Raises
    ------
    ConfigError
        When the Score does not tell neuroids apart.
    DataQualityError
        When no neuroid has a score.
    """
    array = neuroid_values(score)
    if array is None:
        raise ConfigError(
            f"{benchmark.identifier}: the Score does not tell neuroids apart, so boards have no units to rank by. "
            "Expected raw with the dim neuroid and the coordinate neuroid_id."
        )
    values, counts = _means(array)
    known = np.isfinite(values)
    if not known.any():
        raise DataQualityError(f"{benchmark.identifier}: no neuroid has a score.")
    normalised = [_normalised(value, score) for value in values[known]]
    manifest = manifest_of(benchmark, score)
    table = pd.DataFrame(
        {
            "unit": [str(each) for each in array["neuroid_id"].values[known]],
            "fold": "all",
            "cluster": [str(each) for each in _clusters(array)[known]],
            "n": counts[known].astype(np.int64),
            "score": normalised,
        }
    )
    return UnitScores(
        table=table.sort_values("unit", ignore_index=True),
        name=manifest.name,
        definition=manifest.definition,
        manifest_hash=manifest.hash,
        metric=manifest.metric,
        tie_break=None,
        combiner=manifest.combiner,
        directions={"score": "higher"},
        scorer_version=SCORER_VERSION,
    )


def _means(array: xr.DataArray) -> tuple[np.ndarray, np.ndarray]:
    """Give the mean over the splits in which a neuroid has a value, and their number: each (neuroids,)."""
    table = array.transpose(..., "neuroid").values.reshape(-1, array.sizes["neuroid"])
    counts = np.isfinite(table).sum(axis=0)
    sums = np.where(np.isfinite(table), table, 0.0).sum(axis=0)
    with np.errstate(invalid="ignore"):
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan), counts


def _normalised(value: float, score: Score) -> float:
    if score.formula is None:
        return float(value)
    return float(NORMALISATIONS[score.formula](float(value), score.ceiling))


def _cluster_name(array: xr.DataArray) -> str | None:
    return next((name for name in CLUSTERS if name in array.coords), None)


def _clusters(array: xr.DataArray) -> Any:
    name = _cluster_name(array)
    if name is None:
        # Units without an owner are their own clusters.
        return array["neuroid_id"].values
    return np.broadcast_to(array[name].values, (array.sizes["neuroid"],))
