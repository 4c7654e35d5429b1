"""Replays: committed training runs in the sandbox on public labels, and only there."""

from __future__ import annotations

import shutil
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from neuroarena.competition.audit.pipelines import read_pipeline
from neuroarena.competition.audit.replay_data import (
    Asked,
    copy_shuffled,
    refuse_sealed_training,
    write_fold,
    write_replay_data,
)
from neuroarena.competition.audit.replays import ReplayFailed, join_predictions, replay
from neuroarena.errors import InputError
from neuroarena.sandbox import Limits
from neuroarena.scoring import score
from pipelines import ANSWER_LABEL, DESCRIPTION, TRAIN, audited_benchmark, pipeline_zip

LIMITS = Limits(seconds=120, memory_mb=1500)
needs_bubblewrap = pytest.mark.skipif(shutil.which("bwrap") is None, reason="bubblewrap is not installed")


@pytest.fixture(scope="module")
def asked():
    """A small benchmark and its split of one fold."""
    benchmark = audited_benchmark()
    return benchmark, benchmark.split("later")


@pytest.fixture(scope="module")
def data(asked, tmp_path_factory) -> Path:
    """What its replays read."""
    folder = tmp_path_factory.mktemp("replays") / "data"
    write_replay_data({"": Asked(*asked)}, folder, "predictions")
    return folder


def unpack(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / "made.zip").write_bytes(content)
    with zipfile.ZipFile(tmp_path / "made.zip") as archive:
        archive.extractall(tmp_path / "made")
    return tmp_path / "made"


def run(tmp_path: Path, data: Path, script: str, seed: int = 1, limits: Limits = LIMITS, **more):
    folder = unpack(tmp_path, pipeline_zip(script))
    return replay(read_pipeline(folder, "made.zip"), folder, data, seed, limits, **more)


@needs_bubblewrap
def test_a_replay_trains_on_public_labels_and_is_scored_outside(tmp_path, asked, data):
    benchmark, split = asked
    made = run(tmp_path, data, TRAIN + ANSWER_LABEL)
    predictions = join_predictions(made, data, benchmark.manifest)
    truth = benchmark.truth(split)
    assert score(predictions, truth, benchmark.manifest).value > 0.7
    assert made.isolation == "bubblewrap"
    assert run(tmp_path, data, TRAIN + ANSWER_LABEL).sha256 == made.sha256


def test_only_the_training_part_has_targets(tmp_path, asked):
    benchmark, split = asked
    (fold,) = split.folds
    write_fold(benchmark, fold, tmp_path / "data")
    training, questions = (
        pd.read_parquet(tmp_path / "data" / part / "examples.parquet") for part in ("training", "questions")
    )
    assert set(training["id"]) == set(fold.train)
    assert set(questions["id"]) == set(fold.test)
    assert "target" in training
    assert "target" not in questions
    labels = benchmark.examples.set_index("id")["target"]
    assert (training.set_index("id")["target"] == labels.loc[training["id"]]).all()
    first = questions.iloc[0]
    example = benchmark.examples.set_index("id").loc[first["id"]]
    expected = benchmark.recording(example["recording"]).read(example["start"], example["stop"])
    stored = np.load(tmp_path / "data" / "questions" / f"signals-{first['file']}.npy")[first["row"]]
    np.testing.assert_array_equal(stored, expected)


def test_shuffled_labels_are_the_same_labels_elsewhere(tmp_path, asked):
    benchmark, split = asked
    (fold,) = split.folds
    write_fold(benchmark, fold, tmp_path / "plain")
    copy_shuffled(tmp_path / "plain", tmp_path / "shuffled", np.random.default_rng(0))
    plain, shuffled = (
        pd.read_parquet(tmp_path / name / "training" / "examples.parquet").set_index("id")["target"]
        for name in ("plain", "shuffled")
    )
    assert sorted(plain) == sorted(shuffled)
    assert (plain != shuffled.loc[plain.index]).mean() > 0.3


def test_sealed_labels_never_enter_a_guest(asked):
    _, split = asked
    refuse_sealed_training(split.folds, split.folds[0].test, "commands")
    with pytest.raises(
        InputError, match=r"1 examples of the training part .* are sealed, and sealed labels never"
    ):
        refuse_sealed_training(split.folds, [*split.folds[0].test, split.folds[0].train[0]], "commands")


FAILURES = {
    "raise SystemExit(3)": "ended with failed",
    "pass": "wrote no predictions.parquet",
    "import sys; open(sys.argv[3], 'w').write('nonsense')": "predictions are refused",
    "import os, sys; os.symlink('/etc/passwd', sys.argv[3])": "wrote no predictions.parquet",
    "import time; time.sleep(100)": "ended with time",
    "import socket; socket.create_connection(('127.0.0.1', 80), 2)": "ended with failed",
    "import neuroarena.scoring": "ended with failed",
}


@needs_bubblewrap
@pytest.mark.parametrize("script", FAILURES)
def test_a_replay_that_does_not_run_says_why(tmp_path, asked, data, script):
    def replay_and_read() -> None:
        made = run(tmp_path, data, script, limits=Limits(seconds=3, memory_mb=500))
        join_predictions(made, data, asked[0].manifest)

    with pytest.raises(ReplayFailed, match=FAILURES[script]) as failed:
        replay_and_read()
    assert FAILURES[script] in failed.value.phrase


REFUSED = {
    "script = 3": "script: Input should be a valid string",
    'script = "other.py"': r'names the script "other.py", which is not in the zip',
    'script = "../train.py"': "String should match pattern",
    'script = "/train.py"': "String should match pattern",
    'script = "train.py"\ncolour = 1': "colour: Extra inputs are not permitted",
    'script = "train.py"\nweights = {a = "12"}': "weights.a: String should match pattern",
    "script = ": "is not TOML",
}


@pytest.mark.parametrize("description", REFUSED)
def test_a_description_that_is_wrong_is_refused_in_one_line(tmp_path, description):
    folder = unpack(tmp_path, pipeline_zip("", description))
    with pytest.raises(InputError, match=REFUSED[description]) as refused:
        read_pipeline(folder, "made.zip")
    assert str(refused.value).startswith("made.zip: pipeline.toml")
    assert "\n" not in str(refused.value)


def test_a_description_is_read(tmp_path):
    weights = f'\n[weights]\n"encoder.safetensors" = "{"0" * 64}"\n'
    pipeline = read_pipeline(unpack(tmp_path, pipeline_zip("", DESCRIPTION + weights)), "made.zip")
    assert (pipeline.script, len(pipeline.weights)) == ("train.py", 1)
