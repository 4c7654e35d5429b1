"""Pairs, Holm and tie groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from neuroarena.statistics import Draws, bootstrap, compare, holm, tie_groups
from neuroarena.statistics import pairs as pairs_module
from neuroarena.statistics.bootstrap import find_percentiles


def make_draws(n_teams: int = 8, n_draws: int = 400, seed: int = 0) -> Draws:
    rng = np.random.default_rng(seed)
    return bootstrap({f"t{at}": rng.normal(-at / 8, 1, 40) for at in range(n_teams)}, n_draws)


@settings(max_examples=8, deadline=None)  # statsmodels takes a third of a second a call
@given(st.lists(st.integers(0, 2000).map(lambda k: k / 2000), min_size=1, max_size=40))
def test_holm_equals_statsmodels(p_values: list[float]) -> None:
    rejected, expected, _, _ = multipletests(p_values, alpha=0.0501234, method="holm")
    found = holm(p_values)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(found <= 0.0501234, rejected)


def test_holm_of_nothing_is_nothing() -> None:
    assert holm([]).shape == (0,)


@pytest.mark.parametrize("method", ["exact", "fast"])
def test_a_team_against_itself_does_not_differ(method: str) -> None:
    draws = bootstrap({"a": np.random.default_rng(0).random(20), "b": np.arange(20) / 7}, 200, method=method)
    row = compare(draws, [("a", "a")]).iloc[0]
    assert row[["delta", "delta_point", "ci95_low", "ci95_high"]].tolist() == [0.0, 0.0, 0.0, 0.0]
    assert row[["p_boot", "p_smoothed", "p_holm"]].tolist() == [1.0, 1.0, 1.0]
    assert bool(row["indistinguishable"])
    assert not bool(row["significant_after_holm"])


def test_the_named_choices_are_made_along_the_ranking() -> None:
    draws = Draws(["a", "b", "c"], np.random.default_rng(0).random((50, 3)), np.array([0.2, 0.9, 0.5]), 9)
    found = {
        name: list(zip(*(compare(draws, name)[side] for side in ("team_a", "team_c")), strict=True))
        for name in ("neighbours", "leader", "all")
    }
    assert found == {
        "neighbours": [("b", "c"), ("c", "a")],
        "leader": [("b", "c"), ("b", "a")],
        "all": [("b", "c"), ("b", "a"), ("c", "a")],
    }


def test_a_tie_break_orders_the_neighbours() -> None:
    draws = Draws(["a", "b", "c"], np.ones((5, 3)), np.array([0.5, 0.5, 0.5]), 9)
    table = compare(draws, tie_break={"a": 1.0, "b": 3.0, "c": 2.0})
    assert table["team_a"].tolist() == ["b", "c"]


@pytest.mark.parametrize("block", [1, 1000, 1 << 20])
def test_all_pairs_equal_a_plain_loop_whatever_the_block(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairs_module, "BLOCK_DELTAS", block)
    draws = make_draws()
    table = compare(draws, "all")
    assert len(table) == 28
    for row in table.to_dict("records"):
        a, c = draws.position(row["team_a"]), draws.position(row["team_c"])
        delta = draws.scores[:, a] - draws.scores[:, c]
        k = min(np.sum(delta <= 0), np.sum(delta >= 0))
        assert row["delta"] == pytest.approx(delta.mean(), abs=1e-14)
        assert row["delta_point"] == draws.point[a] - draws.point[c] >= 0
        assert [row["ci95_low"], row["ci95_high"]] == pytest.approx(
            np.percentile(delta, [2.5, 97.5]), abs=1e-14
        )
        assert row["p_boot"] == pytest.approx(min(1, 2 * k / 400), abs=1e-14)
        assert row["p_smoothed"] == pytest.approx(min(1, 2 * (k + 1) / 401), abs=1e-14)
        assert row["p_smoothed"] > 0
        assert row["indistinguishable"] == (row["ci95_low"] <= 0 <= row["ci95_high"])
    np.testing.assert_array_equal(table["p_holm"], holm(table["p_boot"]))
    np.testing.assert_array_equal(table["significant_after_holm"], table["p_holm"] <= 0.05)


@given(n_draws=st.integers(1, 60), seed=st.integers(0, 99))
def test_intervals_are_linear_percentiles_for_any_number_of_draws(n_draws: int, seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=(n_draws, 2))
    row = compare(Draws(["a", "b"], scores, np.array([1.0, 0.0]), 9)).iloc[0]
    expected = np.percentile(scores[:, 0] - scores[:, 1], [2.5, 97.5])
    assert [row["ci95_low"], row["ci95_high"]] == pytest.approx(expected, abs=1e-14)


def test_differences_within_rounding_count_on_both_sides() -> None:
    third = 1 / 3
    scores = np.array(
        [[third, third * (1 + 5e-13)], [third, third * (1 - 5e-13)], [third, 0.2], [third, third]]
    )
    row = compare(Draws(["a", "b"], scores, np.array([third, third * (1 + 1e-13)]), 9), [("a", "b")]).iloc[0]
    # Three draws are ties: 3 of 4 are <= 0 and all are >= 0, so p = min(1, 2 * 3/4).
    assert row["p_boot"] == 1.0
    assert row["delta_point"] == 0.0
    assert row["ci95_low"] == 0.0
    assert bool(row["indistinguishable"])


def test_scores_that_cancel_to_rounding_are_equal_too() -> None:
    # Both sums are 0 on paper; one is 5.6e-17 in binary, of which no relative tolerance makes 0.
    scores = np.array([[0.1 + 0.2 - 0.3, 0.0], [0.5, 0.4], [-0.5, 0.4]])
    row = compare(Draws(["a", "b"], scores, np.array([0.1, 0.0]), 9), [("a", "b")]).iloc[0]
    assert row["p_boot"] == 1.0
    assert row["delta"] == pytest.approx((0.0 + 0.1 - 0.9) / 3)


def test_one_team_with_absurd_scores_does_not_blur_the_others() -> None:
    scores = np.array([[1.0, 1.0 - 1e-9, -1e15], [1.0, 1.0 - 1e-9, 0.999]])
    table = compare(Draws(["a", "b", "absurd"], scores, scores[0], 9), "neighbours")
    assert table.loc[0, "p_boot"] == 0.0


def test_tie_groups_compare_with_the_best_of_the_group_not_with_the_neighbour() -> None:
    # Neighbours are 0.6 apart with noise of +-1: no neighbours differ. The best and the third do.
    noise = np.random.default_rng(0).uniform(-1, 1, (4000, 4))
    point = np.array([3.0, 2.4, 1.2, 0.6])
    scores = point + noise * [0.5, 0.5, 0.5, 0.5]
    draws = Draws(["a", "b", "c", "d"], scores, point, 50)
    assert compare(draws)["indistinguishable"].tolist() == [True, False, True]
    assert tie_groups(draws).to_dict() == {"a": 1, "b": 1, "c": 2, "d": 2}
    chain = Draws(["a", "b", "c"], scores[:, [0, 1, 2]] + [0, 0, 0.6], np.array([3.0, 2.4, 1.8]), 50)
    assert compare(chain)["indistinguishable"].all()
    assert tie_groups(chain).to_dict() == {"a": 1, "b": 1, "c": 2}


def test_tie_groups_number_upwards_along_the_ranking() -> None:
    draws = make_draws(12)
    groups = tie_groups(draws)
    assert groups.index.tolist() == [draws.teams[at] for at in np.argsort(-draws.point)]
    assert groups.iloc[0] == 1
    assert set(np.diff(groups)) <= {0, 1}
    wide = tie_groups(draws, level=0.9999)
    assert (wide <= groups).all()


@pytest.mark.parametrize("n_draws", [1, 2, 7, 200, 1_000])
def test_percentiles_of_rows_in_any_order_are_numpys_to_the_last_bit(n_draws):
    rows = np.random.default_rng(n_draws).normal(size=(40, n_draws))
    found = find_percentiles(rows.copy(), [2.5, 50, 97.5])
    assert np.array_equal(found, np.percentile(rows, [2.5, 50, 97.5], axis=1))


@pytest.mark.parametrize("n_draws", [3, 40, 41, 200, 1_000])
def test_counting_signs_says_whether_a_percentile_interval_holds_zero(n_draws):
    rng = np.random.default_rng(n_draws)
    for shift in np.linspace(-3, 3, 301):
        scores = np.column_stack([rng.normal(size=n_draws) + shift, np.zeros(n_draws)]).round(2)
        draws = Draws(["a", "b"], scores, np.array([1.0, 0.0]), 9)
        low, high = np.percentile(scores[:, 0] - scores[:, 1], [2.5, 97.5])
        assert (tie_groups(draws)["b"] == 1) == (low <= 0 <= high)
