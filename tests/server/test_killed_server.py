"""Drill: a server killed again and again while teams hand in; every receipt stands, and nothing is half there."""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import itertools
import multiprocessing
import random
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from arena_making import FILE, join, make_arena, with_clock, write_answers
from neuroarena.competition import work
from neuroarena.competition.arena import EMBEDDED, Arena, open_arena
from neuroarena.competition.keeping import verify_arena
from neuroarena.competition.store import read_clock
from neuroarena.competition.tables import SUBMISSION
from neuroarena.server import read_server_settings
from neuroarena.server.serving import run_server
from ports import find_free_ports
from postgres import running_postgres

ROUNDS, CLIENTS = 4, 4
FORMAT = "%Y-%m-%d %H:%M UTC"


def file_around_now() -> str:
    """The competition of all tests, with a warm-up that began yesterday, and hardly a cap."""
    now = datetime.datetime.now(datetime.UTC)
    days = {
        "2026-03-01 00:00 UTC": -1,
        "2026-03-08 23:59:59 AoE": 2,
        "2026-03-10 00:00 UTC": 3,
        "2026-03-20 00:00 UTC": 9,
    }
    text = FILE.replace("[[tracks]]", "[limits]\nunfinished = 900\n\n[[tracks]]", 1)
    text = text.replace("per_day = 5", "per_day = 900")
    for said, day in days.items():
        text = text.replace(said, (now + datetime.timedelta(days=day)).strftime(FORMAT))
    return text


@pytest.fixture(params=["sqlite", "postgresql"])
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Arena]:
    with contextlib.ExitStack() as stack:
        place = EMBEDDED if request.param == "sqlite" else stack.enter_context(running_postgres())
        made = make_arena(tmp_path, read_clock, file_around_now(), place)
        (made.folder / "server.toml").write_text("[limits]\nuploads = 100000\n")
        stack.callback(made.store.close)
        yield made


def serve(folder: Path, port: int) -> None:
    """Do what ``neuroarena serve`` does, in a process that has imported everything already."""
    run_server(open_arena(folder), read_server_settings(folder).model_copy(update={"port": port}))


class Server:
    """A server at one port, which is killed and started again."""

    def __init__(self, arena: Arena) -> None:
        (self.port,) = find_free_ports(1)
        self.folder = arena.folder
        self.context = multiprocessing.get_context("forkserver")
        self.context.set_forkserver_preload([__name__, "neuroarena.server.app", "pyarrow.parquet", "uvicorn"])

    def start(self) -> None:
        self.process = self.context.Process(target=serve, args=(self.folder, self.port), daemon=True)
        self.process.start()

    def kill(self) -> None:
        assert self.process.is_alive()
        self.process.kill()
        self.process.join()


class Team:
    """A program that hands in one file after the other, and asks again with the same key until it has a receipt."""

    def __init__(self, server: Server, token: str, folder: Path, name: str) -> None:
        self.server, self.folder, self.name = server, folder, name
        self.bearer = {"Authorization": f"Bearer {token}"}
        self.receipts: dict[str, tuple[str, str]] = {}
        self.broken = 0
        self.refused: list[str] = []
        self.abandoned: set[str] = set()

    def post(self, key: str, content: bytes) -> str | None:
        """Return the id of the submission; None when the line broke."""
        try:
            answer = httpx.post(
                f"http://127.0.0.1:{self.server.port}/submit.json",
                headers=self.bearer,
                data={"track": "commands", "key": key},
                files={"file": ("mine.parquet", content)},
                timeout=300,
            )
        except httpx.ConnectError:  # nobody is there yet
            time.sleep(0.05)
            return None
        except httpx.TransportError:
            self.broken += 1
            return None
        if answer.status_code != 201:
            self.refused.append(answer.text)
            return "refused"
        return str(answer.json()["submission"])

    def hand_in(self, done: threading.Event) -> None:
        """Hand in until told to stop; what was begun is finished, except every fifth that broke, which is left."""
        for number in itertools.count():
            if done.is_set():
                return
            key = f"{self.name}-{number}"
            path = write_answers(self.folder / f"{key}.parquet", number % 5, model=key)
            content, broken = path.read_bytes(), self.broken
            while (found := self.post(key, content)) is None:
                if number % 5 == 4 and self.broken > broken:
                    self.abandoned.add(hashlib.sha256(content).hexdigest())
                    break
            if found is not None:
                self.receipts[key] = (found, hashlib.sha256(content).hexdigest())


def send_halves(server: Server, token: str, done: threading.Event) -> None:
    """Begin uploads and never end them; each is another one."""
    for number in itertools.count():
        if done.is_set():
            return
        head = (
            f"POST /submit.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            "Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000\r\n\r\n"
            '--b\r\nContent-Disposition: form-data; name="file"; filename="a.parquet"\r\n\r\n'
        )
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", server.port), 5) as line:
            line.sendall(head.encode() + f"half {number}".encode() * 1000)
            time.sleep(0.1)
        time.sleep(0.02)


def count_receipts(teams: list[Team]) -> int:
    return sum(len(team.receipts) for team in teams)


@pytest.mark.drill
def test_a_server_killed_during_uploads_keeps_every_receipt_and_no_half_submission(
    arena: Arena, tmp_path: Path
):
    server, done, chance = Server(arena), threading.Event(), random.Random(16)
    teams = [Team(server, join(arena, f"team{i}"), tmp_path, f"team{i}") for i in range(CLIENTS)]
    threads = [threading.Thread(target=team.hand_in, args=(done,)) for team in teams]
    threads.append(threading.Thread(target=send_halves, args=(server, join(arena, "halves"), done)))
    server.start()
    for thread in threads:
        thread.start()
    for number in range(ROUNDS):
        taken = count_receipts(teams)
        while count_receipts(teams) < taken + CLIENTS:
            time.sleep(0.01)
        time.sleep(chance.uniform(0, 0.5))
        if number == ROUNDS - 1:
            done.set()  # what is under way now is finished by the last server
        server.kill()
        server.start()
    for thread in threads:
        thread.join(600)
        assert not thread.is_alive()
    # The last one is killed and started when nobody hands in any more: what is left then, is left for good.
    server.kill()
    server.start()
    for team in teams:
        for key, (submission, _) in list(team.receipts.items())[-2:]:
            while (again := team.post(key, b"the key says which it is")) is None:
                pass
            assert again == submission
    server.kill()

    assert [team.refused for team in teams] == [[]] * CLIENTS
    assert sum(team.broken for team in teams) > 0
    receipts = [receipt for team in teams for receipt in team.receipts.values()]
    assert len(receipts) >= CLIENTS * ROUNDS
    with arena.store.reading() as connection:
        rows = {row.id: row for row in connection.execute(select(SUBMISSION))}
    for submission, sha256 in receipts:
        assert rows[submission].sha256 == sha256
        assert arena.artifacts.open(sha256).stat().st_size == rows[submission].bytes
    # One row for each receipt; besides, only what was taken whole before its line broke, and never asked for again.
    others = {row.sha256 for row in rows.values()} - {sha256 for _, sha256 in receipts}
    assert len({submission for submission, _ in receipts}) == len(receipts)
    assert others <= set().union(*(team.abandoned for team in teams))
    assert len(rows) == len(receipts) + len(others)
    # No file without its row, and nothing of an upload that was cut short.
    files = {path.name for path in arena.artifacts.folder.rglob("*") if path.is_file()}
    assert files == {f"{row.sha256}.parquet" for row in rows.values()}
    assert not [path for path in arena.artifacts.folder.rglob("*") if path.name.endswith(".part")]
    # Checks that died with their server are done by a worker once their lease is over.
    later = with_clock(arena, lambda connection: read_clock(connection) + datetime.timedelta(hours=1))
    work(later, until_idle=True, duties=False)
    assert verify_arena(later)["scores"] == len(rows)
    later.store.close()
