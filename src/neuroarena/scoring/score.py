"""score(predictions, truth, manifest): the one function that laptop, worker and auditor call."""

from __future__ import annotations

import numpy as np
import pandas as pd

from neuroarena.errors import NeuroarenaError
from neuroarena.scoring.checks import Truth, aligned_predictions, read_truth
from neuroarena.scoring.manifest import Manifest
from neuroarena.scoring.metrics import METRICS, Direction, Metric
from neuroarena.scoring.unit_scores import UnitScores

# A change that moves any score raises this, and has its own heading in the changelog.
SCORER_VERSION = "1"


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
    checked = read_truth(truth, manifest)
    values = aligned_predictions(predictions, checked, manifest, source)
    table, directions = _table(values, checked, manifest)
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
    """Compute every metric of the manifest for every cell; also say in which direction each column goes."""
    headline = METRICS.get(manifest.metric)
    computed = {name: _measure(METRICS.get(name), values, truth, manifest) for name in manifest.metrics}
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
    return pd.DataFrame(columns), directions


def _measure(metric: Metric, values: np.ndarray, truth: Truth, manifest: Manifest) -> dict[str, np.ndarray]:
    """Compute a metric for every cell: its score and additive columns but ``n``, each (cells,)."""
    names = ("score", *(column for column in metric.columns if column != "n"))
    measured = {name: np.empty(truth.starts.size) for name in names}
    for cell, (start, stop) in enumerate(zip(truth.starts, truth.stops, strict=True)):
        result = metric.function(values[start:stop], truth.target[start:stop], manifest)
        for name in names:
            measured[name][cell] = result[name]
            if not np.isfinite(measured[name][cell]):
                # Checked truth and predictions cannot lead here; a metric with a hole in its rules can.
                where = f'unit "{truth.unit[cell]}", fold "{truth.fold[cell]}"'
                raise NeuroarenaError(f'The metric "{metric.name}" gave no finite {name} for {where}.')
    return measured
