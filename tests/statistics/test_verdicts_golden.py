"""Verdicts against the golden numbers of an independent implementation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from inference_golden import assert_rows_equal, golden, needs_golden, negative_nrmse

from neuroarena.statistics import (
    jackknife,
    judge,
    judged_alphas,
    leave_out,
    leave_out_columns,
    score_intervals,
    verdicts,
)

pytestmark = needs_golden


def nrmse_left_out(case: dict[str, Any]) -> Any:
    shared = {name: case[name] for name in ("n", "sum_y", "sum_y2")}
    columns = {team: {**shared, "sse": sse} for team, sse in case["sse"].items()}
    return leave_out_columns(columns, negative_nrmse, weight="n")


def test_the_board_of_five_teams() -> None:
    case = golden("board")
    table = pd.DataFrame(case["scores"])
    assert_rows_equal(verdicts(table, nu=case["nu"]), case["pairs"])
    intervals = score_intervals(leave_out(table), bounds=(0, 1))
    for team, expected in case["score_interval"].items():
        np.testing.assert_allclose(intervals.loc[team, ["score", "low", "high"]], expected, rtol=1e-8)


def test_clusters_of_unequal_size() -> None:
    case = golden("clusters")
    assert_rows_equal(verdicts(case["scores"], clusters=case["cluster"]), case["pairs"])


def test_a_pooled_nrmse_and_the_intervals_of_its_scores() -> None:
    case = golden("nrmse")
    left_out = nrmse_left_out(case)
    assert_rows_equal(judge(jackknife(left_out), nu=case["nu"]), case["pairs"])
    intervals = score_intervals(left_out, bounds=(-np.inf, 0))
    for team, (score, low, high) in case["score_interval"].items():
        found = intervals.loc[team, ["score", "low", "high"]]
        np.testing.assert_allclose(found, [-score, -high, -low], rtol=1e-8)


def test_the_levels_at_which_holm_judges() -> None:
    case = golden("holm")
    p_holm, alphas = judged_alphas(case["p"])
    np.testing.assert_allclose(p_holm, case["p_holm"], rtol=1e-8)
    np.testing.assert_allclose(1 - alphas, case["level"], rtol=1e-8)


@pytest.mark.parametrize("at", range(6))
def test_degenerate_differences(at: int) -> None:
    case = golden("degenerate")[at]
    base = np.linspace(0.5, 0.9, len(case["d"]))
    row = verdicts({"a": base + case["d"], "c": base}).iloc[0]
    assert row["verdict"] == case["verdict"], case["name"]
    if case["verdict"] == "none":
        assert np.isnan([row["p"], row["p_holm"], row["level"], row["p_signflip"], *row["judged"]]).all()
        return
    np.testing.assert_allclose(row["p"], case["p"], rtol=1e-8)
    np.testing.assert_allclose(row["judged"], case["judged"], rtol=1e-8, atol=1e-15)
