"""Overall points: a rank on each track becomes a number from 0 to 1, and these are averaged."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from neuroarena.errors import InputError

ALL_TRACKS = ("img", "bci", "sleep", "emg")


def rank_points(rank: float, n: int) -> float:
    """Compute the points of a rank among `n` valid submissions: 1 for the top, 0 for the bottom, 1 when alone.

    Raises
    ------
    InputError
        When `n` is below 1 or the rank is not between 1 and `n`.

    Examples
    --------
    >>> [rank_points(rank, 5) for rank in (1, 2, 5)]
    [1.0, 0.75, 0.0]
    """
    if n < 1:
        raise InputError(f"Rank points need at least one submission; got n = {n}.")
    if not 1 <= rank <= n:
        raise InputError(f"A rank among {n} submissions must lie between 1 and {n}; got {rank}.")
    return 1.0 if n == 1 else 1.0 - (rank - 1) / (n - 1)


def submitted_score(points_by_track: Mapping[str, float]) -> float:
    """Average a team's points over the tracks it entered.

    Raises
    ------
    InputError
        When no track is given, or points are not between 0 and 1.

    Examples
    --------
    >>> submitted_score({"img": 1.0, "emg": 0.5})
    0.75
    """
    if not points_by_track:
        raise InputError("A team without a track has no submitted-track score; pass at least one track.")
    _check_points(points_by_track)
    return sum(points_by_track.values()) / len(points_by_track)


def all_track_score(points_by_track: Mapping[str, float], tracks: Sequence[str] = ALL_TRACKS) -> float:
    """Average a team's points over all tracks of the competition; a track not entered counts 0.

    Points of tracks that are not in `tracks`, such as the transfer track, do not count.

    Raises
    ------
    InputError
        When `tracks` is empty, or points are not between 0 and 1.

    Examples
    --------
    >>> all_track_score({"img": 1.0, "emg": 0.5})
    0.375
    """
    if not tracks:
        raise InputError("The all-track score needs at least one track; got none.")
    _check_points(points_by_track)
    return sum(points_by_track.get(track, 0.0) for track in tracks) / len(tracks)


def _check_points(points_by_track: Mapping[str, float]) -> None:
    for track, points in points_by_track.items():
        if not (math.isfinite(points) and 0 <= points <= 1):
            raise InputError(f'Track "{track}": points must lie between 0 and 1; got {points}.')
