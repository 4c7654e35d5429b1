"""The storm: workers killed at random, and every submission ends once, with one score."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import func, select

from arena_making import FILE, join, make_arena, write_answers
from neuroarena.competition.arena import EMBEDDED
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import submit
from neuroarena.competition.store import read_clock
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION, TRANSITION
from postgres import running_postgres

N_TEAMS, N_SUBMISSIONS, N_KILLS, N_WORKERS = 20, 400, 20, 3
WORKER = """
import datetime, sys
from neuroarena.competition import open_arena, work
work(open_arena(sys.argv[1]), lease=datetime.timedelta(seconds=2))
"""
ALWAYS_OPEN = FILE.replace("2026-03-08 23:59:59 AoE", "2099-01-01 00:00 UTC").replace(
    "per_day = 5", "per_day = 100"
)
ALWAYS_OPEN = ALWAYS_OPEN.replace("2026-03-10 00:00 UTC", "2099-02-01 00:00 UTC")
ALWAYS_OPEN = ALWAYS_OPEN.replace("2026-03-20 00:00 UTC", "2099-03-01 00:00 UTC")
ALWAYS_OPEN += "\n[limits]\nunfinished = 100\n"


def start_worker(folder: Path) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", WORKER, str(folder)], stderr=subprocess.DEVNULL)


@pytest.fixture(params=["sqlite", "postgresql"])
def database(request) -> Iterator[str]:
    if request.param == "sqlite":
        yield EMBEDDED
        return
    with running_postgres() as address:
        yield address


@pytest.mark.drill
def test_four_hundred_submissions_survive_twenty_killed_workers(tmp_path, database):
    arena = make_arena(tmp_path, read_clock, ALWAYS_OPEN, database)
    tokens = [join(arena, f"team {number}") for number in range(N_TEAMS)]
    answers = write_answers(tmp_path / "good.parquet", wrong=2)
    damaged = tmp_path / "damaged.parquet"
    damaged.write_bytes(answers.read_bytes()[:-9])
    chance = random.Random(0)
    workers = [start_worker(arena.folder) for _ in range(N_WORKERS)]
    try:
        for number in range(N_SUBMISSIONS):
            file = damaged if number % 10 == 0 else answers
            submit(arena, tokens[number % N_TEAMS], "commands", file)
            if number % (N_SUBMISSIONS // N_KILLS) == 0:
                victim = chance.randrange(N_WORKERS)
                workers[victim].kill()
                workers[victim].wait()
                workers[victim] = start_worker(arena.folder)
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline and count_states(arena).keys() - {"scored", "refused"}:
            time.sleep(0.5)
    finally:
        for worker in workers:
            worker.terminate()
            worker.wait()
    assert count_states(arena) == {"scored": 360, "refused": 40}
    with arena.store.reading() as connection:
        verify_events(connection)
        assert connection.execute(select(func.count()).select_from(PUBLIC_SCORE)).scalar_one() == 360
        assert list(connection.execute(select(PUBLIC_SCORE.c.shown)).scalars()) == pytest.approx([0.8] * 360)
        slots = Counter(connection.execute(select(SUBMISSION.c.slot)).scalars())
        ends = Counter(
            connection.execute(
                select(TRANSITION.c.run).where(TRANSITION.c.state.in_(("scored", "refused")))
            ).scalars()
        )
    assert slots == {"used": 360, "freed": 40}
    assert set(ends.values()) == {1}
    assert len(ends) == N_SUBMISSIONS


POST = """
import sys
from neuroarena.competition import open_arena, submit
from neuroarena.errors import InputError
try:
    print("taken", submit(open_arena(sys.argv[1]), sys.argv[2], "commands", sys.argv[3]))
except InputError as error:
    print(error)
"""


@pytest.mark.drill
def test_fifty_processes_post_at_once_and_the_cap_is_exact(tmp_path, database):
    capped = ALWAYS_OPEN.replace("per_day = 100", "per_day = 5")
    arena = make_arena(tmp_path, read_clock, capped, database)
    words = [
        sys.executable,
        "-c",
        POST,
        str(arena.folder),
        join(arena, "reds"),
        str(write_answers(tmp_path / "a.parquet")),
    ]
    posts = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(50)]
    said = Counter(post.communicate()[0].split(" ")[0] for post in posts)
    assert said == {"taken": 5, "All": 45}
    assert sum(count_states(arena).values()) == 5


def count_states(arena) -> Counter[str]:
    with arena.store.reading() as connection:
        return Counter(connection.execute(select(RUN.c.state)).scalars())
