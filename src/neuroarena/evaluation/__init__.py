"""Run decoders on benchmarks: plan, cache, engine, progress, results."""

from __future__ import annotations

from neuroarena.evaluation.cache import default_cache
from neuroarena.evaluation.engines import available_cores
from neuroarena.evaluation.evaluate import Interrupted, evaluate, evaluate_all
from neuroarena.evaluation.record import RunRecord
from neuroarena.evaluation.results import Result, find_results, load_result, save_result
from neuroarena.evaluation.submitted import score_predictions
from neuroarena.progress import Progress, Silence, TerminalProgress

__all__ = [
    "Interrupted",
    "Progress",
    "Result",
    "RunRecord",
    "Silence",
    "TerminalProgress",
    "available_cores",
    "default_cache",
    "evaluate",
    "evaluate_all",
    "find_results",
    "load_result",
    "save_result",
    "score_predictions",
]
