"""The interval of one score over the independent levels of its test set, as boards compute it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.evaluation.levels import independent_levels, measure_levels, score_bounds, unit_values
from neuroarena.fingerprint import digest
from neuroarena.scoring import Manifest, UnitScores, columns_of
from neuroarena.scoring.overalls import Overall, TaskUnits, join_units, overall_combiner
from neuroarena.statistics import (
    MINIMUM_LEVELS,
    LeftOut,
    LevelDraws,
    add_seeds_to_intervals,
    draw_intervals,
    score_intervals,
)
from neuroarena.statistics.differences import jackknife_rows


def score_interval(
    unit_scores: UnitScores, manifest: Manifest, repeats: Sequence[UnitScores] = ()
) -> tuple[float, float] | None:
    """Return the 95 % interval of a score over its levels, low end first, in the metric's own direction.

    A level is a person where units are clustered by person, otherwise a unit. None when there are fewer than six
    levels, or when the score is not defined without one of them.

    Parameters
    ----------
    unit_scores : UnitScores
        Averaged over training seeds, where there are several.
    manifest : Manifest
    repeats : sequence of UnitScores
        Of each training seed, where there are several: the noise of training widens the interval.
    """
    measured = _measure(unit_scores, manifest)
    if measured is None:
        return None
    bounds = score_bounds(manifest)
    found = (
        score_intervals(measured, bounds=bounds)
        if isinstance(measured, LeftOut)
        else draw_intervals(measured, bounds=bounds)
    )
    if len(repeats) > 1:
        seeds = np.stack([_unit_values(each, manifest) for each in repeats])
        found = add_seeds_to_intervals(found, {"": seeds}, bounds=bounds)
    return _read_ends(found, manifest)


def overall_interval(
    tasks: Mapping[str, tuple[UnitScores, Manifest]], overall: Overall
) -> tuple[float, float] | None:
    """Return the 95 % interval of an overall score of tasks that share their units, each unit left out of all tasks.

    Parameters
    ----------
    tasks : mapping of str to (UnitScores, Manifest)
        The tasks by name, of one direction.
    overall : Overall
        How they become one number.

    Returns
    -------
    tuple of float, or None
        As :func:`score_interval` does: None below six units, or where the score is not defined without one.
    """
    own = {task: _task_units(scores, manifest) for task, (scores, manifest) in tasks.items()}
    units, clusters, columns = join_units(own)
    manifest = next(iter(tasks.values()))[1]
    labels, noun = independent_levels(list(units), list(clusters), manifest)
    combine = overall_combiner(overall, {task: each.combiner for task, each in own.items()})
    try:
        measured = measure_levels({"": columns}, manifest, labels, noun, combine)
    except InputError:
        return None
    assert isinstance(measured, LeftOut)
    return _read_ends(score_intervals(measured, bounds=score_bounds(manifest)), manifest)


def _task_units(unit_scores: UnitScores, manifest: Manifest) -> TaskUnits:
    units = unit_scores.by_unit()
    names, clusters = (tuple(map(str, units[column])) for column in ("unit", "cluster"))
    return TaskUnits(names, clusters, _columns(unit_scores, manifest), manifest.combiner)


def _read_ends(found: pd.DataFrame, manifest: Manifest) -> tuple[float, float] | None:
    """Return the ends of the only interval in the metric's own direction; None where they are not known."""
    low, high = float(found["low"].iloc[0]), float(found["high"].iloc[0])
    if not np.isfinite([low, high]).all():
        return None
    return (low, high) if manifest.sign > 0 else (0.0 - high, 0.0 - low)


def score_standard_error(unit_scores: UnitScores, manifest: Manifest) -> float | None:
    """Return the standard error of a score over its levels; None where it has no interval either."""
    measured = _measure(unit_scores, manifest)
    if measured is None:
        return None
    if isinstance(measured, LeftOut):
        if measured.n_levels < MINIMUM_LEVELS:
            return None
        error, _ = jackknife_rows(measured.scores.T.copy(), measured.point)
        return float(error[0])
    return float(np.std(measured.scores[:, 0], ddof=1))


def _measure(unit_scores: UnitScores, manifest: Manifest) -> LeftOut | LevelDraws | None:
    units = unit_scores.by_unit()
    clusters = [str(cluster) for cluster in units["cluster"]]
    labels, noun = independent_levels([str(unit) for unit in units["unit"]], clusters, manifest)
    try:
        return measure_levels({"": _columns(unit_scores, manifest)}, manifest, labels, noun)
    except InputError:
        return None


def _columns(unit_scores: UnitScores, manifest: Manifest) -> dict[str, np.ndarray]:
    columns = dict(columns_of(unit_scores, manifest))
    columns.pop("count", None)
    return columns


def _unit_values(unit_scores: UnitScores, manifest: Manifest) -> np.ndarray:
    shown = unit_scores.by_unit()["score"].to_numpy(dtype=np.float64)
    return unit_values(shown, _columns(unit_scores, manifest), manifest)


def derive_seed(seed: int, family: str, task: str, split: str) -> int:
    """Return the seed of the draws of a task and split.

    Different tasks never share their randomness, or scores over several tracks would look too certain.
    """
    return int(digest([seed, family, task, split])[:8], 16)
