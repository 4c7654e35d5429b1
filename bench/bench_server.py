"""Measure the server on loopback: a board of a thousand entries asked for at a steady rate while submissions arrive.

A server in a process of its own, visitors in another, submissions from a third; at most `REQUESTS` requests and
`LONGEST_S` seconds. The rate is kept from outside (a visitor does not wait for the one before), so that a stall counts
for everybody who would have come meanwhile.

Run: python -m bench bench_server
"""

from __future__ import annotations

import asyncio
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pandas as pd

ENTRIES, UNITS, PER_UNIT = 1_000, 20, 20
RATE, REQUESTS, LONGEST_S = 250, 5_000, 60.0
CONNECTIONS = 40
FIGURES = {
    "per_second": (
        "board page of 1,000 entries while submissions arrive, requests per s of the clock",
        "at least",
        200,
    ),
    "p99_ms": ("the slowest of a hundred of them, ms", "at most", 100),
    "failed": ("answers that were not that page", "at most", 0),
    "submissions": ("submissions taken meanwhile", "at least", 1),
    "p50_ms": ("the middle one, ms", "", None),
}
RUNS = 2
FILE = """
name = "bench"
title = "Bench"
contact = "organisers@example.org"
terms = "None."

[[tracks]]
name = "commands"
title = "Commands"
benchmark = "bci/commands"

[[phases]]
name = "open"
title = "Open"
start = "2020-01-01 00:00 UTC"
end = "2099-01-01 00:00 UTC"

[limits]
unfinished = 1000000

[timetable]
board_minutes = 100000
"""
POSTER = """
import sys, time
from pathlib import Path
from neuroarena.competition import open_arena, submit
arena, token = open_arena(sys.argv[1]), sys.argv[2]
while True:
    submit(arena, token, "commands", Path(sys.argv[3]))
    time.sleep(0.5)
"""
WORKER = """
import sys
from neuroarena.competition import open_arena, work
work(open_arena(sys.argv[1]), ["intake", "scorer"])
"""


def main() -> dict[str, Any]:
    """Return the rate, the waits and the errors of visitors, and how long an edition of pages takes to make."""
    with tempfile.TemporaryDirectory(prefix="bench-server-") as folder:
        arena, token, file = set_up(Path(folder))
        before = count_submissions(arena)
        began = time.perf_counter()
        publish_large_board(arena)
        made_s = time.perf_counter() - began
        processes, address = start(arena.folder, token, file)
        try:
            board = find_board(address)
            figures = asyncio.run(visit(board))
            figures["submissions"] = count_submissions(arena) - before
        finally:
            for process in processes:
                process.kill()
                process.wait()
    load = [round(value, 1) for value in os.getloadavg()]
    return {"entries": ENTRIES, "edition_made_s": round(made_s, 1), **figures, "load_average": load}


def set_up(folder: Path) -> tuple[Any, str, Path]:
    """Make an open competition with one team, and a file that it submits again and again."""
    from neuroarena.competition import accept_terms, add_team, issue_token, open_arena, submit, work
    from neuroarena.competition.arena import create_arena
    from neuroarena.competition.opening import open_competition
    from neuroarena.competition.sealing import keep_truth
    from neuroarena.scoring import Manifest, write_submission

    manifest = Manifest(
        name="bci/commands",
        definition="bench",
        title="Commands",
        question="Which command?",
        metric="accuracy",
        prediction="label",
        classes=("left", "right"),
        unit="session",
        split_rule="one part",
        licence="none",
    )
    rng = np.random.default_rng(0)
    rows = UNITS * PER_UNIT
    truth = pd.DataFrame({"id": [f"e{number:06d}" for number in range(rows)], "fold": "all"})
    truth["unit"] = truth["cluster"] = [f"u{number // PER_UNIT}" for number in range(rows)]
    truth["target"] = rng.choice(manifest.classes, rows)
    (folder / "bench.toml").write_text(FILE)
    create_arena(folder / "arena", folder / "bench.toml").store.close()
    arena = open_arena(folder / "arena")
    about = {"benchmark": "bci@bench/commands", "split": "all", "simulated": True}
    keep_truth(arena, "commands", truth, manifest, about)
    open_competition(arena)
    add_team(arena, "reds")
    accept_terms(arena, "reds")
    token, file = issue_token(arena, "reds"), folder / "answers.parquet"
    table = pd.DataFrame({"id": truth["id"], "label": rng.choice(manifest.classes, rows)})
    write_submission(file, table, manifest, model="bench", contact="a@example.org")
    submit(arena, token, "commands", file)
    work(arena, until_idle=True)  # also publishes boards: not again for weeks
    return arena, token, file


def publish_large_board(arena: Any) -> None:
    """Put the pages of a board of a thousand entries in the place of those of this small competition."""
    from bench.bench_board import make_entries
    from neuroarena.board import Board, Rules
    from neuroarena.board.site import Content, Settings, Sources
    from neuroarena.competition.site_pages import make_rows, replace_edition

    entries = make_entries(ENTRIES, 1, UNITS)
    sources = Sources(tuple(entries), (), "0" * 64, {})
    rows = list(make_rows(Content(Board(entries, Rules()), sources, Settings(title="Bench"))))
    with arena.store.writing("boards") as connection:
        replace_edition(connection, "a thousand entries", rows)


def start(folder: Path, token: str, file: Path) -> tuple[list[subprocess.Popen[str]], str]:
    """Start server, worker and a team that submits twice a second; return them and the address of the server."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    commands = (
        [sys.executable, "-m", "neuroarena", "serve", str(folder), "--port", "0"],
        [sys.executable, "-c", WORKER, str(folder)],
        [sys.executable, "-c", POSTER, str(folder), token, str(file)],
    )
    processes = [
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) for command in commands
    ]
    assert processes[0].stdout is not None
    return processes, processes[0].stdout.readline().split(": ")[-1].strip().rstrip("/")


def find_board(address: str) -> str:
    """Return the address of the board."""
    import httpx

    boards = httpx.get(f"{address}/index.json", timeout=60).json()["boards"]
    return f"{address}/{boards[0]['page']}"


async def visit(board: str) -> dict[str, Any]:
    """Ask for the board at a steady rate, and return what visitors met."""
    place = urlsplit(board)
    waits: list[float] = []
    codes: dict[str, int] = {}
    idle: asyncio.Queue[Visitor] = asyncio.Queue()
    for _ in range(CONNECTIONS):
        idle.put_nowait(Visitor(*await asyncio.open_connection(place.hostname, place.port)))
    first = await idle.get_nowait().ask(place.netloc, place.path)
    began = time.perf_counter()

    async def ask(due: float) -> None:
        visitor = await idle.get()
        try:
            answer = await visitor.ask(place.netloc, place.path)
            code = "200" if answer == first else "another answer"
        except (OSError, asyncio.IncompleteReadError) as error:
            code = type(error).__name__
        idle.put_nowait(visitor)
        waits.append(time.perf_counter() - due)
        codes[code] = codes.get(code, 0) + 1

    asked = []
    for number in range(REQUESTS):
        due = began + number / RATE
        if due - began > LONGEST_S:
            break
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        asked.append(asyncio.ensure_future(ask(due)))
    await asyncio.gather(*asked)
    took = time.perf_counter() - began
    return {
        "page_bytes": len(gzip.decompress(first)),
        "sent_bytes": len(first),
        "requests": len(waits),
        "per_second": round(len(waits) / took, 1),
        "p50_ms": round(1e3 * float(np.quantile(waits, 0.5)), 1),
        "p99_ms": round(1e3 * float(np.quantile(waits, 0.99)), 1),
        "worst_ms": round(1e3 * max(waits), 1),
        "answers": codes,
        "failed": len(waits) - codes.get("200", 0),
    }


@dataclass(frozen=True)
class Visitor:
    """A connection that stays open; a client library would take more of the processor than the server does."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    async def ask(self, host: str, path: str) -> bytes:
        """Return the body of a page as it was sent, compressed; the status must be 200."""
        request = f"GET {path} HTTP/1.1\r\nHost: {host}\r\nAccept: text/html\r\nAccept-Encoding: gzip\r\n\r\n"
        self.writer.write(request.encode())
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        length = int(head.lower().partition("content-length: ")[2].partition("\r")[0])
        body = await self.reader.readexactly(length)
        if " 200 " not in head.partition("\r")[0]:
            raise OSError(head.partition("\r")[0])
        return body


def count_submissions(arena: Any) -> int:
    """Return how many submissions there are."""
    from sqlalchemy import func, select

    from neuroarena.competition.tables import SUBMISSION

    with arena.store.reading() as connection:
        return int(connection.execute(select(func.count()).select_from(SUBMISSION)).scalar_one())


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
