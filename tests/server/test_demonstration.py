"""The competition to show a friend: one command, an address, a sign-in, simulated teams; nothing is left behind."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from neuroarena.competition.people.accounts import sign_in
from neuroarena.competition.people.sessions import find_person
from neuroarena.demo.simulated_arena import TEAMS, make_demonstration
from neuroarena.errors import InputError

pytestmark = pytest.mark.drill


def fetch(address: str) -> str:
    with urllib.request.urlopen(address, timeout=300) as answer:
        return answer.read().decode()


def test_one_command_serves_a_simulated_competition_and_ends_without_a_trace():
    words = [sys.executable, "-m", "neuroarena", "serve", "--demo", "--port", "0"]
    server = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        said = ""
        while "http://" not in said:
            line = server.stdout.readline()
            assert line, server.stderr.read()
            said += line
        assert re.search(r"Sign in as a team: +\S+@\S+ +password \S+", said)
        assert re.search(r"Sign in as an organiser: +\S+@\S+ +password \S+", said)
        files = [Path(found) for found in re.findall(r"(/\S+\.parquet)", said)]
        assert [file.name for file in files] == ["good.parquet", "bad.parquet"]
        assert all(file.is_file() for file in files)
        address = re.search(r"http://\S+", said)[0]
        index = json.loads(fetch(f"{address}index.json"))
        assert index["simulated"] is True
        assert {row["team"] for row in index["entries"]} == set(TEAMS)
        assert len(TEAMS) == 12
        assert "Simulated data" in fetch(address)
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(300)
    assert not any(file.exists() for file in files)


def test_the_accounts_of_a_demonstration_can_sign_in_and_its_folder_is_not_taken_from_others(tmp_path):
    made = make_demonstration(tmp_path / "arena")
    for (email, password), organiser in ((made.team, False), (made.organiser, True)):
        person = find_person(made.arena, sign_in(made.arena, email, password))
        assert person.organiser is organiser
    made.arena.store.close()
    with pytest.raises(InputError, match="is in use"):
        make_demonstration(tmp_path / "arena")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arena"]
