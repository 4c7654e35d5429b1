"""Measure what a code submission costs: starting a sandbox, and a window by isolation mode and state."""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import zipfile
from pathlib import Path
from time import perf_counter

import numpy as np
import pandas as pd

from neuroarena.evaluation.model_contract import CONTRACT, Asking
from neuroarena.evaluation.questions import Questions
from neuroarena.sandbox import Limits, run_isolated
from neuroarena.sandbox.runtime import find_runtime
from neuroarena.sandbox.selftest import run_self_test
from neuroarena.scoring import Manifest

FIGURES = {
    "window_bubblewrap_stateless_ms": ("a window of submitted code, bubblewrap, stateless, ms", "", None),
    "window_bubblewrap_as-scored_ms": ("a window of submitted code, bubblewrap, as scored, ms", "", None),
    "window_none_stateless_ms": ("a window of submitted code, no isolation, stateless, ms", "", None),
    "window_none_as-scored_ms": ("a window of submitted code, no isolation, as scored, ms", "", None),
    "start_ratio_bubblewrap_to_none": ("start of a guest in bubblewrap, against none", "", None),
    "self_test_s": ("the self-test of a worker, s", "", None),
}
RUNS = 3
REPEATS = 5
PEOPLE, WINDOWS = 10, 6
CHANNELS, SAMPLES = 64, 400
SUBMISSION = """
class Model:
    def predict(self, X):
        return ["left" if X.mean() > 0 else "right"]

def load_model(meta):
    return Model()
"""
MANIFEST = Manifest(
    name="bench/sign",
    definition="1",
    title="Sign",
    question="Which sign?",
    metric="balanced_accuracy",
    prediction="label",
    classes=("left", "right"),
    unit="person",
    split_rule="all",
    licence="none",
)


def start_s(isolation: str, source: str) -> float:
    """Median wall time of a run that does nothing but this."""
    times = []
    for _ in range(REPEATS):
        started = perf_counter()
        outcome = run_isolated([sys.executable, "-I", "-c", source], isolation=isolation)
        assert outcome.status == "finished", outcome
        times.append(perf_counter() - started)
    return round(statistics.median(times), 4)


def make_questions() -> Questions:
    """Return windows of 64 channels, as many of each person."""
    rows = [(f"p{person}", number) for person in range(PEOPLE) for number in range(WINDOWS)]
    table = pd.DataFrame({"id": [f"{person}-{number}" for person, number in rows]})
    table["person"] = table["recording"] = [person for person, _ in rows]
    table["channels"] = [tuple(f"E{i}" for i in range(CHANNELS))] * len(rows)
    table["rate_hz"], table["known"] = 100.0, [{} for _ in rows]
    window = np.random.default_rng(0).standard_normal((CHANNELS, SAMPLES)).astype(np.float32)
    return Questions("bench@1/sign", MANIFEST, table, lambda _: window)


def window_ms(folder: Path, isolation: str, windows: str | None) -> float:
    """Milliseconds per window of a whole submission, starts included, replays counted as windows."""
    path = folder / "submission.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("submission.py", SUBMISSION)
    questions = make_questions()
    asked = len(questions) + (0 if windows == "as-scored" else 2 * PEOPLE)
    started = perf_counter()
    CONTRACT.ask(path, {"": questions}, Asking(Limits(seconds=600), isolation, windows=windows))
    return round(1000 * (perf_counter() - started) / asked, 2)


def main() -> dict[str, float]:
    """Return the figures."""
    find_runtime()
    figures = {}
    for isolation in ("bubblewrap", "none"):
        figures[f"start_{isolation}_s"] = start_s(isolation, "")
        figures[f"start_{isolation}_numpy_s"] = start_s(isolation, "import numpy")
    with tempfile.TemporaryDirectory() as folder:
        for isolation in ("bubblewrap", "none"):
            for windows in ("stateless", "as-scored"):
                figures[f"window_{isolation}_{windows}_ms"] = window_ms(Path(folder), isolation, windows)
    figures["self_test_s"] = round(run_self_test().seconds, 2)
    figures["start_ratio_bubblewrap_to_none"] = round(
        figures["start_bubblewrap_s"] / figures["start_none_s"], 2
    )
    return figures


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
