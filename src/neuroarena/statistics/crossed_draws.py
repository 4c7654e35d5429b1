"""A median over neuroids, with images and neuroids both sampled: draws of each alone and of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.statistics.cells import cells_of_arrays
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
    V_both. A factor with fewer than 6 levels is fixed and named in the scope.

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
    variance = np.maximum(np.minimum(2 * (first + second) - both, both), larger)
    df = satterthwaite(variance, [(first, draws.sizes[0] - 1.0), (second, draws.sizes[1] - 1.0)])
    return make_moments(
        [draws.teams[at] for at in order],
        draws.point[order],
        scale[order],
        f"random: {draws.sizes[0]} {draws.nouns[0]} x {draws.sizes[1]} {draws.nouns[1]}",
        se=np.sqrt(variance),
        df=df,
        n_levels=min(draws.sizes),
    )


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
    ends = np.full((2, len(draws.teams)), np.nan)
    for at, team in enumerate(draws.teams):
        first, second, both = (
            np.column_stack([scores[:, at], np.zeros(len(scores))])
            for scores in (draws.first, draws.second, draws.both)
        )
        point = np.array([draws.point[at], 0.0])
        against = CrossedDraws((team, None), point, first, second, both, draws.sizes, draws.nouns)
        found = moments_of_crossed_draws(against)
        if found.n_levels[0] >= MINIMUM_LEVELS:
            moments = (found.se, found.df, 0.0, found.g_eff, round(1 - level, 12))
            ends[:, at] = np.ravel(guarded_interval(draws.point[at], *moments))
    return bounded_intervals(draws.teams, draws.point, ends[0], ends[1], bounds)


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
    checked = cells_of_arrays(cells, nouns)
    n_images, n_neuroids = (len(count) for count in checked.counts)
    rng = np.random.default_rng(0) if rng is None else rng
    images = draw_counts(n_images, n_draws, rng) / n_images
    neuroids = draw_counts(n_neuroids, n_draws, rng)
    drawn: dict[str, list[np.ndarray]] = {"first": [], "second": [], "both": []}
    for team, own in cells.items():
        values = np.asarray(own, dtype=np.float64)
        means = images @ values
        drawn["first"].append(combiner(np.median(means, axis=1), team))
        drawn["second"].append(combiner(weighted_medians(values.mean(axis=0)[None, :], neuroids), team))
        drawn["both"].append(combiner(weighted_medians(means, neuroids), team))
    first, second, both = (np.column_stack(drawn[name]) for name in ("first", "second", "both"))
    point = np.array([points[team] for team in cells], dtype=np.float64)
    return CrossedDraws(tuple(cells), point, first, second, both, (n_images, n_neuroids), nouns)


def _larger_factor(draws: CrossedDraws, tie_break: TieBreak) -> Moments:
    """Return the moments of drawing the larger factor alone; the other one is fixed."""
    random = int(draws.sizes[1] > draws.sizes[0])
    scores = (draws.first, draws.second)[random]
    size, noun = draws.sizes[random], draws.nouns[random]
    moments = moments_of_draws(LevelDraws(draws.teams, draws.point, scores, np.ones(size), noun), tie_break)
    return rescope(
        moments, f"random: {size} {noun}; for these {draws.sizes[1 - random]} {draws.nouns[1 - random]}"
    )
