"""Boards of others, imported: the Neuroprobe leaderboard with intervals, the EEG challenge 2025 without."""

from __future__ import annotations

import json
import math
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from entry_making import make_entry
from neuroarena.board.board import Board
from neuroarena.board.entries import Entry
from neuroarena.board.rules import Rules
from neuroarena.board.site import build_site, read_sources
from neuroarena.board.site.views import separate_views
from neuroarena.errors import InputError
from neuroarena.families.eeg2025.importer import entries_from_eeg2025
from neuroarena.families.neuroprobe.importer import entries_from_neuroprobe
from neuroarena.families.neuroprobe.submission_checks import EXPECTED_SESSIONS
from neuroarena.families.neuroprobe.submissions import aggregate
from neuroarena.families.neuroprobe.tasks import TASKS
from shared_data import SHARED

REAL = SHARED / "data" / "neuroprobe" / "submissions"
FINAL_BOARD = SHARED / "data" / "eeg2025" / "final_board.csv"
QUICK = Rules(n_draws=200)
needs_submissions = pytest.mark.skipif(
    not REAL.is_dir(), reason="the public submissions are not beside the project"
)


def write_submission(folder: Path, quality: float, split: str = "Cross-Session", **changes: Any) -> Path:
    """A submission of one split; every session also has two single electrodes of chance and of 0.7."""
    header = {
        "model_name": f"Model {folder.name}",
        "description": "",
        "author": "Ada Example",
        "organization": "Lab",
        "organization_url": "",
        "timestamp": 1758846454,
    }
    (folder / split).mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps({**header, **changes}))
    for name in ("PUBLICATION.bib", "ATTESTATION.txt"):
        (folder / name).write_text("N/A")
    n_folds = 2 if split == "Within-Session" else 1
    for number, task in enumerate(TASKS):
        rng = np.random.default_rng(number)
        results = {}
        for session in EXPECTED_SESSIONS[split.lower()]:

            def block(*scores: float) -> dict[str, Any]:
                folds = [{"test_roc_auc": score} for score in scores]
                return {"one_second_after_onset": {"time_bin_start": 0, "time_bin_end": 1, "folds": folds}}

            results[session] = {
                "population": block(*(quality + rng.uniform(-0.02, 0.02) for _ in range(n_folds))),
                "electrode": {"T1a1": block(*[0.5] * n_folds), "T1a2": block(*[0.7] * n_folds)},
            }
        content = json.dumps({"evaluation_results": results})
        (folder / split / f"population_{task}.json").write_text(content)
    return folder


@needs_submissions
def test_the_real_submissions_rank_on_the_board_with_the_published_means():
    folders = sorted(REAL.iterdir())
    entries, notes = entries_from_neuroprobe(folders)
    assert len(entries) == 3 * 3 * 15
    board = Board(entries, QUICK)
    for split in ("within-session", "cross-session", "cross-subject"):
        ranking = board.ranking("overall", split)
        assert ranking.definition == "2025.09"
        assert ranking.n_units == (10 if split == "cross-subject" else 12)
        shown = ranking.table.set_index("team")["score"]
        for folder in folders:
            team = next(entry.team for entry in entries if entry.provenance["folder"] == folder.name)
            published = aggregate(folder, split)["mean"]
            assert shown[team] == pytest.approx(published["overall"], abs=1e-12)
            task = board.ranking("word_gap", split).table.set_index("team")["score"]
            assert task[team] == pytest.approx(published["word_gap"], abs=1e-12)
        assert (ranking.table["ci95_low"] < ranking.table["score"]).all()
    first = board.ranking("overall", "within-session").table["team"].iloc[0]
    assert first == "Linear (Laplacian re-referencing + spectrogram) (Andrii Zahorodnii)"
    assert any(
        "every session has one fold where two are expected (12 sessions: btbank1_1" in one for one in notes
    )
    assert sum("definition 2025.09" in one for one in notes) == 3


@needs_submissions
def test_the_single_fold_is_marked_beside_the_team_and_an_absent_author_is_not_shown():
    folder = next(one for one in REAL.iterdir() if one.name.startswith("PopulationTransformer"))
    entries, notes = entries_from_neuroprobe([folder], "Within-Session")
    assert {entry.team for entry in entries} == {"PopulationTransformer (Chau et al. 2024)"}
    assert {entry.notes for entry in entries} == {("1 fold instead of 2 in 12 of 12 sessions",)}
    _, elsewhere = entries_from_neuroprobe([folder], "cross-session")
    assert len(notes) == 2
    assert len(elsewhere) == 1


def test_entries_carry_the_manifest_units_clusters_and_where_they_come_from(tmp_path: Path):
    entries, notes = entries_from_neuroprobe([write_submission(tmp_path / "a", 0.6)])
    assert [entry.task for entry in entries] == list(TASKS)
    entry = entries[0]
    assert entry.benchmark == "neuroprobe@2025.09/onset"
    assert (entry.team, entry.split) == ("Model a (Ada Example)", "cross-session")
    assert entry.manifest.definition == "2025.09"
    assert entry.time.isoformat() == "2025-09-26T00:27:34+00:00"
    assert entry.provenance["folder"] == "a"
    assert entry.unit_scores is not None
    assert set(entry.unit_scores["cluster"]) == {f"subject {subject}" for subject in (1, 2, 3, 4, 7, 10)}
    assert len(entry.unit_scores) == 12
    assert "a: Within-Session: the split is missing." in notes


def test_mixed_definitions_are_refused_with_both_folders_unless_asked_for(tmp_path: Path):
    old = write_submission(tmp_path / "old", 0.6)
    new = write_submission(tmp_path / "new", 0.7, timestamp=1780000000)
    with pytest.raises(
        InputError, match=r"old follows definition 2025\.09 .*, new follows 2025\.10 .*--allow-mixed"
    ):
        entries_from_neuroprobe([old, new])
    entries, _ = entries_from_neuroprobe([old, new], allow_mixed=True)
    table = Board(entries, QUICK, allow_mixed=True).ranking("overall", "cross-session").table
    assert table["team"].tolist() == ["Model new (Ada Example)", "Model old (Ada Example)"]
    assert "definition 2025.10" in table["notes"].iloc[0]


def test_folders_of_one_name_are_rows_of_their_own(tmp_path: Path):
    same = {"model_name": "Twin"}
    folders = [write_submission(tmp_path / name, 0.6, **same) for name in ("a", "b")]
    entries, _ = entries_from_neuroprobe(folders)
    assert {entry.team for entry in entries} == {"Twin (Ada Example) [a]", "Twin (Ada Example) [b]"}
    newer = write_submission(tmp_path / "c", 0.6, timestamp=1780000000, **same)
    entries, _ = entries_from_neuroprobe([folders[0], newer], allow_mixed=True)
    assert {entry.team for entry in entries} == {
        "Twin (Ada Example) [2025.09]",
        "Twin (Ada Example) [2025.10]",
    }


def test_what_misses_a_session_a_task_or_a_split_never_ranks_and_says_why(tmp_path: Path):
    whole = write_submission(tmp_path / "whole", 0.6)
    session = write_submission(tmp_path / "session", 0.9)
    path = session / "Cross-Session" / "population_pitch.json"
    data = json.loads(path.read_text())
    del data["evaluation_results"]["btbank7_1"]
    path.write_text(json.dumps(data))
    task = write_submission(tmp_path / "task", 0.9)
    (task / "Cross-Session" / "population_pitch.json").unlink()
    split = write_submission(tmp_path / "split", 0.9, split="Cross-Subject")
    entries, notes = entries_from_neuroprobe([whole, session, task, split], "Cross-Session")
    assert "session: Cross-Session: 1 session missing in pitch (btbank7_1)." in notes
    assert "task: Cross-Session: 1 task missing (pitch)." in notes
    assert "split: Cross-Session: the split is missing." in notes
    board = Board(entries, QUICK)
    pitch = board.ranking("pitch", "cross-session")
    assert pitch.table["team"].tolist() == ["Model whole (Ada Example)"]
    reasons = pitch.unranked.set_index("team")["reason"]
    assert reasons["Model session (Ada Example)"] == "it lacks 1 of 12 sessions: btbank7_1"
    assert reasons["Model task (Ada Example)"] == "it has no scores of pitch"
    assert "no scores of Cross-Session; it has Cross-Subject" in reasons["Model split (Ada Example)"]
    assert board.ranking("overall", "cross-session").table["team"].tolist() == ["Model whole (Ada Example)"]


def test_single_electrodes_have_a_board_of_their_own(tmp_path: Path):
    folder = write_submission(tmp_path / "a", 0.9, split="Within-Session")
    entries, _ = entries_from_neuroprobe([folder], level="electrode")
    assert {entry.notes for entry in entries} == {("mean over single electrodes",)}
    table = Board(entries, QUICK).ranking("overall", "within-session").table
    assert table["score"].iloc[0] == pytest.approx(0.6, abs=1e-12)


def test_importing_nothing_or_the_impossible_is_refused(tmp_path: Path):
    folder = write_submission(tmp_path / "a", 0.6)
    with pytest.raises(InputError, match="No folder was named"):
        entries_from_neuroprobe([])
    with pytest.raises(InputError, match="named twice"):
        entries_from_neuroprobe([folder, tmp_path / "x" / ".." / "a"])
    with pytest.raises(InputError, match="None of the submissions has scores of Cross-Subject"):
        entries_from_neuroprobe([folder], "Cross-Subject")
    with pytest.raises(InputError, match='"brain" is not a level'):
        entries_from_neuroprobe([folder], level="brain")
    with pytest.raises(InputError, match='no split "sideways"'):
        entries_from_neuroprobe([folder], "sideways")
    with pytest.raises(InputError, match="this folder does not exist"):
        entries_from_neuroprobe([tmp_path / "nothing"])
    only = shutil.copytree(folder, tmp_path / "without electrodes")
    for path in (only / "Cross-Session").iterdir():
        data = json.loads(path.read_text())
        for levels in data["evaluation_results"].values():
            del levels["electrode"]
        path.write_text(json.dumps(data))
    with pytest.raises(InputError, match='at the level "electrode"'):
        entries_from_neuroprobe([only], level="electrode")


@pytest.mark.skipif(not FINAL_BOARD.is_file(), reason="the final board is not beside the project")
def test_the_final_board_of_2025_is_a_board_without_intervals(capsys: pytest.CaptureFixture[str]):
    board = entries_from_eeg2025(FINAL_BOARD)
    assert len(board.table) == 184
    assert board.summary["n_late"] == 10
    assert "no interval" in board.notes[0]
    said = json.loads(json.dumps(board.to_dict(), allow_nan=False))
    assert len(said["rows"]) == 184
    assert all(math.isfinite(row["overall"]) for row in said["rows"])
    board.print(top=3)
    assert "0.96381" in capsys.readouterr().out
    later = entries_from_eeg2025(FINAL_BOARD, deadline="2026-01-01T00:00:00Z")
    assert later.summary["n_late"] == 0


@pytest.fixture
def of_two_definitions(tmp_path: Path) -> Path:
    submissions = tmp_path / "submissions"
    for name, quality, definition in (("a", 0.7, "2025.09"), ("b", 0.6, "2025.10"), ("c", 0.65, "2025.10")):
        write_submission(submissions / name, quality, definition=definition)
    return submissions


def test_folders_of_two_definitions_and_levels_are_read_for_boards_beside_each_other(
    of_two_definitions: Path,
):
    sources = read_sources([of_two_definitions])
    views = {(entry.benchmark.split("/")[0], entry.split) for entry in sources.entries}
    assert views == {
        (f"neuroprobe@{definition}", f"cross-session · {level}{definition}")
        for definition in ("2025.09", "2025.10")
        for level in ("", "single electrodes, ")
    }


@pytest.mark.drill
def test_a_site_has_boards_of_every_definition_and_level(of_two_definitions: Path, tmp_path: Path):
    sources = read_sources([of_two_definitions])
    build_site(Board(sources.entries, QUICK), sources, tmp_path / "site")
    index = (tmp_path / "site/index.html").read_text()
    assert "neuroprobe@2025.10, single electrodes · 15 tasks" in index
    boards = json.loads((tmp_path / "site/index.json").read_text())["boards"]
    assert len(boards) == 4 * 16
    assert {row["leader"] for row in boards if row["split"] == "cross-session · 2025.10"} == {
        "Model c (Ada Example)"
    }


def test_multiclass_tasks_and_single_electrodes_are_views_of_their_own():
    def entry(**options: Any) -> Entry:
        made = make_entry("linear", [0.6], split="cross-session")
        return replace(made, benchmark="neuroprobe@2025.10/onset", provenance={"options": options})

    found = separate_views([entry(), entry(multiclass=True), entry(multiclass=True, level="electrode")])
    assert [each.split for each in found] == [
        "cross-session",
        "cross-session · multiclass",
        "cross-session · multiclass, single electrodes",
    ]
    assert found[2].provenance["split"] == "cross-session"
    assert separate_views([entry(level="population")])[0].split == "cross-session"
