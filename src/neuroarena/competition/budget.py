"""The leak budget: how much a team can learn of sealed labels from what a phase shows."""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass

from neuroarena.competition.arena import Arena
from neuroarena.competition.phases import Phase
from neuroarena.competition.scorer import read_step
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
    sentence : str
    """

    track: str
    phase: str
    display: str
    attempts: int | None
    step: float | None
    rises: int | None
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


def _measure(arena: Arena, track: str, phase: Phase) -> Budget:
    with arena.store.reading() as connection:
        step = read_step(connection, phase, track)
    attempts = count_all_attempts(phase)
    asked = "no cap on attempts" if attempts is None else f"at most {attempts} attempts"
    rises = None
    if phase.display == "blind":
        rises, said = 0, "blind: nothing is shown until the reveal"
    elif step is None:
        said = "ladder: the step is known once a baseline ran"
    else:
        rises = _count_rises(arena, arena.sheet(track, phase.name), step)
        if attempts is not None:
            rises = attempts if rises is None else min(rises, attempts)
        shown = "as many rises as attempts" if rises is None else f"at most {rises} rises a team"
        said = f"ladder in steps of {step:g}: {shown}"
    sentence = f"{track}, {phase.name}: {said}; {asked}"
    return Budget(track, phase.name, phase.display, attempts, step, rises, sentence)


def _count_rises(arena: Arena, sheet: str, step: float) -> int | None:
    """Return how many steps lie between chance and the best possible score; None where one has no bound."""
    try:
        manifests = list(arena.manifests(sheet).values())
    except InputError:
        return None
    spans = [_span(manifest) for manifest in manifests]
    if any(span is None for span in spans):
        return None
    return math.ceil(max(span for span in spans if span is not None) / step) + 1


def _span(manifest: Manifest) -> float | None:
    low, high = score_bounds(manifest)
    start = low if manifest.chance is None else manifest.sign * manifest.chance
    return high - start if math.isfinite(start) and math.isfinite(high) else None
