"""What the map rests on: items of tasks in sessions, and how far subjects share regions."""

from __future__ import annotations

import functools
from collections.abc import Mapping

import numpy as np
import pandas as pd

from neuroarena.maps.grid import MapGrid
from neuroarena.maps.page.contents import ATLASES, Picture, Section, Table
from neuroarena.maps.pictures import charts
from neuroarena.maps.summaries import TOP_SHARE, rank_elsewhere, region_overlap, task_coverage


def data_section(grid: MapGrid, titles: Mapping[str, str]) -> Section:
    """Make the section on tasks, sessions and regions."""
    coverage = task_coverage(grid)
    most = float(np.nanmax(coverage.to_numpy())) if np.isfinite(coverage.to_numpy()).any() else 1.0
    pictures = [
        Picture(
            "coverage",
            "Items of tasks and sessions",
            "Items that were judged. White: the session has no items of the task, or was not asked for.",
            functools.partial(
                charts.draw_matrix,
                coverage.to_numpy(dtype=float),
                [titles.get(task, task) for task in grid.tasks],
                list(grid.sessions),
                "judged items",
                (0.0, max(most, 1.0)),
                "{:.0f}",
            ),
        )
    ]
    files = {"coverage.csv": coverage.rename_axis("task").reset_index()}
    for column in grid.region_columns:
        overlap = region_overlap(grid, column)
        if len(overlap) > 1 and np.isfinite(overlap.to_numpy()).any():
            short = column.removeprefix("region_")
            pictures.append(
                Picture(
                    f"overlap-{short}",
                    f"Regions that subjects share ({ATLASES.get(column, short)})",
                    "Regions with electrodes of both subjects, divided by regions with electrodes of either. A "
                    "decoder can only carry over where there is something to carry over to.",
                    functools.partial(
                        charts.draw_matrix,
                        overlap.to_numpy(dtype=float),
                        list(overlap.index),
                        list(overlap.columns),
                        "shared regions (share of all)",
                        (0.0, 1.0),
                    ),
                )
            )
            files[f"overlap-{short}.csv"] = overlap.rename_axis("subject").reset_index()
    subsets, tables = _choose_subsets(grid, titles)
    if len(subsets):
        files["subsets.csv"] = subsets
    return Section("data", "What it rests on", (), tuple(pictures), tables, files=files)


def _choose_subsets(grid: MapGrid, titles: Mapping[str, str]) -> tuple[pd.DataFrame, tuple[Table, ...]]:
    """Rank the electrodes of each session by the others of its subject, and say what the best are worth."""
    ranked = [rank_elsewhere(grid, task, session) for task in grid.tasks for session in grid.sessions]
    subsets = pd.concat(ranked, ignore_index=True)
    subsets = subsets[np.isfinite(subsets["here"].astype(float))]
    if subsets.empty:
        return subsets, ()
    sizes = subsets.groupby(["task", "session"])["place"].transform("size")
    best = subsets[subsets["place"] <= np.ceil(TOP_SHARE * sizes)].groupby("task")["here"].mean()
    every = subsets.groupby("task")["here"].mean()
    rows: list[tuple[str, ...]] = [
        (titles.get(task, task), f"{best[task]:.3f}", f"{every[task]:.3f}") for task in best.index
    ]
    table = Table(
        "Electrodes chosen on the other sessions of a subject, judged on the session that was not looked at: mean "
        "AUROC in the chosen window. Their order for every session is in tables/subsets.csv.",
        ("task", "best tenth", "all electrodes"),
        rows,
    )
    return subsets, (table,)
