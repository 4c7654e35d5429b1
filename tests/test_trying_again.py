"""CI runs a test that failed once more, alone: an accident is named and passes, and everything else still fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "try_again.py"
FIRST_TIME = """
from pathlib import Path
import os, pytest
def is_first_time(name):
    place = Path(f"{name}.seen")
    seen = place.exists()
    place.touch()
    return not seen
def test_that_is_steady(): pass
"""
ACCIDENT = "def test_accident(): assert not is_first_time('accident')\n"
DEFECT = "def test_defect(): assert False\n"
EDGES = pytest.mark.drill


def run(folder: Path, source: str, *words: str) -> tuple[int, str]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    first, _, other = source.partition("# another file\n")
    (folder / "test_planted.py").write_text(FIRST_TIME + first)
    (folder / "test_other.py").write_text(other)
    # Only what is needed of the plugins that are installed: a session takes a fraction of a second.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}
    command = [sys.executable, str(TOOL), "-p", "xdist", "-p", "no:cacheprovider", "-n", "1", *words]
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment, check=False)
    return ran.returncode, ran.stdout


def test_a_test_that_passes_alone_is_called_unsteady_and_all_others_must_pass(tmp_path: Path):
    code, said = run(tmp_path, ACCIDENT)
    assert (code, said.count("test session starts")) == (0, 2)
    assert "UNSTEADY: test_planted.py::test_accident" in said.splitlines()
    (tmp_path / "accident.seen").unlink()
    code, said = run(tmp_path, ACCIDENT + DEFECT)
    assert code == 1
    assert [line for line in said.splitlines() if line.startswith("UNSTEADY")] == [
        "UNSTEADY: test_planted.py::test_accident"
    ]
    assert "1 of 2 failed tests passed when run alone" in said


@pytest.mark.parametrize(
    ("source", "words", "code", "sessions"),
    [
        pytest.param("", (), 0, 1, id="nothing fails", marks=EDGES),
        pytest.param(
            ACCIDENT + "# another file\nimport nothing_of_this_name\n", (), 1, 1, id="a file is not collected"
        ),
        pytest.param("", ("-k", "nothing"), 5, 1, id="no tests", marks=EDGES),
        pytest.param("", ("--no-such-option",), 4, 1, id="wrong words", marks=EDGES),
        pytest.param(
            "@pytest.mark.parametrize('n', range(9))\ndef test_many(n): assert not is_first_time(n)\n",
            (), 1, 1, id="too many", marks=EDGES,
        ),
        pytest.param(
            "def test_died():\n    if is_first_time('died'): os._exit(9)\n", (), 0, 2, id="a worker died", marks=EDGES,
        ),
        pytest.param(
            "def test_dies():\n    if is_first_time('a') or not is_first_time('b'): pass\n    os._exit(9)\n",
            (), 9, 2, id="died again", marks=EDGES,
        ),
        pytest.param(
            "def test_skips():\n    assert not is_first_time('skips')\n    pytest.skip('not now')\n",
            (), 1, 2, id="skipped the second time", marks=EDGES,
        ),
        pytest.param(
            "@pytest.fixture\ndef made():\n    yield\n    assert not is_first_time('made')\n"
            "def test_cleans_up(made): pass\n",
            (), 0, 2, id="an error afterwards", marks=EDGES,
        ),
        pytest.param(
            "if is_first_time('gone'):\n    def test_gone(): assert False\n",
            (), 4, 2, id="not there the second time", marks=EDGES,
        ),
    ],
)  # fmt: skip
def test_every_other_end_is_told_by_its_code(
    tmp_path: Path, source: str, words: tuple, code: int, sessions: int
):
    ended, said = run(tmp_path, source, *words)
    assert (ended, said.count("test session starts") or 1) == (code, sessions), said
    assert ("UNSTEADY" in said) == (code == 0 and sessions == 2)
