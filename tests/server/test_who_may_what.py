"""Every permission from the wrong side: each route asked by each kind of visitor, as a table."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.routing import APIRoute
from sqlalchemy import func, select
from starlette.testclient import TestClient

from arena_making import Clock, make_arena, write_answers
from neuroarena.competition.announcements import list_announcements
from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.intake import Post, take_post
from neuroarena.competition.people.accounts import create_account
from neuroarena.competition.people.invitations import accept_invitation, invite
from neuroarena.competition.people.memberships import found_team
from neuroarena.competition.people.sessions import open_session
from neuroarena.competition.tables import EVENT, RUN, SUBMISSION
from neuroarena.competition.teams import accept_terms, issue_token
from neuroarena.competition.worker import work
from neuroarena.server import Settings, create_app
from neuroarena.server.app import ROUTERS
from neuroarena.server.routes import accounts, announcing, organising, submissions, submitting, teams
from neuroarena.server.settings import ServerLimits
from people_making import BASE, PASSWORD, ticket_of

MINE = (accounts, teams, submitting, submissions, announcing, organising)
HERE = {"Sec-Fetch-Site": "same-origin"}
WHO = ("visitor", "alone", "other", "member", "captain", "organiser", "reading", "submitting")

# Who gets past the permission of a route. "alone" is signed in without a team, "other" captains another team, "reading"
# and "submitting" are tokens of the team. Everybody else is refused with 401 (visitors) or 403, and nothing is done.
ALL = set(WHO)
PEOPLE = {"alone", "other", "member", "captain", "organiser"}
IN_TEAM = {"other", "member", "captain", "reading", "submitting"}
ACTING = IN_TEAM - {"reading"}
CAPTAINS = {"other", "captain"}
DESK = {"organiser"}
ALLOWED: dict[str, set[str]] = {
    "GET /register": ALL,
    "POST /register": ALL,
    "GET /letter-sent": ALL,
    "GET /verify": ALL,
    "POST /verify": ALL,
    "GET /sign-in": ALL,
    "POST /sign-in": ALL,
    "POST /sign-out": ALL,
    "GET /forgotten": ALL,
    "POST /forgotten": ALL,
    "GET /reset": ALL,
    "POST /reset": ALL,
    "GET /account": PEOPLE,
    "POST /account/name": PEOPLE,
    "POST /account/password": PEOPLE,
    "GET /account/data": PEOPLE,
    "POST /account/delete": PEOPLE,
    "GET /team": PEOPLE,
    "POST /team/found": PEOPLE,
    "POST /team/leave": PEOPLE,
    "POST /team/invitations": CAPTAINS,
    "POST /team/invitations/{invitation}/take-back": CAPTAINS,
    "POST /team/members/{member}/remove": CAPTAINS,
    "POST /team/members/{member}/captain": CAPTAINS,
    "POST /team/terms": ACTING,
    "POST /team/affiliation": CAPTAINS,
    "POST /team/tokens": CAPTAINS,
    "POST /team/tokens/{token}/revoke": CAPTAINS,
    "GET /join": ALL,
    "POST /join": PEOPLE,
    "GET /submit": IN_TEAM,
    "POST /submit/check": ACTING,
    "POST /submit": ACTING,
    "GET /submissions": IN_TEAM,
    "GET /submissions/live": IN_TEAM,
    "GET /submissions/{submission}": IN_TEAM,
    "POST /submissions/{submission}/withdraw": ACTING,
    "GET /announcements": ALL,
    "GET /organise/announcements": DESK,
    "POST /organise/announcements": DESK,
    "POST /organise/announcements/{number}/remove": DESK,
    "POST /organise/announcements/{number}/restore": DESK,
    "GET /organise": DESK,
    "POST /organise/close": DESK,
    "POST /organise/open": DESK,
    "POST /organise/rejudge": DESK,
    "POST /organise/boards": DESK,
    "GET /organise/queue": DESK,
    "GET /organise/submissions": DESK,
    "GET /organise/submissions/{submission}": DESK,
    "POST /organise/submissions/{submission}/disqualify": DESK,
    "POST /organise/submissions/{submission}/delete": DESK,
    "POST /organise/submissions/{submission}/undo": DESK,
    "POST /organise/submissions/{submission}/withdraw": DESK,
    "POST /organise/submissions/{submission}/rerun": DESK,
    "GET /organise/audits": DESK,
    "GET /organise/events": DESK,
}
PAGES_OF_DESK = [
    name for name, who in ALLOWED.items() if who == DESK and name.startswith("GET") and "{" not in name
]


class Stage:
    """A competition with two teams, an organiser, and a browser or program for each kind of visitor."""

    def __init__(self, folder: Path) -> None:
        self.clock = Clock("2026-03-02 12:00 UTC")
        self.arena = make_arena(folder, self.clock)
        self.accounts = {
            name: create_account(
                self.arena, f"{name}@example.org", name.title(), PASSWORD, organiser=name == "organiser"
            )
            for name in ("alone", "other", "member", "captain", "organiser")
        }
        found_team(self.arena, self.accounts["captain"], "reds")
        found_team(self.arena, self.accounts["other"], "blues")
        letter = invite(self.arena, "reds", "member@example.org", by=self.accounts["captain"], base=BASE)
        accept_invitation(self.arena, ticket_of(letter), self.accounts["member"])
        accept_terms(self.arena, "reds")
        file = write_answers(folder / "mine.parquet", wrong=2)
        self.submission = take_post(
            self.arena, "reds", Post("commands", file, "predictions", "mine.parquet", "k")
        )
        limits = ServerLimits(sign_ins=100_000, letters=100_000, uploads=100_000)
        self.app = create_app(self.arena, Settings(limits=limits))
        self.app.state.send = lambda letter: None

    def client(self, who: str) -> TestClient:
        """The browser of a person, or a program with a token."""
        client = TestClient(
            self.app, follow_redirects=False, headers=dict(HERE), raise_server_exceptions=False
        )
        if who in self.accounts:
            with self.arena.store.writing() as connection:
                now = self.arena.store.clock(connection)
                secret = open_session(connection, now, self.accounts[who], organiser=who == "organiser")
            client.cookies.set("session", secret)
        elif who != "visitor":
            scope = "read" if who == "reading" else "submit"
            client.headers["Authorization"] = f"Bearer {issue_token(self.arena, 'reds', scope=scope)}"
        return client


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Stage:
    return Stage(tmp_path_factory.mktemp("stage"))


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Stage]:
    made = Stage(tmp_path)
    yield made
    made.arena.store.close()


def list_routes() -> set[str]:
    return {
        f"{'POST' if 'POST' in route.methods else 'GET'} {route.path}"
        for module in MINE
        for route in module.router.routes
        if isinstance(route, APIRoute) and not route.path.endswith((".json", ".html"))
    }


def fill(path: str, stage: Stage) -> str:
    given = {"submission": stage.submission, "member": "a0", "token": "t0", "invitation": "i0", "number": "1"}
    return path.format(**given)


def snapshot(arena: Arena) -> list[int]:
    with arena.store.reading() as connection:
        return [
            connection.execute(select(func.count()).select_from(table)).scalar_one()
            for table in (EVENT, SUBMISSION, RUN)
        ]


def test_the_table_names_every_route_and_no_other():
    assert list_routes() == set(ALLOWED)


def test_what_is_not_in_the_table_is_only_read():
    """No router gets past the table: besides it there are the pages of the site, which hold what is public."""
    rest = [
        route
        for router in ROUTERS
        if all(router is not module.router for module in MINE)
        for route in router.routes
        if isinstance(route, APIRoute)
    ]
    assert {method for route in rest for method in route.methods} == {"GET", "HEAD"}
    public = {"", "CITATION", "assets", "boards", "entries", "files", "index", "method", "{name}"}
    assert {route.path.split("/")[1].partition(".")[0] for route in rest} == public


@pytest.mark.parametrize("who", WHO)
def test_nobody_gets_past_a_permission_they_do_not_have(stage: Stage, who: str):
    client = stage.client(who)
    before = snapshot(stage.arena)
    for name, allowed in ALLOWED.items():
        method, _, path = name.partition(" ")
        if who in allowed:
            continue
        for ending in ("", ".json") if not path.endswith("live") else ("",):
            answer = client.request(method, fill(path, stage) + ending)
            assert answer.status_code == (401 if who == "visitor" else 403), (name, ending)
            assert "mine.parquet" not in answer.text
    assert snapshot(stage.arena) == before


@pytest.mark.parametrize("who", WHO)
def test_whoever_may_gets_past_the_permission(stage: Stage, who: str, monkeypatch):
    monkeypatch.setattr(submissions, "STREAM_S", 0.0)
    client = stage.client(who)
    skipped = (
        "/sign-out",
        "/close",
        "/account/delete",
        "/team/leave",
        "/tokens",
        "/boards",
        "/open",
        "/rejudge",
        "/submissions/{",
    )
    for name, allowed in ALLOWED.items():
        method, _, path = name.partition(" ")
        if who not in allowed or (method == "POST" and any(word in path for word in skipped)):
            continue
        answer = client.request(method, fill(path, stage))
        assert answer.status_code not in (401, 403, 500), name


def test_a_team_never_sees_or_moves_what_belongs_to_another(fresh: Stage):
    other = fresh.client("other")
    place = f"/submissions/{fresh.submission}"
    unknown = other.get("/submissions/s0000000000")
    seen = other.get(place)
    assert (seen.status_code, unknown.status_code) == (404, 404)
    assert seen.text.replace(fresh.submission, "") == unknown.text.replace("s0000000000", "")
    assert other.post(f"{place}/withdraw").status_code == 400
    assert fresh.submission not in other.get("/submissions").text
    token = issue_token(fresh.arena, "reds").partition(".")[0]
    assert other.post(f"/team/tokens/{token}/revoke").status_code == 400
    for act in ("remove", "captain"):
        assert other.post(f"/team/members/{fresh.accounts['member']}/{act}").status_code == 400
    invite(fresh.arena, "reds", "new@example.org", by=fresh.accounts["captain"], base=BASE)
    (invitation,) = fresh.client("captain").get("/team.json").json()["invitations"]
    for ending in ("", ".json"):
        answer = other.post(f"/team/invitations/{invitation['id']}/take-back{ending}")
        assert answer.status_code == 400
    assert len(fresh.client("captain").get("/team.json").json()["invitations"]) == 1
    assert other.get(f"{place}.json").status_code == 404
    for page in ("/team.json", "/account/data.json", "/submissions.json", "/submit.json"):
        assert not [word for word in ("reds", "mine.parquet", token) if word in other.get(page).text], page
    members = fresh.client("member").get("/team.json").json()["members"]
    assert {row["id"] for row in members} == {fresh.accounts["captain"], fresh.accounts["member"]}
    assert fresh.client("member").get("/team.json").json()["invitations"] == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Origin": "https://evil.example.org"}, 403),
        ({"Origin": "null"}, 403),
        ({}, 403),
        ({"X-CSRF-Token": "guessed"}, 403),
        ({"Sec-Fetch-Site": "same-origin"}, 303),
        ({"Origin": "http://testserver"}, 303),
    ],
)
def test_an_act_of_another_site_is_refused_although_the_browser_is_signed_in(stage: Stage, headers, status):
    client = stage.client("organiser")
    client.headers.pop("Sec-Fetch-Site")
    client.cookies.set("csrf", "the real token")
    before = snapshot(stage.arena)
    answer = client.post("/organise/announcements", data={"title": "News", "text": "Text"}, headers=headers)
    assert answer.status_code == status
    assert (snapshot(stage.arena) == before) == (status == 403)


def test_an_old_browser_acts_with_the_token_of_the_form(stage: Stage):
    client = stage.client("organiser")
    client.headers.pop("Sec-Fetch-Site")
    client.get("/organise/announcements")
    form = {"title": "News", "text": "Text", "csrf": client.cookies["csrf"]}
    assert client.post("/organise/announcements", data=form).status_code == 303


def test_an_organiser_decides_about_a_submission_and_takes_it_back(fresh: Stage):
    work(fresh.arena, until_idle=True, duties=False)
    desk, team = fresh.client("organiser"), fresh.client("member")
    place, own = f"/organise/submissions/{fresh.submission}", f"/submissions/{fresh.submission}"
    assert desk.get(f"{place}.json").json()["receipt"]["state"] == "scored"
    assert desk.post(f"{place}/disqualify", data={"reason": "It names a label."}).status_code == 303
    assert "It names a label." in team.get(own).text
    assert desk.post(f"{place}/delete").status_code == 303
    assert team.get("/submissions.json").json()["submissions"]["total"] == 0
    listed = desk.get("/organise/submissions.json").json()["submissions"]["rows"]
    assert [(row["id"], row["deleted"]) for row in listed] == [(fresh.submission, True)]
    assert "Undo" in desk.get(place).text
    assert desk.post(f"{place}/undo").status_code == 303
    assert team.get("/submissions.json").json()["submissions"]["total"] == 1
    assert "It names a label." not in team.get(own).text
    assert desk.post(f"{place}/rerun", data={"reason": "A slow machine."}).status_code == 303
    work(fresh.arena, until_idle=True, duties=False)
    assert desk.get(f"{place}.json").json()["receipt"]["reruns"][0]["state"] == "scored"
    actors = {row["actor"] for row in desk.get("/organise/events.json").json()["events"]["rows"]}
    assert fresh.accounts["organiser"] in actors
    assert desk.get("/organise/submissions/nothing").status_code == 404


def test_an_organiser_closes_asks_to_open_and_to_judge_again(fresh: Stage):
    desk = fresh.client("organiser")
    assert "no workers run; zones: none, workers are started by hand." in desk.get("/organise").text
    assert desk.post("/organise/close").status_code == 303
    with fresh.arena.store.reading() as connection:
        assert read_about(connection, "status") == "closed"
    assert "closed" in fresh.client("member").get("/submit").text
    desk.post("/organise/open", data={"accept_one_user": "true"})
    desk.post("/organise/rejudge", data={"track": "commands"})
    assert desk.post("/organise/rejudge", data={"track": "nowhere"}).status_code == 400
    assert desk.get("/organise").text.count("waits for a scorer") == 2
    for _ in range(2):
        work(fresh.arena, ["scorer"], until_idle=True)
    outcomes = {row["what"]: row["outcome"] for row in desk.get("/organise.json").json()["requests"]}
    assert outcomes["open"].startswith("refused: Spring challenge cannot open yet")
    assert outcomes["rejudge"] == "everything was judged already"


def test_announcements_are_read_by_everybody_and_removed_ones_by_organisers(fresh: Stage):
    desk, visitor = fresh.client("organiser"), fresh.client("visitor")
    text = "Read *this*, not <img src=x>."
    assert desk.post("/organise/announcements", data={"title": "New data", "text": text}).status_code == 303
    page = visitor.get("/announcements").text
    assert "<em>this</em>" in page
    assert "<img" not in page
    desk.post("/organise/announcements/1/remove")
    assert "New data" not in visitor.get("/announcements").text
    assert "New data" in desk.get("/organise/announcements").text
    desk.post("/organise/announcements/1/restore")
    assert "New data" in visitor.get("/announcements").text
    assert len(list_announcements(fresh.arena)) == 1


def test_every_page_of_the_desk_is_shown_and_has_nothing_inline(stage: Stage):
    desk = stage.client("organiser")
    for name in PAGES_OF_DESK:
        page = desk.get(name.removeprefix("GET "))
        assert page.status_code == 200
        assert "<style" not in page.text
        assert " style=" not in page.text


def test_the_desk_shows_nothing_of_a_sealed_score(fresh: Stage):
    fresh.clock.set("2026-03-11 12:00 UTC")
    file = write_answers(fresh.arena.folder.parent / "sealed.parquet", wrong=3)
    sealed = take_post(fresh.arena, "reds", Post("commands", file, "predictions", "sealed.parquet", "k2"))
    work(fresh.arena, until_idle=True, duties=False)
    desk = fresh.client("organiser")
    receipt = desk.get(f"/organise/submissions/{sealed}.json").json()["receipt"]
    assert receipt == fresh.client("member").get(f"/submissions/{sealed}.json").json()["receipt"]
    assert receipt["score"]["parts"] is None
