"""Sensitivity to the ranking method, the classical critical difference, and units needed for a verdict."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from inference_golden import golden, needs_golden
from scipy import stats

from neuroarena.errors import InputError
from neuroarena.statistics import (
    average_ranks,
    better_power,
    critical_difference,
    critical_groups,
    equivalent_power,
    kendall_tau_b,
    nemenyi_q,
    sensitivity,
    units_for_better,
    units_for_equivalent,
    verdicts,
)


@needs_golden
def test_the_ranks_and_taus_of_the_golden_board() -> None:
    case = golden("board")
    table = pd.DataFrame(case["scores"])
    found = sensitivity(table, verdicts(table, nu=case["nu"]))
    assert {name: found.ranks[name].tolist() for name in found.ranks} == case["methods"]
    for row in found.agreement.to_dict("records"):
        expected = case["tau_b"][f"{row['first']}~{row['second']}"]
        assert row["tau_b"] == pytest.approx(expected, rel=1e-8)
    assert len(found.agreement) == len(case["tau_b"])
    assert found.warnings == ()  # a tau of 0.8 is enough


@given(st.integers(2, 9), st.integers(0, 1000))
def test_tau_and_ranks_equal_scipy(n_teams: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    one, other = rng.integers(0, 4, n_teams), rng.integers(0, 4, n_teams)
    assert kendall_tau_b(one, other) == pytest.approx(stats.kendalltau(one, other).statistic, nan_ok=True)
    table = pd.DataFrame([one, other]).astype(float)
    np.testing.assert_array_equal(average_ranks(table), stats.rankdata(-table, axis=1))


def test_a_leader_that_changes_with_the_method_is_pointed_out() -> None:
    table = pd.DataFrame({"steady": [5.0] * 8, "lucky": [4.0] * 7 + [40.0], "last": [1.0] * 8})
    found = sensitivity(table, verdicts(table))
    assert found.warnings == (
        'The leader depends on the method: "lucky" by mean over units, "steady" by median over units.',
        "The order depends on the method: Kendall's tau is 0.33 between mean over units and median over units.",
    )
    by_score = sensitivity(table, verdicts(table), scores={"steady": 3.0, "lucky": 2.0, "last": 1.0})
    assert by_score.ranks["mean"].tolist() == [1.0, 2.0, 3.0]
    with pytest.raises(InputError, match='"last" has no score'):
        sensitivity(table, verdicts(table), scores={"steady": 3.0, "lucky": 2.0})


def test_the_critical_difference_is_the_published_one() -> None:
    assert [round(nemenyi_q(n_teams), 3) for n_teams in range(2, 11)] == [
        1.960, 2.344, 2.569, 2.728, 2.850, 2.948, 3.031, 3.102, 3.164,
    ]  # fmt: skip
    assert nemenyi_q(5, alpha=0.1) == pytest.approx(2.459, abs=1e-3)
    assert critical_difference(4, 14) == pytest.approx(2.569 * math.sqrt(20 / 84), rel=1e-4)


def test_the_bars_of_the_classical_diagram_are_the_longest_runs() -> None:
    # Mean ranks 1, 2, 3, 4 with a difference of 1.25: neighbours are joined, and no bar lies inside another.
    table = pd.DataFrame([[4.0, 3.0, 2.0, 1.0]] * 14, columns=list("abcd"))
    mean_ranks, difference, groups = critical_groups(table)
    assert mean_ranks.to_dict() == {"a": 1, "b": 2, "c": 3, "d": 4}
    assert difference == pytest.approx(1.25, abs=0.01)
    assert groups == [["a", "b"], ["b", "c"], ["c", "d"]]
    assert critical_groups(table.iloc[:4])[2] == [["a", "b", "c"], ["b", "c", "d"]]
    assert critical_groups(pd.concat([table] * 4, ignore_index=True))[2] == []
    assert critical_groups(table[["a", "b"]].iloc[:1])[2] == [["a", "b"]]


@pytest.mark.parametrize(("n_units", "power"), [(6, 0.56), (12, 0.73), (30, 0.81)])
def test_the_power_at_three_standard_errors_is_the_simulated_one(n_units: int, power: float) -> None:
    assert better_power(3 / math.sqrt(n_units), 1.0, n_units) == pytest.approx(power, abs=0.006)


@pytest.mark.parametrize(("n_units", "power"), [(6, 0.13), (12, 0.69), (20, 0.97)])
def test_the_chance_of_equivalence_is_the_simulated_one(n_units: int, power: float) -> None:
    assert equivalent_power(1.0, 1.0, n_units) == pytest.approx(power, abs=0.015)


@given(st.floats(0.2, 3), st.integers(2, 30), st.floats(0.5, 0.95))
def test_the_units_needed_are_enough_and_one_fewer_are_not(ratio: float, n_teams: int, power: float) -> None:
    for units, chance in ((units_for_better, better_power), (units_for_equivalent, equivalent_power)):
        found = units(ratio, 1.0, n_teams, power=power)
        assert chance(ratio, 1.0, found, n_teams) >= power
        assert found == 6 or chance(ratio, 1.0, found - 1, n_teams) < power
        assert units(10 * ratio, 10.0, n_teams, power=power) == found


def test_five_units_can_prove_nothing() -> None:
    assert better_power(100.0, 1.0, 5) == equivalent_power(100.0, 1.0, 5) == 0.0
    assert units_for_better(100.0, 1.0) == 6


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda: nemenyi_q(1), "two teams"),
        (lambda: nemenyi_q(3, alpha=0.0), "alpha"),
        (lambda: critical_difference(3, 0), "one task"),
        (lambda: better_power(0.0, 1.0, 10), "difference must be a positive"),
        (lambda: better_power(1.0, float("nan"), 10), "sigma must be a positive"),
        (lambda: better_power(1.0, 1.0, 10, n_teams=1), "two teams"),
        (lambda: equivalent_power(1.0, 1.0, 10, alpha=1.0), "alpha"),
        (lambda: units_for_better(1.0, 1.0, power=1.0), "power"),
        (lambda: units_for_better(1e-6, 1.0), "ten million"),
    ],
)
def test_what_is_refused_and_what_the_refusal_says(act: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        act()
