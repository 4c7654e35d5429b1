"""Names of teams as labels, and the drawing that boards share with the other rooms."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any

from neuroarena.board.wording import clean_name
from neuroarena.drawing import (
    COLOURS,
    ENTRY,
    FLOOR,
    GREY,
    MARKERS,
    ORGANISER,
    SIMULATED,
    heading,
    mark_simulated,
    new_figure,
    place,
    style,
    svg_text,
)

LONGEST_LABEL = 30

# By team: its colour and its marker.
Looks = dict[str, tuple[str, str]]


def assign_looks(teams: Iterable[str], floors: Collection[str] = ()) -> Looks:
    """Assign a colour and a marker to each team, in this order; floors that learn nothing from signals are grey.

    Examples
    --------
    >>> assign_looks(["a", "b", "chance"], {"chance"})
    {'a': ('#0072B2', 'o'), 'b': ('#D55E00', 's'), 'chance': ('#7F7F7F', '^')}
    """
    looks: Looks = {}
    coloured = 0
    for at, team in enumerate(teams):
        colour = FLOOR if team in floors else COLOURS[coloured % (len(COLOURS) - 1)]
        coloured += team not in floors
        looks[team] = (colour, MARKERS[at % len(MARKERS)])
    return looks


def label(name: Any, longest: int = LONGEST_LABEL) -> str:
    """Return a team's name as an axis label, shortened when it is long."""
    text = clean_name(name)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def label_width(names: list[str]) -> float:
    """Return the width in inches that labels need at 9 points."""
    return 0.25 + 0.082 * max((len(name) for name in names), default=4)


__all__ = [
    "COLOURS",
    "ENTRY",
    "FLOOR",
    "GREY",
    "MARKERS",
    "ORGANISER",
    "SIMULATED",
    "Looks",
    "assign_looks",
    "heading",
    "label",
    "label_width",
    "mark_simulated",
    "new_figure",
    "place",
    "style",
    "svg_text",
]
