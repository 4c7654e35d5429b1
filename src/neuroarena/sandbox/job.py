"""What to run, and where its folders are on each side."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from neuroarena.errors import InputError

GUEST_FOLDER = Path(__file__).resolve().parent / "guest"
# -I: no folder, variable or site of the user decides what is imported. -B: nothing to be written.
_BOOT = (
    "import importlib, sys; sys.path[:0] = [sys.argv[1], sys.argv[2]]; "
    "importlib.import_module(sys.argv[3]).main(sys.argv[4:])"
)


@dataclass(frozen=True)
class Control:
    """How the caller can end a run early.

    Attributes
    ----------
    cancel : Event, optional
        Set it from any thread.
    deadline : float, optional
        A time of ``time.monotonic()`` after which it is ended, whatever it waited for.
    """

    cancel: threading.Event | None = None
    deadline: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether the run must end now."""
        cancelled = self.cancel is not None and self.cancel.is_set()
        return cancelled or (self.deadline is not None and time.monotonic() > self.deadline)


@dataclass(frozen=True)
class Job:
    """A command with the folders it may read. Nothing can be written but what leaves through its standard output.

    Attributes
    ----------
    command : tuple of str or Path
        Program and arguments. A `Path` inside one of the folders below is translated to its place inside, and this
        interpreter to that of the runtime.
    inputs : mapping of str to Path
        Folders to read, by the name they have inside.

    Raises
    ------
    InputError
        When a folder does not exist or a name is not a plain word.
    """

    command: tuple[str | Path, ...]
    inputs: Mapping[str, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name, folder in self.inputs.items():
            if not name.isidentifier():
                raise InputError(f'An input of a sandbox must be named with a plain word, got "{name}".')
            if not folder.is_dir():
                raise InputError(f"{folder}: there is no such folder for the sandbox to read.")


def guest_command(folder: Path, module: str, arguments: Sequence[str | Path] = ()) -> tuple[str | Path, ...]:
    """Return the command that runs ``main(arguments)`` of a contract's guest module.

    Parameters
    ----------
    folder : Path
        Where the module is; pass it to the :class:`Job` as an input, unless it is `GUEST_FOLDER`. Inside, it can
        import itself, the general guest modules by their plain names, and the libraries of the runtime.
    module : str
        Its name, without a package.
    arguments : sequence of str or Path
        Passed to its ``main``.

    Examples
    --------
    >>> guest_command(Path("contract"), "answer_windows", ["2"])[-2:]
    ('answer_windows', '2')
    """
    return (sys.executable, "-I", "-B", "-c", _BOOT, GUEST_FOLDER, folder, module, *arguments)


def wrap_command(
    command: Sequence[str],
    hello: int,
    lifeline: int | None = None,
    *,
    rlimits: Mapping[str, int] | None = None,
    python: str = sys.executable,
    guest: Path = GUEST_FOLDER,
) -> list[str]:
    """Return a command that begins with the launcher, which reports that everything stands and takes on limits."""
    settings = json.dumps({"hello": hello, "lifeline": lifeline, "rlimits": dict(rlimits or {})})
    return [python, "-I", "-S", "-B", os.fspath(guest / "launch.py"), settings, *command]


def translate_path(part: str | Path, places: Mapping[Path, Path]) -> str:
    """Return an argument with its path translated to the inside.

    Examples
    --------
    >>> translate_path(Path("/home/me/zip/a.pt"), {Path("/home/me/zip"): Path("/input/submission")})
    '/input/submission/a.pt'
    """
    if isinstance(part, Path):
        for outside, inside in places.items():
            if part.is_relative_to(outside):
                return str(inside / part.relative_to(outside))
    return str(part)
