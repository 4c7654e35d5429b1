"""A leaderboard by pull request: the repository that `site init` writes works with real submissions."""

from __future__ import annotations

import json
import shutil
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


def commands_of_workflow(repository: Path) -> list[list[str]]:
    """Return the commands of neuroarena that the workflow runs, for the submissions that are there."""
    workflow = yaml.safe_load((repository / ".github/workflows/board.yml").read_text())
    # YAML 1.1 reads the key "on" as true.
    assert "pull_request" in workflow.get("on", workflow.get(True))
    lines = [line for step in workflow["jobs"]["build"]["steps"] for line in step.get("run", "").splitlines()]
    folders = sorted(path.name for path in (repository / "submissions").iterdir() if path.is_dir())
    found = []
    for line in lines:
        words = line.split()
        if words[:1] == ["neuroarena"] and '"$folder"' in words:
            found += [[*words[1:-1], f"submissions/{folder}"] for folder in folders]
        elif words[:1] == ["neuroarena"]:
            found.append(words[1:])
    return found


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
    commands = commands_of_workflow(repository)
    assert len(commands) == 4
    *checks, build = commands
    checked = {words[-1]: neuroarena_in(repository, *words) for words in checks}
    # One of the published submissions has one fold where the leaderboard asks for two: its check says so.
    refused = [name for name, ran in checked.items() if ran.returncode != 0]
    assert [name.split("/")[1].split("_")[0] for name in refused] == ["PopulationTransformer"]
    assert "fold" in checked[refused[0]].stdout
    ran = neuroarena_in(repository, *build)
    assert ran.returncode == 0, ran.stderr
    about = json.loads((repository / "site/index.json").read_text())
    assert len(about["entries"]) == 3
    assert {(row["kind"], row["split"]) for row in about["boards"]} == {
        (kind, split)
        for kind in ("task", "overall")
        for split in ("within-session", "cross-session", "cross-subject")
    }
    assert len(about["boards"]) == 3 * 16
    entries = [path.read_text() for path in (repository / "site/entries").glob("*.html")]
    assert any("https://arxiv.org/abs/2406.03044" in page for page in entries)
    assert sum("<span>MIT</span>" in page for page in entries) >= 1
