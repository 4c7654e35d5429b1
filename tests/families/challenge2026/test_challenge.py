"""What spans the tracks of the challenge of 2026: rules by name, and boards over several tracks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from entry_making import make_entry, make_manifest
from neuroarena.benchmarks import FAMILIES, load_benchmark
from neuroarena.benchmarks.faces import choose_face, named_faces
from neuroarena.board import Board, Entry, Rules
from neuroarena.cli import main
from neuroarena.decoders import Chance
from neuroarena.errors import InputError, UnknownName
from neuroarena.evaluation import evaluate
from neuroarena.families.challenge2026 import FAMILY, challenge_points
from neuroarena.families.challenge2026.definition import read_definition
from neuroarena.families.transfer import FAMILY as TRANSFER
from toy import toy_benchmark

QUICK = Rules(n_draws=100)


def entry(team: str, track: str, score: float, split: str = "cross") -> Entry:
    """Make an entry of a track, named as a benchmark of its family."""
    family, _, task = track.partition("/")
    made = make_entry(team, [score, score], task=task, split=split, manifest=make_manifest(task))
    return Entry(
        team,
        f"{family}@1/{task}",
        split,
        made.manifest,
        made.unit_scores,
        made.time,
        provenance=made.provenance,
    )


def test_the_final_ranking_counts_the_best_of_the_last_five_and_the_public_one_the_best_ever():
    rules = named_faces("rules")
    assert Rules.of(**dict(rules["challenge-2026"])).last == 5
    assert Rules.of(**dict(rules["challenge-2026-public"])).last is None


def test_a_family_without_tasks_is_refused_as_a_benchmark_with_a_sentence():
    with pytest.raises(InputError, match="has no tasks of its own"):
        load_benchmark("challenge2026")
    with pytest.raises(InputError, match="families of their own"):
        FAMILY.manifest("img", "2026")


def test_the_tracks_are_those_that_transfer_reuses():
    tracks = read_definition().tracks
    assert tuple(tracks) == TRANSFER.tasks("2026")
    for track, benchmark in tracks.items():
        family, _, task = benchmark.partition("/")
        own = TRANSFER.manifest(track, "2026")
        assert own.title == f"Transfer: {FAMILIES.get(family).manifest(task, '2026').title}"


def test_a_track_of_the_challenge_that_nobody_entered_counts_nothing_for_everyone():
    entries = [
        entry("a", "img/things-eeg2", 0.9),
        entry("b", "img/things-eeg2", 0.8),
        entry("a", "bci/commands", 0.6),
        entry("b", "bci/commands", 0.7),
        entry("c", "toy/onset", 0.9),
    ]
    standings = challenge_points(Board(entries, QUICK).rankings)
    rows = standings.table.set_index("team")
    # Two teams: 1 and 0 points on each track. Submitted: (1 + 0) / 2; all four tracks: 1 / 4.
    assert rows.loc["a", ["img", "bci", "submitted", "all_tracks"]].tolist() == [1.0, 0.0, 0.5, 0.25]
    assert rows.loc["b", ["img", "bci", "submitted", "all_tracks"]].tolist() == [0.0, 1.0, 0.5, 0.25]
    assert "c" not in rows.index
    assert "sum / 4" in standings.rule


def test_other_benchmarks_have_no_points_of_the_challenge():
    with pytest.raises(InputError, match="img/things-eeg2"):
        challenge_points(Board([entry("a", "toy/onset", 0.9)], QUICK).rankings)


def test_a_track_on_two_splits_is_refused_with_the_option_that_chooses_one():
    entries = [entry("a", "img/things-eeg2", 0.9), entry("a", "img/things-eeg2", 0.9, split="within")]
    with pytest.raises(InputError, match="--split"):
        challenge_points(Board(entries, QUICK).rankings)


def test_unknown_names_of_rules_and_standings_tell_what_there_is():
    with pytest.raises(UnknownName, match="challenge-2026, challenge-2026-public"):
        choose_face("rules", "challenge-2025", "file or shipped rules")
    with pytest.raises(UnknownName, match="points, transfer"):
        choose_face("standings", "marks", "board over tracks")


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    """Ask for a board of one run, in this process; return the exit code, and what was said."""
    evaluate(Chance(), toy_benchmark(), out=tmp_path / "runs", cache=tmp_path / "cache")

    def asked(*words: str) -> tuple[int, str]:
        line = ["neuroarena", "board", str(tmp_path / "runs"), "--draws", "100", *words]
        monkeypatch.setattr(sys, "argv", line)
        with pytest.raises(SystemExit) as left:
            main()
        said = capsys.readouterr()
        return int(left.value.code or 0), said.out or said.err

    return asked


def test_the_command_takes_rules_and_boards_over_tracks_by_name(ask):
    code, said = ask("--rules", "challenge-2026", "--json")
    assert (code, json.loads(said)["rules"]["rule"]) == (0, "best-of-last-5")
    # What is typed comes before what the rules say.
    assert (
        json.loads(ask("--rules", "challenge-2026", "--rule", "latest", "--json")[1])["rules"]["rule"]
        == "latest"
    )
    code, said = ask("--over-tracks", "points")
    assert code == 2
    assert "floors and organisers get no points" in said
    assert ask("--over-tracks", "marks") == (
        2,
        'neuroarena: No board over tracks "marks". There are: challenge-2026-points, points, transfer.\n',
    )
    code, said = ask("--rules", "challenge-2027")
    assert code == 2
    assert "There are: challenge-2026, challenge-2026-public." in said
