"""The documentation: its commands run, its links lead somewhere, the reference is what the code says."""

from __future__ import annotations

import os
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import typer
import yaml

from command_line import neuroarena_in
from neuroarena.cli.app import app
from shared_data import SHARED

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Pages about files of one's own run on real ones, which are linked into their folder.
REAL = {"my-recordings.md": {"S001": SHARED / "data" / "real" / "eegmmidb_p300" / "eegmmidb" / "S001"}}
SLOW = (
    "audit",
    "track-",
    "eeg2025",
    "brainscore-",
    "neuroprobe",
    "evaluate-",
    "tutorial",
    "my-encoder",
    "maps",
    "moabb",
)
FENCE = re.compile(r"^```(?P<language>\w*)(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    language: str
    title: str | None
    body: str


def blocks(page: Path) -> list[Block]:
    found = []
    for match in FENCE.finditer(page.read_text(encoding="utf-8")):
        title = re.search(r'title="([^"]+)"', match["info"])
        found.append(Block(match["language"], title and title[1], match["body"]))
    return found


def commands(body: str) -> list[str]:
    joined = body.replace("\\\n", " ")
    return [line.strip() for line in joined.splitlines() if line.strip() and not line.strip().startswith("#")]


def runnable(page: Path) -> bool:
    return any(block.language in ("bash", "python") for block in blocks(page))


def runnable_pages() -> list[object]:
    """Return the pages with commands but for the README, which has a drill of its own; long ones are drills too."""
    return [
        pytest.param(page, id=page.name, marks=[pytest.mark.drill] if page.name.startswith(SLOW) else [])
        for page in PAGES
        if runnable(page) and page.name != "README.md"
    ]


def steps(page: Path, folder: Path) -> list[str]:
    """Write the programs of a page into a folder and return its commands in order."""
    found = []
    makefile = (ROOT / "Makefile").read_text()
    for number, block in enumerate(blocks(page)):
        if block.language == "toml" and block.title is not None:
            (folder / block.title).write_text(block.body)
        elif block.language == "python":
            name = block.title or f"block_{number}.py"
            (folder / name).write_text(block.body)
            if block.title is None:
                found.append(f"python {name}")
        elif block.language == "bash":
            for command in commands(block.body):
                if command.startswith("make "):
                    # This test is itself run by make; that the target exists is what can be said here.
                    assert f"\n{command.split()[1]}:" in makefile
                else:
                    found.append(command)
    return found


def run_in_a_shell(page: Path, folder: Path) -> None:
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NEUROARENA_CACHE": str(folder / "cache"),
        "OMP_NUM_THREADS": "1",
    }
    ran = subprocess.run(
        ["bash", "-c", "\n".join(["set -eu", *steps(page, folder)])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-3000:]}"


def run_here(page: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the commands of a page in this process; a shell only says what their words are."""
    monkeypatch.chdir(folder)
    for step in steps(page, folder):
        said = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {step}"], capture_output=True, text=True, check=True
        )
        verb, *words = said.stdout.split("\0")[:-1]
        if verb == "neuroarena":
            ran = neuroarena_in(folder, *words)
            assert ran.returncode == 0, f"{step}\n{ran.stdout[-2000:]}\n{ran.stderr[-3000:]}"
        elif verb == "python":
            runpy.run_path(*words, run_name="__main__")
        else:
            assert verb == "export", f"{step}: run this page in a shell"
            monkeypatch.setenv(*words[0].split("=", 1))


@pytest.mark.parametrize("page", runnable_pages())
def test_the_commands_of_a_page_run_in_order(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    for name, place in REAL.get(page.name, {}).items():
        if not place.is_dir():
            pytest.skip(f"the real data {place.name} are not beside this clone")
        (tmp_path / name).symlink_to(place)
    if page.name.startswith(SLOW):
        run_in_a_shell(page, tmp_path)
    else:
        run_here(page, tmp_path, monkeypatch)


@pytest.mark.drill
def test_the_commands_of_the_readme_run_in_a_shell(tmp_path: Path):
    """As a newcomer types them: an interpreter for each, and workers that have to find the decoder themselves."""
    run_in_a_shell(ROOT / "README.md", tmp_path)


@pytest.mark.parametrize(
    "page", [*PAGES, ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name
)
def test_links_lead_somewhere(page: Path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
        if not target.startswith("http"):
            assert (page.parent / target).exists(), target


def test_the_reference_is_what_the_code_says():
    # In a process of its own: other tests of this one may have registered things.
    code = "import runpy; print(runpy.run_path('tools/reference.py')['reference'](), end='')"
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == said, (
        "run: make docs (after pip install --no-deps -e . where entry points are new)"
    )


def test_ten_lines_of_python_and_twenty_of_toml_are_enough():
    program, *_ = (
        block for block in blocks(ROOT / "docs" / "my-recordings.md") if block.title == "imagery.py"
    )
    assert len([line for line in program.body.splitlines() if line.strip()]) <= 10
    file, *_ = (
        block for block in blocks(ROOT / "docs" / "my-recordings.md") if block.title == "imagery.toml"
    )
    assert len(file.body.splitlines()) <= 20


@pytest.mark.drill
def test_the_site_builds_without_a_broken_link(tmp_path: Path):
    pytest.importorskip("mkdocs", reason="the extra docs is not installed")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "-d", str(tmp_path / "site")],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr[-2000:]
    page = (tmp_path / "site" / "api.html").read_text(encoding="utf-8")
    assert "from_events" in page
    assert ":class:" not in page


def described_commands(page: str) -> list[list[str]]:
    """Return the commands of neuroarena on a page that need machines of the reader's own, as lists of words."""
    texts = [block.body for block in blocks(ROOT / "docs" / page) if block.language == "text"]
    lines = [line for text in texts for line in commands(text)]
    found = [re.search(r"(?:^|[ /])neuroarena ((?:run|map|worker|serve|admin) .*)", line) for line in lines]
    return [shlex.split(each[1], comments=True) for each in found if each is not None]


def test_the_tests_that_pages_name_exist():
    named = [
        (page.name, *found)
        for page in sorted((ROOT / "docs").glob("*.md"))
        for found in re.findall(r"\b(tests/[\w/]+\.py)(?:::(\w+))?", page.read_text(encoding="utf-8"))
    ]
    assert len(named) > 50
    sources = {
        path: (ROOT / path).read_text(encoding="utf-8") for _, path, _ in named if (ROOT / path).is_file()
    }
    lost = [
        each
        for each in named
        if each[1] not in sources or (each[2] and f"def {each[2]}(" not in sources[each[1]])
    ]
    assert lost == []


@pytest.mark.parametrize(("page", "least"), [("cluster.md", 4), ("several-machines.md", 8)])
def test_commands_for_other_machines_are_ones_that_the_command_line_takes(page, least):
    """Run by nobody here, so their verbs and options are at least looked up."""
    described = described_commands(page)
    assert len(described) >= least
    for words in described:
        command, rest = typer.main.get_command(app), list(words)
        while hasattr(command, "commands"):
            command = command.commands[rest.pop(0)]
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in rest if word.startswith("-")} <= known, " ".join(words)


def test_the_compose_file_starts_a_database_a_server_and_workers():
    page = ROOT / "docs" / "several-machines.md"
    (text,) = (block.body for block in blocks(page) if block.body.startswith("services:"))
    told = yaml.safe_load(text)
    assert set(told["services"]) == {"database", "server", "scorer", "code"}
    blind = {name for name, each in told["services"].items() if each.get("tmpfs") == ["/shared/arena/vault"]}
    assert blind == {"server", "code"}
    for service in told["services"].values():
        assert set(service.get("depends_on", [])) <= set(told["services"])
        assert set(service.get("secrets", [])) <= set(told["secrets"])


def test_the_units_of_systemd_name_their_workers_as_systemd_reads_them():
    """An instance's name holds no comma: systemd escapes it, and only %I undoes that."""
    text = (ROOT / "docs" / "several-machines.md").read_text(encoding="utf-8")
    assert re.findall(r"--labels (%\w)$", text, flags=re.MULTILINE) == ["%I"]
    started = re.findall(r"enable --now '?neuroarena-worker@([^\s']+)", text)
    labels = [re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), each) for each in started]
    assert labels == ["intake,scorer", "cpu"]
    assert not [each for each in started if "," in each]
