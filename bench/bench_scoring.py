"""Measure scoring: a million predictions of bci, retrieval against a bare product, CER against a bare loop.

One BLAS thread. Ratios are of the best of a few timings, taken in turns, so that a busy machine slows both.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  (threads are set before NumPy starts)

QUERIES, CANDIDATES, LENGTH = 20_000, 1_000, 1_536
FIGURES = {
    "bci_million_s": ("scoring 1,000,000 labels of bci, s of the clock", "", None),
    "bci_peak_mb": ("peak memory of it with both tables, MB", "", None),
    "retrieval_ratio": (
        "retrieval of 20,000 queries x 1,000 candidates, against the bare product",
        "at most",
        2.0,
    ),
    "cer_ratio": ("error rate of 10,000 lines, against a bare rapidfuzz loop", "at most", 3.0),
}
RUNS = 3
LINES = 10_000

BCI_TRIAL = """
import json
from time import perf_counter
import numpy as np, pandas as pd
from neuroarena.scoring import Manifest, score

def peak():
    # Not getrusage: its peak is inherited from the process that started this one.
    with open("/proc/self/status") as status:
        return int(next(line.split()[1] for line in status if line.startswith("VmHWM"))) / 1024

n = 1_000_000
manifest = Manifest(
    name="bci/bench", definition="1", title="Bench", question="Which command?", metric="balanced_accuracy",
    tie_break="macro_f1", prediction="label", classes=("feet", "math", "word"), unit="session", cluster="person",
    split_rule="none", licence="CC0",
)
rng = np.random.default_rng(0)
ids = np.char.add("e", np.arange(n).astype(str)).astype(object)
cell = rng.integers(0, 1000, n)
names = np.array(manifest.classes, dtype=object)
truth = pd.DataFrame({"id": ids, "fold": "0", "unit": np.char.add("u", cell.astype(str)).astype(object),
                      "cluster": np.char.add("p", (cell % 10).astype(str)).astype(object),
                      "target": names[rng.integers(0, 3, n)]})
order = rng.permutation(n)
predictions = pd.DataFrame({"id": ids[order], "label": names[rng.integers(0, 3, n)]})
before, began = peak(), perf_counter()
value = score(predictions, truth, manifest).value
took = perf_counter() - began
print(json.dumps({"bci_million_s": took, "bci_tables_mb": before, "bci_peak_mb": peak(), "bci_value": value}))
"""


def in_turns(*works: Callable[[], Any], repeat: int = 3) -> list[float]:
    """Give the best of a few timings of each, in seconds; they take turns."""
    best = [float("inf")] * len(works)
    for _ in range(repeat):
        for place, work in enumerate(works):
            began = perf_counter()
            work()
            best[place] = min(best[place], perf_counter() - began)
    return best


def bench_bci() -> dict[str, float]:
    """Score a million labels in a fresh process; its peak holds both tables."""
    done = subprocess.run([sys.executable, "-c", BCI_TRIAL], check=True, capture_output=True, text=True)
    figures: dict[str, float] = json.loads(done.stdout)
    return figures


def bench_retrieval() -> dict[str, float]:
    """Time ranks, with the merging of equal candidates, against the bare product of the same matrices."""
    from neuroarena.scoring import METRICS
    from neuroarena.scoring.manifest import Manifest

    manifest = Manifest(
        name="img/bench", definition="1", title="Bench", question="Which image?", metric="top5",
        prediction="vector", unit="query", split_rule="none", licence="CC0",
    )  # fmt: skip
    rng = np.random.default_rng(0)
    images = rng.standard_normal((CANDIDATES, LENGTH)).astype(np.float32)
    own = rng.integers(0, CANDIDATES, QUERIES)
    prediction = 0.1 * images[own] + rng.standard_normal((QUERIES, LENGTH)).astype(np.float32)
    target, fold = images[own], np.zeros(QUERIES, dtype=np.int64)
    whole = METRICS.get("top5").whole
    assert whole is not None
    bare, ours = in_turns(
        lambda: prediction @ images.T, lambda: whole.step(prediction, target, fold, manifest)
    )
    return {
        "retrieval_product_s": bare,
        "retrieval_ranks_s": ours,
        "retrieval_ratio": ours / bare,
        "retrieval_aim": 2.0,
    }


def bench_text() -> dict[str, float]:
    """Time the error rate of a block of lines against a bare rapidfuzz loop, and of as many blocks of one."""
    import pandas as pd
    from rapidfuzz.distance import Levenshtein

    from neuroarena.scoring import METRICS, Manifest, score

    manifest = Manifest(
        name="emg/bench", definition="1", title="Bench", question="What was typed?", metric="cer",
        prediction="text", unit="block", split_rule="none", licence="CC0",
    )  # fmt: skip
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghij klmnop"))
    references = ["".join(rng.choice(letters, 80)) for _ in range(LINES)]
    hypotheses = ["".join(rng.choice(letters, rng.integers(60, 100))) for _ in range(LINES)]
    ids = [f"line{row:05d}" for row in range(LINES)]
    truth = pd.DataFrame({"id": ids, "fold": "0", "unit": ids, "cluster": "", "target": references})
    predictions = pd.DataFrame({"id": ids, "text": hypotheses})
    block = np.array(hypotheses, dtype=object), np.array(references, dtype=object)

    def loop() -> float:
        errors = characters = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            errors += Levenshtein.distance(hypothesis, reference)
            characters += len(reference)
        return errors / characters

    bare, ours, whole = in_turns(
        loop,
        lambda: METRICS.get("cer").function(*block, manifest),
        lambda: score(predictions, truth, manifest),
        repeat=5,
    )
    return {
        "cer_loop_s": bare,
        "cer_block_s": ours,
        "cer_ratio": ours / bare,
        "cer_aim": 3.0,
        "cer_checked_and_scored_as_units_s": whole,
        "cer_checked_and_scored_ratio": whole / bare,
    }


def main() -> dict[str, float]:
    """Run everything and return the figures."""
    return {**bench_bci(), **bench_retrieval(), **bench_text()}


if __name__ == "__main__":
    print(json.dumps({name: float(f"{value:.4g}") for name, value in main().items()}, indent=2))
