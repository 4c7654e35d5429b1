"""The self-test: a hostile guest tries every wall before anybody's code is accepted."""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from neuroarena.errors import NeuroarenaError
from neuroarena.sandbox.backends import Backend, choose_backend
from neuroarena.sandbox.bubblewrap import ENVIRONMENT
from neuroarena.sandbox.child import Child
from neuroarena.sandbox.job import GUEST_FOLDER, Job, guest_command
from neuroarena.sandbox.limits import Limits
from neuroarena.sandbox.run import collect_isolated, run_isolated
from neuroarena.sandbox.uids import FIRST

EVERY_S = 6 * 3600
_LIMITS = Limits(memory_mb=300, seconds=60, output_mb=4, processes=24, inodes=400)
_MOST_BYTES = 8192


@dataclass(frozen=True)
class Probe:
    """One wall: its name, whether it held, and where it did not, what was seen."""

    name: str
    holds: bool
    seen: str = ""


class WallsOpen(NeuroarenaError):
    """A wall of the sandbox does not hold on this machine; no code is accepted."""


@dataclass(frozen=True)
class SelfTest:
    """The outcome of the self-test.

    Attributes
    ----------
    probes : tuple of Probe
    seconds : float
    """

    probes: tuple[Probe, ...]
    seconds: float

    @property
    def open(self) -> tuple[Probe, ...]:
        """The walls that did not hold."""
        return tuple(probe for probe in self.probes if not probe.holds)


def run_self_test(hidden: Sequence[Path] = (), backend: Backend | None = None) -> SelfTest:
    """Try every wall of the sandbox with a hostile guest, and return which held.

    Parameters
    ----------
    hidden : sequence of Path
        What must be invisible besides: a vault, the folder of a competition.
    backend : Backend, optional
        By default bubblewrap.

    Raises
    ------
    NeuroarenaError
        When nothing can be isolated here at all.
    """
    began = time.monotonic()
    chosen = backend or choose_backend(None)
    probes = [*_probe_inside(hidden, chosen)]
    for name, probe in _OUTSIDE.items():
        seen = probe(chosen)
        probes.append(Probe(name, seen is None, seen or ""))
    return SelfTest(tuple(probes), time.monotonic() - began)


_last: dict[str, float] = {}


def require_walls(hidden: Sequence[Path] = ()) -> SelfTest | None:
    """Run the self-test unless it passed within the last six hours in this process.

    Raises
    ------
    WallsOpen
        When a wall did not hold; the first is named.
    """
    if time.monotonic() - _last.get("passed", -EVERY_S) < EVERY_S:
        return None
    test = run_self_test(hidden)
    if test.open:
        first = test.open[0]
        raise WallsOpen(
            f'No code is accepted: the self-test of the sandbox found {len(test.open)} open, first "{first.name}" '
            f"({first.seen or 'it did not hold'}). See: neuroarena admin selftest"
        )
    _last["passed"] = time.monotonic()
    return test


def _probe_inside(hidden: Sequence[Path], backend: Backend) -> list[Probe]:
    from neuroarena.sandbox.guest.probes import PROBES

    name = f"neuroarena-{secrets.token_hex(6)}"
    with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind(f"\0{name}")
        abstract.listen()
        facts = {
            "port": server.getsockname()[1],
            "socket": name,
            "hidden": [str(path.resolve()) for path in hidden],
            "environment": list(ENVIRONMENT),
            "tmp_mb": _LIMITS.output_mb,
            "inodes": _LIMITS.inodes if os.geteuid() == 0 else None,
        }
        outcome, said = collect_isolated(
            guest_command(GUEST_FOLDER, "probes", [json.dumps(facts)]),
            _MOST_BYTES,
            limits=_LIMITS,
            backend=backend,
        )
    try:
        found = json.loads(said)
    except ValueError:
        found = {}
    reason = (
        "" if found else f"the guest said nothing ({outcome.status}: {outcome.stderr_tail.strip()[-200:]})"
    )
    return [Probe(name, found.get(name) is True, reason) for name in PROBES]


def _run(backend: Backend, source: str, limits: Limits = _LIMITS) -> tuple[str, str]:
    command = [sys.executable, "-I", "-S", "-c", textwrap.dedent(source)]
    outcome = run_isolated(command, limits=limits, backend=backend)
    return outcome.status, outcome.stderr_tail


def _is_somebody_else(backend: Backend) -> str | None:
    """Look at the guest from outside: it must not be root, and have no groups."""
    job = Job((sys.executable, "-I", "-S", "-c", "import time; time.sleep(20)"))
    with Child(job, _LIMITS, backend) as child:
        end = time.monotonic() + 10
        while time.monotonic() < end:
            for pid in child.list_pids():
                status = _read(f"/proc/{pid}/status")
                if "\nSeccomp:\t2\n" in status or (status and backend.name == "none"):
                    uid = os.stat(f"/proc/{pid}").st_uid
                    if os.geteuid() == 0 and uid < FIRST:
                        return f"it is user {uid} outside"
                    return None
            time.sleep(0.01)
    return "the guest was not seen with its filter"


def _stops_forks(backend: Backend) -> str | None:
    status, said = _run(
        backend,
        """
        import os, time
        made = 0
        try:
            while made < 300:
                if os.fork() == 0:
                    time.sleep(5)
                    os._exit(0)
                made += 1
        except OSError:
            pass
        print(made, flush=True)
        """,
    )
    return (
        None
        if status == "processes" or (said.strip().isdigit() and int(said) < 300)
        else f"{status}: {said[-80:]}"
    )


def _stops_memory(backend: Backend) -> str | None:
    source = "a = []\nwhile len(a) < 900: a.append(b'1' * 2**20)\nprint('took all')"
    status, said = _run(backend, source)
    return None if "took all" not in said and status in ("memory", "failed") else f"{status}: {said[-80:]}"


def _ends_with_its_runner(backend: Backend) -> str | None:
    """Kill a process that runs a guest, and see whether the guest is gone a second later."""
    mark = f"selftest-{secrets.token_hex(6)}"
    source = f"""
        import sys
        from neuroarena.sandbox import run_isolated
        sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", {mark!r}]
        run_isolated(sleep, isolation={backend.name!r})
    """
    with subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(source)], stderr=subprocess.DEVNULL
    ) as runner:
        end = time.monotonic() + 30
        while len(_marked(mark)) < 2 and runner.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        started = bool(_marked(mark))
        runner.kill()
    if not started:
        return "the guest did not start"
    end = time.monotonic() + 1
    while _marked(mark) and time.monotonic() < end:
        time.sleep(0.01)
    return f"{len(_marked(mark))} processes are left" if _marked(mark) else None


def _marked(mark: str) -> list[str]:
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit() and int(entry) != os.getpid():
            words = _read(f"/proc/{entry}/cmdline").split("\0")
            # The runner itself has the mark inside its program, not as a word of its own.
            if mark in words:
                found.append(entry)
    return found


def _read(path: str) -> str:
    try:
        return Path(path).read_text(errors="replace")
    except OSError:
        return ""


_OUTSIDE: dict[str, Callable[[Backend], str | None]] = {
    "it is not root outside": _is_somebody_else,
    "forks stop": _stops_forks,
    "memory stops": _stops_memory,
    "it is gone a second after its runner is killed": _ends_with_its_runner,
}
