"""What the guests of all contracts share: load a submission, answer one question after the other, report problems.

Messages: ``hello``, then ``ready`` or ``error``; for each ``ask`` an ``answer`` with the same number and nonce, or
``error``. Labels, names of people, paths and files of the data never reach this side.
"""

from __future__ import annotations

import importlib
import inspect
import os
import random
import sys
import traceback
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from neuroarena.sandbox.guest.channel import Channel
    from neuroarena.sandbox.guest.wire import Message
else:
    # By their plain names: in here nothing is called neuroarena.
    from channel import Channel
    from wire import Message

_TRACE_LINES = 8
_MOST_REASON, _MOST_TRACE = 700, 2200
Answer = tuple[dict[str, Any], np.ndarray | None]


class Problem(Exception):
    """The submission breaks the contract; `stage` names where."""

    def __init__(self, stage: str, reason: str, trace: str = "") -> None:
        super().__init__(reason)
        self.stage, self.reason, self.trace = stage, reason, trace


def serve(load: Callable[[], Callable[[Message], Answer]]) -> None:
    """Load the submission and answer until the host is done."""
    channel = Channel()
    channel.send("hello")
    try:
        answer = load()
    except Problem as problem:
        _report(channel, problem)
        return
    sys.stdout.flush()
    channel.send("ready")
    while (asked := channel.receive()) is not None:
        token = {name: asked.fields[name] for name in ("number", "nonce")}
        try:
            fields, array = answer(asked)
        except Problem as problem:
            _report(channel, problem)
            continue
        # After the last answer this process is ended without another word.
        sys.stdout.flush()
        channel.send("answer", {**fields, **token}, array)


def import_submission(folder: str, optional: Sequence[str] = (), name: str = "submission") -> Any:
    """Import a submission from its folder, which is the working directory and first on the path from now on.

    Parameters
    ----------
    folder : str
    optional : sequence of str
        Libraries that a submission may expect and that may be absent; the host knows what brings each.
    name : str
        Of the module.
    """
    os.chdir(folder)
    own = {name for name, module in sys.modules.items() if _is_ours(module)}
    # A submission may have modules of the same names.
    for ours in own - {"__main__"}:
        del sys.modules[ours]
    sys.path[:2] = [folder, os.path.join(folder, "python_packages")]
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002 (submitted code draws from the global state)
    return attempt("import", lambda: importlib.import_module(name), optional)


def _is_ours(module: Any) -> bool:
    return str(getattr(module, "__file__", None) or "").startswith(("/guest/", "/input/contract/"))


def find_callable(module: Any, name: str, arguments: tuple[Any, ...], shown: str) -> Any:
    """Return a function of the submission that can be called with these arguments.

    Raises
    ------
    Problem
        When there is none, or its signature does not match.
    """
    found = getattr(module, name, None)
    if not callable(found):
        raise Problem("method", f"submission.py does not define {shown}")
    check_call(found, arguments, shown)
    return found


def check_call(called: Any, arguments: tuple[Any, ...], shown: str) -> None:
    """Raise a `Problem` when something cannot be called with these arguments."""
    try:
        signature = inspect.signature(called)
    except (TypeError, ValueError):
        # Some callables have no signature; the call itself will show.
        return
    try:
        signature.bind(*arguments)
    except TypeError as error:
        raise Problem(
            "constructor", f"{shown} cannot be called like this: {error}; its signature is {signature}"
        ) from error


def accepts(called: Any, count: int) -> bool:
    """Return whether something can be called with this many positional arguments."""
    try:
        inspect.signature(called).bind(*range(count))
    except (TypeError, ValueError):
        return False
    return True


def attempt(stage: str, work: Callable[[], Any], optional: Sequence[str] = ()) -> Any:
    """Run submitted code; whatever it raises becomes a `Problem` with the last lines of its traceback."""
    try:
        return work()
    except Problem:
        raise
    except BaseException as error:
        if isinstance(error, ModuleNotFoundError) and error.name in optional:
            raise Problem("library", str(error.name)) from error
        lines = "".join(traceback.format_exception(error)).rstrip().splitlines()
        said = ": ".join([type(error).__name__, *str(error).splitlines()[:1]])
        raise Problem(stage, said, "\n".join(lines[-_TRACE_LINES:])) from error


def check_numbers(values: Any, shape: tuple[int, ...] | None) -> np.ndarray:
    """Return real, finite float32 numbers; `shape` None accepts any vector.

    Raises
    ------
    Problem
    """
    if type(values) is not np.ndarray:
        values = np.asarray(values)
    if values.dtype.kind not in "fiub":
        raise Problem("values", f"the model returned {values.dtype}, expected real numbers")
    if shape is not None and values.shape != shape:
        raise Problem("shape", f"the model returned the shape {values.shape}, expected {shape}")
    numbers: np.ndarray = values.astype(np.float32)
    if not np.isfinite(numbers).all():
        raise Problem("values", "the model returned NaN or infinity, expected finite numbers")
    return numbers


def _report(channel: Channel, problem: Problem) -> None:
    """Send a problem; lengths are cut here so that the message fits, and again by the host."""
    reason, trace = (
        text.encode("utf-8", "replace")[-most:].decode("utf-8", "replace").replace("\x00", " ")
        for text, most in ((problem.reason, _MOST_REASON), (problem.trace, _MOST_TRACE))
    )
    channel.send("error", {"stage": problem.stage, "reason": reason, "trace": trace})
