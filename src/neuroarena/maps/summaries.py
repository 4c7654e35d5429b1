"""What is drawn of a grid: values of electrodes, bins and regions, and which of them are significant.

Everything that is chosen because it is high (a bin, the best electrodes of a region) is chosen on other data than
what is shown: on the other sessions of the subject, or on the other folds where there is one session. Chosen on the
same data, chance would look like a finding. The papers' own choices are there under ``as_published``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.maps.grid import MapGrid

LEVEL = 0.05
# Of a region's electrodes, the share that stands for it.
TOP_SHARE = 0.10


def average_sessions(grid: MapGrid, task: str, as_published: bool = False) -> np.ndarray:
    """Return the AUROC (electrodes, bins) of a task: the mean over sessions, or their maximum as published."""
    values = grid.data["auroc"].sel(task=task).values
    return _quietly(np.nanmax if as_published else np.nanmean, values)


def corrected_p(grid: MapGrid, task: str, name: str = "p_max") -> np.ndarray:
    """Return p values corrected over a subject's sessions: of several the smallest, times their number (Bonferroni).

    Parameters
    ----------
    grid : MapGrid
    task : str
    name : str
        ``p_max`` or ``p_cluster`` (electrodes, bins), or ``p_fdr`` (electrodes,).

    Returns
    -------
    array
        At most 1; NaN where there is no null.
    """
    p = grid.data[name].sel(task=task).values
    sessions = np.isfinite(p).sum(axis=0)
    smallest = _quietly(np.nanmin, p)
    return np.asarray(np.minimum(smallest * np.maximum(sessions, 1), 1.0))


def significant_cells(grid: MapGrid, task: str, level: float = LEVEL) -> np.ndarray:
    """Return which (electrodes, bins) are significant: bool, corrected over cells and over a subject's sessions."""
    return np.asarray(np.nan_to_num(corrected_p(grid, task), nan=1.0) <= level)


def significant_electrodes(grid: MapGrid, task: str, level: float = LEVEL) -> np.ndarray:
    """Return which electrodes have a significant bin."""
    return np.asarray(significant_cells(grid, task, level).any(axis=1))


def electrode_values(grid: MapGrid, task: str, as_published: bool = False) -> np.ndarray:
    """Return one AUROC per electrode.

    By default that of its best bin, the bin chosen on other data than the value shown; as published the mean over
    bins and sessions.
    """
    if as_published:
        return _quietly(np.nanmean, grid.data["auroc"].sel(task=task).values, (0, 2))
    parts = _independent_parts(grid, task)
    values = np.full(parts.shape[1], np.nan)
    for electrode in np.flatnonzero(np.isfinite(parts).all(axis=2).any(axis=0)):
        values[electrode] = _best_elsewhere(parts[:, [electrode]])[1]
    return values


def _independent_parts(grid: MapGrid, task: str) -> np.ndarray:
    """Return parts (parts, electrodes, bins): sessions, or the folds of electrodes that have one session."""
    sessions = grid.data["auroc"].sel(task=task).values
    folds = np.moveaxis(grid.data["fold_auroc"].sel(task=task).values, -1, 1)
    several = np.isfinite(sessions).all(axis=2).sum(axis=0) > 1
    by_fold = folds.reshape(-1, *folds.shape[2:]).copy()
    by_session = sessions.copy()
    by_fold[:, several] = np.nan
    by_session[:, ~several] = np.nan
    return np.concatenate([by_session, by_fold])


def region_table(grid: MapGrid, task: str, column: str, as_published: bool = False) -> pd.DataFrame:
    """Summarise a task by region.

    Parameters
    ----------
    grid : MapGrid
    task : str
    column : str
        One of the grid's region columns.
    as_published : bool
        Choose the best electrodes of a region, and its best bin, on the values that are shown.

    Returns
    -------
    DataFrame
        One row per region with electrodes that have a value, the highest first: region, subjects, electrodes,
        significant (electrodes), auroc (of its best tenth of electrodes, at least one, in their best bin).
    """
    electrodes = grid.electrodes
    found = significant_electrodes(grid, task)
    rows = []
    for region, (places, _, value) in _by_region(grid, task, column, as_published).items():
        subjects = electrodes["subject"].iloc[places].nunique()
        rows.append((region, subjects, len(places), int(found[places].sum()), value))
    columns = ["region", "subjects", "electrodes", "significant", "auroc"]
    table = pd.DataFrame(rows, columns=columns)
    return table.sort_values("auroc", ascending=False, ignore_index=True, kind="stable")


def region_bins(grid: MapGrid, task: str, column: str, as_published: bool = False) -> pd.DataFrame:
    """Return the AUROC of regions (rows) in time bins (columns): the mean over the best tenth of their electrodes."""
    found = _by_region(grid, task, column, as_published)
    courses = {region: course for region, (_, course, _) in found.items()}
    return pd.DataFrame.from_dict(courses, orient="index", columns=range(grid.data.sizes["bin"]))


def _by_region(
    grid: MapGrid, task: str, column: str, as_published: bool
) -> dict[str, tuple[np.ndarray, np.ndarray, float]]:
    """Return for every region its electrodes, its time course and its value."""
    mean = average_sessions(grid, task)
    parts = mean[np.newaxis] if as_published else _independent_parts(grid, task)
    usable = np.isfinite(mean).all(axis=1)
    members = _members(grid.electrodes[column], usable)
    return {region: (places, *_best_elsewhere(parts[:, places])) for region, places in members.items()}


def _best_elsewhere(parts: np.ndarray) -> tuple[np.ndarray, float]:
    """Choose the best tenth of electrodes and their best bin on all parts but one, and read them off that one.

    Parameters
    ----------
    parts : array (parts, electrodes, bins)
        Sessions or folds; NaN where a part has no value of an electrode.

    Returns
    -------
    course : array (bins,)
        Mean over the chosen electrodes, averaged over parts.
    value : float
        The same in the chosen bins. With one part alone, chosen and shown are the same.
    """
    count = max(1, int(np.ceil(TOP_SHARE * parts.shape[1])))
    known = np.isfinite(parts).all(axis=2)
    courses, values = [], []
    for number in np.flatnonzero(known.any(axis=1)):
        here = np.flatnonzero(known[number])
        others = parts[:, here].copy()
        # An electrode that only this part knows can only be chosen on it.
        others[number, known[:, here].sum(axis=0) > 1] = np.nan
        elsewhere = _quietly(np.nanmean, others)
        chosen = np.argsort(-elsewhere.mean(axis=1), kind="stable")[:count]
        courses.append(parts[number, here[chosen]].mean(axis=0))
        values.append(courses[-1][np.argmax(elsewhere[chosen].mean(axis=0))])
    return np.mean(courses, axis=0), float(np.mean(values))


def _members(regions: pd.Series, usable: np.ndarray) -> dict[str, np.ndarray]:
    """Return the places of the usable electrodes of each region; those without a region are left out."""
    names = regions.astype(str).to_numpy()
    usable = usable & (names != "")
    return {str(name): np.flatnonzero(usable & (names == name)) for name in sorted(set(names[usable]))}


def choose_subset(grid: MapGrid, task: str, session: str, count: int) -> list[str]:
    """Choose the electrodes to decode a session from, on the other sessions of its subject alone.

    Parameters
    ----------
    grid : MapGrid
    task : str
    session : str
        The session that will be judged; its values are not looked at.
    count : int
        Electrodes to keep.

    Returns
    -------
    list of str
        Ids, the best first: by the highest bin of the mean over the other sessions.

    Raises
    ------
    InputError
        When the subject has no other session with the task: electrodes chosen on the judged one would flatter it.
    """
    ranked = rank_elsewhere(grid, task, session)
    if ranked.empty:
        raise InputError(
            f"{session}: its subject has no other session of {task} to choose electrodes on. Chosen on the "
            "session that is judged they would flatter it; compute a map of another session first."
        )
    return ranked["electrode"].head(count).tolist()


def rank_elsewhere(grid: MapGrid, task: str, session: str) -> pd.DataFrame:
    """Rank electrodes of a session by the other sessions of its subject.

    Returns
    -------
    DataFrame
        task, session, place (1 is the best), electrode, elsewhere (highest bin of the mean over the other sessions),
        here (the same bin in this session, which was not looked at). Empty where there is no other session.
    """
    rows = grid.electrodes_of(session)
    values = grid.data["auroc"].sel(task=task)
    others = values.drop_sel(session=session).values[:, rows]
    mean = _quietly(np.nanmean, others) if len(others) else np.full((len(rows), 1), np.nan)
    known = np.flatnonzero(np.isfinite(mean).all(axis=1))
    best = known[np.argsort(-mean[known].max(axis=1), kind="stable")]
    here = values.sel(session=session).values[rows[best]]
    return pd.DataFrame(
        {
            "task": task,
            "session": session,
            "place": np.arange(1, len(best) + 1),
            "electrode": grid.data["electrode"].values[rows[best]].astype(str),
            "elsewhere": mean[best].max(axis=1),
            "here": here[np.arange(len(best)), mean[best].argmax(axis=1)] if len(best) else [],
        }
    )


def task_coverage(grid: MapGrid) -> pd.DataFrame:
    """Return the judged items of every task (rows) in every session (columns); NaN where there is no map."""
    return pd.DataFrame(grid.data["n_test"].values, index=grid.tasks, columns=grid.sessions)


def region_overlap(grid: MapGrid, column: str) -> pd.DataFrame:
    """Return the overlap of the regions of any two subjects: shared regions over all regions of the two.

    The papers call it the intersection over union, and compare it with how well a decoder carries over.
    """
    table = grid.electrodes
    names = table[column].astype(str)
    subjects = list(dict.fromkeys(table["subject"]))
    sets = {subject: set(names[(table["subject"] == subject) & (names != "")]) for subject in subjects}
    shares = [[_share(sets[one], sets[two]) for two in subjects] for one in subjects]
    return pd.DataFrame(shares, index=subjects, columns=subjects)


def _share(one: set[str], two: set[str]) -> float:
    return len(one & two) / len(one | two) if one | two else float("nan")


def _quietly(
    reduce: Callable[..., np.ndarray], values: np.ndarray, axis: int | tuple[int, ...] = 0
) -> np.ndarray:
    """Reduce over values of which some slices are NaN throughout, without a warning for those."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return np.asarray(reduce(values, axis=axis))
