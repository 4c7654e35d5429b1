"""What must hold for the verdicts of any board, whatever its numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from neuroarena.statistics import (
    differences,
    jackknife,
    judge,
    judged_alphas,
    leave_out,
    letters,
    rank_ranges,
    score_intervals,
    sign_flip_p,
    verdicts,
)
from neuroarena.statistics.guarded import correct_skew, guarded_interval, guarded_p, restore_skew

NUMBERS = ("delta", "se", "df", "skew", "g_eff", "p", "p_holm", "level")


@st.composite
def boards(draw: Any) -> tuple[pd.DataFrame, list[int] | None, float | None]:
    """Draw unit scores (some teams equal, some rounded to ties), clusters or none, and nu or none."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n_units, n_teams = draw(st.integers(6, 16)), draw(st.integers(2, 6))
    hardness = rng.exponential(1, n_units) if draw(st.booleans()) else rng.normal(0, 1, n_units)
    gap = draw(st.sampled_from([0.0, 0.3, 1.0]))
    scores = hardness[:, None] + gap * np.arange(n_teams) + rng.normal(0, 0.5, (n_units, n_teams))
    if draw(st.booleans()):
        scores = np.round(scores)
    if draw(st.booleans()):
        scores[:, 0] = scores[:, -1]
    labels = None
    if draw(st.booleans()):
        labels = [*range(6), *rng.integers(0, 9, n_units - 6).tolist()]
    nu = draw(st.sampled_from([None, 0.0, 0.1, 1.0, 5.0]))
    return pd.DataFrame(scores, columns=[f"t{at}" for at in range(n_teams)]), labels, nu


def ends(rows: pd.DataFrame, name: str) -> np.ndarray:
    return np.array(rows[name].tolist()).T


@given(boards(), st.sampled_from([0.001, 0.01, 0.05]))
def test_star_interval_p_letters_and_ranks_say_the_same(board: Any, alpha: float) -> None:
    table, clusters, nu = board
    rows = verdicts(table, clusters=clusters, nu=nu, alpha=alpha)
    better = rows["verdict"] == "better"
    low, high = ends(rows, "judged")
    np.testing.assert_array_equal(better, (low > 0) | (high < 0))
    np.testing.assert_array_equal(better, rows["p_holm"] <= alpha)
    shared = letters(rows)
    apart = [not set(shared[a]) & set(shared[c]) for a, c in zip(rows["a"], rows["c"], strict=True)]
    np.testing.assert_array_equal(better, apart)
    ranges = rank_ranges(rows)
    for team, (lowest, highest) in zip(ranges.index, ranges.to_numpy(), strict=True):
        assert lowest == 1 + (better & (rows["c"] == team)).sum()
        assert highest == len(ranges) - (better & (rows["a"] == team)).sum()
        assert lowest <= 1 + list(shared.index).index(team) <= highest


@given(boards())
def test_judged_contains_the_95_percent_interval_which_contains_the_difference(board: Any) -> None:
    table, clusters, nu = board
    rows = verdicts(table, clusters=clusters, nu=nu)
    wide, narrow = ends(rows, "judged"), ends(rows, "ci95")
    slack = 1e-12 * rows["se"].to_numpy()
    assert (rows["delta"] >= 0).all()
    assert (wide[0] <= narrow[0] + slack).all()
    assert (narrow[0] <= rows["delta"]).all()
    assert (rows["delta"] <= narrow[1]).all()
    assert (narrow[1] <= wide[1] + slack).all()
    assert (rows["p"] > 0).all()
    assert (rows["p_holm"] >= rows["p"]).all()


@given(boards())
def test_verdict_and_margin_follow_from_the_judged_interval_and_nu(board: Any) -> None:
    table, clusters, nu = board
    for row in verdicts(table, clusters=clusters, nu=nu).to_dict("records"):
        low, high = row["judged"]
        inside = nu is not None and low >= -nu and high <= nu
        identical = row["delta"] == row["se"] == 0
        expected = "better" if row["p_holm"] <= 0.05 else "equivalent" if inside or identical else "undecided"
        assert row["verdict"] == expected
        assert row["margin"] == (
            "" if nu is None else "beyond nu" if low >= nu else "within nu" if inside else ""
        )


def assert_same(found: pd.DataFrame, expected: pd.DataFrame, scale: float = 1.0) -> None:
    """Compare rows pair by pair, whichever of two equal teams is called `a`."""
    by_pair = {frozenset((row["a"], row["c"])): row for row in expected.to_dict("records")}
    assert len(by_pair) == len(found)
    for row in found.to_dict("records"):
        other = by_pair[frozenset((row["a"], row["c"]))]
        mirrored = row["a"] != other["a"]
        assert row["verdict"] == other["verdict"]
        assert row["margin"] == other["margin"]
        assert row["scope"] == other["scope"]
        sign = -1.0 if mirrored else 1.0
        factors = [scale, scale, 1, sign, *[1] * 4]
        ours = [row[name] for name in NUMBERS]
        theirs = [factor * other[name] for factor, name in zip(factors, NUMBERS, strict=True)]
        for name in ("ci95", "judged"):
            ours += row[name]
            theirs += [sign * scale * end for end in (reversed(other[name]) if mirrored else other[name])]
        np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-9 * max(1, scale))


@given(boards(), st.randoms(use_true_random=False))
def test_the_order_of_units_levels_and_teams_is_irrelevant(board: Any, random: Any) -> None:
    table, clusters, nu = board
    units, teams = list(table.index), list(table.columns)
    random.shuffle(units)
    random.shuffle(teams)
    shuffled = None if clusters is None else [f"p{9 - clusters[unit]}" for unit in units]
    found = verdicts(table.loc[units, teams], clusters=shuffled, nu=nu)
    assert_same(found, verdicts(table, clusters=clusters, nu=nu))


@given(boards(), st.floats(0.01, 100), st.floats(-10, 10))
def test_a_change_of_scale_or_origin_keeps_the_verdicts(board: Any, scale: float, origin: float) -> None:
    table, clusters, nu = board
    found = verdicts(scale * table + origin, clusters=clusters, nu=None if nu is None else scale * nu)
    assert_same(found, verdicts(table, clusters=clusters, nu=nu), scale)


@given(boards())
def test_turning_all_scores_round_mirrors_every_pair(board: Any) -> None:
    table, clusters, nu = board
    rows, turned = verdicts(table, clusters=clusters, nu=nu), verdicts(-table, clusters=clusters, nu=nu)
    turned = turned.assign(a=turned["c"], c=turned["a"])
    assert_same(turned.assign(skew=-turned["skew"]), rows.assign(skew=-rows["skew"]))


@given(boards())
def test_clusters_of_one_unit_are_no_clusters(board: Any) -> None:
    table, _, nu = board
    found = verdicts(table, clusters=[f"p{at:02d}" for at in range(len(table))], nu=nu)
    expected = verdicts(table, nu=nu)
    assert found["scope"].iloc[0] == f"random: {len(table)} clusters"
    pd.testing.assert_frame_equal(found.drop(columns="scope"), expected.drop(columns="scope"))


@given(boards())
def test_a_twin_is_equivalent_and_shares_every_verdict(board: Any) -> None:
    table, clusters, nu = board
    rows = verdicts(table.assign(twin=table["t1"]), clusters=clusters, nu=nu)
    by_pair = {frozenset((row["a"], row["c"])): row for row in rows.to_dict("records")}
    pair = by_pair[frozenset(("t1", "twin"))]
    assert (pair["verdict"], pair["p"], pair["delta"], pair["judged"]) == ("equivalent", 1.0, 0.0, (0.0, 0.0))
    for team in table.columns.drop("t1"):
        one, other = by_pair[frozenset((team, "t1"))], by_pair[frozenset((team, "twin"))]
        assert one["verdict"] == other["verdict"]
        assert (one["p"], one["level"]) == (other["p"], other["level"])


@given(st.integers(6, 40), st.integers(0, 1000))
def test_without_skew_it_is_the_paired_t_of_scipy(n_units: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    half = rng.normal(0, 1, n_units // 2)
    symmetric = np.concatenate([half, -half, [0.0] * (n_units % 2)]) + rng.normal()
    base = rng.normal(0, 1, n_units)
    row = verdicts({"a": base + symmetric, "c": base}).iloc[0]
    expected = stats.ttest_rel(base + symmetric, base)
    assert row["skew"] == pytest.approx(0, abs=1e-6)
    assert row["p"] == pytest.approx(expected.pvalue, rel=1e-5)
    interval = expected.confidence_interval(0.95)
    ours = row["ci95"] if row["a"] == "a" else [-end for end in reversed(row["ci95"])]
    assert ours == pytest.approx([interval.low, interval.high], rel=1e-5, abs=1e-9)


@given(
    st.floats(0.1, 8),
    st.floats(-3, 3),
    st.floats(1.5, 60),
    st.sampled_from([1e-6, 0.001, 0.05, 0.2]),
)
def test_p_and_interval_agree_about_zero(t: float, skew: float, g_eff: float, alpha: float) -> None:
    p = guarded_p(t, 1.0, g_eff - 1, skew, g_eff)
    low, high = guarded_interval(t, 1.0, g_eff - 1, skew, g_eff, alpha)
    if abs(p / alpha - 1) > 1e-9:
        assert (p <= alpha) == (low > 0)
    assert low <= t <= high
    assert restore_skew(correct_skew(t, skew, g_eff), skew, g_eff) == pytest.approx(t, rel=1e-4)


@given(st.lists(st.integers(1, 40).map(lambda k: k / 200), min_size=1, max_size=30))
def test_holm_rejects_exactly_what_passes_the_level_it_was_judged_at(p_values: list[float]) -> None:
    p_holm, alphas = judged_alphas(p_values, alpha=0.0501)
    np.testing.assert_array_equal(p_holm <= 0.0501, np.array(p_values) <= alphas)


@given(boards())
def test_the_score_of_a_team_lies_in_its_interval_and_in_the_range_of_the_metric(board: Any) -> None:
    table, clusters, _ = board
    bounds = (float(table.min().min()), float(table.max().max()))
    found = score_intervals(leave_out(table, clusters), bounds=bounds)
    assert ((bounds[0] <= found["low"]) & (found["low"] <= found["score"])).all()
    assert ((found["score"] <= found["high"]) & (found["high"] <= bounds[1])).all()


@given(st.integers(2, 17), st.integers(0, 1000))
def test_all_sign_patterns_are_counted(n_levels: int, seed: int) -> None:
    differences = np.random.default_rng(seed).integers(-3, 5, n_levels) / 10
    signs = np.array(np.meshgrid(*[[-1, 1]] * n_levels)).reshape(n_levels, -1)
    sums = np.abs(differences @ signs)
    expected = np.mean(sums >= abs(differences.sum()) - 1e-9)
    assert sign_flip_p(differences)[0] == pytest.approx(expected)


def test_random_sign_patterns_come_near_the_exact_p_and_are_never_zero() -> None:
    rng = np.random.default_rng(1)
    twenty = rng.normal(0.3, 1, 20)
    exact, random = sign_flip_p(twenty)[0], sign_flip_p(np.append(twenty, 0.0))[0]
    assert random == pytest.approx(exact, abs=0.01)
    assert sign_flip_p(np.ones(50))[0] == 1 / 10_000


@given(st.integers(0, 10_000))
def test_a_p_of_exactly_alpha_is_better_and_its_interval_excludes_zero(seed: int) -> None:
    moments = jackknife(leave_out(np.random.default_rng(seed).exponential(size=(8, 2))), audit=False)
    p = float(judge(moments)["p"].iloc[0])
    at = judge(moments, alpha=p).iloc[0]
    below = judge(moments, alpha=p * (1 - 1e-11)).iloc[0]
    assert (at["verdict"], below["verdict"]) == ("better", "undecided")
    assert below["judged"][0] <= 0 < at["judged"][0]


def test_differences_of_zero_have_a_sign_flip_p_of_one() -> None:
    for n_levels in (6, 18, 30):
        assert sign_flip_p(np.zeros(n_levels)).tolist() == [1.0]


def test_the_audit_is_left_out_on_request_and_on_boards_too_large_for_it() -> None:
    table = np.random.default_rng(2).normal(size=(8, 3))
    assert judge(jackknife(leave_out(table)))["p_signflip"].between(0, 1).all()
    assert judge(jackknife(leave_out(table), audit=False))["p_signflip"].isna().all()
    large = judge(jackknife(leave_out(np.random.default_rng(2).normal(size=(60, 80)))))
    assert large["p_signflip"].isna().all()
    assert large["p"].notna().all()


def test_one_pair_alone_is_a_family_of_one() -> None:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(rng.normal(0, 1, (20, 5)) + np.arange(5) / 2, columns=list("abcde"))
    moments = jackknife(leave_out(table))
    alone = judge(moments.between("b", "d")).iloc[0]
    row = judge(moments).query("a == 'd' and c == 'b'").iloc[0]
    assert (alone["a"], alone["c"]) == ("d", "b")
    assert alone["p_holm"] == alone["p"] == row["p"] < row["p_holm"]
    assert alone["judged"] == pytest.approx(row["ci95"])
    assert alone["level"] == 0.95


def test_a_tie_break_orders_equal_teams() -> None:
    table = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [6.0, 5.0, 4.0, 3.0, 2.0, 1.0]}
    assert jackknife(leave_out(table)).teams == ("a", "b")
    assert jackknife(leave_out(table), tie_break={"a": 0.1, "b": 0.2}).teams == ("b", "a")


def test_a_large_board_is_judged_as_its_differences_are(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    scores = rng.exponential(1, (40, 1)) + rng.exponential(0.3, (40, 9))
    scores[:, 1] = scores[:, 0]
    scores[:, 2] = scores[:, 0] + 1e-9 * rng.exponential(1, 40)
    table = {f"team {at}": scores[:, at] for at in range(9)}
    direct = verdicts(table)
    monkeypatch.setattr(differences, "MANY_DIFFERENCES", 1)
    found = verdicts(table)
    pd.testing.assert_frame_equal(
        found.drop(columns=["ci95", "judged"]), direct.drop(columns=["ci95", "judged"]), rtol=1e-9
    )
    assert not found["se"].equals(direct["se"])  # made another way indeed
    same = found[found["a"].isin(["team 0", "team 1"]) & found["c"].isin(["team 0", "team 1"])]
    assert same[["se", "skew"]].to_numpy().tolist() == [[0.0, 0.0]]
