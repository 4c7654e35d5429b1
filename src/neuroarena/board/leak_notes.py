"""Leaks on a board: what was found when its entries were evaluated."""

from __future__ import annotations

from collections.abc import Iterable

from neuroarena.board.ranking import Ranking


def describe_leaks(rankings: Iterable[Ranking]) -> list[str]:
    """Name the rankings of a split that gives answers away, and how; one sentence for each thing found."""
    return [
        f"LEAK in {ranking.task}, {ranking.split}: {sentence}"
        for ranking in rankings
        for sentence in ranking.provenance.get("leaks", ())
    ]
