"""A median over neuroids, with images and neuroids both sampled: draws of each alone and of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.statistics.cells import Cells, cells_of_arrays
from neuroarena.statistics.crossed import ENOUGH_IMAGES_PER_FEATURE, few_images_clause
from neuroarena.statistics.guarded import guarded_interval
from neuroarena.statistics.jackknife import bounded_intervals
from neuroarena.statistics.left_out import MINIMUM_LEVELS, check_finite
from neuroarena.statistics.level_draws import (
    LevelDraws,
    draw_counts,
    draw_variances,
    moments_of_draws,
)
from neuroarena.statistics.medians import weighted_medians
from neuroarena.statistics.moments import Moments, make_moments, order_teams, rescope, satterthwaite
from neuroarena.statistics.pseudovalues import Transform, weighted_correlations
from neuroarena.statistics.ranks import TieBreak

N_DRAWS = 1_000
# 2 million correlations of a block of draws are 16 MB, of which a handful are held at a time.
_BLOCK_NUMBERS = 1 << 21


@dataclass(frozen=True, eq=False)
class CrossedDraws:
    """Hold the scores of every team in draws of one factor, of the other, and of both.

    Attributes
    ----------
    teams
        Team names, in the order of the arrays.
    point
        Scores on everything, higher is better (teams,).
    first, second, both
        Scores in the draws (draws, teams).
    sizes
        Number of levels of the two factors.
    nouns
        What they are, in the plural.
    images_per_feature
        Levels of the first factor for each feature that a team's predictions were fitted with (teams,); None where
        nothing was fitted.

    Raises
    ------
    InputError
        When a number is not finite; team and draw are named.
    """

    teams: tuple[Any, ...]
    point: np.ndarray
    first: np.ndarray
    second: np.ndarray
    both: np.ndarray
    sizes: tuple[int, int]
    nouns: tuple[str, str] = ("images", "neuroids")
    images_per_feature: np.ndarray | None = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        check_finite(np.asarray(self.point)[None, :], self.teams, ["the score"])
        for name, scores in (("first", self.first), ("second", self.second), ("both", self.both)):
            rows = [f"the score in draw {at} ({name})" for at in range(len(scores))]
            check_finite(scores, self.teams, rows)


def draw_median_correlations(
    predicted: Mapping[Any, np.ndarray],
    observed: np.ndarray,
    transform: Transform | None = None,
    n_draws: int = N_DRAWS,
    rng: np.random.Generator | None = None,
) -> CrossedDraws:
    """Draw images, neuroids and both, and take the median over neuroids of their correlations.

    Parameters
    ----------
    predicted
        Team -> held-out predictions (images, neuroids).
    observed
        Responses (images, neuroids).
    transform
        From correlations to scores, element by element; None keeps them.
    n_draws
        Number of draws, the same for every team.
    rng
        Draws the levels; `numpy.random.default_rng(0)` unless given.

    Raises
    ------
    InputError
        When shapes disagree, or a correlation is not defined in a draw.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> observed = rng.normal(size=(20, 7))
    >>> predicted = {"a": observed + rng.normal(size=(20, 7)), "b": rng.normal(size=(20, 7))}
    >>> draws = draw_median_correlations(predicted, observed, n_draws=50)
    >>> draws.both.shape, draws.sizes
    ((50, 2), (20, 7))
    """
    rng = np.random.default_rng(0) if rng is None else rng
    n_images, n_neuroids = np.shape(observed)
    images, neuroids = draw_counts(n_images, n_draws, rng), draw_counts(n_neuroids, n_draws, rng)
    found: dict[str, list[np.ndarray]] = {"point": [], "first": [], "second": [], "both": []}
    rows = max(1, _BLOCK_NUMBERS // n_neuroids)
    for values in predicted.values():
        all_images = weighted_correlations(values, observed, np.ones((1, n_images)))
        point = all_images if transform is None else transform(all_images)
        first, both = np.empty(n_draws), np.empty(n_draws)
        for start in range(0, n_draws, rows):
            part = slice(start, start + rows)
            drawn = weighted_correlations(values, observed, images[part])
            scores = drawn if transform is None else transform(drawn)
            first[part], both[part] = np.median(scores, axis=1), weighted_medians(scores, neuroids[part])
        found["point"].append(np.median(point, axis=1))
        found["first"].append(first)
        found["second"].append(weighted_medians(point, neuroids))
        found["both"].append(both)
    stacked = {name: np.column_stack(columns) for name, columns in found.items()}
    return CrossedDraws(
        tuple(predicted), stacked["point"][0], stacked["first"], stacked["second"], stacked["both"],
        (n_images, n_neuroids),
    )  # fmt: skip


def moments_of_crossed_draws(draws: CrossedDraws, tie_break: TieBreak = None) -> Moments:
    """Return the moments of every pair of teams from crossed draws; no skew term.

    Drawing both factors counts the noise of the cells three times, each alone counts it once:
    V = 2 (V_first + V_second) - V_both counts it once, and is kept between the larger single variance and
    V_both. Where either team was fitted on fewer than 5 images per feature, V = V_first + V_second, because draws of
    images do not show how the fit itself varies. A factor with fewer than 6 levels is fixed and named in the scope.

    Parameters
    ----------
    draws
        From `draw_median_correlations`, or made by code that knows how the score is computed.
    tie_break
        As in `jackknife`.

    Raises
    ------
    InputError
        When the tie-break lacks a team.
    """
    if min(draws.sizes) < MINIMUM_LEVELS:
        return _larger_factor(draws, tie_break)
    scale = np.abs(np.vstack([draws.point, draws.first, draws.second, draws.both])).max(axis=0)
    order = order_teams(draws.teams, draws.point, scale, tie_break)
    first, second, both = (
        draw_variances(scores[:, order]) for scores in (draws.first, draws.second, draws.both)
    )
    larger = np.maximum(first, second)
    few = _few_images(draws, order)
    variance = np.maximum(
        np.where(few, first + second, np.minimum(2 * (first + second) - both, both)), larger
    )
    df = satterthwaite(variance, [(first, draws.sizes[0] - 1.0), (second, draws.sizes[1] - 1.0)])
    scope = f"random: {draws.sizes[0]} {draws.nouns[0]} x {draws.sizes[1]} {draws.nouns[1]}"
    moments = make_moments(
        [draws.teams[at] for at in order],
        draws.point[order],
        scale[order],
        scope,
        se=np.sqrt(variance),
        df=df,
        n_levels=min(draws.sizes),
    )
    return rescope(
        moments, np.where(few, f"{scope}; {few_images_clause(draws.nouns[0])}", scope).astype(object)
    )


def _few_images(draws: CrossedDraws, order: np.ndarray) -> np.ndarray:
    """Return for each pair whether either team was fitted on too few images (pairs,)."""
    above, below = np.triu_indices(len(order), 1)
    if draws.images_per_feature is None:
        return np.zeros(len(above), dtype=bool)
    few = np.asarray(draws.images_per_feature)[order] < ENOUGH_IMAGES_PER_FEATURE
    found: np.ndarray = few[above] | few[below]
    return found


def crossed_draw_intervals(
    draws: CrossedDraws, level: float = 0.95, bounds: tuple[float, float] = (-np.inf, np.inf)
) -> pd.DataFrame:
    """Return the interval of each team's own score from crossed draws.

    A score is the difference from a team that has 0 in every draw.

    Parameters
    ----------
    draws
        As in `moments_of_crossed_draws`.
    level, bounds
        As in `score_intervals`.

    Returns
    -------
    pandas.DataFrame
        As `score_intervals` returns it.
    """
    ends, known = np.full((2, len(draws.teams)), np.nan), np.full((2, len(draws.teams)), np.nan)
    for at, team in enumerate(draws.teams):
        first, second, both = (
            np.column_stack([scores[:, at], np.zeros(len(scores))])
            for scores in (draws.first, draws.second, draws.both)
        )
        point = np.array([draws.point[at], 0.0])
        images = draws.images_per_feature
        against = CrossedDraws(
            (team, None), point, first, second, both, draws.sizes, draws.nouns,
            None if images is None else np.array([images[at], np.inf]),
        )  # fmt: skip
        found = moments_of_crossed_draws(against)
        if found.n_levels[0] >= MINIMUM_LEVELS:
            moments = (found.se, found.df, 0.0, found.g_eff, round(1 - level, 12))
            ends[:, at] = np.ravel(guarded_interval(draws.point[at], *moments))
            known[:, at] = found.se[0], found.df[0]
    return bounded_intervals(draws.teams, draws.point, (ends[0], ends[1]), (known[0], known[1]), bounds)


def draw_crossed_medians(
    cells: Mapping[Any, np.ndarray],
    combiner: Callable[[np.ndarray, Any], np.ndarray],
    points: Mapping[Any, float],
    n_draws: int = N_DRAWS,
    rng: np.random.Generator | None = None,
    nouns: tuple[str, str] = ("images", "neuroids"),
) -> CrossedDraws:
    """Draw images, neuroids and both, and take medians over neuroids of the mean over images.

    Parameters
    ----------
    cells
        Team -> what each image adds to the score of each neuroid (images, neuroids): pseudo-values.
    combiner
        ``(medians (draws,), team) -> scores``, higher is better.
    points
        Team -> its score.
    n_draws, rng
        Number of draws, and what draws; `numpy.random.default_rng(0)` unless given.
    nouns
        What the two factors are, in the plural.

    Raises
    ------
    InputError
        When shapes differ between teams, or a number is not finite.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> cells = {team: rng.normal(level, 1, (30, 12)) for team, level in {"a": 1.0, "b": 0.0}.items()}
    >>> draws = draw_crossed_medians(cells, lambda medians, team: medians, {"a": 1.0, "b": 0.0}, n_draws=200)
    >>> draws.both.shape, moments_of_crossed_draws(draws).teams
    ((200, 2), ('a', 'b'))
    """
    checked = cells_of_arrays(cells, nouns, points)

    def over(values: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        return np.median(values, axis=1) if counts is None else weighted_medians(values, counts)

    return _draw_cells(checked, over, combiner, n_draws, rng)


def draw_crossed_means(
    cells: Cells, n_draws: int = N_DRAWS, rng: np.random.Generator | None = None
) -> CrossedDraws:
    """Draw the levels of one factor, of the other and of both, and take means: for shares of ranks.

    Verdicts on means come from `crossed`, which draws nothing.

    Parameters
    ----------
    cells
        Complete cells of two factors.
    n_draws, rng
        As in `draw_crossed_medians`.

    Examples
    --------
    >>> cells = cells_of_arrays({"a": np.array([[0.0, 1.0], [2.0, 5.0]])}, ("images", "subjects"))
    >>> np.unique(draw_crossed_means(cells, n_draws=50).first).tolist()
    [0.5, 2.0, 3.5]
    """

    def over(values: np.ndarray, counts: np.ndarray | None) -> np.ndarray:
        if counts is None:
            return np.asarray(values.mean(axis=1))
        return np.asarray((values * counts).sum(axis=1) / counts.sum(axis=1))

    return _draw_cells(cells, over, lambda means, _: means, n_draws, rng)


def _draw_cells(
    cells: Cells,
    over: Callable[[np.ndarray, np.ndarray | None], np.ndarray],
    combiner: Callable[[np.ndarray, Any], np.ndarray],
    n_draws: int,
    rng: np.random.Generator | None,
) -> CrossedDraws:
    """Draw both factors of complete cells: means over the first, then `over` the second, as often as each occurs."""
    n_first, n_second = (len(count) for count in cells.counts)
    rng = np.random.default_rng(0) if rng is None else rng
    rows = draw_counts(n_first, n_draws, rng) / n_first
    columns = draw_counts(n_second, n_draws, rng)
    drawn: dict[str, list[np.ndarray]] = {"first": [], "second": [], "both": []}
    for at, team in enumerate(cells.teams):
        values = cells.values[:, at].reshape(n_first, n_second)
        means = rows @ values
        drawn["first"].append(combiner(over(means, None), team))
        drawn["second"].append(combiner(over(values.mean(axis=0)[None, :], columns), team))
        drawn["both"].append(combiner(over(means, columns), team))
    first, second, both = (np.column_stack(drawn[name]) for name in ("first", "second", "both"))
    return CrossedDraws(cells.teams, cells.scores, first, second, both, (n_first, n_second), cells.nouns)


def _larger_factor(draws: CrossedDraws, tie_break: TieBreak) -> Moments:
    """Return the moments of drawing the larger factor alone; the other one is fixed."""
    random = int(draws.sizes[1] > draws.sizes[0])
    scores = (draws.first, draws.second)[random]
    size, noun = draws.sizes[random], draws.nouns[random]
    moments = moments_of_draws(LevelDraws(draws.teams, draws.point, scores, np.ones(size), noun), tie_break)
    return rescope(
        moments, f"random: {size} {noun}; for these {draws.sizes[1 - random]} {draws.nouns[1 - random]}"
    )
