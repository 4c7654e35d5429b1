"""Run benches in processes of their own, again and again while time allows, and keep every figure."""

from __future__ import annotations

import datetime
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.environment import describe_environment, read_load
from bench.figures import stated_figures

ROOT = Path(__file__).resolve().parents[1]
RESULTS = Path("bench-results")


@dataclass
class Repetitions:
    """What the repetitions of one bench returned, and what each took."""

    name: str
    figures: list[dict[str, Any]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)
    peak_mb: list[float] = field(default_factory=list)
    load: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)


def run_rounds(names: Sequence[str], minutes: float, results: Path = RESULTS) -> list[Repetitions]:
    """Run every bench once, then in rounds while the time that is left is enough for another repetition.

    Parameters
    ----------
    names
        Benches, such as "bench_cells".
    minutes
        Of the clock, for everything; the first round is run to its end in any case.
    results
        Folder whose ``figures.jsonl`` gets a line for every repetition.
    """
    end = time.monotonic() + 60 * minutes
    found = [Repetitions(name) for name in names]
    wanted = {name: stated_figures(name)[2] for name in names}
    # Once for the whole run: files may be edited while it is under way.
    known = {"run": datetime.datetime.now(datetime.UTC).isoformat(), "environment": describe_environment()}
    for turn in range(max(wanted.values(), default=0)):
        for each in found:
            # A repetition may take half as long again as the longest so far.
            enough = turn == 0 or (each.seconds and time.monotonic() + 1.5 * max(each.seconds) < end)
            if turn < wanted[each.name] and enough:
                print(f"== {each.name}, repetition {turn + 1}", flush=True)
                run_once(each, results, known)
    return found


def run_once(each: Repetitions, results: Path, known: dict[str, Any]) -> None:
    """Run a bench in a fresh process, so that its memory is its own, and keep what it returns."""
    results.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        written = Path(folder) / "figures.json"
        load, begin = read_load(), time.monotonic()
        command = [sys.executable, "-m", "bench", "--once", each.name, str(written)]
        process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            # The others are measured all the same; the run as a whole has failed.
            each.failures.append(f"{each.name} left with {process.returncode}")
            return
        figures = json.loads(written.read_text(encoding="utf-8"))
    each.figures.append(figures)
    each.seconds.append(round(time.monotonic() - begin, 1))
    each.cpu_seconds.append(round(usage.ru_utime + usage.ru_stime, 1))
    each.peak_mb.append(round(usage.ru_maxrss / 1024))
    each.load.append(load)
    record = {
        "bench": each.name,
        "time": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        **known,
        "load": load,
        "seconds": each.seconds[-1],
        "cpu_seconds": each.cpu_seconds[-1],
        "peak_mb": each.peak_mb[-1],
        "figures": figures,
    }
    with open(results / "figures.jsonl", "a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def read_repetitions(results: Path, names: Sequence[str]) -> tuple[list[Repetitions], dict[str, str], str]:
    """Read what the last run of each bench kept: its repetitions, the environment and the newest time."""
    lines = (results / "figures.jsonl").read_text(encoding="utf-8").splitlines()
    records = [record for record in map(json.loads, lines) if "environment" in record]
    found, environment, newest = [], {}, ""
    for name in names:
        own = [record for record in records if record["bench"] == name]
        own = [
            record
            for record in own
            if record["environment"] == own[-1]["environment"] and record["run"] == own[-1]["run"]
        ]
        each = Repetitions(name)
        for record in own:
            each.figures.append(record["figures"])
            each.seconds.append(record["seconds"])
            each.cpu_seconds.append(record["cpu_seconds"])
            each.peak_mb.append(record["peak_mb"])
            each.load.append(record["load"])
            if record["time"] > newest:
                environment, newest = record["environment"], record["time"]
        if own:
            found.append(each)
    return found, environment, newest
