"""The leak budget: how much a team can learn of sealed labels from what a phase shows."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

import numpy as np

from neuroarena.competition.arena import Arena
from neuroarena.competition.baselines import judge_baselines
from neuroarena.competition.judging import find_chance
from neuroarena.competition.phases import Phase
from neuroarena.competition.showing import read_step
from neuroarena.errors import InputError
from neuroarena.evaluation.levels import score_bounds
from neuroarena.scoring import Manifest

# Climbing is simulated so many times, for at most so many attempts, and with so many answers changed at a time.
_CLIMBS, _MOST_ATTEMPTS, _CHANGED = 200, 1000, (0.1, 0.2, 0.3, 0.5)


@dataclass(frozen=True)
class Budget:
    """What a team can be shown of one track in one phase.

    Attributes
    ----------
    track, phase, display : str
    attempts : int or None
        How many times a team may ask in all; None for no cap.
    step : float or None
        Of the ladder; None where there is none, or before the baseline has set it.
    rises : int or None
        How many values a team can be shown at most, from chance to the best possible score.
    luck : float or None
        By how much a team that knows nothing can raise its shown score, on average, if it spends all attempts on
        changing answers at random and keeps what is shown to be better; None before a baseline ran.
    counts : bool
        Whether that luck counts in the final ranking, because it is made of the people whose scores are shown.
    sentence : str
    """

    track: str
    phase: str
    display: str
    attempts: int | None
    step: float | None
    rises: int | None
    luck: float | None
    counts: bool
    sentence: str


def measure_budgets(arena: Arena) -> list[Budget]:
    """Return the leak budget of every sealed phase and track."""
    return [
        _measure(arena, track.name, phase)
        for phase in arena.competition.phases
        if phase.sealed
        for track in arena.competition.tracks
        if phase.takes(track.name)
    ]


def count_all_attempts(phase: Phase) -> int | None:
    """Return how many attempts a team has in a phase, on all UTC days that it touches; None for no cap."""
    last = phase.end - datetime.timedelta(microseconds=1)
    days = (last.date() - phase.start.date()).days + 1
    by_day = None if phase.per_day is None else phase.per_day * days
    caps = [cap for cap in (by_day, phase.in_total) if cap is not None]
    return min(caps) if caps else None


def simulate_climbing(attempts: int, step: float) -> float:
    """Return how far a ladder can be climbed by luck alone, in standard errors of the score, on average.

    The best attack on a ladder that is known: change a share of the answers at random, and keep them if a rise is
    shown. For many examples the score of answers that know nothing is a normal variable, and changing a share f of
    them leaves 1 - 2f of it: the number of labels does not matter.

    Parameters
    ----------
    attempts : int
    step : float
        Of the ladder, in standard errors.

    Examples
    --------
    >>> simulate_climbing(1, 1.0) < 0.6 < 2.5 < simulate_climbing(155, 1.0) < 3.5
    True
    """
    gains = []
    for share in _CHANGED:
        rng = np.random.default_rng(0)
        value, shown = np.zeros(_CLIMBS), np.full(_CLIMBS, -np.inf)
        for _ in range(min(attempts, _MOST_ATTEMPTS)):
            drawn = rng.normal(size=_CLIMBS)
            tried = (1 - 2 * share) * value + 2 * math.sqrt(share * (1 - share)) * drawn
            first = np.isinf(shown)
            tried = np.where(first, drawn, tried)
            rises = np.where(first, tried >= 0, tried - shown >= step)
            value = np.where(rises, tried, value)
            shown = np.where(rises, np.round(tried / step) * step, shown)
        gains.append(float(value.mean()))
    return max(gains)


def _measure(arena: Arena, track: str, phase: Phase) -> Budget:
    with arena.store.reading() as connection:
        step = read_step(connection, phase, track)
    attempts = count_all_attempts(phase)
    asked = "no cap on attempts" if attempts is None else f"at most {attempts} attempts"
    counts = arena.competition.halves is None and arena.competition.final_phase == phase
    rises, luck, gained = None, None, ""
    if phase.display == "blind":
        rises, luck, said = 0, 0.0, "blind: nothing is shown until the reveal"
    elif _is_ranked(arena, arena.sheet(track, phase.name)):
        rises, luck, said = 0, 0.0, "joined by ranks: nothing is shown until the reveal"
    elif step is None:
        said = "ladder: the step is known once a baseline ran"
    else:
        rises = _count_rises(arena, arena.sheet(track, phase.name), step)
        if attempts is not None:
            rises = attempts if rises is None else min(rises, attempts)
        shown = "as many rises as attempts" if rises is None else f"at most {rises} rises a team"
        said = f"ladder in steps of {step:g}: {shown}"
        luck = _measure_luck(arena, track, phase, step, attempts)
    if luck:
        gained = f"; by luck alone a team can be shown a score {luck:.2g} better than chance, "
        gained += (
            "and that counts in the final ranking: [halves] keeps it out"
            if counts
            else "and the final ranking does not count it"
        )
    sentence = f"{track}, {phase.name}: {said}; {asked}{gained}"
    return Budget(track, phase.name, phase.display, attempts, step, rises, luck, counts, sentence)


def _measure_luck(arena: Arena, track: str, phase: Phase, step: float, attempts: int | None) -> float | None:
    """Return what climbing gains in the metric's own units; None where no baseline says how noisy a score is."""
    try:
        real = judge_baselines(arena, track, phase.name).get("real")
    except InputError:
        return None
    if real is None or not real.standard_error:
        return None
    most = _MOST_ATTEMPTS if attempts is None else attempts
    return real.standard_error * simulate_climbing(most, step / real.standard_error)


def _is_ranked(arena: Arena, sheet: str) -> bool:
    """Return whether the parts of a track are joined by ranks, so that no submission has a value of its own."""
    try:
        overall = arena.overall(sheet)
    except InputError:
        return False
    return overall is not None and overall.of == "ranks"


def _count_rises(arena: Arena, sheet: str, step: float) -> int | None:
    """Return how many steps lie between chance and the best possible score; None where one has no bound."""
    try:
        manifests = arena.manifests(sheet)
    except InputError:
        return None
    spans = [_span(manifest) for manifest in manifests.values()]
    no_chance = len(spans) > 1 and find_chance(manifests, arena.overall(sheet)) is None
    if no_chance or any(span is None for span in spans):
        return None
    return math.ceil(max(span for span in spans if span is not None) / step) + 1


def _span(manifest: Manifest) -> float | None:
    low, high = score_bounds(manifest)
    start = low if manifest.chance is None else manifest.sign * manifest.chance
    return high - start if math.isfinite(start) and math.isfinite(high) else None
