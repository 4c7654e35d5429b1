"""Brain-Score: models of vision against recordings.

Somebody who learned the public package changes only import lines. The names are loaded when they are first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from neuroarena.benchmarks.brainscore.score import Score as Score
from neuroarena.errors import MissingDependency

# The package's name "score" is the function; importing the module of that name has just put itself there.
del globals()["score"]

if TYPE_CHECKING:
    from neuroarena.benchmarks.brainscore.benchmark import Benchmark as Benchmark
    from neuroarena.benchmarks.brainscore.benchmark import BenchmarkBase as BenchmarkBase
    from neuroarena.benchmarks.brainscore.brain_model import BrainModel as BrainModel
    from neuroarena.benchmarks.brainscore.ceilings import NeuronalPropertyCeiling as NeuronalPropertyCeiling
    from neuroarena.benchmarks.brainscore.loading import load_benchmark as load_benchmark
    from neuroarena.benchmarks.brainscore.loading import load_ceiling as load_ceiling
    from neuroarena.benchmarks.brainscore.loading import load_dataset as load_dataset
    from neuroarena.benchmarks.brainscore.loading import load_metric as load_metric
    from neuroarena.benchmarks.brainscore.loading import load_model as load_model
    from neuroarena.benchmarks.brainscore.loading import load_stimulus_set as load_stimulus_set
    from neuroarena.benchmarks.brainscore.loading import score as score
    from neuroarena.benchmarks.brainscore.metrics import (
        CrossRegressedCorrelation as CrossRegressedCorrelation,
    )
    from neuroarena.benchmarks.brainscore.metrics import Metric as Metric
    from neuroarena.benchmarks.brainscore.neural import NeuralBenchmark as NeuralBenchmark
    from neuroarena.benchmarks.brainscore.neural import TrainTestNeuralBenchmark as TrainTestNeuralBenchmark
    from neuroarena.benchmarks.brainscore.properties import PropertiesBenchmark as PropertiesBenchmark
    from neuroarena.benchmarks.brainscore.registries import benchmark_registry as benchmark_registry
    from neuroarena.benchmarks.brainscore.rsa import RSABenchmark as RSABenchmark
    from neuroarena.benchmarks.brainscore.screen import place_on_screen as place_on_screen

_HOMES = {
    "Benchmark": "benchmark",
    "BenchmarkBase": "benchmark",
    "BrainModel": "brain_model",
    "CrossRegressedCorrelation": "metrics",
    "Metric": "metrics",
    "NeuralBenchmark": "neural",
    "NeuronalPropertyCeiling": "ceilings",
    "PropertiesBenchmark": "properties",
    "RSABenchmark": "rsa",
    "TrainTestNeuralBenchmark": "neural",
    "benchmark_registry": "registries",
    "load_benchmark": "loading",
    "load_ceiling": "loading",
    "load_dataset": "loading",
    "load_metric": "loading",
    "load_model": "loading",
    "load_stimulus_set": "loading",
    "place_on_screen": "screen",
    "score": "loading",
}
_OPTIONAL = ("xarray", "h5netcdf")

__all__ = sorted([*_HOMES, "Score"])


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name in _OPTIONAL:
            raise MissingDependency(error.name, "vision", "Comparing models with recordings") from error
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
