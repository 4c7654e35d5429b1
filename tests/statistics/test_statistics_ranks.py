"""Ranks inside draws, their stability, and the visible ranking."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import rankdata
from statistics_oracle import sorted_ranks

from neuroarena.statistics import Draws, rank_probabilities, rank_stability, ranking, ranks
from neuroarena.statistics import ranks as ranks_function

COARSE = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 9)),
    elements=st.integers(-6, 6).map(lambda k: k / 4),
)


def draws_of(scores: np.ndarray) -> Draws:
    return Draws([f"t{at}" for at in range(scores.shape[1])], scores, scores[0], 9)


@given(COARSE)
def test_shared_ranks_equal_scipy_and_ordered_ranks_equal_a_stable_sort(scores: np.ndarray) -> None:
    np.testing.assert_array_equal(ranks(scores), rankdata(-scores, method="min", axis=1))
    np.testing.assert_array_equal(ranks(scores, ties="order"), sorted_ranks(scores))


@given(COARSE, st.integers(0, 2**32 - 1))
def test_rounding_noise_does_not_break_ties(scores: np.ndarray, seed: int) -> None:
    noisy = scores * (1 + np.random.default_rng(seed).uniform(-1e-14, 1e-14, scores.shape))
    for ties in ("min", "order"):
        np.testing.assert_array_equal(ranks(noisy, ties), ranks(scores, ties))


def test_a_difference_above_the_tolerance_is_a_difference() -> None:
    assert ranks(np.array([1.0, 1.0 + 1e-11, 1.0 + 1.1e-11])).tolist() == [3, 2, 1]


def test_a_team_with_absurd_scores_in_one_draw_ties_with_nobody_in_the_next() -> None:
    scores = np.array([[1.0, 0.9, -1e15], [1.0, 0.9, 0.95]])
    assert ranks(scores).tolist() == [[1, 2, 3], [1, 3, 2]]


def test_one_row_may_be_given_flat() -> None:
    assert ranks(np.array([3.0, 5.0])).tolist() == [2, 1]
    assert ranks(np.array([[3.0, 5.0]])).tolist() == [[2, 1]]


@given(COARSE)
def test_stability_and_probabilities_are_counts_of_the_ranks(scores: np.ndarray) -> None:
    draws = draws_of(scores)
    for ties in ("min", "order"):
        table = ranks(draws, ties)
        stability = rank_stability(draws, ties)
        chances = rank_probabilities(draws, ties)
        for best in (1, 3, 5):
            np.testing.assert_allclose(stability[f"top{best}"], (table <= best).mean(axis=0))
            np.testing.assert_allclose(stability[f"top{best}"], chances.loc[:, :best].sum(axis=1))
        np.testing.assert_allclose(chances.sum(axis=1), 1)
        np.testing.assert_allclose(stability["rank_low"], np.percentile(table, 2.5, axis=0))
        np.testing.assert_allclose(stability["rank_high"], np.percentile(table, 97.5, axis=0))


def test_blocks_of_draws_change_no_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).integers(0, 6, (100, 7)) / 3
    whole = {ties: ranks(scores, ties) for ties in ("min", "order")}
    monkeypatch.setitem(ranks_function.__globals__, "BLOCK_SCORES", 21)
    for ties, expected in whole.items():
        np.testing.assert_array_equal(ranks(scores, ties), expected)


def test_the_ranking_shares_ranks_and_keeps_the_input_order_of_equal_teams() -> None:
    point = np.array([0.3, 0.1 + 0.2, 0.9, 0.1])
    draws = Draws(["a", "b", "c", "d"], np.ones((3, 4)), point, 9)
    assert ranking(draws)["team"].tolist() == ["c", "a", "b", "d"]
    assert ranking(draws)["rank"].tolist() == [1, 2, 2, 4]


def test_a_tie_break_decides_only_where_scores_are_equal() -> None:
    draws = Draws(["a", "b", "c", "d"], np.ones((3, 4)), np.array([0.5, 0.5, 0.9, 0.5]), 9)
    for tie_break in ([1.0, 2.0, 0.0, 1.0], {"a": 1.0, "b": 2.0, "c": 0.0, "d": 1.0}):
        table = ranking(draws, tie_break)
        assert table["team"].tolist() == ["c", "b", "a", "d"]
        assert table["rank"].tolist() == [1, 2, 3, 3]


def test_many_scores_have_the_ranks_of_scipy_however_close_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    scores = rng.normal(0.7, 0.05, (60, 300))
    scores[:20] = np.round(scores[:20], 3)  # ties
    scores[20:40, 1] = scores[20:40, 0] + 1e-9  # apart, by less than 32 bits can tell
    scores[40, 7] = -1e6  # one far away leaves no bits for the others
    np.testing.assert_array_equal(ranks(scores), rankdata(-scores, method="min", axis=1))
    by_rank = rank_probabilities(draws_of(scores)).to_numpy()
    counted = [np.bincount(column, minlength=301)[1:] / 60 for column in ranks(scores).T]
    np.testing.assert_array_equal(by_rank, counted)
    # In two chunks of blocks, the last of which are not full.
    monkeypatch.setattr(sys.modules["neuroarena.statistics.ranks"], "BLOCK_SCORES", 7 * 300)
    np.testing.assert_array_equal(rank_probabilities(draws_of(scores)).to_numpy(), counted)
