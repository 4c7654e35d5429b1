"""Training seeds: how much a team's score varies when the same model is trained again."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.errors import InputError
from neuroarena.statistics.guarded import guarded_interval
from neuroarena.statistics.jackknife import bounded_intervals
from neuroarena.statistics.moments import Moments, satterthwaite

NOT_MEASURED = "training noise not measured"
SEEDS = "training seeds"


def seed_variances(scores: np.ndarray) -> tuple[float, float]:
    """Return the variance of a mean over seeds, and how much of it is noise of single cells.

    Parameters
    ----------
    scores
        One row per seed, one column per unit (seeds, units); at least two of each.

    Returns
    -------
    between, noise
        V_seeds from the means of the seeds, which holds the noise of the cells too, and V_cells.

    Raises
    ------
    InputError
        When the scores are not a finite matrix of at least two seeds and two units.

    Examples
    --------
    >>> seed_variances(np.array([[0.0, 1.0], [2.0, 5.0]]))
    (2.25, 0.25)
    """
    values = np.asarray(scores, dtype=np.float64)
    if values.ndim != 2 or min(values.shape) < 2 or not np.isfinite(values).all():
        raise InputError(
            "Training noise needs finite scores of at least two seeds on at least two units (seeds, units); "
            f"got shape {values.shape}."
        )
    n_seeds, n_units = values.shape
    mean, by_seed, by_unit = values.mean(), values.mean(axis=1), values.mean(axis=0)
    residuals = values - by_seed[:, None] - by_unit + mean
    between = ((by_seed - mean) ** 2).sum() / (n_seeds * (n_seeds - 1))
    noise = (residuals**2).sum() / (n_seeds * n_units * (n_seeds - 1) * (n_units - 1))
    return float(between), float(noise)


def add_seeds(moments: Moments, seeds: Mapping[Any, np.ndarray]) -> Moments:
    """Add the training noise of both teams to the variance of every pair.

    V = V_units + max(V_seeds - V_cells, 0) of both teams, with Satterthwaite's degrees of freedom; no skew
    term where there is training noise. The scores in `moments` are means over the seeds.

    Parameters
    ----------
    moments
        Of the scores averaged over seeds, from any method.
    seeds
        Team -> scores (seeds, units). A team that is missing or has one seed has no term, and the scope of its
        pairs says that its training noise was not measured.

    Raises
    ------
    InputError
        When a team is unknown, or its scores are not a finite matrix.

    Examples
    --------
    >>> from neuroarena.statistics import jackknife, leave_out
    >>> rng = np.random.default_rng(0)
    >>> trained = {team: rng.normal(size=(4, 1)) + rng.normal(size=(4, 12)) for team in "ab"}
    >>> moments = jackknife(leave_out({team: scores.mean(axis=0) for team, scores in trained.items()}))
    >>> bool(add_seeds(moments, trained).se[0] > moments.se[0]), add_seeds(moments, trained).scope[0]
    (True, 'random: 12 units; 4 and 4 training seeds')
    """
    unknown = [team for team in seeds if team not in moments.teams]
    if unknown:
        raise InputError(f'The training seeds name team "{unknown[0]}", which is not among the teams judged.')
    n_teams = len(moments.teams)
    between, noise, repeats = np.zeros(n_teams), np.zeros(n_teams), np.ones(n_teams, dtype=np.int64)
    for at, team in enumerate(moments.teams):
        if len(np.atleast_1d(seeds.get(team, ()))) > 1:
            between[at], noise[at] = seed_variances(seeds[team])
            repeats[at] = len(seeds[team])
    above, below = moments.above, moments.below
    freedom = np.maximum(repeats - 1.0, 1.0)  # a term of 0 has any number of degrees of freedom
    extra = np.maximum(between - noise, 0.0)
    variance = moments.se**2 + extra[above] + extra[below]
    df = satterthwaite(
        variance,
        [
            (moments.se**2, moments.df),
            (between[above], freedom[above]),
            (between[below], freedom[below]),
        ],
    )
    # Teams that are equal at every level are equal, however noisily they were trained.
    twins = (moments.se == 0) & (moments.delta == 0)
    changed = ((repeats[above] > 1) | (repeats[below] > 1)) & ~twins
    measured = (repeats[above] > 1) & (repeats[below] > 1)
    said = [
        f"{scope}; {repeats[a]} and {repeats[c]} {SEEDS}" if known else f"{scope}; {NOT_MEASURED}"
        for scope, a, c, known in zip(moments.scope, above, below, measured, strict=True)
    ]
    scope = np.empty(len(said), dtype=object)
    scope[:] = said
    return replace(
        moments,
        se=np.where(changed, np.sqrt(variance), moments.se),
        df=np.where(changed, df, moments.df),
        g_eff=np.where(changed, df + 1.0, moments.g_eff),
        skew=np.where(changed, 0.0, moments.skew),
        scope=scope,
    )


def join_scopes(scopes: Iterable[str]) -> str:
    """Return what the scopes of several pairs have in common, and how many training seeds their teams have.

    Parameters
    ----------
    scopes
        Of the pairs of one ranking, as `add_seeds` writes them; repeats do no harm.

    Examples
    --------
    >>> join_scopes(["random: 12 units; 3 and 3 training seeds", "random: 12 units; 3 and 5 training seeds"])
    'random: 12 units; 3 to 5 training seeds'
    >>> join_scopes(["random: 12 units; 3 and 3 training seeds", "random: 12 units; training noise not measured"])
    'random: 12 units; training noise not measured for some teams'
    """
    clauses = [scope.split("; ") for scope in dict.fromkeys(scopes)]
    if not clauses:
        return ""
    shared = [one for one in clauses[0] if all(one in others for others in clauses) and SEEDS not in one]
    counts = [
        int(word) for own in clauses for one in own if SEEDS in one for word in one.split() if word.isdigit()
    ]
    if any(NOT_MEASURED in own for own in clauses):
        return "; ".join(shared if not counts else [*shared, f"{NOT_MEASURED} for some teams"])
    low, high = min(counts, default=0), max(counts, default=0)
    said = [] if not counts else [f"{low} {SEEDS}" if low == high else f"{low} to {high} {SEEDS}"]
    return "; ".join([*shared, *said])


def add_seeds_to_intervals(
    intervals: pd.DataFrame,
    seeds: Mapping[Any, np.ndarray],
    level: float = 0.95,
    bounds: tuple[float, float] = (-np.inf, np.inf),
) -> pd.DataFrame:
    """Add the training noise of each team to the interval of its own score.

    V = V_units + max(V_seeds - V_cells, 0), with Satterthwaite's degrees of freedom and no skew term, as for pairs. No
    end moves inwards: the interval without training noise, which has a skew term, lies inside.

    Parameters
    ----------
    intervals
        From `score_intervals` or one of its likes, of the scores averaged over seeds.
    seeds
        As in `add_seeds`; a team without several seeds keeps its interval.
    level, bounds
        As in `score_intervals`.

    Raises
    ------
    InputError
        When the scores of a team are not a finite matrix.

    Examples
    --------
    >>> from neuroarena.statistics import leave_out, score_intervals
    >>> rng = np.random.default_rng(0)
    >>> trained = rng.normal(size=(4, 1)) + rng.normal(size=(4, 12))
    >>> alone = score_intervals(leave_out({"a": trained.mean(axis=0)}))
    >>> both = add_seeds_to_intervals(alone, {"a": trained})
    >>> bool(both.loc["a", "low"] < alone.loc["a", "low"] < alone.loc["a", "high"] < both.loc["a", "high"])
    True
    """
    found = intervals.copy()
    for team in found.index:
        if len(np.atleast_1d(seeds.get(team, ()))) < 2 or np.isnan(found.loc[team, "low"]):
            continue
        between, noise = seed_variances(seeds[team])
        units, freedom = np.array([found.loc[team, "se"] ** 2]), found.loc[team, "df"]
        variance = units + max(between - noise, 0.0)
        parts = [(units, freedom), (np.array([between]), len(seeds[team]) - 1.0)]
        se, df = np.sqrt(variance), satterthwaite(variance, parts)
        point = np.array([found.loc[team, "score"]])
        low, high = guarded_interval(point, se, df, 0.0, df + 1.0, round(1 - level, 12))
        ends = np.minimum(low, found.loc[team, "low"]), np.maximum(high, found.loc[team, "high"])
        found.loc[[team]] = bounded_intervals([team], point, ends, (se, df), bounds)
    return found
