"""Code submissions of the EEG 2025 contract: a zip with ``submission.py``, run window by window.

The labels stay in this process; the participant's code runs in another that gets windows and nothing else. How much a
model may remember is the preset's choice: with ``fresh_copy=False`` one long-lived model sees single windows in
their order, as the published scorer did; with ``fresh_copy=True`` the windows of all recordings come in one order
drawn at random, and each goes to a fresh copy of the model, so that neither state nor order reveals anything.
"""

from __future__ import annotations

import functools
import importlib.util
import itertools
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from neuroarena.errors import InputError, MissingDependency, NeuroarenaError
from neuroarena.sandbox.archives import SubmissionRefused, unpack_submission
from neuroarena.sandbox.child import Stopped
from neuroarena.sandbox.conversation import Conversation, Silent
from neuroarena.sandbox.guest.wire import BadFrame, Message
from neuroarena.sandbox.job import Job, guest_command
from neuroarena.sandbox.limits import Isolation, Limits, Outcome, printable

N_CHANNELS = 129
N_SAMPLES = 200
ENTRY = "submission.py"
Windows = Iterable[np.ndarray]
_GUEST = Path(__file__).resolve().parent / "guest"
_WINDOW_BYTES = N_CHANNELS * N_SAMPLES * 4
# A failure before the model sees any data is the file's fault; later failures are the model's.
_FILE_STAGES = {
    "import": "submission.py cannot be imported",
    "class": "a class is missing",
    "constructor": "a signature does not match the contract",
    "method": "a method is missing",
}
_MODEL_STAGES = {
    "construct": "Submission(SFREQ, DEVICE) failed",
    "model": "the model could not be built",
    "predict": "the model failed",
    "shape": "wrong output shape",
    "values": "wrong output values",
}
# Libraries that submissions of 2025 use and that are optional here -> the extra that brings each.
_EXTRAS = {"braindecode": "zoo"}
# Before the first window nothing can leak that the participant does not know. Afterwards a traceback could carry
# signals out, so only little of it is repeated.
_TRACE_BEFORE, _TRACE_AFTER = 2000, 300


class SubmissionFailed(NeuroarenaError):
    """The model did not do what the contract requires.

    Attributes
    ----------
    outcome : Outcome
        How its process ended.
    """

    def __init__(self, sentence: str, outcome: Outcome) -> None:
        super().__init__(sentence)
        self.outcome = outcome


@dataclass(frozen=True)
class Answers:
    """What a submission answered for one challenge.

    Attributes
    ----------
    values : ndarray of float32
        Shape (n_windows,), finite, in the order of the windows.
    outcome : Outcome
        How its process ended, how it was isolated and what could not be enforced.
    replay_difference : float or None
        Largest change of an answer when some windows were asked again in a new process; None when none were.
        A deterministic model without memory yields 0, up to the last digits.
    """

    values: np.ndarray
    outcome: Outcome
    replay_difference: float | None = None


def predict_windows(
    zip_path: Path,
    challenge: int,
    batches: Windows,
    limits: Limits | None = None,
    *,
    fresh_copy: bool,
    rng: np.random.Generator | None = None,
    isolation: Isolation | None = None,
    hidden: Sequence[Path] = (),
) -> np.ndarray:
    """Return a submission's predictions for windows; see `answer_challenges` for the parameters.

    Returns
    -------
    ndarray of float32
        Shape (n_windows,).
    """
    answers = answer_challenges(
        zip_path,
        {challenge: batches},
        limits,
        fresh_copy=fresh_copy,
        rng=rng,
        isolation=isolation,
        hidden=hidden,
    )
    return answers[challenge].values


def answer_challenges(
    zip_path: Path,
    windows: Mapping[int, Windows | Callable[[], Windows]],
    limits: Limits | None = None,
    *,
    fresh_copy: bool,
    rng: np.random.Generator | None = None,
    isolation: Isolation | None = None,
    hidden: Sequence[Path] = (),
    replay: int = 0,
) -> dict[int, Answers]:
    """Run a submission on the windows of each challenge, each in a process of its own.

    Parameters
    ----------
    zip_path : Path
        The submission.
    windows : mapping of int to iterable of ndarray, or to a callable that returns one
        By challenge (1 or 2), float32 arrays of shape (b, 129, 200); b may differ.
    limits : Limits, optional
        Of each challenge.
    fresh_copy : bool
        False: one model, one window at a time, in order. True: windows of all batches in one random order, each to
        a fresh copy of the model (they wait in an unnamed temporary file, 103,200 bytes per window).
    rng : Generator, optional
        Draws the order; needed with `fresh_copy`.
    isolation : {"bubblewrap", "process"}, optional
        Require one; by default the best available is used, and the outcomes record which.
    hidden : sequence of Path, optional
        Folders that must stay invisible, above all those of the data.
    replay : int, default 0
        With `fresh_copy`: how many windows, drawn at random, are asked again in a new process. Anything a model hides
        from its copies in shared memory shows up there.

    Returns
    -------
    dict of int to Answers
        In the order of `windows`.

    Raises
    ------
    SubmissionRefused
        For a bad file (exit code 2).
    SubmissionFailed
        For a model that fails, answers wrongly, or exceeds a limit (exit code 1).
    InputError
        For windows of another shape, or none.
    MissingDependency
        When torch is not installed, or the submission imports braindecode and the extra "zoo" is not.
    """
    if fresh_copy and rng is None:
        raise InputError("A fresh copy for every window needs a random order: pass a generator as rng.")
    if set(windows) - {1, 2}:
        raise InputError(f"The challenges are 1 and 2, got {sorted(windows)}.")
    if importlib.util.find_spec("torch") is None:
        raise MissingDependency("torch", "torch", "Running a submission of the EEG 2025 contract")
    answers: dict[int, Answers] = {}
    with unpack_submission(Path(zip_path), ENTRY) as folder:
        for challenge, given in windows.items():
            job = Job(
                guest_command(_GUEST, "answer_windows", (str(challenge), folder)),
                {"submission": folder, "contract": _GUEST},
                None,
                tuple(hidden),
            )
            batches = _checked(given() if callable(given) else given)
            start = functools.partial(
                _Model, Path(zip_path).name, challenge, job, limits or Limits(), isolation
            )
            if fresh_copy and rng is not None:
                answers[challenge] = _answers_in_random_order(start, batches, rng, replay)
            else:
                answers[challenge] = _answers_in_order(start, batches)
    return answers


class _Model:
    """A model in the other process, asked about one window at a time."""

    def __init__(
        self, name: str, challenge: int, job: Job, limits: Limits, isolation: Isolation | None
    ) -> None:
        self.name, self.challenge, self.limits = name, challenge, limits
        self.line = Conversation(job, limits, isolation)
        self._asked = 0

    def __enter__(self) -> _Model:
        self.line.__enter__()
        try:
            self._greet()
        except BaseException:
            self.line.outcome()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.line.outcome()

    def _greet(self) -> None:
        try:
            self.line.listen()
        except (Silent, BadFrame, Stopped) as error:
            outcome = self.line.outcome()
            said = outcome.stderr_tail.strip()[-500:] or outcome.status
            raise NeuroarenaError(f"The sandbox did not start ({outcome.isolation}): {said}.") from error
        self._expect("ready", self._say(None))

    def predict(self, window: np.ndarray, *, fresh: bool = False) -> float:
        """Return the answer for one window (129, 200), from a fresh copy of the model if requested."""
        self._asked += 1
        return self._number(self._say(window, fresh=fresh))

    def finished(self) -> Outcome:
        """End the process; every window was answered, so how it exits is not judged."""
        return replace(self.line.finish(), status="finished")

    def _say(self, window: np.ndarray | None, fresh: bool = False) -> Message:
        try:
            if window is None:
                return self.line.listen()
            # The number reveals nothing about the window: it counts the questions.
            fields = {"number": self._asked, "fresh": fresh}
            return self.line.ask("windows", fields, window[None], most_bytes=4)
        except Stopped as error:
            raise self._stopped(self.line.outcome()) from error
        except Silent as error:
            raise self._silent(self.line.outcome()) from error
        except BadFrame as error:
            raise self._failed("broke the protocol", str(error)) from error

    def _number(self, message: Message) -> float:
        self._expect("answer", message)
        value = message.array
        # Checked in the other process with a better message, but nothing from there is trusted.
        if value is None or value.shape != (1, 1) or not np.isfinite(value).all():
            raise self._failed("broke the protocol", "an answer is not one finite number")
        if message.fields.get("number") != self._asked:
            raise self._failed("broke the protocol", "an answer belongs to another question")
        return float(value[0, 0])

    def _expect(self, kind: str, message: Message) -> None:
        if message.kind == kind:
            return
        if message.kind != "error":
            raise self._failed("broke the protocol", f"expected {kind}, got {printable(message.kind, 40)}")
        stage, reason, trace = (str(message.fields.get(key, "")) for key in ("stage", "reason", "trace"))
        outcome = self.line.outcome()
        if outcome.status == "memory":
            raise self._stopped(outcome)
        # Believed only where it is true: the name comes from the participant's process.
        if stage == "library" and reason in _EXTRAS and importlib.util.find_spec(reason) is None:
            raise MissingDependency(reason, _EXTRAS[reason], self.name)
        most = _TRACE_AFTER if self._asked else _TRACE_BEFORE
        said = printable(reason, most).strip() + (f"\n{printable(trace, most).strip()}" if trace else "")
        if stage in _FILE_STAGES and not self._asked:
            raise SubmissionRefused(f"{self.name}: {_FILE_STAGES[stage]}: {said}")
        raise self._failed(_MODEL_STAGES.get(stage, "the model failed"), said, outcome)

    def _failed(self, what: str, why: str, outcome: Outcome | None = None) -> SubmissionFailed:
        sentence = f"{self.name}: challenge {self.challenge}{self._where()}: {what}: {printable(why, 4000)}"
        return SubmissionFailed(sentence, outcome or self.line.outcome())

    def _where(self) -> str:
        return f", window {self._asked} of those asked" if self._asked else ", while loading"

    def _stopped(self, outcome: Outcome) -> SubmissionFailed:
        limits = self.limits
        sentences = {
            "time": f"took longer than the {limits.seconds:g} s allowed",
            "memory": f"used more memory than the {limits.memory_mb} MB allowed",
            "output": f"wrote more than the {limits.output_mb} MB allowed",
            "processes": f"started more processes than the {limits.processes} allowed",
        }
        return self._failed("stopped", f"{sentences[outcome.status]}.", outcome)

    def _silent(self, outcome: Outcome) -> SubmissionFailed:
        if outcome.status in ("time", "memory", "output", "processes"):
            return self._stopped(outcome)
        most = _TRACE_AFTER if self._asked else _TRACE_BEFORE
        tail = outcome.stderr_tail.strip()[-most:]
        code = "" if outcome.exit_code is None else f" with code {outcome.exit_code}"
        return self._failed("its process ended without an answer", f"{code.strip()} {tail}".strip(), outcome)


def _checked(batches: Windows) -> Iterator[np.ndarray]:
    """Check windows as they arrive, the first ones before anything is started."""
    checked = _each_checked(batches)
    first = next(checked, None)
    if first is None:
        raise InputError("There are no windows to predict.")
    return itertools.chain([first], checked)


def _each_checked(batches: Windows) -> Iterator[np.ndarray]:
    for number, batch in enumerate(batches):
        if batch.ndim != 3 or batch.shape[1:] != (N_CHANNELS, N_SAMPLES) or batch.dtype != np.float32:
            raise InputError(
                f"Batch {number} of windows: expected float32 (b, {N_CHANNELS}, {N_SAMPLES}), got {batch.dtype} "
                f"{batch.shape}."
            )
        if len(batch):
            yield batch


def _answers_in_order(start: Callable[[], _Model], batches: Iterator[np.ndarray]) -> Answers:
    with start() as model:
        values = [model.predict(window) for batch in batches for window in batch]
        return Answers(np.array(values, dtype=np.float32), model.finished())


def _answers_in_random_order(
    start: Callable[[], _Model], batches: Iterator[np.ndarray], rng: np.random.Generator, replay: int
) -> Answers:
    with tempfile.TemporaryFile(prefix="neuroarena-") as spool:

        def window(index: int) -> np.ndarray:
            data = os.pread(spool.fileno(), _WINDOW_BYTES, index * _WINDOW_BYTES)
            return np.frombuffer(data, dtype=np.float32).reshape(N_CHANNELS, N_SAMPLES)

        # The model comes first: if it cannot be loaded, the data need not be read.
        with start() as model:
            n_windows = 0
            for batch in batches:
                spool.write(np.ascontiguousarray(batch).tobytes())
                n_windows += len(batch)
            spool.flush()
            values = np.empty(n_windows, dtype=np.float32)
            for index in rng.permutation(n_windows):
                values[index] = model.predict(window(int(index)), fresh=True)
            outcome = model.finished()
        if not replay:
            return Answers(values, outcome)
        with start() as model:
            chosen = [int(index) for index in rng.permutation(n_windows)[:replay]]
            again = [model.predict(window(index), fresh=True) for index in chosen]
    return Answers(values, outcome, float(np.abs(values[chosen] - np.array(again, np.float32)).max()))
