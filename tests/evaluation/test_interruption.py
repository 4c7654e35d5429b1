"""A run that is stopped, however rudely, loses at most the cells under way."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from neuroarena.evaluation import evaluate, find_results, load_result
from toy import GATE, Mean, Slow, describe_gate, toy_benchmark

RUN = """
import signal, sys
from pathlib import Path
from neuroarena.evaluation import evaluate
from toy import Slow, toy_benchmark
if __name__ == "__main__":
    # A suite that runs in the background was started with Ctrl-C ignored, and children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    evaluate(Slow(), toy_benchmark(), "within", workers=int(sys.argv[2]), out=Path(sys.argv[1]) / "out",
             cache=Path(sys.argv[1]) / "cache")
"""


def ignore_ctrl_c() -> None:
    """Do what a shell does to a command that it starts in the background."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def start(folder: Path, workers: int, free: int, in_background: bool = False) -> subprocess.Popen:
    """Start a run that computes so many cells and no more: whoever stops it is never too late."""
    script = folder / "run.py"
    script.write_text(RUN)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), GATE: describe_gate(folder, free)}
    command = [sys.executable, str(script), str(folder), str(workers)]
    return subprocess.Popen(
        command,
        env=environment,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=ignore_ctrl_c if in_background else None,
    )


def cells(folder: Path) -> set[str]:
    return {path.name for path in (folder / "cache" / "cells").rglob("*.cell")}


def wait_for_cells(process: subprocess.Popen, folder: Path, n: int) -> None:
    deadline = time.monotonic() + 600
    while len(cells(folder)) < n and process.poll() is None:
        assert time.monotonic() < deadline, "no cell was computed in ten minutes"
        time.sleep(0.02)


def workers_of(process: subprocess.Popen) -> list[int]:
    listing = subprocess.run(
        ["ps", "-o", "pid=", "-g", str(process.pid)], capture_output=True, text=True, check=False
    )
    return [int(pid) for pid in listing.stdout.split() if int(pid) != process.pid]


@pytest.mark.drill
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_run_killed_three_times_at_random_leaves_no_worker_and_gives_the_same_table(tmp_path, seed):
    rng = random.Random(seed)
    for kill, workers in enumerate((2, 1, 1)):
        wanted = 1 + kill * 2
        process = start(tmp_path, workers, wanted - len(cells(tmp_path)) + 1)
        wait_for_cells(process, tmp_path, wanted)
        time.sleep(rng.uniform(0, 0.3))
        before = cells(tmp_path)
        alive = workers_of(process)
        assert bool(alive) == (workers > 1)
        process.kill()
        process.wait()
        wait_for_the_end_of(alive)
        assert before <= cells(tmp_path)
    assert not list((tmp_path / "out").glob("*"))
    # In this process: it finds the cells of the others all the same.
    evaluate(Slow(), toy_benchmark(), "within", out=tmp_path / "out", cache=tmp_path / "cache")
    (folder,) = find_results([tmp_path / "out"])
    killed = load_result(folder)
    undisturbed = evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path / "other")
    pd.testing.assert_frame_equal(killed.predictions, undisturbed.predictions, check_exact=True)
    pd.testing.assert_frame_equal(killed.unit_scores.table, undisturbed.unit_scores.table, check_exact=True)


def wait_for_the_end_of(workers: list[int]) -> None:
    deadline = time.monotonic() + 300
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline, "a worker outlived its parent"
        time.sleep(0.1)


# The one that is quick differs from the plain case in both.
@pytest.mark.parametrize(
    ("workers", "in_background"), [(2, True), pytest.param(1, False, marks=pytest.mark.drill)]
)
def test_ctrl_c_keeps_what_was_computed_and_says_so(tmp_path, workers, in_background):
    process = start(tmp_path, workers, 3, in_background)
    wait_for_cells(process, tmp_path, 2)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=600)
    assert process.returncode != 0
    assert "run the same command again" in said
    kept = len(cells(tmp_path))
    assert 2 <= kept < 8
    assert f"{kept} of 8 cells are kept" in said
