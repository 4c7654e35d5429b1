"""Measure what checksums cost: reading cells, gathering features, and a run that finds everything in the cache.

Each is timed with the check of the seals and without it, in turns, on files that the system has in memory
already, so that the disk is not measured: the ratios are upper bounds.

Run: python bench/bench_storage.py
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

FIGURES = {
    "cells.ratio": ("reading 300 cells with their checksums, against without", "", None),
    "features.ratio": ("gathering features with their checksums, against without", "", None),
    "cached_run.ratio": (
        "a run that finds everything in the cache, with checksums against without",
        "",
        None,
    ),
}
RUNS = 3
ROUNDS = 5
CELLS = 300
ROWS = 1_000
WINDOWS = 2_000
SHAPE = (60, 40, 12)
SEED = 0


def main() -> dict[str, Any]:
    """Return milliseconds of the processor with and without checks, and their ratios."""
    with tempfile.TemporaryDirectory(prefix="bench-storage-") as folder:
        place = Path(folder)
        return {
            "cells": {"cells": CELLS, "rows": ROWS, **compare(read_cells(place / "cells"))},
            "features": {"megabytes": round(megabytes()), **compare(gather_features(place / "features"))},
            "cached_run": compare(repeat_run(place / "run")),
        }


def megabytes() -> float:
    """Return how large the gathered features are."""
    return float(WINDOWS * np.prod(SHAPE) * 4 / 1e6)


@contextlib.contextmanager
def unchecked() -> Iterator[None]:
    """Believe every seal."""
    with (
        mock.patch("neuroarena.sealed._fault", return_value=None),
        mock.patch("neuroarena.sealed._fault_of_file", return_value=None),
    ):
        yield


def compare(work: Callable[[], None]) -> dict[str, float]:
    """Time some work with and without checks, in turns, and return the least of each."""
    from neuroarena import sealed

    best = {"checked": float("inf"), "unchecked": float("inf")}
    for _ in range(ROUNDS):
        for name, around in (("checked", contextlib.nullcontext()), ("unchecked", unchecked())):
            sealed._checked.clear()
            with around:
                begin = time.process_time()
                work()
                best[name] = min(best[name], time.process_time() - begin)
    return {
        "checked_ms": round(1e3 * best["checked"], 2),
        "unchecked_ms": round(1e3 * best["unchecked"], 2),
        "ratio": round(best["checked"] / best["unchecked"], 3),
    }


def read_cells(root: Path) -> Callable[[], None]:
    """Store cells, and return what reads them all."""
    from neuroarena.evaluation.cache import CellCache

    rng, cache = np.random.default_rng(SEED), CellCache(root)
    keys = [f"{number:064x}" for number in range(CELLS)]
    for key in keys:
        p = rng.random(ROWS)
        ids = [f"s{number:05d}" for number in range(ROWS)]
        cache.write(key, {"id": ids, "p_0": 1 - p, "p_1": p}, {"warnings": []})

    def work() -> None:
        for key in keys:
            cache.read(key)

    return work


def gather_features(root: Path) -> Callable[[], None]:
    """Store shards of features, and return what gathers them in a random order, as a fit does once in each process."""
    from neuroarena.evaluation.feature_store import FeatureStore, cut_shards
    from neuroarena.features import FeatureChain, Laplacian
    from neuroarena.recordings import from_array

    rng = np.random.default_rng(SEED)
    names = [f"A{number + 1}" for number in range(4)]
    recording = from_array(np.zeros((4, 1000), dtype=np.float32), 100.0, names)
    store = FeatureStore(root, "bench", FeatureChain((Laplacian(),)), 50)
    starts = np.arange(WINDOWS)
    for part in cut_shards(starts, int(np.prod(SHAPE)) * 4):
        values = rng.standard_normal((len(part), *SHAPE), dtype=np.float32)
        with mock.patch.object(store, "_featurize", lambda *_, made=values: made):
            store.compute(recording, part)
    order = rng.permutation(starts)
    return lambda: (store.gather(recording, order), None)[1]


def repeat_run(root: Path) -> Callable[[], None]:
    """Run a linear decoder on the twin of a benchmark once, and return what runs it again."""
    from neuroarena.benchmarks import load_benchmark
    from neuroarena.datasets import load_dataset
    from neuroarena.evaluation import evaluate

    dataset = load_dataset("bci_commands")
    dataset.simulate(root / "twin", **dataset.tiny)
    benchmark = load_benchmark("bci/commands", str(root / "twin"))

    def work() -> None:
        evaluate("csp-lda", benchmark, cache=root / "cache", out=root / "out")

    work()
    return work


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
