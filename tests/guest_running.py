"""Run a piece of Python in the sandbox, and look for what it left running."""

from __future__ import annotations

import os
import sys
import textwrap
import time
from pathlib import Path

from neuroarena.sandbox import Limits, Outcome, run_isolated


def run(source: str, *arguments: str, isolation: str = "bubblewrap", **options) -> Outcome:
    command = [sys.executable, "-I", "-c", textwrap.dedent(source), *arguments]
    options.setdefault("limits", Limits(seconds=300, memory_mb=500, output_mb=5, processes=24))
    return run_isolated(command, isolation=isolation, **options)


def alive(mark: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if mark.encode() in (entry / "cmdline").read_bytes().split(b"\0"):
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def gone(mark: str, patience_s: float = 120.0) -> bool:
    end = time.monotonic() + patience_s
    while alive(mark) and time.monotonic() < end:
        time.sleep(0.05)
    return not alive(mark)
