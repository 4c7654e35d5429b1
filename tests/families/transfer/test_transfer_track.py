"""Track 5: the other four tracks under one name, three encoders on all of them, and the board of mean ranks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from neuroarena.board import Board, Rules
from neuroarena.decoders import Chance
from neuroarena.errors import InputError
from neuroarena.evaluation import Result, evaluate, evaluate_all
from neuroarena.families import bci, emg, img, sleep
from neuroarena.families.transfer import FAMILY, transfer_entries, transfer_standings
from neuroarena.families.transfer.decoders import EncoderProbe
from transfer_encoders import ChangesWeights
from transfer_twins import load, write_twins

TRACKS = {
    "img": (img.FAMILY, "things-eeg2", "things_eeg2"),
    "bci": (bci.FAMILY, "commands", "bci_commands"),
    "sleep": (sleep.FAMILY, "sleep-edf", "sleep_edf"),
    "emg": (emg.FAMILY, "emg2qwerty", "emg2qwerty"),
}
ENCODERS = ("random", "handcrafted", "selfsupervised")
TASKS = FAMILY.tasks("2026")
ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "track-transfer.md"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_twins(tmp_path_factory.mktemp("transfer"))


@pytest.fixture(scope="module")
def results(root: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Result]:
    decoders = [(name, EncoderProbe(name)) for name in ENCODERS]
    loaded = [load(root, task) for task in TASKS]
    return evaluate_all(decoders, loaded, [None], cache=tmp_path_factory.mktemp("cache"))


def score_of(results: list[Result], encoder: str, task: str) -> float:
    (found,) = [
        result.score
        for result in results
        if result.record.decoder.name.startswith(encoder) and result.record.benchmark.name.endswith(task)
    ]
    assert found is not None
    return found


# --- the rules ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("task", TASKS)
def test_examples_splits_and_metrics_are_those_of_the_track(root, task):
    family, own, dataset = TRACKS[task]
    ours, theirs = load(root, task), family.load(own, "2026", str(root / dataset))
    split = theirs.splits[0]
    assert ours.examples.equals(theirs.examples)
    assert ours.splits == (split,)
    assert ours.split(split).hash == theirs.split(split).hash
    for field in (
        "metric",
        "tie_break",
        "unit",
        "cluster",
        "combiner",
        "prediction",
        "classes",
        "stream",
        "caps",
    ):
        assert getattr(ours.manifest, field) == getattr(theirs.manifest, field)
    assert ours.name == f"transfer@2026/{task}"
    assert ours.simulated
    assert ours.manifest.hash != theirs.manifest.hash


def test_the_four_tracks_are_those_of_the_seed():
    assert TASKS == ("img", "bci", "sleep", "emg")
    assert [FAMILY.manifest(task, "2026").metric for task in TASKS] == [
        "top5",
        "balanced_accuracy",
        "mae",
        "cer",
    ]
    assert [FAMILY.window(task, "2026").rate_hz for task in TASKS] == [100.0, 500.0, 100.0, 2000.0]
    assert [FAMILY.splits(task, "2026") for task in TASKS] == [
        ("unseen-images",),
        ("later-sessions",),
        ("other-people",),
        ("other-people",),
    ]


@pytest.mark.parametrize("task", TASKS)
def test_a_manifest_says_its_head_with_the_settings_that_are_used(task):
    from neuroarena.families.transfer.decoders import heads, onset_head

    notes = " ".join(FAMILY.manifest(task, "2026").notes)
    said = {
        "img": (f"penalty {heads.WINDOW_PENALTY:g} for every training epoch",),
        "bci": (f"C = {heads.LABEL_C:g}",),
        "sleep": (
            f"cut off at {onset_head.MOST_SECONDS:g} s",
            f"penalty {heads.STREAM_PENALTY:g} for every training window",
        ),
        "emg": (f"C = {heads.FRAME_C:g};", "greedy CTC"),
    }[task]
    assert all(words in notes for words in (*said, "standardise", "a different one voids the entry"))


def test_a_missing_dataset_is_named_with_the_way_to_make_one(tmp_path):
    with pytest.raises(
        InputError, match=r"has no folder emg2qwerty/. .* neuroarena data simulate emg2qwerty"
    ):
        load(tmp_path, "emg")


def test_datasets_are_found_below_the_data_folder_of_the_user(root, monkeypatch):
    monkeypatch.setenv("NEUROARENA_DATA", str(root))
    assert FAMILY.load("bci", "2026").examples.equals(load(root, "bci").examples)


# --- three encoders on four tracks --------------------------------------------------------------------------


def test_every_encoder_is_judged_on_every_track(results):
    assert len(results) == 12
    assert [result.record.cells[0].error for result in results if not result.complete] == []
    names = {result.record.decoder.name for result in results}
    assert names == {"random (untrained)", "handcrafted", "selfsupervised"}


def test_every_record_holds_the_hash_of_the_weights_and_there_are_three(results):
    hashes = {(result.record.decoder.name, result.record.decoder.encoder_weights) for result in results}
    assert len(hashes) == len({known for _, known in hashes}) == 3


@pytest.mark.parametrize(("task", "chance"), [("img", 5 / 40), ("bci", 1 / 3)])
def test_trained_and_handcrafted_encoders_are_above_chance(results, task, chance):
    for encoder in ("handcrafted", "selfsupervised"):
        assert score_of(results, encoder, task) > 1.5 * chance


def test_handcrafted_frames_type_better_than_random_ones(results):
    assert score_of(results, "handcrafted", "emg") < score_of(results, "random", "emg")


def brute_force(results: list[Result]) -> dict[str, float]:
    """Rank by hand: on each track by the score in its direction, equals share the smallest rank."""
    ranks: dict[str, list[int]] = {}
    for task in TASKS:
        own = [each for each in results if each.record.benchmark.name.endswith(f"/{task}")]
        sign = own[0].manifest.sign
        scores = {each.record.decoder.name: sign * each.score for each in own}
        for name, score in scores.items():
            ranks.setdefault(name, []).append(1 + sum(other > score for other in scores.values()))
    return {name: sum(own) / 4 for name, own in ranks.items()}


def test_the_board_is_the_mean_rank_counted_by_hand(results):
    board = Board(transfer_entries(results), Rules(n_draws=200))
    standings = transfer_standings(board.rankings)
    assert not isinstance(standings, str)
    table, expected = standings.table.set_index("team"), brute_force(results)
    assert table["mean_rank"].to_dict() == pytest.approx(expected)
    assert table["score"].to_dict() == pytest.approx(
        {name: 100 * (1 - (rank - 1) / 2) for name, rank in expected.items()}
    )
    assert "N = 3 encoders on all 4 tracks" in standings.rule
    assert standings.simulated


def test_the_draws_are_ranked_again_inside_each(results):
    board = Board(transfer_entries(results), Rules(n_draws=200))
    standings = transfer_standings(board.rankings)
    assert not isinstance(standings, str)
    assert standings.draws is not None
    expected = np.zeros_like(standings.draws.scores)
    for ranking in board.rankings:
        columns = ranking.draws.scores[:, [ranking.draws.position(team) for team in standings.draws.teams]]
        gap = 1e-12 * np.abs(columns).max()
        expected += np.array([[1 + np.sum(row > own + gap) for own in row] for row in columns])
    np.testing.assert_allclose(standings.draws.scores, -expected / 4, atol=1e-12)


def test_an_encoder_that_lacks_a_track_is_not_on_the_board(results):
    some = [each for each in results if each is not results[-1]]
    board = Board(transfer_entries(some), Rules(n_draws=100))
    standings = transfer_standings(board.rankings)
    assert not isinstance(standings, str)
    assert "selfsupervised" not in set(standings.table["team"])
    assert standings.unranked.set_index("team")["reason"]["selfsupervised"] == "not on emg"


def test_without_all_four_tracks_there_is_no_board(results):
    some = [each for each in results if not each.record.benchmark.name.endswith("/sleep")]
    board = Board(transfer_entries(some), Rules(n_draws=100))
    assert transfer_standings(board.rankings) == ("No transfer board: there are no results on sleep.")


# --- identity -----------------------------------------------------------------------------------------------


def test_an_encoder_that_changes_its_weights_between_tracks_is_void(root, results, tmp_path):
    ChangesWeights.made = 0
    changed = [
        evaluate(
            EncoderProbe("transfer_encoders:ChangesWeights"),
            load(root, task),
            name="chameleon",
            cache=tmp_path / "cache",
        )
        for task in ("img", "bci")
    ]
    assert all(each.complete for each in changed)
    board = Board(transfer_entries([*results, *changed]), Rules(n_draws=100))
    for ranking in board.rankings[:2]:
        assert "chameleon" not in set(ranking.table["team"])
    standings = transfer_standings(board.rankings)
    assert not isinstance(standings, str)
    assert "N = 3" in standings.rule
    reason = standings.unranked.set_index("team")["reason"]["chameleon"]
    assert "void: the weights identity check found different weights under one name" in reason
    assert re.search(r"[0-9a-f]{12} on bci, [0-9a-f]{12} on img", reason)


def test_a_decoder_that_is_no_encoder_is_void_and_a_floor_is_not(root, tmp_path):
    floor = evaluate(Chance(), load(root, "bci"), name="chance", cache=tmp_path)
    decoder = floor.record.decoder.model_copy(update={"name": "stranger", "role": "entry"})
    record = floor.record.model_copy(update={"decoder": decoder})
    stranger = Result(record, floor.predictions, floor.unit_scores)
    first, second = transfer_entries([floor, stranger])
    assert first.reason is None
    assert "holds no hash of an encoder's weights" in str(second.reason)


def test_the_page_names_tests_that_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(test_\w+)`", PAGE.read_text(encoding="utf-8"))
    assert len(named) >= 12
    for file, name in named:
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(encoding="utf-8"), re.M), (
            f"{file}::{name}"
        )
