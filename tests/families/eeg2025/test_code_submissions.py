"""Code submissions end to end: a zip, the sandbox, the published keys with intervals."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from hbn_twin import twin
from neuroarena.benchmarks import load_benchmarks
from neuroarena.cli.app import app
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.evaluation.code import score_code

sys.path.insert(0, str(Path(__file__).parents[2] / "sandbox"))
from sample_submissions import zipped

CONSTANT = """
import torch

class Constant(torch.nn.Module):
    def __init__(self, value):
        super().__init__()
        self.value = value

    def forward(self, X):
        return torch.full((len(X), 1), self.value)

class Submission:
    def __init__(self, SFREQ, DEVICE):
        pass

    def get_model_challenge_1(self):
        return Constant({first})

    def get_model_challenge_2(self):
        return Constant({second})
"""


def mean_target(task: str) -> float:
    (benchmark,) = load_benchmarks(f"eeg2025@as-scored/{task}", str(twin()))
    truth = benchmark.truth(benchmark.split("validation"))
    return float(np.asarray(truth["target"], dtype=np.float64).mean())


def test_a_constant_at_the_mean_scores_one_on_both_challenges(tmp_path):
    means = {"first": mean_target("response-time"), "second": mean_target("externalizing")}
    file = zipped(tmp_path, CONSTANT.format(**means))
    said = score_code(file, "eeg2025", data=str(twin())).report
    assert [said[name] for name in ("overall", "challenge1", "challenge2")] == [1.0, 1.0, 1.0]
    assert said["definition"] == "as-scored"
    assert said["simulated"] is True
    low, high = said["intervals"]["challenge1"]
    assert low <= 1.0 + 1e-4
    assert high >= 1.0


def test_the_command_prints_the_published_keys_as_json(tmp_path):
    file = zipped(tmp_path, CONSTANT.format(first=1.5, second=0.0))
    words = ["score", "eeg2025", str(file), "--data", str(twin()), "--fast", "--json"]
    asked = CliRunner().invoke(app, words)
    assert asked.exit_code == 0, asked.stderr
    said = json.loads(asked.stdout)
    assert {"overall", "challenge1", "challenge2", "intervals", "isolation", "runtime"} <= set(said)
    assert said["overall"] == pytest.approx(0.3 * said["challenge1"] + 0.7 * said["challenge2"], abs=2e-5)


@pytest.mark.parametrize(
    ("name", "content", "error", "sentence"),
    [
        ("eeg2025", {"folder/submission.py": "x = 1"}, InputError, "submission.py"),
        ("eeg2025", "import nothing_of_that_name", InputError, "cannot be imported"),
        ("eeg2025", CONSTANT.format(first="float('nan')", second=0.0), NeuroarenaError, "values"),
        ("eeg2025", CONSTANT.format(first="1j", second=0.0), NeuroarenaError, "complex"),
        (
            "eeg2025",
            CONSTANT.format(first=1, second=2).replace("_challenge_2", "_2"),
            InputError,
            "challenge_2",
        ),
        ("eeg2025/p-factor", "x = 1", InputError, "names one task"),
        ("eeg2025@zero-shot", "x = 1", InputError, "does not accept code"),
        ("neuroprobe", "x = 1", InputError, "does not accept code"),
    ],
)
def test_what_cannot_be_scored_is_said_in_one_sentence(tmp_path, name, content, error, sentence):
    file = zipped(tmp_path, content)
    with pytest.raises(error, match=sentence) as caught:
        score_code(file, name, data=str(twin()), fast=True)
    assert isinstance(caught.value, InputError) == (error is InputError)


def test_a_missing_zip_is_named(tmp_path):
    with pytest.raises(InputError, match="there is no such file"):
        score_code(tmp_path / "nothing.zip", "eeg2025", data=str(twin()))


def test_options_that_code_is_not_scored_with_are_refused(tmp_path):
    file = zipped(tmp_path, CONSTANT.format(first=1.5, second=0.0))
    words = ["score", "eeg2025", str(file), "--data", str(twin()), "-O", "channels=128"]
    asked = CliRunner().invoke(app, words)
    assert isinstance(asked.exception, InputError)
    assert "-O channels cannot be used with code in a zip" in str(asked.exception)
