"""Code submissions: a zip with ``hum.py``, whose ``predict(windows)`` returns the probability of a loud hum."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks import load_benchmarks
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.code import CodeAnswers, CodeRequest, Sheet, TaskAnswers
from neuroarena.progress import Progress
from neuroarena.sandbox import collect_isolated
from neuroarena.sandbox.archives import unpack_submission
from neuroarena_hum.dataset import WINDOW

GUEST = """
import sys; sys.path.insert(0, sys.argv[1])
import numpy, hum
answers = numpy.asarray(hum.predict(numpy.load(sys.argv[2] + "/windows.npy")), dtype="float64")
sys.stdout.buffer.write(answers.tobytes())
"""


class HumContract:
    """One model, asked once, in a process that holds no labels."""

    def answer(self, request: CodeRequest, progress: Progress) -> CodeAnswers:
        """Run the code on all test windows of hum/loud."""
        (benchmark,) = load_benchmarks("hum/loud", request.data)
        split = request.split or benchmark.splits[0]
        judged = benchmark.truth(benchmark.split(split))["id"]
        examples = benchmark.examples.set_index("id").loc[judged]
        windows = np.stack(
            [
                benchmark.recording(row.recording).read(int(row.start), int(row.start) + WINDOW)
                for row in examples.itertuples()
            ]
        )
        with unpack_submission(request.file, "hum.py") as code, tempfile.TemporaryDirectory() as scratch:
            given = Path(scratch) / "given"
            given.mkdir()
            np.save(given / "windows.npy", windows)
            outcome, said = collect_isolated(
                [sys.executable, "-I", "-c", GUEST, code, given],
                8 * len(windows),
                inputs={"code": code, "given": given},
                limits=request.limits,
                isolation=request.isolation,
            )
            loud = np.frombuffer(said, "<f8") if len(said) % 8 == 0 else np.empty(0)
            if outcome.status != "finished" or loud.shape != (len(windows),):
                raise NeuroarenaError(f"{request.file.name}: hum.py failed: {outcome.stderr_tail[-200:]}")
        table = pd.DataFrame({"id": list(judged), "p_0": 1 - loud, "p_1": loud})
        return CodeAnswers((TaskAnswers(benchmark, split, table),), {"isolation": outcome.isolation})

    def report(self, answers: CodeAnswers, results: Sequence[Any]) -> dict[str, Any]:
        """Return the score and how the code ran."""
        return {"score": results[0].score, **answers.ran}

    def lay_out(self, report: dict[str, Any]) -> Sheet:
        """Return the report as a table of one row."""
        return Sheet(
            "hum", ("score",), ((f"{report['score']:.3f}",),), (f"It ran in {report['isolation']}.",)
        )


CONTRACT = HumContract()
