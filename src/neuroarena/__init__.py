"""neuroarena: where neural decoders are evaluated, compared and ranked.

The names below are loaded when they are first used, so that ``import neuroarena`` stays light.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from neuroarena.benchmarks import Benchmark as Benchmark
    from neuroarena.benchmarks import load_benchmark as load_benchmark
    from neuroarena.board import Board as Board
    from neuroarena.datasets import load_dataset as load_dataset
    from neuroarena.decoders import from_sklearn as from_sklearn
    from neuroarena.decoders import from_torch as from_torch
    from neuroarena.decoders import load_decoder as load_decoder
    from neuroarena.errors import NeuroarenaError as NeuroarenaError
    from neuroarena.evaluation import evaluate_all as evaluate_all
    from neuroarena.evaluation import load_result as load_result
    from neuroarena.evaluation import score_predictions as score_predictions
    from neuroarena.evaluation.evaluate import evaluate as evaluate
    from neuroarena.recordings import Recording as Recording
    from neuroarena.scoring import Manifest as Manifest
    from neuroarena.scoring import UnitScores as UnitScores
    from neuroarena.scoring import write_submission as write_submission
    from neuroarena.scoring.score import score as score

_HOMES = {
    "Benchmark": "neuroarena.benchmarks",
    "Board": "neuroarena.board",
    "Manifest": "neuroarena.scoring",
    "NeuroarenaError": "neuroarena.errors",
    "Recording": "neuroarena.recordings",
    "UnitScores": "neuroarena.scoring",
    "evaluate": "neuroarena.evaluation",
    "evaluate_all": "neuroarena.evaluation",
    "from_sklearn": "neuroarena.decoders",
    "from_torch": "neuroarena.decoders",
    "load_benchmark": "neuroarena.benchmarks",
    "load_dataset": "neuroarena.datasets",
    "load_decoder": "neuroarena.decoders",
    "load_result": "neuroarena.evaluation",
    "score": "neuroarena.scoring",
    "score_predictions": "neuroarena.evaluation",
    "write_submission": "neuroarena.scoring",
}

__all__ = ["__version__", *sorted(_HOMES)]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
