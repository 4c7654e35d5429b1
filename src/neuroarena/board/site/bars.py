"""Interval bars: where a score and its interval stand on an axis that all rows of a table share."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from neuroarena.board.ranking import Ranking
from neuroarena.board.wording import clean_name, interval_text, is_known, rows_of

WIDTH, MARGIN = 240.0, 8.0
MOST_TICKS = 3


@dataclass(frozen=True)
class Axis:
    """A stretch of scores on a drawing of `WIDTH` points."""

    low: float
    high: float

    def place(self, value: float) -> float:
        """Return where a score stands, in points from the left, to one decimal."""
        share = (value - self.low) / (self.high - self.low)
        return round(MARGIN + share * (WIDTH - 2 * MARGIN), 1)

    def ticks(self) -> list[dict[str, Any]]:
        """Return round numbers on the axis, with their places."""
        step = _round_step((self.high - self.low) / MOST_TICKS)
        first, last = math.ceil(self.low / step), math.floor(self.high / step)
        decimals = max(0, -math.floor(math.log10(step) + 1e-9))
        values = [step * at for at in range(first, last + 1)]
        return [{"x": self.place(value), "text": f"{value:.{decimals}f}"} for value in values]


def find_axis(values: Iterable[Any]) -> Axis:
    """Return the axis that holds all values that are known."""
    known = [float(value) for value in values if is_known(value) and math.isfinite(value)]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    if high - low < 1e-12:
        room = abs(high) * 0.1 or 0.5
        low, high = low - room, high + room
    return Axis(low, high)


def axis_of_ranking(ranking: Ranking) -> Axis:
    """Return the axis of a ranking: all scores, all intervals, and chance."""
    table = ranking.table
    numbers = [*table["score"], *table["ci95_low"], *table["ci95_high"], ranking.manifest.chance]
    return find_axis(numbers)


def draw_bars(ranking: Ranking, axis: Axis) -> list[dict[str, Any]]:
    """Return the bar of each row of a ranking: places of score, interval, chance and the leader's score."""
    chance = ranking.manifest.chance
    leader = float(ranking.table["score"].iloc[0]) if len(ranking.table) else None
    bars = []
    for row in rows_of(ranking.table):
        known = is_known(row.ci95_low) and is_known(row.ci95_high)
        bars.append(
            {
                "at": axis.place(row.score),
                "low": axis.place(row.ci95_low) if known else None,
                "high": axis.place(row.ci95_high) if known else None,
                "chance": None if chance is None else axis.place(chance),
                "leader": None if leader is None else axis.place(leader),
                "label": f"{clean_name(row.team)}: {interval_text(row.score, row.ci95_low, row.ci95_high)}",
            }
        )
    return bars


def _round_step(step: float) -> float:
    """Return the next of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> _round_step(0.033), _round_step(7.0)
    (0.05, 10.0)
    """
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1 - 1e-9))
