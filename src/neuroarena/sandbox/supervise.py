"""A process for one guest: prepares its mounts, starts it, watches it, and ends it. Run as a script with settings.

It has one thread, so that the guest's death with its parent does not depend on a thread of the caller's: it can be
started from any process and any thread. It imports nothing but the standard library.

`SETTINGS` is JSON: ``parent`` (process to end with), ``report`` (descriptor for its own words), ``command``,
``groups`` (files to write the guest's process id into), ``rlimits``, ``mounts`` (see `_mount_all`), ``kept``
(descriptors that this process holds and the guest does not) and ``watch`` (what the kernel does not limit here:
``memory_mb``, ``processes``, ``inodes``).
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
import time
from typing import Any

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_CLONE_NEWNS = 0x00020000
_MS_RDONLY, MS_NOSUID, MS_NODEV, _MS_NOEXEC = 1, 2, 4, 8
_MS_REMOUNT, MS_BIND, MS_REC, _MS_PRIVATE = 32, 4096, 16384, 1 << 18
LOOK_S = 0.25
_LIBC = ctypes.CDLL(None, use_errno=True)


def main(settings: dict[str, Any]) -> int:
    """Do what the module describes, and return the guest's exit code; above 128 a signal."""
    parent = os.pidfd_open(settings["parent"])
    if os.getppid() != settings["parent"]:
        return 1
    _LIBC.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    report: int = settings["report"]
    if settings.get("mounts"):
        _mount_all(**settings["mounts"])
    pid = os.fork()
    if pid == 0:
        _become(settings)
    # Standard streams belong to the guest: whoever talks to it must see it end.
    for descriptor in (0, 1, 2):
        os.close(descriptor)
    status = _watch(pid, parent, settings.get("watch") or {}, report)
    end_tree(os.getpid())
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _become(settings: dict[str, Any]) -> None:
    """Join the groups, take on the limits, and become the command; never return."""
    try:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        for descriptor in settings.get("kept", []):
            os.close(descriptor)
        for file in settings.get("groups", []):
            with open(file, "w") as procs:
                procs.write(str(os.getpid()))
        # Where the machine runs out of memory, a guest goes first.
        with contextlib.suppress(OSError), open("/proc/self/oom_score_adj", "w") as score:
            score.write("1000")
        for name, most in settings.get("rlimits", {}).items():
            kind = getattr(resource, f"RLIMIT_{name}")
            hard = resource.getrlimit(kind)[1]
            number = most if hard == resource.RLIM_INFINITY else min(most, hard)
            resource.setrlimit(kind, (number, number))
        command = settings["command"]
        os.execvp(command[0], command)
    except OSError as error:
        os.write(settings["report"], f"setup: {error}\n".encode())
    os._exit(1)


def _mount_all(stage: str, binds: list[tuple[str, str]], memory: list[tuple[str, str]]) -> None:
    """Mount what the guest sees below `stage`, in a mount namespace that ends with this process.

    Parameters
    ----------
    stage : str
        An empty folder.
    binds : list of (source, name)
        Folders to read; whoever may read the folder itself can, wherever it lies.
    memory : list of (name, options)
        File systems in memory.
    """
    leave_mounts()
    mount("tmpfs", stage, "tmpfs", MS_NOSUID | MS_NODEV, "mode=755,size=1m,nr_inodes=200")
    for source, name in binds:
        place = os.path.join(stage, name)
        os.mkdir(place, 0o755)
        mount(source, place, None, MS_BIND)
        mount(None, place, None, MS_BIND | _MS_REMOUNT | _MS_RDONLY | MS_NOSUID | MS_NODEV)
    for name, options in memory:
        place = os.path.join(stage, name)
        os.mkdir(place, 0o755)
        mount("tmpfs", place, "tmpfs", MS_NOSUID | MS_NODEV, options)


def leave_mounts() -> None:
    """Detach the mounts of this process: what it mounts from now on is seen by its children alone."""
    call("unshare", _CLONE_NEWNS)
    mount(None, "/", None, MS_REC | _MS_PRIVATE)


def mount(source: str | None, place: str, kind: str | None, flags: int, options: str | None = None) -> None:
    """Mount a file system, or a folder at another place.

    Raises
    ------
    OSError
    """
    encoded = [None if each is None else each.encode() for each in (source, place, kind, options)]
    call("mount", encoded[0], encoded[1], encoded[2], ctypes.c_ulong(flags), encoded[3])


def call(name: str, *arguments: Any) -> None:
    """Call a function of the C library that returns 0 when all is well.

    Raises
    ------
    OSError
    """
    if getattr(_LIBC, name)(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


def _watch(pid: int, parent: int, watch: dict[str, float], report: int) -> int:
    """Wait for the guest, and end it with the parent or at a limit; return its status."""
    guest = os.pidfd_open(pid)
    poll = select.poll()
    for descriptor in (parent, guest):
        poll.register(descriptor, select.POLLIN)
    peak_mb = 0.0
    while True:
        ready = [descriptor for descriptor, _ in poll.poll(1000 * LOOK_S if watch else None)]
        if guest in ready or parent in ready:
            break
        below = list_descendants(os.getpid())
        # The line carries the verdict before anything is ended: whoever reads it must find it.
        if watch.get("memory_mb"):
            used = measure_memory_mb(below)
            # In few words: nobody reads them before the end.
            if used > 1.1 * peak_mb:
                peak_mb = used
                os.write(report, f"peak: {peak_mb:.1f}\n".encode())
            if used > watch["memory_mb"]:
                os.write(report, b"limit: memory\n")
                break
        if watch.get("processes") and count_threads(below) > watch["processes"]:
            os.write(report, b"limit: processes\n")
            break
        if watch.get("inodes") and any(count_inodes(each) > watch["inodes"] for each in below[-1:]):
            os.write(report, b"limit: output\n")
            break
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def end_tree(root: int, *, also_root: bool = False, patience_s: float = 5.0) -> None:
    """End every process below one, then, if asked, the process itself: where it adopts orphans, none escapes."""
    end = time.monotonic() + patience_s
    while (below := list_descendants(root)) and time.monotonic() < end:
        for pid in below:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(0.005)
    if also_root:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(root, signal.SIGKILL)


def list_descendants(root: int) -> list[int]:
    """List the processes below a process, parents before children; the process itself is not in the list."""
    children: dict[int, list[int]] = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{entry}/stat") as file:
                # The name stands in brackets and may hold anything; state and parent are the fields after it.
                state, parent = file.read().rpartition(")")[2].split()[:2]
                if state != "Z":
                    children.setdefault(int(parent), []).append(int(entry))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(0), [])
        found += below
        waiting += below
    return found


def measure_memory_mb(pids: list[int]) -> float:
    """Add up the memory of processes in MB, shared pages once where the kernel tells."""
    total = 0.0
    for pid in pids:
        for name, field in (("smaps_rollup", "Pss:"), ("status", "VmRSS:")):
            with contextlib.suppress(OSError, ValueError, IndexError), open(f"/proc/{pid}/{name}") as file:
                lines = [line.split() for line in file if line.startswith(field)]
                total += int(lines[0][1]) / 1024
                break
    return total


def count_threads(pids: list[int]) -> int:
    """Count the threads of processes; those that have ended count nothing."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += len(os.listdir(f"/proc/{pid}/task"))
    return total


def count_inodes(pid: int) -> int:
    """Count the files and folders in /tmp and /dev/shm as a process sees them."""
    total = 0
    for place in ("tmp", "dev/shm"):
        with contextlib.suppress(OSError):
            found = os.statvfs(os.path.join("/proc", str(pid), "root", place))
            total += found.f_files - found.f_ffree
    return total


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    try:
        sys.exit(main(given))
    except OSError as failure:
        os.write(given["report"], f"setup: {failure}\n".encode())
        sys.exit(1)
