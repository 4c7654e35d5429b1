"""Retrieval against brute force, with ties, equal candidates, zeros and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.scoring import METRICS, Manifest, check_predictions, check_truth, score
from neuroarena.scoring import retrieval as room
from neuroarena.scoring.retrieval import TIE_TOLERANCE, merge_equal_rows, ranks

from .tables import make_manifest

RULES = make_manifest(
    name="example/images",
    metric="top5",
    tie_break="top1",
    additional_metrics=("mean_inverse_normalised_rank",),
    prediction="vector",
    prediction_column="embedding",
    classes=(),
)


def brute_force(prediction: np.ndarray, candidates: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The rank by its definition, one query and one candidate at a time, in long double."""
    found = []
    for query, true in zip(prediction.astype(np.float32).astype(np.longdouble), own, strict=True):
        scores = [np.dot(query, y) / np.sqrt(np.dot(y, y)) for y in candidates.astype(np.longdouble)]
        tolerance = TIE_TOLERANCE * np.sqrt(np.dot(query, query))
        above = sum(score > scores[true] + tolerance for score in scores)
        not_below = sum(score >= scores[true] - tolerance for score in scores)
        found.append((above + not_below - 1) / 2)
    return np.array(found, dtype=np.float64)


def distinct(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal rows by comparing every pair."""
    kept: list[np.ndarray] = []
    own = []
    for vector in vectors:
        place = next((i for i, other in enumerate(kept) if np.array_equal(other, vector)), len(kept))
        if place == len(kept):
            kept.append(vector)
        own.append(place)
    return np.array(kept), np.array(own)


def tables(
    prediction: np.ndarray, target: np.ndarray, fold: Any = "0", unit: Any = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    ids = [f"q{row:04d}" for row in range(len(target))]
    truth = pd.DataFrame({"id": ids, "fold": fold, "unit": ids if unit is None else unit, "cluster": "p1"})
    truth["target"] = list(target)
    return pd.DataFrame({"id": ids, "embedding": list(prediction)}), truth


def value(prediction: np.ndarray, target: np.ndarray) -> dict[str, float]:
    return score(*tables(prediction, target), RULES).values()


@given(st.integers(0, 2**32 - 1), st.sampled_from([np.float32, np.float64]), st.sampled_from([2, 3, 40]))
def test_ranks_equal_brute_force_with_ties_everywhere(seed: int, kind: Any, length: int) -> None:
    # Small whole numbers make ties the rule: equal candidates, equal directions, orthogonal queries.
    rng = np.random.default_rng(seed)
    target = rng.integers(-2, 3, (30, length)).astype(kind)
    target[~target.any(axis=1)] = 1
    prediction = rng.integers(-2, 3, (30, length)).astype(kind)
    candidates, own = distinct(target)
    ours, places = merge_equal_rows(target)
    assert np.array_equal(ours, candidates)
    assert np.array_equal(places, own)
    assert np.array_equal(ranks(prediction, ours, places), brute_force(prediction, candidates, own))


def test_ranks_of_long_vectors_equal_brute_force() -> None:
    rng = np.random.default_rng(3)
    candidates = rng.standard_normal((50, 1536)).astype(np.float32)
    own = rng.integers(0, 50, 80)
    prediction = (0.05 * candidates[own] + rng.standard_normal((80, 1536))).astype(np.float32)
    assert np.array_equal(ranks(prediction, candidates, own), brute_force(prediction, candidates, own))


def test_what_single_precision_cannot_tell_is_told_in_double_precision() -> None:
    # The second candidate is better by 1e-9 of the cosine, far below the rounding of float32.
    rng = np.random.default_rng(4)
    length = 1024
    query = rng.standard_normal(length)
    query = query.astype(np.float32).astype(np.float64)
    first = rng.standard_normal(length)
    first -= query * (first @ query) / (query @ query)
    unit = query / np.linalg.norm(query)
    first /= np.linalg.norm(first)
    candidates = np.stack([first + 0.3 * unit, first + (0.3 + 1e-9) * unit, -first])
    scores = candidates @ query / np.linalg.norm(candidates, axis=1)
    assert np.float32(scores[0]) == pytest.approx(np.float32(scores[1]), abs=1e-5)
    assert ranks(query[None], candidates, np.array([0])).tolist() == [1.0]
    assert ranks(query[None], candidates, np.array([1])).tolist() == [0.0]


def test_blocks_of_queries_and_of_pairs_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    target = rng.integers(-1, 2, (90, 6)).astype(np.float32)
    target[~target.any(axis=1)] = 1
    prediction = rng.integers(-1, 2, (90, 6)).astype(np.float32)
    candidates, own = merge_equal_rows(target)
    whole = ranks(prediction, candidates, own)
    monkeypatch.setattr(room, "QUERIES_AT_ONCE", 7)
    monkeypatch.setattr(room, "PAIRS_AT_ONCE", 5)
    for few in (0, 3, 1000):
        monkeypatch.setattr(room, "FEW", few)
        monkeypatch.setattr(room, "MANY_AT_ONCE", 3)
        assert np.array_equal(ranks(prediction, candidates, own), whole)


@pytest.mark.parametrize("scale", [1e-300, 1e-38, 1.0, 1e12])
def test_the_length_of_a_prediction_does_not_matter(scale: float) -> None:
    rng = np.random.default_rng(6)
    target = rng.standard_normal((30, 8))
    prediction = (target + 2 * rng.standard_normal((30, 8))).astype(np.float32).astype(np.float64)
    power = 2.0 ** np.round(np.log2(scale))
    assert value(prediction * power, target) == value(prediction, target)


def test_a_perfect_prediction_hits_and_its_opposite_is_last() -> None:
    target = np.random.default_rng(7).standard_normal((20, 30))
    assert value(target, target) == {"top5": 1.0, "top1": 1.0, "mean_inverse_normalised_rank": 1.0}
    worst = value(-target, target)
    assert worst["top5"] == 0.0
    assert worst["mean_inverse_normalised_rank"] < 0.1


@pytest.mark.parametrize("candidates", [11, 12, 50, 200])
def test_zeros_stand_in_the_middle_and_are_no_hit(candidates: int) -> None:
    target = np.random.default_rng(8).standard_normal((candidates, 16))
    found = value(np.zeros((candidates, 16)), target)
    assert found == {"top5": 0.0, "top1": 0.0, "mean_inverse_normalised_rank": 0.5}


@given(st.integers(0, 2**32 - 1))
def test_any_constant_prediction_scores_exactly_chance(seed: int) -> None:
    rng = np.random.default_rng(seed)
    target = rng.standard_normal((40, 12))
    found = value(np.tile(rng.standard_normal(12), (40, 1)), target)
    assert found["top5"] == 5 / 40
    assert found["top1"] == 1 / 40
    assert found["mean_inverse_normalised_rank"] == pytest.approx(0.5, abs=1e-12)


def test_a_tie_of_ten_candidates_cannot_be_aimed_at() -> None:
    # Solved in float64, a vector stands equally near to ten candidates, which would share the rank 4.5.
    target = np.random.default_rng(15).standard_normal((40, 256)).astype(np.float32).astype(np.float64)
    directions = target / np.linalg.norm(target, axis=1, keepdims=True)
    aimed = np.linalg.lstsq(directions[:10], np.full(10, 5.0), rcond=None)[0]
    scores = directions @ aimed
    assert np.ptp(scores[:10]) < 1e-13
    assert scores[:10].min() > scores[10:].max()
    assert value(np.tile(aimed, (40, 1)), target)["top5"] == 5 / 40


@pytest.mark.parametrize("hole", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("everywhere", [True, False])
def test_a_prediction_that_is_not_finite_is_refused_however_few_there_are(
    hole: float, everywhere: bool
) -> None:
    target = np.random.default_rng(9).standard_normal((11, 4))
    prediction = np.full((11, 4), hole) if everywhere else target.copy()
    prediction[3, 2] = hole
    predictions, truth = tables(prediction, target)
    with pytest.raises(InputError, match="every number must be finite"):
        score(predictions, truth, RULES)
    with pytest.raises(InputError, match="every number must be finite"):
        check_predictions(predictions, truth[["id"]], RULES.replace(caps={"vector_length": 4}))


def test_equal_candidates_are_one() -> None:
    # Twelve images, each shown three times: 36 rows, twelve candidates.
    rng = np.random.default_rng(10)
    images = rng.standard_normal((12, 20))
    target = np.repeat(images, 3, axis=0)
    prediction = target + 0.5 * rng.standard_normal(target.shape)
    assert value(prediction, target)["top1"] == 1.0
    assert value(np.zeros_like(target), target)["mean_inverse_normalised_rank"] == 0.5
    # The worst place among twelve is 11, not 33.
    assert value(-target, target)["mean_inverse_normalised_rank"] < 0.1


def test_candidates_are_those_of_the_whole_fold_and_not_of_a_unit_or_a_batch() -> None:
    rng = np.random.default_rng(11)
    target = rng.standard_normal((200, 10))
    prediction = rng.standard_normal((200, 10))
    predictions, truth = tables(prediction, target, unit=[f"batch {row // 64}" for row in range(200)])
    by_batches = score(predictions, truth, RULES)
    candidates, own = distinct(target)
    hits = brute_force(prediction, candidates, own) < 5
    for name, rows in truth.groupby("unit").indices.items():
        found = by_batches.table.set_index("unit").loc[name, "score"]
        assert found == pytest.approx(hits[rows].mean(), abs=1e-15)
    # In a batch of 64 the same predictions would have looked better.
    assert hits.mean() < 5 / 64


def test_every_fold_has_its_own_candidates() -> None:
    rng = np.random.default_rng(12)
    target, prediction = rng.standard_normal((60, 6)), rng.standard_normal((60, 6))
    fold = np.where(np.arange(60) % 3 == 0, "a", "b")
    predictions, truth = tables(prediction, target, fold=fold, unit="one")
    found = score(predictions, truth, RULES).table.set_index("fold")
    for name in ("a", "b"):
        rows = np.flatnonzero(fold == name)
        expected = brute_force(prediction[rows], target[rows], np.arange(rows.size)) < 5
        assert found.loc[name, "score"] == pytest.approx(expected.mean(), abs=1e-15)


def test_neither_rows_nor_their_order_change_a_rank() -> None:
    rng = np.random.default_rng(13)
    target, prediction = rng.standard_normal((50, 9)), rng.standard_normal((50, 9))
    predictions, truth = tables(prediction, target)
    straight = score(predictions, truth, RULES)
    order = rng.permutation(50)
    mixed = score(predictions.iloc[order[::-1]], truth.iloc[order], RULES)
    pd.testing.assert_frame_equal(straight.table, mixed.table, check_exact=True)


TRUTHS: dict[str, tuple[Manifest, np.ndarray, str]] = {
    "ten candidates for five places": (
        RULES,
        np.eye(10),
        "10 different targets, and ranks among fewer than 11",
    ),
    "one image eleven times": (RULES, np.ones((11, 3)), "a fold has 1 different targets"),
    "a candidate of zeros": (RULES, np.diag([1.0] * 11 + [0.0]), "zeros only, and has no direction"),
    "two candidates for one place": (
        RULES.replace(metric="top1", tie_break=None, additional_metrics=()),
        np.eye(2),
        "fewer than 3 say nothing",
    ),
}


@pytest.mark.parametrize(("manifest", "target", "phrase"), TRUTHS.values(), ids=TRUTHS.keys())
def test_a_truth_in_which_a_rank_says_nothing_is_refused(
    manifest: Manifest, target: np.ndarray, phrase: str
) -> None:
    _, truth = tables(target, target)
    with pytest.raises(InputError, match=phrase):
        check_truth(truth, manifest)


def test_the_metrics_of_one_manifest_share_the_ranks(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    step = METRICS.get("top5").whole.step  # type: ignore[union-attr]
    assert all(METRICS.get(name).whole.step is step for name in RULES.metrics)  # type: ignore[union-attr]
    monkeypatch.setattr(room, "ranks", lambda *given: calls.append(1) or ranks(*given))
    target = np.random.default_rng(14).standard_normal((20, 5))
    value(target, target)
    assert calls == [1]
