"""The leak budget: how much a team can learn of sealed labels from what a phase shows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from neuroarena.competition.answers import read_answers
from neuroarena.competition.arena import Arena
from neuroarena.competition.baselines import find_scored_baselines, judge_baselines
from neuroarena.competition.judging import find_chance
from neuroarena.competition.luck import MEAN_FACTOR, ODDS, UNCAPPED, measure_luck
from neuroarena.competition.phases import Phase
from neuroarena.competition.showing import read_step
from neuroarena.errors import InputError
from neuroarena.evaluation.levels import score_bounds
from neuroarena.scoring import Manifest


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
    odds : float
        The share of teams that know nothing and are yet shown a value, by luck, if they spend all attempts.
    first : float or None
        From about where on a team's first score is shown, by the host's real baseline; None before it ran.
    sentence : str
    """

    track: str
    phase: str
    display: str
    attempts: int | None
    step: float | None
    rises: int | None
    odds: float
    first: float | None
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


def _measure(arena: Arena, track: str, phase: Phase) -> Budget:
    with arena.store.reading() as connection:
        step = read_step(connection, phase, track)
    attempts = phase.all_attempts
    asked = "no cap on attempts" if attempts is None else f"at most {attempts} attempts"
    rises, odds, first = None, 0.0, None
    if phase.display == "blind":
        rises, said = 0, "blind: nothing is shown until the reveal"
    elif _is_ranked(arena, arena.sheet(track, phase.name)):
        rises, said = 0, "joined by ranks: nothing is shown until the reveal"
    elif step is None:
        said = "ladder: the step is known once a baseline ran"
    else:
        rises = _count_rises(arena, arena.sheet(track, phase.name), step)
        if attempts is not None:
            rises = attempts if rises is None else min(rises, attempts)
        odds, (first, seen) = ODDS, _find_first(arena, track, phase, step)
        shown = "as many rises as attempts" if rises is None else f"at most {rises} rises a team"
        said = f"ladder in steps of {step:g}, from {seen}; {shown}"
        luck = f"luck shows a value to at most {odds:.0%} of teams that know nothing"
        asked += f"; {luck} and spend {attempts or UNCAPPED:,}"
    sentence = f"{track}, {phase.name}: {said}; {asked}"
    return Budget(track, phase.name, phase.display, attempts, step, rises, odds, first, sentence)


def _find_first(arena: Arena, track: str, phase: Phase, step: float) -> tuple[float | None, str]:
    """Return from where on a first score is shown, and the same in words, by the host's real baseline if it ran."""
    row = find_scored_baselines(arena, track, phase.name).get("real")
    judged = judge_baselines(arena, track, phase.name).get("real") if row is not None else None
    if row is None or judged is None or judged.value is None:
        return None, "where a score is told from luck on"
    luck = measure_luck(arena, row, read_answers(arena, row, row["run"]), judged, None)
    first = luck.start + judged.sign * MEAN_FACTOR * max(step, luck.rise)
    manifests = arena.manifests(arena.sheet(track, phase.name))
    if judged.sign * first > max(score_bounds(each)[1] for each in manifests.values()):
        return first, "no score on, because its labels are too few or too regular to tell one from luck"
    missed = judged.sign * (judged.value - first) < 0
    words = ", where the real baseline is not: so few answers make a ladder nearly blind" if missed else " on"
    return first, f"about {first:.3g}{words}"


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
