"""What is refused, and what the refusal says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuroarena.errors import InputError
from neuroarena.statistics import (
    Draws,
    all_track_score,
    bootstrap,
    compare,
    half_width,
    holm,
    meets_resolution,
    rank_points,
    rank_probabilities,
    rank_stability,
    ranking,
    ranks,
    required_units,
    submitted_score,
    tie_groups,
    transfer_score,
    visible_transfer_score,
)

NAN, INF = float("nan"), float("inf")


def table(**changes: Any) -> pd.DataFrame:
    columns = {
        "team": ["a", "a", "b", "b"],
        "unit": ["u1", "u2", "u1", "u2"],
        "score": [0.1, 0.2, 0.3, 0.4],
        "cluster": ["s1", "s2", "s1", "s2"],
    }
    return pd.DataFrame({**columns, **changes})


def ratio(sums: dict[str, np.ndarray]) -> np.ndarray:
    return sums["errors"] / sums["characters"]


UNIT_SCORES: list[tuple[Any, dict[str, Any], list[str]]] = [
    (table(score=[0.1, NAN, 0.3, 0.4]), {}, ['"a"', '"u2"', "nan", "finite"]),
    (table(score=[0.1, 0.2, -INF, 0.4]), {}, ['"b"', '"u1"', "-inf"]),
    ({"a": [1.0, 2.0], "b": [1.0, INF]}, {}, ['"b"', '"1"', "inf"]),
    ({"a": pd.Series({"x": 1.0, "y": NAN})}, {}, ['"a"', '"y"', "nan"]),
    ({"a": {"x": [1.0, NAN]}}, {"combiner": lambda s: s["x"]}, ['"a"', '"1"', "x is nan"]),
    (table(unit=["u1", "u2", "u1", "u9"]), {}, ['"a" lacks unit "u9"', '"b" lacks unit "u2"']),
    ({"a": pd.Series({"x": 1.0}), "b": pd.Series({"x": 1.0, "y": 2.0})}, {}, ['"a" lacks unit "y"']),
    ({"a": [1.0, 2.0], "b": [1.0]}, {}, ["same units", '"a" has 2', '"b" has 1']),
    (table(unit=["u1", "u1", "u1", "u2"]), {}, ['"a"', '"u1"', "more than once"]),
    ({"a": pd.Series([1.0, 2.0], index=["x", "x"])}, {}, ['"a"', '"x"', "more than once"]),
    (table().iloc[:0], {}, ["empty"]),
    ({}, {}, ["no team"]),
    ({"a": []}, {}, ["no unit"]),
    ({"a": pd.Series([], dtype=float)}, {}, ["no unit"]),
    (table().drop(columns="score"), {}, ['no column "score"']),
    (table().drop(columns="unit"), {}, ['no column "unit"']),
    (table(team=["a", None, "b", "b"]), {}, ["Row 1", '"team"']),
    (table(score=["high", "low", "x", "y"]), {}, ["not all numbers", '"score"']),
    ({"a": ["high"]}, {}, ['"a"', "not all numbers"]),
    ({"a": [[1.0, 2.0]]}, {}, ['"a"', "(1, 2)"]),
    ({"a": [1.0], "b": pd.Series([1.0])}, {}, ["Series", "bare array"]),
    ({"a": {"errors": [1.0]}}, {}, ['"a"', "combiner"]),
    ([1.0, 2.0], {}, ["table", "mapping", "list"]),
    (table(), {"method": "magic"}, ['"magic"', "exact", "fast"]),
    (table(), {"n_draws": 0}, ["n_draws", "0"]),
    (table(), {"n_draws": 2.5}, ["n_draws", "2.5"]),
    (table(), {"seed": -1}, ["seed", "-1"]),
    (table(), {"clusters": "subject"}, ['no column "subject"']),
    (table(cluster=["s1", "s2", "s2", "s2"]), {"clusters": "cluster"}, ['Unit "u1"', '"s1", "s2"']),
    (table(cluster=["s1", None, "s1", "s2"]), {"clusters": True}, ["Row 1", '"cluster"']),
    (table(), {"clusters": ["s1"]}, ["2 units", "(1,)"]),
    (table(), {"clusters": {"u1": "s1"}}, ['lack unit "u2"']),
    ({"a": [1.0, 2.0]}, {"clusters": [0, 1, 2]}, ["2 units", "(3,)"]),
    ({"a": [1.0, 2.0]}, {"clusters": [0, None]}, ['"1"', "empty"]),
    ({"a": [1.0, 2.0]}, {"clusters": "cluster"}, ["'cluster'", "mapping"]),
    ({"a": {"count": [1.0]}}, {"combiner": ratio}, ['"count"']),
    (table(score=list("abcd")), {"combiner": ratio}, ["no numeric value column"]),
    (table(), {"combiner": ratio}, ["'errors'", "score, count"]),
    (
        {"a": {"errors": [1.0], "characters": [1.0]}, "b": {"errors": [1.0]}},
        {"combiner": ratio},
        ['"b"', '"errors"', '"characters"'],
    ),
    (
        {"a": {"errors": [1.0, 2.0], "characters": [0.0, 5.0]}},
        {"combiner": ratio, "n_draws": 200},
        ['"a"', "draw", "inf"],
    ),
    ({"a": {"errors": [1.0]}}, {"combiner": lambda sums: np.array([1.0, 2.0])}, ["(2,)", "(1,)"]),
]


@pytest.mark.parametrize(("scores", "options", "words"), UNIT_SCORES)
def test_bad_unit_scores_are_refused_by_name(scores: Any, options: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        bootstrap(scores, **{"n_draws": 5, **options})
    for word in words:
        assert word in str(refusal.value)


GOOD = Draws(["a", "b"], np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 0.0]]), np.array([2.0, 1.0]), 4)
SHORT = Draws(["a", "b"], np.array([[1.0, 2.0]]), np.array([2.0, 1.0]), 4)
OTHER = Draws(["y", "z"], GOOD.scores, GOOD.point, 4)

CALLS: list[tuple[Callable[[], Any], list[str]]] = [
    (lambda: compare(GOOD, "everyone"), ['"everyone"', "neighbours", "leader", "all"]),
    (lambda: compare(GOOD, [("a", "zed")]), ['"zed"']),
    (lambda: compare(GOOD, [("a", "b", "c")]), ["two teams"]),
    (lambda: compare(GOOD, alpha=0), ["alpha", "0"]),
    (lambda: holm([0.1, NAN]), ["number 1", "nan"]),
    (lambda: holm([-0.1]), ["number 0", "-0.1"]),
    (lambda: holm(np.ones((2, 2))), ["(2, 2)"]),
    (lambda: ranks(GOOD, ties="max"), ['"max"', "min", "order"]),
    (lambda: rank_stability(GOOD, ties="max"), ['"max"', "min", "order"]),
    (lambda: rank_probabilities(GOOD, ties="max"), ['"max"', "min", "order"]),
    (lambda: ranks(np.array([[1.0, NAN]])), ["Draw 0", "number 1", "nan"]),
    (lambda: ranks(np.empty((0, 3))), ["(0, 3)"]),
    (lambda: ranking(GOOD, [1.0]), ["2 teams"]),
    (lambda: ranking(GOOD, {"a": 1.0}), ['"b"']),
    (lambda: ranking(GOOD, [1.0, NAN]), ['"b"', "finite"]),
    (lambda: tie_groups(GOOD, level=1.0), ["level", "1.0"]),
    (lambda: GOOD.interval(0), ["level", "0"]),
    (lambda: Draws(["a"], GOOD.scores, GOOD.point, 4), ["1 teams", "(3, 2)"]),
    (lambda: Draws(["a", "a"], GOOD.scores, GOOD.point, 4), ["differ"]),
    (lambda: Draws(["a", "b"], GOOD.scores * [1, NAN], GOOD.point, 4), ['"b"', "scores"]),
    (lambda: Draws(["a", "b"], GOOD.scores, GOOD.point * [INF, 1], 4), ['"a"', "point"]),
    (lambda: transfer_score({}), ["at least one track"]),
    (lambda: transfer_score({"img": GOOD, "bci": SHORT}), ["img has 3", "bci has 1"]),
    (lambda: transfer_score({"img": GOOD, "bci": OTHER}), ["img, bci"]),
    (lambda: transfer_score({"img": GOOD}, ties="max"), ['"max"']),
    (lambda: visible_transfer_score(4.0, 3), ["4.0", "3"]),
    (lambda: visible_transfer_score(1.0, 0), ["N = 0"]),
    (lambda: rank_points(0, 3), ["between 1 and 3", "0"]),
    (lambda: rank_points(1, 0), ["n = 0"]),
    (lambda: submitted_score({}), ["at least one track"]),
    (lambda: submitted_score({"img": 1.5}), ['"img"', "1.5"]),
    (lambda: all_track_score({"img": NAN}), ['"img"', "nan"]),
    (lambda: all_track_score({}, tracks=()), ["at least one track"]),
    (lambda: half_width(0.0, 10), ["sigma", "0.0"]),
    (lambda: half_width(1.0, 0), ["n_eff", "0"]),
    (lambda: required_units(1.0, -0.1), ["nu", "-0.1"]),
    (lambda: required_units(NAN, 0.1), ["sigma", "nan"]),
    (lambda: meets_resolution(1.0, 10, 0.0), ["nu", "0.0"]),
]


@pytest.mark.parametrize(("call", "words"), CALLS)
def test_bad_arguments_are_refused_with_what_is_allowed(call: Callable[[], Any], words: list[str]) -> None:
    with pytest.raises(InputError) as refusal:
        call()
    for word in words:
        assert word in str(refusal.value)


def test_a_refusal_names_a_few_and_counts_the_rest() -> None:
    scores = {
        f"t{at}": pd.Series({f"u{unit:02d}": 1.0 for unit in range(20) if unit % 9 != at}) for at in range(9)
    }
    with pytest.raises(InputError, match=r"and 4 more teams"):
        bootstrap(scores)
    with pytest.raises(InputError, match=r'lacks unit "u01", "u02", "u03", "u04", "u05" and 15 more'):
        bootstrap({"a": pd.Series({"u00": 1.0}), "b": pd.Series({f"u{unit:02d}": 1.0 for unit in range(21)})})
