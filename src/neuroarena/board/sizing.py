"""What a test set can resolve, and how many units would resolve more: what ``neuroarena size`` prints."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics import (
    Draws,
    half_width,
    meets_resolution,
    quantile_at,
    required_growth,
    required_units,
    units_for_better,
    units_for_equivalent,
)
from neuroarena.statistics.guarded import LEAST_DF


@dataclass(frozen=True)
class Resolution:
    """How finely a test set of some size resolves scores.

    Attributes
    ----------
    sigma : float or None
        Deviation of a unit score. Of a board: what the half width of its intervals, the median over the teams, says
        of a single unit, so that clusters and combiners are accounted for; more units then means more of the
        same kind, clusters growing in proportion. From draws alone: the bootstrap standard error times sqrt(n_units).
    n_units : int or None
        Units now.
    half_width : float or None
        Of the 95 % interval of one score, with the units there are now.
    nu : float or None
        The half width aimed at.
    meets : bool or None
        Whether the half width is at most nu.
    required_units : int or None
        Units needed for nu.
    smallest_difference : float or None
        Half width of the interval of a difference between two teams: below it, two teams are not told
        apart. From draws it is the median over pairs, paired; without them sqrt(2) times the half width,
        which pairing makes smaller.
    paired : bool
        Whether `smallest_difference` was measured on pairs of teams.
    difference_sigma : float or None
        Deviation of the difference of two teams on one level: the standard error times sqrt(n_levels), the median
        over the pairs.
    n_levels, n_teams : int or None
        Independent levels and teams there are now.
    levels_for_better, levels_for_equivalent : int or None
        Levels with which a true difference of nu is called "better", and equal teams are called "equivalent", 8 times
        in 10.
    df : float or None
        Degrees of freedom of a score's interval of t, the median over the teams; None where intervals are percentiles
        or normal, and half widths 1.96 deviations over sqrt(n_units).
    """

    sigma: float | None
    n_units: int | None
    half_width: float | None
    nu: float | None
    meets: bool | None
    required_units: int | None
    smallest_difference: float | None
    paired: bool = False
    difference_sigma: float | None = None
    n_levels: int | None = None
    n_teams: int | None = None
    levels_for_better: int | None = None
    levels_for_equivalent: int | None = None
    df: float | None = None

    def width_at(self, n_units: float) -> float:
        """Return the half width of a score with so many units, as the intervals of this board are made.

        Raises
        ------
        InputError
            When the deviation or the number of units now is not known.
        """
        if self.sigma is None or self.n_units is None:
            raise InputError("The deviation of a unit score is not known; there is no half width.")
        if self.df is None:
            return half_width(self.sigma, n_units)
        return half_width(self.sigma, n_units, quantile_at(self.df, n_units / self.n_units))

    def to_dict(self) -> dict[str, Any]:
        """Return the fields as plain data."""
        return asdict(self)


def size(sigma: float | None, nu: float | None, n_units: int | None = None) -> Resolution:
    """Compute what `n_units` resolve and how many units `nu` needs, from a known deviation.

    Parameters
    ----------
    sigma
        Standard deviation of a unit score, in units of the score; None or 0 when it is unknown.
    nu
        The half width aimed at; None when none is stated.
    n_units
        Units now; None when there are none yet.

    Raises
    ------
    InputError
        When a number is not positive and finite.

    Examples
    --------
    >>> size(0.2, 0.0196, 100).required_units
    400
    """
    if nu is not None and not (math.isfinite(nu) and nu > 0):
        raise InputError(f"nu must be a positive finite number; got {nu}.")
    if not sigma:
        return Resolution(None, n_units, None, nu, None, None, None)
    width = None if n_units is None else half_width(sigma, n_units)
    return Resolution(
        sigma=sigma,
        n_units=n_units,
        half_width=width,
        nu=nu,
        meets=None if nu is None or n_units is None else meets_resolution(sigma, n_units, nu),
        required_units=None if nu is None else required_units(sigma, nu),
        smallest_difference=None if width is None else math.sqrt(2) * width,
    )


def resolution(
    draws: Draws, nu: float | None, pairs: pd.DataFrame | None = None, teams: Sequence[str] | None = None
) -> Resolution:
    """Measure the resolution of a test set from paired draws.

    Parameters
    ----------
    draws
        Of the teams on it.
    nu
        The half width aimed at.
    pairs
        A table of `compare`, from which the smallest difference is taken.
    teams
        Whose deviation counts; by default all. A guessing floor varies less, or more, than decoders do.
    """
    if draws.n_units < 2:
        return Resolution(None, draws.n_units, None, nu, None, None, None)
    errors, wanted = draws.sigma().to_numpy(), set(teams or draws.teams)
    chosen = errors[[team in wanted for team in draws.teams]]
    sigma = float(np.median(chosen)) * math.sqrt(draws.n_units)
    found = size(sigma, nu, draws.n_units)
    if pairs is None or pairs.empty or found.half_width is None:
        return found
    paired = float(np.median((pairs["ci95_high"] - pairs["ci95_low"]).to_numpy())) / 2
    return Resolution(**{**found.to_dict(), "smallest_difference": paired, "paired": True})


def resolve_scores(found: Resolution, widths: np.ndarray, df: np.ndarray) -> Resolution:
    """Put the intervals that a board shows in place of those of the draws, which may take all units as independent.

    Parameters
    ----------
    found
        The resolution measured from draws.
    widths
        Half widths of the teams' own intervals; NaN below six levels, where no half width is known.
    df
        Their degrees of freedom.
    """
    if found.n_units is None or found.sigma is None or not len(widths):
        return found
    if np.isnan(widths).all():
        return replace(found, half_width=None, meets=None)
    return _resize(replace(found, df=float(np.nanmedian(df))), float(np.nanmedian(widths)), found.nu)


def resize(found: Resolution, sigma: float | None, nu: float | None, n_units: int | None) -> Resolution:
    """Return a resolution for another deviation, aim or number of units; the levels grow with the units.

    Parameters
    ----------
    found
        As measured on a board.
    sigma, nu, n_units
        What to put in place; None keeps what was measured.
    """
    if found.df is None or found.sigma is None or found.n_units is None:
        return size(sigma or found.sigma, found.nu if nu is None else nu, n_units or found.n_units)
    growth = 1.0 if n_units is None else n_units / found.n_units
    grown = replace(
        found,
        sigma=sigma or found.sigma,
        n_units=n_units or found.n_units,
        df=max((found.df + 1) * growth - 1, LEAST_DF),
        smallest_difference=None,
        paired=False,
    )
    width = grown.width_at(grown.n_units or 1)
    return _resize(
        replace(grown, smallest_difference=math.sqrt(2) * width), width, found.nu if nu is None else nu
    )


def _resize(found: Resolution, width: float, nu: float | None) -> Resolution:
    """Put a half width and an aim into a resolution whose degrees of freedom are known."""
    if found.n_units is None or found.df is None:
        return found
    if nu is not None and not (math.isfinite(nu) and nu > 0):
        raise InputError(f"nu must be a positive finite number; got {nu}.")
    needed = required_growth(width, found.df, nu, found.n_units) if nu is not None and width > 0 else None
    return replace(
        found,
        sigma=width * math.sqrt(found.n_units) / quantile_at(found.df, 1) or None,
        half_width=width or None,
        nu=nu,
        required_units=needed,
        meets=None if needed is None else needed <= found.n_units,
    )


def resolve_verdicts(found: Resolution, rows: pd.DataFrame, teams: Sequence[str]) -> Resolution:
    """Add what a verdict needs, measured on the pairs of these teams.

    Parameters
    ----------
    found
        The resolution of single scores.
    rows
        Verdicts of all pairs.
    teams
        Whose pairs count; all pairs where these teams have none.
    """
    # Column by column: choosing rows of a table costs a millisecond, for every ranking.
    se = rows["se"].to_numpy()
    varies = se > 0
    chosen = set(teams)
    own = varies.copy()
    for side in ("a", "c"):
        own &= rows[side].isin(chosen).to_numpy(dtype=bool)
    own = own if own.any() else varies
    if not own.any():
        return replace(found, smallest_difference=None, paired=False)
    n_levels = int(rows["n_levels"].to_numpy()[own][0])
    sigma = float(np.median(se[own])) * math.sqrt(n_levels)
    widths = (rows["judged_high"].to_numpy() - rows["judged_low"].to_numpy())[own]
    known = widths[np.isfinite(widths)]
    n_teams = round((1 + math.sqrt(1 + 8 * len(rows))) / 2)
    return replace(
        found,
        smallest_difference=float(np.median(known)) / 2 if len(known) else None,
        paired=bool(len(known)),
        n_teams=n_teams,
        **verdict_needs(sigma, found.nu, n_teams),
        n_levels=n_levels,
    )


def verdict_needs(sigma: float, nu: float | None, n_teams: int) -> dict[str, Any]:
    """Return how many levels a verdict on a difference of nu needs, as fields of a `Resolution`.

    Parameters
    ----------
    sigma
        Deviation of the difference of two teams on one level.
    nu
        The smallest difference that matters; None when none is stated.
    n_teams
        Teams on the board: all their pairs are counted.

    Examples
    --------
    >>> verdict_needs(1.0, 0.5, 10)["levels_for_better"]
    75
    """
    needs: dict[str, Any] = {"difference_sigma": sigma}
    for name, units_for in (("better", units_for_better), ("equivalent", units_for_equivalent)):
        try:
            needs[f"levels_for_{name}"] = None if not nu else units_for(nu, sigma, n_teams)
        except InputError:  # more than ten million
            needs[f"levels_for_{name}"] = None
    return needs


def size_text(found: Resolution, metric: str = "") -> list[str]:
    """Describe a resolution in sentences.

    Examples
    --------
    >>> size_text(size(0.2, 0.0196, 100))[0]
    'Deviation of a unit score: 0.2.'
    """
    of = f" of {metric}" if metric else ""
    if found.sigma is None and found.difference_sigma is not None:
        return _verdict_text(found)
    if found.sigma is None:
        return ["The deviation of a unit score cannot be estimated from fewer than two units that differ."]
    lines = [f"Deviation of a unit score{of}: {found.sigma:.4g}."]
    if found.n_units is not None and found.half_width is not None:
        lines.append(
            f"With the {found.n_units} units there are now, a score is known to "
            f"± {found.half_width:.4g} (95 %)."
        )
    if found.smallest_difference is not None:
        how = "measured on pairs of teams" if found.paired else "without pairing; pairing makes it smaller"
        lines.append(
            f"Two teams closer than about {found.smallest_difference:.4g} are not told apart ({how})."
        )
    if found.nu is not None:
        verdict = {True: " They are there.", False: " There are fewer.", None: ""}[found.meets]
        lines.append(f"A half width of {found.nu:.4g} needs {found.required_units} units.{verdict}")
    if found.difference_sigma is not None:
        lines += _verdict_text(found)
    return lines


def _verdict_text(found: Resolution) -> list[str]:
    now = "" if found.n_levels is None else f" (there are {found.n_levels})"
    lines = [
        f"Deviation of the difference of two teams on one independent level: {found.difference_sigma:.4g}."
    ]
    needs = (
        (found.levels_for_better, f"To call a true difference of {found.nu} better"),
        (found.levels_for_equivalent, f"To call equal teams equivalent within {found.nu}"),
    )
    lines += [
        f"{words} 8 times in 10, {found.n_teams} teams need {number} independent levels{now}."
        for number, words in needs
        if number is not None
    ]
    return lines
