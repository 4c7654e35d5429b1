"""The command line of bubblewrap: separate namespaces, a separate root, no privileges, only /tmp writable."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from neuroarena.sandbox.job import GUEST_FOLDER, Job, translate_path
from neuroarena.sandbox.limits import Limits

_NOBODY = "65534"
_MB = 2**20
_INSIDE_GUEST = Path("/guest/neuroarena/sandbox/guest")
_SYSTEM_LINKS = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
# The loader's cache and the links to the numerical libraries; nothing that names a user or a host.
_SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
_NAMESPACES = (
    "--unshare-all",
    "--unshare-user",
    "--uid",
    _NOBODY,
    "--gid",
    _NOBODY,
    "--disable-userns",
    "--cap-drop",
    "ALL",
    "--new-session",
    "--die-with-parent",
    "--clearenv",
    "--hostname",
    "sandbox",
)
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "LANG": "C.UTF-8",
    "USER": "nobody",
    "LOGNAME": "nobody",
    "PYTHONHASHSEED": "0",
    # One thread per run: the number of cores must not change any result, and threads count as processes.
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
}


@functools.cache
def unavailable() -> str | None:
    """Return why bubblewrap cannot be used here, or None when it can; it is tried once, by running it.

    Examples
    --------
    >>> unavailable() is None or "bubblewrap" in unavailable()
    True
    """
    if shutil.which("bwrap") is None:
        return "bubblewrap is not installed (program bwrap)"
    # In a separate folder, so that nothing of the caller's matters.
    with tempfile.TemporaryDirectory() as folder:
        command = arguments(Job((sys.executable, "-I", "-S", "-c", "")), Limits())
        try:
            ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60, cwd=folder)
        except subprocess.TimeoutExpired:
            return "bubblewrap did not finish within a minute"
    if ran.returncode:
        said = (ran.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"bubblewrap cannot run here ({said})"
    return None


def places(job: Job) -> dict[Path, Path]:
    """Map each folder of the host to its place inside the sandbox."""
    inside = {folder: Path("/input") / name for name, folder in job.inputs.items()}
    inside[GUEST_FOLDER] = _INSIDE_GUEST
    if job.output is not None:
        inside[job.output] = Path("/output")
    return inside


def arguments(job: Job, limits: Limits, seccomp: int | None = None, lifeline: int | None = None) -> list[str]:
    """Build the whole command line.

    Parameters
    ----------
    job : Job
        What to run.
    limits : Limits
        Its `output_mb` is the size of /tmp, its `processes` is set as a resource limit inside.
    seccomp : int or None
        Descriptor of a compiled filter.
    lifeline : int or None
        Descriptor of a pipe that ends when the starter does; see `neuroarena.sandbox.guest.launch`.
    """
    inside = places(job)
    line = [shutil.which("bwrap") or "bwrap", *_NAMESPACES, *_root(limits), *_readable(job)]
    line += ["--ro-bind", str(GUEST_FOLDER), str(_INSIDE_GUEST)]
    for folder in job.inputs.values():
        line += ["--ro-bind", str(folder.resolve()), str(inside[folder])]
    if job.output is not None:
        line += ["--bind", str(job.output.resolve()), "/output"]
    # Last, since mount points are made on it: the root is a file system in memory that could be filled.
    line += ["--remount-ro", "/"]
    for name, value in {**ENVIRONMENT, "HOME": "/tmp", "TMPDIR": "/tmp"}.items():
        line += ["--setenv", name, value]
    line += ["--chdir", "/output" if job.output is not None else "/tmp"]
    if seccomp is not None:
        line += ["--seccomp", str(seccomp)]
    # Inside its own user namespace, the limit counts only the processes of this run.
    settings = json.dumps({"rlimits": {"NPROC": limits.processes}, "lifeline": lifeline})
    launch = [sys.executable, "-I", "-S", "-B", str(_INSIDE_GUEST / "launch.py"), settings]
    return [*line, "--", *launch, *(translate_path(part, inside) for part in job.command)]


def _root(limits: Limits) -> list[str]:
    size = str(limits.output_mb * _MB)
    line = ["--ro-bind", "/usr", "/usr"]
    for link in _SYSTEM_LINKS:
        if os.path.islink(link):
            line += ["--symlink", os.readlink(link), link]
        elif os.path.isdir(link):
            line += ["--ro-bind", link, link]
    for file in _SYSTEM_FILES:
        line += ["--ro-bind-try", file, file]
    line += [
        "--dev",
        "/dev",
        "--size",
        size,
        "--tmpfs",
        "/dev/shm",
        "--remount-ro",
        "/dev",
        "--proc",
        "/proc",
    ]
    return [*line, "--size", size, "--tmpfs", "/tmp"]


def _readable(job: Job) -> list[str]:
    line: list[str] = []
    prefixes = interpreter_folders()
    for folder in prefixes:
        line += ["--ro-bind", str(folder), str(folder)]
    for hidden in job.hidden:
        path = hidden.resolve()
        if any(path.is_relative_to(folder) for folder in (Path("/usr"), *prefixes)):
            line += ["--tmpfs", str(path)] if path.is_dir() else ["--ro-bind", "/dev/null", str(path)]
    return line


def interpreter_folders() -> list[Path]:
    """List the folders this interpreter and its libraries live in, outside /usr, outermost only."""
    program = Path(os.path.realpath(sys.executable)).parent.parent
    found = {Path(sys.prefix), Path(sys.base_prefix), Path(sys.base_prefix).resolve(), program}
    outside = sorted(folder for folder in found if not folder.is_relative_to("/usr"))
    return [
        folder
        for folder in outside
        if not any(folder != other and folder.is_relative_to(other) for other in outside)
    ]


def environment(scratch: Path) -> Mapping[str, str]:
    """Return the environment of a plain child process, whose home is a separate folder."""
    return {**ENVIRONMENT, "HOME": str(scratch), "TMPDIR": str(scratch)}
