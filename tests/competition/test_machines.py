"""Workers and their machines: a self-test in the row of each, a time limit that a slow machine is to blame for."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import select
from test_runner import ANSWER_BY_SIGN, CODE_FILE, code_arena, hand_in, sealed_signals, states

from arena_making import Clock, join, make_arena, make_truth
from neuroarena.competition import machines, runner, worker
from neuroarena.competition.arena import Arena
from neuroarena.competition.overview import describe_queue
from neuroarena.competition.queue import claim
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.runner import run_code
from neuroarena.competition.runtimes import choose_runtime, list_named_runtimes
from neuroarena.competition.tables import RUN, WORKER
from neuroarena.competition.worker import work
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.questions import write_questions
from neuroarena.sandbox import reference_job, selftest
from neuroarena.sandbox.runtime import NoRuntime, find_runtime
from neuroarena.sandbox.selftest import Probe, SelfTest, WallsOpen

__all__ = ["code_arena"]  # a fixture of the runner's tests


def read_self_tests(arena: Arena) -> list[dict | None]:
    with arena.store.reading() as connection:
        return list(connection.execute(select(WORKER.c.self_test).order_by(WORKER.c.started)).scalars())


def test_a_worker_writes_its_self_test_with_its_row_and_the_overview_shows_it(
    code_arena: Arena, monkeypatch: pytest.MonkeyPatch
):
    made = SelfTest((Probe("forks stop", True), Probe("memory stops", True)), 1.234)
    monkeypatch.setattr(worker, "require_walls", lambda hidden: made)
    work(code_arena, ["cpu"], until_idle=True)
    work(code_arena, ["scorer"], until_idle=True)
    tested, untested = read_self_tests(code_arena)
    assert tested == {"holds": True, "walls": 2, "seconds": 1.23, "at": "2026-03-02 12:00:00 UTC"}
    assert untested is None
    with code_arena.store.writing() as connection:
        connection.execute(WORKER.update().values(stopped=None))
    shown = [row["self_test"] for row in describe_queue(code_arena)["workers"]]
    assert sorted(shown) == ["2 walls hold, 2026-03-02 12:00:00 UTC", "none"]


def test_a_failed_self_test_is_written_down_before_the_worker_ends(
    tmp_path: Path, clock: Clock, bwrap: None, monkeypatch: pytest.MonkeyPatch
):
    arena = make_arena(tmp_path, clock, CODE_FILE)
    monkeypatch.setattr(selftest, "_last", {})
    open_wall = SelfTest((Probe("forks stop", False),), 1.0)
    monkeypatch.setattr(selftest, "run_self_test", lambda hidden: open_wall)
    with pytest.raises(WallsOpen):
        work(arena, ["cpu"], until_idle=True)
    (said,) = read_self_tests(arena)
    assert said is not None
    assert said["holds"] is False
    assert "forks stop" in said["reason"]
    assert machines.describe_self_test(said).startswith("FAILED")


@pytest.mark.parametrize(
    ("self_test", "words"),
    [
        (None, "has no self-test"),
        ({"holds": False, "at": "2026-03-02 12:00:00 UTC"}, "has failed its self-test"),
        ({"holds": True, "at": "2026-03-01 12:00:00 UTC"}, "was last tested at 2026-03-01"),
    ],
)
def test_code_is_refused_on_a_worker_whose_self_test_is_missing_failed_or_old(
    code_arena: Arena, tmp_path: Path, self_test: dict | None, words: str
):
    token = join(code_arena, "reds")
    hand_in(code_arena, token, tmp_path, ANSWER_BY_SIGN)
    now = code_arena.store.clock(None)
    row = {"owner": "w1", "labels": "cpu", "version": "1", "started": now, "seen": now}
    with code_arena.store.writing() as connection:
        connection.execute(WORKER.insert().values(**row, self_test=self_test))
    job = claim(code_arena.store, "w1", ["cpu"])
    assert job is not None
    with pytest.raises(NeuroarenaError, match=words):
        run_code(code_arena, job)


def test_a_time_limit_on_a_machine_that_became_slow_is_ours_once_and_theirs_the_second_time(
    tmp_path: Path, clock: Clock, bwrap: None, monkeypatch: pytest.MonkeyPatch
):
    for module in (runner, worker):
        monkeypatch.setattr(module, "require_walls", lambda hidden: None)
    arena = make_arena(tmp_path, clock, CODE_FILE.replace("seconds = 600", "seconds = 1.5"))
    for sheet in arena.competition.sheets():
        write_questions(sealed_signals(make_truth()), arena.questions_folder(sheet))
    token = join(arena, "reds")
    late = hand_in(arena, token, tmp_path, "import time; time.sleep(900)")
    pinned = machines.pin_reference(arena)
    with monkeypatch.context() as patch:
        slow = f"import time; time.sleep({1.5 * pinned})\n{reference_job.SOURCE}"
        patch.setattr(reference_job, "SOURCE", slow)
        work(arena, ["cpu"], until_idle=True)
        receipt = read_receipt(arena, token, late)
        assert (receipt["state"], receipt["fault"]) == ("queued", "ours")
        assert "machine was slow" in receipt["reason"]
        with arena.store.reading() as connection:
            measured = connection.execute(select(RUN.c.measured)).scalar_one()["slow_machine"]
        assert measured["took_s"] >= 1.5 * measured["pinned_s"]
        clock.pass_s(60)
        work(arena, ["cpu"], until_idle=True)
    receipt = read_receipt(arena, token, late)
    assert (receipt["state"], receipt["attempt"]) == ("failed", "counts")
    assert states(receipt)[2:] == ["queued", "running", "queued", "running", "failed"]


def test_a_time_limit_on_a_machine_as_quick_as_ever_is_theirs(
    code_arena: Arena, monkeypatch: pytest.MonkeyPatch
):
    pinned = machines.pin_reference(code_arena)
    for took, expected in (
        (1.4 * pinned, None),
        (1.6 * pinned, {"pinned_s": pinned, "took_s": 1.6 * pinned}),
    ):
        monkeypatch.setattr(reference_job, "time_reference", lambda took=took: took)
        assert machines.find_slowness(code_arena) == expected


def test_code_runs_in_the_runtime_that_the_competition_names_or_not_at_all(code_arena: Arena, tmp_path: Path):
    digest = find_runtime().digest
    with pytest.raises(NoRuntime):
        choose_runtime(code_arena, "ab" * 32)
    choose_runtime(code_arena, digest)
    token = join(code_arena, "reds")
    submission = hand_in(code_arena, token, tmp_path, ANSWER_BY_SIGN)
    work(code_arena, ["cpu", "scorer"], until_idle=True)
    assert read_receipt(code_arena, token, submission)["runtime_digest"] == digest
    assert list_named_runtimes(code_arena) == {digest}
    with code_arena.store.writing() as connection:
        machines.write_about(connection, "runtime", "ab" * 32)
    with pytest.raises(NoRuntime, match="admin runtime build"):
        work(code_arena, ["cpu"], until_idle=True)
