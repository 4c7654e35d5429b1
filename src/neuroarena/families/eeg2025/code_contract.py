"""Code submissions of the EEG 2025 contract: a zip with ``submission.py``, run window by window.

The labels stay in this process; the participant's code runs in another that gets windows and nothing else. How much a
model may remember is the preset's choice. Under ``as-scored`` one long-lived model sees single windows in their order,
as the published scorer did. Otherwise windows are asked in batches drawn from a secret seed that hold at most one
window of each person, each batch in a sandbox of its own, so that neither state nor order reveals anything.
"""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.errors import InputError, MissingDependency
from neuroarena.progress import Progress, Silence
from neuroarena.sandbox.archives import unpack_submission
from neuroarena.sandbox.guests import Guest, Setting, SubmissionFailed, ask_in_batches, draw_batches
from neuroarena.sandbox.job import Control, Job, guest_command
from neuroarena.sandbox.limits import Isolation, Limits, Outcome

__all__ = ["Answers", "Shown", "SubmissionFailed", "answer_challenges", "predict_windows"]

N_CHANNELS = 129
N_SAMPLES = 200
ENTRY = "submission.py"
_GUEST = Path(__file__).resolve().parent / "guest"
_WINDOW_BYTES = N_CHANNELS * N_SAMPLES * 4
# Libraries that submissions of 2025 use and that are optional here -> the extra that brings each.
_EXTRAS = {"braindecode": "zoo"}
# Batches that are asked again, to see whether a model answers the same.
REPLAYED = 2


@dataclass(frozen=True)
class Shown:
    """Windows of one person: float32 (n, 129, 200), and what may be known of the person."""

    person: str
    windows: np.ndarray
    known: Mapping[str, Any] = field(default_factory=dict)


Windows = Iterable[np.ndarray | Shown]


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
        Largest change of an answer when two batches were asked again; None where a model may remember.
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
    stateless: bool,
    rng: np.random.Generator | None = None,
    isolation: Isolation | None = None,
) -> np.ndarray:
    """Return a submission's predictions for windows; see `answer_challenges` for the parameters.

    Returns
    -------
    ndarray of float32
        Shape (n_windows,).
    """
    answers = answer_challenges(
        zip_path, {challenge: batches}, limits, stateless=stateless, rng=rng, isolation=isolation
    )
    return answers[challenge].values


def answer_challenges(
    zip_path: Path,
    windows: Mapping[int, Windows | Callable[[], Windows]],
    limits: Limits | None = None,
    *,
    stateless: bool,
    rng: np.random.Generator | None = None,
    isolation: Isolation | None = None,
    control: Control | None = None,
    progress: Progress | None = None,
) -> dict[int, Answers]:
    """Run a submission on the windows of each challenge.

    Parameters
    ----------
    zip_path : Path
        The submission.
    windows : mapping of int to iterable of ndarray or Shown, or to a callable that returns one
        By challenge (1 or 2), the windows of one person after the other; a plain array is a person of its own.
    limits : Limits, optional
        Of each challenge.
    stateless : bool
        False: one model, one window at a time, in order. True: random batches that hold at most one window of each
        person, a fresh sandbox for each; two batches are asked again. The windows wait in an unnamed temporary file.
    rng : Generator, optional
        Draws batches and order; needed with `stateless`.
    isolation : {"bubblewrap", "none"}, optional
    control : Control, optional
    progress : Progress, optional

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
    if stateless and rng is None:
        raise InputError("Stateless batches need a random order: pass a generator as rng.")
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
            )
            setting = Setting(
                Path(zip_path).name, job, limits or Limits(), isolation, control, extras=_EXTRAS
            )
            with _Spool(given() if callable(given) else given) as spool:
                answers[challenge] = _answer(setting, challenge, spool, rng if stateless else None, progress)
    return answers


def _answer(
    setting: Setting,
    challenge: int,
    spool: _Spool,
    rng: np.random.Generator | None,
    progress: Progress | None,
) -> Answers:
    if rng is None:
        batches, replay = [np.arange(len(spool))], range(0)
    else:
        batches = draw_batches(spool.people, rng)
        replay = range(min(REPLAYED, len(batches)))

    def ask(guest: Guest, index: int) -> float:
        window, known = spool.read(index)
        message = guest.ask(window[None], {"known": known} if known else None, most_bytes=4)
        value = message.array
        # Checked in the other process with a better message, but nothing from there is trusted.
        if value is None or value.shape != (1, 1) or not np.isfinite(value).all():
            raise guest.failed("broke the protocol", "an answer is not one finite number")
        return float(value[0, 0])

    heard = ask_in_batches(
        setting,
        f"challenge {challenge}",
        batches,
        ask,
        replay=replay,
        differ=lambda first, second: abs(first - second),
        progress=progress or Silence(),
    )
    return Answers(np.array(heard.answers, np.float32), heard.outcome, heard.replay_difference)


class _Spool:
    """Windows on disk, read one at a time, with the person of each."""

    def __init__(self, batches: Windows) -> None:
        self._file = tempfile.TemporaryFile(prefix="neuroarena-")  # noqa: SIM115 - closed by __exit__
        self.people: list[str] = []
        self._known: list[Mapping[str, Any]] = []
        try:
            for shown in _each_checked(batches):
                self._file.write(np.ascontiguousarray(shown.windows).tobytes())
                self.people += [shown.person] * len(shown.windows)
                self._known += [shown.known] * len(shown.windows)
            if not self.people:
                raise InputError("There are no windows to predict.")
            self._file.flush()
        except BaseException:
            self._file.close()
            raise

    def __len__(self) -> int:
        return len(self.people)

    def __enter__(self) -> _Spool:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def read(self, index: int) -> tuple[np.ndarray, Mapping[str, Any]]:
        """Read one window, with what is known of its person."""
        data = os.pread(self._file.fileno(), _WINDOW_BYTES, index * _WINDOW_BYTES)
        return np.frombuffer(data, dtype=np.float32).reshape(N_CHANNELS, N_SAMPLES), self._known[index]


def _each_checked(batches: Windows) -> Iterator[Shown]:
    for number, given in enumerate(batches):
        shown = given if isinstance(given, Shown) else Shown(str(number), given)
        batch = shown.windows
        if batch.ndim != 3 or batch.shape[1:] != (N_CHANNELS, N_SAMPLES) or batch.dtype != np.float32:
            raise InputError(
                f"Batch {number} of windows: expected float32 (b, {N_CHANNELS}, {N_SAMPLES}), got {batch.dtype} "
                f"{batch.shape}."
            )
        yield shown
