"""What a metric is, and the registry of metrics."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from neuroarena.registry import Registry

if TYPE_CHECKING:
    from neuroarena.scoring.manifest import Manifest

Direction = Literal["higher", "lower"]
Prediction = Literal["label", "probabilities", "number", "vector", "text"]
MetricFunction = Callable[[np.ndarray, np.ndarray, "Manifest"], dict[str, float]]
TruthRule = Callable[[np.ndarray, "Manifest"], str | None]
# (prediction, target, fold of each row as a number, manifest) -> rows for the metric's function.
TableStep = Callable[[np.ndarray, np.ndarray, np.ndarray, "Manifest"], np.ndarray]
# (target, fold of each row as a number, manifest) -> problem or None.
TableRule = Callable[[np.ndarray, np.ndarray, "Manifest"], str | None]

# Columns every table of unit scores has; an additive column cannot take one of these names.
RESERVED_COLUMNS = ("unit", "fold", "cluster", "score", "tie_break")


@dataclass(frozen=True)
class WholeTable:
    """What a metric computes over all rows together, before it looks at single units.

    Parameters
    ----------
    step : callable
        ``(prediction, target, fold, manifest) -> rows``: an array with one row per example, which the
        metric's `function` receives in place of the predictions. It is computed once for all
        metrics that share it. Rows come sorted by unit, fold and id; `fold` is int64 (n,).
    rule : callable, optional
        ``(target, fold, manifest) -> problem or None``: refuses a truth for which the step is undefined.
    """

    step: TableStep
    rule: TableRule | None = None


@dataclass(frozen=True)
class Metric:
    """A measure of the predictions of one unit.

    Parameters
    ----------
    name : str
        The name manifests use.
    direction : {"higher", "lower"}
        Which scores are better. Scores are kept in this direction; only
        :meth:`UnitScores.oriented` turns errors round.
    predictions : tuple of str
        The kinds of prediction it can judge.
    function : callable
        ``(prediction, target, manifest) -> {"score": ..., column: ...}`` for one unit and fold. By the
        kind of prediction the arrays are: class positions (n,) int64 for `label`; float64
        (n, classes) for `probabilities`; float64 (n,) for `number`; float32 or float64 (n, length) for
        `vector`; str (n,) objects for `text`. Targets of the first two kinds are class positions, of the others
        as the prediction. Rows come sorted by id. All values are finite and complete.
    title : str
        The heading in tables.
    unit_label : str
        What the score is measured in ("" for a pure number).
    undefined : str
        What happens where the metric is undefined, in words.
    columns : tuple of str
        Additive columns that `function` returns besides `score`: summed over folds and units before a
        combiner is applied. ``n``, the number of examples, is always there and may be named here.
    combiner : str
        How scores of units become the score of a track unless the manifest says otherwise.
    roles : mapping of str to str
        Column a combiner asks for -> column of this metric, where the names differ
        (``{"numerator": "correct", "denominator": "n"}``).
    truth_rule : callable, optional
        ``(target, manifest) -> problem or None``: refuses the truth of a unit for which the metric
        is undefined, so that no prediction can ever make a unit undefined.
    whole : WholeTable, optional
        What must be computed over all rows first: ranks among all candidates, the spread of all targets.
    across : {"mean", "median"}
        How scores of units become one number where the metric breaks ties or is reported in addition.
    bounds : pair of float
        The lowest and the highest score possible; an interval never reaches beyond them.
    ranks : bool
        Whether it orders examples by their probabilities, so that hard labels lose most of the score in ties.
    """

    name: str
    direction: Direction
    predictions: tuple[Prediction, ...]
    function: MetricFunction
    title: str
    unit_label: str
    undefined: str
    columns: tuple[str, ...] = ()
    combiner: str = "mean"
    roles: Mapping[str, str] = field(default_factory=dict)
    truth_rule: TruthRule | None = None
    whole: WholeTable | None = None
    across: Literal["mean", "median"] = "mean"
    bounds: tuple[float, float] = (-math.inf, math.inf)
    ranks: bool = False

    def __post_init__(self) -> None:
        taken = [column for column in self.columns if column in RESERVED_COLUMNS]
        if taken:
            raise ValueError(f'metric "{self.name}": the additive column "{taken[0]}" is a reserved name')

    @property
    def sign(self) -> float:
        """+1.0 where higher is better, -1.0 where lower is."""
        return 1.0 if self.direction == "higher" else -1.0

    def over_units(self, scores: np.ndarray) -> float:
        """Reduce the scores of units, (units,), to one number, as `across` says."""
        return float(np.median(scores) if self.across == "median" else np.mean(scores))


METRICS: Registry[Metric] = Registry(
    "metric",
    "neuroarena.metrics",
    {
        "auroc": "neuroarena.scoring.classification:AUROC",
        "accuracy": "neuroarena.scoring.classification:ACCURACY",
        "balanced_accuracy": "neuroarena.scoring.classification:BALANCED_ACCURACY",
        "macro_f1": "neuroarena.scoring.classification:MACRO_F1",
        "top5": "neuroarena.scoring.retrieval:TOP5",
        "top1": "neuroarena.scoring.retrieval:TOP1",
        "mean_inverse_normalised_rank": "neuroarena.scoring.retrieval:INVERSE_RANK",
        "mae": "neuroarena.scoring.regression:MAE",
        "median_absolute_error": "neuroarena.scoring.regression:MEDIAN_ABSOLUTE_ERROR",
        "binned_mae": "neuroarena.scoring.regression:BINNED_MAE",
        "binned_mae_weighted": "neuroarena.scoring.regression:BINNED_MAE_WEIGHTED",
        "rmse": "neuroarena.scoring.regression:RMSE",
        "nrmse": "neuroarena.scoring.regression:NRMSE",
        "r2": "neuroarena.scoring.regression:R2",
        "cer": "neuroarena.scoring.text:CER",
        "corpus_cer": "neuroarena.scoring.text:CORPUS_CER",
        "wer": "neuroarena.scoring.text:WER",
    },
)
