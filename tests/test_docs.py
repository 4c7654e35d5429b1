"""The documentation: its commands run, its links lead somewhere, the reference is what the code says."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
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
    """Give the pages with commands; the long ones take a minute each and are drills."""
    slow = ("track-", "eeg2025", "brainscore-", "neuroprobe", "evaluate-")
    return [
        pytest.param(page, id=page.name, marks=[pytest.mark.drill] if page.name.startswith(slow) else [])
        for page in PAGES
        if runnable(page)
    ]


@pytest.mark.parametrize("page", runnable_pages())
def test_the_commands_of_a_page_run_in_order(page: Path, tmp_path: Path):
    script = ["set -eu"]
    makefile = (ROOT / "Makefile").read_text()
    for number, block in enumerate(blocks(page)):
        if block.language == "python":
            name = block.title or f"block_{number}.py"
            (tmp_path / name).write_text(block.body)
            if block.title is None:
                script.append(f"{sys.executable} {name}")
        elif block.language == "bash":
            for command in commands(block.body):
                if command.startswith("make "):
                    # This test is itself run by make; that the target exists is what can be said here.
                    assert f"\n{command.split()[1]}:" in makefile
                else:
                    script.append(command)
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "NEUROARENA_CACHE": str(tmp_path / "cache"),
        "OMP_NUM_THREADS": "1",
    }
    ran = subprocess.run(
        ["bash", "-c", "\n".join(script)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, f"{ran.stdout[-2000:]}\n{ran.stderr[-3000:]}"


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
    assert (ROOT / "docs" / "reference.md").read_text(encoding="utf-8") == said, "run: make docs"
