"""A table of three teams and four units in which every number is derived on paper.

Unit scores:      u0 u1 u2 u3   mean
            A      3  1  2  2    2
            B      1  2  2  1    1.5
            C      1  2  1  0    1

`RandomState(b).randint(0, 4, 4)` gives for b = 0 ... 5 the units
    0 3 1 0,  1 3 0 0,  0 3 1 0,  2 0 1 3,  2 2 3 1,  3 2 3 1
so the counts of (u0, u1, u2, u3) are
    b = 0, 1, 2: (2, 1, 0, 1);  b = 3: (1, 1, 1, 1);  b = 4: (0, 1, 2, 1);  b = 5: (0, 1, 1, 2).
Sums, and scores after division by 4:
    A: 6+1+0+2 = 9 -> 2.25 (three times);  8 -> 2;    0+1+4+2 = 7 -> 1.75;  0+1+2+4 = 7 -> 1.75
    B: 2+2+0+1 = 5 -> 1.25 (three times);  6 -> 1.5;  0+2+4+1 = 7 -> 1.75;  0+2+2+2 = 6 -> 1.5
    C: 2+2+0+0 = 4 -> 1    (three times);  4 -> 1;    0+2+2+0 = 4 -> 1;     0+2+1+0 = 3 -> 0.75
"""

from __future__ import annotations

import numpy as np
import pytest

from neuroarena.statistics import (
    Draws,
    bootstrap,
    compare,
    rank_probabilities,
    rank_stability,
    ranking,
    ranks,
    tie_groups,
    transfer_score,
)

A = [2.25, 2.25, 2.25, 2.0, 1.75, 1.75]
B = [1.25, 1.25, 1.25, 1.5, 1.75, 1.5]
C = [1.0, 1.0, 1.0, 1.0, 1.0, 0.75]


@pytest.fixture
def draws() -> Draws:
    scores = {"A": [3, 1, 2, 2], "B": [1, 2, 2, 1], "C": [1, 2, 1, 0]}
    return bootstrap(scores, n_draws=6, method="exact")


def test_draws_point_interval_and_sigma_are_those_on_paper(draws: Draws) -> None:
    assert draws.scores.T.tolist() == [A, B, C]
    assert draws.point.tolist() == [2.0, 1.5, 1.0]
    # A sorted: 1.75 1.75 2 2.25 2.25 2.25; places 0.025 * 5 = 0.125 and 0.975 * 5 = 4.875 lie inside
    # equal neighbours. C sorted: 0.75 1 1 1 1 1; low = 0.75 + 0.125 * 0.25 = 0.78125.
    table = draws.interval()
    assert table["low"].tolist() == pytest.approx([1.75, 1.25, 0.78125], abs=1e-15)
    assert table["high"].tolist() == pytest.approx([2.25, 1.5 + 0.875 * 0.25, 1.0], abs=1e-15)
    # A: mean 12.25 / 6; mean square (3 * 5.0625 + 4 + 2 * 3.0625) / 6 = 25.3125 / 6;
    # variance 25.3125 / 6 - (12.25 / 6)^2 = 29 / 576.
    assert draws.sigma()["A"] == pytest.approx(np.sqrt(29) / 24, abs=1e-15)
    assert draws.to_frame().loc[4].tolist() == [1.75, 1.75, 1.0]


def test_pairs_are_those_on_paper(draws: Draws) -> None:
    # A - B: 1 1 1 0.5 0 0.25; mean 3.75 / 6 = 0.625; sorted 0 0.25 0.5 1 1 1:
    #   low = 0 + 0.125 * 0.25 = 0.03125, high = 1. One draw of six is <= 0, six are >= 0:
    #   p = 2 * 1/6 = 1/3, smoothed 2 * (1 + 1) / (6 + 1) = 4/7. The interval lies above 0.
    # B - C: 0.25 0.25 0.25 0.5 0.75 0.75; mean 2.75 / 6; low 0.25, high 0.75; none <= 0:
    #   p = 0, smoothed 2 * (0 + 1) / 7 = 2/7.
    # Holm: the smaller p times 2 is 0, the larger times 1 is 1/3.
    first, second = compare(draws).to_dict("records")
    assert (first.pop("team_a"), first.pop("team_c")) == ("A", "B")
    assert first == pytest.approx(
        {
            "delta": 0.625,
            "delta_point": 0.5,
            "ci95_low": 0.03125,
            "ci95_high": 1.0,
            "p_boot": 1 / 3,
            "p_smoothed": 4 / 7,
            "p_holm": 1 / 3,
            "significant_after_holm": False,
            "indistinguishable": False,
        },
        abs=1e-15,
    )
    assert (second.pop("team_a"), second.pop("team_c")) == ("B", "C")
    assert second == pytest.approx(
        {
            "delta": 2.75 / 6,
            "delta_point": 0.5,
            "ci95_low": 0.25,
            "ci95_high": 0.75,
            "p_boot": 0.0,
            "p_smoothed": 2 / 7,
            "p_holm": 0.0,
            "significant_after_holm": True,
            "indistinguishable": False,
        },
        abs=1e-15,
    )


def test_ranks_are_those_on_paper(draws: Draws) -> None:
    # Only in draw 4 do A and B tie, at 1.75.
    assert ranks(draws).tolist() == [[1, 2, 3]] * 4 + [[1, 1, 3], [1, 2, 3]]
    assert ranks(draws, ties="order").tolist() == [[1, 2, 3]] * 6
    table = rank_stability(draws)
    assert table["top1"].tolist() == pytest.approx([1, 1 / 6, 0])
    assert table["top3"].tolist() == table["top5"].tolist() == [1, 1, 1]
    # Ranks of B sorted: 1 2 2 2 2 2; low = 1 + 0.125.
    assert table["rank_low"].tolist() == pytest.approx([1, 1.125, 3])
    assert table["rank_high"].tolist() == [1, 2, 3]
    assert rank_probabilities(draws).loc["B"].tolist() == pytest.approx([1 / 6, 5 / 6, 0])


def test_ranking_and_tie_groups_are_those_on_paper(draws: Draws) -> None:
    assert ranking(draws).to_dict("list") == {
        "rank": [1, 2, 3],
        "team": ["A", "B", "C"],
        "score": [2.0, 1.5, 1.0],
    }
    # Both neighbour intervals lie above 0, and so does A - C: three groups of one.
    assert tie_groups(draws).to_dict() == {"A": 1, "B": 2, "C": 3}


def test_clustered_draws_are_those_on_paper() -> None:
    # Clusters x = (u0, u1), y = (u2, u3). RandomState(b).randint(0, 2, 2) is 0 1 / 1 1 / 0 1 / 0 0.
    # b = 0 and 2: x and y once each, inside each its first and second unit: every unit once.
    # b = 1: y twice; inside y its second unit twice: u3 four times.
    # b = 3: x twice; inside x its first unit twice: u0 four times.
    scores = {"A": [3, 1, 2, 2], "B": [1, 2, 2, 1], "C": [1, 2, 1, 0]}
    found = bootstrap(scores, n_draws=4, clusters=["x", "x", "y", "y"], method="exact")
    assert found.scores.tolist() == [[2.0, 1.5, 1.0], [2.0, 1.0, 0.0], [2.0, 1.5, 1.0], [3.0, 1.0, 1.0]]


def test_transfer_is_that_on_paper(draws: Draws) -> None:
    # A second track in which C always beats A, and A always beats B: ranks A 2, B 3, C 1.
    other = Draws(["C", "B", "A"], np.tile([3.0, 1.0, 2.0], (6, 1)), np.array([3.0, 1.0, 2.0]), 4)
    both = transfer_score({"img": draws, "bci": other})
    # Mean ranks: A (1 + 2) / 2, B (2 + 3) / 2 and in draw 4 (1 + 3) / 2, C (3 + 1) / 2.
    assert both.scores[0].tolist() == [-1.5, -2.5, -2.0]
    assert both.scores[4].tolist() == [-1.5, -2.0, -2.0]
    # 100 (1 - (R - 1) / 2): 75, 25, 50.
    assert both.visible.to_dict() == {"A": 75.0, "B": 25.0, "C": 50.0}
    assert both.mean_rank.to_dict() == {"A": 1.5, "B": 2.5, "C": 2.0}
