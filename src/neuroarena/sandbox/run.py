"""Run a command in isolation and report the outcome."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from neuroarena.sandbox.child import Child, Stopped
from neuroarena.sandbox.job import Job
from neuroarena.sandbox.limits import Isolation, Limits, Outcome


def run_isolated(
    command: Sequence[str | Path],
    *,
    inputs: Mapping[str, Path] | None = None,
    workdir: Path | None = None,
    limits: Limits | None = None,
    hidden: Sequence[Path] = (),
    isolation: Isolation | None = None,
) -> Outcome:
    """Run a command that sees its inputs and nothing else, and end whatever it leaves behind.

    Parameters
    ----------
    command : sequence of str or Path
        Program and arguments; a `Path` inside an input or `workdir` is translated to its place inside.
    inputs : mapping of str to Path, optional
        Folders to read; inside they are /input/NAME.
    workdir : Path, optional
        The one folder to write; inside it is /output, and where the command starts.
    limits : Limits, optional
        What it may use.
    hidden : sequence of Path, optional
        Folders that must stay invisible even inside those of the interpreter or the system.
    isolation : {"bubblewrap", "process"}, optional
        Insist on one; the default takes the best available, and the outcome says which that was.

    Returns
    -------
    Outcome
        Never raises for what the command does.

    Raises
    ------
    InputError
        When a folder does not exist.
    NeuroarenaError
        When bubblewrap is asked for and cannot be used.

    Examples
    --------
    >>> import sys
    >>> run_isolated([sys.executable, "-I", "-c", "print('hello')"]).stderr_tail
    'hello\\n'
    """
    job = Job(tuple(command), inputs or {}, workdir, tuple(hidden))
    with Child(job, limits or Limits(), isolation) as child:
        with contextlib.suppress(Stopped):
            child.wait()
        return child.outcome()
