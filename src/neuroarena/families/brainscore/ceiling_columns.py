"""What boards of models show beside a score: the raw similarity, the ceiling with its band, and the share of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from neuroarena.board.entries import Entry

# A ceiling that is an estimate lies within two standard errors of it.
BAND = 2.0
WITHIN = "within it"


def raw_similarity(entry: Entry) -> float | None:
    """Return the similarity before it was normalised; None where a result does not say it."""
    found = _said(entry).get("raw")
    return None if found is None else float(found)


def ceiling_band(entry: Entry) -> str | None:
    """Return the ceiling on the scale of the raw similarity: lower and upper bound, or the estimate and its error."""
    said = _said(entry)
    ceiling, error, lower = (said.get(name) for name in ("ceiling", "ceiling_error", "ceiling_lower"))
    if ceiling is None:
        return None
    if lower is not None:
        return f"{lower:.3f} to {ceiling:.3f}"
    return f"{ceiling:.3f}" if not error else f"{ceiling:.3f} ± {error:.3f}"


def share_of_ceiling(entry: Entry) -> str | None:
    """Return the score as a share of what the recordings allow, and whether it lies within the ceiling's band."""
    said = _said(entry)
    if said.get("ceiling") is None or said.get("score") is None or said.get("formula") is None:
        return None
    share = f"{float(said['score']):.0%}".replace("%", " %")
    return f"{share}, {WITHIN}" if is_within(said) else share


def is_within(said: Mapping[str, Any]) -> bool:
    """Return whether a model lies within the band of the ceiling: no better one could be told from it.

    The band of a comparison by subjects begins at its lower bound; that of an estimate two standard errors below it; a
    ceiling without either is a line.

    Examples
    --------
    >>> is_within({"score": 0.9, "raw": 0.45, "ceiling": 0.5, "ceiling_lower": 0.44})
    True
    >>> is_within({"score": 0.9, "raw": 0.45, "ceiling": 0.5, "ceiling_error": 0.01})
    False
    """
    if said.get("ceiling_lower") is not None:
        return float(said["raw"]) >= float(said["ceiling_lower"])
    error = float(said.get("ceiling_error") or 0.0)
    return float(said["score"]) >= 1.0 - BAND * error / float(said["ceiling"])


def _said(entry: Entry) -> Mapping[str, Any]:
    found: Mapping[str, Any] = entry.provenance.get("reported") or {}
    return found


COLUMNS: dict[str, Callable[[Entry], Any]] = {
    "raw": raw_similarity,
    "ceiling": ceiling_band,
    "of_the_ceiling": share_of_ceiling,
}
