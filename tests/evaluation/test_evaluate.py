"""Evaluating: the numbers do not depend on workers, cache, order or luck; failures are results."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from neuroarena.decoders import Chance, Linear, from_sklearn
from neuroarena.errors import InputError, UnknownName
from neuroarena.evaluation import evaluate, evaluate_all, find_results, load_result
from neuroarena.features import FeatureChain, Laplacian
from neuroarena.recordings import Recording
from neuroarena.scoring import score
from toy import WINDOW, Fragile, Mean, toy_benchmark, toy_linear, toy_manifest, toy_signal


def tables(result):
    return result.predictions, result.unit_scores.table


def assert_same(first, second):
    for one, other in zip(tables(first), tables(second), strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)


def test_a_decoder_finds_what_was_planted_and_chance_does_not():
    benchmark = toy_benchmark(strength=1.0)
    assert evaluate(toy_linear(), benchmark, "cross").score > 0.95
    assert 0.3 < evaluate(Chance(), benchmark, "cross").score < 0.7


def test_every_judged_example_is_predicted_once():
    result = evaluate(Mean(), toy_benchmark(), "within")
    assert sorted(result.predictions["id"]) == sorted(toy_benchmark().examples["id"])
    assert list(result.unit_scores.table["unit"].unique()) == ["1_0", "1_1", "2_0", "2_1"]


def test_the_score_is_the_score_of_the_predictions():
    benchmark = toy_benchmark()
    result = evaluate(Mean(), benchmark, "cross")
    truth = benchmark.truth(benchmark.split("cross"))
    again = score(result.predictions, truth, benchmark.manifest)
    pd.testing.assert_frame_equal(again.table, result.unit_scores.table, check_exact=True)


def test_one_worker_or_two_give_identical_numbers_and_one_that_dies_costs_its_cell_only(tmp_path):
    # One test, because every worker is an interpreter that imports everything.
    decoders = [("mean", Mean()), ("linear", toy_linear()), ("chance", Chance())]
    by_one = evaluate_all(decoders, [toy_benchmark()], ["cross"], workers=1, cache=tmp_path / "one")
    decoders.insert(1, ("fragile", Fragile(how="die")))
    by_two = evaluate_all(decoders, [toy_benchmark()], ["cross"], workers=2, cache=tmp_path / "two")
    fragile = by_two.pop(1)
    for one, two in zip(by_one, by_two, strict=True):
        assert_same(one, two)
    failed = [cell for cell in fragile.record.cells if cell.status == "failed"]
    assert [cell.fold for cell in failed] == ["2_0"]
    assert "SIGKILL" in failed[0].error


def test_a_cache_hit_equals_recomputation(tmp_path):
    fresh = evaluate(toy_linear(), toy_benchmark(), "cross", cache=tmp_path / "a")
    hit = evaluate(toy_linear(), toy_benchmark(), "cross", cache=tmp_path / "a")
    recomputed = evaluate(toy_linear(), toy_benchmark(), "cross", cache=tmp_path / "b")
    assert_same(fresh, hit)
    assert_same(fresh, recomputed)


def test_a_cell_already_computed_is_not_computed_again(tmp_path):
    log = tmp_path / "log"
    for _ in range(2):
        evaluate(Mean(log=str(log)), toy_benchmark(), "cross")
    assert log.read_text().count("fit") == 4


def test_a_deleted_cache_changes_nothing_but_time(tmp_path):
    import shutil

    first = evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path / "cache")
    shutil.rmtree(tmp_path / "cache")
    assert_same(first, evaluate(Mean(), toy_benchmark(), "cross", cache=tmp_path / "cache"))


@pytest.mark.parametrize(
    "change",
    [
        lambda: (Mean(channel=2), toy_benchmark(), 0),
        lambda: (Mean(features=FeatureChain()), toy_benchmark(), 0),
        lambda: (Mean(), toy_benchmark(strength=0.6), 0),
        lambda: (Mean(), toy_benchmark(manifest=toy_manifest(definition="2")), 0),
        lambda: (Mean(), toy_benchmark(), 1),
        lambda: (toy_linear(), toy_benchmark(), 0),
    ],
    ids=["parameter", "features", "data", "definition", "seed", "decoder"],
)
def test_what_matters_changes_the_key(change):
    decoder, benchmark, seed = change()
    plain = evaluate(Mean(), toy_benchmark(), "cross")
    changed = evaluate(decoder, benchmark, "cross", seed=seed)
    keys = [{cell.key for cell in result.record.cells} for result in (plain, changed)]
    assert not keys[0] & keys[1]
    assert plain.record.run_key != changed.record.run_key


def test_each_window_is_featured_once_for_all_decoders_and_folds(monkeypatch):
    seen: list[int] = []
    original = Recording.iter_windows

    def spy(self, starts, length, *args, **kwargs):
        seen.extend(int(start) for start in starts)
        return original(self, starts, length, *args, **kwargs)

    monkeypatch.setattr(Recording, "iter_windows", spy)
    decoders = [("mean", Mean()), ("other", Mean(channel=2)), ("linear", toy_linear())]
    evaluate_all(decoders, [toy_benchmark()], ["within", "cross"])
    assert len(seen) == len(toy_benchmark().examples)


@pytest.mark.parametrize(
    ("how", "expected", "workers"),
    [
        ("raise", "the electrode fell off", 1),
        pytest.param("raise", "the electrode fell off", 2, marks=pytest.mark.drill),
        ("nan", "NaN", 1),
        ("shape", "(3, 2)", 1),
    ],
)
def test_a_failing_cell_is_recorded_and_does_not_stop_the_others(how, expected, workers, tmp_path):
    result = evaluate(Fragile(how=how), toy_benchmark(), "cross", workers=workers, out=tmp_path / "out")
    assert result.record.status == "failed"
    assert result.score is None
    failed = [cell for cell in result.record.cells if cell.status == "failed"]
    assert [cell.fold for cell in failed] == ["2_0"]
    assert expected in failed[0].error
    assert set(result.unit_scores.table["unit"]) == {"1_0", "1_1", "2_1"}
    assert load_result(result.folder).record == result.record


def test_a_failed_run_is_tried_again_and_both_are_kept(tmp_path):
    trouble = tmp_path / "trouble"
    trouble.write_text("x")
    decoder = Flaky(trouble=str(trouble))
    first = evaluate(decoder, toy_benchmark(), "cross", out=tmp_path / "out")
    trouble.unlink()
    second = evaluate(decoder, toy_benchmark(), "cross", out=tmp_path / "out")
    assert (first.complete, second.complete) == (False, True)
    assert len(find_results([tmp_path / "out"])) == 2


class Flaky(Mean):
    def __init__(self, trouble: str) -> None:
        super().__init__()
        self.trouble = trouble

    def fit(self, train, validation=None, context=None):
        if Path(self.trouble).exists():
            raise OSError("trouble")
        return self


def test_a_complete_run_is_not_written_again(tmp_path):
    first = evaluate(Mean(), toy_benchmark(), "cross", out=tmp_path)
    before = {path: path.stat().st_mtime_ns for path in first.folder.iterdir()}
    second = evaluate(Mean(), toy_benchmark(), "cross", out=tmp_path)
    assert second.folder == first.folder
    assert {path: path.stat().st_mtime_ns for path in first.folder.iterdir()} == before


def test_a_result_survives_the_disk(tmp_path):
    result = evaluate(Mean(), toy_benchmark(), "cross", out=tmp_path)
    read = load_result(result.folder)
    assert_same(result, read)
    assert read.record.schema_version == 2
    assert next(iter(json.loads((result.folder / "record.json").read_text()))) == "schema_version"
    assert read.score == result.score


def test_a_decoder_without_a_fingerprint_is_judged_but_not_kept(tmp_path):
    # A local function has no name another process could tell it by.
    named = from_sklearn(LogisticRegression())
    assert evaluate(named, toy_benchmark(), "cross").record.decoder.not_cached_because is None
    unnamed = Unnamed(lambda level: level)
    result = evaluate(unnamed, toy_benchmark(), "cross", cache=tmp_path / "cache")
    assert result.complete
    assert "local function" in result.record.decoder.not_cached_because
    assert not list((tmp_path / "cache" / "cells").rglob("*.cell"))


class Unnamed(Mean):
    def __init__(self, rule) -> None:
        super().__init__()
        self.rule = rule


def test_targets_of_the_test_part_never_reach_the_decoder():
    class Spy(Mean):
        def predict(self, test):
            assert all(group.targets is None for group in test)
            assert not {"target", "label", "unit"} & set(test[0].table.columns)
            return super().predict(test)

    assert evaluate(Spy(), toy_benchmark(), "cross").complete


def test_a_window_outside_the_recording_is_refused_by_name():
    def moved():
        examples = toy_benchmark().examples.copy()
        examples.loc[3, ["start", "stop"]] = [10**6, 10**6 + WINDOW]
        return examples

    with pytest.raises(InputError, match=r'toy 1_0.*"1_0-003".*outside'):
        evaluate(Mean(), toy_benchmark(make_examples=moved), "cross")


def test_unknown_names_are_answered_with_close_ones():
    with pytest.raises(UnknownName, match='Did you mean "cross"'):
        evaluate(Mean(), toy_benchmark(), "crosss")
    with pytest.raises(UnknownName, match='Did you mean "linear"'):
        evaluate("linaer", toy_benchmark(), "cross")


def test_linear_equals_scikit_learn_on_the_same_features():
    from sklearn.metrics import roc_auc_score
    from sklearn.preprocessing import StandardScaler

    result = evaluate(Linear(FeatureChain()), toy_benchmark(strength=0.2), "cross")
    (train, train_starts, train_y), (test, test_starts, test_y) = (
        toy_signal(key, 0.2) for key in ("1_1", "1_0")
    )
    cut = [
        np.stack([signal[:, start : start + WINDOW].ravel() for start in starts])
        for signal, starts in ((train, train_starts), (test, test_starts))
    ]
    scaler = StandardScaler().fit(cut[0])
    model = LogisticRegression(C=1, tol=1e-3, max_iter=10_000).fit(scaler.transform(cut[0]), train_y)
    expected = roc_auc_score(test_y, model.predict_proba(scaler.transform(cut[1]))[:, 1])
    table = result.unit_scores.table.set_index("unit")
    assert table.loc["1_0", "score"] == pytest.approx(expected, abs=1e-6)


def test_a_class_never_seen_in_training_gets_probability_zero():
    manifest = toy_manifest(classes=("0", "1", "2"))

    def relabelled():
        examples = toy_benchmark().examples.copy()
        only_first = examples["session"] == "1_0"
        examples.loc[only_first & (examples.index % 3 == 0), "target"] = 2
        return examples

    decoder = Linear(FeatureChain((Laplacian(),)))
    benchmark = toy_benchmark(manifest=manifest, make_examples=relabelled)
    result = evaluate(decoder, benchmark, "cross")
    judged = result.predictions[result.predictions["id"].str.startswith("1_0")]
    assert (judged["p_2"] == 0).all()
