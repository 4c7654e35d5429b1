"""The demo: from nothing to a board in a minute, on simulated data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena.benchmarks import Benchmark, load_benchmark
from neuroarena.benchmarks.faces import families_with
from neuroarena.board import Board, entries_from_results, write_report
from neuroarena.board.site import Settings, build_site, read_sources
from neuroarena.datasets import load_dataset
from neuroarena.errors import InputError
from neuroarena.evaluation import Progress, evaluate_all


@dataclass(frozen=True)
class DemoPlan:
    """What a family shows a newcomer (its face ``demo``).

    Attributes
    ----------
    family, dataset : str
        The family that is run, and the simulated dataset.
    twin : mapping
        Options of the simulation.
    tasks, splits, decoders : tuple of str
        Everything is run with everything.
    ideal : str, optional
        Key of the twin's card that holds the best possible score of each task.
    """

    family: str
    dataset: str
    twin: Mapping[str, Any]
    tasks: tuple[str, ...]
    splits: tuple[str, ...]
    decoders: tuple[str, ...]
    ideal: str | None = None

    @property
    def size(self) -> str:
        """The amount of work, in words."""
        counts = ((self.decoders, "decoder"), (self.tasks, "task"), (self.splits, "split"))
        return " x ".join(f"{len(each)} {noun}{'' if len(each) == 1 else 's'}" for each, noun in counts)


def find_demo() -> DemoPlan:
    """Return the first demo that an installed family offers.

    Raises
    ------
    InputError
        When no installed family has one.
    """
    offered = families_with("demo")
    if not offered:
        raise InputError("No installed family provides a demo.")
    plan: DemoPlan = next(iter(offered.values()))
    return plan


@dataclass(frozen=True)
class Demo:
    """What the demo produced."""

    board: Board
    report: Path
    site: Path
    ideal: dict[str, float]


def run_demo(
    plan: DemoPlan,
    out: Path,
    data: Path,
    workers: int,
    cache: Path | None = None,
    progress: Progress | None = None,
) -> Demo:
    """Simulate recordings, evaluate decoders on the tasks and splits of a plan, and rank them.

    Parameters
    ----------
    plan : DemoPlan
    out : Path
        Folder of the results, of ``report.html`` and of ``site``.
    data : Path
        Folder of the simulated dataset; an existing one is used as it is.
    workers : int
    cache : Path, optional
    progress : Progress, optional
    """
    card = load_dataset(plan.dataset).simulate(data, **plan.twin)
    benchmarks = [load_benchmark(f"{plan.family}/{task}", data=str(data)) for task in plan.tasks]
    results = evaluate_all(
        [(None, name) for name in plan.decoders],
        [benchmark for benchmark in benchmarks if isinstance(benchmark, Benchmark)],
        list(plan.splits),
        out=out / "runs",
        workers=workers,
        cache=cache,
        progress=progress,
    )
    board = Board(entries_from_results(results), order=[*plan.tasks, *plan.splits])
    report = out / "report.html"
    write_report(board, report, title="neuroarena demo")
    build_site(board, read_sources([out / "runs"]), out / "site", settings=Settings(title="neuroarena demo"))
    ideal = {} if plan.ideal is None else {task: float(card[plan.ideal][task]) for task in plan.tasks}
    return Demo(board, report, out / "site", ideal)
