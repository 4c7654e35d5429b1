"""A judgement: what the unit scores of a run amount to, on all people or on one half of them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from neuroarena.competition.arena import Arena
from neuroarena.competition.halves import Half
from neuroarena.errors import InputError
from neuroarena.evaluation.intervals import score_interval, score_standard_error
from neuroarena.scoring import METRICS, Manifest, Overall, UnitScores


@dataclass(frozen=True)
class Judgement:
    """The score of a run over the parts of its track.

    Attributes
    ----------
    value : float or None
        In the metric's own direction; None where the parts are joined by ranks, which only a board has.
    interval : pair of float or None
    standard_error : float or None
    n_units : int
    part_values : dict
        Part -> its value.
    metric : str
        Its title, as people read it.
    sign : float
        +1.0 where higher is better, -1.0 where lower is.
    chance : float or None
        The value of guessing, by the rules of the parts; None where they do not state it.
    """

    value: float | None
    interval: tuple[float, float] | None
    standard_error: float | None
    n_units: int
    part_values: dict[str, float]
    metric: str
    sign: float
    chance: float | None = None


def judge(
    units: Mapping[str, UnitScores],
    manifests: Mapping[str, Manifest],
    overall: Overall | None,
    *,
    with_interval: bool = True,
    with_error: bool = True,
) -> Judgement:
    """Judge the unit scores of every part of a track.

    Parameters
    ----------
    units : mapping of part to UnitScores
    manifests : mapping of part to Manifest
    overall : Overall or None
        How several parts become one number.
    with_interval, with_error : bool
        Whether the interval and the standard error are computed, which takes longer than the value.
    """
    values = {part: scored.value for part, scored in units.items()}
    n_units = sum(int(scored.table["unit"].nunique()) for scored in units.values())
    first = next(iter(manifests.values()))
    if len(units) == 1:
        (part,) = units
        interval = score_interval(units[part], first) if with_interval else None
        error = score_standard_error(units[part], first) if with_error else None
        title = METRICS.get(first.metric).title
        return Judgement(values[part], interval, error, n_units, values, title, first.sign, first.chance)
    if overall is None or overall.of == "ranks":
        return Judgement(None, None, None, n_units, values, "mean rank", -1.0)
    error = _overall_error(units, manifests, overall) if with_error else None
    value, chance = float(overall.combine(values)), find_chance(manifests, overall)
    return Judgement(value, None, error, n_units, values, "overall", first.sign, chance)


def judge_half(
    arena: Arena,
    row: Mapping[str, Any],
    units: Mapping[str, UnitScores],
    half: str | None = "public",
    *,
    with_interval: bool = True,
    with_error: bool = True,
) -> Judgement:
    """Judge the scores of one half of the people, or of all where there are no halves or `half` is None.

    A half that has too few people for a standard error of its own gets that of all, scaled to its number of units.
    """
    sheet = arena.sheet(row["track"], row["phase"])
    kept = units if half is None else select_half(arena, sheet, units, half)
    manifests, overall = arena.manifests(sheet), arena.overall(sheet)
    judged = judge(kept, manifests, overall, with_interval=with_interval, with_error=with_error)
    if not with_error or judged.standard_error is not None or half is None:
        return judged
    whole = judge(units, manifests, overall, with_interval=False)
    if whole.standard_error is None:
        return judged
    error = whole.standard_error * math.sqrt(whole.n_units / judged.n_units)
    return dataclasses.replace(judged, standard_error=error)


def judge_shown(arena: Arena, row: Mapping[str, Any], units: Mapping[str, UnitScores]) -> Judgement:
    """Judge what a phase may show: no interval where nothing is shown, an error only where a baseline sets a step."""
    blind = arena.competition.phase(row["phase"]).display == "blind"
    sets_step = row["baseline"] == "real"
    return judge_half(arena, row, units, with_interval=not blind, with_error=sets_step)


def select_half(
    arena: Arena, sheet: str, units: Mapping[str, UnitScores], half: str
) -> dict[str, UnitScores]:
    """Return the unit scores of one half of the people, or all where there are no halves."""
    return keep_half(units, find_half(arena, sheet, half))


def find_half(arena: Arena, sheet: str, half: str = "public") -> dict[str, frozenset[str] | None]:
    """Return the units of one half of the people, part by part; None where there are no halves."""
    name: Half = "public" if half == "public" else "final"
    return {part: arena.vault.public_units(sheet, part, name) for part in arena.parts(sheet)}


def keep_half(
    units: Mapping[str, UnitScores], kept: Mapping[str, frozenset[str] | None]
) -> dict[str, UnitScores]:
    """Return the scores of some units of every part only; None keeps all."""
    found = {}
    for part, scored in units.items():
        mine = kept[part]
        found[part] = scored if mine is None else keep_units(scored, mine)
    return found


def find_chance(manifests: Mapping[str, Manifest], overall: Overall | None) -> float | None:
    """Return the score of guessing over all parts of a track; None where a part states none or ranks join them."""
    stated = {part: manifest.chance for part, manifest in manifests.items() if manifest.chance is not None}
    if len(stated) < len(manifests):
        return None
    if len(stated) == 1:
        return next(iter(stated.values()))
    return None if overall is None or overall.of == "ranks" else float(overall.combine(stated))


def keep_units(units: UnitScores, kept: Collection[str]) -> UnitScores:
    """Return the scores of some units only.

    Raises
    ------
    InputError
        When none of them is left.
    """
    table = units.table[units.table["unit"].astype(str).isin(kept)].reset_index(drop=True)
    if table.empty:
        raise InputError("No unit of this half was scored.")
    return dataclasses.replace(units, table=table)


def _overall_error(
    units: Mapping[str, UnitScores], manifests: Mapping[str, Manifest], overall: Overall
) -> float | None:
    """Return the standard error of a weighted mean or mean of parts, as if they had been asked of other people."""
    errors = {part: score_standard_error(scored, manifests[part]) for part, scored in units.items()}
    if overall.kind == "tree" or any(error is None for error in errors.values()):
        return None
    leaves = overall.leaves(units)
    weights = overall.weights or dict.fromkeys(leaves, 1 / len(leaves))
    return math.sqrt(sum((weights[part] * float(errors[part] or 0.0)) ** 2 for part in leaves))
