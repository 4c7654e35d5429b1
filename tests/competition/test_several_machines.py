"""One database and two workers in network namespaces of their own; one is cut off and comes back."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select
from test_storm import ALWAYS_OPEN, assert_nothing_lost_or_doubled, count_states

from arena_making import join, make_arena, write_answers
from neuroarena.competition.arena import Arena
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import submit
from neuroarena.competition.store import make_engine, read_clock
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, TRANSITION
from ports import find_free_ports
from postgres import running_postgres

# Of this process: a run that was killed may have left its bridge.
NET = f"10.{200 + os.getpid() // 250 % 50}.{os.getpid() % 250}"
HOST, NETWORK = f"{NET}.1", f"{NET}.0/24"
PATIENCE_S = 400
WORKER = """
import datetime, sys
from neuroarena.competition.arena import open_arena
from neuroarena.competition.worker import work
work(open_arena(sys.argv[1]), ["intake", "scorer"], lease=datetime.timedelta(seconds=8), duties=False)
"""


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


class Machine:
    """A network namespace with a cable to the bridge."""

    def __init__(self, number: int) -> None:
        self.name, self.cable = f"arena-{os.getpid()}-{number}", f"na{os.getpid() % 100000}-{number}"
        self.bridge, self.address = f"nb{os.getpid() % 100000}", f"{NET}.{number + 10}"
        ip("netns", "add", self.name)
        ip("link", "add", self.cable, "type", "veth", "peer", "name", "eth0", "netns", self.name)
        ip("-n", self.name, "addr", "add", f"{self.address}/24", "dev", "eth0")
        ip("-n", self.name, "link", "set", "eth0", "up")
        ip("link", "set", self.cable, "up")
        self.plug_in()

    def plug_in(self) -> None:
        ip("link", "set", self.cable, "master", self.bridge)

    def cut_off(self) -> None:
        """Pull the cable: nothing arrives any longer, and nobody is told."""
        ip("link", "set", self.cable, "nomaster")

    def start_worker(self, arena: Arena) -> subprocess.Popen[bytes]:
        command = ["ip", "netns", "exec", self.name, sys.executable, "-c", WORKER, str(arena.folder)]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def remove(self) -> None:
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)
        subprocess.run(["ip", "link", "del", self.cable], check=False, capture_output=True)


@contextlib.contextmanager
def two_machines() -> Iterator[tuple[Machine, Machine]]:
    bridge = f"nb{os.getpid() % 100000}"
    machines: list[Machine] = []
    try:
        ip("link", "add", bridge, "type", "bridge")
        ip("addr", "add", f"{HOST}/24", "dev", bridge)
        ip("link", "set", bridge, "up")
        machines += [Machine(1), Machine(2)]
        yield machines[0], machines[1]
    finally:
        for machine in machines:
            machine.remove()
        subprocess.run(["ip", "link", "del", bridge], check=False, capture_output=True)


def count_statements_of(arena: Arena, machine: Machine) -> int:
    """Count what the database is doing for a machine."""
    with arena.store.reading() as connection:
        asked = "select count(*) from pg_stat_activity where state = 'active' and client_addr = '{}'"
        return int(connection.exec_driver_sql(asked.format(machine.address)).scalar_one())


def ended_by(arena: Arena, worker: subprocess.Popen[bytes]) -> int:
    """Count the runs that a worker scored; its process number is in its name."""
    with arena.store.reading() as connection:
        owners = connection.execute(select(TRANSITION.c.by).where(TRANSITION.c.state == "scored")).scalars()
        return sum(f"-{worker.pid}-" in owner for owner in owners)


def wait_for(what: str, seconds: float, held: object) -> None:
    assert callable(held)
    deadline = time.monotonic() + seconds
    while not held():
        assert time.monotonic() < deadline, f"{what}: not within {seconds} s"
        time.sleep(0.2)


def can_make_namespaces() -> bool:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return False
    name = f"try-{os.getpid()}"
    made = subprocess.run(["ip", "netns", "add", name], check=False, capture_output=True).returncode == 0
    subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)
    return made


@pytest.mark.drill
def test_a_machine_that_is_cut_off_and_comes_back_loses_and_doubles_nothing(tmp_path: Path):
    if not can_make_namespaces():
        pytest.skip("network namespaces need root and ip (Debian package iproute2)")
    (port,) = find_free_ports(1)
    with two_machines() as (one, other), running_postgres(HOST, port, NETWORK) as database:
        arena = make_arena(tmp_path, read_clock, ALWAYS_OPEN, database)
        tokens = [join(arena, f"team {number}") for number in range(4)]
        answers = write_answers(tmp_path / "good.parquet", wrong=2)

        def post(count: int) -> None:
            for number in range(count):
                submit(arena, tokens[number % len(tokens)], "commands", answers)

        def all_ended() -> bool:
            return set(count_states(arena)) <= {"scored"}

        workers = [one.start_worker(arena), other.start_worker(arena)]
        try:
            post(30)
            wait_for("both machines work", PATIENCE_S, lambda: all(ended_by(arena, each) for each in workers))
            one.cut_off()
            wait_for("what had arrived is done", PATIENCE_S, lambda: not count_statements_of(arena, one))
            before = ended_by(arena, workers[0])
            post(30)
            wait_for("the other machine does what is left", PATIENCE_S, all_ended)
            assert ended_by(arena, workers[0]) == before
            assert workers[0].poll() is None
            one.plug_in()
            workers[1].kill()
            workers[1].wait()
            post(10)
            wait_for("the machine that came back works again", PATIENCE_S, all_ended)
            assert ended_by(arena, workers[0]) > before
        finally:
            for each in workers:
                each.kill()
                each.wait()
        with arena.store.reading() as connection:
            assert len(connection.execute(select(RUN.c.id)).all()) == 70
            assert len(connection.execute(select(PUBLIC_SCORE.c.run)).all()) == 70
            verify_events(connection)
        assert_nothing_lost_or_doubled(arena)
        arena.store.close()


def test_a_database_drops_a_machine_that_is_silent_unless_its_address_says_otherwise():
    with running_postgres("127.0.0.1", *find_free_ports(1), "127.0.0.1/32") as address:
        for query, patience in (("", "25000"), ("?options=-c%20tcp_user_timeout%3D7000", "7000")):
            engine = make_engine(address + query)
            with engine.connect() as connection:
                assert connection.exec_driver_sql("show tcp_user_timeout").scalar_one() == patience
            engine.dispose()
