"""Repeats: the same run with other training seeds, averaged, kept apart, and never done in vain."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from neuroarena.board import Board, Rules, entries_from_results
from neuroarena.board.entries import Judge
from neuroarena.board.selection import select
from neuroarena.board.training_seeds import describe_training_noise, seed_scores
from neuroarena.decoders import Chance, Part
from neuroarena.errors import InputError
from neuroarena.evaluation import Interrupted, Silence, evaluate, evaluate_all, load_result
from neuroarena.evaluation.record import read_record
from neuroarena.statistics import add_seeds, jackknife, leave_out
from toy import Fragile, Mean, toy_benchmark


@dataclass
class Noisy(Mean):
    """Start from chance, as networks do: the answer depends on what was drawn in training."""

    fails_with: float = 2.0

    def fit(self, train, validation=None, context=None):
        super().fit(train, validation, context)
        self.tilt_ = context.rng.uniform()
        if self.tilt_ > self.fails_with:
            raise RuntimeError("it did not converge")
        return self

    def predict(self, test: Part) -> np.ndarray:
        other = np.concatenate([group.signals[:, 2].mean(axis=1) for group in test])
        p = np.clip(super().predict(test)[:, 1] + self.tilt_ * other, 0, 1)
        return np.stack([1 - p, p], axis=1)


@dataclass
class Late(Mean):
    """Keep the generator, to draw from it when asked."""

    def fit(self, train, validation=None, context=None):
        self.held_ = {"somewhere": [context.rng]}
        return super().fit(train, validation, context)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("repeats")
    return evaluate(
        Noisy(), toy_benchmark(), "cross", repeats=3, seed=5, out=folder / "out", cache=folder / "cache"
    )


def test_one_repeat_is_the_run_that_it_always_was(tmp_path):
    plain, one = (
        evaluate(Noisy(), toy_benchmark(), "cross", out=tmp_path / name, cache=tmp_path / "cache", **more)
        for name, more in {"plain": {}, "one": {"repeats": 1}}.items()
    )
    assert one.folder.name == plain.folder.name
    assert {path.name for path in one.folder.iterdir()} == {
        "record.json",
        "predictions.parquet",
        "unit_scores.parquet",
    }
    for name in ("predictions.parquet", "unit_scores.parquet"):
        assert (one.folder / name).read_bytes() == (plain.folder / name).read_bytes()
    record = json.loads((one.folder / "record.json").read_text())
    assert "repeats" not in record
    assert "seed" not in record["cells"][0]


def test_the_score_is_the_mean_over_seeds_and_the_first_seed_is_the_plain_run(saved):
    alone = evaluate(Noisy(), toy_benchmark(), "cross", seed=5)
    assert saved.record.seeds == (5, 6, 7)
    assert [each.seed for each in saved.repeats] == [5, 6, 7]
    scores = [each.unit_scores.value for each in saved.repeats]
    assert len(set(scores)) == 3
    assert scores[0] == alone.score
    assert saved.score == pytest.approx(np.mean(scores), abs=1e-12)
    assert saved.record.score == saved.unit_scores.value
    assert {(cell.seed, cell.fold) for cell in saved.record.cells} == {
        (seed, fold) for seed in (5, 6, 7) for fold in ("1_0", "1_1", "2_0", "2_1")
    }


def test_a_repeated_run_is_read_back_with_the_predictions_of_every_seed(saved):
    read = load_result(saved.folder)
    assert read.record == saved.record
    pd.testing.assert_frame_equal(read.unit_scores.table, saved.unit_scores.table)
    for one, other in zip(read.repeats, saved.repeats, strict=True):
        assert one.seed == other.seed
        pd.testing.assert_frame_equal(one.unit_scores.table, other.unit_scores.table, check_exact=True)
        assert np.allclose(read.predictions_of(one.seed)["p_1"], other.predictions["p_1"], atol=1e-6)
    assert not read.predictions_of(6).equals(read.predictions_of(7))
    with pytest.raises(InputError, match="no predictions of seed 8; there are: 5, 6, 7"):
        read.predictions_of(8)


def test_scores_of_other_seeds_than_the_record_names_are_refused(saved, tmp_path):
    folder = tmp_path / "damaged"
    shutil.copytree(saved.folder, folder)
    record = json.loads((folder / "record.json").read_text())
    record["repeats"]["seeds"] = [5, 6, 9]
    del record["digests"]  # as in a folder that was put together by hand
    (folder / "record.json").write_text(json.dumps(record))
    with pytest.raises(
        InputError, match=r"the record says seeds \[5, 6, 9\], and this file holds \[5, 6, 7\]"
    ):
        load_result(folder)


def test_more_repeats_train_only_the_new_seeds(tmp_path):
    log = tmp_path / "log"
    for repeats in (1, 2, 3):
        evaluate(Noisy(log=str(log)), toy_benchmark(), "cross", repeats=repeats)
        assert log.read_text().count("fit") == 4 * repeats


def test_a_decoder_that_draws_nothing_is_trained_once_and_the_record_says_so(tmp_path):
    log = tmp_path / "log"
    result = evaluate(Mean(log=str(log)), toy_benchmark(), "cross", repeats=4, out=tmp_path / "out")
    assert log.read_text().count("fit") == 4
    assert result.record.repeats is not None
    assert result.record.repeats.chance is False
    read = load_result(result.folder)
    assert read.score == evaluate(Mean(), toy_benchmark(), "cross").score
    assert not list(result.folder.glob("predictions_seed*"))
    pd.testing.assert_frame_equal(read.predictions_of(3), read.predictions)
    assert seed_scores(field_of([read]), read.manifest)["Mean"].std(axis=0).max() == 0


def test_a_decoder_that_keeps_the_generator_for_later_is_trained_with_every_seed(tmp_path):
    log = tmp_path / "log"
    evaluate(Late(log=str(log)), toy_benchmark(), "cross", repeats=2)
    assert log.read_text().count("fit") == 8
    chance = evaluate(Chance(), toy_benchmark(), "cross", repeats=2)
    assert chance.record.repeats is not None
    assert chance.record.repeats.chance


def test_a_run_whose_first_training_fails_is_not_repeated():
    result = evaluate(Fragile(), toy_benchmark(), "cross", repeats=5)
    assert not result.complete
    assert len(result.record.cells) == 4


def test_a_repeat_that_fails_leaves_no_score_and_is_named():
    drawn = {
        cell.seed: cell
        for cell in evaluate(Noisy(fails_with=0.93), toy_benchmark(), "cross", repeats=6).record.failed_cells
    }
    assert drawn
    assert all(cell.error == "RuntimeError: it did not converge" for cell in drawn.values())
    assert 0 not in drawn
    result = evaluate(Noisy(fails_with=0.93), toy_benchmark(), "cross", repeats=6)
    assert result.score is None
    assert entries_from_results([result])[0].reason.startswith(
        f"{len(result.record.failed_cells)} of 24 cells"
    )


def test_progress_names_the_repeat_and_a_stopped_run_goes_on_from_there(tmp_path):
    class Watch(Silence):
        def __init__(self, stop_at: str = "") -> None:
            self.stages, self.stop_at = [], stop_at

        def begin(self, stage, total, done=0):
            self.stages.append((stage, total, done))

        def advance(self, stage, count=1):
            if stage == self.stop_at:
                raise KeyboardInterrupt

    log = tmp_path / "log"
    with pytest.raises(Interrupted, match=r"Stopped in repeat 2 of 3\. 1 of 4 cells are kept"):
        evaluate(Noisy(log=str(log)), toy_benchmark(), "cross", repeats=3, progress=Watch("repeat 2 of 3"))
    seen = Watch()
    evaluate(Noisy(log=str(log)), toy_benchmark(), "cross", repeats=3, progress=seen)
    assert seen.stages == [("repeat 1 of 3", 4, 4), ("repeat 2 of 3", 4, 1), ("repeat 3 of 3", 4, 0)]
    assert log.read_text().count("fit") == 12


def test_less_than_one_repeat_is_refused():
    with pytest.raises(InputError, match="trained at least once; got 0 repeats"):
        evaluate(Mean(), toy_benchmark(), "cross", repeats=0)


def test_a_record_of_one_seed_is_not_one_of_repeats(saved):
    plain = saved.record.to_json()
    plain["repeats"]["seeds"] = [5]
    with pytest.raises(InputError, match=r'the record is damaged: "repeats.seeds"'):
        read_record(plain, saved.folder / "record.json")


def field_of(results):
    return select(entries_from_results(results), Rules(), Judge())


def test_a_board_gets_the_scores_of_every_seed_in_the_order_of_its_units(saved):
    other = evaluate(Mean(), toy_benchmark(), "cross", name="other")
    field = field_of([saved, other])
    scores = seed_scores(field, saved.manifest)
    assert list(scores) == ["Noisy"]
    assert scores["Noisy"].shape == (3, 4)
    noisy = next(one for one in field.judged if one.entry.team == "Noisy")
    assert np.allclose(scores["Noisy"].mean(axis=0), noisy.shown)
    assert describe_training_noise([field]) == (
        'Training noise not measured for "other": verdicts on it hold for this trained model.'
    )
    moments = jackknife(leave_out({one.entry.team: one.shown for one in field.judged}))
    assert add_seeds(moments, scores).se[0] >= moments.se[0]


def test_a_board_of_runs_trained_once_says_that_training_noise_was_not_measured():
    benchmark = toy_benchmark()
    runs = evaluate_all([("a", Mean()), ("b", Mean(channel=2))], [benchmark], ["cross"])
    board = Board(entries_from_results(runs), Rules(n_draws=50))
    said = "Training noise not measured."  # four units have no verdicts, which could hold for these models
    assert said in board.notes
    assert said not in Board(entries_from_results(runs[:1]), Rules(n_draws=50)).notes


def test_the_run_with_more_seeds_replaces_a_luckier_one_with_fewer(saved):
    lucky = evaluate(Noisy(), toy_benchmark(), "cross", seed=max(saved.repeats, key=_value).seed)
    assert lucky.score > saved.score
    entries = entries_from_results([lucky, saved])
    assert [entry.provenance["seeds"] for entry in entries] == [[5, 6, 7]]
    elsewhere = evaluate(Noisy(), toy_benchmark(), "cross", seed=99)
    assert len(entries_from_results([elsewhere, saved])) == 2


def _value(repeat):
    return repeat.unit_scores.value
