"""Drills: strangers' requests by the schema, and pages whose maker is killed while they change."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from sqlalchemy import select
from starlette.testclient import TestClient

from arena_making import Clock, join, make_arena, write_answers
from neuroarena.competition import submit, work
from neuroarena.competition.arena import EMBEDDED, Arena, open_arena, read_about
from neuroarena.competition.people.accounts import create_account
from neuroarena.competition.people.memberships import found_team
from neuroarena.competition.people.sessions import open_session
from neuroarena.competition.site_pages import EDITION, publish_everything
from neuroarena.competition.tables import PAGE
from neuroarena.competition.teams import issue_token
from neuroarena.server import Settings, create_app
from neuroarena.server.published import PublishedPages
from neuroarena.server.rendering import Templates
from neuroarena.server.settings import ServerLimits
from people_making import PASSWORD
from postgres import running_postgres

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

CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
PUBLIC = {"/index.json", "/method.json", "/announcements.json", "/register.json", "/sign-in.json"}
OPENED = {
    "visitor": PUBLIC,
    "reader": PUBLIC | {"/submit.json", "/submissions.json"},
    "program": PUBLIC | {"/submit.json", "/submissions.json"},
    "captain": PUBLIC
    | {"/account.json", "/account/data.json", "/team.json", "/submit.json", "/submissions.json"},
    "organiser": PUBLIC
    | {"/organise.json", "/organise/queue.json", "/organise/events.json", "/organise/submissions.json"}
    | {"/organise/audits.json", "/organise/announcements.json", "/organise/close.json"},
}


def make_scored(folder: Path, database: str = EMBEDDED) -> tuple[Arena, str]:
    arena = make_arena(folder, Clock("2026-03-02 12:00 UTC"), database=database)
    token = join(arena, "reds")
    submit(arena, token, "commands", write_answers(folder / "a.parquet", 2))
    work(arena, until_idle=True)
    publish_everything(arena)
    return arena, token


# Sent by these before anything else, the drill would only ask strangers from then on.
ENDING = ("/sign-out.json", "/account/delete.json", "/team/leave.json", "/account/password.json")


def make_headers(arena: Arena, token: str) -> dict[str, dict[str, str]]:
    """What each kind of visitor says in every request: nothing, a token of either scope, or a session."""
    said = {"visitor": {}, "program": {"Authorization": f"Bearer {token}"}}
    said["reader"] = {"Authorization": f"Bearer {issue_token(arena, 'reds', scope='read')}"}
    for name in ("captain", "organiser"):
        account = create_account(arena, f"{name}@example.org", name, PASSWORD, organiser=name == "organiser")
        if name == "captain":
            found_team(arena, account, "blues")
        with arena.store.writing() as connection:
            now = arena.store.clock(connection)
            secret = open_session(connection, now, account, organiser=name == "organiser")
        said[name] = {"Cookie": f"session={secret}", "Sec-Fetch-Site": "same-origin"}
    return said


@pytest.mark.drill
@pytest.mark.parametrize("who", ["visitor", "program", "reader", "captain", "organiser"])
def test_no_request_by_the_schema_breaks_the_server_or_the_schema(tmp_path: Path, who: str):
    arena, token = make_scored(tmp_path)
    headers = make_headers(arena, token)[who]
    limits = ServerLimits(sign_ins=10**6, letters=10**6, uploads=10**6)
    app = create_app(arena, Settings(limits=limits))
    schema = schemathesis.openapi.from_asgi("/openapi.json", app)
    operations = [found.ok() for found in schema.get_all_operations()]
    assert len(operations) > 50
    good: set[str] = set()
    for operation in sorted(operations, key=lambda one: one.path in ENDING):

        @settings(max_examples=8, deadline=None, database=None, suppress_health_check=list(HealthCheck))
        @given(case=operation.as_strategy())
        def ask(case: schemathesis.Case) -> None:
            answer = case.call(headers=headers)
            case.validate_response(answer, checks=CHECKS)
            assert answer.status_code < 500, (case.method, case.path, answer.text)
            if answer.status_code >= 400:
                assert set(answer.json()) == {"status", "error"}
            else:
                good.add(case.path)

        ask()
    # Who is asking decides what is answered: were everybody a stranger, nothing would have been compared.
    assert OPENED[who] <= good


@pytest.mark.drill
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_pages_that_are_killed_while_they_change_are_of_one_edition(tmp_path: Path, database: str):
    with contextlib.ExitStack() as stack:
        place = EMBEDDED if database == "sqlite" else stack.enter_context(running_postgres())
        arena, _ = make_scored(tmp_path, place)
        stack.callback(arena.store.close)
        wrong: list[tuple[str | None, str]] = []
        seen: set[str | None] = set()
        done = threading.Event()

        def watch() -> None:
            own = open_arena(arena.folder)
            while not done.is_set():
                pages = PublishedPages(own, Templates(own, Settings()))
                page = pages.read("index")
                said = pages.edition.name
                seen.add(said)
                if page is None or (str(said).startswith("edition") and page.page.title != said):
                    wrong.append((said, "nothing" if page is None else page.page.title))
            own.store.close()

        watcher = threading.Thread(target=watch)
        watcher.start()
        for round_ in range(4):
            command = [sys.executable, "-c", PAGES_OF_EDITION, str(arena.folder)]
            maker = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)
            assert maker.stdout is not None
            # Killed after some editions, each time at another place of the next one.
            for _ in range(3 + round_):
                maker.stdout.readline()
            time.sleep(0.3 * (round_ + 1))
            while round_ == 3 and len(seen) <= 2 and watcher.is_alive():
                time.sleep(0.05)
            os.kill(maker.pid, signal.SIGKILL)
            maker.wait()
        done.set()
        watcher.join()
        assert wrong == []
        assert len(seen) > 2
        with arena.store.reading(as_one=True) as connection:
            titles = set(connection.execute(select(PAGE.c.title)).scalars())
            assert titles == {str(read_about(connection, EDITION))}
        client = TestClient(create_app(arena))
        assert client.get("/index.html").status_code == client.get("/method.json").status_code == 200
        assert f"<title>{titles.pop()}" in client.get("/index.html").text
