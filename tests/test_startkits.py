"""Start kits: each is run from an empty folder, with the commands of its own README and no others."""

from __future__ import annotations

import ast
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import neuroarena.evaluation
from command_line import BARE_PYTEST
from neuroarena.benchmarks.faces import families_with
from neuroarena.benchmarks.names import FAMILIES
from neuroarena.cli.app import app
from neuroarena.cli.startkits import write_kit
from neuroarena.errors import InputError, UnknownName

NEEDS_TRANSFER = pytest.mark.skipif(
    "transfer" not in FAMILIES.names(), reason="the family transfer is not registered"
)
TRACKS = sorted(families_with("start_kit"))
# The others differ in their data and decoders only.
QUICK = ("img",)
KITS = [
    pytest.param(
        track,
        marks=[
            *([NEEDS_TRANSFER] if track == "transfer" else []),
            *([] if track in QUICK else [pytest.mark.drill]),
        ],
    )
    for track in TRACKS
]


def commands(readme: str) -> list[list[str]]:
    """The commands of all fenced blocks, in their order."""
    blocks = re.findall(r"^```bash\n(.*?)^```", readme, flags=re.DOTALL | re.MULTILINE)
    return [shlex.split(line) for block in blocks for line in block.splitlines() if line.strip()]


@pytest.fixture
def here(tmp_path, monkeypatch) -> Path:
    """An empty folder that is the current one, with a cache of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NEUROARENA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "decoder", raising=False)
    # One process: two that start anew would take longer than the work.
    monkeypatch.setattr(neuroarena.evaluation, "available_cores", lambda: 1)
    yield tmp_path
    sys.modules.pop("decoder", None)


def run(words: list[str]) -> str:
    """Run a command; neuroarena in this process, anything else in one of its own."""
    if words[0] == "neuroarena":
        ran = CliRunner().invoke(app, words[1:])
        assert ran.exit_code == 0, f"{shlex.join(words)}\n{ran.output}\n{ran.exception}"
        return ran.stdout
    assert words[0] == "python"
    environment = {**os.environ, **BARE_PYTEST}
    command = [sys.executable, *words[1:]]
    made = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert made.returncode == 0, f"{shlex.join(words)}\n{made.stdout}\n{made.stderr}"
    return made.stdout


def scores(folder: Path) -> dict[str, dict[str, float]]:
    """Score of every decoder on every task, as the results keep it."""
    found: dict[str, dict[str, float]] = {}
    for path in sorted(folder.glob("*/record.json")):
        record = json.loads(path.read_text())
        assert record["status"] == "complete"
        found.setdefault(record["benchmark"]["name"], {})[record["decoder"]["name"]] = record["score"]
    return found


@pytest.mark.parametrize("track", KITS)
def test_a_start_kit_runs_from_an_empty_folder_as_its_readme_says(track, here):
    run(["neuroarena", "startkit", track, "kit"])
    os.chdir("kit")
    words = commands(Path("README.md").read_text(encoding="utf-8"))
    said = {shlex.join(command): run(command) for command in words}
    verbs = [" ".join(command[1:3]) for command in words if command[0] == "neuroarena"]
    for verb in ("data simulate", "run ", "board results", "check submission", "score "):
        assert any(each.startswith(verb) for each in verbs), verb
    assert Path("submission.parquet").is_file()
    assert "accepted" in next(out for command, out in said.items() if "check submission" in command)
    for task, found in scores(Path("results")).items():
        assert all(score is not None for score in found.values()), task


BETTER = {
    # By how much the kit's own decoder is better than its floor, in the metric's own numbers.
    "img": ("decoder:EpochRidge", "chance", 0.2),
    "bci": ("decoder:BandPower", "chance", 0.15),
    "sleep": ("decoder:OnsetWatch", "sleep-median", -10.0),
    "emg": ("decoder:NearestKey", "most-frequent-key", -30.0),
}


@pytest.mark.parametrize("track", BETTER)
@pytest.mark.drill
def test_the_decoder_of_a_kit_beats_its_floor(track, here):
    write_kit(track, here / "kit")
    os.chdir("kit")
    words = commands(Path("README.md").read_text(encoding="utf-8"))
    for command in words:
        if "simulate" in command or (command[1] == "run" and "--submission" not in command):
            run(command)
    own, floor, distance = BETTER[track]
    ((_, found),) = scores(Path("results")).items()
    assert (found[own] - found[floor]) / distance > 1


@pytest.mark.drill
def test_a_start_kit_runs_in_a_shell_of_its_own(tmp_path):
    """As a newcomer does it: separate processes, and workers that have to find the decoder themselves."""
    folder = Path(sys.executable).parent
    told = {
        **os.environ,
        "NEUROARENA_CACHE": str(tmp_path / "cache"),
        "PATH": f"{folder}:{os.environ['PATH']}",
    }
    write_kit("emg", tmp_path / "kit")
    script = "\n".join(shlex.join(words) for words in commands((tmp_path / "kit" / "README.md").read_text()))
    ran = subprocess.run(
        ["bash", "-e", "-c", script],
        cwd=tmp_path / "kit",
        env=told,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "submission.parquet: accepted" in ran.stdout


@pytest.mark.parametrize("track", TRACKS)
def test_a_kit_is_commented_code_that_says_no_placeholder_and_no_path_of_ours(track, tmp_path):
    paths = write_kit(track, tmp_path / "kit")
    assert {"README.md", "decoder.py", "test_decoder.py"} <= {path.name for path in paths}
    for path in paths:
        text = path.read_text(encoding="utf-8")
        assert "$" not in text
        assert max(map(len, text.splitlines())) <= 180
        if path.suffix == ".py":
            tree = ast.parse(text)
            assert ast.get_docstring(tree)
            public = [
                node
                for node in ast.walk(tree)
                if isinstance(node, ast.ClassDef | ast.FunctionDef)
                and not node.name.startswith(("_", "test_"))
            ]
            assert all(ast.get_docstring(node) for node in public)
    assert len(commands((tmp_path / "kit" / "README.md").read_text(encoding="utf-8"))) >= 8


def test_a_folder_that_holds_something_is_left_as_it_is(tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match="is not an empty folder"):
        write_kit("bci", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_an_unknown_track_is_refused_with_the_closest(tmp_path):
    with pytest.raises(UnknownName, match='Did you mean "sleep"'):
        write_kit("slep", tmp_path / "kit")
    assert not (tmp_path / "kit").exists()
