"""Pictures of when: time courses of all tasks, and the order of their peaks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from neuroarena.maps.conventions import Conventions
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.latency import Latencies
from neuroarena.maps.page.contents import Picture, Section
from neuroarena.maps.pictures import charts


def when_section(
    grid: MapGrid, latencies: Latencies, titles: Mapping[str, str], conventions: Conventions
) -> Section:
    """Make the section on when features can be decoded."""
    names = [titles.get(task, task) for task in grid.tasks]
    times = grid.bins[conventions.time_column].to_numpy()
    planted = planted_times(grid, conventions)
    table = latencies.table
    peaks = table["peak_s"].where(table["resolved"]).to_numpy(dtype=float)
    thresholds = [course.threshold for course in latencies.courses] if grid.permutations else None
    errors = (
        np.stack([course.error for course in latencies.courses])
        if conventions.same_data
        else latencies.errors
    )
    curves = np.stack([course.curve for course in latencies.courses])
    pictures = [
        Picture(
            "time-courses",
            "Time courses",
            _describe_courses(latencies, conventions, grid),
            lambda: charts.draw_curves(
                times,
                curves,
                errors,
                names,
                thresholds,
                list(peaks),
                None if planted is None else list(planted),
                conventions.axis_label,
            ),
        )
    ]
    if np.isfinite(peaks).any():
        pictures.append(_ranking(latencies, names, peaks, planted, times, conventions))
    files = {"latencies.csv": table, "time-courses.csv": _long_curves(grid, latencies)}
    return Section("when", "When", (_describe_levels(latencies),), tuple(pictures), files=files)


def planted_times(grid: MapGrid, conventions: Conventions) -> np.ndarray | None:
    """Return the planted peaks on the axis that is shown; None where nothing was planted."""
    if "planted_peak_s" not in grid.data:
        return None
    shift = float((grid.bins["centre_s"] - grid.bins[conventions.time_column]).iloc[0])
    return np.asarray(grid.data["planted_peak_s"].values - shift, dtype=float)


def _ranking(
    latencies: Latencies,
    names: list[str],
    peaks: np.ndarray,
    planted: np.ndarray | None,
    times: np.ndarray,
    conventions: Conventions,
) -> Picture:
    order = latencies.order
    bounds = latencies.table[["peak_low_s", "peak_high_s"]].to_numpy(dtype=float)
    return Picture(
        "order",
        "Order of tasks" if len(names) > 1 else "Peak",
        f"{_describe_order(len(names), int(np.isfinite(peaks).sum()), conventions)} {conventions.caption}".strip(),
        lambda: charts.draw_ranking(
            [names[place] for place in order],
            peaks[order],
            bounds[order],
            latencies.before[np.ix_(order, order)],
            None if planted is None else [float(planted[place]) for place in order],
            (float(times[0]) - 0.1, float(times[-1]) + 0.1),
        ),
    )


def _describe_order(tasks: int, resolved: int, conventions: Conventions) -> str:
    """Return what the picture of peaks shows; with fewer than two of them there is no order, and no panel for it."""
    word = "starts of windows" if conventions.label_starts else "centres of windows"
    peaks = f"the peak of each time course with its 95 % interval ({word})"
    if tasks == 1:
        return f"The dot is the peak of the time course, with its 95 % interval ({word})."
    unresolved = (
        "A task whose curve does not rise above its mean more than the null does has no peak to order: it is listed as "
        "not resolved and left out."
    )
    if resolved == 1:
        return f"Dots: {peaks}. {unresolved} One task alone has a peak, so that there is no order."
    return (
        f"Left: {peaks}. Right: the probability that the row's peak comes before the column's, over draws that all "
        f"tasks share; equal peaks count half. {unresolved}"
    )


def _describe_courses(latencies: Latencies, conventions: Conventions, grid: MapGrid) -> str:
    counts = [course.rows["electrode"].nunique() for course in latencies.courses]
    count = str(min(counts)) if min(counts) == max(counts) else f"{min(counts)} to {max(counts)}"
    if any(course.same_data for course in latencies.courses):
        chosen = "chosen on the same data as shown, which lifts the curve even where there is nothing"
    else:
        chosen = "chosen on other sessions (or folds, where a subject has one session) than shown"
    said = f"Mean AUROC over the best {count} electrodes, {chosen}."
    band = (
        "standard error over electrodes and sessions" if conventions.same_data else "bootstrap standard error"
    )
    said += f" Band: {band}."
    if grid.permutations:
        said += (
            " Dashed: what the highest bin of the curve exceeds in 5 % of the draws of its null, in which "
            "electrodes are chosen anew; black squares below: bins above it. Orange dot: peak."
        )
    if "planted_peak_s" in grid.data:
        said += " Violet line: where the peak was planted."
    return f"{said} {conventions.caption}".strip()


def _describe_levels(latencies: Latencies) -> str:
    levels = " and ".join(filter(None, (", ".join(latencies.levels[:-1]), *latencies.levels[-1:])))
    said = f"Intervals come from drawing {levels} anew." if levels else "There is nothing to draw anew."
    if "subjects" not in latencies.levels:
        said += " There is one subject: intervals say nothing about other people, and are often only one bin wide."
    return (
        f"{said} An onset is the end of the first of two consecutive windows above the null: the feature can be "
        "decoded by then. A window reaches half its length beyond its centre, so that a first significant window lies "
        "before the response that it catches."
    )


def _long_curves(grid: MapGrid, latencies: Latencies) -> pd.DataFrame:
    tables = [
        grid.bins.assign(task=course.task, auroc=course.curve, error=error, threshold=course.threshold)
        for course, error in zip(latencies.courses, latencies.errors, strict=True)
    ]
    return pd.concat(tables, ignore_index=True)[
        ["task", "start_s", "centre_s", "end_s", "auroc", "error", "threshold"]
    ]
