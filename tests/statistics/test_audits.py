"""Rules of the audit: formulas by hand, and how often honest and dishonest entries are dropped, by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from neuroarena.errors import InputError
from neuroarena.statistics.audits import (
    DOUBT,
    Replays,
    judge_replays,
    judge_two_sigma,
    leaves_doubt,
    replay_p_values,
)

HONEST = Replays(0.71, (0.70, 0.71, 0.69), 0.02)


def test_the_p_value_is_the_formula_of_a_new_observation_among_replays():
    claimed, scores = 0.78, [0.70, 0.74, 0.69, 0.71]
    mean = sum(scores) / 4
    deviation = math.sqrt(sum((each - mean) ** 2 for each in scores) / 3)
    one = stats.t(3).sf((claimed - mean) / (deviation * math.sqrt(1.25)))
    expected = 1 - (1 - one) ** 5
    assert replay_p_values(np.array(claimed), np.array(scores), 0.0) == pytest.approx(expected, rel=1e-12)


def test_replays_that_agree_by_chance_are_given_a_tenth_of_the_standard_error():
    one = stats.t(2).sf(0.01 / (0.1 * 0.02 * math.sqrt(4 / 3)))
    found = replay_p_values(np.array(0.71), np.array([0.70, 0.70, 0.70]), 0.02)
    assert found == pytest.approx(1 - (1 - one) ** 5, rel=1e-12)


def test_the_noise_of_nothing_drops_nobody_who_repeats_a_score_exactly():
    assert replay_p_values(np.array(0.7), np.array([0.7, 0.7, 0.7]), 0.0) == pytest.approx(
        1 - 0.5**5, abs=1e-6
    )
    assert replay_p_values(np.array(0.8), np.array([0.7, 0.7, 0.7]), 0.0) < 1e-12


def test_an_entry_is_dropped_only_over_all_audited_and_beyond_what_matters():
    high = Replays(0.80, (0.70, 0.705, 0.695, 0.70, 0.70), 0.02)
    (alone,) = judge_replays([high])
    assert alone.verdict == "not reproduced"
    among = judge_replays([high, *[HONEST] * 14])
    assert among[0].p_holm == pytest.approx(15 * alone.p)
    small = Replays(0.80, high.scores, 0.02, meaningful=0.11)
    assert judge_replays([small])[0].verdict == "reproduced"


def test_what_did_not_run_is_inconclusive_and_is_not_counted():
    conclusions = judge_replays([HONEST, Replays(0.9, (), 0.02), Replays(0.9, (0.1,), 0.02)])
    assert [each.verdict for each in conclusions] == ["reproduced", "inconclusive", "inconclusive"]
    assert conclusions[0].p_holm == conclusions[0].p
    assert judge_two_sigma(Replays(0.9, (), 0.02)).verdict == "inconclusive"


TWO_SIGMA = [
    (0.74, "reproduced"),
    (0.66, "reproduced"),
    (0.6599, "not reproduced"),
    (0.7401, "not reproduced"),
]


@pytest.mark.parametrize(("replay", "verdict"), TWO_SIGMA)
def test_the_rule_of_two_sigma_allows_exactly_two(replay, verdict):
    assert judge_two_sigma(Replays(0.70, (replay,), 0.02)).verdict == verdict


def test_a_score_lower_than_its_replays_is_never_dropped_by_the_default():
    (conclusion,) = judge_replays([Replays(0.5, (0.70, 0.71, 0.69), 0.02)])
    assert conclusion.verdict == "reproduced"
    assert not leaves_doubt(Replays(0.5, (0.70, 0.71, 0.69), 0.02))


@pytest.mark.parametrize("wrong", [Replays(math.nan, (0.7, 0.7), 0.1), Replays(0.7, (0.7, 0.7), -0.1)])
def test_scores_that_are_no_numbers_are_refused(wrong):
    for rule in (judge_two_sigma, leaves_doubt, lambda each: judge_replays([each])):
        with pytest.raises(InputError, match="finite scores"):
            rule(wrong)


# The simulations: sigma is 1, and the noise of training is a multiple of it.


def simulate_p(rng: np.random.Generator, claimed: np.ndarray, noise: float) -> np.ndarray:
    """p-values of claims about trainings with mean 0: three replays, and ten where these leave a doubt."""
    scores = rng.normal(0, noise, (len(claimed), 10))
    first = replay_p_values(claimed, scores[:, :3], 1.0)
    return np.where(first < DOUBT, replay_p_values(claimed, scores, 1.0), first)


def test_the_rule_of_two_sigma_drops_honest_entries():
    rng = np.random.default_rng(1)
    replay = rng.normal(0, 1, 400_000)
    for chosen_from, expected in ((1, 0.157), (5, 0.244)):
        claimed = rng.normal(0, 1, (400_000, chosen_from)).max(axis=1)
        assert np.mean(np.abs(claimed - replay) > 2) == pytest.approx(expected, abs=0.005)


@pytest.mark.drill
@pytest.mark.parametrize("noise", [0.05, 0.1, 0.3, 0.5, 1.0, 2.0])
def test_the_default_drops_any_of_fifteen_honest_entries_in_less_than_five_of_a_hundred_audits(noise):
    rng = np.random.default_rng(2)
    best_of_five = rng.normal(0, noise, (600_000, 5)).max(axis=1)
    p = simulate_p(rng, best_of_five, noise)
    dropped = p.reshape(-1, 15).min(axis=1) < 0.05 / 15
    assert dropped.mean() <= 0.045


@pytest.mark.drill
def test_the_default_catches_a_score_that_is_five_sigma_too_high():
    rng = np.random.default_rng(3)
    for noise, expected in ((0.5, 0.999), (1.0, 0.58)):
        caught = simulate_p(rng, np.full(200_000, 5.0), noise) < 0.05 / 15
        assert caught.mean() == pytest.approx(expected, abs=0.01)
