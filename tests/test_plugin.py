"""Another package brings a family with every face by entry points alone; everything works with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

PLUGIN = Path(__file__).parent / "plugin"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The plugin, installed by pip into a folder of its own."""
    folder = tmp_path_factory.mktemp("site")
    source = tmp_path_factory.mktemp("source") / "plugin"
    # Built from a copy: building leaves files behind, and the checkout stays clean.
    subprocess.run(["cp", "-r", str(PLUGIN), str(source)], check=True)
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    command += ["--disable-pip-version-check", "--target", str(folder), str(source)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return folder


@pytest.fixture(scope="module")
def shell(site) -> Iterator[subprocess.Popen[str]]:
    """An interpreter that finds the plugin and answers every command: starting one for each would cost most."""
    command = [sys.executable, "-c", "from command_line import answer_commands; answer_commands()"]
    environment = {**os.environ, "PYTHONPATH": python_path(site, Path(__file__).parent)}
    pipe = subprocess.PIPE
    with subprocess.Popen(command, env=environment, stdin=pipe, stdout=pipe, text=True) as process:
        yield process
        process.stdin.close()


@pytest.fixture(scope="module")
def place(shell, tmp_path_factory) -> Path:
    """A folder with simulated people and the results of two decoders on both tasks."""
    folder = tmp_path_factory.mktemp("place")
    card = json.loads(neuroarena(shell, folder, "data simulate hum hums --people 4 --json"))
    assert card["simulated"] is True
    neuroarena(shell, folder, "run hum --data hums --out results -d hum-power -d dummy")
    return folder


def python_path(*folders: Path) -> str:
    return os.pathsep.join([*map(str, folders), *filter(None, [os.environ.get("PYTHONPATH")])])


def neuroarena(shell: subprocess.Popen[str], folder: Path, line: str, code: int = 0) -> str:
    print(json.dumps([str(folder), *line.split()]), file=shell.stdin, flush=True)
    ran = json.loads(shell.stdout.readline())
    assert ran["returncode"] == code, ran["stderr"]
    return ran["stdout" if code == 0 else "stderr"]


def test_the_plugin_keeps_the_word_of_every_face(shell, place):
    checks = json.loads(neuroarena(shell, place, "check family hum --json"))
    assert [check for check in checks if not check["passed"]] == []
    told = " ".join(check["check"] for check in checks)
    for face in ("options", "importers", "exporters", "start_kit", "code_contract", "columns", "rules"):
        assert f'its face "{face}"' in told


def test_everything_it_brings_is_listed_with_its_origin(shell, place):
    brought = {
        "datasets": "hum",
        "benchmarks": "hum/pitch",
        "decoders": "hum-power",
        "metrics": "within_a_tenth",
    }
    for kind, name in brought.items():
        rows = {row["name"]: row for row in json.loads(neuroarena(shell, place, f"list {kind} --json"))}
        assert rows[name]["from"] == "neuroarena-hum"
        if kind == "benchmarks":
            assert rows["hum/loud"]["splits"] == "other-people"
            assert rows["hum/pitch"]["splits"] == "second-half, other-people"


def test_two_tasks_run_to_one_board_with_its_metric_its_column_and_its_rules(shell, place):
    board = json.loads(neuroarena(shell, place, "board results --rules hum-cup --json"))
    assert board["rules"]["rule"] == "best-of-last-3"
    assert board["simulated"] is True
    tables = {ranking["task"]: ranking["table"] for ranking in board["rankings"] if ranking["kind"] == "task"}
    for task in ("loud", "pitch"):
        assert [row["team"] for row in tables[task]] == ["hum-power", "dummy"]
        assert tables[task][0]["score"] > 0.8
        assert tables[task][0]["breath"] == "shallow"


def test_its_options_are_data(shell, place):
    (option,) = json.loads(neuroarena(shell, place, "list options hum --json"))
    assert option["option"] == "people"
    run = "run hum/loud --data hums --out few -d dummy"
    (row,) = json.loads(neuroarena(shell, place, f"{run} -O people=3 --json"))
    assert row["units"] == 3
    assert 'Did you mean "people"' in neuroarena(shell, place, f"{run} -O peple=3", code=2)
    assert "people" in neuroarena(shell, place, f"{run} -O people=1", code=2)


def test_its_format_is_exported_recognised_and_imported(shell, place):
    neuroarena(shell, place, "run hum/loud --data hums --out one -d hum-power")
    neuroarena(shell, place, "export hum-sheet one --out deep.txt")
    for words in ("board deep.txt --json", "board --from hum-sheet -O tempo=2 deep.txt --json"):
        (ranking,) = json.loads(neuroarena(shell, place, words))["rankings"]
        (row,) = ranking["table"]
        assert (row["team"], row["breath"]) == ("deep", "deep")
    assert "There are: tempo." in neuroarena(
        shell, place, "board --from hum-sheet -O volume=2 deep.txt", code=2
    )


def test_code_for_its_contract_runs_in_the_sandbox_and_is_ranked(shell, place, bwrap):
    with zipfile.ZipFile(place / "mine.zip", "w") as file:
        file.writestr("hum.py", "def predict(windows):\n    return (windows.std(axis=(1, 2)) > 1.5) * 1.0\n")
    said = json.loads(neuroarena(shell, place, "score hum mine.zip --data hums --out code --json"))
    assert said["score"] > 0.8
    (ranking,) = json.loads(neuroarena(shell, place, "board code --json"))["rankings"]
    assert ranking["table"][0]["score"] == said["score"]


def test_its_start_kit_and_its_verb_are_there(shell, site, place):
    neuroarena(shell, place, "startkit hum kit")
    assert "class Loudness(Power)" in (place / "kit" / "decoder.py").read_text()
    environment = {**os.environ, "PYTHONPATH": python_path(site)}
    command = [sys.executable, "-m", "neuroarena", "hum"]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout == "mmmm\n"
    neuroarena(shell, place, "check decoder hum-power --benchmark hum/loud")
