"""Three zones under three users: who may open what of a competition, and how the zones are started."""

from __future__ import annotations

import json
import os
import pwd
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import neuroarena
from neuroarena.competition import zone_launch
from neuroarena.competition.arena import TRAINING, Arena, write_about
from neuroarena.competition.artifacts import LOG, UPLOADS
from neuroarena.competition.events import append_event
from neuroarena.errors import InputError
from neuroarena.sandbox.cgroups import delegate_groups

# All zones are in this group: it owns the store, tables of predictions and what is public.
SHARED_GROUP = 63000
# Intake and runner alone are in this one: it owns what teams upload.
UPLOAD_GROUP = 63004
SEPARATE, ONE_USER = "separate", "one user"


@dataclass(frozen=True)
class Zone:
    """A zone: its name, its user by name and by number where there is no such name, labels of its workers, groups."""

    name: str
    user: str
    number: int
    labels: tuple[str, ...]
    groups: tuple[int, ...]


ZONES = (
    Zone("intake", "na-intake", 63001, ("intake",), (SHARED_GROUP, UPLOAD_GROUP)),
    Zone("runner", "na-run", 63002, ("cpu",), (SHARED_GROUP, UPLOAD_GROUP)),
    Zone("scorer", "na-score", 63003, ("scorer",), (SHARED_GROUP,)),
)
_PRIVATE = {"vault": "scorer", "orders": "runner", "questions": "runner", TRAINING: "runner"}


def find_users() -> dict[str, int]:
    """Return the user number of each zone: that of the named user where there is one, else its own number."""
    found = {}
    for zone in ZONES:
        try:
            found[zone.name] = pwd.getpwnam(zone.user).pw_uid
        except KeyError:
            found[zone.name] = zone.number
    return found


def arrange(arena: Arena, users: dict[str, int]) -> None:
    """Assign every part of a competition's folder to the zone that needs it, and close it for the others.

    The vault belongs to the scorer alone; the key of the orders, the sealed signals and what replays read to the
    runner alone; uploads to intake and runner; store and tables of predictions to all three.

    Raises
    ------
    InputError
        When this is not root.
    """
    if os.geteuid() != 0:
        raise InputError("Only root can give the zones users of their own. Start the arena as root.")
    folder = arena.folder.resolve()
    uploads = arena.artifacts.folder / UPLOADS
    uploads.mkdir(parents=True, exist_ok=True)
    os.chown(folder, 0, SHARED_GROUP)
    folder.chmod(0o2770)
    for path in folder.iterdir():
        if path.name in _PRIVATE:
            owner = users[_PRIVATE[path.name]]
            _give(path, owner, owner, 0o700, 0o600)
            if path.name == TRAINING:
                open_training(path, owner)
        elif path.name == "artifacts":
            _give(path, users["intake"], SHARED_GROUP, 0o2770, 0o440)
        elif path.name.startswith("store."):
            _give(path, users["intake"], SHARED_GROUP, 0o2770, 0o660)
        else:
            _give(path, 0, SHARED_GROUP, 0o2750, 0o640)
    _give(uploads, users["intake"], UPLOAD_GROUP, 0o2770, 0o440)
    for log in uploads.rglob(f"*{LOG}"):
        _give(log, users["runner"], UPLOAD_GROUP, 0o2770, 0o400)


def open_training(folder: Path, owner: int) -> None:
    """Assign what replays read to the runner; guests, who have numbers of their own, read what is bound for them."""
    _give(folder, owner, owner, 0o755, 0o644)
    folder.chmod(0o700)


def start_arena(
    arena: Arena,
    *,
    stop: threading.Event | None = None,
    until_idle: bool = False,
    labels: Sequence[str] = ("cpu",),
    report: Callable[[str], None] | None = None,
) -> int:
    """Start intake, runner and scorer, each a process under its own user, and wait until they end.

    Parameters
    ----------
    arena : Arena
    stop : Event, optional
        Ends all of them, when set.
    until_idle : bool
        Whether all end when none of them has anything to do.
    labels : sequence of str
        What the runner takes.
    report : callable, optional
        Told what is done.

    Returns
    -------
    int
        0 when all ended well, else 1.
    """
    stop, say = stop or threading.Event(), report or (lambda _: None)
    users = find_users() if os.geteuid() == 0 else None
    if users is not None:
        arrange(arena, users)
    record_zones(arena, SEPARATE if users is not None else ONE_USER)
    running: dict[str, subprocess.Popen[bytes]] = {}
    taken = {zone: tuple(labels) if zone.name == "runner" else zone.labels for zone in ZONES}
    beside = [label for each in taken.values() for label in each] if until_idle else None
    try:
        for zone in ZONES:
            running[zone.name] = start_zone(arena, zone, taken[zone], users, beside)
            user = os.geteuid() if users is None else users[zone.name]
            say(f"{zone.name}: process {running[zone.name].pid}, user {user}")
        while any(process.poll() is None for process in running.values()):
            ended = [name for name, process in running.items() if process.poll() not in (None, 0)]
            if stop.is_set() or ended:
                break
            stop.wait(0.2)
    finally:
        for process in running.values():
            process.send_signal(signal.SIGTERM)
        codes = {name: process.wait() for name, process in running.items()}
    for name, code in codes.items():
        if code not in (0, -signal.SIGTERM):
            say(f"{name}: ended with code {code}")
    return int(any(code not in (0, -signal.SIGTERM) for code in codes.values()))


def start_zone(
    arena: Arena,
    zone: Zone,
    labels: Sequence[str],
    users: dict[str, int] | None,
    until_idle_beside: Sequence[str] | None,
) -> subprocess.Popen[bytes]:
    """Start the worker of a zone; with `users`, as its own user. It may end once all those labels are idle."""
    command = [sys.executable, "-m", "neuroarena", "worker", "--arena", str(arena.folder.resolve())]
    command += ["--labels", ",".join(labels)]
    if until_idle_beside is not None:
        command += ["--until-idle", "--beside", ",".join(until_idle_beside)]
    if users is None:
        return subprocess.Popen(command, start_new_session=True)
    uid = users[zone.name]
    source = Path(neuroarena.__file__).resolve().parents[1]
    own = [sys.prefix, sys.base_prefix, os.path.realpath(sys.base_prefix), str(source)]
    reachable = {*own, str(arena.folder.resolve())}
    settings = {
        "uid": uid,
        "gid": uid,
        "groups": list(zone.groups),
        "reachable": sorted(reachable),
        "cgroups": delegate_groups(f"zone-{zone.name}", uid) if zone.name == "runner" else [],
        "environment": {
            "PATH": os.environ.get("PATH", os.defpath),
            "HOME": "/nonexistent",
            "LANG": "C.UTF-8",
            "PYTHONDONTWRITEBYTECODE": "1",
            **{name: os.environ[name] for name in ("NEUROARENA_RUNTIMES",) if name in os.environ},
            **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
        },
        "command": command,
    }
    launch = [sys.executable, "-m", zone_launch.__name__, json.dumps(settings)]
    return subprocess.Popen(launch, start_new_session=True, cwd="/")


def record_zones(arena: Arena, zones: str) -> None:
    """Write into the store whether the zones have users of their own."""
    with arena.store.writing() as connection:
        write_about(connection, "zones", zones)
        now = arena.store.clock(connection)
        append_event(connection, now, "organiser", "zones", arena.competition.name, {"zones": zones})


def _give(path: Path, uid: int, gid: int, folder_mode: int, file_mode: int) -> None:
    for each in (path, *(path.rglob("*") if path.is_dir() else ())):
        if each.is_symlink():
            continue
        shutil.chown(each, uid, gid)
        each.chmod(folder_mode if each.is_dir() else file_mode)
