"""Pictures of where: each task on the cortex, in glass, by region, on the scalp or in a person's own space."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pandas as pd

from neuroarena.maps.conventions import Conventions
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.page.contents import ATLASES, Picture, Section
from neuroarena.maps.page.findings import describe_significance, electrode_table
from neuroarena.maps.page.places import Places
from neuroarena.maps.pictures import brains, flat, glass, regions
from neuroarena.maps.pictures.scale import Scale
from neuroarena.maps.summaries import (
    average_sessions,
    electrode_values,
    region_bins,
    region_table,
    significant_cells,
    significant_electrodes,
)


@dataclass(frozen=True, eq=False)
class TaskMap:
    """The numbers of one task that are drawn: by electrode, by electrode and bin, and by region."""

    task: str
    values: np.ndarray
    films: np.ndarray
    marks: np.ndarray
    cells: np.ndarray
    by_region: dict[str, pd.DataFrame]
    by_region_bin: dict[str, pd.DataFrame]


def read_task(grid: MapGrid, task: str, conventions: Conventions) -> TaskMap:
    """Work out what is drawn of a task."""
    same = conventions.same_data
    columns = [column for column in grid.region_columns if (grid.electrodes[column].astype(str) != "").any()]
    return TaskMap(
        task,
        electrode_values(grid, task, same),
        average_sessions(grid, task, same),
        significant_electrodes(grid, task),
        significant_cells(grid, task),
        {column: region_table(grid, task, column, same) for column in columns},
        {column: region_bins(grid, task, column, same) for column in columns},
    )


@dataclass(frozen=True)
class Scales:
    """One scale for each kind of picture, the same for all tasks, so that tasks can be compared."""

    electrodes: Scale
    films: Scale
    regions: Scale

    @classmethod
    def fit(cls, maps: list[TaskMap], conventions: Conventions) -> Scales:
        """Choose scales that hold the values of all tasks."""
        logarithmic = conventions.logarithmic
        of_regions = [table["auroc"].to_numpy() for each in maps for table in each.by_region.values()]
        of_regions += [table.to_numpy().ravel() for each in maps for table in each.by_region_bin.values()]
        return cls(
            Scale.fit(np.concatenate([each.values for each in maps]), logarithmic=logarithmic),
            Scale.fit(np.concatenate([each.films.ravel() for each in maps]), logarithmic=logarithmic),
            Scale.fit(np.concatenate([*of_regions, [0.5]]), logarithmic=logarithmic),
        )


def task_section(
    grid: MapGrid,
    shown: TaskMap,
    number: int,
    title: str,
    found: pd.DataFrame,
    places: Places,
    scales: Scales,
    conventions: Conventions,
) -> Section:
    """Make the section of one task: where, and when and where."""
    stem = f"task{number + 1:02d}"
    times = [f"{time:.3f} s" for time in grid.bins[conventions.time_column]]
    tested = describe_significance(grid)
    pictures = [
        *_template_pictures(shown, stem, title, places, scales, times, conventions, tested),
        *_own_pictures(shown, stem, title, places, scales, conventions, tested),
        *_scalp_pictures(grid, shown, stem, title, places, scales, times, conventions),
        *_region_pictures(grid, shown, stem, title, scales, conventions),
    ]
    count = int(found["significant"].sum())
    text = (
        f"{count} of {len(found)} electrodes are {tested}."
        if tested
        else "The map has no null: nothing can be called significant."
    )
    return Section(
        f"task-{number + 1}",
        title,
        (text,),
        tuple(pictures),
        (electrode_table(found, title),) if count else (),
        folded=count == 0,
    )


def _describe_values(conventions: Conventions) -> str:
    if conventions.same_data:
        return f"AUROC of each electrode, mean over bins and sessions. {conventions.caption}"
    return (
        "AUROC of each electrode in its best bin; the bin was chosen on other sessions (or folds) than the value "
        "shown."
    )


def _template_pictures(
    shown: TaskMap,
    stem: str,
    title: str,
    places: Places,
    scales: Scales,
    times: list[str],
    conventions: Conventions,
    tested: str,
) -> list[Picture]:
    if not places.in_template.any():
        return []
    ring = f" A black ring marks electrodes that are {tested}." if tested else ""
    larger = f" Larger dots are {tested}." if tested else ""
    marks, cells = (shown.marks, shown.cells) if tested else (None, None)
    word = "Each panel shows one window, named by its " + ("start" if conventions.label_starts else "centre")
    over = "the maximum over sessions" if conventions.same_data else "the mean over sessions"
    return [
        Picture(
            f"{stem}-cortex",
            f"{title}: on the cortex",
            f"{_describe_values(conventions)}{ring} The surface is fsaverage; depth contacts are drawn where they "
            "are near it, as written above each panel.",
            functools.partial(brains.draw_brain, places.mni305, shown.values, scales.electrodes, marks),
        ),
        Picture(
            f"{stem}-glass",
            f"{title}: in a glass brain",
            f"{_describe_values(conventions)}{larger} All depths are shown, in MNI152.",
            functools.partial(glass.draw_glass, places.mni152, shown.values, scales.electrodes, marks),
        ),
        Picture(
            f"{stem}-film",
            f"{title}: window by window",
            f"{word}; AUROC is {over}, and all panels share one scale.{ring}"
            + (f" {conventions.caption}" if conventions.caption else ""),
            functools.partial(brains.draw_film, places.mni305, shown.films, times, scales.films, cells),
        ),
    ]


def _own_pictures(
    shown: TaskMap,
    stem: str,
    title: str,
    places: Places,
    scales: Scales,
    conventions: Conventions,
    tested: str,
) -> list[Picture]:
    made = []
    ring = f" A black ring marks electrodes that are {tested}." if tested else ""
    for kind, groups, draw in (
        ("own", places.own, flat.draw_subject_space),
        ("flat", places.flat, flat.draw_flat),
    ):
        for number, (subject, rows) in enumerate(groups.items()):
            where = (
                "in the person's own space, in millimetres" if kind == "own" else "as positions on a picture"
            )
            made.append(
                Picture(
                    f"{stem}-{kind}{number + 1}",
                    f"{title}: {subject}",
                    f"{_describe_values(conventions)} Electrodes of {subject} {where}; there is no template, so that "
                    f"no region is named.{ring}",
                    functools.partial(
                        draw,
                        places.xyz[rows],
                        shown.values[rows],
                        scales.electrodes,
                        shown.marks[rows] if tested else None,
                    ),
                )
            )
    return made


def _scalp_pictures(
    grid: MapGrid,
    shown: TaskMap,
    stem: str,
    title: str,
    places: Places,
    scales: Scales,
    times: list[str],
    conventions: Conventions,
) -> list[Picture]:
    rows = places.scalp
    if not len(rows):
        return []
    names = grid.electrodes["name"].astype(str).to_numpy()[rows]
    groups = [rows[names == name] for name in dict.fromkeys(names)]
    xyz = np.stack([places.xyz[group].mean(axis=0) for group in groups])
    values = np.stack([np.nanmean(shown.films[group], axis=0) for group in groups])
    marks = np.stack([shown.cells[group].any(axis=0) for group in groups]) if grid.permutations else None
    people = grid.electrodes["subject"].iloc[rows].nunique()
    over = f", the mean over {people} subjects" if people > 1 else ""
    word = "start" if conventions.label_starts else "centre"
    white = f" White dots are {describe_significance(grid)}." if grid.permutations else ""
    return [
        Picture(
            f"{stem}-scalp",
            f"{title}: on the scalp",
            f"AUROC of each channel{over}, interpolated between electrodes; one head per window, named by its "
            f"{word}, all on one scale.{white} A topography shows where the signal is seen, "
            "not where it comes from.",
            functools.partial(flat.draw_topographies, xyz, values, times, scales.films, marks),
        )
    ]


def _region_pictures(
    grid: MapGrid, shown: TaskMap, stem: str, title: str, scales: Scales, conventions: Conventions
) -> list[Picture]:
    made = []
    chosen = "on the same data" if conventions.same_data else "on other sessions (or folds) than shown"
    white = (
        f" A white dot: the region has an electrode that is {describe_significance(grid)}, in that window."
        if grid.permutations
        else ""
    )
    for column, table in shown.by_region.items():
        atlas = ATLASES.get(column, column)
        short = column.removeprefix("region_")
        rule = f"A region stands for the best tenth of its electrodes (at least one), chosen {chosen}."
        on_cortex = dict(zip(table["region"].astype(str), table["auroc"], strict=True))
        if any(regions.polygon_name(region) for region in on_cortex) and column != "region_destrieux":
            made.append(
                Picture(
                    f"{stem}-regions-{short}",
                    f"{title}: by region ({atlas})",
                    f"{rule} Its value is that of its best bin. Regions with few electrodes are uncertain; those of "
                    "the underside, such as the fusiform gyrus, are slivers in these views: see the next picture.",
                    functools.partial(regions.draw_regions, on_cortex, scales.regions),
                )
            )
        bins = shown.by_region_bin[column].loc[list(table["region"])]
        names = grid.electrodes[column].astype(str).to_numpy()
        marks = np.stack([shown.cells[names == region].any(axis=0) for region in table["region"]])
        made.append(
            Picture(
                f"{stem}-bins-{short}",
                f"{title}: regions over time ({atlas})",
                f"{rule} The number of electrodes is beside the name.{white}",
                functools.partial(
                    regions.draw_region_bins,
                    bins.to_numpy(),
                    [str(region) for region in table["region"]],
                    [int(count) for count in table["electrodes"]],
                    bin_edges(grid, conventions),
                    scales.regions,
                    marks if grid.permutations else None,
                    conventions.axis_label,
                ),
            )
        )
    return made


def bin_edges(grid: MapGrid, conventions: Conventions) -> list[float]:
    """Return edges between the times of bins, and half a stride beyond the ends."""
    times = grid.bins[conventions.time_column].to_numpy(dtype=float)
    half = float(np.diff(times).mean()) / 2 if len(times) > 1 else 0.125
    return [*(times - half).tolist(), float(times[-1]) + half]


def region_files(maps: list[TaskMap]) -> dict[str, pd.DataFrame]:
    """Return one table per atlas: task, region, subjects, electrodes, significant, auroc."""
    columns = dict.fromkeys(column for each in maps for column in each.by_region)
    return {
        f"regions-{column.removeprefix('region_')}.csv": pd.concat(
            [each.by_region[column].assign(task=each.task) for each in maps if column in each.by_region],
            ignore_index=True,
        )
        for column in columns
    }
