"""The `exact` method against the numbers of the published listing, kept in the golden file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from neuroarena.statistics import bootstrap, compare, rank_stability

GOLDEN = Path(__file__).resolve().parents[2].parent / "shared/data/statistics/golden.json"
pytestmark = pytest.mark.skipif(
    not GOLDEN.exists(), reason="the golden file lies beside the project, not in it"
)


@pytest.fixture(scope="module", params=["plain", "clustered"])
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    golden = json.loads(GOLDEN.read_text())
    expected = golden["expected"][request.param]
    clusters = golden["clusters"] if request.param == "clustered" else None
    draws = bootstrap(golden["unit_scores"], expected["n_boot"], clusters, method="exact")
    return {"draws": draws, "expected": expected, "golden": golden, "clusters": clusters}


def test_first_and_last_draws_means_and_deviations_are_those_of_the_listing(case: dict[str, Any]) -> None:
    draws, expected = case["draws"], case["expected"]
    for found, name in (
        (draws.scores[0], "first_draw_scores"),
        (draws.scores[-1], "last_draw_scores"),
        (draws.scores.mean(axis=0), "mean"),
        (draws.sigma().to_numpy(), "std"),
    ):
        np.testing.assert_allclose(found, [expected[name][team] for team in draws.teams], rtol=0, atol=1e-12)


def test_pairs_and_holm_are_those_of_the_listing(case: dict[str, Any]) -> None:
    table = compare(case["draws"], "neighbours")
    rows = case["expected"]["neighbours"]
    assert list(zip(table["team_a"], table["team_c"], strict=True)) == [(row["a"], row["c"]) for row in rows]
    for name in ("delta", "p_boot", "p_holm"):
        np.testing.assert_allclose(table[name], [row[name] for row in rows], rtol=0, atol=1e-12)
    ends = table[["ci95_low", "ci95_high"]].to_numpy()
    np.testing.assert_allclose(ends, [row["ci95"] for row in rows], rtol=0, atol=1e-12)
    for name in ("indistinguishable", "significant_after_holm"):
        assert table[name].tolist() == [row[name] for row in rows]


def test_rank_stability_is_that_of_the_listing(case: dict[str, Any]) -> None:
    expected = pd.DataFrame(case["expected"]["rank_stability"]).T
    found = rank_stability(case["draws"], ties="order")
    pd.testing.assert_frame_equal(found[["top1", "top3", "top5"]], expected, check_names=False)


def test_a_table_with_sortable_units_gives_the_same_draws_as_arrays(case: dict[str, Any]) -> None:
    scores = case["golden"]["unit_scores"]
    rows = [
        {"team": team, "unit": f"u{at:02d}", "score": value, "cluster": case["golden"]["clusters"][at]}
        for team, values in scores.items()
        for at, value in enumerate(values)
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    clusters = None if case["clusters"] is None else "cluster"
    found = bootstrap(table, case["expected"]["n_boot"], clusters, method="exact")
    np.testing.assert_array_equal(found.scores, case["draws"].scores)
