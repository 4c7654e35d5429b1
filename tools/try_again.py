"""Run pytest, and each test that failed once more, alone: CI's machine is shared, and a starved process is no defect.

Usage: ``python tools/try_again.py [words of pytest]``. A test that passes the second time is listed as UNSTEADY,
loudly, and is to be mended. Whatever else goes wrong fails at once: a test that fails again, or is not run the second
time; a file that cannot be collected; an end of pytest itself; more than a few failures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import pytest

# More failures than this are no accident.
MOST = 8
ALONE = ("-n", "0", "--dist", "no")
SESSION = "--session-writing-to"
SOME_FAILED = 1


class Outcomes:
    """A plugin of pytest that writes which tests failed and which passed to a file."""

    def __init__(self, place: Path) -> None:
        self.place, self.failed, self.passed = place, set[str](), set[str]()
        self.collected = True

    def pytest_collectreport(self, report: Any) -> None:
        """Remember that a file could not be collected: then nobody knows what was not run."""
        self.collected &= not report.failed

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Remember a test that failed anywhere, a worker that died on it included, or whose body passed."""
        if report.failed:
            self.failed.add(report.nodeid)
        elif report.passed and report.when == "call":
            self.passed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        """Write what was remembered."""
        failed = sorted(self.failed) if self.collected else []
        kept = {"failed": failed, "passed": sorted(self.passed - self.failed)}
        self.place.write_text(json.dumps(kept), encoding="utf-8")


def run_session(words: list[str]) -> tuple[int, list[str], list[str]]:
    """Run pytest in a process of its own; return its status, the tests to try again and those that passed."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "outcomes.json"
        status = subprocess.run([sys.executable, __file__, SESSION, place, *words], check=False).returncode
        found = json.loads(place.read_text(encoding="utf-8")) if place.exists() else {}
    return status, found.get("failed", []), found.get("passed", [])


def announce(*lines: str) -> None:
    """Print lines that are seen in a long log."""
    print("", "!" * 100, *lines, "!" * 100, "", sep="\n", flush=True)


def main(words: list[str]) -> int:
    """Return 0 when every test passed, the first time or alone; else what pytest says, never 0."""
    status, failed, _ = run_session(words)
    if status != SOME_FAILED or not failed:
        return status
    if len(failed) > MOST:
        announce(f"{len(failed)} tests failed: too many for an accident, so none is tried again.")
        return status
    announce(f"Tests that failed: {len(failed)}. Each is run once more, alone:", *failed)
    second, _, passed = run_session([*words, *ALONE, *failed])
    unsteady = [test for test in failed if test in passed]
    if unsteady:
        lines = (f"UNSTEADY: {test}" for test in unsteady)
        announce(f"{len(unsteady)} of {len(failed)} failed tests passed when run alone:", *lines)
    if len(unsteady) == len(failed):
        return second
    return second or status


if __name__ == "__main__":
    if sys.argv[1:2] == [SESSION]:
        sys.path[0] = os.getcwd()  # as `python -m pytest` has it
        sys.exit(pytest.main(sys.argv[3:], plugins=[Outcomes(Path(sys.argv[2]))]))
    sys.exit(main(sys.argv[1:]))
