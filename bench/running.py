"""Run benches in processes of their own, again and again while time allows, and keep every figure."""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import resource
import signal
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
# No repetition takes so long on two free cores; one that does is stopped, so that it costs the others no more.
LONGEST_S = 600.0
_POLL_S = 0.05


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

    Nothing runs on when the time is up: a bench that was under way is stopped with every process it started, and one
    that had not begun is named; both are failures.

    Parameters
    ----------
    names
        Benches, such as "bench_cells".
    minutes
        Of the clock, for everything.
    results
        Folder whose ``figures.jsonl`` gets a line for every repetition.
    """
    end = time.monotonic() + 60 * minutes
    found = [Repetitions(name) for name in names]
    wanted = {name: stated_figures(name)[2] for name in names}
    # Once for the whole run: files may be edited while it is under way.
    known = {"run": datetime.datetime.now(datetime.UTC).isoformat(), "environment": describe_environment()}
    # Those that are run once take longest: when time runs short, it is they that are cut.
    ordered = sorted(found, key=lambda each: -wanted[each.name])
    for turn in range(max(wanted.values(), default=0)):
        for each in ordered:
            left = end - time.monotonic()
            if turn == 0 and left <= 0:
                each.failures.append(f"{each.name} was not run: the {minutes:g} minutes were over")
                continue
            # A repetition may take half as long again as the longest so far.
            enough = turn == 0 or (each.seconds and 1.5 * max(each.seconds) < left)
            if turn < wanted[each.name] and enough:
                print(f"== {each.name}, repetition {turn + 1}", flush=True)
                run_once(each, results, known, min(left, LONGEST_S))
    return found


def run_once(each: Repetitions, results: Path, known: dict[str, Any], most_s: float = LONGEST_S) -> None:
    """Run a bench in a fresh process, so that its memory is its own, and keep what it returns."""
    results.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        written = Path(folder) / "figures.json"
        load, begin = read_load(), time.monotonic()
        command = [sys.executable, "-m", "bench", "--once", each.name, str(written)]
        # What a bench that is stopped leaves behind goes with the folder.
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "TMPDIR": folder},
            start_new_session=True,
        )
        usage = _wait(process, most_s)
        if process.returncode or usage is None:
            # The others are measured all the same; the run as a whole has failed.
            how = f"left with {process.returncode}" if usage else f"was stopped after {most_s:.0f} s"
            each.failures.append(f"{each.name} {how}")
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


def _wait(process: subprocess.Popen[bytes], most_s: float) -> resource.struct_rusage | None:
    """Wait for a bench and return what it used; after so many seconds stop it with all it started, and return None."""
    end = time.monotonic() + most_s
    try:
        while time.monotonic() < end:
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if ended:
                process.returncode = os.waitstatus_to_exitcode(status)
                return usage
            time.sleep(_POLL_S)
        return None
    finally:
        # Also servers and workers of a bench that failed, and everything when Ctrl-C is pressed.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


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
