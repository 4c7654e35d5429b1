"""Audits: whether a score that was handed in can come from the training that is said to have made it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy import stats

from neuroarena.errors import InputError
from neuroarena.statistics.pairs import holm

Verdict = Literal["reproduced", "not reproduced", "inconclusive"]

# A claimed score is the best of about so many that a team could choose from.
CHOSEN_FROM = 5
# Below this the first replays leave a doubt, and more are made.
DOUBT = 0.2
# Training noise is taken to be at least this part of the score's own standard error: three replays can agree by chance.
LEAST_NOISE = 0.1
ROUNDING = 1e-9
# With few features, shuffled labels can by chance lead a decoder into the right direction: one in four did in a trial
# with four channels. Nobody who learns from labels is lucky five times.
SHUFFLES = 5


@dataclass(frozen=True)
class Replays:
    """A claimed score beside its replays, higher is better.

    Attributes
    ----------
    claimed : float
    scores : tuple of float
        Of the replays, each trained with a seed of its own; empty when the training did not run.
    sigma : float
        Bootstrap standard error of the claimed score.
    meaningful : float
        The smallest difference that matters on this track.
    """

    claimed: float
    scores: tuple[float, ...]
    sigma: float
    meaningful: float = 0.0

    @property
    def gap(self) -> float:
        """By how much the claimed score exceeds the mean of its replays."""
        return self.claimed - float(np.mean(self.scores))


@dataclass(frozen=True)
class Conclusion:
    """What an audit concludes about one entry: the verdict, and the p-values behind it where the rule has them."""

    verdict: Verdict
    p: float | None = None
    p_holm: float | None = None


def judge_two_sigma(replayed: Replays) -> Conclusion:
    """Apply the rule of one replay: it stays if it differs by at most two standard errors.

    A replay shares the test units, so that the standard error over units says nothing about how much two trainings
    differ. With training noise as large as sigma the rule drops 16 % of honest entries, and 24 % of those that
    were chosen as the best of five.

    Examples
    --------
    >>> judge_two_sigma(Replays(claimed=0.70, scores=(0.65,), sigma=0.02)).verdict
    'not reproduced'
    """
    _check(replayed)
    if not replayed.scores:
        return Conclusion("inconclusive")
    # Equal to the last bit or so: 0.70 - 0.66 is more than 0.04 in binary.
    within = abs(replayed.claimed - replayed.scores[0]) <= 2 * replayed.sigma * (1 + 1e-9)
    return Conclusion("reproduced" if within else "not reproduced")


def replay_p_values(claimed: np.ndarray, scores: np.ndarray, sigma: np.ndarray | float) -> np.ndarray:
    """Return how probable so high a claim is, if it is the best of five trainings like its replays.

    ``t = (claimed - mean) / (sd sqrt(1 + 1/k))`` with k - 1 degrees of freedom, one-sided; the deviation of the
    replays is taken to be at least a tenth of sigma. ``p = 1 - (1 - p1)^5``.

    Parameters
    ----------
    claimed : array (...,)
    scores : array (..., k)
        At least two replays.
    sigma : array (...,) or float

    Returns
    -------
    array (...,)

    Examples
    --------
    >>> replay_p_values(np.array([0.8]), np.array([[0.70, 0.71, 0.69]]), 0.02).round(3).tolist()
    [0.032]
    """
    k = scores.shape[-1]
    if k < 2:
        raise InputError(f"The noise of training needs two replays or more; got {k}.")
    # The last floor keeps equal scores equal: their deviation is rounding.
    noise = np.maximum(scores.std(axis=-1, ddof=1), np.maximum(LEAST_NOISE * np.asarray(sigma), ROUNDING))
    t = (claimed - scores.mean(axis=-1)) / (noise * np.sqrt(1 + 1 / k))
    return np.asarray(-np.expm1(CHOSEN_FROM * np.log1p(-stats.t.sf(t, k - 1))))


def leaves_doubt(replayed: Replays) -> bool:
    """Return whether the replays so far ask for more: the claim is improbable, though perhaps by chance."""
    _check(replayed)
    return len(replayed.scores) >= 2 and _p_value(replayed) < DOUBT


def judge_replays(audited: Sequence[Replays], alpha: float = 0.05) -> list[Conclusion]:
    """Judge all audited entries together.

    An entry is dropped only if its p-value, adjusted after Holm over all audited entries, is below `alpha` and
    its gap exceeds the smallest difference that matters. One that ran fewer than twice is inconclusive.

    Examples
    --------
    >>> honest = Replays(claimed=0.71, scores=(0.70, 0.71, 0.69), sigma=0.02)
    >>> made_up = Replays(claimed=0.95, scores=(0.70, 0.71, 0.69), sigma=0.02)
    >>> [each.verdict for each in judge_replays([honest, made_up])]
    ['reproduced', 'not reproduced']
    """
    for each in audited:
        _check(each)
    p = {place: _p_value(each) for place, each in enumerate(audited) if len(each.scores) >= 2}
    adjusted = dict(zip(p, holm(list(p.values())), strict=True)) if p else {}
    conclusions = []
    for place, each in enumerate(audited):
        if place not in p:
            conclusions.append(Conclusion("inconclusive"))
            continue
        dropped = adjusted[place] < alpha and each.gap > each.meaningful
        verdict: Verdict = "not reproduced" if dropped else "reproduced"
        conclusions.append(Conclusion(verdict, p[place], float(adjusted[place])))
    return conclusions


def knows_without_labels(claimed: float, shuffled: float, chance: float, sigma: float) -> bool:
    """Return whether a training with shuffled labels scores too well to have learned from the labels.

    It keeps more than half of what the claimed score has above chance, and lies three standard errors above chance.

    Examples
    --------
    >>> knows_without_labels(claimed=0.8, shuffled=0.78, chance=0.5, sigma=0.02)
    True
    >>> knows_without_labels(claimed=0.8, shuffled=0.52, chance=0.5, sigma=0.02)
    False
    """
    above = shuffled - chance
    return above > 3 * sigma and above > (claimed - chance) / 2


def _p_value(replayed: Replays) -> float:
    return float(replay_p_values(np.array(replayed.claimed), np.array(replayed.scores), replayed.sigma))


def _check(replayed: Replays) -> None:
    numbers = (replayed.claimed, *replayed.scores, replayed.sigma, replayed.meaningful)
    if not np.isfinite(numbers).all() or replayed.sigma < 0 or replayed.meaningful < 0:
        raise InputError(
            f"An audit needs finite scores and a standard error that is not negative; got {replayed}."
        )
