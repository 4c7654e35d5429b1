"""A leaderboard by pull request: the repository that `site init` writes works with real submissions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from command_line import neuroarena_in
from shared_data import SHARED

REAL = SHARED / "data" / "neuroprobe" / "submissions"


@pytest.fixture
def repository(tmp_path) -> Path:
    ran = neuroarena_in(tmp_path, "site", "init", "board", "--family", "neuroprobe", "--title", 'My "board"')
    assert ran.returncode == 0, ran.stderr
    return tmp_path / "board"


def run_workflow(repository: Path) -> str:
    """Run the steps of the workflow as a CI server does, except that neuroarena is installed already."""
    workflow = yaml.safe_load((repository / ".github/workflows/board.yml").read_text())
    # YAML 1.1 reads the key "on" as true.
    assert "pull_request" in workflow.get("on", workflow.get(True))
    paths = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    said = []
    for step in workflow["jobs"]["build"]["steps"]:
        if "run" in step and step["name"] != "Install":
            ran = subprocess.run(
                ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
                cwd=repository, env={**os.environ, "PATH": paths, "CI": "true"}, capture_output=True, text=True,
            )  # fmt: skip
            assert ran.returncode == 0, (step["name"], ran.stdout, ran.stderr)
            said.append(ran.stdout)
    return "\n".join(said)


def test_a_repository_has_folders_rules_cards_checks_and_a_template(repository, tmp_path):
    for name in ("README.md", "about/rules.md", "about/faq.md", "cards/TEMPLATE.md", "submissions/README.md"):
        assert (repository / name).read_text().strip()
    assert tomllib.loads((repository / "about/site.toml").read_text())["title"] == 'My "board"'
    assert "check submission neuroprobe" in (repository / ".github/pull_request_template.md").read_text()
    before = (repository / "README.md").read_bytes()
    ran = neuroarena_in(tmp_path, "site", "init", "board")
    assert ran.returncode == 2
    assert (repository / "README.md").read_bytes() == before
    ran = neuroarena_in(tmp_path, "site", "init", "other", "--family", "neuroprob")
    assert ran.returncode == 2
    assert "neuroprobe" in ran.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.drill
@pytest.mark.skipif(not REAL.is_dir(), reason="the real submissions are not beside the project")
def test_real_submissions_that_are_dropped_in_appear_on_the_board(repository):
    for folder in REAL.iterdir():
        shutil.copytree(folder, repository / "submissions" / folder.name)
    said = run_workflow(repository)
    assert said.count("Accepted by the official rules") == 3
    # One of the published submissions has one fold where two are expected: it is taken, and its check says so.
    assert said.count("1 fold where 2 are expected, in 12 of 12 sessions") == 2
    (odd,) = (repository / "submissions").glob("PopulationTransformer*")
    assert neuroarena_in(repository, "check", "submission", "neuroprobe", str(odd)).returncode == 2
    about = json.loads((repository / "site/index.json").read_text())
    assert len(about["entries"]) == 3
    assert {(row["kind"], row["split"]) for row in about["boards"]} == {
        (kind, split)
        for kind in ("task", "overall")
        for split in ("within-session", "cross-session", "cross-subject")
    }
    assert len(about["boards"]) == 3 * 16
    board = (repository / "site/boards/neuroprobe-2025-09-onset-within-session.html").read_text()
    assert "1 fold instead of 2 in 12 of 12 sessions" in board
    other = (repository / "site/boards/neuroprobe-2025-09-onset-cross-session.html").read_text()
    assert "instead of" not in other
    entries = [path.read_text() for path in (repository / "site/entries").glob("*.html")]
    assert any("https://arxiv.org/abs/2406.03044" in page for page in entries)
    assert sum("<span>MIT</span>" in page for page in entries) >= 1
