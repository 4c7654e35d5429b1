"""Boards over the tracks of the challenge."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from neuroarena.board import Ranking, Standings, points_board, transfer_board
from neuroarena.errors import InputError
from neuroarena.families.challenge2026.definition import read_definition


def challenge_points(rankings: Sequence[Ranking]) -> Standings:
    """Average rank points over the four tracks of the challenge.

    Parameters
    ----------
    rankings : sequence of Ranking
        Rankings that do not belong to a track of the challenge are left out.

    Returns
    -------
    Standings
        As :func:`neuroarena.board.points_board`; a track without any ranking counts 0 for everyone.

    Raises
    ------
    InputError
        When no ranking belongs to a track of the challenge, or two belong to the same one.
    """
    tracks = {benchmark: track for track, benchmark in read_definition().tracks.items()}
    own = [one for one in rankings if one.kind == "task" and f"{one.family}/{one.task}" in tracks]
    if not own:
        raise InputError(
            f"None of these rankings belongs to a track of the challenge; its tracks are {', '.join(tracks)}."
        )
    names = [tracks[f"{one.family}/{one.task}"] for one in own]
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f'The track "{twice[0]}" is ranked on several splits; choose one with --split.')
    return points_board(own, names, [track for track in tracks.values() if track not in names])


STANDINGS: dict[str, Callable[[Sequence[Ranking]], Standings]] = {
    "points": points_board,
    "transfer": transfer_board,
    "challenge-2026-points": challenge_points,
}
