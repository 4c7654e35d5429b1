"""The server's core: two formats of one view, who is asking, where an act comes from, refusals, headers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import pytest
from fastapi import Form
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from arena_making import Clock, join, make_arena
from neuroarena.competition.arena import Arena
from neuroarena.competition.teams import issue_token, revoke_token
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.server import Settings, create_app, read_server_settings
from neuroarena.server.app import ROUTERS
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import PageRouter, Paging
from neuroarena.server.viewing import Done, View
from neuroarena.server.visitors import (
    PERMISSIONS,
    Anyone,
    OrganiserOnly,
    SignedIn,
    SubmittingMember,
    TeamMember,
)

router = PageRouter()


@router.page("/things/{name}")
def show_thing(who: Anyone, name: str) -> View:
    if name == "gone":
        raise Refusal(404)
    if name == "wrong":
        raise InputError("The name is wrong. Name another.")
    if name == "broken":
        raise NeuroarenaError("the disk /secret/place is gone")
    return View("refusal.html.j2", "A thing", {"status": 200, "error": f"{name} {'x' * 2000}"}, public=True)


@router.page("/form")
def show_form(who: Anyone) -> View:
    return View("form.html.j2", "A form", {})


@router.page("/rows")
def show_rows(who: Anyone, paging: Paging) -> View:
    return View("refusal.html.j2", "Rows", {**paging.cut(list(range(25))), "error": "", "status": 200})


@router.action("/acts")
def act(who: Anyone, word: Annotated[str, Form()]) -> Done:
    return Done("/form", {"word": word})


@router.page("/signed-in")
def show_signed_in(who: SignedIn) -> View:
    return View("refusal.html.j2", "Yours", {"status": 200, "error": who.name})


@router.page("/crew")
def show_team(who: TeamMember) -> View:
    return View("refusal.html.j2", "Your team", {"status": 200, "error": str(who.team)})


@router.page("/desk")
def show_desk(who: OrganiserOnly) -> View:
    return View("refusal.html.j2", "Desk", {"status": 200, "error": ""})


@router.action("/submitting")
def act_for_team(who: SubmittingMember) -> Done:
    return Done("/crew", {"team": who.team})


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Arena:
    return make_arena(tmp_path_factory.mktemp("core"), Clock("2026-03-02 12:00 UTC"))


def make_client(arena: Arena, settings: Settings | None = None) -> TestClient:
    from jinja2 import ChoiceLoader, DictLoader

    app = create_app(arena, settings, (router, *ROUTERS))
    environment = app.state.templates.environment
    form = {
        "form.html.j2": '{% extends "base.html.j2" %}{% block content %}<form>{{ csrf_field() }}</form>{% endblock %}'
    }
    environment.loader = ChoiceLoader([DictLoader(form), environment.loader])
    return TestClient(app, raise_server_exceptions=False, follow_redirects=False)


@pytest.fixture
def client(arena: Arena) -> TestClient:
    return make_client(arena)


def test_a_view_has_two_formats_at_one_address(client: TestClient):
    page, data = client.get("/things/lamp"), client.get("/things/lamp.json")
    assert page.headers["content-type"].startswith("text/html")
    assert "<!doctype html>" in page.text
    assert "lamp x" in page.text
    assert data.json()["error"].startswith("lamp x")
    assert client.get("/things/lamp", headers={"Accept": "application/json"}).json() == data.json()
    assert client.get("/things/lamp.html").text == page.text
    browser = {"Accept": "text/html,application/xhtml+xml,application/json;q=0.9"}
    assert client.get("/things/lamp", headers=browser).headers["content-type"].startswith("text/html")


def test_the_first_page_shows_the_phases(client: TestClient):
    assert "Spring challenge" in client.get("/").text
    assert client.get("/index.html").text == client.get("/").text
    assert [phase["state"] for phase in client.get("/index.json").json()["phases"]] == ["open", "to come"]


@pytest.mark.parametrize(
    ("address", "status", "sentence"),
    [
        ("/things/gone", 404, "There is no such page."),
        ("/nowhere", 404, "There is no such page."),
        ("/assets/nothing.js", 404, "There is no such page."),
        ("/things/wrong", 400, "The name is wrong. Name another."),
        ("/things/broken", 500, "The server failed"),
        ("/rows?per_page=100000", 422, "per_page"),
        ("/signed-in", 401, "Sign in first."),
        ("/crew", 401, "Sign in first."),
        ("/desk", 401, "Sign in first."),
    ],
)
def test_a_refusal_is_one_sentence_in_both_formats(
    client: TestClient, address: str, status: int, sentence: str
):
    page = client.get(address)
    assert page.status_code == status
    assert sentence in page.text
    path, _, query = address.partition("?")
    said = client.get(f"{path}.json{'?' + query if query else ''}")
    assert said.status_code in (status, 404)
    as_json = client.get(address, headers={"Accept": "application/json"}).json()
    assert as_json["status"] == status
    assert sentence in as_json["error"]
    assert "/secret/place" not in page.text


def test_an_address_takes_only_what_it_is_for(client: TestClient):
    refused = client.post("/index.json", headers={"Sec-Fetch-Site": "same-origin"})
    assert refused.status_code == 405
    assert refused.json()["error"] == "This address does not take such a request."


def test_every_answer_carries_the_headers_of_security(arena: Arena, client: TestClient):
    for address in ("/", "/nowhere", "/assets/site.css", "/things/broken", "/index.json"):
        headers = client.get(address).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert "strict-transport-security" not in headers
    secure = make_client(arena, Settings(public_address="https://arena.example.org"))
    assert "max-age" in secure.get("/").headers["strict-transport-security"]
    cookie = secure.get("/form").headers["set-cookie"]
    assert cookie.startswith("__Host-csrf=")
    assert "Secure" in cookie
    assert "HttpOnly" in cookie


def test_a_public_page_is_compressed_and_sent_once(client: TestClient):
    first = client.get("/things/lamp", headers={"Accept-Encoding": "gzip"})
    assert first.headers["content-encoding"] == "gzip"
    assert "lamp" in first.text
    plain = client.get("/things/lamp", headers={"Accept-Encoding": "gzip;q=0"})
    assert "content-encoding" not in plain.headers
    assert plain.text == first.text
    again = client.get("/things/lamp", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert client.get("/things/shade").headers["etag"] != first.headers["etag"]


def test_a_private_page_is_never_kept_or_compressed(arena: Arena, client: TestClient):
    mine = client.get(
        "/crew", headers={"Authorization": f"Bearer {join(arena, 'blues')}", "Accept-Encoding": "gzip"}
    )
    assert mine.headers["cache-control"] == "private, no-store"
    assert "etag" not in mine.headers
    assert "content-encoding" not in mine.headers


def test_a_list_is_cut_into_pages(client: TestClient):
    said = client.get("/rows.json?page=3&per_page=10").json()
    assert said["rows"] == [20, 21, 22, 23, 24]
    assert (said["pages"], said["total"]) == (3, 25)
    assert client.get("/rows.json?page=4&per_page=10").json()["rows"] == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Sec-Fetch-Site": "cross-site", "Origin": "http://testserver"}, 403),
        ({"Origin": "http://testserver"}, 303),
        ({"Origin": "http://testserver:81"}, 403),
        ({"Origin": "https://testserver"}, 403),
        ({"Origin": "http://evil.example"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://[broken"}, 403),
        ({}, 403),
        ({"X-CSRF-Token": "made up"}, 403),
        ({"X-CSRF-Token": ""}, 403),
    ],
)
def test_an_act_of_another_site_is_refused(client: TestClient, headers: dict[str, str], status: int):
    assert client.post("/acts", data={"word": "a"}, headers=headers).status_code == status


def test_a_browser_that_says_nothing_needs_the_token_of_the_form(client: TestClient):
    page = client.get("/form").text
    token = page.partition('name="csrf" value="')[2].partition('"')[0]
    assert len(token) == 32
    assert client.post("/acts", data={"word": "a", "csrf": token}).status_code == 303
    assert client.post("/acts", data={"word": "a"}, headers={"X-CSRF-Token": token}).status_code == 303
    assert client.post("/acts", data={"word": "a", "csrf": token[:-1]}).status_code == 403
    assert client.post("/acts", data={"word": "a", "csrf": "é"}).status_code == 403
    client.cookies.clear()
    assert client.post("/acts", data={"word": "a", "csrf": token}).status_code == 403


def test_an_act_answers_a_browser_with_a_redirect_and_a_program_with_json(client: TestClient):
    ours = {"Sec-Fetch-Site": "same-origin"}
    assert client.post("/acts", data={"word": "a"}, headers=ours).headers["location"] == "/form"
    assert client.post("/acts.json", data={"word": "a"}, headers=ours).json() == {"word": "a"}


def test_a_token_says_which_team_asks(arena: Arena, client: TestClient):
    token = join(arena, "reds")
    bearer = {"Authorization": f"Bearer {token}"}
    assert client.get("/crew.json", headers=bearer).json()["error"] == "reds"
    assert client.post("/submitting.json", headers=bearer).json() == {"team": "reds"}
    assert client.get("/desk.json", headers=bearer).status_code == 403
    reading = {"Authorization": f"Bearer {issue_token(arena, 'reds', scope='read')}"}
    assert client.get("/crew.json", headers=reading).status_code == 200
    assert client.post("/submitting.json", headers=reading).status_code == 403
    revoke_token(arena, token.partition(".")[0])
    assert client.get("/crew.json", headers=bearer).status_code == 401
    assert client.get("/", headers=bearer).status_code == 401


def test_a_body_is_bounded_unless_a_route_allows_more(client: TestClient):
    ours = {"Sec-Fetch-Site": "same-origin"}
    assert client.post("/acts", data={"word": "a" * 2**19}, headers=ours).status_code == 413
    chunks = (b"word=" + b"a" * 2**16 for _ in range(16))
    form = {"Content-Type": "application/x-www-form-urlencoded", **ours}
    assert client.post("/acts", content=chunks, headers=form).status_code == 413


def test_every_route_says_who_may_ask(arena: Arena):
    def names_permission(dependant: object) -> bool:
        inner = dependant.dependencies  # type: ignore[attr-defined]
        return any(one.call in PERMISSIONS or names_permission(one) for one in inner)

    routes = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    assert len(routes) >= 4
    assert [one.path for one in routes if not names_permission(one.dependant)] == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("port = 70000", "port"),
        ("prot = 1", "there is no such key"),
        ("[mail]\nbackend = 'pigeon'", "mail.backend"),
        ("public_address = 'arena.example.org'", "expected an address such as"),
        ("public_address = 'https://example.org/arena'", "no path"),
        ("port = ", "cannot be read as TOML"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place(tmp_path: Path, text: str, words: str):
    (tmp_path / "server.toml").write_text(text)
    with pytest.raises(InputError, match=words) as caught:
        read_server_settings(tmp_path)
    assert "server.toml" in str(caught.value)


def test_without_a_file_the_settings_have_their_defaults(tmp_path: Path):
    assert read_server_settings(tmp_path) == Settings()
    (tmp_path / "server.toml").write_text("port = 9000\n[limits]\nsign_ins = 3\n")
    assert read_server_settings(tmp_path).limits.sign_ins == 3
