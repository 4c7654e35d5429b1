"""Serve the simulated competition: make it, judge what comes in, and say where it is and how to sign in."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from neuroarena.demo.simulated_arena import Demonstration, make_demonstration


@contextlib.contextmanager
def demonstrating(folder: Path | None = None) -> Iterator[Demonstration]:
    """Make the simulated competition and judge what is handed in, until the context ends.

    Parameters
    ----------
    folder : Path, optional
        A new or empty folder, which stays; by default a temporary one, which is removed.
    """
    with contextlib.ExitStack() as stack:
        if folder is None:
            temporary = tempfile.TemporaryDirectory(prefix="neuroarena-demo-", ignore_cleanup_errors=True)
            folder = Path(stack.enter_context(temporary)) / "arena"
        made = make_demonstration(folder)
        words = [sys.executable, "-m", "neuroarena", "worker", "--arena", str(folder)]
        judge = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        stack.callback(_end, judge)
        yield made


def describe_demonstration(made: Demonstration) -> list[str]:
    """Return how to sign in and what to try, line by line."""
    return [
        "Everything is simulated: tracks, teams and scores.",
        f"Sign in as a team:       {made.team[0]}   password {made.team[1]}",
        f"Sign in as an organiser: {made.organiser[0]}   password {made.organiser[1]}",
        f"Files to submit on Mental commands: {made.good} (accepted), {made.bad} (refused, costs nothing)",
        "End it with Ctrl-C.",
    ]


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
