"""One verdict per pair of teams: the rows that stars, letters, tables, prose and plots read.

All pairs are one family. The leader is picked by the data, so that a correction over the leader's pairs
alone would call someone "significantly behind" on 19 of 100 boards of 20 equal teams; over all pairs it
is at most 6 of 100.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.guarded import guarded_interval, guarded_p
from neuroarena.statistics.jackknife import jackknife
from neuroarena.statistics.left_out import MINIMUM_LEVELS, leave_out
from neuroarena.statistics.moments import Moments
from neuroarena.statistics.pairs import holm
from neuroarena.statistics.ranks import RELATIVE_TOLERANCE
from neuroarena.statistics.seeds import NOT_MEASURED

BETTER, EQUIVALENT, UNDECIDED, NONE = "better", "equivalent", "undecided", "none"
BEYOND, WITHIN = "beyond nu", "within nu"
COLUMNS = (
    "a", "c", "delta", "se", "df", "skew", "n_levels", "g_eff", "ci95", "p", "p_holm", "level", "judged",
    "verdict", "margin", "scope", "p_signflip",
)  # fmt: skip
INTERVALS = ("ci95", "judged")
END_COLUMNS = tuple(
    end for name in COLUMNS for end in ((f"{name}_low", f"{name}_high") if name in INTERVALS else (name,))
)
# Two p-values that are equal on paper may differ in their last digits; they share their place.
EQUAL_P = 1e-10
VERY_SKEWED, FEW_LEVELS = 2.0, 30


def verdicts(
    table: Any, *, clusters: Any = None, nu: float | None = None, alpha: float = 0.05
) -> pd.DataFrame:
    """Judge every pair of teams by their mean unit scores.

    Parameters
    ----------
    table
        One row per unit, one column per team, higher is better: a DataFrame, or what makes one.
    clusters
        One label per unit, such as its person; units with the same label are one independent level.
        Without it every unit is a level.
    nu
        The smallest difference that matters; without it only identical teams are `equivalent`.
    alpha
        Level of the family of all pairs.

    Returns
    -------
    pandas.DataFrame
        One row per pair in rank order, as `judge` describes it.

    Raises
    ------
    InputError
        When a score is not finite (team and unit are named), a name repeats, a unit has no cluster, or
        `nu` or `alpha` is out of range.

    Examples
    --------
    >>> scores = {"a": [5.1, 5.3, 4.9, 5.0, 5.2, 5.4], "b": [4.0, 4.1, 3.9, 4.2, 4.0, 4.1]}
    >>> verdicts(scores)[["a", "c", "verdict"]].to_dict("records")
    [{'a': 'a', 'c': 'b', 'verdict': 'better'}]
    """
    return judge(jackknife(leave_out(table, clusters)), nu=nu, alpha=alpha)


def judge(moments: Moments, *, nu: float | None = None, alpha: float = 0.05) -> pd.DataFrame:
    """Judge every pair of teams from its moments, wherever these come from.

    Parameters
    ----------
    moments
        From `jackknife`, `crossed`, `moments_of_draws`, `fix_tasks` or `add_seeds`.
    nu
        The smallest difference that matters; None without.
    alpha
        Level of the family of all pairs.

    Returns
    -------
    pandas.DataFrame
        One row per pair, in rank order:

        * `a`, `c`, `delta`: `a` ranks above `c`; difference of their scores, never negative;
        * `se`, `df`, `skew`, `n_levels`, `g_eff`, `scope`: how it was measured, and what is random;
        * `ci95`, `p`: this pair alone; (low, high) and the two-sided p;
        * `p_holm`, `level`, `judged`: corrected over all pairs; the level at which Holm judged this
          row, and the interval there, which excludes 0 exactly when `p_holm` <= alpha;
        * `verdict`: "none" below 6 levels, "better" when `p_holm` <= alpha, "equivalent" when
          `judged` lies inside [-nu, nu] or the teams are identical, otherwise "undecided";
        * `margin`: "beyond nu", "within nu" or "";
        * `p_signflip`: an audit, not a verdict; NaN for several factors and for large boards.

    Raises
    ------
    InputError
        When `nu` or `alpha` is out of range.

    Examples
    --------
    >>> twins = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    >>> judge(jackknife(leave_out(twins)))[["p", "judged", "verdict"]].to_dict("records")
    [{'p': 1.0, 'judged': (0.0, 0.0), 'verdict': 'equivalent'}]
    """
    return pair_ends(judge_ends(moments, nu=nu, alpha=alpha))


def judge_ends(moments: Moments, *, nu: float | None = None, alpha: float = 0.05) -> pd.DataFrame:
    """Judge as `judge` does, with the ends of intervals as columns of their own.

    In place of `ci95` and `judged` there are `ci95_low`, `ci95_high`, `judged_low` and `judged_high`. Boards keep these
    rows: a tuple of two numbers takes 112 bytes, the numbers alone 16, and 1,000 teams have 499,500 pairs.

    Examples
    --------
    >>> twins = {"a": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "b": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]}
    >>> judge_ends(jackknife(leave_out(twins)))[["judged_low", "judged_high"]].to_dict("records")
    [{'judged_low': 0.0, 'judged_high': 0.0}]
    """
    if not 0 < alpha < 1:
        raise InputError(f"alpha must lie between 0 and 1; got {alpha}.")
    if nu is not None and not (math.isfinite(nu) and nu >= 0):
        raise InputError(f"nu, the smallest difference that matters, must be 0 or more; got {nu}.")
    p = _pair_p(moments)
    p_holm, alphas = judged_alphas(p, alpha)
    decided = at_most(p_holm, alpha)
    low, high = _intervals(moments, alphas, decided)
    identical = (moments.se == 0) & (moments.delta == 0)
    inside = np.zeros(len(p), dtype=bool) if nu is None else (low >= -nu) & (high <= nu)
    beyond = np.zeros(len(p), dtype=bool) if nu is None else low >= nu
    unknown = np.isnan(p)
    verdict = np.select([unknown, decided, inside | identical], [0, 1, 2], 3)
    ci95_low, ci95_high = _intervals(moments, np.full(len(p), 0.05), at_most(p, 0.05))
    names = np.fromiter(moments.teams, dtype=object, count=len(moments.teams))
    scope, words = pd.factorize(np.asarray(moments.scope, dtype=object))
    rows = {
        "a": _repeat_words(names, moments.above),
        "c": _repeat_words(names, moments.below),
        **{name: getattr(moments, name) for name in ("delta", "se", "df", "skew", "n_levels", "g_eff")},
        "ci95_low": ci95_low,
        "ci95_high": ci95_high,
        "p": p,
        "p_holm": p_holm,
        "level": 1 - alphas,
        "judged_low": low,
        "judged_high": high,
        "verdict": _repeat_words([NONE, BETTER, EQUIVALENT, UNDECIDED], verdict),
        "margin": _repeat_words([BEYOND, WITHIN, ""], np.select([beyond, inside], [0, 1], 2)),
        "scope": _repeat_words(words, scope),
        "p_signflip": np.where(unknown, np.nan, moments.p_signflip),
    }
    # Not copied into one block: numbers of half a million pairs need not lie side by side.
    return pd.DataFrame(rows, columns=list(END_COLUMNS), copy=False)


def _repeat_words(words: Sequence[Any] | np.ndarray, places: np.ndarray) -> Any:
    """Return a column of a few words by their places: pandas would look at every one of half a million."""
    return pd.Series(words).array.take(places)


def pair_ends(rows: pd.DataFrame) -> pd.DataFrame:
    """Return rows of `judge_ends` as those of `judge`: each interval one column of (low, high).

    Examples
    --------
    >>> pair_ends(judge_ends(jackknife(leave_out({"a": [1.0] * 6, "b": [2.0] * 6}))))["ci95"].tolist()
    [(1.0, 1.0)]
    """
    pairs = {
        name: np.fromiter(
            zip(rows[f"{name}_low"].tolist(), rows[f"{name}_high"].tolist(), strict=True),
            dtype=object,
            count=len(rows),
        )
        for name in INTERVALS
    }
    columns = {name: pairs[name] if name in pairs else rows[name] for name in COLUMNS}
    return pd.DataFrame(columns, index=rows.index)


def judged_alphas(p_values: npt.ArrayLike, alpha: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Correct p-values after Holm (1979), and return the level at which each was judged.

    An interval of level 1 - alpha_k excludes 0 exactly when the corrected p is at most `alpha`: of m
    p-values the j-th smallest, when rejected, passed alpha / (m - j + 1); all others are held against the
    alpha / (m - r) that the smallest of them, the one after r rejected ones, failed.

    Parameters
    ----------
    p_values
        One per pair; NaN where there is none, which is not counted.
    alpha
        Level of the family.

    Returns
    -------
    p_holm, alpha_k
        Of the length of the p-values, NaN where they are.

    Examples
    --------
    >>> p_holm, alphas = judged_alphas([0.01, 0.4, 0.3])
    >>> p_holm.round(3).tolist(), (1 - alphas).round(4).tolist()
    ([0.03, 0.6, 0.6], [0.9833, 0.975, 0.975])
    """
    p_values = np.asarray(p_values, dtype=np.float64)
    known = np.flatnonzero(~np.isnan(p_values))
    p_holm, alphas = np.full(len(p_values), np.nan), np.full(len(p_values), np.nan)
    p, m = p_values[known], len(known)
    if not m:
        return p_holm, alphas
    p_holm[known] = holm(p)
    rejected = int(at_most(p_holm[known], alpha).sum())
    order = np.argsort(p, kind="stable")
    later = np.append(False, p[order][1:] > p[order][:-1] * (1 + EQUAL_P))
    first = np.maximum.accumulate(np.where(later, np.arange(m), 0)) + 1
    alphas[known[order]] = alpha / (m - np.minimum(first, min(rejected + 1, m)) + 1)
    return p_holm, alphas


def caution(rows: pd.DataFrame) -> tuple[str, ...]:
    """Return what a reader of these rows should be told about them, in sentences.

    Parameters
    ----------
    rows
        From `verdicts` or `judge`.

    Examples
    --------
    >>> caution(verdicts({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 1.0, 1.0, 1.0]}))
    ('4 independent units: no verdict, 6 needed.',)
    """
    found = []
    unknown = (rows["verdict"] == NONE).to_numpy(dtype=bool)
    if unknown.any():
        said = count_independent(str(rows["scope"].iloc[int(unknown.argmax())]))
        found.append(f"{said[:1].upper()}{said[1:]}: no verdict, {MINIMUM_LEVELS} needed.")
    skewed = np.abs(rows["skew"].to_numpy(dtype=np.float64)) > VERY_SKEWED
    if (skewed & (rows["n_levels"].to_numpy() < FEW_LEVELS) & ~unknown).any():
        found.append("Very skewed: intervals somewhat narrow.")
    scopes = rows["scope"][~unknown]
    noisy = [scope for scope in scopes.unique() if NOT_MEASURED in scope]
    if noisy:
        n_pairs, known = int(scopes.isin(noisy).sum()), len(scopes)
        some = "" if n_pairs == known else f" on {n_pairs:,} of {known:,} pairs"
        found.append(
            f"Training noise not measured{some}: verdicts {'there ' if some else ''}hold for these trained models."
        )
    return tuple(found)


def count_independent(scope: str) -> str:
    """Return how many independent levels a scope names, in words, where they are too few for a verdict.

    Examples
    --------
    >>> count_independent("random: 4 people; for these 7 tasks"), count_independent("random: 1 units")
    ('4 independent people', 'one independent level')
    >>> count_independent("for these 5 images and 4 neuroids")
    'for these 5 images and 4 neuroids'
    """
    first = scope.partition(";")[0]
    random = first.removeprefix("random: ")
    if random == first:  # nothing is random, and the scope itself says what is too few
        return first
    return "one independent level" if random.startswith("1 ") else random.replace(" ", " independent ", 1)


def _pair_p(moments: Moments) -> np.ndarray:
    """Return the p of each pair; NaN where there are too few levels."""
    p = np.ones(len(moments.se))
    n_levels, se, delta = moments.n_levels, moments.se, moments.delta
    spread = se > 0
    p[spread] = guarded_p(
        delta[spread], se[spread], moments.df[spread], moments.skew[spread], moments.g_eff[spread]
    )
    constant = (se == 0) & (delta != 0)
    # The same difference at every level: all signs alike have this chance, and t would claim certainty.
    p[constant] = np.maximum(0.5 ** (n_levels[constant] - 1.0), np.finfo(np.float64).tiny)
    p[(n_levels < MINIMUM_LEVELS) | np.isnan(se)] = np.nan
    return p


def _intervals(moments: Moments, alphas: np.ndarray, excludes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of intervals of level 1 - alphas; `excludes` says which of them exclude 0."""
    delta, se = moments.delta, moments.se
    low, high = guarded_interval(delta, se, moments.df, moments.skew, moments.g_eff, alphas)
    constant = (se == 0) & (delta != 0)
    low[constant] = np.where(excludes[constant], delta[constant], -np.inf)
    high[constant] = np.where(excludes[constant], delta[constant], np.inf)
    # p and interval come from a function and its inverse: at the very edge rounding may part them, and above an
    # alpha of 0.36, where q is below 0.9, so may a difference smaller than the skew correction.
    low[excludes & (low <= 0)] = np.finfo(np.float64).tiny
    low[~excludes & (low > 0)] = 0.0
    unknown = np.isnan(alphas) | (moments.n_levels < MINIMUM_LEVELS)
    low[unknown] = high[unknown] = np.nan
    return low, high


def at_most(p: Any, alpha: float) -> Any:
    """Return whether p, or each of several, is at most alpha; k p = alpha on paper may exceed it in the last bit."""
    return p <= alpha * (1 + RELATIVE_TOLERANCE)
