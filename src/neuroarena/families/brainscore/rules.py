"""The rules of a comparison as boards read them: metric, combiners and manifest; nothing here needs xarray."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from neuroarena.scoring import Manifest
from neuroarena.scoring.combiners import Combiner
from neuroarena.scoring.metrics import Metric

if TYPE_CHECKING:
    from neuroarena.families.brainscore.brain_score import Score

FAMILY = "brainscore"


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
_MADE = {
    "mean": "the mean over them",
    MEDIAN.name: "their median in each split, averaged over splits",
    **dict.fromkeys(
        (each.name for each in (MEDIAN_VARIANCE_RATIO, MEDIAN_RATIO_SQUARED, MEDIAN_RATIO)),
        "their median in each split, averaged over splits and then normalised",
    ),
}


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
    made : str or None
        How the Score is made of them, in words, where the combiner does not tell.
    """

    noun: str
    rows: pd.DataFrame
    combiner: str
    cluster: str | None = None
    made: str | None = None


def rules_of(
    identifier: str,
    version: str,
    question: str,
    units: Units | None = None,
    score: Score | None = None,
) -> Manifest:
    """Return the rules of a benchmark of this name and version; without a Score, as far as they are known."""
    how = "as the result says" if score is None else f"by {score.formula or 'nothing'}"
    made = "" if units is None else f" It is made of {units.noun}s: {units.made or _MADE[units.combiner]}."
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
