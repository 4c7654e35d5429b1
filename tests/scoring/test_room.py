"""The scoring room as a whole: what it loads, and what it leaves alone."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import neuroarena.scoring

ROOM = Path(neuroarena.scoring.__file__).parent
HEAVY = ("torch", "mne", "sklearn", "matplotlib", "fastapi")
ROOT_MODULES = {"errors", "fingerprint", "atomic", "registry", "scoring"}


def test_importing_the_room_loads_nothing_heavy() -> None:
    code = f"import sys, neuroarena.scoring; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("path", sorted(ROOM.glob("*.py")), ids=lambda path: path.name)
def test_no_module_imports_another_room(path: Path) -> None:
    named = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            named.add(node.module or "")
    own = {name.split(".")[1] for name in named if name.startswith("neuroarena.")}
    assert own <= ROOT_MODULES


def test_every_public_name_exists_and_is_documented() -> None:
    for name in neuroarena.scoring.__all__:
        thing = getattr(neuroarena.scoring, name)
        assert isinstance(thing, str) or thing.__doc__, name
