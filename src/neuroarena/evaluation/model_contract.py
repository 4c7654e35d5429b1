"""The general code contract: a zip with ``submission.py`` whose ``load_model(meta)`` answers windows or streams.

Windows are asked in random batches with at most one window of each person, a fresh sandbox for each batch; a stream is
played to a sandbox of its own. How people differ is all that a model can learn from the questions.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from neuroarena.benchmarks import load_benchmarks
from neuroarena.decoders.streams import Playback
from neuroarena.errors import InputError
from neuroarena.evaluation.code import (
    CodeAnswers,
    CodeRequest,
    Sheet,
    TaskAnswers,
    describe_isolation,
    describe_runs,
)
from neuroarena.evaluation.prediction_table import prediction_table
from neuroarena.evaluation.questions import Questions, questions_of
from neuroarena.evaluation.results import Result
from neuroarena.progress import Progress, Silence
from neuroarena.recordings import from_array
from neuroarena.sandbox import Control, Limits
from neuroarena.sandbox.archives import unpack_submission
from neuroarena.sandbox.guests import Guest, Heard, Setting, ask_in_batches, draw_batches
from neuroarena.sandbox.job import GUEST_FOLDER, Job, guest_command
from neuroarena.sandbox.limits import Isolation
from neuroarena.scoring import Manifest

ENTRY = "submission.py"
# Batches that are asked again, to see whether a model answers the same.
REPLAYED = 2
Windows = Literal["stateless", "stream", "as-scored"]


@dataclass(frozen=True)
class Asking:
    """How questions are put to code.

    Attributes
    ----------
    limits : Limits
        Of each task.
    isolation, control
        Of the sandbox.
    seed : int
        Draws batches, order, and what is played of streams; secret until the end of a competition.
    windows : str, optional
        "as-scored" asks one process in order, which is for public truth only; by default the manifest decides.
    """

    limits: Limits = field(default_factory=Limits)
    isolation: Isolation | None = None
    control: Control | None = None
    seed: int = 0
    windows: Windows | None = None

    def rng(self, part: str) -> np.random.Generator:
        """Return the generator of one task: the same whatever else is asked."""
        return np.random.default_rng([self.seed, *part.encode()])


@dataclass(frozen=True)
class Answered:
    """What code answered: a table of predictions for each part, how it ran, and the end of what it printed."""

    tables: dict[str, pd.DataFrame]
    ran: dict[str, Any]
    log: str = ""


class ModelContract:
    """One model per task, from ``load_model(meta)``: with ``predict(X)``, or ``start(meta)`` and ``step(window)``."""

    defines = ("load_model",)

    def ask(
        self, code: Path, questions: Mapping[str, Questions], asking: Asking, progress: Progress | None = None
    ) -> Answered:
        """Put questions to submitted code, with no label anywhere near.

        Parameters
        ----------
        code : Path
            The zip.
        questions : mapping of part to Questions
        asking : Asking
        progress : Progress, optional

        Raises
        ------
        SubmissionRefused, SubmissionFailed, SandboxFailed
        """
        tables, runs, log = {}, {}, ""
        with unpack_submission(code, ENTRY) as folder:
            for part, own in questions.items():
                setting = _setting(code.name, folder, own, asking)
                answer = ask_streams if own.manifest.stream is not None else ask_windows
                heard = answer(setting, own, asking, part, progress or Silence())
                ids = own.table["id"].to_numpy()
                tables[part] = prediction_table(_as_predicted(heard.answers, own.manifest), ids, own.manifest)
                runs[part or own.name] = (heard.outcome, heard.replay_difference)
                log += heard.outcome.stderr_tail
        return Answered(tables, describe_runs(runs), log)

    def answer(self, request: CodeRequest, progress: Progress) -> CodeAnswers:
        """Ask the code about every task that the name stands for.

        Raises
        ------
        InputError
            When only a few people are asked for: a score of some is not the score of the task.
        """
        if request.fast:
            raise InputError(f'"{request.name}" is judged on everybody; --fast is not taken here.')
        loaded = {}
        for task in request.tasks:
            family = request.name.partition("/")[0].partition("@")[0]
            loaded[task] = load_benchmarks(f"{family}@{request.definition}/{task}", request.data)[0]
        splits = {task: request.split or each.splits[0] for task, each in loaded.items()}
        questions = {task: questions_of(each, splits[task]) for task, each in loaded.items()}
        asking = Asking(request.limits or Limits(), request.isolation, request.control, request.seed)
        answered = self.ask(request.file, questions, asking, progress)
        tasks = tuple(TaskAnswers(each, splits[task], answered.tables[task]) for task, each in loaded.items())
        return CodeAnswers(tasks, answered.ran)

    def report(self, answers: CodeAnswers, results: Sequence[Result]) -> dict[str, Any]:
        """Return the score of each task, and how the code ran."""
        scores = {each.record.benchmark.name: each.score for each in results}
        return {"scores": scores, "simulated": answers.tasks[0].benchmark.simulated, **answers.ran}

    def lay_out(self, report: dict[str, Any]) -> Sheet:
        """Return the report as a table of scores."""
        rows = tuple((name, f"{value:.5f}") for name, value in report["scores"].items())
        notes = tuple(f"Note: {sentence}" for sentence in report["warnings"])
        title = "code submission, simulated data" if report["simulated"] else "code submission"
        return Sheet(title, ("benchmark", "score"), rows, (describe_isolation(report), *notes))


CONTRACT = ModelContract()


def ask_windows(
    setting: Setting, questions: Questions, asking: Asking, part: str, progress: Progress
) -> Heard:
    """Ask about windows, one at a time, and return an array of numbers for each."""
    width = count_numbers(questions.manifest)

    def ask(guest: Guest, index: int) -> np.ndarray:
        window, info = questions.read(index), questions.describe(index)
        said = guest.ask(window[np.newaxis], {"info": info}, most_bytes=4 * width).array
        # Checked in the other process with a better message, but nothing from there is trusted.
        if said is None or said.shape != (1, width) or not np.isfinite(said).all():
            raise guest.failed("broke the protocol", f"an answer is not {width} finite numbers")
        numbers: np.ndarray = said[0]
        return numbers

    if asking.windows == "as-scored":
        batches, replay = [np.arange(len(questions))], range(0)
    else:
        batches = draw_batches(list(questions.table["person"]), asking.rng(part))
        replay = range(min(REPLAYED, len(batches)))
    return ask_in_batches(
        setting,
        part or questions.manifest.name,
        batches,
        ask,
        replay=replay,
        differ=lambda first, second: float(np.abs(first - second).max()),
        progress=progress,
    )


def ask_streams(
    setting: Setting, questions: Questions, asking: Asking, part: str, progress: Progress
) -> Heard:
    """Play every stream to a sandbox of its own, and return seconds or a text for each."""
    rule, rng = questions.manifest.stream, asking.rng(part)
    assert rule is not None
    seeds = rng.integers(2**63, size=len(questions))
    joined = rule.answer == "joined"

    def ask(guest: Guest, index: int) -> float | str:
        signal, info = questions.read(index), questions.describe(index)
        recording = from_array(
            signal, rate_hz=info["rate_hz"], channels=info["channels"], kind="eeg", name="stream"
        )
        playback = Playback(recording, 0, signal.shape[1], rule, np.random.default_rng(int(seeds[index])))
        guest.ask(None, {"what": "start", "info": info}, most_bytes=0)
        said: list[Any] = []
        for window in playback:
            message = guest.ask(window, {"what": "step"}, most_bytes=0 if joined else 4)
            if joined:
                text = message.fields.get("said")
                said += [text] if isinstance(text, str) else []
            elif message.array is not None:
                if message.array.size != 1 or not np.isfinite(message.array).all():
                    raise guest.failed("broke the protocol", "an answer is not one finite number")
                said.append(float(message.array.ravel()[0]))
        if not said:
            raise guest.failed("wrong output values", "step() never answered; it must at least once")
        return "".join(said) if joined else said[-1] - playback.delay_s

    return ask_in_batches(
        setting,
        part or questions.manifest.name,
        [np.array([index]) for index in rng.permutation(len(questions))],
        ask,
        replay=range(min(REPLAYED, len(questions))),
        differ=_differ,
        progress=progress,
    )


def count_numbers(manifest: Manifest) -> int:
    """Return how many numbers answer one question."""
    if manifest.prediction in ("label", "probabilities"):
        return len(manifest.classes)
    return int(manifest.caps["vector_length"]) if manifest.prediction == "vector" else 1


def describe_task(questions: Questions) -> dict[str, Any]:
    """Return what a model is told when it is loaded: nothing that differs from one question to the next."""
    manifest = questions.manifest
    first = questions.describe(0)
    return {
        "task": manifest.name,
        "prediction": manifest.prediction,
        "classes": list(manifest.classes),
        "channels": first["channels"],
        "rate_hz": first["rate_hz"],
    }


def _setting(name: str, folder: Path, questions: Questions, asking: Asking) -> Setting:
    manifest = questions.manifest
    answers: dict[str, Any] = {"form": "window", "numbers": count_numbers(manifest)}
    if manifest.prediction == "label":
        answers["classes"] = list(manifest.classes)
    if manifest.stream is not None:
        answers = {"form": "stream", "text": manifest.stream.answer == "joined"}
    meta = json.dumps({**describe_task(questions), "answers": answers})
    job = Job(guest_command(GUEST_FOLDER, "answer_model", (folder, meta)), {"submission": folder})
    return Setting(name, job, asking.limits, asking.isolation, asking.control)


def _as_predicted(answers: list[Any], manifest: Manifest) -> Any:
    """Return answers as a decoder's ``predict`` returns them."""
    if manifest.prediction == "text":
        return answers
    stacked = np.array(answers, dtype=np.float64)
    return stacked.reshape(len(answers)) if manifest.prediction == "number" else stacked


def _differ(first: float | str, second: float | str) -> float:
    return (
        abs(first - second)
        if isinstance(first, float) and isinstance(second, float)
        else float(first != second)
    )
