"""The guest of the EEG 2025 contract: loads ``class Submission`` and answers one batch of windows at a time.

Run as ``main([challenge, folder])``. It gets windows and returns numbers; labels, names, paths and files of the
data never reach it. Messages: ``hello``, then ``ready`` or ``error``; for each ``windows`` an ``answer`` or ``error``.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import random
import signal
import sys
import traceback
from collections.abc import Callable
from typing import Any

import numpy as np

from neuroarena.sandbox.guest.channel import Channel
from neuroarena.sandbox.guest.wire import Message

RATE_HZ = 100
_TRACE_LINES = 8
# Libraries that a submission may expect and that are optional here; the host knows which extra brings each.
_OPTIONAL = ("braindecode",)


class Problem(Exception):
    """The submission breaks the contract; `stage` names where."""

    def __init__(self, stage: str, reason: str, trace: str = "") -> None:
        super().__init__(reason)
        self.stage, self.reason, self.trace = stage, reason, trace


def main(arguments: list[str]) -> None:
    """Serve until the host is done."""
    challenge, folder = int(arguments[0]), arguments[1]
    channel = Channel()
    channel.send("hello")
    try:
        torch, model = load(challenge, folder)
    except Problem as problem:
        report(channel, problem)
        return
    # Anything left in the buffer would be printed again by every copy.
    sys.stdout.flush()
    channel.send("ready")
    while (asked := channel.receive()) is not None:
        if asked.fields.get("fresh"):
            _serve_in_a_copy(channel, torch, model, asked)
        else:
            serve(channel, torch, model, asked)


def load(challenge: int, folder: str) -> tuple[Any, Any]:
    """Build the model as the published scorer does: construct, ask for the model, set it to inference.

    Returns
    -------
    torch : module
        The library, as the submission sees it.
    model : object
        The model.

    Raises
    ------
    Problem
        For a missing name, a wrong signature, or whatever the submission raises.
    """
    # By its plain name: in here the modules of this folder belong to no package.
    importlib.import_module("zoo_names").prepare_imports()
    os.chdir(folder)
    sys.path[:1] = [folder, os.path.join(folder, "python_packages")]
    module = attempt("import", lambda: importlib.import_module("submission"))
    made: Any = getattr(module, "Submission", None)
    if not isinstance(made, type):
        raise Problem("class", "submission.py does not define a class Submission")
    # Both at once: a submission that lacks the second should fail now, not after hours with the first.
    for method in ("get_model_challenge_1", "get_model_challenge_2"):
        if not callable(getattr(made, method, None)):
            raise Problem("method", f"class Submission has no method {method}")
    method = f"get_model_challenge_{challenge}"
    _check_call(made, (RATE_HZ, "cpu"), "constructor", "Submission(SFREQ, DEVICE)")
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (submitted code draws from the global state)
    submission = attempt("construct", functools.partial(made, RATE_HZ, torch.device("cpu")))
    _check_call(getattr(submission, method), (), "constructor", f"{method}()")
    model = attempt("model", getattr(submission, method))
    if not callable(model) or not callable(getattr(model, "eval", None)):
        raise Problem("model", f"{method}() returned {type(model).__name__}, expected a torch module")
    attempt("model", model.eval)
    return torch, model


def _check_call(called: Any, arguments: tuple[Any, ...], stage: str, shown: str) -> None:
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        # Some callables have no signature; the call itself will show.
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise Problem(
            stage, f"{shown} cannot be called like this: {error}; its signature is {signature}"
        ) from error


def attempt(stage: str, work: Callable[[], Any]) -> Any:
    """Run submitted code; whatever it raises becomes a `Problem` with the last lines of its traceback."""
    try:
        return work()
    except Problem:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name in _OPTIONAL:
            raise Problem("library", str(error.name)) from error
        lines = "".join(traceback.format_exception(error)).rstrip().splitlines()
        said = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        raise Problem(stage, said, "\n".join(lines[-_TRACE_LINES:])) from error


def serve(channel: Channel, torch: Any, model: Any, asked: Message) -> None:
    """Answer one batch."""
    try:
        channel.send("answer", {"number": asked.fields["number"]}, answer(torch, model, asked.array))
    except Problem as problem:
        report(channel, problem)


def answer(torch: Any, model: Any, windows: Any) -> np.ndarray:
    """Run the model on windows (b, channels, samples).

    Returns
    -------
    ndarray of float32
        Shape (b, 1), finite.

    Raises
    ------
    Problem
        For any other shape, for NaN or infinity, and for whatever the model raises.
    """
    expected = (len(windows), 1)

    def forward() -> np.ndarray:
        with torch.inference_mode():
            output = model(torch.from_numpy(windows))
        if not isinstance(output, torch.Tensor):
            raise Problem(
                "shape", f"the model returned {type(output).__name__}, expected a tensor {expected}"
            )
        if tuple(output.shape) != expected:
            raise Problem("shape", f"the model returned the shape {tuple(output.shape)}, expected {expected}")
        if output.is_complex():
            raise Problem("values", "the model returned complex numbers, expected real ones")
        numbers: np.ndarray = output.detach().to("cpu", torch.float32).numpy()
        if not np.isfinite(numbers).all():
            raise Problem("values", "the model returned NaN or infinity, expected finite numbers")
        return numbers

    result: np.ndarray = attempt("predict", forward)
    return result


def _serve_in_a_copy(channel: Channel, torch: Any, model: Any, asked: Message) -> None:
    """Answer in a copy of this process that ends with the answer: attributes and globals change nothing later."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            serve(channel, torch, model, asked)
            code = 0
            sys.stdout.flush()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    if status:
        code = os.waitstatus_to_exitcode(status)
        report(channel, Problem("predict", f"the model's process ended with code {code} without an answer"))


def report(channel: Channel, problem: Problem) -> None:
    """Send a problem; lengths are cut here so that the message fits, and again by the host."""
    fields = {"stage": problem.stage, "reason": problem.reason[:1000], "trace": problem.trace[-3000:]}
    channel.send("error", fields)
