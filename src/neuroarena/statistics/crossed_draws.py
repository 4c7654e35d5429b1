"""A median over neuroids, with images and neuroids both sampled: draws of each alone and of both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

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


def _larger_factor(draws: CrossedDraws, tie_break: TieBreak) -> Moments:
    """Return the moments of drawing the larger factor alone; the other one is fixed."""
    random = int(draws.sizes[1] > draws.sizes[0])
    scores = (draws.first, draws.second)[random]
    size, noun = draws.sizes[random], draws.nouns[random]
    moments = moments_of_draws(LevelDraws(draws.teams, draws.point, scores, np.ones(size), noun), tie_break)
    return rescope(
        moments, f"random: {size} {noun}; for these {draws.sizes[1 - random]} {draws.nouns[1 - random]}"
    )
