"""Ranks inside draws, how stable they are, and the visible ranking.

Two scores are equal when they differ by at most 1e-12 of the larger one. Where scores of both signs
cancel to nearly nothing, the larger one is not a measure of the rounding; there the smaller of the two
teams' largest scores stands in for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.bootstrap import Draws, score_scale, tails

RELATIVE_TOLERANCE = 1e-12
TIES = ("min", "order")
BLOCK_SCORES = 1 << 18
COUNTED_BLOCKS = 8
# Fewer scores are sorted as quickly one way as the other; more teams leave too few bits for their scores.
LEAST_PACKED, MOST_PACKED = 1 << 14, 1 << 11

TieBreak = Sequence[float] | Mapping[Any, float] | None


def tolerance(a: np.ndarray, c: np.ndarray, scale_a: np.ndarray, scale_c: np.ndarray) -> np.ndarray:
    """Return how far two scores may differ and still count as equal.

    Parameters
    ----------
    a, c
        Scores of two teams.
    scale_a, scale_c
        Largest absolute score of each of the two teams over all draws.
    """
    larger: np.ndarray = np.maximum(np.maximum(np.abs(a), np.abs(c)), np.minimum(scale_a, scale_c))
    return RELATIVE_TOLERANCE * larger


def ranks(scores: Draws | np.ndarray, ties: str = "min") -> np.ndarray:
    """Rank the teams inside each draw, 1 for the highest score.

    Parameters
    ----------
    scores
        Draws, or scores (draws, teams) or (teams,); higher is better.
    ties
        "min": teams with equal scores share the smallest rank. "order": they are ranked in input
        order, as the published listing does.

    Returns
    -------
    numpy.ndarray
        int64, of the shape of the scores.

    Raises
    ------
    InputError
        When `ties` is unknown or a score is not finite.

    Examples
    --------
    >>> ranks(np.array([0.5, 0.9, 0.5, 0.1])).tolist()
    [2, 1, 2, 4]
    >>> ranks(np.array([0.5, 0.9, 0.5, 0.1]), ties="order").tolist()
    [2, 1, 3, 4]
    """
    values = _matrix(scores, ties)
    result = np.empty(values.shape, dtype=np.int64)
    for start, block in _rank_blocks(values, ties):
        result[start : start + len(block)] = block
    return result[0] if not isinstance(scores, Draws) and np.ndim(scores) == 1 else result


def rank_stability(draws: Draws, ties: str = "min") -> pd.DataFrame:
    """Compute how often each team is first, in the top three and in the top five, and its range of ranks.

    Returns
    -------
    pandas.DataFrame
        Indexed by team: `top1`, `top3`, `top5` (shares of the draws), `rank_low`, `rank_high` (2.5 and
        97.5 percentiles of the rank, linear interpolation).

    Raises
    ------
    InputError
        When `ties` is unknown.

    Examples
    --------
    >>> draws = Draws(["a", "b"], np.array([[2.0, 1.0], [2.0, 3.0], [5.0, 1.0], [4.0, 0.0]]), np.ones(2), 9)
    >>> rank_stability(draws)["top1"].to_dict()
    {'a': 0.75, 'b': 0.25}
    """
    table = ranks(draws, ties)
    low, high = np.percentile(table, tails(0.95), axis=0)
    shares = {f"top{best}": (table <= best).mean(axis=0) for best in (1, 3, 5)}
    index = pd.Index(draws.teams, name="team")
    return pd.DataFrame({**shares, "rank_low": low, "rank_high": high}, index=index)


def rank_probabilities(draws: Draws, ties: str = "min") -> pd.DataFrame:
    """Return the share of the draws in which each team has each rank: one row per team, one column per rank.

    Raises
    ------
    InputError
        When `ties` is unknown.
    """
    n_teams = len(draws.teams)
    values = _matrix(draws, ties)
    counts = np.zeros(n_teams * n_teams, dtype=np.int64)
    if ties == "min":
        scale, rows = draws.scale, max(1, BLOCK_SCORES // n_teams)
        # Several blocks are counted at once: of 1,000 teams there are four times as many counts as scores in a block.
        for first in range(0, len(values), rows * COUNTED_BLOCKS):
            chunk = values[first : first + rows * COUNTED_BLOCKS]
            cells = np.empty(chunk.shape, dtype=np.intp)
            for start in range(0, len(chunk), rows):
                order, place = _places(chunk[start : start + rows], scale)
                np.multiply(order, n_teams, out=cells[start : start + rows])
                cells[start : start + rows] += place
            counts += np.bincount(cells.ravel(), minlength=len(counts))
    else:
        offsets = np.arange(n_teams) * n_teams - 1
        for _, block in _rank_blocks(values, ties):
            counts += np.bincount((block + offsets).ravel(), minlength=len(counts))
    return pd.DataFrame(
        counts.reshape(n_teams, n_teams) / draws.n_draws,
        index=pd.Index(draws.teams, name="team"),
        columns=pd.RangeIndex(1, n_teams + 1, name="rank"),
    )


def ranking(draws: Draws, tie_break: TieBreak = None) -> pd.DataFrame:
    """Order the teams by their track scores: the visible ranking.

    Parameters
    ----------
    draws
        Only the teams and the point scores are used; the draws give the scale of the tolerance.
    tie_break
        Higher is better, one per team in team order, or team -> value; it decides where track scores are
        equal. Teams equal in both share the rank and stay in input order.

    Returns
    -------
    pandas.DataFrame
        `rank`, `team`, `score`, best first.

    Raises
    ------
    InputError
        When the tie-break lacks a team or is not finite.

    Examples
    --------
    >>> draws = Draws(["a", "b", "c"], np.ones((4, 3)), np.array([0.5, 0.5, 0.7]), 9)
    >>> ranking(draws, tie_break=[0.1, 0.2, 0.0])["team"].tolist()
    ['c', 'b', 'a']
    """
    shared, order = standing(draws, tie_break)
    teams = [draws.teams[at] for at in order]
    return pd.DataFrame({"rank": shared[order], "team": teams, "score": draws.point[order]})


def standing(draws: Draws, tie_break: TieBreak = None) -> tuple[np.ndarray, np.ndarray]:
    """Return the shared rank of each team (teams,) in the visible ranking, and the teams best first."""
    n_teams = len(draws.teams)
    scale = np.maximum(draws.scale, np.abs(draws.point))
    by_score = _shared_ranks(draws.point[None, :], scale)[0]
    by_break = np.ones(n_teams, dtype=np.int64)
    if tie_break is not None:
        by_break = ranks(_tie_break_values(draws, tie_break))
    # Sorting by (score rank, tie-break rank) and counting who is strictly before yields shared ranks.
    key = (by_score - 1) * (n_teams + 1) + by_break
    order = np.argsort(key, kind="stable")
    return 1 + np.searchsorted(key[order], key, side="left"), order


def _tie_break_values(draws: Draws, tie_break: Sequence[float] | Mapping[Any, float]) -> np.ndarray:
    if isinstance(tie_break, Mapping | pd.Series):
        missing = [team for team in draws.teams if team not in tie_break]
        if missing:
            raise InputError(f'The tie-break lacks team "{missing[0]}"; every team needs one.')
        tie_break = [tie_break[team] for team in draws.teams]
    values = np.asarray(tie_break, dtype=np.float64)
    if values.shape != (len(draws.teams),):
        raise InputError(f"The tie-break must hold one number for each of {len(draws.teams)} teams.")
    if not np.isfinite(values).all():
        team = draws.teams[int(np.flatnonzero(~np.isfinite(values))[0])]
        raise InputError(f'Team "{team}": the tie-break is not finite. Nothing was ranked.')
    return values


def _matrix(scores: Draws | np.ndarray, ties: str) -> np.ndarray:
    if ties not in TIES:
        raise InputError(f'No rule for ties "{ties}"; there are: {", ".join(TIES)}.')
    if isinstance(scores, Draws):
        return scores.scores
    values = np.atleast_2d(np.asarray(scores, dtype=np.float64))
    if values.ndim != 2 or not values.size:
        raise InputError(f"Ranks need scores (draws, teams) or (teams,); got shape {np.shape(scores)}.")
    if not np.isfinite(values).all():
        draw, team = np.argwhere(~np.isfinite(values))[0]
        raise InputError(
            f"Draw {draw}, team number {team}: the score is {values[draw, team]}. Nothing was ranked."
        )
    return values


def _rank_blocks(values: np.ndarray, ties: str) -> Iterator[tuple[int, np.ndarray]]:
    scale = score_scale(values)
    rows = max(1, BLOCK_SCORES // values.shape[1])
    for start in range(0, len(values), rows):
        block = _shared_ranks(values[start : start + rows], scale)
        # Tied teams share a rank, so that the ranks add up to less: only then is there an order to make.
        if ties == "order" and block.sum() < len(block) * values.shape[1] * (values.shape[1] + 1) // 2:
            order = np.argsort(block, axis=1, kind="stable")
            np.put_along_axis(block, order, np.arange(1, block.shape[1] + 1)[None, :], axis=1)
        yield start, block


def _shared_ranks(values: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Rank each row, equal scores sharing the smallest rank (rows, teams)."""
    order, place = _places(values, scale)
    result = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(result, order, place + 1, axis=1)
    return result


def _places(values: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the teams of each row, best first, and the place from 0 that each of them has (rows, teams)."""
    order, ordered = _sort_rows(values)
    place = np.broadcast_to(np.arange(values.shape[1]), values.shape)
    gap = ordered[:, :-1] - ordered[:, 1:]
    if gap.size and gap.min() <= RELATIVE_TOLERANCE * scale.max():
        scales = scale[order]
        equal = gap <= tolerance(ordered[:, :-1], ordered[:, 1:], scales[:, :-1], scales[:, 1:])
        place = place.copy()
        place[:, 1:][equal] = 0
        np.maximum.accumulate(place, axis=1, out=place)
    return order, place


def _sort_rows(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the teams of each row, best first, equal scores in any order, and their scores (rows, teams).

    Many scores are sorted as whole numbers of 32 bits, scores above and teams below, in half the time of an `argsort`.
    Rows in which two scores differ in lower bits alone are sorted in full.
    """
    # Equal scores get equal ranks whatever their order here, so the quicker unstable sort will do.
    packed = _pack_scores(values)
    if packed is None:
        order = np.argsort(-values, axis=1)
        return order, _take_rows(values, order)
    bits = (values.shape[1] - 1).bit_length()
    packed.sort(axis=1)
    packed &= (1 << bits) - 1
    order = packed.astype(np.intp)
    ordered = _take_rows(values, order)
    mixed = np.flatnonzero((ordered[:, :-1] < ordered[:, 1:]).any(axis=1))
    if len(mixed):
        order[mixed] = np.argsort(-values[mixed], axis=1)
        ordered[mixed] = np.take_along_axis(values[mixed], order[mixed], axis=1)
    return order, ordered


def _pack_scores(values: np.ndarray) -> np.ndarray | None:
    """Return whole numbers whose order is that of the scores, best first, with the team in the lowest bits.

    None where there are few scores, too many teams for 32 bits, or scores that no such numbers stand for.
    """
    n_teams = values.shape[1]
    if values.size < LEAST_PACKED or n_teams > MOST_PACKED:
        return None
    bits = (n_teams - 1).bit_length()
    low, high = float(values.min()), float(values.max())
    span = high - low
    if not 0 < span < np.inf or not np.isfinite(steps := ((1 << (32 - bits)) - 1) / span):
        return None
    packed: np.ndarray = ((high - values) * steps).astype(np.uint32)
    packed <<= bits
    packed |= np.arange(n_teams, dtype=np.uint32)
    return packed


def _take_rows(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Return the scores of each row in the order of their places (rows, teams)."""
    if values.flags.c_contiguous:  # by flat positions: a third of the time of `take_along_axis`
        return values.ravel().take(order + np.arange(0, values.size, values.shape[1])[:, None])
    return np.take_along_axis(values, order, axis=1)
