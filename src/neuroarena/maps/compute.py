"""Compute a map: plan it, run what the cache lacks on any engine, and put the grid together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena import __version__
from neuroarena.benchmarks import Benchmark
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.engines import Engine, Local, Outcome, run_jobs
from neuroarena.evaluation.evaluate import Interrupted, working_in
from neuroarena.evaluation.identity import library_versions
from neuroarena.evaluation.shards import Shard
from neuroarena.maps.assembly import GridPart, make_grid
from neuroarena.maps.grid import MapGrid
from neuroarena.maps.job import STEPS, JobResult, MapJob, entry_of, read_result
from neuroarena.maps.placement import electrode_table, place_recording
from neuroarena.maps.plan import BenchmarkPlan, Planner, SessionPlan, name_tasks
from neuroarena.maps.settings import DRAWS_FOR_FIGURES, FamilyMaps, MapSettings
from neuroarena.progress import Progress
from neuroarena.sealed import SealedFolder

# How often a product is made again that was written and could not be read back.
_ROUNDS = 3


def compute_map(
    benchmarks: Sequence[Benchmark],
    split: str | None = None,
    settings: MapSettings | None = None,
    *,
    family: FamilyMaps | None = None,
    data: str | None = None,
    cache: str | Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> MapGrid:
    """Compute when and where the tasks of some benchmarks can be decoded.

    Parameters
    ----------
    benchmarks : sequence of Benchmark
        Tasks of one family, or a single one.
    split : str, optional
        By default the first of each.
    settings : MapSettings, optional
        Time bins, features and draws of the null.
    family : FamilyMaps, optional
        The face `maps` of the family: its published bins and the places of its electrodes.
    data : str, optional
        Folder of the dataset, for the places of electrodes.
    cache : path, optional
        Folder of the cache, by default that of all runs. What is there already is not computed again.
    engine : Engine, optional
        Where it is computed; by default in this process.
    progress : Progress, optional

    Returns
    -------
    MapGrid

    Raises
    ------
    InputError
        When a benchmark has no windows with electrodes, or a session nothing to decode.
    Interrupted
        After Ctrl-C; what was computed is kept.
    NeuroarenaError
        When electrodes could not be decoded, with the first reason.
    """
    told = family or FamilyMaps()
    chosen = (settings or MapSettings()).filled(told.published)
    with working_in(cache, progress) as (folder, shown):
        planners, plans = _plan(benchmarks, split, chosen, told)
        sessions = [session for plan in plans for session in plan.sessions]
        electrodes = _place_electrodes(sessions, told, data)
        folder.mkdir(parents=True, exist_ok=True)
        _run(_list_jobs(plans), folder, engine or Local(), shown)
        return make_grid(
            [part for session in sessions for part in _read_parts(session, electrodes, folder)],
            electrodes,
            planners[-1].axis.table,
            split=planners[-1].split.name,
            simulated=any(each.simulated for each in benchmarks),
            provenance=_provenance(planners, chosen),
            notes=_notes(benchmarks, plans, chosen),
        )


@dataclass(frozen=True)
class MapShare:
    """What a share of a map held: its pieces (a few electrodes of a session each), and those of the whole map."""

    pieces: int
    planned: int


def compute_map_share(
    benchmarks: Sequence[Benchmark],
    split: str | None = None,
    settings: MapSettings | None = None,
    *,
    shard: Shard,
    family: FamilyMaps | None = None,
    cache: str | Path | None = None,
    engine: Engine | None = None,
    progress: Progress | None = None,
) -> MapShare:
    """Compute one share of the pieces of a map and leave them in the cache; nothing else is written.

    When every share is done, :func:`compute_map` with the same arguments finds all of them. Parameters, and what is
    raised, are those of :func:`compute_map`.
    """
    told = family or FamilyMaps()
    chosen = (settings or MapSettings()).filled(told.published)
    with working_in(cache, progress) as (folder, shown):
        jobs = _list_jobs(_plan(benchmarks, split, chosen, told)[1])
        own = shard.take(jobs)
        folder.mkdir(parents=True, exist_ok=True)
        _run(own, folder, engine or Local(), shown)
        return MapShare(len(own), len(jobs))


def _plan(
    benchmarks: Sequence[Benchmark], split: str | None, settings: MapSettings, family: FamilyMaps
) -> tuple[list[Planner], list[BenchmarkPlan]]:
    planners = [
        Planner(each, each.split(split or each.splits[0]), settings, family.begin_s(each), name)
        for name, each in name_tasks(benchmarks).items()
    ]
    return planners, [planner.plan() for planner in planners]


def _list_jobs(plans: Sequence[BenchmarkPlan]) -> list[MapJob]:
    """Return the jobs of all sessions; each once, also where tasks share it."""
    jobs = [job for plan in plans for session in plan.sessions for job in session.jobs]
    return list({job.key: job for job in jobs}.values())


def _provenance(planners: Sequence[Planner], settings: MapSettings) -> dict[str, Any]:
    """Return what the map is made of, as plain data."""
    axis = planners[-1].axis
    return {
        "made_by": f"neuroarena {__version__}",
        "benchmarks": [each.benchmark.name for each in planners],
        "split_hashes": {each.name: each.split.hash for each in planners},
        "options": {each.name: dict(each.benchmark.options) for each in planners},
        "features": axis.features.kind,
        "window_s": axis.features.n_samples / axis.features.rate_hz,
        "stride_s": _stride(axis.table),
        "seed": settings.seed,
        "null": "circular shifts of labels within folds, every shift allowed",
        "versions": library_versions(),
    }


def _stride(bins: pd.DataFrame) -> float | None:
    return float(bins["start_s"].diff().iloc[1]) if len(bins) > 1 else None


def _notes(
    benchmarks: Sequence[Benchmark], plans: Sequence[BenchmarkPlan], settings: MapSettings
) -> list[str]:
    notes = [note for each in benchmarks for note in each.notes]
    notes += [note for plan in plans for note in plan.notes]
    if 0 < settings.draws < DRAWS_FOR_FIGURES:
        notes.append(
            f"The null has {settings.draws} draws: no p value is below {1 / (settings.draws + 1):.2g}, and those near "
            f"0.05 are rough. Figures need --null {DRAWS_FOR_FIGURES}."
        )
    return list(dict.fromkeys(notes))


def _place_electrodes(sessions: Sequence[SessionPlan], family: FamilyMaps, data: str | None) -> pd.DataFrame:
    """Make the table of all electrodes: those of each subject, in the order of its sessions."""
    if not sessions:
        raise InputError("There is nothing to make a map of: no task has a session that could be decoded.")
    tables = []
    for subject in dict.fromkeys(each.subject for each in sessions):
        own = [each for each in sessions if each.subject == subject]
        names = list(dict.fromkeys(name for each in own for name in each.electrodes))
        if family.locate is not None:
            tables.append(family.locate(data, subject, names).assign(subject=subject))
            continue
        recording = own[0].jobs[0].sources[-1].recording
        for each in own:
            for source in each.jobs[0].sources:
                if set(names) <= set(source.recording.channels["name"]):
                    recording = source.recording
        view = recording.select([name for name in names if name in set(recording.channels["name"])])
        # Tables of positions lie beside a file, where the recording is one.
        placement = place_recording(view, getattr(recording._source, "path", None))
        table = electrode_table(view.channels["name"].tolist(), subject, placement)
        regions = view.channels["region"].fillna("").astype(str)
        tables.append(table.assign(region=regions.to_numpy()) if (regions != "").any() else table)
    placed = pd.concat(tables, ignore_index=True)
    for column in placed.columns[placed.columns.str.startswith("region")]:
        placed[column] = placed[column].fillna("")
    return placed


def _run(jobs: Sequence[MapJob], cache: Path, engine: Engine, progress: Progress) -> None:
    """Run the jobs that the cache lacks."""
    folder = SealedFolder(cache)
    stage, failed = "electrodes", dict[str, str]()
    total = sum(len(job.electrodes) for job in jobs)

    def done(outcome: Outcome) -> None:
        assert isinstance(outcome.job, MapJob)
        if outcome.error is not None:
            failed[outcome.job.key] = f"{outcome.job.label}: {outcome.error}"
        progress.advance(stage, len(outcome.job.electrodes))

    try:
        for _ in range(_ROUNDS):
            # Reading it all checks it all: a damaged product is set aside and made again.
            todo = [job for job in jobs if folder.read(entry_of(job.key)) is None]
            if not todo or failed:
                break
            left = sum(len(job.electrodes) for job in todo)
            progress.begin(stage, total, total - left)
            run_jobs(todo, cache, engine, done)
    except KeyboardInterrupt as interrupt:
        kept = sum(len(job.electrodes) for job in jobs if job.is_done(cache))
        raise Interrupted(
            f"Stopped. {kept} of {total} electrodes are kept; run the same command again to go on from there."
        ) from interrupt
    if failed:
        first = next(iter(failed.values()))
        raise NeuroarenaError(f"{len(failed)} of {len(jobs)} pieces of the map failed; the first: {first}")


def _read_parts(session: SessionPlan, electrodes: pd.DataFrame, cache: Path) -> list[GridPart]:
    """Return the maps of a session's tasks, with nulls that are read when they are needed."""
    own = electrodes.loc[electrodes["subject"].astype(str) == session.subject, "name"].tolist()
    places = np.array([own.index(name) for name in session.electrodes])
    found = [_result(cache, job, with_null=False) for job in session.jobs]
    parts = []
    for row, task in enumerate(session.tasks):
        observed, tested = (
            _spread(np.concatenate([getattr(each, name)[row] for each in found], axis=1), places, len(own))
            for name in ("observed", "tested")
        )
        null = StoredNull(cache, session.jobs, row, places, len(own))
        part = GridPart(task, session.session, session.subject, observed, null, session.n_test)
        parts.append(replace(part, label_tau=session.tau[task], tested=tested))
    return parts


def _spread(values: np.ndarray, places: np.ndarray, n_electrodes: int) -> np.ndarray:
    """Put the electrodes (last axis but one) of a session among those of its subject; the others are NaN."""
    spread = np.full((*values.shape[:-2], n_electrodes, values.shape[-1]), np.nan, dtype=values.dtype)
    spread[..., places, :] = values
    return spread


def _result(cache: Path, job: MapJob, with_null: bool = True) -> JobResult:
    found = read_result(cache, job.key, with_null)
    if found is None:
        raise NeuroarenaError(
            f"{job.label}: what was computed is no longer in the cache {cache}. Run the same command again."
        )
    return found


@dataclass(frozen=True)
class StoredNull:
    """The null of one task in one session, in the cache until it is asked for.

    Attributes
    ----------
    cache : Path
    jobs : tuple of MapJob
        Of consecutive electrodes.
    row : int
        Place of the task among those of the jobs.
    places : int array
        Of the session's electrodes among those of its subject.
    n_electrodes : int
        Of the subject.
    """

    cache: Path
    jobs: tuple[MapJob, ...]
    row: int
    places: np.ndarray
    n_electrodes: int

    def __len__(self) -> int:
        return len(self.jobs[0].shifts)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        """Read the draws: array (draws, folds, electrodes, bins)."""
        steps = [_result(self.cache, job).null[self.row] for job in self.jobs]
        draws = np.concatenate(steps, axis=2).astype(np.float32) / STEPS
        return np.asarray(_spread(draws, self.places, self.n_electrodes), dtype=dtype)
