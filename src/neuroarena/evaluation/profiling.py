"""What each step of a run took: time of the clock and of processors, and memory."""

from __future__ import annotations

import contextlib
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from neuroarena.atomic import write_json
from neuroarena.evaluation.origins import measure_peak_mb, read_origin

SCHEMA_VERSION = 1
SLOWEST = 5


@dataclass(frozen=True)
class Step:
    """One step of a run.

    Attributes
    ----------
    name : str
    seconds : float
        Of the clock.
    processor_seconds : float
        Of this process.
    worker_seconds : float
        Of processes that it started and that ended meanwhile, on this machine.
    peak_mb : float
        The most memory that this process had held when the step ended.
    """

    name: str
    seconds: float
    processor_seconds: float
    worker_seconds: float
    peak_mb: float


@dataclass
class Profile:
    """The steps of a run in their order, and the cells that were computed in it.

    Examples
    --------
    >>> profile = Profile()
    >>> with profile.step("plan"):
    ...     pass
    >>> [step.name for step in profile.steps]
    ['plan']
    """

    steps: list[Step] = field(default_factory=list)
    computed: list[tuple[str, str]] = field(default_factory=list)

    @contextlib.contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Measure what is done inside, also where it raises."""
        begin, own, others = time.perf_counter(), time.process_time(), _worker_seconds()
        try:
            yield
        finally:
            self.steps.append(
                Step(
                    name,
                    round(time.perf_counter() - begin, 4),
                    round(time.process_time() - own, 4),
                    round(_worker_seconds() - others, 4),
                    measure_peak_mb(),
                )
            )

    def note_cells(self, cells: Iterable[tuple[str, str]]) -> None:
        """Keep the keys and labels of cells that were computed, not found."""
        self.computed += cells

    def to_json(self, cache: Path) -> dict[str, Any]:
        """Return steps and cells as plain values; what a cell took is read from its note in the cache."""
        notes = [
            (label, note) for key, label in self.computed if (note := read_origin(cache, key)) is not None
        ]
        seconds = [note.seconds for _, note in notes]
        slowest = sorted(notes, key=lambda pair: -pair[1].seconds)[:SLOWEST]
        return {
            "schema_version": SCHEMA_VERSION,
            "steps": [asdict(step) for step in self.steps],
            "cells": {
                "computed": len(self.computed),
                "seconds": round(sum(seconds), 3),
                "median_seconds": round(statistics.median(seconds), 4) if seconds else None,
                "peak_mb": max((note.peak_mb for _, note in notes), default=None),
                "slowest": [
                    {"cell": label, "seconds": note.seconds, "peak_mb": note.peak_mb, "host": note.host}
                    for label, note in slowest
                ],
            },
        }

    def write(self, path: Path, cache: Path) -> None:
        """Write the profile as JSON, whole or not at all."""
        write_json(path, self.to_json(cache))


def _worker_seconds() -> float:
    """Return the processor seconds of ended processes that this one started; 0 where the system does not say."""
    try:
        import resource
    except ImportError:
        return 0.0
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
