"""Replays: committed training runs in the sandbox on public labels, and only there."""

from __future__ import annotations

import dataclasses
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
from stream_toy import RATE_HZ, onset_of, stream_benchmark
from track_twins import bound

LIMITS = Limits(seconds=400, memory_mb=1500)
needs_bubblewrap = pytest.mark.usefixtures("bwrap")


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


def read_events(folder: Path) -> pd.DataFrame:
    return pd.read_parquet(folder / "training" / "events.parquet")


def test_a_stream_is_trained_on_with_the_events_of_its_training_part_alone(tmp_path):
    skipped_s = 5.0
    whole = stream_benchmark()
    examples = whole.examples.assign(start=round(skipped_s * RATE_HZ))
    benchmark = dataclasses.replace(whole, make_examples=lambda: examples)
    (fold,) = benchmark.split("other-people").folds
    write_fold(benchmark, fold, tmp_path / "plain")
    events = read_events(tmp_path / "plain").set_index("id")
    # By the time since the example's first sample, as its signals are.
    assert events["onset_s"].to_dict() == {person: onset_of(person) - skipped_s for person in fold.train}
    assert set(events["value"]) == {"tone"}
    assert not (tmp_path / "plain" / "questions" / "events.parquet").exists()
    early = dataclasses.replace(whole, make_examples=lambda: whole.examples.assign(stop=round(9 * RATE_HZ)))
    write_fold(early, fold, tmp_path / "early")
    assert read_events(tmp_path / "early").empty, "nothing is told of what comes after an example"


def test_the_keys_of_a_text_are_told_with_their_moments_and_shuffled_with_the_labels(tmp_path):
    benchmark = bound("emg/emg2qwerty")
    (fold,) = benchmark.split(benchmark.splits[0]).folds
    write_fold(benchmark, fold, tmp_path / "plain")
    copy_shuffled(tmp_path / "plain", tmp_path / "shuffled", np.random.default_rng(0))
    plain, shuffled = (read_events(tmp_path / name) for name in ("plain", "shuffled"))
    known = pd.read_parquet(tmp_path / "plain" / "training" / "examples.parquet").set_index("id")["target"]
    assert plain.groupby("id")["value"].agg("".join).to_dict() == known.to_dict()
    assert sorted(plain["value"]) == sorted(shuffled["value"])
    assert (plain["value"] != shuffled["value"]).mean() > 0.3
    assert not np.isin(plain["onset_s"], shuffled["onset_s"]).any()
    lengths = benchmark.examples.set_index("id")["stop"] / benchmark.recording(plain["id"].iloc[0]).rate_hz
    assert shuffled["onset_s"].between(0, shuffled["id"].map(lengths)).all()


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
    "import time; time.sleep(1000)": "ended with time",
    "import socket; socket.create_connection(('127.0.0.1', 80), 2)": "ended with failed",
    "import neuroarena.scoring": "ended with failed",
}


@needs_bubblewrap
@pytest.mark.parametrize("script", FAILURES)
def test_a_replay_that_does_not_run_says_why(tmp_path, asked, data, script):
    def replay_and_read() -> None:
        made = run(
            tmp_path, data, script, limits=Limits(seconds=2 if "sleep" in script else 300, memory_mb=500)
        )
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
