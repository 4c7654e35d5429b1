"""The launcher: report that everything stands, take on limits, then become the command.

Run as a script, ``launch.py SETTINGS COMMAND...``. `SETTINGS` is JSON, each part optional: ``lifeline`` (descriptor
of a pipe that must still have its other end), ``rlimits`` (by name, a number), ``hello`` (descriptor to report to).
"""

from __future__ import annotations

import json
import os
import resource
import select
import sys


def main(arguments: list[str]) -> None:
    """Do what the module describes; return only to exit."""
    settings, command = json.loads(arguments[0]), arguments[1:]
    if settings.get("lifeline") is not None:
        _check(settings["lifeline"])
    for name, most in settings.get("rlimits", {}).items():
        kind = getattr(resource, f"RLIMIT_{name}")
        hard = resource.getrlimit(kind)[1]
        number = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (number, number))
    if settings.get("hello") is not None:
        os.write(settings["hello"], b"hello\n")
        os.close(settings["hello"])
    os.execvp(command[0], command)


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


if __name__ == "__main__":
    main(sys.argv[1:])
