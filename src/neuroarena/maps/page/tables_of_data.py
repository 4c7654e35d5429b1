"""What the map rests on: items of tasks in sessions, and how far subjects share regions."""

from __future__ import annotations

import functools

import numpy as np

from neuroarena.maps.grid import MapGrid
from neuroarena.maps.page.contents import ATLASES, Picture, Section
from neuroarena.maps.pictures import charts
from neuroarena.maps.summaries import region_overlap, task_coverage


def data_section(grid: MapGrid) -> Section:
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
                list(grid.tasks),
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
    return Section("data", "What it rests on", (), tuple(pictures), files=files)
