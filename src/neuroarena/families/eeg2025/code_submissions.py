"""Judging code that others hand in: it answers in the sandbox, and is scored here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.benchmarks import Benchmark, load_benchmarks, resolve
from neuroarena.datasets import locate
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.code_contract import answer_challenges
from neuroarena.families.eeg2025.submissions import score_windows, submission_windows
from neuroarena.progress import Progress, Silence
from neuroarena.sandbox import Limits
from neuroarena.sandbox.limits import Isolation

CHALLENGES = {1: "response-time", 2: "externalizing"}


def score_code(
    name: str,
    zip_path: str | Path,
    data: str | None = None,
    split: str | None = None,
    *,
    fast: bool = False,
    limits: Limits | None = None,
    isolation: Isolation | None = None,
    seed: int = 0,
    replay: int = 0,
    progress: Progress | None = None,
) -> dict[str, Any]:
    """Score a code submission of the EEG Foundation Challenge 2025.

    The participant's code runs in a process that never holds a label; this process never imports it.

    Parameters
    ----------
    name : str
        ``eeg2025`` or ``eeg2025@as-described``.
    zip_path : path
        A zip with ``submission.py`` at its root.
    data : str, optional
        Folder of HBN-EEG.
    split : str, optional
        ``validation`` (R5) or ``sealed`` (R12); by default the first.
    fast : bool
        Judge only a few people, to see whether the submission runs.
    limits, isolation
        See :func:`neuroarena.families.eeg2025.code_contract.answer_challenges`.
    seed : int
        Draws the order of windows, where the definition mixes them.
    replay : int
        Windows to ask again in a new process, where the definition gives every window a fresh copy.
    progress : Progress, optional

    Returns
    -------
    dict
        ``overall``, ``challenge1``, ``challenge2``, their intervals, and how the code was isolated.

    Raises
    ------
    InputError
        For another family or definition, and for a bad file.
    NeuroarenaError
        For a model that fails.
    """
    family, definition, tasks = resolve(name)
    if family.name != "eeg2025" or definition == "zero-shot":
        raise InputError(
            f'"{name}" takes no code. Code is handed in for eeg2025@as-scored and eeg2025@as-described.'
        )
    if len(tasks) == 1:
        raise InputError(
            f'"{name}" names one task, and code is judged on {" and ".join(CHALLENGES.values())} at once. '
            f"Use eeg2025@{definition}."
        )
    path = Path(zip_path)
    if not path.is_file():
        raise InputError(f"{path}: there is no such file. Expected a zip with submission.py at its root.")
    benchmarks = {
        number: load_benchmarks(f"eeg2025@{definition}/{task}", data, fast=fast)[0]
        for number, task in CHALLENGES.items()
    }
    shown = progress or Silence()
    answers = answer_challenges(
        path,
        {number: _batches(number, benchmark, split, shown) for number, benchmark in benchmarks.items()},
        limits,
        fresh_copy=definition == "as-described",
        rng=np.random.default_rng(seed),
        isolation=isolation,
        hidden=[locate("hbn", data).resolve()],
        replay=replay,
    )
    said = score_windows(benchmarks[1], answers[1].values, benchmarks[2], answers[2].values, split)
    outcomes = {number: each.outcome for number, each in answers.items()}
    return said | {
        "isolation": outcomes[1].isolation,
        "warnings": list(dict.fromkeys(word for each in outcomes.values() for word in each.warnings)),
        "seconds": {f"challenge{number}": round(each.seconds, 2) for number, each in outcomes.items()},
        "replay_difference": {
            f"challenge{number}": each.replay_difference for number, each in answers.items() if replay
        },
    }


def _batches(number: int, benchmark: Benchmark, split: str | None, progress: Progress) -> Any:
    """Give a callable that goes through the windows of a challenge, telling how far it is."""

    def windows() -> Iterator[np.ndarray]:
        stage = f"challenge {number}"
        chosen = benchmark.split(split or benchmark.splits[0])
        ids = {example for fold in chosen.folds for example in fold.test}
        judged = benchmark.examples.loc[benchmark.examples["id"].isin(ids), "recording"]
        progress.begin(stage, judged.nunique())
        for _, batch in submission_windows(benchmark, split):
            yield batch
            progress.advance(stage)

    return windows
