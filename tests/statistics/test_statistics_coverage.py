"""Does the 95 % interval cover the truth 95 % of the time? Thousands of simulated boards."""

from __future__ import annotations

import numpy as np
import pytest

from neuroarena.statistics import bootstrap, compare

REPETITIONS = 4000
TRUE_DIFFERENCE = 0.1


def coverage(n_units: int, repetitions: int, n_draws: int) -> float:
    """Share of simulated boards whose paired interval holds the true difference of two teams."""
    rng = np.random.default_rng(n_units)
    covered = 0
    for repetition in range(repetitions):
        hardness = rng.normal(0, 1, n_units)  # what both teams share, and pairing removes
        scores = {
            "better": hardness + TRUE_DIFFERENCE + rng.normal(0, 0.5, n_units),
            "worse": hardness + rng.normal(0, 0.5, n_units),
        }
        row = compare(bootstrap(scores, n_draws, seed=repetition), [("better", "worse")]).iloc[0]
        covered += row["ci95_low"] <= TRUE_DIFFERENCE <= row["ci95_high"]
    return covered / repetitions


@pytest.mark.drill
def test_the_interval_covers_the_known_difference_with_200_units() -> None:
    assert 0.93 <= coverage(200, REPETITIONS, 1000) <= 0.97


@pytest.mark.drill
@pytest.mark.parametrize(("n_units", "expected"), [(12, 0.91), (30, 0.93)])
def test_few_units_make_the_interval_somewhat_narrow(n_units: int, expected: float) -> None:
    found = coverage(n_units, REPETITIONS, 1000)
    print(f"{n_units} units: {found:.3f} covered")
    assert found == pytest.approx(expected, abs=0.02)
