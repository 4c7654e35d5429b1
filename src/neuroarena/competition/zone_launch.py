"""Become the user of a zone, where its interpreter can be reached. Run as a module by root, with settings.

`SETTINGS` is JSON: ``uid``, ``gid``, ``groups``, ``reachable`` (folders that the user must be able to enter, wherever
they lie), ``cgroups`` (files to write the own process id into), ``environment`` and ``command``. A private folder on
the way to one of them is covered, in a mount namespace of this process alone, by an empty one in which only that folder
is seen.
"""

from __future__ import annotations

import ctypes
import json
import os
import stat
import sys
from typing import Any

from neuroarena.sandbox.supervise import MS_BIND, MS_NODEV, MS_NOSUID, MS_REC, leave_mounts, mount

_PR_SET_NO_NEW_PRIVS, _PR_SET_PDEATHSIG = 38, 1
_SIGTERM = 15
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(settings: dict[str, Any]) -> None:
    """Do what the module describes; never return."""
    for file in settings["cgroups"]:
        with open(file, "w") as procs:
            procs.write(str(os.getpid()))
    _uncover(settings["reachable"])
    os.setgroups(settings["groups"])
    os.setresgid(settings["gid"], settings["gid"], settings["gid"])
    os.setresuid(settings["uid"], settings["uid"], settings["uid"])
    # What all zones write together, such as the store, belongs to their group.
    os.umask(0o007)
    _LIBC.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _LIBC.prctl(_PR_SET_PDEATHSIG, _SIGTERM, 0, 0, 0)
    os.execve(settings["command"][0], settings["command"], settings["environment"])


def _uncover(folders: list[str]) -> None:
    """Make folders reachable for everybody in this mount namespace, and nothing else beside them."""
    hidden: dict[str, list[str]] = {}
    for folder in folders:
        private = find_private_parent(folder)
        if private is not None:
            hidden.setdefault(private, []).append(folder)
    if not hidden:
        return
    leave_mounts()
    for private, within in hidden.items():
        # Held open, in the new mounts: once the private folder is covered there is no other way to them.
        kept = [(folder, os.open(folder, os.O_PATH | os.O_CLOEXEC)) for folder in within]
        mount("tmpfs", private, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m")
        for folder, descriptor in kept:
            os.makedirs(folder, 0o755, exist_ok=True)
            mount(f"/proc/self/fd/{descriptor}", folder, None, MS_BIND | MS_REC)
            os.close(descriptor)


def find_private_parent(folder: str) -> str | None:
    """Return the outermost folder above one that others may not enter; None when there is none."""
    parts = os.path.realpath(folder).split(os.sep)[1:-1]
    for count in range(1, len(parts) + 1):
        parent = os.sep + os.sep.join(parts[:count])
        if not os.stat(parent).st_mode & stat.S_IXOTH:
            return parent
    return None


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
