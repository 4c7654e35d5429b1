"""Run a command in isolation and report the outcome."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from neuroarena.sandbox.backends import Backend, choose_backend
from neuroarena.sandbox.child import Child, Stopped
from neuroarena.sandbox.job import Control, Job
from neuroarena.sandbox.limits import Isolation, Limits, Outcome


def run_isolated(
    command: Sequence[str | Path],
    *,
    inputs: Mapping[str, Path] | None = None,
    limits: Limits | None = None,
    isolation: Isolation | None = None,
    backend: Backend | None = None,
    control: Control | None = None,
) -> Outcome:
    """Run a command that sees its inputs and nothing else, and end whatever it leaves behind.

    Parameters
    ----------
    command : sequence of str or Path
        Program and arguments; a `Path` inside an input is translated to its place inside.
    inputs : mapping of str to Path, optional
        Folders to read; inside they are /input/NAME.
    limits : Limits, optional
        What it may use.
    isolation : {"bubblewrap", "none"}, optional
        By default bubblewrap; "none" runs trusted code in a plain child process, and the outcome says so.
    backend : Backend, optional
        Used instead of choosing one.
    control : Control, optional
        How to end it early.

    Returns
    -------
    Outcome
        Never raises for what the command does. What it prints is the end of its log.

    Raises
    ------
    InputError
        When a folder does not exist.
    NeuroarenaError
        When this machine cannot isolate it; nothing was run then.

    Examples
    --------
    >>> import sys
    >>> run_isolated([sys.executable, "-I", "-c", "print('hello')"]).stderr_tail
    'hello\\n'
    """
    outcome, _ = collect_isolated(
        command, 0, inputs=inputs, limits=limits, isolation=isolation, backend=backend, control=control
    )
    return outcome


def collect_isolated(
    command: Sequence[str | Path],
    most_bytes: int,
    *,
    inputs: Mapping[str, Path] | None = None,
    limits: Limits | None = None,
    isolation: Isolation | None = None,
    backend: Backend | None = None,
    control: Control | None = None,
) -> tuple[Outcome, bytes]:
    """Run a command as `run_isolated` does, and return with the outcome what it wrote to standard output.

    There is no folder that both sides can write: what a guest makes leaves through here. More than `most_bytes` ends
    it with the status ``output``; with 0, standard output is part of the log.
    """
    job = Job(tuple(command), inputs or {})
    chosen = backend or choose_backend(isolation)
    with Child(job, limits or Limits(), chosen, talk=most_bytes > 0, control=control) as child:
        child.room = most_bytes
        with contextlib.suppress(Stopped):
            child.wait()
        outcome = child.outcome()
        return outcome, bytes(child.incoming)
