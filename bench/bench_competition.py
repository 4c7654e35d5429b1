"""Measure a competition on one SQLite file: predictions taken, checked and scored, and what a long queue of code costs.

One process posts, another works. The processor's seconds are given besides the clock's, because other programs may run
on the same cores: two cores can serve two seconds of the processor in each second.

Run: python bench/bench_competition.py
"""

from __future__ import annotations

import datetime
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FIGURES = {
    "throughput.per_second": (
        "files of 10,000 predictions taken, checked and scored on SQLite, per s of the clock",
        "at least",
        20,
    ),
    "throughput.per_second_on_two_free_cores": ("the same as two free cores would do it", "at least", 20),
    "luck.processor_s": (
        "what telling a rise from luck adds to a file of 10,000 rows in a sealed phase, s of processor",
        "",
        None,
    ),
    "wait.delay_s": ("delay of predictions behind a thousand runs of code, s", "at most", 2.0),
}
RUNS = 3
ROWS, UNITS, POSTS, TEAMS = 10_000, 100, 60, 6
WAITING, ASKED = 1_000, 7
WORKER = """
import sys
from neuroarena.competition import open_arena, work
work(open_arena(sys.argv[1]), ["intake", "scorer"])
"""
FILE = """
name = "bench"
title = "Bench"
contact = "organisers@example.org"
terms = "None."

[[tracks]]
name = "commands"
title = "Commands"
benchmark = "bci/commands"
kinds = ["predictions", "code"]

[[phases]]
name = "open"
title = "Open"
start = "2020-01-01 00:00 UTC"
end = "2099-01-01 00:00 UTC"

[limits]
unfinished = 1000000
"""


def main() -> dict[str, Any]:
    """Return submissions per second and processor seconds each, and the wait of one behind a thousand runs of code."""
    with tempfile.TemporaryDirectory(prefix="bench-competition-") as folder:
        arena, tokens, files = set_up(Path(folder))
        worker = subprocess.Popen([sys.executable, "-c", WORKER, str(arena.folder)])
        try:
            wait_for_one(arena, tokens[0], files[0])
            alone = measure_wait(arena, tokens, files)
            throughput = measure_throughput(arena, tokens, files, worker)
            luck = measure_luck_s(arena, tokens[0], files[0])
            queue_code(arena)
            behind = measure_wait(arena, tokens, files)
        finally:
            worker.terminate()
            worker.wait()
    waits = {"alone_s": alone, "behind_code_s": behind, "delay_s": round(behind - alone, 3)}
    return {
        "rows": ROWS,
        "throughput": throughput,
        "luck": {"processor_s": luck},
        "wait": {"queued_code": WAITING, **waits},
    }


def set_up(folder: Path, rows: int = ROWS, units: int = UNITS) -> tuple[Any, list[str], list[Path]]:
    """Make an open competition with questions, teams, and files of answers that differ."""
    from neuroarena.competition import accept_terms, add_team, issue_token, open_arena
    from neuroarena.competition.arena import create_arena
    from neuroarena.competition.opening import open_competition
    from neuroarena.competition.sealing import keep_truth
    from neuroarena.scoring import Manifest, write_submission

    manifest = Manifest(
        name="bci/commands",
        definition="bench",
        title="Commands",
        question="Which command?",
        metric="balanced_accuracy",
        prediction="label",
        classes=("left", "right", "rest"),
        unit="session",
        split_rule="one part",
        licence="none",
    )
    rng = np.random.default_rng(0)
    unit = np.repeat(np.arange(units), rows // units)
    truth = pd.DataFrame({"id": [f"e{number:06d}" for number in range(rows)], "fold": "all"})
    truth["unit"] = truth["cluster"] = [f"u{each}" for each in unit]
    truth["target"] = rng.choice(manifest.classes, rows)
    (folder / "bench.toml").write_text(FILE)
    create_arena(folder / "arena", folder / "bench.toml").store.close()
    arena = open_arena(folder / "arena")
    keep_truth(
        arena,
        "commands",
        truth,
        manifest,
        {"benchmark": "bci@bench/commands", "split": "all", "simulated": True},
    )
    open_competition(arena)
    tokens = []
    for number in range(TEAMS):
        add_team(arena, f"team {number}")
        accept_terms(arena, f"team {number}")
        tokens.append(issue_token(arena, f"team {number}"))
    files = []
    for number in range(8):
        table = pd.DataFrame({"id": truth["id"], "label": rng.choice(manifest.classes, rows)})
        files.append(folder / f"{number}.parquet")
        write_submission(files[-1], table, manifest, model="bench", contact="a@example.org")
    return arena, tokens, files


def measure_throughput(
    arena: Any, tokens: list[str], files: list[Path], worker: subprocess.Popen[bytes]
) -> dict[str, float]:
    """Post one file after the other while a worker scores, and return how many were scored per second."""
    from neuroarena.competition import submit

    before, started = processor_s(worker.pid), time.perf_counter()
    own = resource.getrusage(resource.RUSAGE_SELF)
    sent = [submit(arena, tokens[n % TEAMS], "commands", files[n % len(files)]) for n in range(POSTS)]
    posted = time.perf_counter() - started
    while count_unfinished(arena) > 0:
        time.sleep(0.02)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF)
    intake = after.ru_utime + after.ru_stime - own.ru_utime - own.ru_stime
    scoring = processor_s(worker.pid) - before
    each = (intake + scoring) / len(sent)
    return {
        "posts": POSTS,
        "per_second": round(POSTS / seconds, 2),
        "posted_per_second": round(POSTS / posted, 2),
        "processor_ms_intake": round(1000 * intake / POSTS, 2),
        "processor_ms_scoring": round(1000 * scoring / POSTS, 2),
        "per_second_on_two_free_cores": round(1 / max(intake, scoring) * POSTS, 1),
        "per_second_of_processor": round(1 / each, 1),
    }


def measure_luck_s(arena: Any, token: str, file: Path) -> float:
    """Return the seconds of the processor that measuring the luck of one scored file takes, the median of five."""
    from neuroarena.competition import submit
    from neuroarena.competition.answers import read_answers
    from neuroarena.competition.intake import read_submission
    from neuroarena.competition.judging import judge_half
    from neuroarena.competition.luck import measure_luck
    from neuroarena.competition.scorer import score_answers

    row = read_submission(arena, submit(arena, token, "commands", file))
    answers = read_answers(arena, row, "")
    judged = judge_half(arena, row, score_answers(arena, row, answers), with_interval=False, with_error=False)
    seconds = []
    for _ in range(5):
        begin = time.process_time()
        measure_luck(arena, row, answers, judged, None)
        seconds.append(time.process_time() - begin)
    return round(statistics.median(seconds), 3)


def measure_wait(arena: Any, tokens: list[str], files: list[Path]) -> float:
    """Return the median seconds from a post to its score."""
    waits = [wait_for_one(arena, tokens[n % TEAMS], files[n % len(files)]) for n in range(ASKED)]
    return round(statistics.median(waits), 3)


def wait_for_one(arena: Any, token: str, file: Path) -> float:
    """Post a file, wait until it is scored, and return the seconds."""
    from neuroarena.competition import read_receipt, submit

    started = time.perf_counter()
    submission = submit(arena, token, "commands", file)
    while read_receipt(arena, token, submission)["state"] != "scored":
        time.sleep(0.01)
    return time.perf_counter() - started


def queue_code(arena: Any) -> None:
    """Put a thousand runs of code into the queue; nobody here takes them."""
    from neuroarena.competition.artifacts import Artifact
    from neuroarena.competition.intake import Post, insert_submission
    from neuroarena.competition.tables import RUN

    with arena.store.writing() as connection:
        now = arena.store.clock(connection) - datetime.timedelta(hours=1)
        for number in range(WAITING):
            post = Post("commands", Path("x.zip"), "code", "x.zip", f"code-{number}")
            insert_submission(connection, now, f"team {number % TEAMS}", "open", post, Artifact("0" * 64, 1))
        code = RUN.update().where(RUN.c.state == "received").values(state="queued", label="cpu")
        connection.execute(code)


def count_unfinished(arena: Any) -> int:
    """Return how many files of predictions have not ended."""
    from sqlalchemy import func, select

    from neuroarena.competition.states import TERMINAL
    from neuroarena.competition.tables import RUN

    with arena.store.reading() as connection:
        asked = select(func.count()).where(RUN.c.state.not_in(TERMINAL), RUN.c.label != "cpu")
        return int(connection.execute(asked).scalar_one())


def processor_s(pid: int) -> float:
    """Return the seconds of the processor that a process has used."""
    import os

    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    print(json.dumps(main(), indent=2))
