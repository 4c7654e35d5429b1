"""A model of the states: whatever workers, teams and time do, in any order, nothing is lost, doubled or miscounted."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlalchemy import select

from arena_making import Clock, join, make_arena, write_answers
from neuroarena.competition.decisions import rerun
from neuroarena.competition.events import verify_events
from neuroarena.competition.intake import check_received, submit, withdraw
from neuroarena.competition.queue import Fenced, Job, claim, give_back, keep_alive
from neuroarena.competition.scorer import score_run
from neuroarena.competition.states import CHANGES, MOST_TRIES, TERMINAL
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION, TRANSITION
from neuroarena.errors import InputError

WORKERS = ("one", "two", "three")
SLOTS = {
    "received": {"reserved"},
    "queued": {"used"},
    "scoring": {"used"},
    "scored": {"used"},
    "refused": {"freed"},
    "broken": {"freed", "refunded"},
    "withdrawn": {"freed", "used"},
}


class Competition(RuleBasedStateMachine):
    """Three workers, one team and a clock, each of which may act at any time."""

    def __init__(self) -> None:
        super().__init__()
        self.place = tempfile.TemporaryDirectory()
        folder = Path(self.place.name)
        self.clock = Clock("2026-03-02 12:00 UTC")
        self.arena = make_arena(folder, self.clock)
        self.token = join(self.arena, "reds")
        self.good = write_answers(folder / "good.parquet", wrong=2)
        self.bad = folder / "bad.parquet"
        self.bad.write_bytes(self.good.read_bytes()[:-9])
        self.held: dict[str, Job] = {}
        self.ended: dict[str, str] = {}
        self.known: list[str] = []

    def teardown(self) -> None:
        self.arena.store.close()
        self.place.cleanup()

    @rule(good=st.booleans())
    def post(self, good: bool) -> None:
        with contextlib.suppress(InputError):
            self.known.append(submit(self.arena, self.token, "commands", self.good if good else self.bad))

    @rule(worker=st.sampled_from(WORKERS))
    def take(self, worker: str) -> None:
        job = claim(self.arena.store, worker, ["intake", "scorer"])
        if job is not None:
            assert job.tries <= MOST_TRIES
            self.held[worker] = job

    @precondition(lambda self: self.held)
    @rule(data=st.data(), act=st.sampled_from(["work", "give back", "stop", "beat", "die"]))
    def act(self, data: st.DataObject, act: str) -> None:
        worker = data.draw(st.sampled_from(sorted(self.held)))
        job = self.held[worker]
        if act == "die":
            del self.held[worker]
            return
        with contextlib.suppress(Fenced):
            if act == "beat":
                keep_alive(self.arena.store, job)
                return
            if act == "work":
                check_received(self.arena, job) if job.state == "received" else score_run(self.arena, job)
            else:
                give_back(self.arena.store, job, "The platform failed.", counts=act == "give back")
        # A worker that goes on with a job that it has lost or finished is a zombie: it keeps trying.
        if data.draw(st.booleans()):
            del self.held[worker]

    @rule(seconds=st.sampled_from([1, 20, 61, 3600]))
    def wait(self, seconds: int) -> None:
        self.clock.pass_s(seconds)

    @rule(again=st.booleans())
    def decide(self, again: bool) -> None:
        if self.known:
            with contextlib.suppress(InputError):
                if again:
                    rerun(self.arena, self.known[0], "again")
                else:
                    withdraw(self.arena, self.token, self.known[-1])

    @invariant()
    def hold(self) -> None:
        with self.arena.store.reading() as connection:
            runs = connection.execute(select(RUN)).mappings().all()
            slots = dict(connection.execute(select(SUBMISSION.c.id, SUBMISSION.c.slot)).all())
            scores = list(connection.execute(select(PUBLIC_SCORE.c.run)).scalars())
            steps = connection.execute(select(TRANSITION).order_by(TRANSITION.c.run, TRANSITION.c.number))
            told: dict[str, list[str]] = {}
            for step in steps.mappings():
                told.setdefault(step["run"], []).append(step["state"])
            verify_events(connection)
        for run in runs:
            assert told[run["id"]][-1] == run["state"]
            changes = list(zip(told[run["id"]], told[run["id"]][1:], strict=False))
            assert all(change in CHANGES for change in changes)
            if run["id"] in self.ended:
                assert run["state"] == self.ended[run["id"]], "what has ended does not change"
            if run["state"] in TERMINAL:
                self.ended[run["id"]] = run["state"]
            if run["purpose"] == "submission":
                assert slots[run["submission"]] in SLOTS[run["state"]]
        assert sorted(scores) == sorted(run["id"] for run in runs if run["state"] == "scored")


@pytest.mark.drill
def test_the_states_hold_whatever_happens_in_any_order():
    from hypothesis.stateful import run_state_machine_as_test

    chosen = settings(
        max_examples=25, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
    )
    run_state_machine_as_test(Competition, settings=chosen)
