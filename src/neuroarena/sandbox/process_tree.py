"""Processes below a process: which they are, what memory they hold, how to end them all."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import time
from pathlib import Path

_PROC = Path("/proc")
_PSS = re.compile(r"^Pss:\s+(\d+) kB", re.M)
_RSS = re.compile(r"^VmRSS:\s+(\d+) kB", re.M)


def descendants(root: int) -> list[int]:
    """List the processes below a process, parents before children; the process itself is not in the list.

    Examples
    --------
    >>> os.getpid() in descendants(os.getppid())
    True
    """
    children: dict[int, list[int]] = {}
    for entry in os.listdir(_PROC):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError):
                # The name stands in brackets and may hold anything; the parent is the second field after it.
                parent = int((_PROC / entry / "stat").read_text().rpartition(")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry))
    found, waiting = [], [root]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found.extend(below)
        waiting.extend(below)
    return found


def threads(pids: list[int]) -> int:
    """Count the threads of processes; those that have ended count nothing."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += len(os.listdir(_PROC / str(pid) / "task"))
    return total


def memory_mb(pids: list[int]) -> float:
    """Add up the memory of processes, shared pages once where the kernel reports them, in MB.

    Examples
    --------
    >>> 1 < memory_mb([os.getpid()]) < 100_000
    True
    """
    total = 0
    for pid in pids:
        for name, pattern in (("smaps_rollup", _PSS), ("status", _RSS)):
            with contextlib.suppress(OSError):
                found = pattern.search((_PROC / str(pid) / name).read_text())
                if found:
                    total += int(found[1])
                    break
    return total / 1024


def end_tree(root: int, patience_s: float = 5.0) -> None:
    """End every process below one with SIGKILL, then the process itself.

    The root is ended last: where it adopts orphans, none of them escapes in the meantime.
    """
    deadline = time.monotonic() + patience_s
    while (below := descendants(root)) and time.monotonic() < deadline:
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(root, signal.SIGKILL)
