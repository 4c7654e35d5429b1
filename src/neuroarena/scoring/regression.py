"""Metrics of numbers: absolute and squared errors, binned by time to go or measured against the spread.

Errors of seconds and of anything else are judged alike; a board says what the numbers are.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from neuroarena.scoring.combiners import BIN_COLUMNS, BIN_EDGES, BINNED, BINNED_WEIGHTED, Combiner
from neuroarena.scoring.metrics import Metric, WholeTable

if TYPE_CHECKING:
    from neuroarena.scoring.manifest import Manifest


def _mae(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    errors = np.abs(prediction - target)
    return {"score": float(errors.mean()), "error": float(errors.sum())}


def _median(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    return {"score": float(np.median(np.abs(prediction - target)))}


def _average_bins(
    prediction: np.ndarray,
    target: np.ndarray,
    manifest: Manifest,  # noqa: ARG001
    combiner: Combiner,
) -> dict[str, float]:
    # The last bin has no end here: targets above 600 s were dropped in public code, unseen.
    bins = np.searchsorted(BIN_EDGES, target, side="right") - 1
    errors = np.bincount(bins, weights=np.abs(prediction - target), minlength=len(BIN_EDGES))
    counts = np.bincount(bins, minlength=len(BIN_EDGES)).astype(np.float64)
    columns = dict(zip(BIN_COLUMNS, np.stack([errors, counts], axis=1).ravel(), strict=True))
    return {
        "score": float(combiner.function(columns)),
        **{name: float(sum_) for name, sum_ in columns.items()},
    }


def _no_time_before_zero(target: np.ndarray, manifest: Manifest) -> str | None:  # noqa: ARG001
    lowest = float(target.min())
    return f"the target {lowest:g} is below zero, and a time to go is not" if lowest < 0 else None


def _rmse(prediction: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    sse = float(((prediction - target) ** 2).sum())
    return {"score": float(np.sqrt(sse / target.size)), "sse": sse}


def round_to_single(target: np.ndarray) -> np.ndarray:
    """Round targets to float32, as the published scorer of nRMSE keeps them; float64 (n,)."""
    return np.asarray(target, dtype=np.float32).astype(np.float64)


def _against_spread(
    prediction: np.ndarray,
    target: np.ndarray,
    fold: np.ndarray,  # noqa: ARG001
    manifest: Manifest,  # noqa: ARG001
) -> np.ndarray:
    """Set every example beside the variance of all targets: columns error, target, variance, (n, 3)."""
    rounded = round_to_single(target)
    variance = np.full(target.shape, np.var(rounded))
    return np.stack([prediction - rounded, rounded, variance], axis=1)


def _some_spread(target: np.ndarray, fold: np.ndarray, manifest: Manifest) -> str | None:  # noqa: ARG001
    with np.errstate(over="ignore"):
        rounded = round_to_single(target)
    if not np.isfinite(rounded).all():
        return "a target is beyond single precision, in which targets are kept"
    if (rounded == rounded[0]).all():
        return f"every target is {rounded[0]:g}, and an error cannot be measured against no spread"
    return None


def _sums(rows: np.ndarray) -> dict[str, float]:
    error, target = rows[:, 0], rows[:, 1]
    return {
        "sse": float((error**2).sum()),
        "sum_y": float(target.sum()),
        "sum_y2": float((target**2).sum()),
    }


def _nrmse(rows: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    sums = _sums(rows)
    return {"score": float(np.sqrt(sums["sse"] / len(rows) / rows[0, 2])), **sums}


def _r2(rows: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    sums = _sums(rows)
    return {"score": float(1.0 - sums["sse"] / len(rows) / rows[0, 2]), **sums}


_SPREAD = WholeTable(_against_spread, _some_spread)
_SPREAD_COLUMNS = ("n", "sse", "sum_y", "sum_y2")

MAE = Metric(
    name="mae",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("number",),
    function=_mae,
    title="Mean absolute error",
    unit_label="s",
    undefined="Defined for every unit with at least one example.",
    columns=("n", "error"),
    roles={"numerator": "error", "denominator": "n"},
)

MEDIAN_ABSOLUTE_ERROR = Metric(
    name="median_absolute_error",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("number",),
    function=_median,
    title="Median absolute error",
    unit_label="s",
    undefined=(
        "The median inside a unit, then (as tie-break or beside the headline) the median over units; of an "
        "even number, the mean of the two in the middle."
    ),
    across="median",
)

_BIN_WORDS = (
    "The mean absolute error of each bin of the true time to go, [0, 40), [40, 90), [90, 300) and [300, 600] s, "
    "over all units; then the {} over the bins in which there is an example. A target above 600 s counts in "
    "the last bin; one below zero is refused when the truth is checked."
)

BINNED_MAE = Metric(
    name="binned_mae",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("number",),
    function=partial(_average_bins, combiner=BINNED),
    title="Binned mean absolute error",
    unit_label="s",
    undefined=_BIN_WORDS.format("mean"),
    columns=BIN_COLUMNS,
    combiner="binned",
    truth_rule=_no_time_before_zero,
)

BINNED_MAE_WEIGHTED = Metric(
    name="binned_mae_weighted",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("number",),
    function=partial(_average_bins, combiner=BINNED_WEIGHTED),
    title="Binned mean absolute error, weighted",
    unit_label="s",
    undefined=_BIN_WORDS.format("mean weighted 10 : 5 : 3 : 1"),
    columns=BIN_COLUMNS,
    combiner="binned_weighted",
    truth_rule=_no_time_before_zero,
)

RMSE = Metric(
    name="rmse",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("number",),
    function=_rmse,
    title="Root mean squared error",
    unit_label="",
    undefined="Pooled over all examples; defined for every unit with at least one.",
    columns=("n", "sse"),
    combiner="rmse",
)

NRMSE = Metric(
    name="nrmse",
    direction="lower",
    bounds=(0.0, math.inf),
    predictions=("number",),
    function=_nrmse,
    title="Normalised root mean squared error",
    unit_label="",
    undefined=(
        "RMSE over all examples divided by the population standard deviation of their targets, kept as float32; "
        "a unit's own score is its RMSE divided by the deviation of all targets. A truth whose targets are "
        "all equal is refused, and a bootstrap draw of equal targets is undefined."
    ),
    columns=_SPREAD_COLUMNS,
    combiner="nrmse",
    whole=_SPREAD,
)

R2 = Metric(
    name="r2",
    direction="higher",
    bounds=(-math.inf, 1.0),
    predictions=("number",),
    function=_r2,
    title="Coefficient of determination",
    unit_label="",
    undefined=(
        "Pooled over all examples, with targets kept as float32; a unit's own score is measured against the "
        "variance of all targets. A truth whose targets are all equal is refused."
    ),
    columns=_SPREAD_COLUMNS,
    combiner="r2",
    whole=_SPREAD,
)
