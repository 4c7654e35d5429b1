"""Many posts at once over real connections: caps hold, and nothing is half-written."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from arena_making import FILE, Clock, join, make_arena, write_answers
from neuroarena.competition.arena import EMBEDDED, Arena
from neuroarena.competition.events import verify_events
from neuroarena.competition.tables import RUN, SUBMISSION
from neuroarena.competition.worker import work
from neuroarena.server import Settings, create_app
from neuroarena.server.settings import ServerLimits
from postgres import running_postgres

POSTS = 50


@pytest.fixture(params=["sqlite", "postgresql"])
def arena(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Arena]:
    text = FILE.replace("[[tracks]]", "[limits]\nunfinished = 100\n\n[[tracks]]", 1)
    with contextlib.ExitStack() as stack:
        place = EMBEDDED if request.param == "sqlite" else stack.enter_context(running_postgres())
        made = make_arena(tmp_path, Clock("2026-03-02 12:00 UTC"), text, place)
        stack.callback(made.store.close)
        yield made


@pytest.fixture
def address(arena: Arena) -> Iterator[str]:
    """A server on a port of its own."""
    import uvicorn

    listening = socket.create_server(("127.0.0.1", 0))
    app = create_app(arena, Settings(limits=ServerLimits(uploads=1000)))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    assert server.started
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(120)


@pytest.mark.drill
def test_fifty_posts_at_once_against_a_cap_of_five_take_exactly_five(arena, address, tmp_path):
    bearer = {"Authorization": f"Bearer {join(arena, 'reds')}"}
    content = write_answers(tmp_path / "mine.parquet", wrong=1).read_bytes()
    together = threading.Barrier(POSTS)

    def post(number: int) -> tuple[int, str]:
        with httpx.Client(base_url=address, headers=bearer, timeout=6000) as client:
            together.wait(600)
            form = {"track": "commands", "key": f"key-{number}"}
            answer = client.post("/submit.json", data=form, files={"file": ("mine.parquet", content)})
        return answer.status_code, answer.text

    with ThreadPoolExecutor(POSTS) as pool:
        answers = list(pool.map(post, range(POSTS)))
    taken = [status for status, _ in answers if status == 201]
    refused = [text for status, text in answers if status == 400]
    assert len(taken) == 5
    assert len(refused) == POSTS - 5
    assert all("All 5 attempts of your team today are used" in text for text in refused)
    work(arena, until_idle=True, duties=False)
    with arena.store.reading() as connection:
        states = list(
            connection.execute(
                select(RUN.c.state).join(SUBMISSION, RUN.c.submission == SUBMISSION.c.id)
            ).scalars()
        )
        verify_events(connection)
    assert states == ["scored"] * 5


@pytest.mark.drill
def test_one_key_posted_by_many_connections_is_one_submission(arena, address, tmp_path):
    bearer = {"Authorization": f"Bearer {join(arena, 'reds')}"}
    content = write_answers(tmp_path / "mine.parquet").read_bytes()

    def post(_: int) -> str:
        with httpx.Client(base_url=address, headers=bearer, timeout=6000) as client:
            form = {"track": "commands", "key": "the same"}
            answer = client.post("/submit.json", data=form, files={"file": ("mine.parquet", content)})
        return str(answer.json()["submission"])

    with ThreadPoolExecutor(10) as pool:
        assert len(set(pool.map(post, range(20)))) == 1


@pytest.mark.drill
def test_a_connection_that_breaks_during_an_upload_leaves_nothing(arena, address, tmp_path):
    token = join(arena, "reds")
    before = {path for path in arena.folder.rglob("*") if path.is_file() and "store" not in path.name}
    host, _, port = address.removeprefix("http://").partition(":")
    for _ in range(5):
        with socket.create_connection((host, int(port))) as line:
            line.sendall(
                b"POST /submit.json HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n"
                + f"Authorization: Bearer {token}\r\n".encode()
                + b"Content-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
                + b'Content-Disposition: form-data; name="file"; filename="a.parquet"\r\n\r\n'
                + b"x" * 5000
            )
    content = write_answers(tmp_path / "mine.parquet").read_bytes()
    answer = httpx.post(
        f"{address}/submit.json",
        headers={"Authorization": f"Bearer {token}"},
        data={"track": "commands"},
        files={"file": ("mine.parquet", content)},
        timeout=600,
    )
    assert answer.status_code == 201
    with arena.store.reading() as connection:
        assert len(connection.execute(select(SUBMISSION.c.id)).all()) == 1
    after = {path for path in arena.folder.rglob("*") if path.is_file() and "store" not in path.name}
    assert len(after - before) == 1


@pytest.mark.drill
def test_a_character_that_a_database_cannot_keep_is_refused_and_breaks_nothing(arena, address):
    bearer = {"Authorization": f"Bearer {join(arena, 'reds')}"}
    for method, place, form in (
        ("GET", "/submissions/a%00b.json", None),
        ("POST", "/submissions/a%00b/withdraw.json", {}),
        ("POST", "/forgotten.json", {"email": "a\x00@example.org"}),
        ("GET", "/join.json?ticket=%00", None),
    ):
        answer = httpx.request(method, f"{address}{place}", headers=bearer, data=form, timeout=600)
        assert answer.status_code in (400, 404), place
        assert answer.json()["error"]
