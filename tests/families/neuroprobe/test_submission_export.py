"""Exporting runs to the Neuroprobe leaderboard: the round trip, and what is refused by name."""

from __future__ import annotations

import dataclasses
import datetime
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from neuroprobe_runs import SPLITS, make_run, make_runs, make_scores
from typer.testing import CliRunner

from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.cli.app import app
from neuroarena.errors import InputError
from neuroarena.evaluation import Result, save_result
from neuroarena.families.neuroprobe import aggregate, read_submission
from neuroarena.families.neuroprobe.importer import entries_from_neuroprobe
from neuroarena.families.neuroprobe.submission_export import choose_runs, export_submission
from neuroarena.families.neuroprobe.submission_verdict import check_submission
from neuroarena.families.neuroprobe.tasks import TASKS

WHEN = datetime.datetime(2026, 5, 2, 12, tzinfo=datetime.UTC)
QUICK = Rules(n_draws=50)


def export(results: list[Result], out: Path, **options: Any) -> Path:
    return export_submission(results, out, author="Ada Example", time=WHEN, **options)


@pytest.mark.parametrize(("definition", "splits"), [("2025.10", SPLITS), ("2025.09", ("cross-subject",))])
def test_what_is_exported_averages_as_the_board_does(
    tmp_path: Path, definition: str, splits: tuple[str, ...]
):
    runs = make_runs(definition=definition, splits=splits)
    folder = export(runs, tmp_path)
    assert folder.name == "linear_Ada_Example_02_05_2026"
    verdict = check_submission(folder)
    assert verdict.accepted, verdict.findings
    assert verdict.definition == definition
    board = Board(entries_from_results(runs), QUICK)
    submission = read_submission(folder)
    for split in splits:
        table = aggregate(submission, split)
        assert not [words for words in table.attrs["problems"] if "split is missing" not in words]
        for task in ("overall", "onset", "word_gap"):
            (score,) = board.ranking(task, split).table["score"]
            assert table.loc[task, "mean"] == pytest.approx(score, abs=1e-12)


def test_what_is_imported_again_has_the_same_unit_scores(tmp_path: Path):
    runs = make_runs(splits=["within-session"])
    entries, _ = entries_from_neuroprobe([export(runs, tmp_path)])
    there, back = (
        Board(one, QUICK).ranking("overall", "within-session")
        for one in (entries_from_results(runs), entries)
    )
    assert list(there.unit_scores.index) == list(back.unit_scores.index)
    assert back.unit_scores.to_numpy() == pytest.approx(there.unit_scores.to_numpy(), abs=1e-12)


def test_the_folder_holds_what_the_leaderboard_asks_for(tmp_path: Path):
    folder = export(
        make_runs(tasks=TASKS), tmp_path, model_name="Linear (é)", organization="Lab", organization_url="https://example.org",
        description="A line.", bib="@misc{a, title={B}}\n", attest=True,
    )  # fmt: skip
    assert folder.name == "Linear_e_Ada_Example_02_05_2026"
    assert sorted(path.name for path in folder.iterdir()) == [
        "ATTESTATION.txt", "Cross-Session", "Cross-Subject", "PUBLICATION.bib", "Within-Session", "metadata.json",
    ]  # fmt: skip
    said = json.loads((folder / "metadata.json").read_text())
    assert said["model_name"] == "Linear (é)"
    assert said["definition"] == "2025.10"
    assert said["timestamp"] == int(WHEN.timestamp())
    assert "simulated" not in said
    assert (folder / "PUBLICATION.bib").read_text() == "@misc{a, title={B}}\n"
    assert (folder / "ATTESTATION.txt").read_text().count("SIGN **Ada Example**") == 2
    own = json.loads((folder / "Within-Session" / "population_onset.json").read_text())
    folds = own["evaluation_results"]["btbank10_1"]["population"]["one_second_after_onset"]["folds"]
    expected = make_scores("onset", "within-session", 0.7, "2025.10", len("linear"))
    expected = expected[expected["unit"] == "btbank10_1"]
    assert [fold["test_roc_auc"] for fold in folds] == list(expected["score"])
    assert [fold["test_accuracy"] for fold in folds] == list(expected["accuracy"])
    assert len(own["evaluation_results"]) == 12
    across = json.loads((folder / "Cross-Subject" / "population_onset.json").read_text())
    assert len(across["evaluation_results"]) == 10


def test_without_attesting_the_file_says_exactly_that_nothing_is_attested(tmp_path: Path):
    folder = export(make_runs(splits=["cross-session"]), tmp_path)
    assert (folder / "ATTESTATION.txt").read_bytes() == b"N/A"
    assert (folder / "PUBLICATION.bib").read_bytes() == b"N/A"
    assert read_submission(folder).splits == ("cross-session",)


def without_a_session(run: Result) -> Result:
    assert run.unit_scores is not None
    table = run.unit_scores.table[run.unit_scores.table["unit"] != "btbank3_1"]
    return dataclasses.replace(run, unit_scores=dataclasses.replace(run.unit_scores, table=table))


def without_a_fold(run: Result) -> Result:
    assert run.unit_scores is not None
    table = run.unit_scores.table[run.unit_scores.table["fold"] != "btbank3_1/1"]
    return dataclasses.replace(run, unit_scores=dataclasses.replace(run.unit_scores, table=table))


def changed_folds(name: Callable[[str], str]) -> pd.DataFrame:
    table = make_scores("onset", "within-session", 0.7, "2025.10", 0)
    return table.assign(fold=table["fold"].map(name))


def instead_of_onset(run: Result) -> list[Result]:
    return [run, *make_runs(splits=["within-session"], tasks=list(TASKS)[1:])]


def whole() -> list[Result]:
    return make_runs(splits=["within-session"])


REFUSED: dict[str, tuple[Callable[[], list[Result]], str]] = {
    "nothing": (list, "no run of neuroprobe"),
    "a task missing": (lambda: whole()[1:], r"Within-Session lacks 1 of 15 tasks \(onset\)"),
    "a split half done": (
        lambda: [*whole(), make_run("onset", "cross-session")],
        "Cross-Session lacks 14 of 15",
    ),
    "a session missing": (
        lambda: instead_of_onset(without_a_session(make_run())),
        r"Within-Session onset lacks 1 sessions \(btbank3_1\)",
    ),
    "a fold missing": (
        lambda: instead_of_onset(without_a_fold(make_run())),
        "Within-Session onset btbank3_1 has the folds 0 instead of 0, 1",
    ),
    "a run failed": (
        lambda: instead_of_onset(make_run(status="failed")),
        "onset within-session: fold .*: ValueError: boom",
    ),
    "definitions mixed": (
        lambda: instead_of_onset(make_run(definition="2025.09")),
        "The definition differs: .*2025.09/onset .* has 2025.09, .* has 2025.10",
    ),
    "multiclass": (
        lambda: instead_of_onset(make_run(options={"multiclass": True})),
        "onset within-session is multiclass",
    ),
    "nano": (lambda: instead_of_onset(make_run(options={"subset": "nano"})), "subset=nano; expected lite"),
    "another window": (
        lambda: instead_of_onset(make_run(options={"offset_s": [0.5, 1.5]})),
        r"offset_s=\[0.5, 1.5\]",
    ),
    "an unknown option": (lambda: instead_of_onset(make_run(options={"shuffled": True})), "shuffled=True"),
    "several decoders": (
        lambda: [*whole(), make_run(decoder="cnn")],
        r"2 decoders \(linear, cnn\); choose one",
    ),
    "two runs of a task": (
        lambda: [*whole(), dataclasses.replace(make_run(), folder=Path("again"))],
        "two runs of onset, within-session: .* and .*again",
    ),
    "two seeds": (lambda: instead_of_onset(make_run(seed=1)), "The seed differs: .* has 1, .* has 0"),
    "two codes": (lambda: instead_of_onset(make_run(code="d")), "The code of the decoder differs"),
    "two settings": (
        lambda: instead_of_onset(make_run(parameters={"C": 2.0})),
        "The parameters of the decoder differs",
    ),
    "simulated": (
        lambda: make_runs(splits=["within-session"], simulated=True),
        "15 of 15 runs are on simulated",
    ),
    "strange folds": (
        lambda: instead_of_onset(make_run(scores=changed_folds(lambda name: name.replace("/", "-")))),
        'fold "btbank10_0-0" of session btbank10_0 is not one of the published',
    ),
    "five folds": (
        lambda: instead_of_onset(make_run(scores=changed_folds(lambda name: name.replace("/1", "/4")))),
        "has the folds 0, 4 instead of 0, 1",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_not_a_whole_submission_is_refused_by_name(case: str, tmp_path: Path):
    make, words = REFUSED[case]
    with pytest.raises(InputError, match=words):
        export(make(), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_decoder_that_is_asked_for_is_taken(tmp_path: Path):
    runs = [*make_runs(splits=["cross-session"]), *make_runs("cnn", splits=["cross-session"], quality=0.8)]
    folder = export(runs, tmp_path, decoder="cnn")
    assert read_submission(folder).model_name == "cnn"
    with pytest.raises(InputError, match='no run of the decoder "gru"; there are runs of linear, cnn'):
        export(runs, tmp_path, decoder="gru")


def test_one_split_can_be_asked_for(tmp_path: Path):
    runs = [*make_runs(splits=["cross-session"]), make_run("onset", "within-session")]
    assert read_submission(export(runs, tmp_path, splits=["Cross-Session"])).splits == ("cross-session",)
    with pytest.raises(InputError, match="Cross-Subject has no run"):
        export(runs, tmp_path, splits=["cross-session", "cross-subject"])


def test_a_failed_run_that_was_made_good_is_left_out():
    runs = [make_run("onset", "cross-session", status="failed"), *make_runs(splits=["cross-session"])]
    chosen = choose_runs(runs)
    assert len(chosen.scores) == 15 * 12
    assert "an earlier attempt failed" in chosen.notes[0]


def test_a_simulated_submission_says_so_wherever_it_is_shown(tmp_path: Path):
    runs = make_runs(splits=["cross-session"], simulated=True)
    folder = export(runs, tmp_path, allow_simulated=True)
    assert folder.name == "linear_simulated_Ada_Example_02_05_2026"
    said = json.loads((folder / "metadata.json").read_text())
    assert said["description"].startswith("simulated:")
    assert read_submission(folder).simulated
    verdict = check_submission(folder)
    assert verdict.accepted
    assert verdict.simulated
    entries, _ = entries_from_neuroprobe([folder])
    assert all(entry.simulated for entry in entries)
    mixed = [*runs[1:], make_run("onset", "cross-session")]
    with pytest.raises(InputError, match=r"is simulated and .* is not"):
        export(mixed, tmp_path / "b", allow_simulated=True)


def test_nothing_is_overwritten_and_nothing_half_written_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    runs = make_runs(splits=["cross-session"])
    folder = export(runs, tmp_path)
    before = (folder / "metadata.json").read_bytes()
    with pytest.raises(InputError, match="nothing is overwritten"):
        export(runs, tmp_path, description="another")
    assert (folder / "metadata.json").read_bytes() == before
    import neuroarena.families.neuroprobe.submission_writer as writer

    def full(*_: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(writer, "write_text", full)
    with pytest.raises(OSError, match="no space"):
        export(runs, tmp_path / "other")
    assert list((tmp_path / "other").iterdir()) == []


def test_the_commands_export_and_check(tmp_path: Path):
    for run in make_runs(splits=["cross-session"]):
        save_result(run, tmp_path / "results")
    (tmp_path / "paper.bib").write_text("@misc{a, title={B}}")
    words = [
        "export",
        "neuroprobe",
        str(tmp_path / "results"),
        "--author",
        "Ada Example",
        "--out",
        str(tmp_path / "out"),
    ]
    signed = [*words, "--bib", str(tmp_path / "paper.bib"), "--attest", "--json"]
    unsaid = CliRunner().invoke(app, signed)
    assert "which a pretraining card must show" in str(unsaid.exception)
    card = tmp_path / "pretraining.toml"
    card.write_text('schema_version = 1\nmodel = "mine"\n[[pretraining]]\ndataset = "neuroprobe"\n')
    forbidden = CliRunner().invoke(app, [*signed, "--pretraining", str(card)])
    assert "session 1_1 is judged" in str(forbidden.exception)
    assert not (tmp_path / "out").exists()
    card.write_text('schema_version = 1\nmodel = "mine"\n')
    made = CliRunner().invoke(app, [*signed, "--pretraining", str(card)])
    assert made.exit_code == 0, made.output
    said = json.loads(made.stdout)
    assert said["accepted"]
    assert said["official_accepts"]
    shown = CliRunner().invoke(app, ["check", "submission", "neuroprobe", said["path"]])
    assert shown.exit_code == 0
    assert "Accepted by the official rules and by ours." in shown.stdout
    refused = CliRunner().invoke(app, words)
    assert isinstance(refused.exception, InputError)
    assert "nothing is overwritten" in str(refused.exception)


@pytest.mark.parametrize(("content", "words"), [("no entry", "holds no BibTeX entry"), (" ", "is empty")])
def test_a_publication_that_is_none_is_refused(tmp_path: Path, content: str, words: str):
    with pytest.raises(InputError, match=words):
        export(make_runs(splits=["cross-session"]), tmp_path / "out", bib=content)
    assert not (tmp_path / "out").exists()
