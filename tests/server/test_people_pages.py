"""Accounts, teams and intake on the pages: from registration to a receipt, and what is refused on the way."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select
from starlette.testclient import TestClient

from arena_making import Clock, make_arena, write_answers
from neuroarena.competition.arena import Arena, open_arena
from neuroarena.competition.people.accounts import create_account
from neuroarena.competition.people.letters import Letter
from neuroarena.competition.people.memberships import found_team
from neuroarena.competition.site_pages import publish_everything
from neuroarena.competition.tables import SUBMISSION
from neuroarena.competition.teams import accept_terms, issue_token
from neuroarena.competition.worker import work
from neuroarena.server import Settings, create_app
from neuroarena.server.routes import submissions
from neuroarena.server.settings import ServerLimits
from people_making import PASSWORD, ticket_of

HERE = {"Sec-Fetch-Site": "same-origin"}
# Tests of other things must not meet the rates.
MANY = ServerLimits(sign_ins=1000, letters=1000, uploads=1000)


def make_client(arena: Arena, settings: Settings | None = None) -> tuple[TestClient, list[Letter]]:
    """A browser, and the letters that the server sends."""
    app = create_app(arena, settings or Settings(limits=MANY))
    letters: list[Letter] = []
    app.state.send = letters.append
    return TestClient(app, follow_redirects=False, headers=HERE, raise_server_exceptions=False), letters


def enter(client: TestClient, email: str) -> None:
    answer = client.post("/sign-in", data={"email": email, "password": PASSWORD})
    assert answer.status_code == 303


@pytest.fixture
def clock() -> Clock:
    return Clock("2026-03-02 12:00 UTC")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A competition to copy: making one takes longer than most tests."""
    made = make_arena(tmp_path_factory.mktemp("template"), Clock("2026-03-02 12:00 UTC"))
    made.store.close()
    return made.folder


@pytest.fixture
def arena(template: Path, tmp_path: Path, clock: Clock) -> Iterator[Arena]:
    made = open_arena(shutil.copytree(template, tmp_path / "arena"), clock)
    yield made
    made.store.close()


@pytest.fixture
def captain(arena: Arena) -> TestClient:
    """The browser of a captain whose team has accepted the terms."""
    found_team(arena, create_account(arena, "ada@example.org", "Ada", PASSWORD), "reds")
    accept_terms(arena, "reds")
    client, _ = make_client(arena)
    enter(client, "ada@example.org")
    return client


def upload(client: TestClient, address: str, content: bytes, name: str = "mine.parquet", **fields: str):
    return client.post(address, data={"track": "commands", **fields}, files={"file": (name, content)})


def count_submissions(arena: Arena) -> int:
    with arena.store.reading() as connection:
        return connection.execute(select(func.count()).select_from(SUBMISSION)).scalar_one()


def test_a_stranger_registers_founds_a_team_submits_and_reads_the_receipt(arena: Arena, tmp_path: Path):
    client, letters = make_client(arena)
    form = {"email": "ada@example.org", "name": "Ada", "password": PASSWORD}
    assert client.post("/register", data=form).headers["location"] == "/letter-sent"
    ticket = ticket_of(letters[0])
    assert ticket in client.get(f"/verify?ticket={ticket}").text
    assert client.post("/verify", data={"ticket": ticket, "password": PASSWORD}).status_code == 303
    enter(client, "ada@example.org")
    assert "You are in no team yet" in client.get("/team").text
    assert client.post("/team/found", data={"name": "reds"}).headers["location"] == "/team"
    version = client.get("/team.json").json()["terms"]["sha256"]
    assert client.post("/team/terms", data={"version": "0" * 64}).status_code == 409
    assert client.post("/team/terms", data={"version": version}).status_code == 303
    content = write_answers(tmp_path / "mine.parquet", wrong=2).read_bytes()
    verdict = upload(client, "/submit/check.json", content).json()
    assert (verdict["rows"], verdict["model"]) == (80, "ours")
    assert count_submissions(arena) == 0
    key = re.search(r'name="key" value="(\w+)"', client.get("/submit").text)
    assert key is not None
    first = upload(client, "/submit", content, key=key[1]).headers["location"]
    assert upload(client, "/submit", content, key=key[1]).headers["location"] == first
    assert count_submissions(arena) == 1
    assert client.get(f"{first}.json").json()["receipt"]["state"] == "queued"
    work(arena, until_idle=True, duties=False)
    receipt = client.get(f"{first}.json").json()["receipt"]
    assert receipt["state"] == "scored"
    assert receipt["score"]["sentence"].startswith("Balanced accuracy 0.")
    page = client.get(first).text
    for word in (receipt["sha256"], receipt["score"]["sentence"], receipt["event_hash"]):
        assert word in page
    assert "The next is free" not in page  # four of five are left
    assert "See the board" not in page
    publish_everything(arena)
    board = client.get(f"{first}.json").json()["board"]
    assert f'href="../{board}.html"' in client.get(first).text
    assert "reds" in client.get(f"/{board}.html").text
    assert client.get("/submissions.json").json()["submissions"]["total"] == 1
    assert first[1:] in client.get("/submissions").text


def test_a_refused_file_costs_no_attempt_and_says_why(arena: Arena, captain: TestClient):
    for address in ("/submit/check.json", "/submit.json"):
        answer = upload(captain, address, b"this is not a table", "bad.parquet")
        assert answer.status_code == 400
        assert answer.json()["error"].startswith("bad.parquet:")
    assert count_submissions(arena) == 0
    assert captain.get("/submit.json").json()["attempts"] == {"used": 0, "allowed": 5}
    for fields, said in (({"track": "nowhere"}, "no track"), ({"kind": "poem"}, "kind: expected")):
        answer = upload(captain, "/submit.json", b"x", **fields)
        assert answer.status_code in (400, 422)
        assert said in answer.json()["error"]
    assert (
        captain.post("/submit.json", data={"track": "commands"}).json()["error"].startswith("file: this is")
    )


def test_an_upload_that_is_too_large_is_cut_while_it_streams(tmp_path: Path, clock: Clock):
    from arena_making import FILE

    arena = make_arena(tmp_path, clock, FILE.replace("[[tracks]]", "[limits]\nfile_mb = 1\n\n[[tracks]]", 1))
    found_team(arena, create_account(arena, "ada@example.org", "Ada", PASSWORD), "reds")
    accept_terms(arena, "reds")
    client, _ = make_client(arena)
    enter(client, "ada@example.org")
    sent = 0

    def stream() -> Iterator[bytes]:
        nonlocal sent
        yield b'--b\r\nContent-Disposition: form-data; name="file"; filename="big.parquet"\r\n\r\n'
        for _ in range(64):
            sent += 1
            yield b"x" * 65_536
        yield b"\r\n--b--\r\n"

    headers = {"Content-Type": "multipart/form-data; boundary=b"}
    answer = client.post("/submit.json", content=stream(), headers=headers)
    assert answer.status_code == 413
    assert answer.json()["error"] == "The file is larger than 1 MB, and was not taken."
    stated = client.post("/submit.json", content=b"x", headers={**headers, "Content-Length": str(10**9)})
    assert stated.status_code == 413
    assert count_submissions(arena) == 0


def test_a_withdrawn_submission_gives_its_attempt_back(arena: Arena, captain: TestClient, tmp_path: Path):
    place = upload(captain, "/submit", write_answers(tmp_path / "mine.parquet").read_bytes()).headers[
        "location"
    ]
    assert "Withdraw" in captain.get(place).text
    assert captain.post(f"{place}/withdraw").status_code == 303
    receipt = captain.get(f"{place}.json").json()
    assert (receipt["receipt"]["state"], receipt["ended"]) == ("withdrawn", True)
    assert captain.post(f"{place}/withdraw").status_code == 400


def test_states_are_sent_as_they_change(arena: Arena, captain: TestClient, tmp_path: Path, monkeypatch):
    place = upload(captain, "/submit", write_answers(tmp_path / "mine.parquet").read_bytes()).headers[
        "location"
    ]
    real = submissions.read_states

    def read_then_work(arena: Arena, team: str):
        states = real(arena, team)
        work(arena, until_idle=True, duties=False)
        return states

    monkeypatch.setattr(submissions, "LOOK_S", 0.01)
    monkeypatch.setattr(submissions, "STREAM_S", 0.05)
    monkeypatch.setattr(submissions, "read_states", read_then_work)
    answer = captain.get("/submissions/live")
    assert answer.headers["content-type"].startswith("text/event-stream")
    said = [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]
    assert [each[place.rpartition("/")[2]][0] for each in said] == ["queued", "scored"]


def test_a_captain_invites_and_the_invited_joins_with_their_own_address(arena: Arena, captain: TestClient):
    client, letters = make_client(arena)
    enter(client, "ada@example.org")
    assert client.post("/team/invitations", data={"email": "ben@example.org"}).status_code == 303
    ticket = ticket_of(letters[0])
    create_account(arena, "ben@example.org", "Ben", PASSWORD)
    other, _ = make_client(arena)
    assert "Sign in with the address" in other.get(f"/join?ticket={ticket}").text
    enter(other, "ben@example.org")
    assert other.post("/join", data={"ticket": ticket}).headers["location"] == "/team"
    assert {row["name"] for row in other.get("/team.json").json()["members"]} == {"Ada", "Ben"}
    assert other.post("/team/tokens", data={}).status_code == 403
    made = client.post("/team/tokens.json", data={"scope": "read"})
    token = made.json()["token"]
    listed = client.get("/team").text
    assert token.partition(".")[0] in listed
    assert token not in listed
    bearer = {"Authorization": f"Bearer {token}"}
    program = TestClient(client.app, headers=bearer)
    assert program.get("/submissions.json").json()["team"] == "reds"
    assert upload(program, "/submit.json", b"x").status_code == 403
    assert client.post(f"/team/tokens/{token.partition('.')[0]}/revoke").status_code == 303
    assert program.get("/submissions.json").status_code == 401


def test_a_program_submits_with_a_token_and_no_cookie(arena: Arena, captain: TestClient, tmp_path: Path):
    token = issue_token(arena, "reds")
    program = TestClient(captain.app, headers={"Authorization": f"Bearer {token}"})
    content = write_answers(tmp_path / "mine.parquet").read_bytes()
    answer = upload(program, "/submit.json", content, key="k1")
    assert answer.status_code == 201
    submission = answer.json()["submission"]
    assert program.get(f"/submissions/{submission}.json").json()["receipt"]["id"] == submission
    assert program.get("/account.json").status_code == 403


def test_a_stranger_cannot_tell_who_has_an_account(arena: Arena):
    create_account(arena, "ada@example.org", "Ada", PASSWORD)
    client, letters = make_client(arena)
    answers = []
    for email in ("ada@example.org", "nobody@example.org"):
        wrong = client.post("/sign-in.json", data={"email": email, "password": "not the password"})
        reset = client.post("/forgotten.json", data={"email": email})
        new = client.post("/register.json", data={"email": email, "name": "X", "password": PASSWORD})
        unconfirmed = client.post("/sign-in.json", data={"email": email, "password": "another wrong one"})
        answers.append(
            [(each.status_code, each.text, sorted(each.headers)) for each in (wrong, reset, new, unconfirmed)]
        )
    assert answers[0] == answers[1]
    assert [letter.to for letter in letters] == ["ada@example.org", "ada@example.org", "nobody@example.org"]
    assert "has an account already" in letters[1].text


def test_rates_end_guessing_and_floods_of_letters(arena: Arena):
    create_account(arena, "ada@example.org", "Ada", PASSWORD)
    client, letters = make_client(arena, Settings(limits=ServerLimits(sign_ins=3, letters=2)))
    wrong = {"email": "ada@example.org", "password": "not the password"}
    assert [client.post("/sign-in", data=wrong).status_code for _ in range(4)] == [401, 401, 401, 429]
    refused = client.post("/sign-in.json", data={"email": "ADA@example.org", "password": PASSWORD})
    assert refused.status_code == 429
    assert int(refused.headers["retry-after"]) > 0
    asked = [client.post("/forgotten", data={"email": "ada@example.org"}).status_code for _ in range(3)]
    assert asked == [303, 303, 429]
    assert len(letters) == 2


def test_links_in_letters_ignore_the_host_that_a_request_states(arena: Arena):
    create_account(arena, "ada@example.org", "Ada", PASSWORD)
    client, letters = make_client(arena, Settings(public_address="https://arena.example.org", limits=MANY))
    headers = {"Host": "evil.example.org"}
    client.post("/forgotten", data={"email": "ada@example.org"}, headers=headers)
    assert "https://arena.example.org/reset?ticket=" in letters[0].text
    assert "evil" not in letters[0].text


def test_the_cookie_of_a_session_is_out_of_reach_for_scripts_and_other_sites(arena: Arena):
    create_account(arena, "ada@example.org", "Ada", PASSWORD)
    for settings, name in (
        (Settings(), "session="),
        (Settings(public_address="https://a.org"), "__Host-session="),
    ):
        client, _ = make_client(arena, settings)
        form = {"email": "ada@example.org", "password": PASSWORD}
        said = client.post("/sign-in", data=form).headers["set-cookie"]
        assert said.startswith(name)
        for flag in ("HttpOnly", "SameSite=lax", "Path=/"):
            assert flag in said
        assert ("Secure" in said) == settings.secure
        assert "Domain" not in said


def test_signing_in_leads_back_and_never_elsewhere(arena: Arena):
    create_account(arena, "ada@example.org", "Ada", PASSWORD)
    client, _ = make_client(arena)
    for next_, place in (
        ("/team", "/team"),
        ("https://evil.org", "/"),
        ("//evil.org", "/"),
        ("///evil.org", "/"),
        ("/.//evil.org\r\nX: y", "/"),
        ("/\\evil.org", "/"),
        ("javascript:x", "/"),
    ):
        form = {"email": "ada@example.org", "password": PASSWORD, "next": next_}
        assert client.post("/sign-in", data=form).headers["location"] == place


def test_a_person_signs_out_changes_the_password_and_deletes_their_data(arena: Arena, captain: TestClient):
    assert captain.get("/account.json").json()["email"] == "ada@example.org"
    change = {"old": PASSWORD, "new": "quite another password"}
    assert captain.post("/account/password", data=change).status_code == 303
    assert captain.post("/account/name", data={"name": "Ada L."}).status_code == 303
    assert "Ada L." in captain.get("/account/data").text
    secret = captain.cookies["session"]
    captain.post("/sign-out")
    assert "session" not in captain.cookies
    assert captain.get("/account", headers={"Cookie": f"session={secret}"}).status_code == 401
    captain.post("/sign-in", data={"email": "ada@example.org", "password": change["new"]})
    assert captain.post("/account/delete", data={"password": "wrong password"}).status_code == 400
    assert captain.post("/account/delete", data={"password": change["new"]}).status_code == 303
    assert captain.get("/account").status_code == 401


def test_a_page_shows_a_strangers_words_as_words(arena: Arena, captain: TestClient):
    captain.post("/account/name", data={"name": "<script>alert(1)</script>"})
    for address in ("/team", "/account", "/account/data"):
        page = captain.get(address).text
        assert "<script>alert" not in page
        assert "alert(1)" in page


def test_no_page_has_script_or_style_inside(captain: TestClient):
    for address in ("/register", "/sign-in", "/team", "/submit", "/submissions", "/account", "/account/data"):
        page = captain.get(address)
        assert page.status_code == 200
        assert "script-src 'self'" in page.headers["content-security-policy"]
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", page.text), address


def test_registration_by_invitation_alone_refuses_everybody_else(arena: Arena):
    client, _ = make_client(arena, Settings(registration="invited", limits=MANY))
    assert "by invitation" in client.get("/register").text
    form = {"email": "ada@example.org", "name": "Ada", "password": PASSWORD, "ticket": "x"}
    assert client.post("/register", data=form).status_code == 400


@pytest.mark.parametrize("name", ["REDS", "r e d s", "ｒeds", "=reds", "@sum"])
def test_nobody_founds_a_team_that_reads_like_another_or_like_a_formula(
    arena: Arena, captain: TestClient, name
):
    assert captain.get("/team.json").json()["team"] == "reds"
    create_account(arena, "eve@example.org", "Eve", PASSWORD)
    client, _ = make_client(arena)
    enter(client, "eve@example.org")
    assert client.post("/team/found", data={"name": name}).status_code == 400
    assert client.get("/team.json").json()["team"] is None
    assert client.post("/team/found", data={"name": "redshift"}).status_code == 303
