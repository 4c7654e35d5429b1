"""Take on limits, then become the command. Run as a script: ``launch.py SETTINGS COMMAND...``.

`SETTINGS` is JSON, each part optional: ``parent`` (number of the process to die with), ``lifeline`` (descriptor of a
pipe that must still have its other end), ``groups`` (files to write its own process id into), ``rlimits`` (by name, a
number) and ``guard`` (stay as a parent that ends what the command leaves behind).
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import sys

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def main(arguments: list[str]) -> None:
    """Do what the module describes; return only to exit."""
    settings, command = json.loads(arguments[0]), arguments[1:]
    if "parent" in settings:
        _end_with(settings["parent"])
    if settings.get("lifeline") is not None:
        _check(settings["lifeline"])
    for file in settings.get("groups", []):
        with open(file, "w") as procs:
            procs.write(str(os.getpid()))
    for name, most in settings.get("rlimits", {}).items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        number = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (number, number))
    if settings.get("guard"):
        _guard(command)
    os.execvp(command[0], command)


def _end_with(parent: int) -> None:
    """Die when the parent dies. bubblewrap does so too, but only once it is running."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _check(lifeline: int) -> None:
    """Exit if nobody holds the other end any more.

    bubblewrap tells its inner process to die with the outer one when both are running: where the outer one was gone
    before that, nothing else would ever end this one.
    """
    poll = select.poll()
    poll.register(lifeline, 0)
    if any(event & select.POLLHUP for _, event in poll.poll(0)):
        os._exit(1)
    os.close(lifeline)


def _guard(command: list[str]) -> None:
    libc = ctypes.CDLL(None)
    # Orphans of the command become children of this process instead of the system's first one.
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    guard, pid = os.getpid(), os.fork()
    if pid == 0:
        _end_with(guard)
        os.execvp(command[0], command)
    # The pipes belong to the command: whoever talks to it must see it end.
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    status = 0
    while True:
        ended, code = os.waitpid(-1, 0)
        if ended == pid:
            status = code
            break
    _end_orphans()
    code = os.waitstatus_to_exitcode(status)
    os._exit(code if code >= 0 else 128 - code)


def _end_orphans() -> None:
    own = os.getpid()
    with contextlib.suppress(ChildProcessError):
        while True:
            for entry in os.listdir("/proc"):
                if entry.isdigit() and _parent(entry) == own:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(int(entry), signal.SIGKILL)
            os.waitpid(-1, 0)


def _parent(entry: str) -> int:
    try:
        with open(f"/proc/{entry}/stat") as file:
            return int(file.read().rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return -1


if __name__ == "__main__":
    main(sys.argv[1:])
