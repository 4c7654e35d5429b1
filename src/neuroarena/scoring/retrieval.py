"""Metrics of retrieval: how high the true candidate ranks among all candidates of the fold.

The score of candidate j for query i is dot(p_i, y_j) / |y_j|, the order of the cosine. Candidates are the
distinct target vectors of the fold's truth, equal ones merged first. The rank counts from 0 and ties
share it: r = (#{s_ij > s_i*} + #{s_ij >= s_i*} - 1) / 2. Two scores are equal when they differ by at
most 1e-12 |p_i|.

A float32 matrix product decides almost every comparison. What it cannot decide, because two scores are closer
than its rounding, is decided in float64, so that ranks depend neither on the matrix library nor on
the number of threads.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from neuroarena.scoring.metrics import Metric, WholeTable

if TYPE_CHECKING:
    from neuroarena.scoring.manifest import Manifest

# Cosines that differ by less are equal: about a thousand roundings of float64.
TIE_TOLERANCE = 1e-12
# The error of a float32 dot product of n numbers stays below this times sqrt(n) (probabilistic bound, 6 sigma).
SINGLE_ROUNDING = 6 * 2.0**-24
QUERIES_AT_ONCE = 2048
PAIRS_AT_ONCE = 1024
MANY_AT_ONCE = 512
# Up to this many doubtful candidates are compared one by one, more of them by another matrix product.
FEW = 64


def ranks(prediction: np.ndarray, candidates: np.ndarray, own: np.ndarray) -> np.ndarray:
    """Rank the true candidate of every query among all candidates.

    Predictions are taken as float32, as a submission file keeps them, after an exact scaling by a power
    of two; their length does not matter. A vector of zeros ties with every candidate: r = (N - 1) / 2.

    Parameters
    ----------
    prediction : ndarray of float, (n, length)
        Finite.
    candidates : ndarray of float, (N, length)
        Distinct, finite, none of them zero.
    own : ndarray of int, (n,)
        Which candidate is the true one.

    Returns
    -------
    ndarray of float64, (n,)
        From 0, the best, to N - 1.

    Examples
    --------
    >>> candidates = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    >>> ranks(np.array([[2.0, 1.0], [0.0, 0.0]]), candidates, np.array([0, 1])).tolist()
    [1.0, 1.0]
    """
    directions = unit_rows(candidates)
    single = np.ascontiguousarray(directions.astype(np.float32).T)
    found = np.empty(len(prediction))
    for start in range(0, len(prediction), QUERIES_AT_ONCE):
        rows = slice(start, start + QUERIES_AT_ONCE)
        found[rows] = _ranks_of_some(scale_rows(prediction[rows]), single, directions, own[rows])
    return found


def _ranks_of_some(
    queries: np.ndarray, single: np.ndarray, directions: np.ndarray, own: np.ndarray
) -> np.ndarray:
    """Rank a block of queries, float32 (n, length), in float32 and where that is in doubt in float64."""
    scores = queries @ single
    true = scores[np.arange(len(queries)), own]
    lengths = np.sqrt(np.einsum("ij,ij->i", queries, queries, dtype=np.float64))
    doubt = (SINGLE_ROUNDING * np.sqrt(queries.shape[1]) * lengths).astype(np.float32)
    above = np.count_nonzero(scores > (true + doubt)[:, None], axis=1)
    not_below = np.count_nonzero(scores >= (true - doubt)[:, None], axis=1)
    found: np.ndarray = (above + not_below - 1) / 2
    doubts = not_below - above
    few, many = np.flatnonzero((doubts > 1) & (doubts <= FEW)), np.flatnonzero(doubts > FEW)
    if few.size:
        close = np.abs(scores[few] - true[few, None]) <= doubt[few, None]
        row, candidate = np.nonzero(close)
        apart = _apart(queries, directions, own, few[row], candidate)
        tolerance = TIE_TOLERANCE * lengths[few[row]]
        surely_above = np.bincount(row[apart > tolerance], minlength=few.size)
        surely_not_below = np.bincount(row[apart >= -tolerance], minlength=few.size)
        found[few] = above[few] + (surely_above + surely_not_below - 1) / 2
    for rows in np.array_split(many, range(MANY_AT_ONCE, many.size, MANY_AT_ONCE)):
        exact = queries[rows].astype(np.float64) @ directions.T
        exact -= exact[np.arange(rows.size), own[rows]][:, None]
        tolerance = TIE_TOLERANCE * lengths[rows][:, None]
        counts = np.count_nonzero(exact > tolerance, axis=1) + np.count_nonzero(exact >= -tolerance, axis=1)
        found[rows] = (counts - 1) / 2
    return found


def _apart(
    queries: np.ndarray, directions: np.ndarray, own: np.ndarray, query: np.ndarray, candidate: np.ndarray
) -> np.ndarray:
    """Compute the score of a candidate minus that of the true one, in float64, for pairs of query and candidate."""
    found = np.empty(query.size)
    for start in range(0, query.size, PAIRS_AT_ONCE):
        some = slice(start, start + PAIRS_AT_ONCE)
        between = directions[candidate[some]] - directions[own[query[some]]]
        found[some] = np.einsum("ij,ij->i", queries[query[some]].astype(np.float64), between)
    return found


def scale_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale every row by a power of two to a largest number in [0.5, 1), and round to float32."""
    largest = np.maximum(vectors.max(axis=1), -vectors.min(axis=1))
    exponent = np.frexp(largest)[1]
    if vectors.dtype == np.float32 and np.abs(exponent).max(initial=0) < 32:
        # Neither squares nor sums of such numbers can leave float32: the scaling would change no rank.
        return vectors
    rounded: np.ndarray = np.ldexp(vectors.astype(np.float64), -exponent[:, None]).astype(np.float32)
    return rounded


def unit_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale every row to length 1, in float64; no row may be zero."""
    largest = np.abs(vectors).max(axis=1, keepdims=True).astype(np.float64)
    moderate = vectors / largest
    rows: np.ndarray = moderate / np.linalg.norm(moderate, axis=1, keepdims=True)
    return rows


def merge_equal_rows(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Merge equal rows.

    Parameters
    ----------
    vectors : ndarray of float, (n, length)

    Returns
    -------
    distinct : ndarray, (N, length)
        In the order of their first rows.
    own : ndarray of int64, (n,)
        The row of `distinct` that each row equals.

    Examples
    --------
    >>> merge_equal_rows(np.array([[1.0, 2.0], [0.0, 1.0], [1.0, 2.0], [-0.0, 1.0]]))[1].tolist()
    [0, 1, 0, 1]
    """
    place: dict[bytes, int] = {}
    own = np.empty(len(vectors), dtype=np.int64)
    firsts: list[int] = []
    for row, vector in enumerate(vectors):
        # Adding zero makes -0.0 and 0.0 the same bytes.
        key = (vector + 0.0).tobytes()
        known = place.setdefault(key, len(place))
        if known == len(firsts):
            firsts.append(row)
        own[row] = known
    return vectors[firsts], own


def _ranks_by_fold(
    prediction: np.ndarray,
    target: np.ndarray,
    fold: np.ndarray,
    manifest: Manifest,  # noqa: ARG001
) -> np.ndarray:
    """Rank every example among the candidates of its fold: columns rank and number of candidates, (n, 2)."""
    found = np.empty((len(target), 2))
    for each in np.unique(fold):
        rows = np.flatnonzero(fold == each)
        every = rows.size == len(target)
        candidates, own = merge_equal_rows(target if every else target[rows])
        found[rows, 0] = ranks(prediction if every else prediction[rows], candidates, own)
        found[rows, 1] = len(candidates)
    return found


def _enough_candidates(target: np.ndarray, fold: np.ndarray, manifest: Manifest, least: int) -> str | None:  # noqa: ARG001
    """Refuse a candidate of zeros, and so few candidates that an uninformative prediction could be a hit."""
    if not target.any(axis=1).all():
        return "a target vector holds zeros only, and has no direction"
    for each in np.unique(fold):
        found = _distinct_up_to(target[fold == each], least)
        if found < least:
            return f"a fold has {found} different targets, and ranks among fewer than {least} say nothing"
    return None


def _distinct_up_to(vectors: np.ndarray, enough: int) -> int:
    """Count different rows, stopping at `enough`."""
    seen: set[bytes] = set()
    for vector in vectors:
        seen.add((vector + 0.0).tobytes())
        if len(seen) == enough:
            break
    return len(seen)


def _top(rows: np.ndarray, target: np.ndarray, manifest: Manifest, k: int) -> dict[str, float]:  # noqa: ARG001
    hits = int(np.count_nonzero(rows[:, 0] < k))
    return {"score": hits / len(rows), "hits": float(hits)}


def _inverse_rank(rows: np.ndarray, target: np.ndarray, manifest: Manifest) -> dict[str, float]:  # noqa: ARG001
    return {"score": float(np.mean(1.0 - rows[:, 0] / (rows[:, 1] - 1)))}


def _whole(least: int) -> WholeTable:
    return WholeTable(_ranks_by_fold, partial(_enough_candidates, least=least))


_WORDS = (
    "Candidates are the distinct targets of the fold, equal ones merged; ties share a rank; a prediction of "
    "zeros stands in the middle. A fold of fewer than {} candidates, in which that would be a hit, "
    "and a target of zeros are refused when the truth is checked."
)

# A prediction of zeros has the rank (N - 1) / 2, which is not a hit from N = 2 k + 1 on.
TOP5 = Metric(
    name="top5",
    direction="higher",
    bounds=(0.0, 1.0),
    predictions=("vector",),
    function=partial(_top, k=5),
    title="Top-5 retrieval accuracy",
    unit_label="",
    undefined=_WORDS.format(11),
    columns=("n", "hits"),
    roles={"numerator": "hits", "denominator": "n"},
    whole=_whole(11),
)

TOP1 = Metric(
    name="top1",
    direction="higher",
    bounds=(0.0, 1.0),
    predictions=("vector",),
    function=partial(_top, k=1),
    title="Top-1 retrieval accuracy",
    unit_label="",
    undefined=_WORDS.format(3),
    columns=("n", "hits"),
    roles={"numerator": "hits", "denominator": "n"},
    whole=_whole(3),
)

INVERSE_RANK = Metric(
    name="mean_inverse_normalised_rank",
    direction="higher",
    bounds=(0.0, 1.0),
    predictions=("vector",),
    function=_inverse_rank,
    title="Mean inverse normalised rank",
    unit_label="",
    undefined=(
        "1 - r / (N - 1) among the N distinct targets of the fold; 0.5 is chance. A fold of one candidate "
        "and a target of zeros are refused when the truth is checked."
    ),
    whole=_whole(2),
)
