"""The best score that the planted signals of a simulated HBN-EEG allow, and where a ridge should land."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from neuroarena.families.eeg2025.hbn.twin_people import FACTOR_NAMES

if TYPE_CHECKING:
    from neuroarena.families.eeg2025.hbn.twin import Told

# A ridge with a hundred times more features than people cannot reach the ideal; it must beat this.
WORST_RIDGE = 0.95
# It also sees neighbours of what was planted, so that it may come out a little below the ideal of one signal.
SLACK = 0.9
# Links weaker than this part of the full ones are too weak for so few people: no band is promised.
LEAST_STRENGTH = 0.8
# With one example per person, twelve training people were occasionally too few; fourteen sufficed for three seeds.
LEAST_LEARNT_FROM = 14
_JUDGED = ("R5", "R12")


def ideals(told: Mapping[str, Sequence[Told]], strength: float) -> dict[str, Any]:
    """Return the ideal nRMSE of each preset, task and release, and the band for ``bandpower-ridge``.

    The ideal is the nRMSE of the best linear rule that is given what was planted itself (not the EEG) for the
    very examples of the release: no decoder of the EEG can expect to do better.
    """
    ideal: dict[str, dict[str, dict[str, float]]] = {"as-scored": {}, "as-described": {}, "zero-shot": {}}
    for release, crowd in told.items():
        response = _response(crowd)
        for preset in ("as-scored", "as-described"):
            ideal[preset].setdefault("response-time", {})[release] = response
        ideal["zero-shot"].setdefault("response-time", {})[release] = _response(crowd, trait_only=True)
        for factor in FACTOR_NAMES:
            task = factor.replace("_", "-")
            ideal["as-scored"].setdefault(task, {})[release] = _by_window(crowd, factor)
            ideal["as-described"].setdefault(task, {})[release] = _by_person(crowd, factor)
    bands = None
    learnt_from = sum(
        not each.person.short for name, crowd in told.items() if name not in _JUDGED for each in crowd
    )
    # Two of those who are not short have other gaps.
    releases = sum(name not in _JUDGED for name in told)
    enough = learnt_from - 2 * releases >= LEAST_LEARNT_FROM
    if strength >= LEAST_STRENGTH:
        bands = {
            preset: {
                task: {release: [round(SLACK * best, 4), WORST_RIDGE] for release, best in own.items()}
                for task, own in tasks.items()
            }
            for preset, tasks in ideal.items()
            # From another task only a person's mean can be inferred: too little to promise anything.
            if preset == "as-scored" or (preset == "as-described" and enough)
        }
    return {"ideal_nrmse": ideal, "ridge_band": bands}


def _response(crowd: Sequence[Told], trait_only: bool = False) -> float:
    rows = [
        (seconds, each.person.amplitudes["response"], level)
        for each in crowd
        for seconds, level in each.trials
    ]
    table = np.array(rows)
    return _nrmse(table[:, 0], table[:, 1 : 2 if trait_only else 3], np.ones(len(table)))


def _by_window(crowd: Sequence[Told], factor: str) -> float:
    """Weight people by their windows of 4 s every 2 s, as the published scorer does."""
    people = [each for each in crowd if each.person.factors]
    weights = [sum((samples - 400) // 200 + 1 for samples in each.contrast_samples) for each in people]
    scores = [each.person.factors[factor] for each in people]
    levels = [[each.person.amplitudes[factor]] for each in people]
    return _nrmse(np.array(scores), np.array(levels), np.array(weights, dtype=np.float64))


def _by_person(crowd: Sequence[Told], factor: str) -> float:
    """Weight people equally; age is known as well."""
    people = [
        each
        for each in crowd
        if each.person.factors and each.person.ehq is not None and not each.person.short
    ]
    scores = [each.person.factors[factor] for each in people]
    levels = [[each.person.amplitudes[factor], each.person.age] for each in people]
    return _nrmse(np.array(scores), np.array(levels), np.ones(len(people)))


def _nrmse(target: np.ndarray, given: np.ndarray, weights: np.ndarray) -> float:
    """Fit the best weighted linear rule and return its error against the weighted deviation."""
    weights = weights / weights.sum()
    root = np.sqrt(weights)
    design = np.hstack([np.ones((len(target), 1)), given])
    rule = np.linalg.lstsq(design * root[:, None], target * root, rcond=None)[0]
    spread = weights @ (target - weights @ target) ** 2
    error = weights @ (target - design @ rule) ** 2
    return round(float(np.sqrt(error / spread)), 4)
