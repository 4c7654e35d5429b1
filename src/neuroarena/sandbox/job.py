"""What to run, and where its folders are on each side."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from neuroarena.errors import InputError

GUEST_FOLDER = Path(__file__).resolve().parent / "guest"
# The folders above have no __init__ inside: there neuroarena is a namespace with nothing but the guest's modules.
_BOOT = (
    "import importlib, os, sys; sys.path[:0] = [os.path.abspath(sys.argv[1] + '/../../..'), sys.argv[2]]; "
    "importlib.import_module(sys.argv[3]).main(sys.argv[4:])"
)


@dataclass(frozen=True)
class Job:
    """A command with the folders it may see.

    Attributes
    ----------
    command : tuple of str or Path
        Program and arguments. A `Path` inside one of the folders below is translated to its place inside.
    inputs : mapping of str to Path
        Folders to read, by the name they have inside.
    output : Path or None
        The one folder to write.
    hidden : tuple of Path
        Folders that must stay invisible even inside a visible one (data below /usr, for example).

    Raises
    ------
    InputError
        When a folder does not exist or a name is not a plain word.
    """

    command: tuple[str | Path, ...]
    inputs: Mapping[str, Path] = field(default_factory=dict)
    output: Path | None = None
    hidden: tuple[Path, ...] = ()

    def __post_init__(self) -> None:
        for name, folder in self.inputs.items():
            if not name.isidentifier():
                raise InputError(f'An input of a sandbox must be named with a plain word, got "{name}".')
            if not folder.is_dir():
                raise InputError(f"{folder}: there is no such folder for the sandbox to read.")
        if self.output is not None and not self.output.is_dir():
            raise InputError(f"{self.output}: there is no such folder for the sandbox to write to.")


def guest_command(folder: Path, module: str, arguments: Sequence[str | Path] = ()) -> tuple[str | Path, ...]:
    """Return the command that runs ``main(arguments)`` of a contract's guest module in this interpreter.

    Parameters
    ----------
    folder : Path
        Where the module is; pass it to the :class:`Job` as an input. Inside, it can import itself, the general
        guest modules and what the interpreter has.
    module : str
        Its name, without a package.
    arguments : sequence of str or Path
        Passed to its ``main``.

    Examples
    --------
    >>> guest_command(Path("contract"), "answer_windows", ["2"])[-2:]
    ('answer_windows', '2')
    """
    # -I: no folder, variable or site of the user decides what is imported. -B: nothing to be written.
    return (sys.executable, "-I", "-B", "-c", _BOOT, GUEST_FOLDER, folder, module, *arguments)


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
