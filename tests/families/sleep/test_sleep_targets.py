"""What is particular about sleep targets: naps, a k that changes nothing, and answers that follow from ids."""

from __future__ import annotations

import hashlib
import hmac
from pathlib import Path

import numpy as np
import pytest

from neuroarena.benchmarks import Benchmark, load_benchmark
from neuroarena.benchmarks.faces import face_of
from neuroarena.board import Board, entries_from_results
from neuroarena.errors import InputError
from neuroarena.evaluation import evaluate
from neuroarena.evaluation.leaks import check_leaks
from neuroarena.families.sleep import FAMILY, sleep_edf
from neuroarena.families.sleep.decoders import SleepMedian
from neuroarena.families.sleep.family import stretch_rule
from neuroarena.families.sleep.sleep_edf.hypnogram import slept_before_the_night
from neuroarena.families.sleep.stretches import StretchRule

edfio = pytest.importorskip("edfio")
PUBLIC = StretchRule("sleep/sleep-edf", 300.0, 1500.0, 1800.0)


@pytest.fixture(scope="module")
def nights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("targets") / "twin"
    sleep_edf.simulate(folder, people=3, nights=1, minutes=51)
    return folder


@pytest.fixture(scope="module")
def usual(nights: Path) -> Benchmark:
    benchmark = load_benchmark("sleep/sleep-edf", str(nights))
    assert isinstance(benchmark, Benchmark)
    return benchmark


def rescore(folder: Path, key: str, rows: list[tuple[int, int, str]]) -> None:
    scored = [edfio.EdfAnnotation(*row) for row in rows]
    edfio.Edf([], annotations=scored).write(folder / "sleep-cassette" / f"{key}EC-Hypnogram.edf")


@pytest.mark.parametrize(
    ("stages", "nap"),
    [
        (["W"] * 9 + ["N2"] * 60 + ["W"] * 240 + ["N1", "N2", "N2"], True),
        (["W"] * 9 + ["N2"] * 60 + ["W"] * 120 + ["?"] * 120 + ["N2", "N2"], True),
        (["W"] * 9 + ["N2"] * 60 + ["W"] * 239 + ["N1", "N2", "N2"], False),
        (["W"] * 9 + ["N2"] * 60 + ["W"] * 120 + ["N1"] + ["W"] * 120 + ["N2", "N2"], False),
        (["W"] * 9 + ["N2"] * 60 + ["W"] * 900, False),
        (["W"] * 9 + ["N1"] * 60 + ["W"] * 900 + ["N2", "N2"], False),
        (["W"] * 9 + ["N2", "N2"] + ["W"] * 300 + ["N2", "W"], False),
        (["W"] * 9, False),
    ],
)
def test_a_nap_is_stable_n2_that_two_hours_of_wake_part_from_more_of_it(stages: list[str], nap: bool):
    assert slept_before_the_night(stages) is nap


def test_a_nap_before_the_night_counts_and_is_named(tmp_path: Path):
    sleep_edf.simulate(tmp_path / "twin", people=2, nights=1, minutes=240)
    nap = [(0, 1200, "Sleep stage W"), (1200, 600, "Sleep stage 2"), (1800, 7200, "Sleep stage W")]
    rescore(tmp_path / "twin", "SC4001", [*nap, (9000, 900, "Sleep stage 2")])
    benchmark = FAMILY.load("sleep-edf", "2026", str(tmp_path / "twin"))
    (row,) = benchmark.examples[benchmark.examples["id"] == "SC4001"].to_dict("records")
    assert row["start"] / 100 + row["target"] == 1200
    assert row["stop"] / 100 < 9000
    assert benchmark.notes == (
        "1 recordings have a nap before the night, whose stable N2 is the target like any other: SC4001.",
    )


def test_a_k_that_changes_no_target_is_said_to_change_none(tmp_path: Path):
    sleep_edf.simulate(tmp_path / "twin", people=2, nights=1, minutes=51)
    for key in ("SC4001", "SC4011"):
        rescore(tmp_path / "twin", key, [(0, 1800, "Sleep stage W"), (1800, 90, "Sleep stage 2")])

    def notes(k: int) -> tuple[str, ...]:
        return load_benchmark("sleep/sleep-edf", str(tmp_path / "twin"), k=k).notes

    assert notes(1) == ()
    for k in (0, 2):
        assert notes(k) == (
            f"k = {k} leaves every target as it is with k = 1: on these recordings it is the same task under "
            "another hash.",
        )
    # Three epochs of N2: nothing is stable for k = 3, and that is another target.
    assert not any("leaves every target" in note for note in notes(3))


def test_on_public_data_the_answer_follows_from_the_id_alone(usual: Benchmark):
    """Why such boards rank nobody: this guesser has heard nothing."""
    guesses = [PUBLIC.most_before_s(key) for key in usual.examples["id"]]
    np.testing.assert_allclose(guesses, usual.examples["target"], atol=0.01)


def test_with_a_secret_the_draw_is_another_and_cannot_be_had_from_the_id():
    keys = [f"SC4{number:03d}" for number in range(300)]
    secret = bytes(range(32))
    sealed = stretch_rule(FAMILY.manifest("sleep-edf", "2026"), secret)
    drawn = np.array([sealed.most_before_s(key) for key in keys])
    public = np.array([PUBLIC.most_before_s(key) for key in keys])
    assert abs(np.corrcoef(drawn, public)[0, 1]) < 0.2
    assert np.histogram(drawn, bins=5, range=(300, 1500))[0].min() > 30
    expected = hmac.new(secret, b"sleep/sleep-edf SC4007", hashlib.sha256).digest()
    assert drawn[7] == pytest.approx(300 + 1200 * int.from_bytes(expected[:8], "big") / 2**64)
    assert "secret" not in repr(sealed)
    with pytest.raises(InputError, match="has 3 bytes; expected at least 16"):
        stretch_rule(FAMILY.manifest("sleep-edf", "2026"), b"abc")


def test_a_board_of_public_nights_says_that_it_ranks_nobody_fairly(usual: Benchmark, tmp_path: Path):
    board = Board(entries_from_results([evaluate(SleepMedian(), usual, cache=tmp_path / "cache")]))
    (ranking,) = board.rankings
    assert ranking.warnings[0].startswith("Not rankable on public data: where a stream begins is drawn")
    assert any(note.startswith("Not rankable on public data") for note in check_leaks(usual).notes)


def test_the_same_nights_under_the_transfer_track_are_not_rankable_either():
    assert set(face_of("transfer", "not_rankable")) == {"sleep"}
    assert face_of("bci", "not_rankable") is None
