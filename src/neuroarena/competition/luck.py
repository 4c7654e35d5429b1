"""Luck: how far answers that know nothing can rise, so that a ladder shows no rise that luck could have made.

A ladder that waits for a step alone can be climbed: change some answers at random, keep what is shown to be better, and
every rise tells something about labels; where a single answer was changed last, it tells that label. Here a rise must
be larger than luck makes it in all attempts of a team together, except for one team in a hundred. A team that knows
nothing then reads the same sentence every time, whatever the labels are. How much larger is drawn anew for every
submission, from a secret, so that two submissions that differ in one answer, one shown and one not, tell next to
nothing either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.competition.answers import read_answers
from neuroarena.competition.arena import Arena
from neuroarena.competition.intake import read_submission
from neuroarena.competition.judging import Judgement, find_half, judge, keep_half
from neuroarena.competition.orders import derive_seed
from neuroarena.competition.views import Best, Luck
from neuroarena.scoring import Aligned, align, score_aligned

# The share of teams that are ever shown a rise although they know nothing and spend all attempts.
ODDS = 0.01
# How many attempts are reckoned with where a phase has no cap.
UNCAPPED = 1_000
_DRAWS = 40
# By how much a rise must be larger still: so much of itself, times an exponential variable.
_SPREAD = 0.25
MEAN_FACTOR = 1 + _SPREAD

Answers = Mapping[str, pd.DataFrame]
Parts = Mapping[str, Aligned]


def measure_luck(
    arena: Arena, row: Mapping[str, Any], answers: Answers, judged: Judgement, best: Best | None
) -> Luck:
    """Measure how far luck comes from what a team was shown, or from guessing, in all attempts of a phase.

    Parameters
    ----------
    arena : Arena
    row : mapping
        Of the submission.
    answers : mapping of part to DataFrame
    judged : Judgement
        Of the half of the people that is shown.
    best : Best or None
        The best that the team was shown; None when it was shown nothing.
    """
    mine, others = _align(arena, row, answers), None
    if best is not None:
        others = _align(arena, row, read_answers(arena, read_submission(arena, best.submission), best.run))
    attempts = arena.competition.phase(row["phase"]).all_attempts
    rng = np.random.default_rng(_read_seed(arena, row))
    return find_luck(mine, others, _make_judge(arena, row), judged, attempts, rng)


def find_luck(
    mine: Parts,
    others: Parts | None,
    value_of: Callable[[Parts], float],
    judged: Judgement,
    attempts: int | None,
    rng: np.random.Generator,
) -> Luck:
    """Score answers as luck could have made them, and find how far luck comes in all attempts.

    Where nothing was shown yet, answers are drawn in another order, in stretches and as whole units, and mixed with
    such an order; otherwise each is drawn from this submission or from the best one. Neighbours stay together, in
    stretches twice as long as those in which labels do not change.

    Parameters
    ----------
    mine, others : mapping of part to Aligned
        Of this submission, and of the best one that was shown.
    value_of : callable
        The score of such answers.
    judged : Judgement
        Of `mine`; direction and chance are read from it.
    attempts : int or None
        How many a team has in the phase.
    rng : Generator
    """
    if others is not None:
        # A mixture lies half-way between the two, and as far from there as luck puts half of their difference.
        stretches = {part: measure_stretch(own) for part, own in mine.items()}
        mixed = [value_of(_draw_parts(mine, others, stretches, rng)) for _ in range(_DRAWS)]
        start, sd = value_of(others), 2 * _find_sd(mixed)
    else:
        means, sd = _find_first_luck(mine, value_of, rng)
        stated = [] if judged.chance is None else [judged.chance]
        start = max([*means, *stated], key=lambda value: judged.sign * value)
    factor = 1 + _SPREAD * float(rng.exponential())
    return Luck(start, find_quantile(attempts or UNCAPPED) * sd, factor)


def _find_first_luck(
    mine: Parts, value_of: Callable[[Parts], float], rng: np.random.Generator
) -> tuple[list[float], float]:
    """Return what the same answers score in other orders, on average, and how far luck spreads them at most.

    Whole units change places too, because answers may follow labels through units: all alike, in turn, or in one order
    for all of them. Where a rise hangs on a few answers, such as those of a rare class, no order tells its spread,
    but mixtures do: half of them lose each of these answers.
    """
    stretches = {part: measure_stretch(own) for part, own in mine.items()}
    shorter = {part: stretch / 2 for part, stretch in stretches.items()}
    in_stretches, in_units, mixed = [], [], []
    for _ in range(_DRAWS):
        # One draw at a time: answers may be vectors, of which a hundred copies do not fit.
        shuffled = _draw_parts(mine, None, stretches, rng)
        in_stretches.append(value_of(shuffled))
        mixed.append(value_of(_draw_parts(mine, shuffled, shorter, rng)))
        in_units.append(value_of(_exchange_parts(mine, rng)))
    means = [float(np.mean(in_stretches)), float(np.mean(in_units))]
    return means, max(map(_find_sd, (in_stretches, in_units, mixed)))


def _find_sd(values: list[float]) -> float:
    return float(np.std(values, ddof=1))


def find_quantile(attempts: int) -> float:
    """Return how many standard deviations luck exceeds in one of all attempts, for one team in a hundred.

    Examples
    --------
    >>> round(find_quantile(1), 2), round(find_quantile(165), 2)
    (2.43, 4.27)
    """
    from scipy import stats

    return float(stats.t.isf(ODDS / attempts, _DRAWS - 1))


def measure_stretch(aligned: Aligned) -> float:
    """Return twice the mean number of neighbouring rows of a unit that have the same label."""
    target = aligned.truth.target
    begins = np.zeros(len(target), dtype=bool)
    begins[aligned.truth.starts] = True
    changes = target[1:] != target[:-1]
    begins[1:] |= changes.reshape(len(changes), -1).any(axis=1)
    return 2 * len(target) / int(begins.sum())


def draw_answers(
    mine: np.ndarray, others: np.ndarray | None, stretch: float, rng: np.random.Generator
) -> np.ndarray:
    """Draw answers as luck could have made them, in stretches of a mean length.

    Parameters
    ----------
    mine, others : ndarray, (n, ...)
        Without others, stretches of one's own are put into another order; with them, each stretch is taken from one of
        the two.
    stretch : float
    rng : Generator
    """
    begins = rng.random(len(mine)) < 1 / stretch
    begins[0] = True
    number = np.cumsum(begins) - 1
    if others is None:
        place = rng.permutation(number[-1] + 1)
        shuffled: np.ndarray = mine[np.argsort(place[number], kind="stable")]
        return shuffled
    taken = (rng.random(number[-1] + 1) < 0.5)[number]
    mixed: np.ndarray = others.copy()
    mixed[taken] = mine[taken]
    return mixed


def exchange_units(values: np.ndarray, starts: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Put the answers of every unit into the place of another one, and let all begin at another of their rows.

    Where every unit has the same labels in the same order, only the second part draws anything.

    Parameters
    ----------
    values : ndarray, (n, ...)
    starts : ndarray, (units,)
        The first row of every unit.
    rng : Generator
    """
    by = int(rng.integers(len(values)))
    blocks = [np.roll(block, by) for block in np.split(np.arange(len(values)), starts[1:])]
    circle = rng.permutation(len(blocks))
    source = np.empty_like(circle)
    source[circle] = np.roll(circle, 1)
    exchanged: np.ndarray = values[np.concatenate([blocks[at] for at in source])]
    return exchanged


def _exchange_parts(mine: Parts, rng: np.random.Generator) -> dict[str, Aligned]:
    return {
        part: dataclasses.replace(own, values=exchange_units(own.values, own.truth.starts, rng))
        for part, own in mine.items()
    }


def _draw_parts(
    mine: Parts, others: Parts | None, stretches: Mapping[str, float], rng: np.random.Generator
) -> dict[str, Aligned]:
    drawn = {}
    for part, own in mine.items():
        other = None if others is None else others[part].values
        values = draw_answers(own.values, other, stretches[part], rng)
        drawn[part] = dataclasses.replace(own, values=values)
    return drawn


def _align(arena: Arena, row: Mapping[str, Any], answers: Answers) -> dict[str, Aligned]:
    """Line answers up with the truth; metrics that do not rank are left out, because only the value is needed."""
    sheet = arena.sheet(row["track"], row["phase"])
    found = {}
    for part, table in answers.items():
        manifest = arena.manifest(sheet, part).replace(additional_metrics=(), tie_break=None)
        found[part] = align(table, arena.vault.truth(sheet, part), manifest, source=row["file"])
    return found


def _make_judge(arena: Arena, row: Mapping[str, Any]) -> Callable[[Parts], float]:
    """Return the function that scores aligned answers on the half of the people that is shown."""
    sheet = arena.sheet(row["track"], row["phase"])
    kept, manifests, overall = find_half(arena, sheet), arena.manifests(sheet), arena.overall(sheet)

    def find_value(answered: Parts) -> float:
        units = {part: score_aligned(aligned) for part, aligned in answered.items()}
        judged = judge(keep_half(units, kept), manifests, overall, with_interval=False, with_error=False)
        if judged.value is None:
            raise ValueError("a track whose parts are joined by ranks has no ladder")
        return judged.value

    return find_value


def _read_seed(arena: Arena, row: Mapping[str, Any]) -> int:
    """Return the seed of a submission's luck, from the salt of its truth, which is secret until the reveal."""
    sheet = arena.sheet(row["track"], row["phase"])
    salt = arena.vault.read_salt(sheet, arena.parts(sheet)[0])
    return int(derive_seed(salt, row["id"], row["sha256"], "luck"), 16)
