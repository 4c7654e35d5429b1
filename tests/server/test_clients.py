"""``submit``, ``status`` and ``board`` on a server, over a real connection."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from arena_making import Clock, join, make_arena, write_answers
from neuroarena.cli.app import app
from neuroarena.competition import work
from neuroarena.competition.arena import Arena
from neuroarena.competition.site_pages import publish_everything
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.server.client import FormBody, RemoteArena
from server_running import running


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return make_arena(tmp_path_factory.mktemp("remote"), Clock("2026-03-02 12:00 UTC"))


@pytest.fixture(scope="module")
def url(arena: Arena) -> Iterator[str]:
    with running(arena) as address:
        yield address


def test_a_team_hands_in_and_reads_its_receipt_and_the_board(
    arena: Arena, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("NEUROARENA_TOKEN", join(arena, "reds"))
    file, run = write_answers(tmp_path / "a.parquet", 2), CliRunner()
    checked = run.invoke(app, ["submit", "commands", str(file), "--url", url, "--dry-run"])
    assert (checked.exit_code, "would be taken" in checked.output) == (0, True)
    words = ["submit", "commands", str(file), "--url", url, "--key", "once", "--json"]
    first, again = (json.loads(run.invoke(app, words).stdout) for _ in range(2))
    assert first["id"] == again["id"]
    assert first["state"] == "queued"
    work(arena, until_idle=True)
    publish_everything(arena)
    assert "scored" in run.invoke(app, ["status", first["id"], "--url", url]).stdout
    listed = json.loads(run.invoke(app, ["status", "--url", url, "--json"]).stdout)
    assert [row["id"] for row in listed] == [first["id"]]
    boards = run.invoke(app, ["board", "--url", url, "--json"]).stdout
    name = json.loads(boards)["boards"][0]["page"].removeprefix("boards/").removesuffix(".html")
    assert name in run.invoke(app, ["board", "--url", url]).stdout
    shown = run.invoke(app, ["board", name, "--url", url])
    assert "reds" in shown.stdout


def test_what_the_server_refuses_is_one_sentence(arena: Arena, url: str, tmp_path: Path):
    token = join(arena, "blues")
    wrong = tmp_path / "wrong.parquet"
    wrong.write_bytes(b"no parquet")
    remote = RemoteArena(url, token)
    with pytest.raises(InputError, match=r"wrong\.parquet"):
        remote.submit(wrong, {"track": "commands"})
    with pytest.raises(InputError, match="no track"):
        remote.submit(write_answers(tmp_path / "a.parquet"), {"track": "nothing"})
    with pytest.raises(InputError, match="token is not valid"):
        RemoteArena(url, "made.up").list_submissions()
    with pytest.raises(InputError, match="Sign in first"):
        RemoteArena(url).list_submissions()
    with pytest.raises(InputError, match="no submission"):
        remote.read_receipt("s0000000000")
    assert remote.list_submissions() == []


def test_an_address_is_checked_before_a_token_leaves_this_machine():
    with pytest.raises(InputError, match="https alone"):
        RemoteArena("http://arena.example.org", "a.b")
    with pytest.raises(InputError, match="expected an address"):
        RemoteArena("arena.example.org")
    with pytest.raises(NeuroarenaError, match="cannot be reached"):
        RemoteArena("http://127.0.0.1:9").list_boards()


def test_a_form_is_read_piece_by_piece_and_reports(tmp_path: Path):
    file = tmp_path / "large.bin"
    file.write_bytes(b"x" * 1_000_000)
    told: list[tuple[int, int]] = []
    with FormBody(file, {"track": "a"}, lambda *said: told.append(said)) as form:
        pieces = []
        while piece := form.read(8192):
            pieces.append(piece)
    assert sum(map(len, pieces)) == len(form) == told[-1][0] == told[-1][1]
    assert max(map(len, pieces)) <= 8192
    assert b"x" * 1_000_000 in b"".join(pieces)


def test_either_a_folder_or_an_address_is_needed(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("NEUROARENA_TOKEN", "a.b")
    for words in (["status"], ["submit", "commands", "a.parquet"], ["board"]):
        ran = CliRunner().invoke(app, words)
        assert isinstance(ran.exception, InputError)
        assert "--url" in str(ran.exception)
