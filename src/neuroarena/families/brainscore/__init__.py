"""Brain-Score: models of vision against recordings.

Code written for the public package needs only its import lines changed. The names are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuroarena.lazily import lazy_names

if TYPE_CHECKING:
    from neuroarena.families.brainscore.assemblies import DataAssembly as DataAssembly
    from neuroarena.families.brainscore.assemblies import NeuroidAssembly as NeuroidAssembly
    from neuroarena.families.brainscore.benchmark import Benchmark as Benchmark
    from neuroarena.families.brainscore.benchmark import BenchmarkBase as BenchmarkBase
    from neuroarena.families.brainscore.brain_model import BrainModel as BrainModel
    from neuroarena.families.brainscore.brain_score import Score as Score
    from neuroarena.families.brainscore.ceilings import Ceiling as Ceiling
    from neuroarena.families.brainscore.ceilings import NeuronalPropertyCeiling as NeuronalPropertyCeiling
    from neuroarena.families.brainscore.family import FAMILY as FAMILY
    from neuroarena.families.brainscore.loading import load_benchmark as load_benchmark
    from neuroarena.families.brainscore.loading import load_ceiling as load_ceiling
    from neuroarena.families.brainscore.loading import load_dataset as load_dataset
    from neuroarena.families.brainscore.loading import load_metric as load_metric
    from neuroarena.families.brainscore.loading import load_model as load_model
    from neuroarena.families.brainscore.loading import load_stimulus_set as load_stimulus_set
    from neuroarena.families.brainscore.loading import score as score
    from neuroarena.families.brainscore.metrics import (
        CrossRegressedCorrelation as CrossRegressedCorrelation,
    )
    from neuroarena.families.brainscore.metrics import CrossValidation as CrossValidation
    from neuroarena.families.brainscore.metrics import Metric as Metric
    from neuroarena.families.brainscore.neural import NeuralBenchmark as NeuralBenchmark
    from neuroarena.families.brainscore.neural import TrainTestNeuralBenchmark as TrainTestNeuralBenchmark
    from neuroarena.families.brainscore.normalisation import explained_variance as explained_variance
    from neuroarena.families.brainscore.properties import PropertiesBenchmark as PropertiesBenchmark
    from neuroarena.families.brainscore.registries import benchmark_registry as benchmark_registry
    from neuroarena.families.brainscore.rsa import RSABenchmark as RSABenchmark
    from neuroarena.families.brainscore.screen import place_on_screen as place_on_screen

_MODULES: dict[str, tuple[str, ...]] = {
    ".assemblies": (
        "DataAssembly",
        "NeuroidAssembly",
    ),
    ".benchmark": (
        "Benchmark",
        "BenchmarkBase",
    ),
    ".brain_model": ("BrainModel",),
    ".brain_score": ("Score",),
    ".ceilings": (
        "Ceiling",
        "NeuronalPropertyCeiling",
    ),
    ".family": ("FAMILY",),
    ".loading": (
        "load_benchmark",
        "load_ceiling",
        "load_dataset",
        "load_metric",
        "load_model",
        "load_stimulus_set",
        "score",
    ),
    ".metrics": (
        "CrossRegressedCorrelation",
        "CrossValidation",
        "Metric",
    ),
    ".neural": (
        "NeuralBenchmark",
        "TrainTestNeuralBenchmark",
    ),
    ".normalisation": ("explained_variance",),
    ".properties": ("PropertiesBenchmark",),
    ".registries": ("benchmark_registry",),
    ".rsa": ("RSABenchmark",),
    ".screen": ("place_on_screen",),
    ".vision": (
        "DATASET",
        "STIMULUS_SETS",
        "STUDIES",
        "Study",
        "VisionFolder",
        "simulate",
        "verify",
    ),
}

__getattr__, __dir__, __all__ = lazy_names(__name__, _MODULES, "vision", ("xarray", "h5netcdf"))
