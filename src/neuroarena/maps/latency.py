"""When: the peak of a time course, its onset, and the order of tasks, each with what a bootstrap says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.maps.conventions import OURS, Conventions
from neuroarena.maps.courses import Course, time_course
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.inference import rank_p

DRAWS = 2000
_LEVEL = 0.05
_TAILS = (2.5, 97.5)


@dataclass(frozen=True, eq=False)
class Latencies:
    """Peaks and onsets of all tasks, and the order of their peaks.

    Attributes
    ----------
    table : DataFrame
        One row per task, in the order of the grid: task, auroc (of the curve's highest bin), peak_s with peak_low_s
        and peak_high_s (95 %), peak_p, resolved, onset_s with onset_low_s and onset_high_s, onset_share (of the
        bootstrap draws that have an onset). The peak of a flat curve is there and not resolved. An onset is the end of
        the first of two windows above the null, "by" which the feature can be decoded; NaN without one.
    before : array (tasks, tasks)
        Probability that the row's peak comes before the column's; NaN where one of them is not resolved.
    courses : tuple of Course
    errors : array (tasks, bins)
        Standard deviation of each curve over bootstrap draws.
    levels : tuple of str
        What was drawn anew: subjects, sessions, electrodes; a level with one member is not there.
    """

    table: pd.DataFrame
    before: np.ndarray
    courses: tuple[Course, ...]
    errors: np.ndarray
    levels: tuple[str, ...]

    @property
    def order(self) -> list[int]:
        """Places of the tasks by their peaks; those that are not resolved last."""
        peaks = self.table["peak_s"].where(self.table["resolved"])
        return [int(place) for place in np.argsort(peaks.to_numpy(), kind="stable")]


def find_peak(curve: np.ndarray, times_s: np.ndarray) -> float:
    """Return the time of the highest bin, refined by the parabola through it and its neighbours.

    Parameters
    ----------
    curve : array (bins,)
    times_s : array (bins,)
        Equally spaced.

    Examples
    --------
    >>> times = np.arange(5) * 0.1
    >>> round(find_peak(1 - (times - 0.23) ** 2, times), 6)
    0.23
    >>> find_peak(np.array([3.0, 2.0, 1.0]), np.array([0.0, 0.1, 0.2]))
    0.0
    """
    return float(_find_peaks(np.asarray(curve, dtype=float)[np.newaxis], np.asarray(times_s, dtype=float))[0])


def _find_peaks(curves: np.ndarray, times_s: np.ndarray, parabola: bool = True) -> np.ndarray:
    """Return the peak of every curve (curves, bins); NaN for curves with NaN."""
    rows, last = np.arange(len(curves)), curves.shape[1] - 1
    top = np.argmax(np.nan_to_num(curves, nan=-np.inf), axis=1)
    peaks = times_s[top].astype(float)
    if parabola and last >= 2:
        inner = np.clip(top, 1, last - 1)
        left, middle, right = (curves[rows, inner + step] for step in (-1, 0, 1))
        bend = left - 2 * middle + right
        usable = (top == inner) & (bend < 0)
        shift = np.divide(0.5 * (left - right), bend, out=np.zeros_like(bend), where=usable)
        peaks = peaks + np.where(usable, shift, 0.0) * (times_s[1] - times_s[0])
    return np.asarray(np.where(np.isfinite(curves).all(axis=1), peaks, np.nan))


def find_onset(curve: np.ndarray, threshold: float, ends_s: np.ndarray) -> float:
    """Return the end of the first of two consecutive windows above a threshold; NaN without two.

    Examples
    --------
    >>> ends = np.array([0.0, 0.1, 0.2, 0.3, 0.4])
    >>> find_onset(np.array([0.6, 0.5, 0.6, 0.7, 0.5]), 0.55, ends)
    0.2
    """
    return float(_find_onsets(np.asarray(curve, dtype=float)[np.newaxis], threshold, np.asarray(ends_s))[0])


def _find_onsets(curves: np.ndarray, threshold: float, ends_s: np.ndarray) -> np.ndarray:
    above = curves > threshold
    pairs = above[:, :-1] & above[:, 1:]
    return np.where(pairs.any(axis=1), ends_s[:-1][pairs.argmax(axis=1)], np.nan)


def probability_before(peaks: np.ndarray) -> np.ndarray:
    """Return P(row before column) + P(equal) / 2 over draws: array (tasks, tasks); one half on the diagonal.

    Parameters
    ----------
    peaks : array (draws, tasks)
        The same draws for all tasks; NaN where a task has no curve in a draw.

    Examples
    --------
    >>> probability_before(np.array([[0.1, 0.2], [0.2, 0.2], [0.1, 0.3], [0.3, 0.1]])).tolist()
    [[0.5, 0.625], [0.375, 0.5]]
    """
    one, two = peaks[:, :, np.newaxis], peaks[:, np.newaxis]
    known = np.isfinite(one) & np.isfinite(two)
    wins = ((one < two) + 0.5 * (one == two)) * known
    counts = known.sum(axis=0)
    return np.asarray(
        np.divide(wins.sum(axis=0), counts, out=np.full(counts.shape, np.nan), where=counts > 0)
    )


def find_latencies(
    grid: MapGrid,
    rng: np.random.Generator,
    conventions: Conventions = OURS,
    draws: int = DRAWS,
    tasks: Sequence[str] | None = None,
) -> Latencies:
    """Find peaks, onsets and the order of tasks, and bootstrap them.

    Subjects are drawn anew, then the sessions and the electrodes of each; all tasks see the same draws. A peak is
    resolved where it rises above the mean of its curve more than in 95 % of the draws of the null.

    Parameters
    ----------
    grid : MapGrid
    rng : Generator
    conventions : Conventions
        With a paper's own, peaks are the highest bins without a parabola.
    draws : int
    tasks : sequence of str, optional
        By default all of the grid.
    """
    tasks = list(grid.tasks if tasks is None else tasks)
    times = grid.bins[conventions.time_column].to_numpy()
    ends = grid.bins["end_s"].to_numpy()
    courses = tuple(time_course(grid, task, conventions) for task in tasks)
    weights, levels = draw_weights(grid, rng, draws)
    rows, peaks, errors = [], [], []
    for course in courses:
        curves = _resample(course, weights)
        peaks.append(_find_peaks(curves, times, parabola=not conventions.same_data))
        errors.append(np.nanstd(curves, axis=0) if np.isfinite(curves).any() else course.error)
        onsets = _find_onsets(curves, course.threshold, ends)
        rows.append(_summarise(course, times, ends, peaks[-1], onsets, conventions))
    table = pd.DataFrame(rows)
    before = probability_before(np.stack(peaks, axis=1))
    unresolved = ~table["resolved"].to_numpy(dtype=bool)
    before[unresolved] = np.nan
    before[:, unresolved] = np.nan
    return Latencies(table, before, courses, np.stack(errors), levels)


def _summarise(
    course: Course,
    times: np.ndarray,
    ends: np.ndarray,
    peaks: np.ndarray,
    onsets: np.ndarray,
    conventions: Conventions,
) -> dict[str, object]:
    # As published the place of the peak is read off the plain mean, whatever is drawn.
    curve = course.values.mean(axis=0) if conventions.log_floor is not None else course.curve
    peak = _find_peaks(curve[np.newaxis], times, parabola=not conventions.same_data)[0]
    p = float("nan")
    if len(course.null):
        rise = course.curve.max() - course.curve.mean()
        p = float(rank_p(np.array(rise), course.null.max(axis=1) - course.null.mean(axis=1)))
    low, high = _interval(peaks)
    onset = find_onset(course.curve, course.threshold, ends)
    onset_low, onset_high = _interval(onsets)
    return {
        "task": course.task,
        "auroc": float(curve.max()),
        "peak_s": float(peak),
        "peak_low_s": low,
        "peak_high_s": high,
        "peak_p": p,
        "resolved": bool(p <= _LEVEL),
        "onset_s": onset,
        "onset_low_s": onset_low,
        "onset_high_s": onset_high,
        "onset_share": float(np.isfinite(onsets).mean()),
    }


def _interval(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    if not finite.size:
        return float("nan"), float("nan")
    low, high = np.percentile(finite, _TAILS)
    return float(low), float(high)


def _resample(course: Course, weights: np.ndarray) -> np.ndarray:
    """Return the curve of each bootstrap draw: array (draws, bins); NaN where a draw has none of its rows."""
    mine = weights[:, course.rows["electrode"], course.rows["session"]].astype(np.float64)
    total = mine.sum(axis=1, keepdims=True)
    summed = mine @ course.values
    return np.asarray(np.divide(summed, total, out=np.full(summed.shape, np.nan), where=total > 0))


def draw_weights(grid: MapGrid, rng: np.random.Generator, draws: int) -> tuple[np.ndarray, tuple[str, ...]]:
    """Draw subjects, then sessions and electrodes of each, with replacement.

    Returns
    -------
    weights : uint16 array (draws, electrodes, sessions)
        How often each electrode of each session was drawn.
    levels : tuple of str
        The levels that had more than one member.
    """
    owner = grid.data["subject"].values.astype(str)
    session_owner = grid.data["session_subject"].values.astype(str)
    subjects = list(dict.fromkeys(session_owner))
    members = [(np.flatnonzero(owner == each), np.flatnonzero(session_owner == each)) for each in subjects]
    weights = np.zeros((draws, len(owner), len(session_owner)), dtype=np.uint16)
    for draw in range(draws):
        for subject in rng.integers(len(subjects), size=len(subjects)):
            electrodes, sessions = members[subject]
            often = np.bincount(
                rng.integers(len(electrodes), size=len(electrodes)), minlength=len(electrodes)
            )
            seen = np.bincount(rng.integers(len(sessions), size=len(sessions)), minlength=len(sessions))
            weights[draw, electrodes[:, np.newaxis], sessions] += np.outer(often, seen).astype(np.uint16)
    several = {
        "subjects": len(subjects) > 1,
        "sessions": any(len(sessions) > 1 for _, sessions in members),
        "electrodes": any(len(electrodes) > 1 for electrodes, _ in members),
    }
    return weights, tuple(name for name, there in several.items() if there)
