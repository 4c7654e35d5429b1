"""``make growth``: how costs grow when windows, electrodes, cells, units, teams or submissions are ten times as many.

Each dimension is measured at three sizes over a factor of ten or more, everything else kept. The cost is time of the
processor of this process, the least of a few runs at each size; the exponent is the slope of log(cost) over log(size).
One means in proportion. Teams are compared in pairs, so that their exponent may come near two.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (threads are set before NumPy starts)

from bench.figures import growth_exponent  # noqa: E402

WINDOWS, ELECTRODES, CELLS = (200, 630, 2_000), (12, 36, 120), (300, 950, 3_000)
UNITS, TEAMS, SUBMISSIONS = (1_000, 3_200, 10_000), (30, 95, 300), (20, 63, 200)
RATE_HZ = 2_048
FIGURES = {
    "windows.exponent": (
        "windows turned into Laplacian spectrograms, 200 to 2,000, exponent",
        "at most",
        1.15,
    ),
    "electrodes.exponent": ("electrodes of 200 windows, 12 to 120, exponent", "at most", 1.15),
    "cells.exponent": (
        "tiny cells planned, run, assembled and saved, 300 to 3,000, exponent",
        "at most",
        1.15,
    ),
    "units.exponent": ("units of a board of 20 teams, 1,000 to 10,000, exponent", "at most", 1.15),
    "teams.exponent": ("teams of a board with all pairs, 30 to 300, exponent", "at most", 2.1),
    "submissions.exponent": ("submissions taken, checked and scored, 20 to 200, exponent", "at most", 1.15),
    "windows.ms_each": ("a window of 120 electrodes, ms of processor", "", None),
    "cells.ms_each": ("a tiny cell, ms of processor", "", None),
    "submissions.ms_each": ("a submission of 200 rows, ms of processor", "", None),
}
MUST = tuple(name for name in FIGURES if name.endswith("exponent"))
RUNS = 3


def main() -> dict[str, Any]:
    """Return sizes, costs and exponents by dimension."""
    return {
        "windows": grow(WINDOWS, lambda n: spectrograms(n, ELECTRODES[-1])),
        "electrodes": grow(ELECTRODES, lambda n: spectrograms(WINDOWS[0], n)),
        "cells": grow(CELLS, tiny_cells, repeat=1),
        "units": grow(UNITS, lambda n: board(20, n)),
        "teams": grow(TEAMS, lambda n: board(n, 50), repeat=1),
        "submissions": grow(SUBMISSIONS, submissions, repeat=1),
    }


def grow(
    sizes: tuple[int, ...], work_of: Callable[[int], Callable[[], Any]], repeat: int = 3
) -> dict[str, Any]:
    """Measure the work at every size, made ready before the clock starts, and return costs and exponent."""
    costs = []
    for size in sizes:
        times = []
        for _ in range(repeat):
            work = work_of(size)
            begin = time.process_time()
            work()
            times.append(time.process_time() - begin)
        costs.append(min(times))
    return {
        "sizes": list(sizes),
        "cpu_s": [round(cost, 4) for cost in costs],
        "ms_each": round(1e3 * costs[-1] / sizes[-1], 3),
        "exponent": round(growth_exponent(sizes, costs), 3),
    }


def spectrograms(n_windows: int, n_electrodes: int) -> Callable[[], Any]:
    """Return what reads windows of one recording in chunks and makes features of them."""
    from neuroarena.features import FeatureChain, Laplacian, Spectrogram
    from neuroarena.recordings import from_array

    rng = np.random.default_rng(0)
    names = [f"T{place // 12}aI{place % 12 + 1}" for place in range(n_electrodes)]
    signal = rng.standard_normal((n_electrodes, 60 * RATE_HZ), dtype=np.float32)
    recording = from_array(signal, float(RATE_HZ), names)
    starts = rng.integers(0, 59 * RATE_HZ, n_windows)
    chain = FeatureChain((Laplacian(), Spectrogram()))

    def work() -> None:
        for _, windows in recording.iter_windows(starts, RATE_HZ, chunk=20):
            chain(windows, recording.channels, recording.rate_hz)

    return work


def tiny_cells(n_cells: int) -> Callable[[], Any]:
    """Return what evaluates decoders that do next to nothing, from the plan to the saved results."""
    from bench.bench_cells import FOLDS, Constant, tiny_benchmark
    from neuroarena.evaluation import evaluate_all

    decoders: list[tuple[str | None, Any]] = [(f"d{at:04d}", Constant(at)) for at in range(n_cells // FOLDS)]

    def work() -> None:
        with tempfile.TemporaryDirectory(prefix="growth-cells-") as folder:
            place = Path(folder)
            evaluate_all(
                decoders, [tiny_benchmark(FOLDS)], ["folds"], out=place / "out", cache=place / "cache"
            )

    return work


def board(n_teams: int, n_units: int) -> Callable[[], Any]:
    """Return what ranks teams on one track."""
    from bench.bench_board import make_entries
    from neuroarena.board import Board, Rules

    entries = make_entries(n_teams, 1, n_units)
    return lambda: Board(entries, Rules(n_draws=2_000))


def submissions(n_posts: int) -> Callable[[], Any]:
    """Return what takes, checks and scores files of predictions in this process, on one SQLite file."""
    from bench import bench_competition
    from neuroarena.competition import submit, work

    folder = tempfile.TemporaryDirectory(prefix="growth-submissions-")
    arena, tokens, files = bench_competition.set_up(Path(folder.name), rows=200, units=20)

    def post_and_score() -> None:
        for number in range(n_posts):
            submit(arena, tokens[number % len(tokens)], "commands", files[number % len(files)])
        work(arena, until_idle=True)
        arena.store.close()
        folder.cleanup()

    return post_and_score
