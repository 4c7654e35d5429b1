"""The code contract of the challenge: both challenges are answered in the sandbox, and reported with their overall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.benchmarks import Benchmark, load_benchmarks
from neuroarena.errors import InputError
from neuroarena.evaluation.code import (
    CodeAnswers,
    CodeRequest,
    Sheet,
    TaskAnswers,
    describe_isolation,
    describe_runs,
)
from neuroarena.evaluation.model_contract import Answered, Asking
from neuroarena.evaluation.prediction_table import prediction_table
from neuroarena.evaluation.questions import Questions
from neuroarena.evaluation.results import Result
from neuroarena.families.eeg2025.code_contract import Shown, answer_challenges
from neuroarena.families.eeg2025.submissions import (
    people_of,
    prediction_rows,
    report_scores,
    submission_windows,
)
from neuroarena.families.eeg2025.windows import WINDOW
from neuroarena.progress import Progress

CHALLENGES = {1: "response-time", 2: "externalizing"}


class ChallengeContract:
    """A zip with ``submission.py``: two models, one for each challenge, asked window by window."""

    defines = ("Submission",)

    def ask(
        self, code: Path, questions: Mapping[str, Questions], asking: Asking, progress: Progress | None = None
    ) -> Answered:
        """Put the questions of both challenges to submitted code, with no label anywhere near.

        A person who is one question of many windows gets the mean of the answers.
        """
        numbers = {task: number for number, task in CHALLENGES.items()}
        answers = answer_challenges(
            code,
            {numbers[task]: _show(own) for task, own in questions.items()},
            asking.limits,
            stateless=asking.windows != "as-scored",
            rng=asking.rng(""),
            isolation=asking.isolation,
            control=asking.control,
            progress=progress,
        )
        tables = {}
        for task, own in questions.items():
            values = answers[numbers[task]].values
            counts = [len(cut_windows(own.read(row))) for row in range(len(own))]
            means = [float(part.mean()) for part in np.split(values, np.cumsum(counts)[:-1])]
            tables[task] = prediction_table(np.array(means), own.table["id"].to_numpy(), own.manifest)
        runs = {
            task: (answers[numbers[task]].outcome, answers[numbers[task]].replay_difference)
            for task in questions
        }
        log = "".join(outcome.stderr_tail for outcome, _ in runs.values())
        return Answered(tables, describe_runs(runs), log)

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
            {number: _batches(each, split) for number, each in benchmarks.items()},
            request.limits,
            stateless=request.definition != "as-scored",
            rng=np.random.default_rng(request.seed),
            isolation=request.isolation,
            control=request.control,
            progress=progress,
        )
        ran = describe_runs(
            {f"challenge{number}": (each.outcome, each.replay_difference) for number, each in answers.items()}
        )
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
            f"{describe_isolation(report)} Lower is better; the constant mean scores 1.",
            *(f"Note: {sentence}" for sentence in (*report["warnings"], *report["notes"])),
        ]
        if report.get("no_intervals"):
            sentences.append(f"No intervals: {report['no_intervals']}")
        columns = ("score", "nRMSE", "95 % interval over people")
        return Sheet(title, columns, tuple(rows), tuple(sentences))


CONTRACT = ChallengeContract()


def cut_windows(signal: np.ndarray) -> np.ndarray:
    """Cut a question (channels, samples) into its windows (n, channels, 200)."""
    return np.ascontiguousarray(signal.reshape(len(signal), -1, WINDOW).transpose(1, 0, 2))


def _show(questions: Questions) -> Callable[[], Iterator[Shown]]:
    """Return a callable that yields the windows of every question."""

    def windows() -> Iterator[Shown]:
        for row in range(len(questions)):
            asked = questions.table.iloc[row]
            yield Shown(asked["person"], cut_windows(questions.read(row)), asked["known"])

    return windows


def _batches(benchmark: Benchmark, split: str) -> Callable[[], Iterator[Shown]]:
    """Return a callable that yields the windows of a challenge, one recording or person after the other."""

    def windows() -> Iterator[Shown]:
        people = people_of(benchmark, split)
        for key, batch in submission_windows(benchmark, split):
            person, known = people[key]
            yield Shown(person, batch, known)

    return windows
