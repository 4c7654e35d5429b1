"""What is asked: benchmarks, their examples and their splits."""

from __future__ import annotations

from neuroarena.benchmarks.benchmark import (
    EXAMPLE_COLUMNS,
    Benchmark,
    Family,
    Suite,
    WindowShape,
    check_examples,
)
from neuroarena.benchmarks.benchmark_check import check_benchmark
from neuroarena.benchmarks.codebook import Codebook
from neuroarena.benchmarks.comparison import Comparison, Judgement
from neuroarena.benchmarks.loading import load_benchmark, load_benchmarks
from neuroarena.benchmarks.names import (
    FAMILIES,
    BenchmarkName,
    canonical_order,
    judges_models,
    list_benchmarks,
    resolve,
)
from neuroarena.benchmarks.options import FamilyOptions
from neuroarena.benchmarks.splits import Fold, Split

__all__ = [
    "EXAMPLE_COLUMNS",
    "FAMILIES",
    "Benchmark",
    "BenchmarkName",
    "Codebook",
    "Comparison",
    "Family",
    "FamilyOptions",
    "Fold",
    "Judgement",
    "Split",
    "Suite",
    "WindowShape",
    "canonical_order",
    "check_benchmark",
    "check_examples",
    "judges_models",
    "list_benchmarks",
    "load_benchmark",
    "load_benchmarks",
    "resolve",
]
