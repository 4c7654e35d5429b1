"""Escape drills: hostile submissions as root, as an ordinary user, and where there is no bubblewrap."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import escape_attempts
import neuroarena
from escape_attempts import ENDINGS, LOOKS, ask, end, look
from neuroarena.competition import zone_launch
from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox.runtime import find_runtime

SMOKE = ("answers ahead", "floods after its answer", "counts in /tmp", "forges a score")


def test_there_are_more_than_forty_attempts():
    assert len(ENDINGS) + len(LOOKS) >= 40


def test_looking_for_labels_and_ways_out_finds_none(bwrap: None, tmp_path: Path):
    assert look(tmp_path) == []


@pytest.mark.parametrize("name", SMOKE)
def test_what_was_once_open_is_closed(bwrap: None, tmp_path: Path, name: str):
    assert end(tmp_path, name) == "contained"


@pytest.mark.drill
@pytest.mark.parametrize("name", [name for name in ENDINGS if name not in SMOKE])
def test_an_attempt_is_contained_and_the_next_submission_is_served(bwrap: None, tmp_path: Path, name: str):
    assert end(tmp_path, name) == "contained"
    assert len(ask(tmp_path, escape_attempts.BODY.format(frame="", body="return 'no'")).tables[""]) == 1


@pytest.mark.drill
def test_every_attempt_of_an_ordinary_users_guest_is_contained(bwrap: None):
    if os.geteuid():
        pytest.skip("the other tests run as an ordinary user already")
    find_runtime()
    tests, source = Path(escape_attempts.__file__).parent, Path(neuroarena.__file__).parents[1]
    settings = {
        "uid": 63500,
        "gid": 63500,
        "groups": [],
        "reachable": [sys.prefix, sys.base_prefix, str(source), str(tests)],
        "cgroups": [],
        "environment": {"PATH": os.environ["PATH"], "HOME": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"},
        "command": [sys.executable, str(tests / "escape_attempts.py")],
    }
    command = [sys.executable, "-m", zone_launch.__name__, json.dumps(settings)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert ran.returncode == 0, ran.stderr[-3000:]
    verdicts = json.loads(ran.stdout.strip().splitlines()[-1])
    assert len(verdicts) == len(ENDINGS) + 1
    assert {name: verdict for name, verdict in verdicts.items() if verdict != "contained"} == {}


@pytest.mark.drill
def test_without_bubblewrap_no_attempt_is_run_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", "/nowhere")
    for body, _ in ENDINGS.values():
        with pytest.raises(NeuroarenaError, match=r"bubblewrap is not installed.*Nothing was run"):
            ask(tmp_path, escape_attempts.BODY.format(frame=escape_attempts.FRAME, body=body))
