"""What is significant: one row per task, and one per electrode, for the page and the files beside it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from neuroarena.maps.conventions import Conventions
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.latency import Latencies
from neuroarena.maps.page.contents import Table
from neuroarena.maps.summaries import LEVEL, average_sessions, corrected_p, electrode_values

_SHOWN = 10
NOTHING = "-"


def electrode_findings(grid: MapGrid, task: str, conventions: Conventions) -> pd.DataFrame:
    """Return one row per electrode with a value, the most certain first.

    Returns
    -------
    DataFrame
        task, electrode, name, subject, the columns of regions, auroc (of its best bin, chosen on other data; as
        published the mean over bins), best_start_s, best_centre_s and best_end_s (of the bin with the smallest p), p
        (corrected over electrodes, bins and sessions), p_fdr, significant.
    """
    table = grid.electrodes.reset_index()
    values = electrode_values(grid, task, conventions.same_data)
    p = corrected_p(grid, task)
    fdr = corrected_p(grid, task, "p_fdr")
    # Of windows with the same p, which is bounded by the number of draws, the one with the highest mean.
    height = np.nan_to_num(average_sessions(grid, task), nan=-1.0)
    smallest = np.nan_to_num(p, nan=2.0)
    tied = smallest == smallest.min(axis=1, keepdims=True)
    certain = np.where(np.isfinite(p).any(axis=1), np.where(tied, height, -2.0).argmax(axis=1), -1)
    bins = grid.bins.iloc[np.maximum(certain, 0)].reset_index(drop=True)
    found = table[["electrode", "name", "subject", *grid.region_columns]].copy()
    found.insert(0, "task", task)
    found["auroc"] = values
    for column in bins:
        found[f"best_{column}"] = bins[column].where(certain >= 0)
    found["p"] = p[np.arange(len(p)), np.maximum(certain, 0)]
    found["p_fdr"] = fdr
    found["significant"] = found["p"] <= LEVEL
    known: pd.DataFrame = found.loc[np.isfinite(values)]
    return known.sort_values(["p", "auroc"], ascending=[True, False], ignore_index=True)


def describe_significance(grid: MapGrid) -> str:
    """Return what "significant" means in a caption, with level, null and correction; "" for a map without a null.

    Examples
    --------
    >>> from neuroarena.maps import simulate_grid
    >>> describe_significance(simulate_grid(0, permutations=19))[:68]
    'significant (p at most 0.05 against 19 circular shifts of the labels'
    """
    if not grid.permutations:
        return ""
    return (
        f"significant (p at most {LEVEL:g} against {grid.permutations:,} circular shifts of the labels, corrected over "
        "electrodes, windows and sessions)"
    )


def planted_counts(grid: MapGrid, task: str, found: pd.DataFrame) -> str:
    """Return how many planted electrodes are among the significant ones; "" where nothing is known to be planted."""
    if "planted" not in grid.data:
        return ""
    planted = set(grid.data["electrode"].values[grid.data["planted"].sel(task=task).values.astype(bool)])
    marked = set(found.loc[found["significant"], "electrode"])
    return f"{len(planted & marked)} of {len(planted)} planted, {len(marked - planted)} others"


def summary_table(
    grid: MapGrid,
    latencies: Latencies,
    findings: Mapping[str, pd.DataFrame],
    titles: Mapping[str, str],
) -> Table:
    """Summarise the map: one row per task."""
    header = ["task", "electrodes significant", "with FDR", "most certain electrode", "peak, s", "onset"]
    planted = "planted" in grid.data
    header += ["planted peak, s", "planted electrodes found"] if planted else []
    rows = []
    for place, task in enumerate(grid.tasks):
        found = findings[task]
        row = [
            titles.get(task, task),
            f"{int(found['significant'].sum())} of {len(found)}",
            str(int((found["p_fdr"] <= LEVEL).sum())),
            _describe_electrode(found),
            describe_peak(latencies.table.iloc[place]),
            describe_onset(latencies.table.iloc[place]),
        ]
        if planted:
            peak = float(grid.data["planted_peak_s"].sel(task=task))
            row += [f"{peak:.3f}" if np.isfinite(peak) else NOTHING, planted_counts(grid, task, found)]
        rows.append(tuple(row))
    caption = (
        "Significant: p at most 0.05, corrected over electrodes, bins and the sessions of a subject "
        "(maximum statistic). FDR: electrodes whose false discovery rate is at most 0.05. Peak with its 95 % interval. "
        f"The null is made of {grid.permutations:,} circular shifts of the labels."
        if grid.permutations
        else "The map has no null: nothing was tested."
    )
    return Table(caption, tuple(header), rows)


def _describe_electrode(found: pd.DataFrame) -> str:
    if found.empty or not found["significant"].iloc[0]:
        return NOTHING
    first = found.iloc[0]
    regions = [str(first[name]) for name in map(str, found.columns) if name.startswith("region")]
    region = next((each for each in regions if each), "")
    where = f", {region}" if region else ""
    when = f"{first['best_start_s']:.3f} to {first['best_end_s']:.3f} s"
    return f"{first['name']} of {first['subject']}{where}: AUROC {first['auroc']:.3f}, {when}, p = {first['p']:.4f}"


def describe_peak(row: pd.Series) -> str:
    """Return a peak with its interval, or why there is none.

    Examples
    --------
    >>> describe_peak(pd.Series({"peak_p": 0.4, "resolved": False}))
    'not resolved (p = 0.40)'
    """
    if not np.isfinite(row["peak_p"]):
        return "not tested (no null)"
    if not row["resolved"]:
        return f"not resolved (p = {row['peak_p']:.2f})"
    return f"{row['peak_s']:.3f} [{row['peak_low_s']:.3f}, {row['peak_high_s']:.3f}]"


def describe_onset(row: pd.Series) -> str:
    """Return by when a feature can be decoded.

    Examples
    --------
    >>> describe_onset(pd.Series({"onset_s": 0.125, "onset_low_s": 0.0, "onset_high_s": 0.25, "onset_share": 1.0}))
    'by 0.125 s [0.000, 0.250]'
    """
    if not np.isfinite(row["onset_s"]):
        return NOTHING
    rare = "" if row["onset_share"] >= 0.95 else f", in {row['onset_share']:.0%} of the draws"
    return f"by {row['onset_s']:.3f} s [{row['onset_low_s']:.3f}, {row['onset_high_s']:.3f}]{rare}"


def electrode_table(found: pd.DataFrame, title: str) -> Table:
    """Return the most certain significant electrodes of a task as a table of the page."""
    regions = [str(column) for column in found if str(column).startswith("region")]
    marked = found[found["significant"]]
    rows = [
        (
            str(row["name"]),
            str(row["subject"]),
            *(str(row[column]) or NOTHING for column in regions),
            f"{row['auroc']:.3f}",
            f"{row['best_start_s']:.3f} to {row['best_end_s']:.3f} s",
            f"{row['p']:.4f}",
        )
        for _, row in marked.head(_SHOWN).iterrows()
    ]
    more = (
        f" The first {_SHOWN} of {len(marked)}; all are in tables/electrodes.csv."
        if len(marked) > _SHOWN
        else ""
    )
    header = ("electrode", "subject", *regions, "AUROC", "most certain window", "p, corrected")
    return Table(f"Significant electrodes of {title}.{more}", header, rows)
