"""Names of teams as labels, and the drawing that boards share with the other rooms."""

from __future__ import annotations

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
    "heading",
    "label",
    "label_width",
    "mark_simulated",
    "new_figure",
    "place",
    "style",
    "svg_text",
]
