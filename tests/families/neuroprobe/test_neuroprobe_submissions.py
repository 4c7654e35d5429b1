"""Submissions to the Neuroprobe leaderboard: the real ones to the last digit, hand-made ones by hand."""

from __future__ import annotations

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from submission_folders import FOLDERS, block, edit, write_submission

from neuroarena.errors import InputError
from neuroarena.families.neuroprobe.submission_checks import EXPECTED_SESSIONS, ITEM_COUNTS, judged_items
from neuroarena.families.neuroprobe.submissions import (
    aggregate,
    read_submission,
    submission_units,
)
from neuroarena.families.neuroprobe.tasks import TASKS
from shared_data import SHARED

REAL = SHARED / "data" / "neuroprobe" / "submissions"
LAPLACIAN = "Linear_Laplacian_rereferencing_spectrogram_Andrii_Zahorodnii_25_09_2025"
RAW = "Linear_raw_voltage_Andrii_Zahorodnii_25_09_2025"
POPT = "PopulationTransformer_Chau_et_al_2024_Andrii_Zahorodnii_25_09_2025"
needs_submissions = pytest.mark.skipif(
    not REAL.is_dir(), reason="the public submissions are not beside the project"
)


@pytest.fixture(scope="module")
def complete(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_submission(tmp_path_factory.mktemp("leaderboard") / "Complete_Ada_Example_25_09_2025")


@pytest.fixture
def folder(complete: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(complete, tmp_path / complete.name))


def plain_aggregate(folder: Path, split: str) -> tuple[dict[str, float], dict[str, float]]:
    """The published formula written out, from the files alone."""
    means, errors = {}, {}
    for task in TASKS:
        results = json.loads((folder / split / f"population_{task}.json").read_text())["evaluation_results"]
        sessions = []
        for levels in results.values():
            folds = levels["population"]["one_second_after_onset"]["folds"]
            sessions.append(sum(fold["test_roc_auc"] for fold in folds) / len(folds))
        mean = sum(sessions) / len(sessions)
        spread = math.sqrt(sum((score - mean) ** 2 for score in sessions) / len(sessions))
        means[task], errors[task] = mean, spread / math.sqrt(len(sessions))
    means["overall"] = sum(means.values()) / 15
    errors["overall"] = math.sqrt(sum(error**2 for error in errors.values())) / 15
    return means, errors


@needs_submissions
@pytest.mark.parametrize(
    ("split", "overall"), [("Within-Session", 0.660), ("Cross-Session", 0.648), ("Cross-Subject", 0.539)]
)
def test_the_linear_laplacian_submission_gives_the_published_overall_scores(split: str, overall: float):
    table = aggregate(REAL / LAPLACIAN, split)
    assert round(table.loc["overall", "mean"], 3) == overall
    assert list(table.index) == [*TASKS, "overall"]
    assert list(table.columns) == ["mean", "sem"]


@needs_submissions
@pytest.mark.parametrize("split", FOLDERS)
@pytest.mark.parametrize("name", [LAPLACIAN, RAW, POPT])
def test_real_submissions_average_as_the_formula_written_out(name: str, split: str):
    table = aggregate(REAL / name, FOLDERS[split])
    means, errors = plain_aggregate(REAL / name, split)
    for row in table.index:
        assert table.loc[row, "mean"] == pytest.approx(means[row], abs=1e-12)
        assert table.loc[row, "sem"] == pytest.approx(errors[row], abs=1e-12)


@needs_submissions
def test_the_single_fold_of_the_population_transformer_is_reported_by_name():
    submission = read_submission(REAL / POPT)
    sessions = ", ".join(EXPECTED_SESSIONS["within-session"])
    assert submission.problems == (
        f"Within-Session: every session has one fold where two are expected (12 sessions: {sessions})",
    )
    assert read_submission(REAL / LAPLACIAN).problems == ()


@needs_submissions
@pytest.mark.parametrize(("name", "evidence"), [(LAPLACIAN, "accuracy"), (RAW, "accuracy"), (POPT, "date")])
def test_the_definition_of_the_real_submissions_is_known_and_says_how(name: str, evidence: str):
    submission = read_submission(REAL / name)
    assert submission.definition == "2025.09"
    assert submission.definition_evidence.startswith(evidence)
    if evidence == "accuracy":
        assert "of 46 accuracies of onset 46 are whole numbers" in submission.definition_evidence
        assert "1567 and 784 items" in submission.definition_evidence


@needs_submissions
@pytest.mark.parametrize("name", [LAPLACIAN, RAW])
def test_every_accuracy_of_the_linear_submissions_fits_the_published_item_counts(name: str):
    scores = read_submission(REAL / name).scores
    assert len(scores) == 690
    for row in scores.itertuples():
        right = row.accuracy * judged_items(row.task, row.split, row.session, row.fold, "2025.09")
        assert right == pytest.approx(round(right), abs=1e-6), row


@needs_submissions
def test_the_header_of_a_real_submission_is_read():
    submission = read_submission(REAL / POPT)
    assert submission.model_name == "PopulationTransformer (Chau et al. 2024)"
    assert (submission.author, submission.organisation) == ("-", "MIT")
    assert submission.timestamp.isoformat() == "2025-09-26T00:27:36+00:00"
    assert submission.splits == tuple(FOLDERS.values())


def test_a_complete_submission_has_no_problems_and_averages_by_the_formula(folder: Path):
    submission = read_submission(folder)
    assert submission.problems == ()
    for split, ours in FOLDERS.items():
        means, errors = plain_aggregate(folder, split)
        for table in (aggregate(folder, split), aggregate(submission, ours)):
            assert table["mean"].to_dict() == pytest.approx(means, abs=1e-12)
            assert table["sem"].to_dict() == pytest.approx(errors, abs=1e-12)


def test_folds_of_unequal_number_weigh_by_session_not_by_fold(folder: Path):
    path = folder / "Within-Session" / "population_onset.json"
    edit(path, lambda data: data["evaluation_results"]["btbank1_1"]["population"]
         ["one_second_after_onset"]["folds"].pop())  # fmt: skip
    means, _ = plain_aggregate(folder, "Within-Session")
    table = aggregate(folder, "Within-Session")
    assert table.loc["onset", "mean"] == pytest.approx(means["onset"], abs=1e-12)
    problem = "Within-Session: btbank1_1 has one fold where two are expected in onset"
    assert read_submission(folder).problems == (problem,)
    assert table.attrs["problems"] == (problem,)


def test_units_are_sessions_clustered_by_subject_with_the_items_they_were_judged_on(folder: Path):
    units = submission_units(read_submission(folder), "Within-Session")
    assert list(dict.fromkeys(units["task"])) == list(TASKS)
    onset = units[units["task"] == "onset"]
    assert onset["fold"].tolist()[:3] == ["btbank1_1/0", "btbank1_1/1", "btbank1_2/0"]
    assert onset["unit"].nunique() == 12
    assert set(onset["cluster"]) == {f"subject {subject}" for subject in (1, 2, 3, 4, 7, 10)}
    assert onset["n"].tolist()[:2] == [1567, 1567]
    across = submission_units(read_submission(folder), "cross-subject")
    assert across.groupby("task").size().unique().tolist() == [10]
    assert across.loc[across["unit"] == "btbank10_1", "fold"].unique().tolist() == ["btbank10_1"]


def test_items_judged_follow_the_definition():
    assert ITEM_COUNTS.keys() == TASKS.keys()
    assert judged_items("onset", "cross-session", "btbank1_1", 0, "2025.09") == 3134
    assert judged_items("onset", "within-session", "btbank1_1", 1, "2025.10") == 784
    assert judged_items("word_gap", "cross-session", "btbank1_2", 0, "2025.09") == 3464
    assert judged_items("word_gap", "cross-session", "btbank1_2", 0, "2025.10") is None


@pytest.mark.parametrize("definition", ["2025.09", "2025.10"])
def test_accuracies_tell_the_definition_whatever_the_date(definition: str, tmp_path: Path):
    elsewhen = 1758846454 if definition == "2025.10" else 1790000000
    folder = write_submission(
        tmp_path / "a", ("Cross-Session",), ("onset",), definition=definition, timestamp=elsewhen
    )
    submission = read_submission(folder)
    assert submission.definition == definition
    assert submission.definition_evidence.startswith("accuracy denominators: of 12 accuracies")


@pytest.mark.parametrize(
    ("timestamp", "definition"), [(1761177599, "2025.09"), (1761177600, "2025.10"), (1790000000.5, "2025.10")]
)
def test_without_accuracies_the_date_tells_the_definition(timestamp: float, definition: str, tmp_path: Path):
    folder = write_submission(tmp_path / "a", ("Cross-Session",), ("onset",), timestamp=timestamp)
    submission = read_submission(folder)
    assert submission.definition == definition
    assert submission.definition_evidence.startswith("date: ")
    assert "no accuracy of onset is given" in submission.definition_evidence


def test_accuracies_that_were_rounded_tell_nothing_and_the_date_decides(tmp_path: Path):
    folder = write_submission(tmp_path / "a", ("Cross-Session",), ("onset",), definition="2025.10")

    def rounded(data: dict[str, Any]) -> None:
        for levels in data["evaluation_results"].values():
            fold = levels["population"]["one_second_after_onset"]["folds"][0]
            fold["test_accuracy"] = round(fold["test_accuracy"], 3)

    edit(folder / "Cross-Session" / "population_onset.json", rounded)
    submission = read_submission(folder)
    assert submission.definition == "2025.09"
    assert submission.definition_evidence.startswith("date: 2025-09-26 is before 2025-10-23")


@pytest.mark.parametrize("said", ["2025.10", "neuroprobe-2025.10", "neuroprobe@2025.10"])
def test_a_definition_that_is_said_counts_and_a_contradiction_is_named(said: str, tmp_path: Path):
    folder = write_submission(tmp_path / "a", ("Cross-Session",), ("onset",), definition="2025.09")
    edit(folder / "metadata.json", lambda data: data.update(definition=said))
    submission = read_submission(folder)
    assert (submission.definition, submission.definition_evidence) == ("2025.10", "metadata.json says so")
    assert any(
        "states definition 2025.10, but the scores look like 2025.09" in one for one in submission.problems
    )


def test_missing_sessions_tasks_splits_and_papers_are_named(folder: Path):
    shutil.rmtree(folder / "Cross-Subject")
    (folder / "ATTESTATION.txt").unlink()
    (folder / "Cross-Session" / "population_pitch.json").unlink()
    (folder / "Cross-Session" / "population_delta_pitch.json").write_text("{}")
    for task in TASKS:
        path = folder / "Within-Session" / f"population_{task}.json"
        edit(path, lambda data: data["evaluation_results"].pop("btbank7_1"))
    edit(
        folder / "Within-Session" / "population_speech.json",
        lambda data: data["evaluation_results"].pop("btbank1_1"),
    )
    edit(folder / "Within-Session" / "population_volume.json", lambda data: data.update(model_name="Other"))
    problems = read_submission(folder).problems
    fourteen = ", ".join(task for task in TASKS if task != "speech")
    assert set(problems) == {
        "ATTESTATION.txt is missing",
        "Cross-Subject: the split is missing",
        "Cross-Session: 1 task missing (pitch)",
        "Cross-Session: not a task of this benchmark and not read (population_delta_pitch.json)",
        f"Within-Session: 1 session missing in {fourteen} (btbank7_1)",
        "Within-Session: 2 sessions missing in speech (btbank1_1, btbank7_1)",
        'Within-Session: population_volume.json names the model "Other", but metadata.json names "Model"',
    }


def test_an_incomplete_set_of_tasks_is_not_averaged(folder: Path):
    for task in ("pitch", "face_num"):
        (folder / "Cross-Session" / f"population_{task}.json").unlink()
    with pytest.raises(
        InputError, match=r"Cross-Session lacks pitch, face_num\. The overall mean is over all 15"
    ):
        aggregate(folder, "Cross-Session")


def with_electrodes(folder: Path) -> Path:
    """Give every session of Cross-Session two electrodes, btbank1_1 three; fold counts differ on purpose."""

    def add(data: dict[str, Any]) -> None:
        for session, levels in data["evaluation_results"].items():
            levels["electrode"] = {"T1a1": block({"test_roc_auc": 0.5}), "T1a2": block({"test_roc_auc": 0.7})}
            if session == "btbank1_1":
                levels["electrode"]["T1a3"] = block({"test_roc_auc": 0.8}, {"test_roc_auc": 1.0})

    for task in TASKS:
        edit(folder / "Cross-Session" / f"population_{task}.json", add)
    return folder


def test_single_electrodes_are_averaged_over_folds_then_over_electrodes(folder: Path):
    with_electrodes(folder)
    table = aggregate(folder, "Cross-Session", level="electrode")
    sessions = np.array([(0.5 + 0.7 + 0.9) / 3] + [0.6] * 11)
    assert table.loc["onset", "mean"] == pytest.approx(sessions.mean(), abs=1e-12)
    assert table.loc["onset", "sem"] == pytest.approx(sessions.std() / np.sqrt(12), abs=1e-12)
    assert table.loc["overall", "sem"] == pytest.approx(sessions.std() / np.sqrt(12) / np.sqrt(15), abs=1e-12)
    assert table.attrs["n_electrodes"]["speech"]["btbank1_1"] == 3
    units = submission_units(read_submission(folder), "cross-session", "electrode")
    assert units.groupby("task").size().unique().tolist() == [12]
    assert units["n_electrodes"].tolist()[:2] == [3, 2]
    assert read_submission(folder).problems == (
        "Cross-Session, single electrodes: btbank1_1 has two folds where one is expected in all 15 tasks",
    )
    means, _ = plain_aggregate(folder, "Cross-Session")
    assert aggregate(folder, "Cross-Session")["mean"].to_dict() == pytest.approx(means, abs=1e-12)


def test_another_time_bin_is_averaged_when_asked_for(folder: Path):
    late = {"time_bin_start": 0.5, "time_bin_end": 0.75, "folds": [{"test_roc_auc": 0.25}]}
    for task in TASKS:
        edit(
            folder / "Cross-Subject" / f"population_{task}.json",
            lambda data: [
                levels["population"].update(late=late) for levels in data["evaluation_results"].values()
            ],
        )
    assert aggregate(folder, "Cross-Subject", time_bin="late")["mean"].unique().tolist() == [0.25]
    means, _ = plain_aggregate(folder, "Cross-Subject")
    assert aggregate(folder, "Cross-Subject")["mean"].to_dict() == pytest.approx(means, abs=1e-12)


@pytest.mark.parametrize(
    ("split", "options", "words"),
    [
        ("Between-Sessions", {}, 'no split "Between-Sessions"; it has Within-Session, Cross-Session'),
        ("Within-Session", {"level": "brain"}, '"brain" is not a level'),
        ("Within-Session", {"level": "electrode"}, 'Within-Session has no scores at the level "electrode"'),
        ("Within-Session", {"time_bin": "late"}, 'no time bin "late"; it has one_second_after_onset'),
    ],
)
def test_asking_for_what_is_not_there_is_refused(split: str, options: dict, words: str, complete: Path):
    with pytest.raises(InputError, match=words):
        aggregate(complete, split, **options)


def test_a_split_that_is_missing_is_refused_and_those_there_are_named(tmp_path: Path):
    folder = write_submission(tmp_path / "a", ("Cross-Session",), ("onset",))
    with pytest.raises(InputError, match="no scores of Within-Session; it has Cross-Session"):
        aggregate(folder, "Within-Session")
