"""How packs travel through Dask: a few at a time, released once read, tried again, and opened by workers alone."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation import evaluate
from neuroarena.evaluation.engines import Engine, Outcome, make_engine
from neuroarena.evaluation.engines.dask import Dask
from ports import find_free_ports
from toy import GATE, Mean, Slow, describe_gate, open_gate, toy_benchmark, wait_for_cells


@dataclass(frozen=True)
class Patient:
    """A job that waits for a file; for ten minutes at most."""

    signal: Path
    label, key = "patient", "0" * 64

    def is_done(self, cache: Path) -> bool:
        return False

    def run(self, cache: Path) -> None:
        assert wait_until(self.signal.exists)


def wait_until(holds: Callable[[], bool]) -> bool:
    """Wait until something holds, for ten minutes at most, and return whether it does."""
    for _ in range(12_000):
        if holds():
            return True
        time.sleep(0.05)
    return False


@contextlib.contextmanager
def running_dask(threads: int = 1) -> Iterator[tuple[Engine, Tasks]]:
    """Start a scheduler and a worker in this process; yield an engine that uses them, and what the scheduler had."""
    from distributed import LocalCluster

    asked = {"n_workers": 1, "threads_per_worker": threads, "processes": False, "dashboard_address": None}
    with LocalCluster(**asked) as cluster:
        tasks = Tasks(cluster)
        cluster.scheduler.add_plugin(tasks, name="tasks")
        yield make_engine("dask", scheduler=cluster.scheduler_address, pack=1), tasks


class Tasks:
    """A plugin of the scheduler that counts the tasks it has, with those whose results wait to be read or released."""

    def __init__(self, cluster) -> None:
        from distributed.diagnostics.plugin import SchedulerPlugin

        self.__class__ = type("Tasks", (Tasks, SchedulerPlugin), {})
        self.cluster, self.scheduler, self.most, self.names = cluster, cluster.scheduler, 0, set()

    def transition(self, key, start, finish, *_, **__) -> None:
        self.most = max(self.most, len(self.scheduler.tasks))
        self.names.add(key)


@dataclass(frozen=True)
class Stubborn:
    """A job that cannot be opened the first few times, and writes down when it is opened and run."""

    log: Path
    refusals: int = 0
    label, key = "stubborn", "0" * 64

    def is_done(self, cache: Path) -> bool:
        return False

    def run(self, cache: Path) -> None:
        self.note("run")

    def note(self, word: str) -> None:
        with self.log.open("a") as file:
            file.write(f"{word}\n")

    def __reduce__(self):
        return _open, (self.log, self.refusals)


def _open(log: Path, refusals: int) -> Stubborn:
    job = Stubborn(log, refusals)
    job.note("opened")
    if log.read_text().count("opened") <= refusals:
        raise OSError("the drive is away")
    return job


@pytest.mark.parametrize("threads", [1, pytest.param(2, marks=pytest.mark.drill)])
def test_four_packs_per_thread_are_under_way_and_none_is_left_once_it_was_read(tmp_path, threads):
    with running_dask(threads) as (engine, tasks):
        jobs = [Stubborn(tmp_path / "log") for _ in range(24)]
        outcomes: list[Outcome] = []
        engine.run(jobs, tmp_path, outcomes.append)
        assert [outcome.error for outcome in outcomes] == [None] * 24
        assert not tasks.scheduler.tasks
    # Sent all at once, or never released, they would be 24. A pack that was read may leave just after the next came.
    assert 4 * threads <= tasks.most < 8 * threads
    # Equal packs are tasks of their own: Dask would take the second for the first and run it once.
    assert len(tasks.names) == 24
    assert (tmp_path / "log").read_text().count("run") == 24


def test_workers_that_come_later_get_packs_too(tmp_path, monkeypatch):
    monkeypatch.setattr("neuroarena.evaluation.engines.dask._COUNT_S", 0.0)
    outcomes: list[Outcome] = []
    with running_dask() as (engine, tasks):
        jobs = [Patient(tmp_path / "go") for _ in range(24)]
        running = threading.Thread(target=engine.run, args=(jobs, tmp_path, outcomes.append))
        running.start()
        assert wait_until(lambda: tasks.most == 4)
        tasks.cluster.scale(3)
        assert wait_until(lambda: len(tasks.scheduler.workers) == 3)
        (tmp_path / "go").touch()
        running.join()
    assert [outcome.error for outcome in outcomes] == [None] * 24
    assert 8 <= tasks.most < 24


def test_a_pack_that_cannot_be_opened_is_tried_three_times_and_then_once_more_alone(tmp_path):
    with running_dask() as (engine, tasks):
        for refusals, ended in ((2, None), (99, "a worker could not begin it: OSError: the drive is away")):
            log, outcomes = tmp_path / f"log-{refusals}", list[Outcome]()
            engine.run([Stubborn(log, refusals)], tmp_path, outcomes.append)
            assert [outcome.error for outcome in outcomes] == [ended]
        assert not tasks.scheduler.tasks
    assert (tmp_path / "log-2").read_text().split() == ["opened"] * 3 + ["run"]
    assert (tmp_path / "log-99").read_text().split() == ["opened"] * 6


@pytest.mark.drill
def test_workers_of_our_own_have_one_thread_and_a_killer_takes_two_of_them(tmp_path):
    engine = make_engine("dask", workers=2)
    assert isinstance(engine, Dask)
    with engine._connect() as client:
        client.wait_for_workers(2, timeout=600)
        assert list(client.nthreads().values()) == [1, 1]
        assert client.run_on_scheduler(lambda dask_scheduler: dask_scheduler.allowed_failures) == 1


# A scheduler as a cluster's administrator starts it: it knows nothing of neuroarena or of anybody's decoders.
SCHEDULER = """
import sys
sys.modules["neuroarena"] = sys.modules["toy"] = None
sys.argv = ["dask-scheduler", "--host", "127.0.0.1", "--port", sys.argv[1], "--no-dashboard"]
from distributed.cli.dask_scheduler import main
main()
"""


@pytest.mark.drill
def test_a_scheduler_needs_none_of_our_modules_and_is_named_when_it_dies(tmp_path, monkeypatch):
    (port,) = find_free_ports(1)
    address = f"tcp://127.0.0.1:{port}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": "/"}
    gate = describe_gate(tmp_path, 2)
    scheduler = subprocess.Popen([sys.executable, "-c", SCHEDULER, str(port)], **quiet)
    words = ["-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-dashboard", "--no-nanny"]
    worker = subprocess.Popen([sys.executable, *words], env={**os.environ, GATE: gate}, **quiet)
    try:
        engine = make_engine("dask", scheduler=address, pack=1, options={"wait_s": 600})
        whole = evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path / "cache", engine=engine)
        assert whole.complete
        threading.Thread(target=kill_after_cells, args=(scheduler, tmp_path / "cache", 4 + 2)).start()
        with pytest.raises(NeuroarenaError, match="run the same command again"):
            evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path / "cache", engine=engine)
    finally:
        open_gate(gate)
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    again = evaluate(Slow(), toy_benchmark(), "within", cache=tmp_path / "cache")
    assert again.score == evaluate(Mean(), toy_benchmark(), "within", cache=tmp_path / "other").score


def kill_after_cells(process: subprocess.Popen, cache: Path, n: int) -> None:
    wait_for_cells(cache, n)
    process.kill()
