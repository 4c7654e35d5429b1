"""The demo: from nothing to a board in a minute, on simulated data."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from neuroarena.benchmarks import Benchmark, load_benchmark
from neuroarena.board import Board, entries_from_results, write_report
from neuroarena.datasets import load_dataset
from neuroarena.evaluation import Progress, evaluate_all

DECODERS = ("chance", "linear", "linear-laplacian-spectrogram")
TASKS = ("onset", "speech", "volume")
SPLITS = ("within-session", "cross-session")
TWIN = {"subjects": 2, "sessions": 2, "electrodes": 24, "minutes": 8.0, "seed": 0}


@dataclass(frozen=True)
class Demo:
    """What the demo made."""

    board: Board
    report: Path
    card: dict[str, Any]


def run_demo(
    out: Path, data: Path, workers: int, cache: Path | None = None, progress: Progress | None = None
) -> Demo:
    """Simulate recordings, evaluate three decoders on three tasks and two splits, and rank them.

    Parameters
    ----------
    out : Path
        Folder of the results and of ``report.html``.
    data : Path
        Folder of the simulated dataset; one that is there already is used as it is.
    workers : int
    cache : Path, optional
    progress : Progress, optional
    """
    card = load_dataset("braintreebank").simulate(data, **TWIN)
    benchmarks = [load_benchmark(f"neuroprobe/{task}", data=str(data)) for task in TASKS]
    results = evaluate_all(
        [(None, name) for name in DECODERS],
        [benchmark for benchmark in benchmarks if isinstance(benchmark, Benchmark)],
        list(SPLITS),
        out=out / "runs",
        workers=workers,
        cache=cache,
        progress=progress,
    )
    board = Board(entries_from_results(results), order=[*TASKS, *SPLITS])
    report = out / "report.html"
    write_report(board, report, title="neuroarena demo")
    return Demo(board, report, card)
