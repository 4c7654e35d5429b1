"""Plan a map: which sessions and tasks there are, which items train and are judged, and the jobs that decode them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks import Benchmark, Fold, Split
from neuroarena.errors import InputError
from neuroarena.evaluation.identity import library_versions
from neuroarena.fingerprint import code_fingerprint, digest
from neuroarena.maps import job as job_module
from neuroarena.maps.decoding import FoldLayout
from neuroarena.maps.job import ItemSource, MapJob
from neuroarena.maps.labels import label_tasks
from neuroarena.maps.settings import MapSettings
from neuroarena.maps.shifts import LabelSpeed, correlation_time, describe_labels, draw_shifts, repeats_itself
from neuroarena.maps.time_axis import TimeAxis
from neuroarena.recordings import Recording
from neuroarena.recordings.bids import INTRACRANIAL

# A job reads its electrodes at once: few enough that a worker stays below a quarter of a gigabyte.
_JOB_BYTES, _MOST_ELECTRODES = 128 << 20, 16
# Kinds of channels that say nothing about the brain where there are others.
_NOT_BRAIN = ("eog", "ecg", "stim")


@dataclass(frozen=True)
class SessionPlan:
    """The map of some tasks, which share their items, in one session.

    Attributes
    ----------
    tasks : tuple of str
    session, subject : str
    electrodes : tuple of str
    jobs : tuple of MapJob
        Of consecutive electrodes.
    n_test : int
        Judged items.
    tau : dict of task to float
        Correlation time of the labels, in items.
    """

    tasks: tuple[str, ...]
    session: str
    subject: str
    electrodes: tuple[str, ...]
    jobs: tuple[MapJob, ...]
    n_test: int
    tau: dict[str, float]


@dataclass(frozen=True)
class BenchmarkPlan:
    """The sessions of one benchmark, and sentences that a reader must see."""

    sessions: tuple[SessionPlan, ...]
    notes: tuple[str, ...]


class Planner:
    """Plan the map of one benchmark.

    Parameters
    ----------
    benchmark : Benchmark
    split : Split
    settings : MapSettings
    begin_s : float
        Where its windows begin, in seconds from the event.
    name : str
        What the map calls the task.
    """

    def __init__(
        self, benchmark: Benchmark, split: Split, settings: MapSettings, begin_s: float, name: str
    ) -> None:
        if benchmark.manifest.stream is not None or benchmark.codebook is not None:
            kind = "streams" if benchmark.manifest.stream is not None else "vectors"
            raise InputError(
                f"{benchmark.name} asks for {kind}; a map needs windows with classes, or with numbers."
            )
        self.benchmark, self.split, self.settings, self.name = benchmark, split, settings, name
        self._opened: dict[str, tuple[Recording, str]] = {}
        order = ["subject", "session", "recording", "start", "id"]
        table = benchmark.examples.sort_values(order, ignore_index=True)
        self._table = table.set_index("id", drop=False)
        first, _ = self._recording(str(table["recording"].iloc[0]))
        length = int(table["stop"].iloc[0] - table["start"].iloc[0])
        self.axis = TimeAxis.of(settings, first, length, benchmark.features, begin_s)
        self._several = bool((table.groupby("session")["subject"].nunique() > 1).any())
        self.notes: list[str] = []
        self._speeds: dict[str, list[LabelSpeed]] = {}
        self._drop_outside()

    def plan(self) -> BenchmarkPlan:
        """Return the sessions of the benchmark.

        Raises
        ------
        InputError
            When training and judged recordings have no electrode in common.
        """
        sessions = [plan for subject, session in self._pairs() if (plan := self._plan(subject, session))]
        doubts = [note for task, rows in self._speeds.items() for note in describe_labels(task, rows)]
        return BenchmarkPlan(tuple(sessions), (*self.notes, *doubts))

    def _pairs(self) -> list[tuple[str, str]]:
        judged = {example for fold in self.split.folds for example in fold.test}
        rows = self._table[self._table["id"].isin(judged)]
        pairs = rows[["subject", "session"]].astype(str).drop_duplicates()
        return list(pairs.itertuples(index=False, name=None))

    def _recording(self, key: str) -> tuple[Recording, str]:
        if key not in self._opened:
            recording = self.benchmark.recording(key)
            self._opened[key] = recording, recording.fingerprint()
        return self._opened[key]

    def _drop_outside(self) -> None:
        """Leave out items whose bins reach beyond their recording, and say how many."""
        inside = np.ones(len(self._table), dtype=bool)
        for key, rows in self._table.reset_index(drop=True).groupby("recording").indices.items():
            recording, _ = self._recording(str(key))
            if recording.rate_hz != self.axis.read_rate_hz:
                raise InputError(
                    f"{recording.name} has {recording.rate_hz:g} samples per second and others of "
                    f"{self.benchmark.name} {self.axis.read_rate_hz:g}; a map needs one rate."
                )
            starts = self._table["start"].to_numpy()[rows] + self.axis.shift
            inside[rows] = (starts >= 0) & (starts + self.axis.length <= recording.n_samples)
        if not inside.all():
            self.notes.append(
                f"{self.name}: {int((~inside).sum())} of {len(inside)} items were left out because their time bins "
                "reach beyond their recording."
            )
        self._table = self._table[inside]

    def _plan(self, subject: str, session: str) -> SessionPlan | None:
        own = (self._table["subject"].astype(str) == subject) & (
            self._table["session"].astype(str) == session
        )
        here = set(self._table["id"][own])
        folds = [
            Fold(fold.name, fold.train, judged, fold.validation)
            for fold in self.split.folds
            if (judged := tuple(each for each in fold.test if each in here))
        ]
        used = {each for fold in folds for part in (fold.train, fold.test) for each in part}
        shown = f"{subject}/{session}" if self._several else session
        items, labels = self._label(used)
        train, test, block = _cut(items, folds)
        kept = {task: truth for task, truth in labels.items() if _has_both_classes(truth, train, test)}
        self.notes += [
            f"{task} in session {shown} is not on the map: a fold has items of one class alone."
            for task in labels
            if task not in kept
        ]
        if not kept:
            return None
        layout, order = FoldLayout.arranged(train, test, block)
        items = items.iloc[order]
        electrodes = self._electrodes(items, np.atleast_1d(layout.test.any(axis=0)))
        stretches = layout.blocks if layout.swaps_roles else layout.judged
        shifts = self._shifts(items, stretches)
        tau = {task: correlation_time(truth) for task, truth in kept.items()}
        shortest = min(map(len, stretches))
        for task, truth in kept.items():
            ruled = repeats_itself(truth[order][stretches[0]])
            self._speeds.setdefault(task, []).append(LabelSpeed(shown, tau[task], shortest, ruled))
        work = _Work(layout, {task: truth[order] for task, truth in kept.items()}, shifts)
        jobs = tuple(self._jobs(items, electrodes, work, f"{self.name} {shown}"))
        return SessionPlan(tuple(kept), shown, subject, electrodes, jobs, int(test.sum()), tau)

    def _label(self, used: set[str]) -> tuple[pd.DataFrame, dict[str, np.ndarray]]:
        """Label the items that are used."""
        classes = self.benchmark.manifest.classes
        taken = self._table["id"].isin(used)
        if classes:
            return label_tasks(self._table[taken], classes, self.name)
        # Quarters are those of whole sessions: folds may hold the outer ones alone, whose quarters would be eighths.
        owners = self._table["subject"].astype(str) + "/" + self._table["session"].astype(str)
        items, labels = label_tasks(self._table[owners.isin(owners[taken])], classes, self.name)
        kept = items["id"].isin(used).to_numpy()
        return items[kept], {task: truth[kept] for task, truth in labels.items()}

    def _electrodes(self, items: pd.DataFrame, judged: np.ndarray) -> tuple[str, ...]:
        """Return the electrodes that all recordings of these items have, in the order of the judged ones."""
        ordered = [*items["recording"][judged].unique(), *items["recording"].unique()]
        tables = [self._recording(str(key))[0].channels for key in dict.fromkeys(ordered)]
        prepared = [self.axis.channels(table) for table in tables]
        shared = set.intersection(*(set(table["name"]) for table in prepared))
        brain = prepared[0][~prepared[0]["kind"].isin(_NOT_BRAIN)]
        names = tuple(name for name in brain["name"] if name in shared)
        people = items["subject"].astype(str).nunique()
        implanted = tables[0]["kind"].isin(("ieeg", *INTRACRANIAL)).all()
        if not names or (people > 1 and implanted):
            raise InputError(
                f"{self.benchmark.name}, {self.split.name}: no electrode is in both the training and the judged "
                "recordings, because no two people share one. Choose a split within people, such as within-session."
            )
        return names

    def _shifts(self, items: pd.DataFrame, stretches: Sequence[np.ndarray]) -> np.ndarray:
        places = (items["recording"].astype(str) + " " + items["start"].astype(str)).to_numpy()
        draws = self.settings.draws
        return np.stack(
            [draw_shifts(self.settings.seed, draws, places[rows].tolist()) for rows in stretches], axis=1
        )

    def _jobs(
        self, items: pd.DataFrame, electrodes: tuple[str, ...], work: _Work, label: str
    ) -> Iterator[MapJob]:
        sources, prints = [], []
        keys = items["recording"].astype(str).to_numpy()
        starts = items["start"].to_numpy(dtype=np.int64) + self.axis.shift
        for key in dict.fromkeys(keys):
            rows = np.flatnonzero(keys == key)
            recording, fingerprint = self._recording(key)
            sources.append(ItemSource(recording, rows, starts[rows]))
            prints.append([fingerprint, _hash(rows), _hash(starts[rows])])
        asked = {
            "sources": prints,
            "axis": [self.axis.length, list(self.axis.bins), self.axis.features, self._preparation],
            "work": work.digest(),
            "code": code_fingerprint(job_module),
            "versions": {name: library_versions()[name] for name in ("numpy", "scipy")},
        }
        size = 4 * len(items) * self.axis.length
        most = max(1, _JOB_BYTES // size)
        most = most if self.benchmark.features.steps else min(most, _MOST_ELECTRODES)
        for first in range(0, len(electrodes), most):
            own = electrodes[first : first + most]
            yield MapJob(
                label=f"{label} {own[0]}" + (f" to {own[-1]}" if len(own) > 1 else ""),
                key=digest({**asked, "electrodes": own}),
                sources=tuple(sources),
                electrodes=own,
                length=self.axis.length,
                preparation=self.benchmark.features,
                bins=self.axis.bins,
                features=self.axis.features,
                layout=work.layout,
                labels=work.labels,
                shifts=work.shifts,
            )

    @property
    def _preparation(self) -> str:
        return self.benchmark.features.fingerprint() if self.benchmark.features.steps else ""


@dataclass(frozen=True)
class _Work:
    """What is asked of the items of a session, whichever the electrode."""

    layout: FoldLayout
    labels: dict[str, np.ndarray]
    shifts: np.ndarray

    def digest(self) -> list[Any]:
        layout = self.layout
        arrays = [layout.train, layout.test, layout.time, layout.block, self.shifts, *self.labels.values()]
        return [*map(_hash, arrays), list(self.labels)]


def _hash(array: np.ndarray) -> str:
    content = np.ascontiguousarray(array)
    return hashlib.sha256(f"{content.dtype} {content.shape}".encode() + content.tobytes()).hexdigest()


def _cut(items: pd.DataFrame, folds: Sequence[Fold]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return which items train and are judged (folds, items), and the block of each: the fold that holds it out."""
    ids = items["id"]
    train = np.stack([ids.isin(fold.train).to_numpy() for fold in folds])
    test = np.stack([ids.isin(fold.test).to_numpy() for fold in folds])
    owner = pd.factorize(items["subject"].astype(str) + "/" + items["session"].astype(str))[0]
    block = len(folds) + owner
    for number, fold in enumerate(folds):
        block[ids.isin([*fold.test, *fold.validation]).to_numpy()] = number
    return train, test, block


def _has_both_classes(truth: np.ndarray, train: np.ndarray, test: np.ndarray) -> bool:
    return all(0 < truth[part].sum() < part.sum() for part in (*train, *test))


def name_tasks(benchmarks: Sequence[Benchmark]) -> Mapping[str, Benchmark]:
    """Return benchmarks by what a map calls them: the task alone where that is enough."""
    short = [each.manifest.name.partition("/")[2] or each.manifest.name for each in benchmarks]
    unique = len(set(short)) == len(short)
    return dict(zip(short if unique else [each.name for each in benchmarks], benchmarks, strict=True))
