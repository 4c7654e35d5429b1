"""A replay: a committed script trains anew in the sandbox, and what it answers is read on the trusted side."""

from __future__ import annotations

import dataclasses
import hashlib
import io
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.competition.arena import Arena
from neuroarena.competition.audit.claims import hash_files
from neuroarena.competition.audit.pipelines import Pipeline
from neuroarena.competition.audit.replay_data import QUESTIONS, TRAINING, copy_shuffled, list_folds
from neuroarena.competition.runner import ask_code
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.model_contract import Asking
from neuroarena.sandbox import Control, Limits
from neuroarena.sandbox.archives import SubmissionRefused
from neuroarena.sandbox.guests import SandboxFailed, SubmissionFailed
from neuroarena.sandbox.limits import Outcome, printable
from neuroarena.sandbox.run import collect_isolated
from neuroarena.scoring import Manifest

PREDICTIONS = "predictions.parquet"
MADE = {"predictions": PREDICTIONS, "code": "submission.zip"}
# How a sandbox ends through no fault of the code in it.
OURS = ("not started", "cancelled")
MOST_BYTES = 512 * 2**20
# Inside: put the zip's own folder first on the path and run the script as a program. What it prints goes to the log;
# the file it wrote leaves through the line: no folder can be written from both sides.
_RUN = """
import os, runpy, sys
line = os.dup(1)
os.dup2(2, 1)
sys.path.insert(0, sys.argv[1])
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
if os.path.isfile(sys.argv[3]):
    with open(sys.argv[3], "rb") as made, open(line, "wb") as sent:
        while chunk := made.read(1 << 20):
            sent.write(chunk)
"""


class ReplayFailed(NeuroarenaError):
    """A replay did not run to its end, or wrote nothing that can be read.

    Attributes
    ----------
    phrase : str
        What happened, without a word of the pipeline's own: the sentence may hold some, and is for organisers.
    outcome : Outcome or None
        How its process ended.
    """

    def __init__(self, phrase: str, sentence: str = "", outcome: Outcome | None = None) -> None:
        super().__init__(f"{phrase} {sentence}".strip())
        self.phrase, self.outcome = phrase, outcome


@dataclass(frozen=True)
class Replayed:
    """What one replay made.

    Attributes
    ----------
    content : tuple of bytes
        What the script wrote: predictions of each fold, or one zip of code; never opened before it was checked.
    sha256 : str
        Of these files together.
    seconds, peak_memory_mb : float
        The sum, and the largest, over the folds.
    isolation : str
    runtime : str or None
        Digest of the interpreter and libraries that it saw.
    warnings : tuple of str
    weights_problem : str, optional
        Why the code that it made does not have the weights that were committed.
    """

    content: tuple[bytes, ...]
    sha256: str
    seconds: float
    peak_memory_mb: float | None
    isolation: str
    runtime: str | None
    warnings: tuple[str, ...]
    weights_problem: str | None = None


def replay(
    pipeline: Pipeline,
    folder: Path,
    data: Path,
    seed: int,
    limits: Limits,
    *,
    shuffled: bool = False,
    control: Control | None = None,
) -> Replayed:
    """Train anew with a seed, and return what was written; predictions are made in one sandbox for each fold.

    Parameters
    ----------
    pipeline : Pipeline
    folder : Path
        The unpacked zip.
    data : Path
        What it reads; see :func:`.replay_data.write_replay_data`.
    seed : int
    limits : Limits
        Of each sandbox.
    shuffled : bool
        Whether the labels of the training part are put in a random order first.
    control : Control, optional
        How to end it early.

    Raises
    ------
    ReplayFailed
        When the script fails, exceeds its limits or writes nothing.
    """
    written, outcomes = [], []
    for number, fold in enumerate(list_folds(data)):
        with tempfile.TemporaryDirectory(prefix="neuroarena-replay-") as place:
            read = fold
            if shuffled:
                read = Path(place) / "data"
                copy_shuffled(fold, read, np.random.default_rng([seed, number]))
            content, outcome = _run_script(pipeline, folder, read, seed, limits, control)
        written.append(content)
        outcomes.append(outcome)
    peaks = [each.peak_memory_mb for each in outcomes if each.peak_memory_mb is not None]
    return Replayed(
        content=tuple(written),
        sha256=hashlib.sha256(b"".join(written)).hexdigest(),
        seconds=sum(each.seconds for each in outcomes),
        peak_memory_mb=max(peaks, default=None),
        isolation=outcomes[0].isolation,
        runtime=outcomes[0].runtime,
        warnings=tuple(sorted({sentence for each in outcomes for sentence in each.warnings})),
    )


def join_predictions(replayed: Replayed, data: Path, manifest: Manifest) -> pd.DataFrame:
    """Read and check the predictions of a replay, fold by fold, and return them as one table.

    Raises
    ------
    ReplayFailed
        When they are not predictions of exactly the questions of each fold.
    """
    from neuroarena.scoring import check_predictions, read_predictions

    tables = []
    with tempfile.TemporaryDirectory(prefix="neuroarena-replay-") as place:
        for fold, content in zip(list_folds(data), replayed.content, strict=True):
            file = Path(place) / PREDICTIONS
            file.write_bytes(content)
            ids = pd.read_parquet(fold / QUESTIONS / "examples.parquet", columns=["id"])
            try:
                table = read_predictions(file, manifest, expected_rows=len(ids))
                check_predictions(table, ids, manifest, PREDICTIONS)
            except InputError as error:
                raise ReplayFailed("The replay's predictions are refused.", str(error)) from error
            tables.append(table)
    return pd.concat(tables, ignore_index=True)


def compare_made_weights(replayed: Replayed, weights: Mapping[str, str]) -> Replayed:
    """Return a replay with what is wrong about the weights in the code that it made, if anything is."""
    try:
        found = hash_files(io.BytesIO(replayed.content[0]), weights)
    except zipfile.BadZipFile as error:
        raise ReplayFailed("The replay did not write a zip.") from error
    different = [name for name, sha256 in weights.items() if found.get(name) != sha256]
    if not different:
        return replayed
    problem = f'The committed training makes other weights "{different[0]}" than were committed.'
    return dataclasses.replace(replayed, weights_problem=problem)


def ask_made_code(
    arena: Arena,
    row: Mapping[str, Any],
    replayed: Replayed,
    limits: Limits,
    seed: int,
    control: Control | None = None,
) -> dict[str, pd.DataFrame]:
    """Ask the code that a replay made as a submission of the same track is asked; return its predictions by part.

    Raises
    ------
    ReplayFailed
        When the code is refused or fails.
    """
    asking = Asking(
        limits, control=control, seed=seed, windows=arena.competition.track(row["track"]).code.windows
    )
    with tempfile.TemporaryDirectory(prefix="neuroarena-replay-") as place:
        file = Path(place) / MADE["code"]
        file.write_bytes(replayed.content[0])
        try:
            return ask_code(arena, row, file, asking).tables
        except (SubmissionRefused, SubmissionFailed) as error:
            raise ReplayFailed("The code that the replay made does not run.", str(error)) from error


def _run_script(
    pipeline: Pipeline, folder: Path, data: Path, seed: int, limits: Limits, control: Control | None
) -> tuple[bytes, Outcome]:
    command: list[str | Path] = [sys.executable, "-I", "-B", "-c", _RUN, folder, folder / pipeline.script]
    command += [
        data / TRAINING,
        data / QUESTIONS,
        f"/tmp/{MADE[pipeline.makes]}",
        str(seed),
        *pipeline.arguments,
    ]
    inputs = {"pipeline": folder, TRAINING: data / TRAINING, QUESTIONS: data / QUESTIONS}
    outcome, made = collect_isolated(
        command, MOST_BYTES, inputs=inputs, limits=limits, isolation="bubblewrap", control=control
    )
    if outcome.status in OURS:
        raise SandboxFailed(
            f"The sandbox of a replay was {outcome.status}. Nothing is held against the team."
        )
    if outcome.status != "finished":
        last = printable(outcome.stderr_tail, 300).strip()
        raise ReplayFailed(f"The replay ended with {outcome.status}.", last, outcome)
    if not made:
        raise ReplayFailed(f"The replay wrote no {MADE[pipeline.makes]}.", outcome=outcome)
    return made, outcome
