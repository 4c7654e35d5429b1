"""score(predictions, truth, manifest): the one function that laptop, worker and auditor call."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.errors import NeuroarenaError
from neuroarena.scoring.checks import Truth, align_predictions, read_truth
from neuroarena.scoring.manifest import Manifest
from neuroarena.scoring.metrics import METRICS, Direction, Metric, TableStep
from neuroarena.scoring.unit_scores import UnitScores

# A change that moves any score raises this, and has its own heading in the changelog.
SCORER_VERSION = "1"

Made = dict[TableStep, np.ndarray]


def score(
    predictions: pd.DataFrame, truth: pd.DataFrame, manifest: Manifest, source: str = "predictions"
) -> UnitScores:
    """Score predictions against the truth, unit by unit.

    Pure: reads no file, draws no random number, and gives the same bits for any order of the rows of
    either table, because rows are sorted by id first.

    Parameters
    ----------
    predictions : DataFrame
        ``id`` and the columns of ``manifest.prediction_columns``.
    truth : DataFrame
        id, fold, unit, cluster, target.
    manifest : Manifest
        The rules.
    source : str
        Name of the predictions in refusals: the file they came from.

    Returns
    -------
    UnitScores

    Raises
    ------
    InputError
        When either table is refused; see :func:`check_predictions` and :func:`check_truth`.

    Examples
    --------
    >>> manifest = Manifest(
    ...     name="example/sides", definition="1", title="Sides", question="Left or right?", metric="accuracy",
    ...     prediction="label", classes=("left", "right"), unit="session", split_rule="none", licence="CC0",
    ... )
    >>> truth = pd.DataFrame({"id": ["a", "b"], "fold": "0", "unit": "s1", "cluster": ""})
    >>> truth["target"] = ["left", "right"]
    >>> predictions = pd.DataFrame({"id": ["b", "a"], "label": ["right", "right"]})
    >>> score(predictions, truth, manifest).value
    0.5
    """
    return score_aligned(align(predictions, truth, manifest, source))


@dataclass(frozen=True)
class Aligned:
    """Predictions that were checked, one for every row of a checked truth and in its order.

    Attributes
    ----------
    values : ndarray
        (n,) or (n, columns), as metrics take them.
    truth : Truth
    manifest : Manifest
    """

    values: np.ndarray
    truth: Truth
    manifest: Manifest


def align(
    predictions: pd.DataFrame, truth: pd.DataFrame, manifest: Manifest, source: str = "predictions"
) -> Aligned:
    """Check predictions and truth, and put both into one order: the first half of :func:`score`."""
    checked = read_truth(truth, manifest)
    return Aligned(align_predictions(predictions, checked, manifest, source), checked, manifest)


def score_aligned(aligned: Aligned) -> UnitScores:
    """Score predictions that are aligned already, unit by unit: the second half of :func:`score`."""
    manifest = aligned.manifest
    table, directions = _table(aligned.values, aligned.truth, manifest)
    return UnitScores(
        table=table,
        name=manifest.name,
        definition=manifest.definition,
        manifest_hash=manifest.hash,
        metric=manifest.metric,
        tie_break=manifest.tie_break,
        combiner=manifest.combiner,
        directions=directions,
        scorer_version=SCORER_VERSION,
    )


def _table(values: np.ndarray, truth: Truth, manifest: Manifest) -> tuple[pd.DataFrame, dict[str, Direction]]:
    """Compute every metric of the manifest for every cell, and return the direction of each column."""
    headline = METRICS.get(manifest.metric)
    made: Made = {}
    computed = {}
    for metric in map(METRICS.get, manifest.metrics):
        rows = _rows_of(metric, values, truth, manifest, made)
        computed[metric.name] = _measure(metric, rows, truth, manifest)
    columns: dict[str, object] = {
        "unit": truth.unit,
        "fold": truth.fold,
        "cluster": truth.cluster,
        "n": (truth.stops - truth.starts).astype(np.int64),
        "score": computed[headline.name].pop("score"),
    }
    directions = {"score": headline.direction}
    if manifest.tie_break is not None:
        columns["tie_break"] = computed[manifest.tie_break]["score"]
        directions["tie_break"] = METRICS.get(manifest.tie_break).direction
    for name in manifest.additional_metrics:
        columns[name] = computed[name]["score"]
        directions[name] = METRICS.get(name).direction
    columns.update(computed[headline.name])
    for name in manifest.additional_metrics:
        columns.update(_pooled_columns(METRICS.get(name), computed[name]))
    return pd.DataFrame(columns), directions


def _pooled_columns(metric: Metric, measured: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Name the additive columns of an additional metric whose track score is not a mean of unit scores."""
    if metric.combiner == "mean":
        return {}
    return {f"{metric.name}.{name}": column for name, column in measured.items() if name != "score"}


def _rows_of(metric: Metric, values: np.ndarray, truth: Truth, manifest: Manifest, made: Made) -> np.ndarray:
    """Return the input of a metric's function: the predictions, or what its whole-table step makes of them."""
    if metric.whole is None:
        return values
    step = metric.whole.step
    if step not in made:
        made[step] = step(values, truth.target, truth.folds, manifest)
    return made[step]


def _measure(metric: Metric, rows: np.ndarray, truth: Truth, manifest: Manifest) -> dict[str, np.ndarray]:
    """Compute a metric for every cell: its score and additive columns but ``n``, each (cells,)."""
    names = ("score", *(column for column in metric.columns if column != "n"))
    cells = zip(truth.starts.tolist(), truth.stops.tolist(), strict=True)
    found = [metric.function(rows[start:stop], truth.target[start:stop], manifest) for start, stop in cells]
    measured = {name: np.array([each[name] for each in found], dtype=np.float64) for name in names}
    for name in names:
        wrong = np.flatnonzero(~np.isfinite(measured[name]))
        if wrong.size:
            # Checked truth and predictions cannot lead here; a metric with a hole in its rules can.
            where = f'unit "{truth.unit[wrong[0]]}", fold "{truth.fold[wrong[0]]}"'
            raise NeuroarenaError(f'The metric "{metric.name}" returned no finite {name} for {where}.')
    return measured
