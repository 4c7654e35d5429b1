"""Encoders as code: embeddings come out of the sandbox, and heads are fitted where the labels are."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

from arena_making import join
from neuroarena.competition import runner, worker
from neuroarena.competition.arena import create_arena
from neuroarena.competition.boards import rank_track
from neuroarena.competition.intake import submit
from neuroarena.competition.opening import open_competition
from neuroarena.competition.receipts import read_receipt
from neuroarena.competition.sealing import seal_track
from neuroarena.competition.worker import work
from neuroarena.datasets import load_dataset
from neuroarena.evaluation import evaluate
from neuroarena.evaluation.model_contract import Asking
from neuroarena.families.transfer.code_contract import CONTRACT
from neuroarena.families.transfer.decoders import EncoderProbe
from neuroarena.families.transfer.embedded_heads import predict_from_embeddings
from neuroarena.families.transfer.encoder_questions import (
    make_lesson,
    open_encoder_questions,
    write_encoder_questions,
)
from neuroarena.sandbox import Limits
from neuroarena.sandbox.archives import SubmissionRefused
from neuroarena.sandbox.guests import SubmissionFailed
from neuroarena.scoring import score
from transfer_twins import TINY, load

ENCODER = """
import hashlib
import numpy as np

class Means:
    def __init__(self, meta):
        self.factor = np.load(meta.folder / "factor.npy")

    def weights_hash(self):
        return hashlib.sha256(self.factor.tobytes()).hexdigest()

    def encode(self, signals, channels, rate_hz):
        signals = signals * self.factor
        if (channels["kind"] == "emg").all():
            n, count, samples = signals.shape
            frames = signals.reshape(n, count, samples // 16, 16)
            return np.log(np.square(frames).mean(axis=3) + 1e-6).swapaxes(1, 2)
        return np.concatenate([signals.mean(axis=2), signals.std(axis=2)], axis=1)

def load_encoder(meta):
    return Means(meta)
"""
LIMITS = Limits(seconds=600, memory_mb=2000)


def write_encoder(folder: Path, code: str = ENCODER) -> Path:
    """Write the folder of an encoder, and a zip of it."""
    folder.mkdir()
    (folder / "encoder.py").write_text(code)
    np.save(folder / "factor.npy", np.array([1.0]))
    with zipfile.ZipFile(folder.with_suffix(".zip"), "w") as archive:
        for path in folder.iterdir():
            archive.write(path, path.name)
    return folder.with_suffix(".zip")


# Every window of the test part has a sandbox of its own, so that there are few.
FEW = {
    **TINY,
    "things_eeg2": {**TINY["things_eeg2"], "training_images": 80, "test_images": 11},
    "bci_commands": {**TINY["bci_commands"], "trials": 6},
}


@pytest.fixture(scope="module")
def twins(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("four")
    for name, options in FEW.items():
        load_dataset(name).simulate(root / name, seed=4, **options)
    return root


@pytest.mark.drill
@pytest.mark.parametrize("task", ["img", "bci", "sleep", "emg"])
def test_heads_on_stored_embeddings_score_what_the_organisers_probe_scores(twins, tmp_path, task, bwrap):
    benchmark = load(twins, task)
    split = benchmark.splits[0]
    zipped = write_encoder(tmp_path / "mine")
    write_encoder_questions(benchmark, split, tmp_path / "questions")
    # Nothing in what the runner has names a target, nor does what comes out of the sandbox.
    kept = [path.name for path in (tmp_path / "questions").rglob("*") if path.is_file()]
    assert sorted(set(kept)) == ["channels.json", "questions.json", "questions.parquet", "signals.f32"]
    asked = {task: open_encoder_questions(tmp_path / "questions")}
    answered = CONTRACT.ask(zipped, asked, Asking(LIMITS, seed=3))
    lesson = make_lesson(benchmark, split)
    predicted = predict_from_embeddings(lesson, answered.tables[task], benchmark.manifest)
    found = score(predicted, benchmark.truth(benchmark.split(split)), benchmark.manifest).value
    result = evaluate(EncoderProbe(str(tmp_path / "mine")), benchmark, split, cache=tmp_path / "cache")
    expected = result.score
    # Streams are begun with another hidden delay each time.
    close = {"img": 0.02, "bci": 0.02, "sleep": 30.0, "emg": 0.1}[task]
    assert found == pytest.approx(expected, abs=close)
    assert answered.ran["replay_difference"][task] == 0.0
    assert len(answered.ran["encoder_weights"]) == 64


WRONG = {
    "no maker": (
        ENCODER.replace("def load_encoder", "def load_decoder"),
        SubmissionRefused,
        "does not define",
    ),
    "no hash": (ENCODER.replace("def weights_hash", "def hash_of"), SubmissionFailed, "without weights_hash"),
    "other weights each time": (
        ENCODER.replace("return hashlib", "import os; return os.urandom(8).hex() or hashlib"),
        SubmissionFailed,
        "not the same in all sandboxes",
    ),
    "two windows for one": (
        ENCODER.replace(
            "return np.concatenate([", "return np.repeat(1.0, 8).reshape(2, 4); np.concatenate(["
        ),
        SubmissionFailed,
        "shape",
    ),
    "not finite": (
        ENCODER.replace("return np.concatenate([", "return np.array([[np.nan]]); np.concatenate(["),
        SubmissionFailed,
        "NaN or infinity",
    ),
}


@pytest.fixture(scope="module")
def commands(twins, tmp_path_factory) -> dict:
    folder = tmp_path_factory.mktemp("asked") / "bci"
    write_encoder_questions(load(twins, "bci"), load(twins, "bci").splits[0], folder)
    return {"bci": open_encoder_questions(folder)}


@pytest.mark.drill
@pytest.mark.parametrize("case", WRONG)
def test_what_is_not_one_frozen_encoder_is_named(commands, tmp_path, case, bwrap):
    code, error, words = WRONG[case]
    with pytest.raises(error, match=words):
        CONTRACT.ask(write_encoder(tmp_path / "mine", code), commands, Asking(LIMITS, seed=3))


COMPETITION = """
name = "encoders"
title = "Encoders"
contact = "organisers@example.org"
terms = "Be honest."

[[tracks]]
name = "commands"
title = "Commands"
benchmark = "transfer/bci"
kinds = ["code"]

[[phases]]
name = "open"
title = "Open"
start = "2026-01-01 00:00 UTC"
end = "2099-01-01 00:00 UTC"
"""


@pytest.mark.drill
def test_an_encoder_is_run_by_the_runner_and_its_head_is_fitted_by_the_scorer(
    twins, tmp_path, bwrap, monkeypatch
):
    for module in (runner, worker):
        monkeypatch.setattr(module, "require_walls", lambda hidden: None)
    (tmp_path / "encoders.toml").write_text(COMPETITION)
    arena = create_arena(tmp_path / "arena", tmp_path / "encoders.toml")
    seal_track(arena, "commands", str(twins))
    open_competition(arena, accept_one_user=True, without_baselines=True)
    token = join(arena, "reds")
    zipped = write_encoder(tmp_path / "mine")
    submission = submit(arena, token, "commands", zipped, external_data=(), model="means")
    assert work(arena, ["cpu"], until_idle=True, duties=False) == 1
    # The runner needs nothing of the vault: it has no label, and nothing that was learned from one.
    assert read_receipt(arena, token, submission)["state"] == "scoring"
    assert work(arena, ["scorer"], until_idle=True, duties=False) == 1
    receipt = read_receipt(arena, token, submission)
    assert receipt["state"] == "scored"
    assert receipt["shown_score"] > 0.4
    (ranking,) = rank_track(arena, "commands", "open").rankings
    assert list(ranking.table["team"]) == ["reds"]


def test_a_lesson_holds_arrays_and_no_signal(tmp_path):
    load_dataset("bci_commands").simulate(tmp_path / "bci_commands", **TINY["bci_commands"])
    benchmark = load(tmp_path, "bci")
    lesson = make_lesson(benchmark, benchmark.splits[0])
    with np.load(io.BytesIO(lesson), allow_pickle=False) as file:
        names = set(file.files)
    assert {"folds", "id", "target", "train0", "test0"} <= names
    assert not any("signal" in name for name in names)
