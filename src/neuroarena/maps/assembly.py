"""Put the maps of single tasks and sessions together to one grid, with what their nulls say."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from neuroarena.errors import InputError
from neuroarena.maps.grid import BIN_COLUMNS, ELECTRODE_COLUMNS, SCHEMA_VERSION, VARIABLES, MapGrid
from neuroarena.maps.inference import infer


@dataclass(frozen=True)
class GridPart:
    """The map of one task in one session.

    Attributes
    ----------
    task, session, subject : str
    observed : array (folds, electrodes, bins)
        AUROC of each fold; the electrodes are those of the subject, in the order of the table.
    null : array (draws, folds, electrodes, bins), or what becomes one
        The same for each draw; no draws for a map without a null. Something with a length and ``__array__`` is read
        when it is needed, so that the nulls of a large map are never in memory together.
    n_test : int
        Items that were judged.
    label_tau : float
        Correlation time of the labels, in items.
    tested : array (folds, electrodes, bins), optional
        AUROC by the decoder of the null, which p values compare with it; by default what was observed. Both are NaN
        for electrodes that the session lacks.
    """

    task: str
    session: str
    subject: str
    observed: np.ndarray
    null: Any
    n_test: int
    label_tau: float = float("nan")
    tested: np.ndarray | None = None


def make_grid(
    parts: Sequence[GridPart],
    electrodes: pd.DataFrame,
    bins: pd.DataFrame,
    *,
    split: str,
    simulated: bool,
    provenance: Mapping[str, Any],
    notes: Sequence[str] = (),
) -> MapGrid:
    """Make a grid of the maps of single tasks and sessions.

    Parameters
    ----------
    parts : sequence of GridPart
        In the order in which tasks and sessions appear; the number of draws is the same in all.
    electrodes : DataFrame
        Columns name, subject, x, y, z, space and any ``region...``; one row per electrode of each subject.
    bins : DataFrame
        Columns start_s, centre_s, end_s.
    split : str
    simulated : bool
    provenance : mapping
        Plain data, kept as JSON.
    notes : sequence of str

    Raises
    ------
    InputError
        When there are no parts, when a part does not fit the tables, or when two electrodes have one id.
    """
    if not parts:
        raise InputError("There is nothing to make a map of: no task has a session that could be decoded.")
    ids = electrodes["subject"].astype(str) + "/" + electrodes["name"].astype(str)
    if ids.duplicated().any():
        raise InputError(f'Two electrodes of a map are called "{ids[ids.duplicated()].iloc[0]}".')
    tasks = list(dict.fromkeys(part.task for part in parts))
    sessions = {part.session: part.subject for part in parts}
    n_folds = max(len(part.observed) for part in parts)
    n_draws = len(parts[0].null)
    sizes = {
        "task": len(tasks),
        "session": len(sessions),
        "electrode": len(ids),
        "bin": len(bins),
        "fold": n_folds,
        "draw": n_draws,
    }
    values = _make_arrays(sizes)
    for part in parts:
        rows = np.flatnonzero(electrodes["subject"].astype(str) == part.subject)
        if part.observed.shape[1:] != (len(rows), len(bins)) or len(part.null) != n_draws:
            raise InputError(
                f"The map of {part.task} in session {part.session} has the shape {part.observed.shape[1:]} and "
                f"{len(part.null)} draws; expected {(len(rows), len(bins))} and {n_draws}."
            )
        _fill(values, part, tasks.index(part.task), list(sessions).index(part.session), rows)
    coords = _coordinates(tasks, sessions, ids, electrodes, bins)
    told = {"schema_version": SCHEMA_VERSION, "split": split, "simulated": int(simulated)}
    texts = {"provenance": json.dumps(dict(provenance), sort_keys=True), "notes": json.dumps(list(notes))}
    data = xr.Dataset(
        {name: (VARIABLES[name], array) for name, array in values.items()},
        coords=coords,
        attrs={**told, **texts},
    )
    nulls = {(part.task, part.session): part.null for part in parts if n_draws}
    return MapGrid(data, nulls)


def _make_arrays(sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    return {
        name: np.full([sizes[dim] for dim in dims], np.nan, dtype=np.float64 if "p_" in name else np.float32)
        for name, dims in VARIABLES.items()
    }


def _fill(values: dict[str, np.ndarray], part: GridPart, task: int, session: int, rows: np.ndarray) -> None:
    place = (task, session)
    observed = part.observed.mean(axis=0)
    values["auroc"][(*place, rows)] = observed
    values["fold_auroc"][(*place, rows, slice(None), slice(len(part.observed)))] = np.moveaxis(
        part.observed, 0, -1
    )
    values["n_test"][place], values["label_tau"][place] = part.n_test, part.label_tau
    if not len(part.null):
        return
    tested = observed if part.tested is None else part.tested.mean(axis=0)
    known = np.isfinite(tested).all(axis=1)
    null = np.asarray(part.null, dtype=np.float32).mean(axis=1)[:, known]
    found = infer(tested[known], null)
    for name in ("null_mean", "null_sd", "null_q95", "p_max", "p_fdr", "p_cluster"):
        values[name][(*place, rows[known])] = getattr(found, name)
    values["null_max"][place] = found.null_max


def _coordinates(
    tasks: list[str],
    sessions: Mapping[str, str],
    ids: pd.Series,
    electrodes: pd.DataFrame,
    bins: pd.DataFrame,
) -> dict[str, Any]:
    regions = [column for column in electrodes if str(column).startswith("region")]
    of_electrodes = {
        str(column): ("electrode", electrodes[column].to_numpy()) for column in [*ELECTRODE_COLUMNS, *regions]
    }
    of_bins = {column: ("bin", bins[column].to_numpy()) for column in BIN_COLUMNS}
    return {
        "task": np.array(tasks, dtype=object),
        "session": np.array(list(sessions), dtype=object),
        "session_subject": ("session", np.array(list(sessions.values()), dtype=object)),
        "electrode": ids.to_numpy(dtype=object),
        **of_electrodes,
        **of_bins,
    }
