"""A guest that answers questions: started, asked one question at a time, and blamed only for what it did."""

from __future__ import annotations

import importlib.util
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np

from neuroarena.errors import MissingDependency, NeuroarenaError
from neuroarena.progress import Progress, Silence
from neuroarena.sandbox.archives import SubmissionRefused
from neuroarena.sandbox.child import Stopped
from neuroarena.sandbox.conversation import Conversation, Silent
from neuroarena.sandbox.guest.wire import BadFrame, Message
from neuroarena.sandbox.job import Control, Job
from neuroarena.sandbox.limits import Isolation, Limits, Outcome, printable

# A failure before the model sees any data is the file's fault; later failures are the model's.
_FILE_STAGES = {
    "import": "the code cannot be imported",
    "class": "a class is missing",
    "constructor": "a signature does not match the contract",
    "method": "a method is missing",
}
_MODEL_STAGES = {
    "construct": "the constructor failed",
    "model": "the model could not be built",
    "predict": "the model failed",
    "shape": "wrong output shape",
    "values": "wrong output values",
}
_LIMITS = ("time", "memory", "output", "processes")
# Before the first window nothing can leak that the participant does not know. Afterwards a traceback could carry
# signals out, so only little of it is repeated.
_TRACE_BEFORE, _TRACE_AFTER = 2000, 300
T = TypeVar("T")


class SubmissionFailed(NeuroarenaError):
    """The model did not do what the contract requires.

    Attributes
    ----------
    outcome : Outcome
        How its process ended.
    phrase : str
        What happened, in words from a fixed list: nothing of the submission's is in them.
    """

    def __init__(self, sentence: str, outcome: Outcome, phrase: str = "the model failed") -> None:
        super().__init__(sentence)
        self.outcome, self.phrase = outcome, phrase


class SandboxFailed(NeuroarenaError):
    """The sandbox did not start or was ended by its caller: nobody's submission is to blame."""


@dataclass(frozen=True)
class Setting:
    """How a submission is run, the same for every guest of it.

    Attributes
    ----------
    name : str
        Of the file, for messages.
    job : Job
    limits : Limits
        Its seconds are for all guests of one part together.
    isolation, control
        See :class:`.conversation.Conversation`.
    extras : mapping
        Libraries that may be missing here -> the extra that brings each.
    """

    name: str
    job: Job
    limits: Limits
    isolation: Isolation | None = None
    control: Control | None = None
    extras: Mapping[str, str] = field(default_factory=dict)


class Guest:
    """A submission in another process, asked one question at a time. Use it in a ``with`` block.

    Parameters
    ----------
    setting : Setting
    part : str
        What it is asked about, for messages, such as ``challenge 1``.
    spent_s : float
        What earlier guests of the same part have used of the time.
    """

    def __init__(self, setting: Setting, part: str, spent_s: float = 0.0) -> None:
        self.setting, self.part = setting, part
        left = replace(setting.limits, seconds=max(setting.limits.seconds - spent_s, 1e-3))
        self.line = Conversation(setting.job, left, setting.isolation, setting.control)
        self._asked = 0

    def __enter__(self) -> Guest:
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
            if outcome.status in _LIMITS:
                raise self._stopped(outcome) from error
            said = outcome.stderr_tail.strip()[-500:] or outcome.status
            raise SandboxFailed(f"The sandbox did not start ({outcome.isolation}): {said}.") from error
        self._expect("ready", self._receive(self.line.listen))

    def ask(
        self, array: np.ndarray | None, fields: Mapping[str, Any] | None = None, *, most_bytes: int
    ) -> Message:
        """Ask one question and return the answer, whose number and nonce were checked.

        Raises
        ------
        SubmissionFailed
        """
        self._asked += 1
        # The number says nothing about the question: it counts. The nonce makes an answer sent ahead worthless.
        token = {"number": self._asked, "nonce": secrets.token_hex(16)}
        given = {**(fields or {}), **token}
        message = self._receive(lambda: self.line.ask("ask", given, array, most_bytes=most_bytes))
        self._expect("answer", message)
        if {name: message.fields.get(name) for name in token} != token:
            raise self.failed("broke the protocol", "an answer belongs to another question")
        return message

    def finish(self) -> Outcome:
        """End the process at once: every question was answered, and nothing it says later is heard."""
        return replace(self.line.outcome(), status="finished")

    def failed(self, what: str, why: str, outcome: Outcome | None = None) -> SubmissionFailed:
        """Return the error that says what the model did wrong."""
        where = f", window {self._asked} of those asked" if self._asked else ", while loading"
        sentence = f"{self.setting.name}: {self.part}{where}: {what}: {printable(why, 4000)}"
        return SubmissionFailed(sentence, outcome or self.line.outcome(), what)

    def _receive(self, speak: Callable[[], Message]) -> Message:
        try:
            return speak()
        except Stopped as error:
            raise self._stopped(self.line.outcome()) from error
        except Silent as error:
            raise self._silent(self.line.outcome()) from error
        except BadFrame as error:
            raise self.failed("broke the protocol", str(error)) from error

    def _expect(self, kind: str, message: Message) -> None:
        if message.kind == kind:
            return
        if message.kind != "error":
            raise self.failed("broke the protocol", f"expected {kind}, got {printable(message.kind, 40)}")
        stage, reason, trace = (str(message.fields.get(key, "")) for key in ("stage", "reason", "trace"))
        outcome = self.line.outcome()
        if outcome.status == "memory":
            raise self._stopped(outcome)
        extras = self.setting.extras
        # Believed only where it is true: the name comes from the participant's process.
        if stage == "library" and reason in extras and importlib.util.find_spec(reason) is None:
            raise MissingDependency(reason, extras[reason], self.setting.name)
        most = _TRACE_AFTER if self._asked else _TRACE_BEFORE
        said = printable(reason, most).strip() + (f"\n{printable(trace, most).strip()}" if trace else "")
        if stage in _FILE_STAGES and not self._asked:
            raise SubmissionRefused(f"{self.setting.name}: {_FILE_STAGES[stage]}: {said}")
        raise self.failed(_MODEL_STAGES.get(stage, "the model failed"), said, outcome)

    def _stopped(self, outcome: Outcome) -> NeuroarenaError:
        limits = self.setting.limits
        if outcome.status not in _LIMITS:
            return SandboxFailed(f"{self.setting.name}: the run was ended ({outcome.status}).")
        sentences = {
            "time": f"took longer than the {limits.seconds:g} s allowed",
            "memory": f"used more memory than the {limits.memory_mb} MB allowed",
            "output": f"wrote more than was asked for, or than the {limits.output_mb} MB allowed",
            "processes": f"started more processes than the {limits.processes} allowed",
        }
        return self.failed(
            f"stopped by the limit of {outcome.status}", f"{sentences[outcome.status]}.", outcome
        )

    def _silent(self, outcome: Outcome) -> NeuroarenaError:
        if outcome.status in (*_LIMITS, "cancelled", "not started"):
            return self._stopped(outcome)
        most = _TRACE_AFTER if self._asked else _TRACE_BEFORE
        tail = outcome.stderr_tail.strip()[-most:]
        code = "" if outcome.exit_code is None else f" with code {outcome.exit_code}"
        return self.failed("its process ended without an answer", f"{code.strip()} {tail}".strip(), outcome)


def draw_batches(people: Sequence[str], rng: np.random.Generator) -> list[np.ndarray]:
    """Put questions into batches that hold at most one of each person, in random order.

    Whatever a model remembers within a batch is about other people, and nothing survives a batch.

    Parameters
    ----------
    people : sequence of str
        The person of each question.
    rng : numpy Generator
        From the secret seed of the submission.

    Returns
    -------
    list of arrays of int
        Indices of questions, each exactly once.

    Examples
    --------
    >>> batches = draw_batches(["a", "a", "b", "c"], np.random.default_rng(0))
    >>> sorted(map(len, batches)), sorted(int(i) for batch in batches for i in batch)
    ([1, 3], [0, 1, 2, 3])
    """
    own: dict[str, list[int]] = {}
    for index, person in enumerate(people):
        own.setdefault(person, []).append(index)
    n_batches = max(map(len, own.values()))
    batches: list[list[int]] = [[] for _ in range(n_batches)]
    # By name, so that the order of the data changes nothing; people with fewer questions are spread over all batches.
    for person in sorted(own):
        chosen = rng.choice(n_batches, size=len(own[person]), replace=False)
        for batch, index in zip(chosen, rng.permutation(own[person]), strict=True):
            batches[int(batch)].append(int(index))
    return [rng.permutation(np.array(batch, dtype=int)) for batch in batches if batch]


@dataclass(frozen=True)
class Heard:
    """What a submission answered: one answer for each question, the outcome, the largest change when asked again."""

    answers: list[Any]
    outcome: Outcome
    replay_difference: float | None = None


def ask_in_batches(
    setting: Setting,
    part: str,
    batches: Sequence[np.ndarray],
    ask: Callable[[Guest, int], T],
    *,
    replay: Sequence[int] = (),
    differ: Callable[[T, T], float] | None = None,
    progress: Progress | None = None,
) -> Heard:
    """Ask every question, a fresh sandbox for each batch, and ask some batches a second time.

    Parameters
    ----------
    setting : Setting
        The seconds of its limits are for all batches together; asking again has as much time of its own.
    part : str
        For messages and progress.
    batches : sequence of arrays of int
        Indices of questions.
    ask : callable
        Asks one question of a guest and returns the answer, checked.
    replay : sequence of int
        Numbers of the batches that are asked again.
    differ : callable, optional
        Returns how much two answers differ.
    progress : Progress, optional

    Raises
    ------
    SubmissionRefused, SubmissionFailed, SandboxFailed
    """
    progress = progress or Silence()
    progress.begin(part, len(batches) + len(replay))
    found: dict[int, Any] = {}
    outcome: Outcome | None = None
    spent = 0.0
    for batch in batches:
        outcome = _ask_batch(setting, part, spent, batch, ask, found)
        spent += outcome.seconds
        progress.advance(part)
    assert outcome is not None
    largest, again_spent = None, 0.0
    for number in replay:
        again: dict[int, Any] = {}
        again_spent += _ask_batch(setting, part, again_spent, batches[number], ask, again).seconds
        progress.advance(part)
        if differ is not None:
            largest = max([largest or 0.0, *(differ(found[index], again[index]) for index in again)])
    return Heard([found[index] for index in sorted(found)], replace(outcome, seconds=spent), largest)


def _ask_batch(
    setting: Setting,
    part: str,
    spent: float,
    batch: np.ndarray,
    ask: Callable[[Guest, int], Any],
    found: dict[int, Any],
) -> Outcome:
    with Guest(setting, part, spent) as guest:
        for index in batch:
            found[int(index)] = ask(guest, int(index))
        return guest.finish()
