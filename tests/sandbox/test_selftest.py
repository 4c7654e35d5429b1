"""The self-test stands before any code is accepted: every wall holds here, and each one that is removed is noticed."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from neuroarena.cli.app import app
from neuroarena.sandbox import selftest
from neuroarena.sandbox.backends import Launch
from neuroarena.sandbox.bubblewrap import Bubblewrap
from neuroarena.sandbox.job import Job
from neuroarena.sandbox.limits import Limits
from neuroarena.sandbox.selftest import WallsOpen, require_walls, run_self_test


def test_every_wall_holds_on_this_machine_and_the_command_says_so(bwrap: None):
    ran = CliRunner().invoke(app, ["admin", "selftest", "--json"])
    assert ran.exit_code == 0, ran.stdout
    said = json.loads(ran.stdout)
    assert said["holds"] is True
    assert len(said["probes"]) >= 25
    assert len(said["runtime"]) == 64


def drop(*words: str) -> Callable[[list[str]], list[str]]:
    """Return a change of bubblewrap's command line that leaves these words out, wherever they follow each other."""

    def change(command: list[str]) -> list[str]:
        for place in range(len(command)):
            if tuple(command[place : place + len(words)]) == words:
                return command[:place] + command[place + len(words) :]
        raise AssertionError(words)

    return change


def add(*words: str) -> Callable[[list[str]], list[str]]:
    """Return a change that adds words before the last of the mounts."""

    def change(command: list[str]) -> list[str]:
        last = len(command) - command[::-1].index("--remount-ro") - 1
        return [*command[:last], *words, *command[last:]]

    return change


def without_value(option: str) -> Callable[[list[str]], list[str]]:
    return lambda command: command[: (at := command.index(option))] + command[at + 2 :]


def share(namespace: str) -> Callable[[list[str]], list[str]]:
    """Return a change that shares one namespace with the host."""
    every = ("user", "pid", "net", "ipc", "uts", "cgroup")
    own = [f"--unshare-{name}" for name in every if name != namespace]
    return lambda command: [word for each in command for word in (own if each == "--unshare-all" else [each])]


class Weakened(Bubblewrap):
    """Bubblewrap with one wall removed."""

    def __init__(self, change: Callable[[list[str]], list[str]]) -> None:
        self.change = change

    def prepare(self, job: Job, limits: Limits, report: int) -> Launch:
        launch = super().prepare(job, limits, report)
        launch.command = self.change(launch.command)
        return launch


REMOVED = {
    "a filter": (without_value("--seccomp"), "its system calls are filtered"),
    "own network": (share("net"), "its network is its own loopback"),
    "own processes": (share("pid"), "it sees its own processes alone"),
    "a read-only root": (drop("--remount-ro", "/"), "only /tmp and /dev/shm can be written"),
    "a clean environment": (add("--setenv", "SECRET", "1"), "it has the given environment alone"),
    "nothing of the host": (
        add("--ro-bind", "/etc", "/etc"),
        "vault, homes, accounts and other slots are invisible",
    ),
    "listed names": (add("--dir", "/planted"), "only listed names are at the root"),
    "nobody's number": (drop("--uid", "65534"), "it is nobody inside, without groups"),
    "plain devices": (
        add("--dev-bind", "/dev/kmsg", "/dev/kmsg"),
        "settings and memory of the kernel are closed",
    ),
    "a sized /tmp": (add("--tmpfs", "/tmp"), "/tmp and /dev/shm are sized, also for files without a name"),
    "the runtime": (
        add("--ro-bind", "/usr/bin", "/usr/bin"),
        "vault, homes, accounts and other slots are invisible",
    ),
}


@pytest.mark.drill
@pytest.mark.parametrize("removed", list(REMOVED))
def test_a_wall_that_is_removed_is_noticed_by_its_probe(bwrap: None, removed: str):
    change, probe = REMOVED[removed]
    opened = {each.name for each in run_self_test(backend=Weakened(change)).open}
    assert probe in opened


@pytest.mark.drill
def test_a_plain_process_fails_nearly_every_probe():
    from neuroarena.sandbox.backends import Bare

    test = run_self_test(backend=Bare())
    assert len(test.open) > len(test.probes) / 2


def test_no_code_is_accepted_while_a_wall_is_open(monkeypatch: pytest.MonkeyPatch):
    made = selftest.SelfTest((selftest.Probe("forks stop", False, "300 made"),), 1.0)
    monkeypatch.setattr(selftest, "run_self_test", lambda hidden: made)
    monkeypatch.setattr(selftest, "_last", {})
    with pytest.raises(WallsOpen, match=r'No code is accepted.*"forks stop" \(300 made\)'):
        require_walls()
