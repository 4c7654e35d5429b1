"""Boards that can prove little, and input that is refused: each by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.statistics import (
    LeftOut,
    caution,
    jackknife,
    judge,
    leave_out,
    leave_out_columns,
    rank_ranges,
    score_intervals,
    sign_flip_p,
    verdicts,
)

NAN, INF = float("nan"), float("inf")
SIX = [0.1, 0.5, 0.3, 0.9, 0.2, 0.4]

# name, scores of a, scores of c, clusters -> verdict, p, judged
CASES: list[tuple[str, list[float], list[float], list[Any] | None, str, float, tuple[float, float]]] = [
    ("one unit", [0.3], [0.1], None, "none", NAN, (NAN, NAN)),
    ("five units", [5, 6, 7, 8, 9], [1, 1, 1, 1, 1], None, "none", NAN, (NAN, NAN)),
    ("five identical units", [1, 2, 3, 4, 5], [1, 2, 3, 4, 5], None, "none", NAN, (NAN, NAN)),
    ("one cluster", SIX, [0.0] * 6, ["p"] * 6, "none", NAN, (NAN, NAN)),
    ("two clusters", SIX, [0.0] * 6, list("ppqqqq"), "none", NAN, (NAN, NAN)),
    ("identical teams", SIX, SIX, None, "equivalent", 1.0, (0.0, 0.0)),
    ("identical to the last bit but one", SIX, [x * (1 + 2e-16) for x in SIX], None, "equivalent", 1.0, (0.0, 0.0)),
    ("all zero", [0.0] * 8, [0.0] * 8, None, "equivalent", 1.0, (0.0, 0.0)),
    ("the same difference in six", [x + 0.25 for x in SIX], SIX, None, "better", 1 / 32, (0.25, 0.25)),
    ("the same in six clusters", [x + 1 for x in SIX] * 2, SIX * 2, list("abcdef") * 2, "better", 1 / 32, (1, 1)),
    ("opposite differences that cancel", [1, 0] * 4, [0, 1] * 4, None, "undecided", 1.0, (-0.894, 0.894)),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_degenerate_boards(case: Any) -> None:
    _, first, second, clusters, verdict, p, judged = case
    row = verdicts({"a": first, "c": second}, clusters=clusters).iloc[0]
    assert row["verdict"] == verdict
    assert row["p"] == pytest.approx(p, nan_ok=True)
    assert row["judged"] == pytest.approx(judged, abs=1e-3, nan_ok=True)
    assert row["delta"] == pytest.approx(abs(np.mean(first) - np.mean(second)), abs=1e-12)


def test_a_constant_difference_that_holm_cannot_reject_has_an_unbounded_interval() -> None:
    rows = verdicts({"a": [x + 0.25 for x in SIX], "b": SIX, "c": [1.0, -1.0, 0.5, 0.0, -0.5, 1.0]})
    row = rows[(rows["a"] == "a") & (rows["c"] == "b")].iloc[0]
    assert (row["verdict"], row["judged"]) == ("undecided", (-INF, INF))
    assert row["ci95"] == (row["delta"], row["delta"]) == pytest.approx((0.25, 0.25))


def test_four_units_say_how_many_are_needed_and_every_rank_is_open() -> None:
    rows = verdicts(np.random.default_rng(0).normal([0, 5, 10], 1, size=(4, 3)))
    assert set(rows["verdict"]) == {"none"}
    assert caution(rows) == ("4 independent units: no verdict, 6 needed.",)
    assert rank_ranges(rows).to_numpy().tolist() == [[1, 3]] * 3
    interval = score_intervals(leave_out({"a": [0.1, 0.2, 0.3, 0.4]})).iloc[0]
    assert interval["score"] == pytest.approx(0.25)
    assert np.isnan(interval[["low", "high"]]).all()


def test_a_team_without_spread_has_an_interval_of_its_own_score() -> None:
    assert score_intervals(leave_out({"a": [0.5] * 6})).iloc[0, :3].tolist() == [0.5, 0.5, 0.5]


def test_very_skewed_differences_of_few_levels_are_pointed_out() -> None:
    one_large = [0.0] * 11 + [9.0]
    assert caution(verdicts({"a": one_large, "c": [0.0] * 12})) == (
        "Very skewed: intervals somewhat narrow.",
    )
    assert caution(verdicts({"a": [0.0] * 40 + [9.0], "c": [0.0] * 41})) == ()


def test_p_is_never_zero_however_large_the_difference() -> None:
    rng = np.random.default_rng(0)
    rows = verdicts({"a": 1e6 + rng.normal(size=2000), "c": rng.normal(size=2000)})
    assert 0 < rows["p"].iloc[0] <= rows["p_holm"].iloc[0] < 1e-300


@pytest.mark.filterwarnings("error")
def test_a_level_that_holds_nearly_everything_decides_nothing() -> None:
    rng = np.random.default_rng(0)
    clusters = [*range(6), *[6] * 5000]
    row = verdicts({"a": 1 + rng.normal(size=5006), "c": rng.normal(size=5006)}, clusters=clusters).iloc[0]
    assert row["verdict"] == "undecided"
    assert row["df"] < 0.01
    assert row["judged"][0] < 0 < row["delta"] < row["judged"][1]


REFUSALS: list[tuple[Callable[[], Any], list[str]]] = [
    (lambda: verdicts({"a": [1.0, NAN], "c": [1.0, 2.0]}), ['"a"', 'unit "1"', "nan"]),
    (lambda: verdicts(pd.DataFrame({"a": [1.0, 2.0], "c": [INF, 2.0]}, index=["u", "v"])), ['"c"', '"u"', "inf"]),
    (lambda: verdicts(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])), ['Team "a"', "more than once"]),
    (lambda: verdicts(pd.DataFrame({"a": [1.0, 2.0]}, index=["u", "u"])), ['Unit "u"', "more than once"]),
    (lambda: verdicts(pd.DataFrame({"a": []})), ["empty"]),
    (lambda: verdicts({"a": ["x", "y"]}), ["table of numbers"]),
    (lambda: verdicts({"a": [1.0, 2.0], "c": [1.0]}), ["table of numbers"]),
    (lambda: verdicts({"a": SIX}, clusters=["p"] * 5), ["one label for each of 6 units"]),
    (lambda: verdicts({"a": SIX}, clusters=["p", None, "p", "q", "q", "q"]), ['unit "1"', "empty"]),
    (lambda: verdicts({"a": SIX}, clusters={0: "p"}), ['lack unit "1"']),
    (lambda: verdicts({"a": SIX}, alpha=0.0), ["alpha", "0.0"]),
    (lambda: verdicts({"a": SIX}, alpha=1.0), ["alpha"]),
    (lambda: verdicts({"a": SIX}, nu=-0.1), ["nu", "-0.1"]),
    (lambda: verdicts({"a": SIX}, nu=NAN), ["nu"]),
    (lambda: score_intervals(leave_out({"a": SIX}), level=1.0), ["level"]),
    (
        lambda: leave_out_columns(
            {"a": {"x": [1.0, 2.0], "n": [0.0, 3.0]}}, lambda s: s["x"] / s["n"], clusters=["p", "q"]
        ),
        ['"a"', 'without level "q"', "inf"],
    ),
    (
        lambda: leave_out_columns({"a": {"x": [1.0, 1.0]}}, lambda s: s["y"]),
        ["'y'", "x, count"],
    ),
    (lambda: leave_out_columns({"a": {"x": [1.0, 1.0]}}, lambda s: s["x"].sum()), ["shape ()"]),
    (lambda: leave_out_columns({"a": {"x": [1.0, 1.0]}}, lambda s: s["x"], weight="n"), ['"n"', "x, count"]),
    (
        lambda: leave_out_columns(
            {"a": {"n": [1.0, 2.0]}, "b": {"n": [1.0, 3.0]}}, lambda s: s["n"], weight="n"
        ),
        ['"n" differs between teams'],
    ),
    (lambda: LeftOut(("a",), np.zeros(1), np.zeros((2, 2)), np.ones(2)), ["(2, 1)", "(2, 2)"]),
    (lambda: LeftOut(("a", "a"), np.zeros(2), np.zeros((2, 2)), np.ones(2)), ["same name"]),
    (lambda: LeftOut(("a",), np.zeros(1), np.zeros((2, 1)), np.array([1.0, 0.0])), ["positive weight"]),
    (lambda: jackknife(leave_out({"a": SIX, "c": SIX}), tie_break={"a": 1.0}), ['lacks team "c"']),
    (lambda: jackknife(leave_out({"a": SIX, "c": SIX})).between("a", "x"), ['No team "x"']),
    (lambda: jackknife(leave_out({"a": SIX, "c": SIX})).between("a", "a"), ["twice"]),
    (lambda: sign_flip_p(np.array([0.1, NAN])), ["finite differences"]),
]  # fmt: skip


@pytest.mark.parametrize("at", range(len(REFUSALS)))
def test_what_is_refused_and_what_the_refusal_says(at: int) -> None:
    act, words = REFUSALS[at]
    with pytest.raises(InputError) as refusal:
        act()
    for word in words:
        assert word in str(refusal.value)


def test_a_table_may_come_with_clusters_by_unit() -> None:
    table = pd.DataFrame({"a": SIX * 2, "c": [0.0, 0.1] * 6}, index=[f"u{at}" for at in range(12)])
    people = {unit: unit[-1] for unit in table.index}
    by_name = verdicts(table, clusters=people)
    pd.testing.assert_frame_equal(by_name, verdicts(table, clusters=list(people.values())))
    pd.testing.assert_frame_equal(by_name, verdicts(table, clusters=pd.Series(people).sample(frac=1)))


def test_a_mean_as_sums_and_counts_gives_the_rows_of_the_mean() -> None:
    rng = np.random.default_rng(2)
    table = pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc"))
    clusters = rng.integers(0, 8, 30).tolist()
    columns = {team: {"score": table[team].to_numpy()} for team in table}
    left_out = leave_out_columns(columns, lambda sums: sums["score"] / sums["count"], clusters)
    found, expected = judge(jackknife(left_out)), verdicts(table, clusters=clusters)
    numbers = ["delta", "se", "df", "skew", "g_eff", "p", "p_holm", "level"]
    np.testing.assert_allclose(found[numbers], expected[numbers], rtol=1e-9)
