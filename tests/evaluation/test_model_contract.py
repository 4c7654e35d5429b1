"""Code submissions of the general contract: what they are asked, what they cannot remember, and what ends them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from arena_making import MANIFEST
from neuroarena.errors import InputError
from neuroarena.evaluation.code import score_code
from neuroarena.evaluation.model_contract import CONTRACT, Asking
from neuroarena.evaluation.questions import Questions, open_questions, questions_of, write_questions
from neuroarena.sandbox import Limits
from neuroarena.sandbox.archives import SubmissionRefused
from neuroarena.sandbox.guests import SubmissionFailed
from sample_submissions import zipped
from stream_toy import stream_benchmark
from track_twins import bound, twin

LIMITS = Limits(seconds=300, memory_mb=600, output_mb=4)
MODEL = """
class Model:
    calls = 0

    def predict(self, X, info):
        {body}

def load_model(meta):
    assert meta["classes"] == ["left", "right"] and meta["channels"] == ["one", "two"]
    return Model()
"""


# The line to the host can be found by code that looks for it; what is written there is only ever its own answer.
FORGED = """
        import os
        for descriptor in range(3, 20):
            try:
                os.write(descriptor, b"overall 0.0" * 9)
            except OSError:
                pass
        return [1, 0]
""".strip()


def make_questions(per_person: int = 2, people: str = "ab") -> Questions:
    """Windows whose mean is positive where "right" is the answer."""
    rows = [(person, number) for person in people for number in range(per_person)]
    table = pd.DataFrame(
        {
            "id": [f"{person}-{number}" for person, number in rows],
            "person": [person for person, _ in rows],
            "recording": [person for person, _ in rows],
            "channels": [("one", "two")] * len(rows),
            "rate_hz": 50.0,
            "known": [{"age": 30.0} for _ in rows],
        }
    )

    def read(row: int) -> np.ndarray:
        return np.full((2, 5), 1.0 if rows[row][1] % 2 else -1.0, np.float32)

    return Questions("bci@test/commands", MANIFEST, table, read)


def ask(folder: Path, body: str, questions: Questions | None = None, **asking):
    path = zipped(folder, MODEL.format(body=body))
    given = {"": questions or make_questions()}
    return CONTRACT.ask(path, given, Asking(**{"limits": LIMITS, "seed": 3, **asking}))


def test_a_model_answers_windows_with_probabilities_or_with_the_name_of_a_class(bwrap: None, tmp_path: Path):
    said = ask(tmp_path, "assert info['age'] == 30; return ['right' if X.mean() > 0 else 'left']")
    assert said.tables[""]["label"].tolist() == ["left", "right", "left", "right"]
    assert said.ran["isolation"] == "bubblewrap"
    assert len(said.ran["runtime"]) == 64
    assert said.ran["replay_difference"] == {"bci@test/commands": 0.0}


def test_nothing_survives_a_batch_and_a_batch_shows_a_person_once(bwrap: None, tmp_path: Path):
    body = """
        import os
        self.calls += 1
        for place in ("/tmp", "/dev/shm"):
            open(f"{place}/{self.calls}", "w").close()
        seen = max(self.calls, len(os.listdir("/tmp")), len(os.listdir("/dev/shm")))
        if os.fork() == 0:
            os.setsid()
            import time
            time.sleep(600)
        return [1.0, 0.0] if seen <= 2 else [0.0, 1.0]"""
    said = ask(tmp_path, body.strip(), make_questions(per_person=3))
    # Two people make batches of two: a third call in one sandbox would answer "right".
    assert set(said.tables[""]["label"]) == {"left"}


def test_in_order_a_model_may_remember_which_is_for_public_truth_only(bwrap: None, tmp_path: Path):
    said = ask(tmp_path, "self.calls += 1; return [self.calls < 3, self.calls >= 3]", windows="as-scored")
    assert said.tables[""]["label"].tolist() == ["left", "left", "right", "right"]
    assert said.ran["replay_difference"] == {}


def test_a_model_that_answers_by_chance_is_noted(bwrap: None, tmp_path: Path):
    said = ask(tmp_path, "import os; p = os.urandom(1)[0] / 255; return [p, 1 - p]")
    assert "changed by more than 0.0001 when they were asked again" in said.ran["warnings"][-1]


@pytest.mark.parametrize(
    ("body", "phrase"),
    [
        ("raise KeyError('signal')", "the model failed"),
        ("return [0.1, 0.2, 0.7]", "wrong output shape"),
        ("return [float('nan'), 1.0]", "wrong output values"),
        ("return [1j, 2j]", "wrong output values"),
        ("return 'up'", "wrong output values"),
        ("import os; os._exit(3)", "its process ended without an answer"),
        (FORGED, "broke the protocol"),
        ("while True: print('x' * 9999)", "stopped by the limit of output"),
    ],
    ids=["raises", "shape", "nan", "complex", "class", "exit", "forged", "flood"],
)
def test_what_a_model_does_wrong_is_said_in_a_fixed_phrase(
    bwrap: None, tmp_path: Path, body: str, phrase: str
):
    with pytest.raises(SubmissionFailed) as caught:
        ask(tmp_path, body)
    assert caught.value.phrase == phrase


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("x = 1", r"does not define load_model\(meta\)"),
        ("def load_model(): ...", r"load_model\(meta\) cannot be called like this"),
        ("import neuroarena", "No module named 'neuroarena'"),
        ("import wire", "No module named 'wire'"),
    ],
)
def test_a_zip_that_is_not_as_the_contract_says_is_refused(
    bwrap: None, tmp_path: Path, source: str, words: str
):
    with pytest.raises(SubmissionRefused, match=words):
        CONTRACT.ask(zipped(tmp_path, source), {"": make_questions()}, Asking(LIMITS))


STREAM = """
class Listener:
    def start(self, meta):
        assert meta["rate_hz"] == 50.0
        self.seconds, self.onset = 0.0, None

    def step(self, window):
        loud = (window[0].reshape(-1, 5).mean(axis=1) > 2.5).nonzero()[0]
        if self.onset is None and len(loud):
            self.onset = self.seconds + loud[0] * 0.1
        self.seconds += 1.0
        return self.onset

def load_model(meta):
    return Listener()
"""


def test_streams_have_a_sandbox_each_and_written_questions_ask_the_same(bwrap: None, tmp_path: Path):
    benchmark = stream_benchmark()
    questions = questions_of(benchmark, benchmark.splits[0])
    write_questions(questions, tmp_path / "questions")
    again = open_questions(tmp_path / "questions")
    columns = pd.read_parquet(tmp_path / "questions" / "questions.parquet").columns
    assert not {"target", "unit", "cluster"} & set(columns), "nothing that names a target is written"
    path = zipped(tmp_path, STREAM)
    first, second = (
        CONTRACT.ask(path, {"": each}, Asking(LIMITS, seed=1)).tables[""] for each in (questions, again)
    )
    pd.testing.assert_frame_equal(first, second)
    truth = benchmark.truth(benchmark.split(benchmark.splits[0])).set_index("id")["target"]
    assert np.abs(first.set_index("id")["seconds"] - truth.astype(float)).max() < 0.2


@pytest.mark.drill
@pytest.mark.parametrize(
    ("task", "body"),
    [
        ("bci/commands", "def predict(self, X): return [1.0] + [0.0] * (len(self.meta['classes']) - 1)"),
        ("sleep/sleep-edf", "def start(self, meta): pass\n    def step(self, window): return 600.0"),
        ("emg/emg2qwerty", "def start(self, meta): pass\n    def step(self, window): return 'e'"),
    ],
)
def test_every_track_that_takes_code_scores_a_constant(bwrap: None, tmp_path: Path, task: str, body: str):
    source = f"class Model:\n    {body}\n\ndef load_model(meta):\n    Model.meta = meta\n    return Model()\n"
    benchmark = bound(task)
    data = twin({"bci": "bci_commands", "sleep": "sleep_edf", "emg": "emg2qwerty"}[task.partition("/")[0]])
    scored = score_code(zipped(tmp_path, source), task, data=str(data), limits=LIMITS)
    assert scored.results[0].score is not None
    assert scored.results[0].record.reported["runtime"]
    assert len(scored.results[0].predictions) == len(questions_of(benchmark, benchmark.splits[0]))


def test_a_few_people_only_are_not_scored(tmp_path: Path):
    with pytest.raises(InputError, match="judged on everybody"):
        score_code(zipped(tmp_path, "x = 1"), "sleep/sleep-edf", data=str(tmp_path), fast=True)
