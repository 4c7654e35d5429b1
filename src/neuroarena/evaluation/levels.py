"""The independent levels of a test set, and how scores vary over them: for boards and for single results alike."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.scoring import COMBINERS, METRICS, Manifest
from neuroarena.statistics import LeftOut, LevelDraws, draw_level_medians, leave_out, leave_out_columns

Columns = Mapping[str, np.ndarray]
# Columns that say how many examples a unit holds, where examples are pooled.
_WEIGHTS = ("n", "denominator")


def independent_levels(
    units: Sequence[str], clusters: Sequence[str], manifest: Manifest
) -> tuple[list[str] | None, str]:
    """Find what was sampled independently: the cluster of each unit where it is filled, otherwise the unit.

    Parameters
    ----------
    units, clusters : sequence of str
        One label per unit; a cluster may be empty.
    manifest : Manifest
        Says what a unit and a cluster are, in words.

    Returns
    -------
    labels : list of str or None
        One label per unit; None where every unit is a level of its own.
    noun : str
        What the levels are, in the plural.
    """
    if not any(clusters) or list(clusters) == list(units):
        return None, _unit_noun(manifest)
    labels = [cluster or unit for unit, cluster in zip(units, clusters, strict=True)]
    noun = "people" if manifest.cluster is None else plural(_short(manifest.cluster))
    return (labels if len(set(labels)) < len(labels) else None), noun


def measure_levels(
    columns: Mapping[Any, Columns],
    manifest: Manifest,
    labels: list[str] | None,
    noun: str,
    combine: Callable[[Columns], np.ndarray] | None = None,
) -> LeftOut | LevelDraws:
    """Return how the scores of teams vary over levels: left out one by one, or drawn where a score is a median.

    Parameters
    ----------
    columns : mapping of team to {column: ndarray (units,)}
        What the combiner takes, without ``count``.
    manifest : Manifest
    labels, noun
        From :func:`independent_levels`.
    combine : callable, optional
        ``{column: sums} -> score`` in the metric's own direction, where it is not the manifest's combiner.

    Raises
    ------
    InputError
        When a score is not defined on all levels, or without one; team and level are named.
    """
    combiner = COMBINERS.get(manifest.combiner)
    if combine is None and manifest.combiner == "mean":
        table = pd.DataFrame({team: manifest.sign * own["score"] for team, own in columns.items()})
        return leave_out(table, labels, noun)
    function = combine or combiner.apply

    def oriented(summaries: dict[str, np.ndarray]) -> np.ndarray:
        return manifest.sign * np.asarray(function(summaries))

    if combine is None and combiner.over == "medians":
        return draw_level_medians(columns, oriented, labels, noun=noun)
    return leave_out_columns(columns, oriented, labels, _weight(columns), noun)


def unit_values(
    shown: np.ndarray,
    columns: Columns,
    manifest: Manifest,
    combine: Callable[[Columns], np.ndarray] | None = None,
) -> np.ndarray:
    """Return one number per unit on the scale of the score, higher is better: what the noise of training is read from.

    A score that is a mean over units, or a median, has the unit scores themselves. Any other has its pseudo-values
    U S - (U - 1) S(-u), with S(-u) the score without unit u.

    Parameters
    ----------
    shown : ndarray, (units,)
        Unit scores in the metric's own direction.
    columns, manifest, combine
        As in :func:`measure_levels`, of one team.
    """
    combiner = COMBINERS.get(manifest.combiner)
    if combine is None and (combiner.name == "mean" or combiner.over == "medians"):
        oriented: np.ndarray = manifest.sign * shown
        return oriented
    function = combine or combiner.apply
    left = leave_out_columns({"": columns}, lambda sums: manifest.sign * np.asarray(function(sums)))
    return left.sums[:, 0]


def score_bounds(manifest: Manifest) -> tuple[float, float]:
    """Return the lowest and the highest score possible, oriented so that higher is better."""
    scale = 100.0 if manifest.combiner == "percentage" else 1.0
    low, high = (scale * end for end in METRICS.get(manifest.metric).bounds)
    return (low, high) if manifest.sign > 0 else (-high, -low)


def plural(noun: str) -> str:
    """Return the plural of a noun.

    Examples
    --------
    >>> plural("person"), plural("session"), plural("study")
    ('people', 'sessions', 'studies')
    """
    if noun == "person":
        return "people"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _weight(columns: Mapping[Any, Columns]) -> str | None:
    """Return the column that weighs the levels, where all teams have the same numbers in it."""
    first, *others = columns.values()
    for name in _WEIGHTS:
        if name in first and all(np.array_equal(own[name], first[name]) for own in others):
            return name
    return None


def _short(words: str) -> str:
    """Return the noun of a description such as "session; its score is the mean over its folds"."""
    return words.partition(";")[0].partition(":")[0].strip()


def _unit_noun(manifest: Manifest) -> str:
    noun = _short(manifest.unit)
    return plural(noun) if noun.isalpha() else "units"
