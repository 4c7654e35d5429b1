"""Judge submitted code: it answers in the sandbox through a family's contract, and is scored here."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pandas as pd

from neuroarena.benchmarks import Benchmark, resolve
from neuroarena.benchmarks.faces import families_with, find_face
from neuroarena.errors import InputError
from neuroarena.evaluation.record import current_time
from neuroarena.evaluation.results import Result, save_result
from neuroarena.evaluation.submitted import HandedIn, judge_answers, source_of
from neuroarena.progress import Progress, Silence
from neuroarena.sandbox import Control, Limits, Outcome
from neuroarena.sandbox.archives import check_python, unpack_submission
from neuroarena.sandbox.limits import Isolation
from neuroarena.scoring import check_name


@dataclass(frozen=True)
class CodeRequest:
    """What is asked of a code submission.

    Attributes
    ----------
    file : Path
        The archive.
    name : str
        The benchmark as it was named, such as ``family@definition``.
    definition : str
    tasks : tuple of str
        The tasks that the name stands for.
    data, split : str, optional
        Folder of the dataset, and the split; by default the first.
    fast : bool
        Judge only a few subjects, to see whether the code runs.
    limits, isolation, seed, control
        Of the sandbox: what the code may use, how it is isolated, what draws batches and order of the questions, and
        how the run can be ended early.
    """

    file: Path
    name: str
    definition: str
    tasks: tuple[str, ...]
    data: str | None = None
    split: str | None = None
    fast: bool = False
    limits: Limits | None = None
    isolation: Isolation | None = None
    seed: int = 0
    control: Control | None = None


# An answer that changes by more than this when it is asked again is noted.
REPLAY_THRESHOLD = 1e-4


@dataclass(frozen=True)
class TaskAnswers:
    """What code answered to one task: the benchmark, the name of the split, and the predictions."""

    benchmark: Benchmark
    split: str
    predictions: pd.DataFrame


@dataclass(frozen=True)
class CodeAnswers:
    """What code answered to all tasks, and how it ran."""

    tasks: tuple[TaskAnswers, ...]
    ran: dict[str, Any]


@dataclass(frozen=True)
class Sheet:
    """A report for people: a table, and sentences below it."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    sentences: tuple[str, ...] = ()


class CodeContract(Protocol):
    """The face ``code_contract`` of a family: how its code submissions are asked and reported."""

    def answer(self, request: CodeRequest, progress: Progress) -> CodeAnswers:
        """Run the code in the sandbox and return its answers; refuse what the family does not accept."""
        ...

    def report(self, answers: CodeAnswers, results: Sequence[Result]) -> dict[str, Any]:
        """Return the family's own report as plain JSON values, overall score included."""
        ...

    def lay_out(self, report: dict[str, Any]) -> Sheet:
        """Return the report as a table for people."""
        ...


@dataclass(frozen=True)
class CodeResult:
    """The outcome of a code submission: one result per task, and the family's own report."""

    results: tuple[Result, ...]
    report: dict[str, Any] = field(repr=False)


def score_code(
    file: str | Path,
    benchmark: str,
    split: str | None = None,
    *,
    data: str | None = None,
    name: str | None = None,
    out: str | Path | None = None,
    fast: bool = False,
    limits: Limits | None = None,
    isolation: Isolation | None = None,
    seed: int | None = None,
    control: Control | None = None,
    progress: Progress | None = None,
) -> CodeResult:
    """Score a code submission; the code runs in a process that never holds a label, and is never imported here.

    Parameters
    ----------
    file : path
        The archive that the family's contract asks for.
    benchmark : str
        ``family[@definition]``.
    split, data, fast, limits, isolation, seed, control
        See :class:`CodeRequest`; by default the seed is drawn, and nobody knows it beforehand.
    name : str, optional
        What boards call it; by default the name of the file.
    out : path, optional
        Folder to keep the results in, one folder per task.
    progress : Progress, optional

    Returns
    -------
    CodeResult

    Raises
    ------
    InputError
        For a family that accepts no code, and for a bad file.
    NeuroarenaError
        For a model that fails.
    """
    path = Path(file)
    contract, definition, tasks = find_contract(benchmark)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Expected a zip with the code.")
    shown, started = check_name(path.stem if name is None else name, path.name), current_time()
    request = CodeRequest(
        path,
        benchmark,
        definition,
        tasks,
        data,
        split,
        fast,
        limits,
        isolation,
        secrets.randbits(128) if seed is None else seed,
        control,
    )
    answers = contract.answer(request, progress or Silence())
    about = HandedIn("code", shown, source_of(path), answers.ran, started)
    results = [judge_answers(each.benchmark, each.split, each.predictions, about) for each in answers.tasks]
    report = contract.report(answers, results)
    if out is not None:
        results = [save_result(result, Path(out)) for result in results]
    return CodeResult(tuple(results), report)


def find_contract(benchmark: str) -> tuple[CodeContract, str, tuple[str, ...]]:
    """Find the code contract of a benchmark's family, with the definition and the tasks that the name stands for.

    Raises
    ------
    InputError
        When the family accepts no code; those that do are named.
    """
    family, definition, tasks = resolve(benchmark)
    contract: CodeContract | None = find_face(family, "code_contract")
    if contract is None:
        takers = ", ".join(families_with("code_contract")) or "none"
        raise InputError(f'"{benchmark}" does not accept code. Families that do: {takers}.')
    return contract, definition, tasks


def check_code(benchmark: str, file: Path) -> None:
    """Check an archive of code by the contract of a benchmark's family, as the server does; nothing in it is run.

    Raises
    ------
    InputError
        Naming the archive and what is wrong with it.
    """
    contract = find_contract(benchmark)[0]
    entry = getattr(contract, "entry", "submission.py")
    with unpack_submission(file, entry) as folder:
        check_python(folder / entry, file.name, getattr(contract, "defines", ()))


def describe_runs(runs: Mapping[str, tuple[Outcome, float | None]]) -> dict[str, Any]:
    """Describe how code ran, for its record: part -> (outcome, largest change when questions were asked again)."""
    outcomes = [outcome for outcome, _ in runs.values()]
    changes = {part: change for part, (_, change) in runs.items() if change is not None}
    said: dict[str, Any] = {
        "isolation": outcomes[0].isolation,
        "runtime": outcomes[0].runtime,
        "hard_limits": all(each.hard_limits for each in outcomes),
        "warnings": list(dict.fromkeys(word for each in outcomes for word in each.warnings)),
        "seconds": {part: round(outcome.seconds, 2) for part, (outcome, _) in runs.items()},
        "replay_difference": changes,
    }
    changed = sorted(part for part, change in changes.items() if change > REPLAY_THRESHOLD)
    if changed:
        said["warnings"].append(
            f"answers changed by more than {REPLAY_THRESHOLD:g} when they were asked again: {', '.join(changed)}"
        )
    return said


def describe_isolation(report: Mapping[str, Any]) -> str:
    """Return one sentence about how code was isolated."""
    if report["isolation"] == "none":
        return "The code ran WITHOUT ISOLATION."
    return f"The code ran in {report['isolation']}, runtime {str(report['runtime'])[:12]}."
