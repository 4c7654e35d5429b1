"""Bubblewrap as a backend: namespaces of its own, a root with a runtime and nothing else, no privileges.

Root first becomes somebody who owns nothing (a number of the pool), and mounts what the guest may see, and its sized
file systems in memory, in a mount namespace of the supervising process; an ordinary user starts bubblewrap directly.
"""

from __future__ import annotations

import functools
import os
import re
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox.backends import Launch
from neuroarena.sandbox.job import GUEST_FOLDER, Job, translate_path, wrap_command
from neuroarena.sandbox.limits import Isolation, Limits
from neuroarena.sandbox.runtime import INSIDE, PYTHON, find_runtime
from neuroarena.sandbox.syscalls import filter_file
from neuroarena.sandbox.uids import take_uid

_NOBODY = "65534"
_MB = 2**20
# Where root mounts what a guest sees; each supervising process has mounts of its own there.
_STAGE = Path("/run/neuroarena/stage")
_INSIDE_GUEST = Path("/guest")
_SYSTEM_LINKS = ("/lib", "/lib32", "/lib64", "/libx32")
_NAMESPACES = (
    *("--unshare-all", "--unshare-user", "--uid", _NOBODY, "--gid", _NOBODY),
    *("--disable-userns", "--assert-userns-disabled", "--cap-drop", "ALL", "--new-session"),
    *("--die-with-parent", "--clearenv", "--hostname", "sandbox"),
)
_NO_PRIVILEGES = ("--clear-groups", "--no-new-privs", "--inh-caps=-all", "--bounding-set=-all")
# Settings of the kernel, closed for writing; and its memory and keys, closed for reading.
_KERNEL_FOLDERS = ("/proc/sys", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/sysrq-trigger")
_KERNEL_SECRETS = ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/kallsyms")
ENVIRONMENT = {
    "PATH": str(INSIDE / "bin"),
    "LD_LIBRARY_PATH": str(INSIDE / "lib"),
    "LANG": "C.UTF-8",
    "USER": "nobody",
    "LOGNAME": "nobody",
    "HOME": "/tmp",
    "TMPDIR": "/tmp",
    "PYTHONHASHSEED": "0",
    # One thread per run: the number of cores must not change any result, and threads count as processes.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


class Bubblewrap:
    """Separate namespaces and root, no privileges, a filter of system calls; only /tmp and /dev/shm writable."""

    name: Isolation = "bubblewrap"

    def find_obstacle(self) -> str | None:
        """Return why it cannot be used here, or None when it can; it is tried once by running it.

        Examples
        --------
        >>> reason = Bubblewrap().find_obstacle()
        >>> reason is None or len(reason) > 10
        True
        """
        return _find_obstacle(os.environ.get("PATH", ""))

    def prepare(self, job: Job, limits: Limits, report: int) -> Launch:
        """Return how to start a job in bubblewrap.

        Raises
        ------
        NeuroarenaError
            When the filter of system calls or the runtime cannot be made.
        """
        runtime = find_runtime()
        folders = {"runtime": runtime.folder, "guest": GUEST_FOLDER}
        folders |= {f"input-{name}": folder.resolve() for name, folder in job.inputs.items()}
        there, lifeline = os.pipe()
        launch = Launch([], descriptors=[there, report], kept=[lifeline], runtime=runtime.digest)
        filtered, reason = filter_file()
        if filtered is None:
            raise NeuroarenaError(f"Submitted code is not run: {reason}. Nothing was run.")
        launch.descriptors.append(filtered)
        if os.geteuid() == 0:
            uid, lock = take_uid()
            launch.kept.append(lock)
            launch.mounts = _stage(folders, limits, uid)
            folders = {name: _STAGE / name for name in folders}
            memory = ["--bind", str(_STAGE / "tmp"), "/tmp", "--bind", str(_STAGE / "shm"), "/dev/shm"]
            become = [_find("setpriv"), f"--reuid={uid}", f"--regid={uid}", *_NO_PRIVILEGES, "--"]
        else:
            size = str(limits.output_mb * _MB)
            memory = ["--size", size, "--tmpfs", "/tmp", "--size", size, "--tmpfs", "/dev/shm"]
            become = []
            # Its size counts bytes alone: folders are free, and must be looked for.
            launch.watched = frozenset({"inodes"})
        launch.command = [*become, _find("bwrap"), *_NAMESPACES, *_root(folders, memory)]
        launch.command += ["--seccomp", str(filtered), "--chdir", "/tmp", "--"]
        launch.command += _inner_command(job, limits, report, there)
        return launch


def _inner_command(job: Job, limits: Limits, hello: int, lifeline: int) -> list[str]:
    inside = {folder: Path("/input") / name for name, folder in job.inputs.items()}
    inside[GUEST_FOLDER] = _INSIDE_GUEST
    command = [translate_path(part, inside) for part in job.command]
    if command and command[0] == sys.executable:
        command[0] = str(PYTHON)
    # Inside its own user namespace, the limit counts only the processes of this run.
    rlimits = {"NPROC": limits.processes}
    return wrap_command(command, hello, lifeline, rlimits=rlimits, python=str(PYTHON), guest=_INSIDE_GUEST)


def _stage(folders: dict[str, Path], limits: Limits, uid: int) -> dict[str, object]:
    """Return what the supervising process mounts: folders that the guest's user could not reach, and its memory.

    Raises
    ------
    NeuroarenaError
        When the guest's user may not read a folder even where it is mounted.
    """
    for folder in folders.values():
        if folder.stat().st_mode & 0o005 != 0o005:
            raise NeuroarenaError(
                f"{folder}: the guest is another user and cannot read this folder. Nothing was run. Make the folder "
                "itself readable by others (chmod o+rx); those above it may stay private."
            )
    _STAGE.mkdir(parents=True, exist_ok=True, mode=0o755)
    own = f"size={limits.output_mb}m,nr_inodes={limits.inodes},uid={uid},gid={uid},mode=0700"
    return {
        "stage": str(_STAGE),
        "binds": [(str(folder), name) for name, folder in folders.items()],
        "memory": [("tmp", own), ("shm", own)],
    }


def _root(folders: dict[str, Path], memory: list[str]) -> list[str]:
    line = ["--ro-bind", str(folders["runtime"]), str(INSIDE)]
    for place in (*_library_folders(), *_loaders()):
        line += ["--ro-bind", place, place]
    for link in _SYSTEM_LINKS:
        if os.path.islink(link):
            line += ["--symlink", os.readlink(link), link]
    line += ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    line += ["--dev", "/dev", "--proc", "/proc"]
    for place in _KERNEL_FOLDERS:
        line += ["--ro-bind-try", place, place]
    for place in _KERNEL_SECRETS:
        if os.path.exists(place):
            line += ["--ro-bind", "/dev/null", place]
    line += [*memory, "--remount-ro", "/dev"]
    line += ["--ro-bind", str(folders["guest"]), str(_INSIDE_GUEST)]
    for name, folder in folders.items():
        if name.startswith("input-"):
            line += ["--ro-bind", str(folder), f"/input/{name.removeprefix('input-')}"]
    # Last, since mount points are made on it: the root is a file system in memory that could be filled.
    line += ["--remount-ro", "/"]
    for name, value in ENVIRONMENT.items():
        line += ["--setenv", name, value]
    return line


@functools.cache
def _library_folders() -> tuple[str, ...]:
    """Return the folder of the C library and of what else the interpreter links to, without links."""
    found = {os.path.dirname(path) for path in _mapped(r"lib(c|m|dl|pthread)[.-].*so.*")}
    return tuple(sorted(folder for folder in found if folder.startswith(("/usr/lib", "/lib"))))


@functools.cache
def _loaders() -> tuple[str, ...]:
    """Return the dynamic loader where the interpreter names it, unless that is a link into a bound folder."""
    real = next(_mapped(r"ld-.*so.*|ld\.so.*"), None)
    named = [f"/lib64/{os.path.basename(real)}", f"/lib/{os.path.basename(real)}"] if real else []
    linked = [place for place in named if os.path.exists(place)]
    reachable = [place for place in linked if not os.path.islink(os.path.dirname(place))]
    beyond = [
        os.path.join(os.path.realpath(os.path.dirname(place)), os.path.basename(place)) for place in linked
    ]
    return tuple(dict.fromkeys(reachable + [p for p in beyond if not p.startswith(_library_folders())]))


def _mapped(pattern: str) -> Iterator[str]:
    """Yield the libraries of this process whose names match."""
    with open("/proc/self/maps") as file:
        paths = dict.fromkeys(line.split(maxsplit=5)[5].strip() for line in file if line.count("/") > 1)
    for path in paths:
        if re.fullmatch(pattern, os.path.basename(path)):
            yield path


def _find(program: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise NeuroarenaError(f"The program {program} is not on the PATH. Nothing was run.")
    return found


@functools.lru_cache(maxsize=8)
def _find_obstacle(path: str) -> str | None:
    """Return why bubblewrap cannot be used with this search path."""
    from neuroarena.sandbox.run import run_isolated

    for program in ("bwrap", "setpriv") if os.geteuid() == 0 else ("bwrap",):
        if shutil.which(program, path=path) is None:
            package = {"bwrap": "bubblewrap", "setpriv": "util-linux"}[program]
            return f"{package} is not installed (program {program})"
    descriptor, reason = filter_file()
    if descriptor is None:
        return str(reason)
    os.close(descriptor)
    tried = [sys.executable, "-I", "-S", "-c", "import sys, os; print(sys.prefix, os.__file__)"]
    ran = run_isolated(tried, limits=Limits(seconds=60), backend=Bubblewrap())
    if ran.status != "finished":
        said = (ran.stderr_tail.strip().splitlines() or ["no reason given"])[-1]
        return f"bubblewrap cannot run here ({said})"
    prefix, _, library = ran.stderr_tail.strip().partition(" ")
    if prefix != str(INSIDE) or not library.startswith(f"{INSIDE}/"):
        return f"the interpreter inside does not use its own library ({ran.stderr_tail.strip()})"
    return None
