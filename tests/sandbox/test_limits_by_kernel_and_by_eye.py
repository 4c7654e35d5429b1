"""Limits where a control group can be written, where none can, and for an ordinary user."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import neuroarena
from neuroarena.competition import zone_launch
from neuroarena.sandbox import Limits, cgroups, run_isolated, syscalls
from neuroarena.sandbox.cgroups import Cgroup, Hierarchy, hierarchies
from neuroarena.sandbox.runtime import find_runtime

HUNGRY = "a = [b'1' * 10**6 for _ in range(900)]; import time; time.sleep(300)"
FORKING = """
import os, time
for _ in range(60):
    if os.fork() == 0:
        time.sleep(300)
        os._exit(0)
time.sleep(300)
"""
V1 = """\
tmpfs /sys/fs/cgroup tmpfs rw 0 0
cgroup /sys/fs/cgroup/memory cgroup rw,relatime,memory 0 0
cgroup /sys/fs/cgroup/pids cgroup rw,relatime,pids 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw,relatime 0 0
"""


@pytest.mark.parametrize(
    ("mounts", "own", "expected"),
    [
        (
            V1,
            "8:pids:/\n4:memory:/user/a\n0::/\n",
            {"memory": (1, "/sys/fs/cgroup/memory/user/a"), "pids": (1, "/sys/fs/cgroup/pids")},
        ),
        (
            "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n",
            "0::/user.slice/app.slice/x.scope\n",
            dict.fromkeys(("memory", "pids"), (2, "/sys/fs/cgroup/user.slice/app.slice/x.scope")),
        ),
        (
            "cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0\ncgroup /cg/mem cgroup rw,memory,cpu 0 0\n",
            "3:memory,cpu:/m\n0::/u\n",
            {"memory": (1, "/cg/mem/m"), "pids": (2, "/sys/fs/cgroup/unified/u")},
        ),
        ("proc /proc proc rw 0 0\n", "", {}),
    ],
    ids=["version 1", "version 2", "both", "none"],
)
def test_the_hierarchy_of_each_controller_is_found(mounts: str, own: str, expected: dict):
    found = {name: (at.version, str(at.own)) for name, at in hierarchies(mounts, own).items()}
    assert found == expected


def test_in_version_2_the_nearest_ancestor_that_hands_the_controller_on_is_asked(tmp_path: Path):
    scope = tmp_path / "user" / "app" / "x.scope"
    scope.mkdir(parents=True)
    for folder, hands_on in ((tmp_path, "cpu memory pids"), (tmp_path / "user", "memory pids"), (scope, "")):
        (folder / "cgroup.subtree_control").write_text(hands_on)
    (scope.parent / "cgroup.subtree_control").write_text("memory")
    at = Hierarchy(2, tmp_path, scope)
    assert cgroups._parents("memory", at)[0] == scope.parent
    assert cgroups._parents("pids", at)[0] == tmp_path / "user"
    assert cgroups._parents("io", at) == []


def test_groups_of_killed_makers_are_swept_and_own_ones_removed():
    group = Cgroup.create(Limits())
    if not group.folders:
        pytest.skip("no control group can be written here")
    parent = next(iter(group.folders.values())).parent
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        pass
    stale = parent / f"neuroarena-{ended.pid}-0"
    stale.mkdir()
    other = Cgroup.create(Limits())
    assert not stale.exists()
    assert all(folder.exists() for folder in group.folders.values()), "a living maker keeps its group"
    for each in (group, other):
        each.remove()
        assert not any(folder.exists() for folder in each.folders.values())


@pytest.mark.parametrize("isolation", ["bubblewrap", "none"])
@pytest.mark.parametrize(
    ("source", "limits", "status"),
    [
        (HUNGRY, Limits(memory_mb=200, seconds=120), "memory"),
        (FORKING, Limits(processes=20, seconds=120), "processes"),
        ("import time; time.sleep(0.6)", Limits(), "finished"),
    ],
    ids=["memory", "processes", "modest"],
)
def test_without_a_control_group_limits_are_held_by_looking_and_that_is_said(
    bwrap: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    source: str,
    limits: Limits,
    status: str,
    isolation: str,
):
    (tmp_path / "mounts").write_text("")
    monkeypatch.setattr(cgroups, "_MOUNTS", tmp_path / "mounts")
    outcome = run_isolated([sys.executable, "-I", "-c", source], limits=limits, isolation=isolation)
    if status in ("processes", "memory"):
        # Resource limits may hold before anything is seen: the fork or the allocation fails.
        assert outcome.status in (status, "failed")
        assert outcome.status == status or "Error" in outcome.stderr_tail
    else:
        assert outcome.status == status
    assert any("no control group can be written: memory and" in each for each in outcome.warnings)
    assert outcome.hard_limits is False


def test_the_filter_of_system_calls_compiles_where_it_can_be_had():
    descriptor, reason = syscalls.filter_file()
    if descriptor is None:
        assert reason is not None
        pytest.skip(reason)
    try:
        size = os.fstat(descriptor).st_size
        assert size > 0
        assert size % 8 == 0, "a filter is a list of eight-byte instructions"
    finally:
        os.close(descriptor)


def test_every_wall_holds_for_an_ordinary_user_too(bwrap: None):
    if os.geteuid():
        pytest.skip("the other tests run as an ordinary user already")
    find_runtime()
    source = Path(neuroarena.__file__).parents[1]
    settings = {
        "uid": 63501,
        "gid": 63501,
        "groups": [],
        "reachable": [sys.prefix, sys.base_prefix, str(source)],
        "cgroups": [],
        "environment": {"PATH": os.environ["PATH"], "HOME": "/tmp", "PYTHONDONTWRITEBYTECODE": "1"},
        "command": [sys.executable, "-m", "neuroarena", "admin", "selftest", "--json"],
    }
    command = [sys.executable, "-m", zone_launch.__name__, json.dumps(settings)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    assert ran.returncode == 0, ran.stdout + ran.stderr[-2000:]
    assert json.loads(ran.stdout)["holds"] is True
