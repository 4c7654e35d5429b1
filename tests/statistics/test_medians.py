"""Scores that are not smooth: medians over units, and over neuroids with images drawn too."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuroarena.errors import InputError
from neuroarena.statistics import (
    CrossedDraws,
    LevelDraws,
    bootstrap,
    draw_median_correlations,
    draw_medians,
    draw_whole_levels,
    judge,
    moments_of_crossed_draws,
    moments_of_draws,
    rank_stability,
)
from neuroarena.statistics.level_draws import draw_counts
from neuroarena.statistics.medians import weighted_medians
from neuroarena.statistics.pseudovalues import weighted_correlations


@given(st.integers(1, 12), st.integers(0, 1000))
def test_a_weighted_median_is_the_median_of_repeated_values(n_units: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 5, (4, n_units)).astype(float)
    counts = rng.integers(0, 4, (4, n_units))
    counts[:, 0] += 1
    expected = [np.median(np.repeat(row, count)) for row, count in zip(values, counts, strict=True)]
    assert weighted_medians(values, counts).tolist() == expected


def test_weighted_correlations_are_those_of_repeated_images() -> None:
    rng = np.random.default_rng(0)
    predicted, observed = rng.normal(5, 1, (12, 3)), rng.normal(-5, 1, (12, 3))
    counts = draw_counts(12, 6, rng)
    found = weighted_correlations(predicted, observed, counts)
    for row, count in zip(found, counts, strict=True):
        drawn = np.repeat(np.arange(12), count)
        expected = [np.corrcoef(predicted[drawn, j], observed[drawn, j])[0, 1] for j in range(3)]
        np.testing.assert_allclose(row, expected, rtol=1e-9)


def test_the_error_of_a_median_is_that_of_its_draws() -> None:
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"a": rng.exponential(2, 40), "c": rng.exponential(1, 40)})
    clusters = np.repeat(np.arange(8), 5).tolist()
    draws = draw_medians(table, clusters, noun="people")
    row = judge(moments_of_draws(draws)).iloc[0]
    assert row["delta"] == pytest.approx(abs(table["a"].median() - table["c"].median()))
    difference = draws.scores[:, 0] - draws.scores[:, 1]
    assert row["se"] == pytest.approx(difference.std(ddof=1) * np.sqrt(8 / 7))
    assert (row["skew"], row["df"], row["scope"]) == (0.0, 7.0, "random: 8 people")
    by_person = table["a"].to_numpy().reshape(8, 5)
    by_hand = [np.median(by_person[rng.integers(0, 8, 8)]) for _ in range(2000)]
    assert draws.scores[:, 0].std() == pytest.approx(np.std(by_hand), rel=0.1)


def test_twins_and_few_levels_are_what_they_are_for_means() -> None:
    rng = np.random.default_rng(2)
    scores = rng.normal(size=9)
    twins = judge(moments_of_draws(draw_medians({"a": scores, "c": scores}))).iloc[0]
    assert (twins["verdict"], twins["p"], twins["judged"]) == ("equivalent", 1.0, (0.0, 0.0))
    few = judge(moments_of_draws(draw_medians({"a": scores[:5], "c": scores[4:]})))
    one = judge(moments_of_draws(draw_medians({"a": [1.0], "c": [0.0]})))
    assert few["verdict"].tolist() == one["verdict"].tolist() == ["none"]


def test_a_median_over_neuroids_counts_the_noise_of_the_cells_once() -> None:
    rng = np.random.default_rng(3)
    observed = rng.normal(size=(60, 20))
    predicted = {team: observed + rng.normal(size=(60, 20)) for team in "ab"}
    draws = draw_median_correlations(predicted, observed)
    row = judge(moments_of_crossed_draws(draws)).iloc[0]
    images, neuroids, both = (
        (scores[:, 0] - scores[:, 1]).var(ddof=1) for scores in (draws.first, draws.second, draws.both)
    )
    variance = max(min(2 * (images + neuroids) - both, both), images, neuroids)
    assert row["se"] ** 2 == pytest.approx(variance)
    assert row["df"] == pytest.approx(variance**2 / (images**2 / 59 + neuroids**2 / 19))
    assert row["scope"] == "random: 60 images x 20 neuroids"


def test_the_error_of_crossed_draws_lies_between_one_factor_and_both() -> None:
    def spread(variance: float) -> np.ndarray:
        return np.column_stack([np.tile([1.0, -1.0], 500) * np.sqrt(variance * 999 / 1000), np.zeros(1000)])

    for first, second, both, expected in (
        (1.0, 1.0, 3.0, 1.0),
        (1.0, 1.0, 2.5, 1.5),
        (1.0, 1.0, 1.5, 1.5),
        (4.0, 0.1, 3.0, 4.0),
    ):
        draws = CrossedDraws(
            ("a", "c"), np.array([1.0, 0.0]), spread(first), spread(second), spread(both), (9, 8)
        )
        assert moments_of_crossed_draws(draws).se[0] ** 2 == pytest.approx(expected)


def test_few_neuroids_are_fixed() -> None:
    rng = np.random.default_rng(4)
    observed = rng.normal(size=(30, 3))
    draws = draw_median_correlations({"a": rng.normal(size=(30, 3)), "b": observed + 1e-3}, observed)
    row = judge(moments_of_crossed_draws(draws)).iloc[0]
    assert row["scope"] == "random: 30 images; for these 3 neuroids"
    assert row["se"] == pytest.approx((draws.first[:, 0] - draws.first[:, 1]).std(ddof=1) * np.sqrt(30 / 29))


def test_shares_of_ranks_come_from_whole_levels_widened_for_their_number() -> None:
    rng = np.random.default_rng(5)
    people = np.repeat(np.arange(9), rng.integers(1, 6, 9)).tolist()
    scores = {team: rng.normal(size=len(people)) for team in "ab"}
    sums = {
        team: {"score": np.bincount(people, weights=values), "units": np.bincount(people)}
        for team, values in scores.items()
    }
    plain = bootstrap(sums, 500, method="exact", combiner=lambda drawn: drawn["score"] / drawn["units"])
    draws = draw_whole_levels(scores, people, n_draws=500, method="exact")
    np.testing.assert_allclose(draws.scores, plain.point + np.sqrt(9 / 8) * (plain.scores - plain.point))
    assert rank_stability(draws)["top1"].sum() == pytest.approx(1)
    ratio = draw_whole_levels(
        {team: {"x": values} for team, values in scores.items()},
        people,
        lambda drawn: drawn["x"] / drawn["count"],
        n_draws=500,
        method="exact",
    )
    np.testing.assert_allclose(ratio.scores, draws.scores)


def test_fast_and_exact_draws_of_whole_levels_agree() -> None:
    rng = np.random.default_rng(6)
    people = np.repeat(np.arange(10), 12).tolist()
    person = np.repeat(rng.normal(size=10), 12)
    scores = {"a": person + rng.normal(size=120), "b": -person + 0.1}
    tops = [
        rank_stability(draw_whole_levels(scores, people, n_draws=4000, method=method)).loc["a", "top1"]
        for method in ("fast", "exact")
    ]
    assert tops[0] == pytest.approx(tops[1], abs=0.04)


def test_numbers_that_are_not_finite_are_refused_by_name() -> None:
    with pytest.raises(InputError, match='Team "a": the score in draw 1 is nan'):
        LevelDraws(("a",), np.zeros(1), np.array([[0.0], [np.nan]]), np.ones(6))
    with pytest.raises(InputError, match=r'Team "a": the score in draw 0 \(both\) is inf'):
        CrossedDraws(("a",), np.zeros(1), np.ones((1, 1)), np.ones((1, 1)), np.full((1, 1), np.inf), (6, 6))
    constant = np.zeros((10, 2))
    with pytest.raises(InputError, match='Team "a"'):
        draw_median_correlations({"a": constant}, np.random.default_rng(0).normal(size=(10, 2)), n_draws=5)
