"""Skeletons: what `neuroarena new` writes passes its own test and the checks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from command_line import BARE_PYTEST
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.skeletons import SkeletonName


def fine(*words: str) -> str:
    ran = CliRunner().invoke(app, list(words))
    assert ran.exit_code == 0, ran.output + repr(ran.exception)
    return ran.stdout


def own_tests(folder: Path) -> None:
    """Run the tests that a skeleton brings, as a user would."""
    source = str(Path(__file__).resolve().parents[1] / "src")
    ran = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            str(folder),
            str(folder),
        ],
        cwd=folder,
        env={
            **os.environ,
            **BARE_PYTEST,
            "PYTHONPATH": os.pathsep.join([source, os.environ.get("PYTHONPATH", "")]),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


def test_a_new_family_and_a_new_benchmark_pass_the_checks_and_their_own_tests(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "my_track_data.py" in fine("new", "family", "my-track")
    monkeypatch.chdir(here / "my_track")
    monkeypatch.syspath_prepend(str(here / "my_track"))
    assert "FAIL" not in fine("check", "family", "my_track:FAMILY")
    assert "FAIL" not in fine("check", "dataset", "my_track_data:DATASET")
    from my_track_data import simulate  # type: ignore[import-not-found]

    simulate("twin", people=3, trials=12)
    assert "FAIL" not in fine("check", "benchmark", "my_track:FAMILY/state", "--data", "twin")
    # Beside it a benchmark over files of EEG: starting another interpreter for its test would cost more than both.
    fine("new", "benchmark", "left-or-right", "--kind", "eeg")
    assert (here / "my_track" / "left_or_right.toml").is_file()
    own_tests(here / "my_track")


def test_a_new_dataset_is_written_beside_its_test(here: Path) -> None:
    fine("new", "dataset", "my-data")
    assert sorted(path.name for path in here.iterdir()) == ["my_data.py", "test_my_data.py"]
    assert "FAIL" not in fine("check", "dataset", "my_data:DATASET")


def test_an_unknown_kind_of_benchmark_is_refused(here: Path) -> None:
    ran = CliRunner().invoke(app, ["new", "benchmark", "x", "--kind", "meg"])
    assert ran.exit_code != 0
    assert 'No kind of benchmark "meg"' in str(ran.exception)
    assert "There are: eeg, brainscore." in str(ran.exception)
    assert not list(here.iterdir())


def test_a_new_decoder_is_written_for_a_task_whose_classes_it_can_predict(here: Path) -> None:
    fine("new", "decoder", "mine", "-b", "bci")
    assert '"bci/commands"' in (here / "test_mine.py").read_text()
    ran = CliRunner().invoke(app, ["new", "decoder", "other", "-b", "sleep/muse"])
    assert "sleep/muse asks for something else" in str(ran.exception)
    assert not (here / "other.py").exists()


@pytest.mark.parametrize("noun", ["decoder", "dataset", "family", "benchmark"])
def test_a_skeleton_writes_over_nothing(here: Path, noun: str) -> None:
    fine("new", noun, "mine")
    before = {path: path.read_bytes() for path in here.rglob("*") if path.is_file()}
    ran = CliRunner().invoke(app, ["new", noun, "mine"])
    assert isinstance(ran.exception, InputError | SystemExit)
    assert {path: path.read_bytes() for path in here.rglob("*") if path.is_file()} == before


@pytest.mark.parametrize(
    ("noun", "name", "sentence"),
    [
        ("decoder", "numpy", 'A module called "numpy" would hide the installed one'),
        ("dataset", "json", 'A module called "json" would hide the installed one'),
        ("decoder", "csp-lda", 'There is already a decoder "csp-lda"'),
        ("dataset", "sleep-edf", 'There is already a dataset "sleep-edf"'),
        ("family", "bci", 'There is already a family "bci"'),
    ],
)
def test_a_name_that_is_taken_is_refused(here: Path, noun: str, name: str, sentence: str) -> None:
    ran = CliRunner().invoke(app, ["new", noun, name])
    assert sentence in str(ran.exception)
    assert not list(here.iterdir())


@pytest.mark.parametrize("name", ["1st", "class", "", "a/b", "../up"])
def test_a_name_that_is_no_module_is_refused(name: str) -> None:
    with pytest.raises(InputError, match="cannot be made into a Python module name"):
        SkeletonName.parse(name)
