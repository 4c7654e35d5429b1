"""Two crossed factors, both sampled: images and neuroids, tasks and people, subjects and images.

A difference of two models varies with the images and with the neuroids that happened to be recorded.
With neuroids alone taken as random, exchangeable models are called different in 16 to 45 of 100 comparisons.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from neuroarena.statistics.cells import Cells, CellsLeftOut
from neuroarena.statistics.differences import difference_moments, pair_squares
from neuroarena.statistics.guarded import guarded_interval
from neuroarena.statistics.jackknife import bounded_intervals, jackknife
from neuroarena.statistics.left_out import MINIMUM_LEVELS, LeftOut, effective_levels, sum_by_level
from neuroarena.statistics.moments import Moments, make_moments, rescope, satterthwaite
from neuroarena.statistics.ranks import TieBreak

# Below this many images for each fitted feature, images left out do not show how the fit itself varies.
ENOUGH_IMAGES_PER_FEATURE = 5.0


def crossed(cells: Cells, images_per_feature: float | None = None, tie_break: TieBreak = None) -> Moments:
    """Return the moments of every pair of teams where two crossed factors are sampled.

    With V_first, V_second and V_cells the variances of the mean difference from its row means, column
    means and residuals, V = max(V_first + V_second - V_cells, V_first, V_second), because both of the
    first hold the noise of the cells. With missing cells the three come from leaving out a row, a column, a
    cell. A factor with fewer than 6 levels is fixed and named in the scope; then the jackknife over the
    other one remains, and without any there is no verdict.

    Parameters
    ----------
    cells
        The measured cells.
    images_per_feature
        Levels of the first factor for each feature that was fitted on others like them; below 5 nothing is
        subtracted. None where nothing was fitted.
    tie_break
        As in `jackknife`.

    Raises
    ------
    InputError
        When the tie-break lacks a team.

    Examples
    --------
    >>> from neuroarena.statistics.cells import cells_of_arrays
    >>> rng = np.random.default_rng(0)
    >>> arrays = {team: rng.normal(shift, 1, (8, 9)) for team, shift in {"a": 1, "b": 0}.items()}
    >>> moments = crossed(cells_of_arrays(arrays, ("images", "neuroids")))
    >>> moments.teams, moments.scope[0], moments.n_levels.tolist()
    (('a', 'b'), 'random: 8 images x 9 neuroids', [8])
    """
    cells = cells.in_rank_order(tie_break)
    sizes = [len(count) for count in cells.counts]
    enough = [size >= MINIMUM_LEVELS for size in sizes]
    if not all(enough):
        return _one_factor(cells, enough.index(True)) if any(enough) else _no_factor(cells)
    first, second, noise = factor_variances(cells)
    effective = [effective_levels(weights) for weights in cells.weights]
    scope = f"random: {sizes[0]} {cells.nouns[0]} x {sizes[1]} {cells.nouns[1]}"
    if images_per_feature is not None and images_per_feature < ENOUGH_IMAGES_PER_FEATURE:
        noise, scope = np.zeros_like(noise), f"{scope}; {few_images_clause(cells.nouns[0])}"
    variance = np.maximum(first + second - noise, np.maximum(first, second))
    df = satterthwaite(variance, [(first, effective[0] - 1), (second, effective[1] - 1)])
    return make_moments(
        cells.teams, cells.scores, cells.scale, scope, se=np.sqrt(variance), df=df, n_levels=min(sizes)
    )


def few_images_clause(noun: str) -> str:
    """Add to a scope that the noise of the cells was not subtracted, because the fit varies too.

    Examples
    --------
    >>> few_images_clause("images")
    'fewer than 5 images per fitted feature'
    """
    return f"fewer than {ENOUGH_IMAGES_PER_FEATURE:g} {noun} per fitted feature"


def crossed_intervals(
    cells: Cells,
    images_per_feature: float | None = None,
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> pd.DataFrame:
    """Return the interval of each team's own score where two crossed factors are sampled.

    A score is the difference from a team that has 0 everywhere.

    Parameters
    ----------
    cells, images_per_feature
        As in `crossed`.
    level, bounds
        As in `score_intervals`.

    Returns
    -------
    pandas.DataFrame
        As `score_intervals` returns it.

    Examples
    --------
    >>> from neuroarena.statistics.cells import cells_of_arrays
    >>> rng = np.random.default_rng(0)
    >>> found = crossed_intervals(cells_of_arrays({"a": rng.normal(1, 1, (8, 9))}, ("images", "neuroids")))
    >>> bool(found.loc["a", "low"] < found.loc["a", "score"] < found.loc["a", "high"])
    True
    """
    ends, known = np.full((2, len(cells.teams)), np.nan), np.full((2, len(cells.teams)), np.nan)
    for at in range(len(cells.teams)):
        against = replace(
            cells,
            teams=(cells.teams[at], None),
            values=np.column_stack([cells.values[:, at], np.zeros(len(cells.values))]),
            point=np.array([cells.scores[at], 0.0]),
        )
        found = crossed(against, images_per_feature)
        if found.n_levels[0] >= MINIMUM_LEVELS:
            # The two stand in rank order: below 0 the team is the second, and its skewness turns round.
            skew = found.skew if found.teams[1] is None else -found.skew
            moments = (found.se, found.df, skew, found.g_eff, round(1 - level, 12))
            ends[:, at] = np.ravel(guarded_interval(cells.scores[at], *moments))
            known[:, at] = found.se[0], found.df[0]
    return bounded_intervals(cells.teams, cells.scores, (ends[0], ends[1]), (known[0], known[1]), bounds)


def factor_variances(cells: Cells) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variances of the mean difference of every pair over two crossed factors.

    Parameters
    ----------
    cells
        The measured cells; pairs stand in the order of their teams.

    Returns
    -------
    first, second, noise
        From the means of the first and of the second factor, both of which hold the noise of the cells, and
        that noise (pairs,). With missing cells: from leaving out a row, a column, a cell.

    Examples
    --------
    >>> from neuroarena.statistics.cells import cells_of_arrays
    >>> cells = cells_of_arrays({"a": np.array([[0.0, 1.0], [2.0, 5.0]]), "b": np.zeros((2, 2))}, ("tasks", "people"))
    >>> [variance.tolist() for variance in factor_variances(cells)]
    [[2.25], [1.0], [0.25]]
    """
    if not cells.complete:
        return _jackknife_variances(cells.left_out)
    values, n_first, n_second = cells.values, len(cells.counts[0]), len(cells.counts[1])
    mean = values.mean(axis=0)
    rows = sum_by_level(values, cells.first) / n_second - mean
    columns = sum_by_level(values, cells.second) / n_first - mean
    residuals = values - rows[cells.first] - columns[cells.second] - mean
    return (
        pair_squares(rows) / (n_first * (n_first - 1)),
        pair_squares(columns) / (n_second * (n_second - 1)),
        pair_squares(residuals) / (n_first * n_second * (n_first - 1) * (n_second - 1)),
    )


def _jackknife_variances(left_out: CellsLeftOut) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the variances of every pair from leaving out a row, a column, a cell."""
    first, second = (
        difference_moments(scores, left_out.mean)[0] ** 2 for scores in (left_out.rows, left_out.columns)
    )
    n_cells = len(left_out.cells)
    return first, second, pair_squares(left_out.cells - left_out.mean) * (n_cells - 1) / n_cells


def _one_factor(cells: Cells, random: int) -> Moments:
    """Return the jackknife over the factor that has enough levels; the other one is fixed."""
    scores = (cells.left_out.rows, cells.left_out.columns)[random]
    n_random, n_fixed = len(scores), len(cells.counts[1 - random])
    moments = jackknife(
        LeftOut(
            cells.teams,
            cells.scores,
            scores
            + (cells.scores - cells.left_out.mean),  # pseudo-values average to a little less than their score
            cells.weights[random],
            noun=cells.nouns[random],
            scale=cells.scale,
        )
    )
    return rescope(
        moments, f"random: {n_random} {cells.nouns[random]}; for these {n_fixed} {cells.nouns[1 - random]}"
    )


def _no_factor(cells: Cells) -> Moments:
    """Return moments that make no verdict: both factors are too small to be sampled from anything."""
    sizes = [len(count) for count in cells.counts]
    scope = f"for these {sizes[0]} {cells.nouns[0]} and {sizes[1]} {cells.nouns[1]}"
    return make_moments(
        cells.teams, cells.scores, cells.scale, scope, se=np.nan, df=np.nan, n_levels=max(sizes)
    )
