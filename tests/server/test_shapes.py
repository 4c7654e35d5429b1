"""What pages say to programs is what the schema promises: every key is declared, and nothing else is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fastapi.routing import APIRoute
from pydantic import BaseModel, TypeAdapter
from sqlalchemy import select
from starlette.testclient import TestClient

from arena_making import Clock, join, make_arena, write_answers
from neuroarena.competition import submit, work
from neuroarena.competition.arena import Arena
from neuroarena.competition.people.accounts import create_account
from neuroarena.competition.people.memberships import found_team
from neuroarena.competition.people.sessions import open_session
from neuroarena.competition.site_pages import publish_everything
from neuroarena.competition.tables import PAGE, SUBMISSION
from neuroarena.competition.teams import accept_terms, issue_token
from neuroarena.server import create_app
from neuroarena.server.app import ROUTERS
from people_making import PASSWORD

SHAPES = {
    (next(iter(route.methods)), route.path): route.response_model
    for router in ROUTERS
    for route in router.routes
    if isinstance(route, APIRoute) and route.include_in_schema
}


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    """Two teams with a score in the open phase, one of them with people, and a submission in the sealed one."""
    folder = tmp_path_factory.mktemp("shapes")
    clock = Clock("2026-03-02 12:00 UTC")
    arena = make_arena(folder, clock)
    (arena.folder / "site").mkdir()
    (arena.folder / "site" / "faq.md").write_text("# Questions\n\nWhy?\n")
    found_team(arena, create_account(arena, "c@example.org", "Captain", PASSWORD), "reds")
    create_account(arena, "a@example.org", "Alone", PASSWORD)
    create_account(arena, "o@example.org", "Organiser", PASSWORD, organiser=True)
    accept_terms(arena, "reds")
    for number, token in enumerate((issue_token(arena, "reds"), join(arena, "blues"))):
        submit(arena, token, "commands", write_answers(folder / f"{number}.parquet", number + 1))
    clock.set("2026-03-11 12:00 UTC")
    submit(arena, issue_token(arena, "reds"), "commands", write_answers(folder / "late.parquet", 3))
    work(arena, until_idle=True)
    publish_everything(arena)
    return arena


def open_client(arena: Arena, email: str | None) -> TestClient:
    client = TestClient(create_app(arena), headers={"Sec-Fetch-Site": "same-origin"})
    if email is not None:
        from neuroarena.competition.tables import ACCOUNT

        with arena.store.writing() as connection:
            row = connection.execute(select(ACCOUNT).where(ACCOUNT.c.email == email)).mappings().one()
            now = arena.store.clock(connection)
            secret = open_session(connection, now, row["id"], organiser=row["organiser"])
        client.cookies.set("session", secret)
    return client


def check(client: TestClient, path: str, **named: str) -> Any:
    answer = client.get(path.format(**named))
    assert answer.status_code == 200, (path, answer.text)
    TypeAdapter(SHAPES[("GET", path)]).validate_json(answer.content)
    return answer.json()


def test_every_answer_has_a_declared_shape():
    open_ended = {place for place, shape in SHAPES.items() if shape == dict[str, Any]}
    assert open_ended == set()
    assert len(SHAPES) > 50


def test_no_shape_takes_what_it_does_not_declare():
    from neuroarena.server import board_shapes, desk_shapes, shapes

    kinds = [
        kind
        for module in (shapes, board_shapes, desk_shapes)
        for kind in vars(module).values()
        if isinstance(kind, type) and issubclass(kind, BaseModel) and kind is not BaseModel
    ]
    assert len(kinds) > 60
    assert {kind.__name__ for kind in kinds if kind.model_config.get("extra") != "forbid"} == set()


def test_public_pages_keep_their_shapes(arena: Arena):
    client = open_client(arena, None)
    with arena.store.reading() as connection:
        pages = list(connection.execute(select(PAGE.c.address).where(PAGE.c.template != "")).scalars())
    asked = set()
    for address in pages:
        folder, _, name = address.rpartition("/")
        path = (
            f"/{folder}/{{name}}.json" if folder else f"/{name}.json" if name in ("index", "method") else None
        )
        asked.add(path or "/{name}.json")
        check(client, path or "/{name}.json", name=name)
    assert asked == {
        "/index.json",
        "/method.json",
        "/boards/{name}.json",
        "/entries/{name}.json",
        "/{name}.json",
    }
    for name in ("register", "letter-sent", "verify", "sign-in", "forgotten", "reset", "announcements"):
        check(client, f"/{name}.json")


def test_the_first_page_before_any_board_keeps_its_shape(tmp_path: Path):
    check(open_client(make_arena(tmp_path, Clock("2026-02-20 12:00 UTC")), None), "/index.json")


def test_pages_of_people_keep_their_shapes(arena: Arena):
    captain = open_client(arena, "c@example.org")
    for path in ("/account.json", "/account/data.json", "/team.json", "/submit.json", "/submissions.json"):
        check(captain, path)
    with arena.store.reading() as connection:
        own = list(connection.execute(select(SUBMISSION.c.id).where(SUBMISSION.c.team == "reds")).scalars())
    assert len(own) == 2
    for submission in own:
        check(captain, "/submissions/{submission}.json", submission=submission)
    assert check(open_client(arena, "a@example.org"), "/team.json") == {"team": None}


def test_pages_of_the_desk_keep_their_shapes(arena: Arena):
    desk = open_client(arena, "o@example.org")
    desk.post("/organise/announcements", data={"title": "News", "text": "Text"})
    desk.post("/organise/rejudge", data={"track": "commands"})
    for path in sorted(path for method, path in SHAPES if method == "GET" and path.startswith("/organise")):
        with arena.store.reading() as connection:
            submission = connection.execute(select(SUBMISSION.c.id)).scalars().first()
        check(desk, path, submission=str(submission))
