"""Control groups of Linux, versions 1 and 2: a hard limit on memory and processes where one is available."""

from __future__ import annotations

import contextlib
import os
import signal
import time
import uuid
from dataclasses import dataclass
from pathlib import Path

from neuroarena.sandbox.limits import Limits

CONTROLLERS = ("memory", "pids")
_MOUNTS = Path("/proc/mounts")
_OWN = Path("/proc/self/cgroup")
_MB = 2**20
_NAME = "neuroarena-"


@dataclass(frozen=True)
class Hierarchy:
    """Where a controller's groups live.

    Attributes
    ----------
    version : int
        1 or 2.
    mount : Path
        Where the hierarchy is mounted.
    own : Path
        Folder of the group this process is in.
    """

    version: int
    mount: Path
    own: Path


def hierarchies(mounts: str, own: str) -> dict[str, Hierarchy]:
    """Find the hierarchy of each controller from what the kernel says about this process.

    Parameters
    ----------
    mounts : str
        Content of /proc/mounts.
    own : str
        Content of /proc/self/cgroup.

    Examples
    --------
    >>> found = hierarchies("cgroup2 /sys/fs/cgroup cgroup2 rw 0 0", "0::/user.slice/a.scope")
    >>> found["memory"].version, str(found["memory"].own)
    (2, '/sys/fs/cgroup/user.slice/a.scope')
    """
    groups: dict[str, str] = {}
    for line in own.splitlines():
        _, names, path = line.split(":", 2)
        groups.update(dict.fromkeys(names.split(","), path.lstrip("/")))
    found: dict[str, Hierarchy] = {}
    for line in mounts.splitlines():
        _, folder, kind, options, *_ = line.split()
        mount = Path(folder.replace("\\040", " "))
        if kind == "cgroup2":
            for name in CONTROLLERS:
                found.setdefault(name, Hierarchy(2, mount, mount / groups.get("", "")))
        elif kind == "cgroup":
            for name in set(CONTROLLERS) & set(options.split(",")):
                # A controller bound to version 1 is not available from version 2, whichever comes first.
                found[name] = Hierarchy(1, mount, mount / groups.get(name, ""))
    return found


class Cgroup:
    """A group made for one run, below or beside the group of this process: never outside its limits.

    Attributes
    ----------
    folders : dict
        Controller -> folder of the group, for every controller that is available.
    """

    def __init__(self, folders: dict[str, Path]) -> None:
        self.folders = folders

    @classmethod
    def create(cls, limits: Limits) -> Cgroup:
        """Make a group with the limits; controllers that cannot be written are left out.

        Examples
        --------
        >>> group = Cgroup.create(Limits())
        >>> set(group.folders) <= {"memory", "pids"}
        True
        >>> group.remove()
        """
        name = f"{_NAME}{os.getpid()}-{uuid.uuid4().hex[:12]}"
        try:
            found = hierarchies(_MOUNTS.read_text(), _OWN.read_text())
        except OSError:
            return cls({})
        folders: dict[str, Path] = {}
        for controller, hierarchy in found.items():
            folder = _make(controller, hierarchy, name, limits)
            if folder is not None:
                folders[controller] = folder
        return cls(folders)

    @property
    def procs_files(self) -> list[str]:
        """Files into which a process writes its id in order to join."""
        return sorted({str(folder / "cgroup.procs") for folder in self.folders.values()})

    def peak_memory_mb(self) -> float | None:
        """Return the peak memory of the group in MB, where the kernel records it."""
        if "memory" in self.folders:
            for name in ("memory.peak", "memory.max_usage_in_bytes"):
                with contextlib.suppress(OSError, ValueError):
                    return int((self.folders["memory"] / name).read_text()) / _MB
        return None

    def out_of_memory(self) -> bool:
        """Return whether the kernel killed a process of the group because memory ran out."""
        if "memory" in self.folders:
            for name in ("memory.events", "memory.oom_control"):
                with contextlib.suppress(OSError, ValueError):
                    lines = (self.folders["memory"] / name).read_text().splitlines()
                    return dict(line.split() for line in lines).get("oom_kill", "0") != "0"
        return False

    def kill(self) -> None:
        """End every process of the group."""
        for path in self.procs_files:
            with contextlib.suppress(OSError, ValueError):
                for pid in Path(path).read_text().split():
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(int(pid), signal.SIGKILL)

    def remove(self, patience_s: float = 5.0) -> None:
        """End what is left and remove the group; the kernel needs a moment to let go of the dead."""
        deadline = time.monotonic() + patience_s
        for folder in set(self.folders.values()):
            while folder.exists():
                self.kill()
                try:
                    folder.rmdir()
                except OSError:
                    if time.monotonic() > deadline:
                        return
                    time.sleep(0.01)


def _make(controller: str, hierarchy: Hierarchy, name: str, limits: Limits) -> Path | None:
    for parent in _parents(controller, hierarchy):
        _sweep(parent)
        folder = parent / name
        try:
            folder.mkdir(exist_ok=True)
            _write_limits(controller, hierarchy.version, folder, limits)
        except OSError:
            with contextlib.suppress(OSError):
                folder.rmdir()
            continue
        if os.access(folder / "cgroup.procs", os.W_OK):
            return folder
        with contextlib.suppress(OSError):
            folder.rmdir()
    return None


def _sweep(parent: Path) -> None:
    """Remove empty groups whose maker was killed before it could."""
    for old in parent.glob(f"{_NAME}*"):
        maker = old.name.removeprefix(_NAME).partition("-")[0]
        if maker.isdigit() and not Path("/proc", maker).exists():
            with contextlib.suppress(OSError):
                old.rmdir()


def _parents(controller: str, hierarchy: Hierarchy) -> list[Path]:
    if hierarchy.version == 1:
        return [hierarchy.own]
    # Version 2 gives a controller only to children of groups without processes of their own, so the nearest
    # ancestor that hands it on is asked: on a desktop that is the slice delegated to the user.
    chain = [hierarchy.own, *hierarchy.own.parents]
    chain = chain[: chain.index(hierarchy.mount) + 1] if hierarchy.mount in chain else chain[:1]
    handing_on = []
    for folder in chain:
        with contextlib.suppress(OSError):
            if controller in (folder / "cgroup.subtree_control").read_text().split():
                handing_on.append(folder)
    return handing_on[:2]


def _write_limits(controller: str, version: int, folder: Path, limits: Limits) -> None:
    if controller == "pids":
        (folder / "pids.max").write_text(str(limits.processes))
        return
    number = str(limits.memory_mb * _MB)
    (folder / ("memory.max" if version == 2 else "memory.limit_in_bytes")).write_text(number)
    # Without this a run would go on in swap, slowly; kernels without swap accounting have no such file.
    swap, most = ("memory.swap.max", "0") if version == 2 else ("memory.memsw.limit_in_bytes", number)
    with contextlib.suppress(OSError):
        (folder / swap).write_text(most)


def can_limit() -> bool:
    """Return whether the kernel can enforce limits on memory and processes here."""
    group = Cgroup.create(Limits())
    try:
        return set(group.folders) == set(CONTROLLERS)
    finally:
        group.remove()


def delegate_groups(name: str, uid: int) -> list[str]:
    """Make a group below this process's own that a user may divide further, and return the files to join it by.

    Only root can; where no control group can be written, the list is empty and the user has soft limits.
    """
    try:
        found = hierarchies(_MOUNTS.read_text(), _OWN.read_text())
    except OSError:
        return []
    files = set()
    for controller, hierarchy in found.items():
        for parent in _parents(controller, hierarchy):
            folder = parent / f"{_NAME}{name}"
            try:
                folder.mkdir(exist_ok=True)
                for given in (
                    folder,
                    *(folder / each for each in ("cgroup.procs", "tasks", "cgroup.subtree_control")),
                ):
                    if given.exists():
                        os.chown(given, uid, uid)
                files.add(str(_inner_group(folder, hierarchy.version, uid) / "cgroup.procs"))
            except OSError:
                continue
            break
    return sorted(files)


def _inner_group(folder: Path, version: int, uid: int) -> Path:
    """Return the group that a process joins; in version 2 one below, because a group that is divided holds none."""
    if version == 1:
        return folder
    (folder / "cgroup.subtree_control").write_text("+memory +pids")
    inner = folder / "own"
    inner.mkdir(exist_ok=True)
    for given in (inner, inner / "cgroup.procs"):
        os.chown(given, uid, uid)
    return inner
