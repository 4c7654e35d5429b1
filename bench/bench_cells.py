"""Measure what a cell costs beyond its decoder: planning, running, assembling and saving, and how that grows.

Every cell is a decoder that does next to nothing on a few short windows, so that what is measured is the house.
CPU time of one process; the exponent is the slope of log(time) over log(cells).

Run: python -m bench bench_cells
"""

from __future__ import annotations

import dataclasses
import math
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

SIZES = tuple(int(text) for text in os.environ.get("BENCH_CELLS", "1000,10000").split(","))
FOLDS = 20
EXAMPLES_A_FOLD = 4
MANY_FOLDS = (100, 1_000)
FIGURES = {
    "decoders_times_20_folds.exponent": (
        "growth of the cost of tiny cells from 1,000 to 10,000, exponent",
        "at most",
        1.15,
    ),
    "decoders_times_20_folds.sizes.1.ms_a_cell": (
        "a tiny cell among 10,000, ms of processor",
        "at most",
        5.0,
    ),
    "decoders_times_20_folds.sizes.0.ms_a_cell": ("a tiny cell among 1,000, ms of processor", "", None),
    "decoders_times_20_folds.sizes.1.planning_ms_a_cell": ("planning of it, ms of processor", "", None),
    "decoders_times_20_folds.sizes.1.cached_ms_a_cell": (
        "finding it in the cache, ms of processor",
        "",
        None,
    ),
    "many_folds.exponent": ("growth with the folds of one task, 100 to 1,000, exponent", "at most", 1.15),
}
MUST = ("decoders_times_20_folds.exponent",)
RUNS = 3
WINDOW = 8


def main() -> dict[str, Any]:
    """Return CPU milliseconds per cell by phase, at two sizes, and the exponents of growth."""
    return {
        "decoders_times_20_folds": grow([(cells // FOLDS, FOLDS) for cells in SIZES]),
        "many_folds": grow([(4, folds) for folds in MANY_FOLDS]),
    }


def grow(sizes: list[tuple[int, int]]) -> dict[str, Any]:
    """Measure at every size, and return the figures with the exponent of the whole."""
    figures = [measure(decoders, folds) for decoders, folds in sizes]
    first, last = figures[0], figures[-1]
    exponent = math.log(last["cpu_s"] / first["cpu_s"]) / math.log(last["cells"] / first["cells"])
    return {"sizes": figures, "exponent": round(exponent, 3)}


def measure(n_decoders: int, n_folds: int) -> dict[str, Any]:
    """Plan, run, assemble and save `n_decoders` x `n_folds` cells, then find them all in the cache."""
    from neuroarena.evaluation import evaluate_all
    from neuroarena.evaluation.plan import plan_runs

    cells = n_decoders * n_folds
    decoders: list[tuple[str | None, Any]] = [(f"d{at:04d}", Constant(at)) for at in range(n_decoders)]
    with tempfile.TemporaryDirectory(prefix="bench-cells-") as folder:
        place = Path(folder)

        def run() -> None:
            evaluate_all(
                decoders, [tiny_benchmark(n_folds)], ["folds"], out=place / "out", cache=place / "cache"
            )

        planning = cpu_seconds(lambda: plan_runs(decoders, [tiny_benchmark(n_folds)], ["folds"]))  # type: ignore[arg-type]
        first, again = cpu_seconds(run), cpu_seconds(run)
    return {
        "cells": cells,
        "folds": n_folds,
        "cpu_s": round(first, 2),
        "ms_a_cell": round(1e3 * first / cells, 2),
        "planning_ms_a_cell": round(1e3 * planning / cells, 3),
        "cached_ms_a_cell": round(1e3 * again / cells, 2),
    }


def cpu_seconds(work: Any) -> float:
    """Return the processor seconds that a call takes."""
    begin = time.process_time()
    work()
    return time.process_time() - begin


@dataclasses.dataclass
class Constant:
    """Answer the same for every window; `number` makes it another decoder."""

    number: int

    def __post_init__(self) -> None:
        from neuroarena.features import FeatureChain

        self.features = FeatureChain()

    def fit(self, *_: Any) -> Constant:
        """Learn nothing."""
        return self

    def predict(self, test: Any) -> np.ndarray:
        """Return one pair of probabilities per window."""
        return np.tile([0.4, 0.6], (sum(len(group.signals) for group in test), 1))


def tiny_benchmark(n_folds: int) -> Any:
    """Make a benchmark of `n_folds` folds, each tested on a few windows of one short recording."""
    from neuroarena.benchmarks import Benchmark, Fold, Split
    from neuroarena.recordings import from_array
    from neuroarena.scoring import Manifest

    n = n_folds * EXAMPLES_A_FOLD
    signal = np.random.default_rng(0).standard_normal((2, n * WINDOW + WINDOW)).astype(np.float32)
    recording = from_array(signal, 100.0, ["A1", "A2"])
    unit = [f"u{at // EXAMPLES_A_FOLD:05d}" for at in range(n)]
    starts = WINDOW * np.arange(n)
    examples = pd.DataFrame(
        {
            "id": [f"e{at:06d}" for at in range(n)],
            "recording": "r",
            "start": starts,
            "stop": starts + WINDOW,
            "target": np.arange(n) % 2,
            "unit": unit,
            "cluster": unit,
            "subject": "s",
            "session": "s",
        }
    )
    ids = list(examples["id"])
    trained = tuple(ids[:EXAMPLES_A_FOLD])
    folds = tuple(
        Fold(f"f{at:05d}", trained if at else tuple(ids[-EXAMPLES_A_FOLD:]), tuple(ids[at * 4 : at * 4 + 4]))
        for at in range(n_folds)
    )
    manifest = Manifest.model_validate(
        {
            "name": "tiny/cells",
            "definition": "1",
            "title": "Tiny cells",
            "question": "Which of two?",
            "metric": "auroc",
            "prediction": "probabilities",
            "classes": ("0", "1"),
            "unit": "unit",
            "split_rule": "one unit per fold",
            "licence": "made up",
            "chance": 0.5,
        }
    )
    return Benchmark(
        manifest, lambda: examples, {"folds": lambda _: Split("folds", folds)}, lambda _: recording
    )
