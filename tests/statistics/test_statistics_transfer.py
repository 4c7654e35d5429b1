"""The transfer score, points and sizing."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statistics_oracle import loop_scores, sorted_ranks

from neuroarena.statistics import (
    Draws,
    all_track_score,
    bootstrap,
    compare,
    half_width,
    meets_resolution,
    rank_points,
    rank_stability,
    required_units,
    submitted_score,
    transfer_score,
    visible_transfer_score,
)

TRACKS = ("img", "bci", "sleep", "emg")


def test_transfer_equals_a_recomputation_draw_by_draw() -> None:
    rng = np.random.default_rng(4)
    teams = ["a", "b", "c", "d"]
    scores = {
        track: {team: rng.normal(size=20 + 5 * at) for team in teams} for at, track in enumerate(TRACKS)
    }
    found = transfer_score({track: bootstrap(scores[track], 80, method="exact") for track in TRACKS})
    mean_rank = np.mean([sorted_ranks(loop_scores(scores[track], 80, "exact")) for track in TRACKS], axis=0)
    np.testing.assert_allclose(found.scores, -mean_rank, rtol=0, atol=1e-12)
    point = np.mean(
        [sorted_ranks(np.array([[scores[track][team].mean() for team in teams]]))[0] for track in TRACKS],
        axis=0,
    )
    np.testing.assert_allclose(found.point, -point, rtol=0, atol=1e-12)
    np.testing.assert_allclose(
        compare(found, [("a", "b")])[["ci95_low", "ci95_high"]].iloc[0].astype(float),
        np.percentile(mean_rank[:, 1] - mean_rank[:, 0], [2.5, 97.5]),
        rtol=0,
        atol=1e-12,
    )
    assert found.n_units == 20
    assert found.recipe["n_teams"] == 4
    assert set(found.recipe["tracks"]) == set(TRACKS)
    assert rank_stability(found)["top5"].eq(1.0).all()


def test_encoders_that_lack_a_track_are_left_out_by_name_and_not_ranked() -> None:
    rng = np.random.default_rng(0)
    every = {team: rng.normal(size=12) for team in ("a", "b", "ghost", "half")}
    tracks = {
        "img": bootstrap(every, 30),
        "bci": bootstrap({team: every[team] for team in ("b", "a", "half")}, 30),
        "emg": bootstrap({team: every[team] for team in ("a", "b")}, 30),
    }
    found = transfer_score(tracks)
    assert found.teams == ["a", "b"]
    assert found.left_out == {"ghost": ("bci", "emg"), "half": ("emg",)}
    alone = transfer_score({"only": bootstrap({team: every[team] for team in ("a", "b")}, 30)})
    np.testing.assert_array_equal(found.scores, alone.scores)
    assert set(found.visible) == {0.0, 100.0}


def test_a_lone_encoder_has_all_the_points() -> None:
    found = transfer_score({"img": bootstrap({"a": [1.0, 2.0]}, 5)})
    assert found.visible.to_dict() == {"a": 100.0}


def test_ties_in_a_track_are_shared_or_ordered_as_asked() -> None:
    track = Draws(["a", "b"], np.ones((4, 2)), np.ones(2), 3)
    assert transfer_score({"x": track}).scores.tolist() == [[-1.0, -1.0]] * 4
    ordered = transfer_score({"x": track}, ties="order")
    assert ordered.scores.tolist() == [[-1.0, -2.0]] * 4
    assert ordered.point.tolist() == [-1.0, -2.0]


@given(st.integers(1, 500), st.data())
def test_rank_points_fall_evenly_from_one_to_zero(n: int, data: st.DataObject) -> None:
    rank = data.draw(st.integers(1, n))
    points = rank_points(rank, n)
    assert 0 <= points <= 1
    assert rank_points(1, n) == 1.0
    if n > 1:
        assert rank_points(n, n) == 0.0
        assert points == pytest.approx((n - rank) / (n - 1))
    assert visible_transfer_score(rank, n) == pytest.approx(100 * points)


def test_overall_scores_average_what_was_entered_or_everything() -> None:
    points = {"img": 1.0, "sleep": 0.4}
    assert submitted_score(points) == pytest.approx(0.7)
    assert all_track_score(points) == pytest.approx(0.35)
    assert all_track_score({**points, "transfer": 1.0}) == pytest.approx(0.35)
    assert all_track_score(points, tracks=("img", "sleep")) == pytest.approx(0.7)
    assert all_track_score({}) == 0.0


@given(st.floats(1e-3, 1e3), st.floats(1e-2, 10))
def test_the_required_number_of_units_is_the_smallest_that_suffices(sigma: float, nu: float) -> None:
    n = required_units(sigma, nu)
    assert n >= 1
    assert meets_resolution(sigma, n, nu)
    if n > 1:
        assert not meets_resolution(sigma, n - 1, nu * (1 - 1e-11))
    assert n == pytest.approx(math.ceil((1.96 * sigma / nu) ** 2), abs=1, rel=1e-11)


def test_sizing_meets_round_numbers_exactly() -> None:
    # (1.96 * 0.55 / 0.077)^2 is 14^2 = 196 on paper and a little more in binary; 197 is one too many.
    assert required_units(0.55, 0.077) == 196
    assert meets_resolution(0.55, 196, 0.077)
    assert not meets_resolution(0.55, 195, 0.077)
    assert half_width(0.1, 100) == pytest.approx(0.0196)
    assert half_width(2.0, 16, z=1.0) == 0.5
    assert required_units(2.0, 0.5, z=1.0) == 16
