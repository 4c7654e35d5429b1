"""Names that work: what `list` prints can be given to commands, and a shell can complete it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from neuroarena import load_decoder
from neuroarena.benchmarks import FAMILIES, resolve
from neuroarena.benchmarks.faces import families_with
from neuroarena.cli.app import app
from neuroarena.decoders import DECODERS
from neuroarena.errors import InputError


def said(*words: str, columns: int | None = None) -> str:
    ran = CliRunner().invoke(app, list(words), env={"COLUMNS": None if columns is None else str(columns)})
    assert ran.exit_code == 0, ran.output
    return ran.stdout


def rows(*words: str) -> list[dict[str, str]]:
    return json.loads(said("list", *words, "--json"))


@pytest.mark.parametrize("words", [["benchmarks"], ["benchmarks", "--definitions"]])
def test_every_benchmark_that_is_listed_is_found_by_its_name(words):
    listed = rows(*words)
    assert {tuple(row) for row in listed} == {("name", "definition", "question", "metric", "splits", "from")}
    for row in listed:
        family, definition, (task,) = resolve(row["name"])
        assert definition == row["definition"]
        assert family.manifest(task, definition).name == f"{family.name}/{task}"
        assert row["splits"].split(", ") == list(family.splits(task, definition))


def test_decoders_of_signals_and_models_of_vision_are_listed_and_found_by_their_names():
    listed = rows("decoders")
    assert {row["for"] for row in listed} == {"signals", "vision"}
    models = families_with("models")
    for row in listed:
        if row["from"] == "braindecode":
            assert load_decoder(row["name"]).build == row["name"].removeprefix("braindecode/")
        elif row["for"] == "signals":
            assert callable(DECODERS.get(row["name"]))
        else:
            (owner,) = [family for family, offered in models.items() if row["name"] in offered]
            with pytest.raises(
                InputError, match=f"shown stimuli, judged by benchmarks of {owner}: neuroarena run"
            ):
                load_decoder(row["name"])
    assert {"linear", "pixels"} <= {row["name"] for row in listed}


def test_what_is_listed_is_described_in_words_for_people():
    for row in rows("decoders"):
        assert not row["what"].startswith(("Make ", "Return ", "Build "))
    assert "p-factor factor" not in said("list", "benchmarks", "eeg2025", "--definitions", columns=200)


@pytest.mark.parametrize("columns", [80, 120])
def test_the_list_of_benchmarks_fits_a_terminal_and_breaks_no_name(columns):
    text = said("list", "benchmarks", columns=columns)
    assert max(len(line) for line in text.splitlines()) <= columns
    for row in rows("benchmarks"):
        assert row["name"] in text.split()


def test_one_familys_benchmarks_can_be_listed():
    assert {row["name"] for row in rows("benchmarks", "bci")} == {"bci/commands", "bci/ssvep-exo"}


def test_the_options_of_a_family_and_of_a_task_are_listed():
    families = {row["family"]: row["options"] for row in rows("options")}
    assert set(families) == set(FAMILIES.names())
    assert families["bci"] == "subjects, authors_exclusions"
    assert families["transfer"] == ""
    listed = {row["option"]: row for row in rows("options", "bci")}
    assert listed["authors_exclusions"] == {
        "option": "authors_exclusions",
        "value": "yes or no",
        "default": "no",
        "tasks": "ssvep-exo",
        "what": "Leave out the five recordings that the authors of the data left out.",
    }
    assert [row["option"] for row in rows("options", "bci/commands")] == ["subjects"]
    assert {row["option"]: row["default"] for row in rows("options", "neuroprobe")}["offset_s"] == "0,1"


def test_the_options_of_an_importer_are_listed_with_the_command_that_takes_them():
    (row,) = [row for row in rows("options", "neuroprobe") if row["tasks"] == "board --from neuroprobe"]
    assert row["option"] == "level"
    first, _, second = said("list", "options", "neuroprobe").partition(
        "Options of: neuroarena board --from neuroprobe"
    )
    assert (first.count(" level "), second.count(" level ")) == (1, 1)


@pytest.mark.parametrize("family", ["transfer", "challenge2026"])
def test_a_family_without_options_says_so(family):
    assert said("list", "options", family) == f"{family} has no options.\n"


def completed(line: str) -> list[str]:
    """What a shell is told to offer for the last word of a line."""
    asked = {
        "_NEUROARENA_COMPLETE": "complete_bash",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
    }
    ran = CliRunner().invoke(app, [], env=asked, prog_name="neuroarena")
    assert ran.exit_code == 0, ran.output
    return ran.stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("neuroarena run bci", ["bci", "bci/commands", "bci/ssvep-exo"]),
        ("neuroarena run sleep@", ["sleep@2026/sleep-edf", "sleep@2026/muse"]),
        ("neuroarena run bci/commands -d linear-s", ["linear-spectrogram", "linear-stft"]),
        ("neuroarena run brainscore/Kar2019-ost -d ", ["pixels", "tiny-cnn"]),
        ("neuroarena run bci/ssvep-exo --split ", ["cross-session", "leave-one-subject-out"]),
        ("neuroarena run bci/commands -d dummy -s ", ["later-sessions"]),
        ("neuroarena run nosuch/task -s ", []),
        ("neuroarena run neuroprobe -O sub", ["subset=lite", "subset=nano", "subset=full"]),
        ("neuroarena data simulate emg", ["emg2qwerty"]),
        ("neuroarena score bci/ss", ["bci/ssvep-exo"]),
        ("neuroarena check leaks bci/ssvep-exo --split l", ["leave-one-subject-out"]),
        ("neuroarena check decoder dum", ["dummy"]),
        ("neuroarena export neu", ["neuroprobe", "neuroprobe-run"]),
        ("neuroarena board --from eeg", ["eeg2025"]),
        ("neuroarena list options tr", ["transfer"]),
        ("neuroarena board x --from neuroprobe -O l", ["level="]),
        ("neuroarena board x --over-tracks p", ["points"]),
    ],
)
def test_a_shell_completes_names(line, offered):
    assert completed(line) == offered


def test_completion_can_be_shown_and_installed(monkeypatch, tmp_path: Path):
    # The shell is named here: typer would look for it among the parents, and CI has no bash or zsh there.
    monkeypatch.setenv("_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION", "1")
    assert "_NEUROARENA_COMPLETE=complete_bash" in said("--show-completion", "bash")
    monkeypatch.setenv("HOME", str(tmp_path))
    said("--install-completion", "bash")
    installed = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any("_NEUROARENA_COMPLETE" in path.read_text() for path in installed)


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ("bci_commands --help", ["--rate-hz", "--plant-leak", "--drift"]),
        ("emg2qwerty folder -h", ["--users", "--minutes"]),
    ],
)
def test_the_help_of_simulate_shows_the_options_of_the_dataset(words, flags):
    text = said("data", "simulate", *words.split())
    assert f"Options of the twin of {words.split()[0]}:" in text
    for flag in flags:
        assert f"  {flag} " in text


def test_the_help_of_simulate_alone_says_how_to_see_them():
    assert "neuroarena data simulate DATASET --help" in " ".join(said("data", "simulate", "--help").split())
