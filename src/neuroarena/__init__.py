"""neuroarena: where neural decoders are evaluated, compared and ranked.

The names below are loaded when they are first used, so that ``import neuroarena`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuroarena.lazily import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from neuroarena.benchmarks import Benchmark as Benchmark
    from neuroarena.benchmarks import load_benchmark as load_benchmark
    from neuroarena.board import Board as Board
    from neuroarena.datasets import load_dataset as load_dataset
    from neuroarena.decoders import from_braindecode as from_braindecode
    from neuroarena.decoders import from_encoder as from_encoder
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

_MODULES: dict[str, tuple[str, ...]] = {
    ".benchmarks": (
        "Benchmark",
        "load_benchmark",
    ),
    ".board": ("Board",),
    ".datasets": ("load_dataset",),
    ".decoders": (
        "from_braindecode",
        "from_encoder",
        "from_sklearn",
        "from_torch",
        "load_decoder",
    ),
    ".errors": ("NeuroarenaError",),
    ".evaluation": (
        "evaluate",
        "evaluate_all",
        "load_result",
        "score_predictions",
    ),
    ".recordings": ("Recording",),
    ".scoring": (
        "Manifest",
        "UnitScores",
        "score",
        "write_submission",
    ),
}
__getattr__, __dir__, _later = lazy_names(__name__, _MODULES)

__all__ = ["__version__", *_later]
