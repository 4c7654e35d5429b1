"""Code in a competition: queued, run where no label is, scored by the scorer; and whose fault it is when it fails."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sqlalchemy import select

from arena_making import FILE, MANIFEST, Clock, join, make_arena, make_truth
from neuroarena.competition import runner, worker
from neuroarena.competition.arena import Arena
from neuroarena.competition.intake import submit
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.tables import ANSWER, RUN
from neuroarena.competition.worker import work
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.questions import Questions, write_questions
from neuroarena.sandbox.guests import SandboxFailed
from neuroarena.sandbox.selftest import Probe, SelfTest, WallsOpen
from sample_submissions import zipped

RIGHT = """
class Model:
    def predict(self, X):
        {body}

def load_model(meta):
    return Model()
"""
ANSWER_BY_SIGN = "return ['left' if X.mean() > 0 else 'right']"
CODE_FILE = FILE.replace(
    'benchmark = "bci/commands"\n',
    'benchmark = "bci/commands"\nkinds = ["predictions", "code"]\n\n[tracks.code]\nmemory_mb = 600\nseconds = 600\n',
    1,
)


def sealed_signals(truth: pd.DataFrame) -> Questions:
    """Windows that are positive where "left" is right; one unit is one person."""
    table = pd.DataFrame(
        {
            "id": truth["id"],
            "person": truth["unit"],
            "recording": truth["unit"],
            "channels": [("Cz",)] * len(truth),
            "rate_hz": 100.0,
            "known": [{} for _ in range(len(truth))],
        }
    )
    left = (truth["target"] == "left").to_numpy()

    def read(row: int) -> np.ndarray:
        return np.full((1, 20), 1.0 if left[row] else -1.0, np.float32)

    return Questions("bci@test/commands", MANIFEST, table, read)


@pytest.fixture
def code_arena(tmp_path: Path, clock: Clock, bwrap: None, monkeypatch: pytest.MonkeyPatch) -> Arena:
    """An open competition whose one track takes code; its walls were tried elsewhere."""
    for module in (runner, worker):
        monkeypatch.setattr(module, "require_walls", lambda hidden: None)
    made = make_arena(tmp_path, clock, CODE_FILE)
    for sheet in made.competition.sheets():
        write_questions(sealed_signals(make_truth()), made.questions_folder(sheet))
    return made


def hand_in(arena: Arena, token: str, folder: Path, body: str) -> str:
    return submit(arena, token, "commands", zipped(folder, RIGHT.format(body=body)), external_data=())


def states(receipt: dict) -> list[str]:
    return [each["state"] for each in receipt["states"]]


def test_code_is_run_without_labels_and_scored_from_what_it_answered(code_arena: Arena, tmp_path: Path):
    token = join(code_arena, "reds")
    submission = hand_in(code_arena, token, tmp_path, ANSWER_BY_SIGN)
    assert work(code_arena, ["intake", "scorer"], until_idle=True) == 0, "a runner is needed first"
    assert work(code_arena, ["cpu"], until_idle=True) == 1
    assert states(read_receipt(code_arena, token, submission))[-1] == "scoring"
    assert work(code_arena, ["scorer"], until_idle=True) == 1
    receipt = read_receipt(code_arena, token, submission)
    assert states(receipt) == ["received", "checked", "queued", "running", "scoring", "scored"]
    assert receipt["score"]["shown"] == 1.0
    with code_arena.store.reading() as connection:
        run = connection.execute(select(RUN)).mappings().one()
        answers = connection.execute(select(ANSWER)).mappings().all()
    assert len(run["runtime_digest"]) == 64
    assert run["measured"]["replay_difference"] == {"bci@test/commands": 0.0}
    assert [each["part"] for each in answers] == [""]


def test_a_scorer_that_works_beside_a_runner_stays_for_what_it_answers(code_arena: Arena, tmp_path: Path):
    token = join(code_arena, "reds")
    submission = hand_in(code_arena, token, tmp_path, ANSWER_BY_SIGN)
    scored: list[int] = []
    scorer = threading.Thread(
        target=lambda: scored.append(work(code_arena, ["scorer"], until_idle=True, beside=["cpu"]))
    )
    scorer.start()
    scorer.join(1.5)
    assert scorer.is_alive(), "it ended while code was waiting for the runner"
    assert work(code_arena, ["cpu"], until_idle=True, beside=["scorer"]) == 1
    scorer.join()
    assert scored == [1]
    assert read_receipt(code_arena, token, submission)["state"] == "scored"


@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        ("raise ValueError(str(X[0, 0]))", "The code raised an exception."),
        pytest.param(
            "return [1.0, 2.0, 3.0]", "An answer has the wrong shape or type.", marks=pytest.mark.drill
        ),
        pytest.param(
            "import os; os._exit(1)",
            "The code ended before it had answered everything.",
            marks=pytest.mark.drill,
        ),
    ],
)
def test_a_failure_is_theirs_counts_and_tells_a_phrase_of_a_fixed_list_alone(
    code_arena: Arena, tmp_path: Path, body: str, phrase: str
):
    token = join(code_arena, "reds")
    submission = hand_in(code_arena, token, tmp_path, body)
    work(code_arena, ["cpu"], until_idle=True)
    receipt = read_receipt(code_arena, token, submission)
    assert (receipt["state"], receipt["reason"], receipt["attempt"]) == ("failed", phrase, "counts")


@pytest.mark.parametrize(
    ("source", "words"),
    [("def load_model(meta:", "is not Python"), ("x = 1", "does not define load_model")],
)
def test_a_zip_that_cannot_be_it_is_refused_at_intake_and_free(
    code_arena: Arena, tmp_path: Path, source: str, words: str
):
    token = join(code_arena, "reds")
    receipt = read_receipt(
        code_arena, token, submit(code_arena, token, "commands", zipped(tmp_path, source), external_data=())
    )
    assert receipt["state"] == "refused"
    assert words in receipt["reason"]
    assert receipt["attempt"] == "free"


def test_a_sandbox_that_fails_is_ours_tried_again_and_then_refunded(
    code_arena: Arena, tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    token = join(code_arena, "reds")
    submission = hand_in(code_arena, token, tmp_path, ANSWER_BY_SIGN)

    def fail(*_: object) -> None:
        raise SandboxFailed("The sandbox did not start.")

    with monkeypatch.context() as patch:
        patch.setattr(runner, "_ask", fail)
        work(code_arena, ["cpu"], until_idle=True)
        assert read_receipt(code_arena, token, submission)["state"] == "queued"
        for _ in range(3):
            clock.pass_s(60)
            work(code_arena, ["cpu"], until_idle=True)
    receipt = read_receipt(code_arena, token, submission)
    assert (receipt["state"], receipt["attempt"]) == ("broken", "refunded")


def test_a_worker_whose_walls_are_open_takes_no_code(
    tmp_path: Path, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    from neuroarena.sandbox import selftest

    arena = make_arena(tmp_path, clock, CODE_FILE)
    monkeypatch.setattr(selftest, "_last", {})
    monkeypatch.setattr(
        selftest, "run_self_test", lambda hidden: SelfTest((Probe("forks stop", False),), 1.0)
    )
    with pytest.raises(WallsOpen, match="No code is accepted"):
        work(arena, ["cpu"], until_idle=True)


def test_code_of_a_sealed_phase_needs_limits_of_the_kernel_or_an_organiser_who_accepts_others(
    code_arena: Arena, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(runner, "can_limit", lambda: False)
    runner.require_hard_limits(code_arena, "warm-up")
    with pytest.raises(NeuroarenaError, match=r"sealed.*no control group.*--soft-limits"):
        runner.require_hard_limits(code_arena, "sealed")
    runner.accept_soft_limits(code_arena)
    runner.require_hard_limits(code_arena, "sealed")
