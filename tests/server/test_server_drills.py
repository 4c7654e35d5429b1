"""Drills: strangers' requests by the schema, and a server that is killed while files arrive and pages change."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from sqlalchemy import func, select

from arena_making import Clock, join, make_arena, write_answers
from neuroarena.competition import submit, work
from neuroarena.competition.arena import Arena, open_arena, read_about
from neuroarena.competition.site_pages import EDITION, publish_everything
from neuroarena.competition.tables import PAGE, SUBMISSION
from neuroarena.server import create_app

PAGES_OF_EDITION = """
import sys
from neuroarena.competition.arena import open_arena
from neuroarena.competition.site_pages import make_rows, read_content, replace_edition
from neuroarena.competition.publishing import publish_contest
arena = open_arena(sys.argv[1])
rows = list(make_rows(read_content(arena, publish_contest(arena))))
number = 0
while True:
    number += 1
    for row in rows:
        row["title"] = f"edition {number}"
    with arena.store.writing("boards") as connection:
        replace_edition(connection, f"edition {number}", rows)
    print(number, flush=True)
"""


def make_scored(folder: Path) -> tuple[Arena, str]:
    arena = make_arena(folder, Clock("2026-03-02 12:00 UTC"))
    token = join(arena, "reds")
    submit(arena, token, "commands", write_answers(folder / "a.parquet", 2))
    work(arena, until_idle=True)
    publish_everything(arena)
    return arena, token


@pytest.mark.drill
def test_no_request_by_the_schema_breaks_the_server(tmp_path: Path):
    arena, token = make_scored(tmp_path)
    schema = schemathesis.openapi.from_asgi("/openapi.json", create_app(arena))
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 20
    headers = {"Authorization": f"Bearer {token}"}
    for operation in operations:

        @settings(max_examples=15, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            for said in (headers, {}):
                answer = case.call(headers=said)
                assert answer.status_code < 500, (case.method, case.path, answer.text)
                assert answer.headers["content-type"][0].startswith("application/json")
                if answer.status_code >= 400:
                    assert set(answer.json()) == {"status", "error"}

        ask()


@pytest.mark.drill
def test_a_server_killed_during_uploads_leaves_no_half_submission(tmp_path: Path):
    arena, token = make_scored(tmp_path)
    command = [sys.executable, "-m", "neuroarena", "serve", str(arena.folder), "--port", "0"]
    file = (tmp_path / "a.parquet").read_bytes()
    for round_ in range(4):
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert server.stdout is not None
        port = int(server.stdout.readline().rstrip().rstrip("/").rpartition(":")[2])
        lines = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(3)]
        head = (
            f"POST /submit.json HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: multipart/form-data; boundary=b\r\nContent-Length: {len(file) + 500}\r\n\r\n"
            '--b\r\nContent-Disposition: form-data; name="file"; filename="a.parquet"\r\n\r\n'
        )
        for line in lines:
            line.sendall(head.encode() + file[: len(file) * (round_ + 1) // 5])
        time.sleep(0.2)
        os.kill(server.pid, signal.SIGKILL)
        server.wait()
        for line in lines:
            line.close()
    with open_arena(arena.folder).store.reading() as connection:
        assert connection.execute(select(func.count()).select_from(SUBMISSION)).scalar_one() == 1
    assert not [path for path in arena.artifacts.folder.rglob("*") if path.name.endswith(".part")]


@pytest.mark.drill
def test_pages_that_are_killed_while_they_change_are_of_one_edition(tmp_path: Path):
    arena, _ = make_scored(tmp_path)
    wrong: list[set[str]] = []
    done = threading.Event()

    def watch() -> None:
        own = open_arena(arena.folder)
        while not done.is_set():
            with own.store.reading() as connection:
                said = read_about(connection, EDITION)
                titles = set(connection.execute(select(PAGE.c.title)).scalars())
            if len(titles) != 1 and str(said).startswith("edition"):
                wrong.append(titles)

    watcher = threading.Thread(target=watch)
    watcher.start()
    for round_ in range(4):
        command = [sys.executable, "-c", PAGES_OF_EDITION, str(arena.folder)]
        maker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert maker.stdout is not None
        maker.stdout.readline()
        time.sleep(0.05 * (round_ + 1))
        os.kill(maker.pid, signal.SIGKILL)
        maker.wait()
    done.set()
    watcher.join()
    assert wrong == []
    with arena.store.reading() as connection:
        titles = set(connection.execute(select(PAGE.c.title)).scalars())
        assert titles == {str(read_about(connection, EDITION))}
