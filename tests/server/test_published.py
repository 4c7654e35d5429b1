"""Boards on the server: pages that the scorer made, shown whole, and nothing that is sealed."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from sqlalchemy import select
from starlette.testclient import TestClient

from arena_making import MANY, Clock, join, make_arena, write_answers
from neuroarena.competition import submit, work
from neuroarena.competition.arena import Arena, write_about
from neuroarena.competition.keeping import upgrade_arena
from neuroarena.competition.publishing import publish_contest
from neuroarena.competition.site_pages import (
    EDITION,
    make_rows,
    publish_everything,
    publish_pages,
    read_content,
)
from neuroarena.competition.tables import PAGE
from neuroarena.competition.teams import reveal_affiliation
from neuroarena.errors import InputError
from neuroarena.server import create_app
from neuroarena.server.serving import run_server
from neuroarena.server.settings import Settings


def read_pages(arena: Arena) -> dict[str, Any]:
    with arena.store.reading() as connection:
        return {row.address: row.view for row in connection.execute(select(PAGE.c.address, PAGE.c.view))}


def make_scored(folder: Path, clock: Clock) -> Arena:
    arena = make_arena(folder, clock)
    for team, wrong in (("reds", 1), ("blues <b>", 3)):
        token = join(arena, team)
        submit(arena, token, "commands", write_answers(folder / f"{wrong}.parquet", wrong))
    work(arena, until_idle=True)
    publish_everything(arena)
    return arena


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return make_scored(tmp_path_factory.mktemp("scored"), Clock("2026-03-02 12:00 UTC"))


@pytest.fixture(scope="module")
def client(arena: Arena) -> TestClient:
    return TestClient(create_app(arena))


def find_board(client: TestClient) -> str:
    return str(client.get("/index.json").json()["boards"][0]["page"]).removesuffix(".html")


def test_the_pages_of_the_site_are_served(arena: Arena, client: TestClient):
    pages = read_pages(arena)
    assert {"index", "method"} < set(pages)
    for address in pages:
        if address.startswith("data/"):
            assert client.get(f"/{address}.json").status_code == 404
            continue
        page, said = client.get(f"/{address}.html"), client.get(f"/{address}.json")
        assert page.status_code == said.status_code == 200, address
        assert page.text == client.get(f"/{address}").text
        assert said.json()["board"] >= 1
        assert len(said.json()["event_hash"]) == 64
    assert client.get("/").text == client.get("/index.html").text
    assert client.get("/boards/nothing.html").status_code == 404
    assert "cff-version" in client.get("/CITATION.cff").text
    assert 'class="state">open at the last update<' in client.get("/").text
    assert client.get("/assets/icon.svg").headers["content-type"] == "image/svg+xml"


def test_a_board_ranks_and_escapes(client: TestClient):
    address = find_board(client)
    text = client.get(f"/{address}.html").text
    assert text.index("reds") < text.index("blues &lt;b&gt;")
    assert "blues <b>" not in text
    said = client.get(f"/{address}.json").json()
    assert [row["team"] for row in said["table"]] == ["reds", "blues <b>"]
    assert [row["team"] for row in csv.DictReader(io.StringIO(client.get(f"/{address}.csv").text))] == [
        "reds",
        "blues <b>",
    ]
    table = pd.read_parquet(io.BytesIO(client.get(f"/{address}.verdicts.parquet").content))
    assert len(table) == 1
    assert client.get(f"/{address}.nothing.csv").status_code == 404


def test_every_link_of_every_page_leads_somewhere(arena: Arena, client: TestClient):
    from html.parser import HTMLParser
    from urllib.parse import urljoin, urlsplit

    class Links(HTMLParser):
        def __init__(self) -> None:
            super().__init__()
            self.found: set[str] = set()

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            self.found |= {value for name, value in attrs if name in ("href", "src") and value}

    asked: set[str] = set()
    todo = {"/", "/index.html"}
    while todo:
        address = todo.pop()
        asked.add(address)
        answer = client.get(address)
        assert answer.status_code == 200, address
        if not answer.headers["content-type"].startswith("text/html"):
            continue
        links = Links()
        links.feed(answer.text)
        for link in links.found:
            place = urlsplit(urljoin(f"http://testserver{address}", link))
            if place.netloc == "testserver" and place.path not in asked:
                todo.add(place.path)
    assert len(asked) > 15


def test_somebody_who_signed_in_sees_the_same_page_with_a_name(arena: Arena, client: TestClient):
    bearer = {"Authorization": f"Bearer {join(arena, 'greens')}"}
    address = f"/{find_board(client)}.html"
    mine, all_others = client.get(address, headers=bearer), client.get(address)
    assert "greens" in mine.text
    assert "greens" not in all_others.text
    assert mine.headers["cache-control"] == "private, no-store"
    assert all_others.headers["cache-control"] == "no-cache"


def test_pages_change_as_one_when_something_has_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    from neuroarena.server import published

    monkeypatch.setattr(published, "LOOK_S", 0.0)
    clock = Clock("2026-03-02 12:00 UTC")
    arena = make_scored(tmp_path, clock)
    assert publish_everything(arena) == "0 of 1 boards changed; pages as before"
    client = TestClient(create_app(arena))
    address = f"/{find_board(client)}.html"
    before = client.get(address)
    clock.pass_s(3600)
    assert not publish_pages(arena)
    reveal_affiliation(arena, "reds", "University of Testing")
    assert publish_everything(arena) == "1 of 1 boards changed; pages made anew"
    for _ in range(50):
        after = client.get(address)
        if after.headers["etag"] != before.headers["etag"]:
            break
    assert "University of Testing" in after.text
    assert "University of Testing" not in before.text
    assert (
        client.get("/index.json").json()["snapshot"]
        == client.get(address.replace("html", "json")).json()["snapshot"]
    )


def test_pages_of_an_older_version_are_shown_by_no_newer_server(tmp_path: Path):
    arena = make_scored(tmp_path, Clock("2026-03-02 12:00 UTC"))
    address = f"/{find_board(TestClient(create_app(arena)))}.html"
    with arena.store.writing() as connection:
        write_about(connection, "version", "0.0.1")
    with pytest.raises(InputError, match=r"belongs to neuroarena 0\.0\.1"):
        run_server(arena, Settings(port=0))
    upgrade_arena(arena.folder)
    client = TestClient(create_app(arena))
    assert "Warm-up" in client.get("/").text
    assert client.get(address).status_code == 404
    assert publish_everything(arena).endswith("pages made anew")
    assert TestClient(create_app(arena)).get(address).status_code == 200


def test_an_edition_that_was_never_finished_is_never_shown(arena: Arena, client: TestClient):
    rows = list(make_rows(read_content(arena, publish_contest(arena))))
    before = read_pages(arena)
    with (
        arena.store.engine.connect().execution_options(writing=True) as connection,
        connection.begin() as half,
    ):
        connection.execute(PAGE.delete())
        connection.execute(PAGE.insert(), [{"snapshot": 1, **row} for row in rows[:2]])
        write_about(connection, EDITION, "half")
        assert read_pages(arena) == before
        half.rollback()
    assert read_pages(arena) == before
    assert client.get(f"/{find_board(client)}.html").status_code == 200


def test_nothing_of_a_sealed_phase_is_in_any_page(tmp_path: Path):
    clock = Clock("2026-03-11 12:00 UTC")
    arena = make_arena(tmp_path, clock, per_unit=MANY)
    token = join(arena, "reds")
    submit(arena, token, "commands", write_answers(tmp_path / "a.parquet", 3, per_unit=MANY))
    work(arena, until_idle=True)
    publish_everything(arena)
    pages = read_pages(arena)
    written = json.dumps(pages)
    assert '"shown": 0.7' in written
    # Names of units, and what only unit scores can tell, are not in there.
    assert '"u0"' not in written
    assert "ci95" not in json.dumps(
        {name: view for name, view in pages.items() if name.startswith("boards/s")}
    )
    client = TestClient(create_app(arena))
    sealed = [name for name in pages if "sealed" in name]
    assert len(sealed) == 1
    said = client.get(f"/{sealed[0]}.json").json()
    assert said["shown"][0]["shown"] == 0.7
    assert "units" not in said
    assert not [name for name in pages if name.startswith("entries/")]


def test_organisers_add_pages_in_markdown(tmp_path: Path):
    clock = Clock("2026-03-02 12:00 UTC")
    arena = make_arena(tmp_path, clock)
    (arena.folder / "site").mkdir()
    (arena.folder / "site" / "faq.md").write_text("# Questions\n\nWhy? <script>alert(1)</script>\n")
    work(arena, until_idle=True)
    client = TestClient(create_app(arena))
    page = client.get("/faq.html").text
    assert "&lt;script&gt;alert" in page
    assert "Questions" in client.get("/").text


def test_files_of_organisers_come_from_a_path_where_nothing_runs(tmp_path: Path):
    arena = make_arena(tmp_path, Clock("2026-03-02 12:00 UTC"))
    folder = arena.folder / "site" / "files"
    (folder / "maps").mkdir(parents=True)
    (folder / "maps" / "onset.html").write_text("<script>alert(1)</script>")
    (folder / "maps" / "onset.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    (folder / "run.sh").write_text("echo")
    (folder / ".hidden.html").write_text("hidden")
    (folder / "linked.html").symlink_to(arena.folder / "competition.toml")
    (folder / "up").symlink_to(arena.folder, target_is_directory=True)
    (arena.folder / "site" / "outside.html").write_text("outside")
    client = TestClient(create_app(arena))
    for name, kind in (("maps/onset.html", "text/html"), ("maps/onset.svg", "image/svg+xml")):
        answer = client.get(f"/files/{name}")
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith(kind)
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("sandbox;")
        assert "allow-" not in policy
        assert "script" not in policy
        assert "default-src 'none'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
    for name in (
        "", "maps", "maps/", "nothing.html", "run.sh", ".hidden.html", "linked.html", "up/competition.toml",
        "..%2foutside.html", "%2e%2e/outside.html", "maps/..%2f..%2foutside.html", "maps%5c..%5coutside.html",
        "%2fetc%2fpasswd", "maps//onset.html", "maps/onset.html%00", f"{'a' * 300}.html", f"{'a/' * 3000}b.html",
    ):  # fmt: skip
        assert client.get(f"/files/{name}").status_code == 404, name
    assert client.post("/files/maps/onset.html").status_code in (403, 405)


def test_before_the_first_board_the_phases_are_shown(tmp_path: Path):
    arena = make_arena(tmp_path, Clock("2026-02-20 12:00 UTC"))
    client = TestClient(create_app(arena))
    assert "Warm-up" in client.get("/").text
    assert client.get("/method.html").status_code == 404
