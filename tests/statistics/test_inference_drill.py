"""Drills: sections of the method simulated again, through the public functions.

A test at 5 % should call equal teams different in 5 of 100 comparisons; no feasible cell may pass 8. What
is printed in docs/statistics.md is what these simulations say.
"""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from inference_simulations import (
    DISTRIBUTIONS,
    coverage_of_clusters,
    coverage_of_ratios,
    coverage_with_one_large_level,
    false_alarms,
    size_of_medians,
    size_of_seeds,
    size_of_task_samples,
    size_of_these_tasks,
    size_of_two_factors,
)
from inference_tables import OURS, SEED, TABLES, UNITS, printed

from neuroarena.statistics import leave_out, score_intervals

pytestmark = pytest.mark.drill
LARGEST_SIZE = 0.08

# Coverage of the guarded interval as the method was published, for the distributions that are fully named.
PUBLISHED = pd.DataFrame(
    {
        "normal": [0.960, 0.957, 0.953, 0.951],
        "exponential": [0.933, 0.948, 0.959, 0.965],
        "lognormal": [0.891, 0.916, 0.938, 0.960],
        "t3": [0.970, 0.961, 0.953, 0.954],
    },
    index=list(UNITS),
)


def simulate(name: str) -> pd.DataFrame:
    """Simulate a table of the page, and hold the page to it."""
    found = TABLES[name]()
    pd.testing.assert_frame_equal(printed(name), found, atol=0.003, rtol=0, check_names=False)
    return found


def test_intervals_cover_as_published_and_the_seed_rule_does_not() -> None:
    found = simulate("coverage")
    for n_units in UNITS:
        ours, seed = found.loc[f"{n_units} units, {OURS}"], found.loc[f"{n_units} units, {SEED}"]
        for distribution in DISTRIBUTIONS:
            if distribution in PUBLISHED:
                published = PUBLISHED.loc[n_units, distribution]
                assert ours[distribution] == pytest.approx(published, abs=0.02), (n_units, distribution)
            if distribution != "lognormal" or n_units >= 30:
                assert 1 - ours[distribution] <= LARGEST_SIZE, (n_units, distribution)
        if n_units <= 12:
            assert (seed[["normal", "exponential", "lognormal", "t3"]] < 0.92).all()


def test_people_are_levels_however_alike_their_units_are() -> None:
    found = simulate("people")
    assert (1 - found.loc[f"people as levels, {OURS}"] <= LARGEST_SIZE).all()
    assert found.loc["units as if independent", "ICC 0.5"] < 0.65


def test_equal_teams_are_rarely_called_different() -> None:
    found = simulate("alarms")
    assert (found.loc[f"{OURS}, all pairs"] <= LARGEST_SIZE).all()
    assert (found.loc[f"{SEED}, leader against each"] > 0.3).all()


def test_exchangeable_models_are_rarely_called_different() -> None:
    found = simulate("models")
    assert (found["images and neuroids"] <= LARGEST_SIZE).all()
    assert found["neuroids alone"].max() > 0.3


@pytest.mark.parametrize(
    ("n_teams", "n_units", "distribution"),
    [(2, 6, "normal"), (10, 12, "exponential"), (10, 20, "t3"), (5, 6, "60 % ties")],
)
def test_the_family_of_all_pairs_keeps_its_level(n_teams: int, n_units: int, distribution: str) -> None:
    assert false_alarms(n_teams, n_units, distribution) <= LARGEST_SIZE


@pytest.mark.parametrize(("between", "low", "high"), [((5, 20), 0.933, 0.970), ((2, 40), 0.920, 0.988)])
@pytest.mark.parametrize("distribution", ["normal", "exponential"])
def test_clusters_of_unequal_size(
    between: tuple[int, int], low: float, high: float, distribution: str
) -> None:
    for n_people in (8, 12, 30):
        for icc in (0.0, 0.1, 0.5):
            found = coverage_of_clusters(n_people, between, icc, distribution)
            assert low - 0.02 <= found <= high + 0.02, (n_people, icc)
            assert 1 - found <= LARGEST_SIZE


def test_one_person_with_half_of_all_units() -> None:
    for n_people in (6, 12, 30):
        for icc in (0.0, 0.1, 0.5):
            assert 0.964 - 0.02 <= coverage_with_one_large_level(n_people, icc) <= 1


@pytest.mark.parametrize(
    ("metric", "of_score", "of_difference"),
    [("nrmse", (0.949, 0.963), (0.949, 0.968)), ("cer", (0.938, 0.960), (0.953, 0.977))],
)
def test_pooled_ratios(
    metric: str, of_score: tuple[float, float], of_difference: tuple[float, float]
) -> None:
    for n_people in (6, 12, 30, 100):
        for found, (low, high) in zip(
            coverage_of_ratios(metric, n_people), (of_score, of_difference), strict=True
        ):
            assert low - 0.02 <= found <= high + 0.02, n_people


@pytest.mark.parametrize("distribution", ["normal", "exponential", "60 % ties"])
@pytest.mark.parametrize("n_units", [6, 12, 30])
def test_medians(distribution: str, n_units: int) -> None:
    assert size_of_medians(distribution, n_units, 200) <= LARGEST_SIZE


@pytest.mark.parametrize("sizes", [(6, 6), (8, 20), (40, 12)])
@pytest.mark.parametrize("spreads", [(1.0, 1.0, 1.0), (0.0, 0.0, 1.0), (2.0, 0.2, 1.0)])
def test_two_crossed_factors(sizes: tuple[int, int], spreads: tuple[float, float, float]) -> None:
    assert size_of_two_factors(sizes, spreads, repetitions=400) <= LARGEST_SIZE


@pytest.mark.parametrize("kept", [0.9, 0.4])
@pytest.mark.parametrize("sizes", [(12, 10), (20, 15)])
def test_two_crossed_factors_with_missing_cells(sizes: tuple[int, int], kept: float) -> None:
    assert size_of_two_factors(sizes, (1.0, 0.5, 1.0), kept, 400) <= LARGEST_SIZE


def test_medians_over_neuroids_from_what_each_image_adds_are_as_careful_as_from_correlations() -> None:
    assert (simulate("medians") <= LARGEST_SIZE).all(axis=None)


def test_rdms_of_images_and_subjects() -> None:
    found = simulate("dissimilarities")
    assert (found["images and subjects"] <= LARGEST_SIZE).all()
    assert found["subjects alone"].max() > 0.2


def test_tasks_with_units_of_their_own() -> None:
    for n_tasks in (6, 14, 40):
        for between in (0.0, 0.5, 2.0):
            assert size_of_task_samples(n_tasks, between) == pytest.approx(0.04, abs=0.02), (n_tasks, between)


def test_verdicts_on_these_tasks_hold_on_these_tasks_only() -> None:
    assert size_of_these_tasks(0.0) <= LARGEST_SIZE
    assert size_of_these_tasks(2.0) > 0.25


@pytest.mark.parametrize(("n_seeds", "n_units"), [(2, 12), (3, 50), (5, 12), (10, 200)])
def test_training_seeds(n_seeds: int, n_units: int) -> None:
    assert size_of_seeds(n_seeds, n_units, repetitions=400) <= LARGEST_SIZE


def test_power_and_equivalence_are_as_published() -> None:
    rng = np.random.default_rng(0)
    for n_units, power in ((6, 0.56), (12, 0.73), (30, 0.81)):
        found = score_intervals(leave_out(rng.normal(3 / math.sqrt(n_units), 1, (n_units, 20_000))))
        assert (found["low"] > 0).mean() == pytest.approx(power, abs=0.02)
    for n_units, share in ((6, 0.13), (12, 0.69), (20, 0.97)):
        found = score_intervals(leave_out(rng.normal(0, 1, (n_units, 20_000))))
        assert ((found["low"] >= -1) & (found["high"] <= 1)).mean() == pytest.approx(share, abs=0.02)
        wrong = score_intervals(leave_out(rng.normal(1, 1, (n_units, 20_000))))
        assert ((wrong["low"] >= -1) & (wrong["high"] <= 1)).mean() <= 0.03
