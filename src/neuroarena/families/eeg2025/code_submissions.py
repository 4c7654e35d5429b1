"""The code contract of the challenge: both challenges are answered in the sandbox, and reported with their overall."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from neuroarena.benchmarks import Benchmark, load_benchmarks
from neuroarena.datasets import locate
from neuroarena.errors import InputError
from neuroarena.evaluation.code import CodeAnswers, CodeRequest, Sheet, TaskAnswers
from neuroarena.evaluation.results import Result
from neuroarena.families.eeg2025.code_contract import answer_challenges
from neuroarena.families.eeg2025.submissions import prediction_rows, report_scores, submission_windows
from neuroarena.progress import Progress

CHALLENGES = {1: "response-time", 2: "externalizing"}
_HOW = {"bubblewrap": "in bubblewrap", "process": "in a plain child process, which isolates little"}


class ChallengeContract:
    """A zip with ``submission.py``: two models, one for each challenge, asked window by window."""

    def answer(self, request: CodeRequest, progress: Progress) -> CodeAnswers:
        """Run the code on the windows of both challenges.

        Raises
        ------
        InputError
            For another definition, a single task, and a bad file.
        NeuroarenaError
            For a model that fails.
        """
        if request.definition == "zero-shot":
            raise InputError(
                f'"{request.name}" does not accept code. '
                "Code is submitted for eeg2025@as-scored and eeg2025@as-described."
            )
        if len(request.tasks) == 1:
            raise InputError(
                f'"{request.name}" names one task, but code is judged on {" and ".join(CHALLENGES.values())} at once. '
                f"Use eeg2025@{request.definition}."
            )
        benchmarks = {
            number: load_benchmarks(f"eeg2025@{request.definition}/{task}", request.data, fast=request.fast)[
                0
            ]
            for number, task in CHALLENGES.items()
        }
        split = request.split or benchmarks[1].splits[0]
        answers = answer_challenges(
            request.file,
            {number: _batches(number, each, split, progress) for number, each in benchmarks.items()},
            request.limits,
            fresh_copy=request.definition == "as-described",
            rng=np.random.default_rng(request.seed),
            isolation=request.isolation,
            hidden=[locate("hbn", request.data).resolve()],
            replay=request.replay,
        )
        outcomes = {number: each.outcome for number, each in answers.items()}
        ran = {
            "isolation": outcomes[1].isolation,
            "warnings": list(dict.fromkeys(word for each in outcomes.values() for word in each.warnings)),
            "seconds": {f"challenge{number}": round(each.seconds, 2) for number, each in outcomes.items()},
            "replay_difference": {
                f"challenge{number}": each.replay_difference
                for number, each in answers.items()
                if request.replay
            },
        }
        tasks = tuple(
            TaskAnswers(each, split, prediction_rows(each, answers[number].values, split))
            for number, each in benchmarks.items()
        )
        return CodeAnswers(tasks, ran)

    def report(self, answers: CodeAnswers, results: Sequence[Result]) -> dict[str, Any]:
        """Return the published keys (overall, challenge1, challenge2), their intervals, and how the code ran."""
        first, second = answers.tasks
        scores = [each.unit_scores for each in results]
        assert scores[0] is not None
        assert scores[1] is not None
        said = report_scores(first.benchmark, scores[0], second.benchmark, scores[1], first.split)
        return said | answers.ran

    def lay_out(self, report: dict[str, Any]) -> Sheet:
        """Return the report as a table of three scores."""
        rows = []
        for name in ("overall", "challenge1", "challenge2"):
            edges = (report["intervals"] or {}).get(name)
            interval = "-" if edges is None else f"{edges[0]:.5f} to {edges[1]:.5f}"
            rows.append((name, f"{report[name]:.5f}", interval))
        mark = ", simulated" if report["simulated"] else ""
        title = f"eeg2025@{report['definition']}, {report['split']}, {report['n_people']} people{mark}"
        sentences = [
            f"The code ran {_HOW[report['isolation']]}. Lower is better; the constant mean scores 1.",
            *(f"Note: {sentence}" for sentence in (*report["warnings"], *report["notes"])),
        ]
        if report.get("no_intervals"):
            sentences.append(f"No intervals: {report['no_intervals']}")
        columns = ("score", "nRMSE", "95 % interval over people")
        return Sheet(title, columns, tuple(rows), tuple(sentences))


CONTRACT = ChallengeContract()


def _batches(number: int, benchmark: Benchmark, split: str, progress: Progress) -> Any:
    """Return a callable that yields the windows of a challenge and reports its progress."""

    def windows() -> Iterator[np.ndarray]:
        stage = f"challenge {number}"
        chosen = benchmark.split(split)
        ids = {example for fold in chosen.folds for example in fold.test}
        judged = benchmark.examples.loc[benchmark.examples["id"].isin(ids), "recording"]
        progress.begin(stage, judged.nunique())
        for _, batch in submission_windows(benchmark, split):
            yield batch
            progress.advance(stage)

    return windows
