"""The command line in this process: an interpreter started for every command costs more than what it is asked."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

import pytest

import neuroarena.evaluation
from neuroarena.cli import main

# For a pytest that a test starts: the plugins that are installed here take longer to load than its tests to run.
BARE_PYTEST = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


@dataclass(frozen=True)
class Ran:
    """What a command left: its exit code and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def neuroarena_in(folder: Path, *words: str) -> Ran:
    """Run a command with a folder as the current one, a cache in it, and one worker unless words say more.

    Modules that the command loads from the folder are forgotten, as those of a process that ended are.
    """
    said, complained = io.StringIO(), io.StringIO()
    loaded = set(sys.modules)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.setenv("NEUROARENA_CACHE", str(folder / "cache"))
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys, "path", [*sys.path])
        patch.setattr(sys, "argv", ["neuroarena", *words])
        patch.setattr(neuroarena.evaluation, "available_cores", lambda: 1)
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(complained):
            try:
                main()
                code = 0
            except SystemExit as left:
                code = left.code if isinstance(left.code, int) else int(left.code is not None)
    for name in set(sys.modules) - loaded:
        if Path(getattr(sys.modules[name], "__file__", None) or "/").is_relative_to(folder):
            del sys.modules[name]
    return Ran(code, said.getvalue(), complained.getvalue())


def answer_commands() -> None:
    """Run commands asked on standard input, one JSON list ``[folder, *words]`` a line, and answer each on a line.

    For a process that differs from this one: with another package installed, say.
    """
    answers = sys.stdout
    for line in sys.stdin:
        folder, *words = json.loads(line)
        print(json.dumps(asdict(neuroarena_in(Path(folder), *words))), file=answers, flush=True)
