"""The seed's rule: percentile bootstrap, Holm over chosen pairs, tie groups, rank shares; exact to the last digit.

It is what the 2026 challenge announced. Boards conclude from it only where their rules say so
(``inference = "seed"``), and store its numbers as ``seed_*`` in any case.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.rules import Rules
from neuroarena.board.selection import Field
from neuroarena.evaluation.intervals import derive_seed
from neuroarena.scoring import COMBINERS, Manifest
from neuroarena.statistics import Draws, bootstrap, compare, rank_probabilities, tie_groups
from neuroarena.statistics.bootstrap import BLOCK_TEAMS, find_percentiles
from neuroarena.statistics.verdicts import BETTER, END_COLUMNS, UNDECIDED

# Percentile intervals of 30 units cover about 93 %, of 12 about 91 %; of 5 units, less than 85 %.
FEW_UNITS, VERY_FEW_UNITS, FEW_CLUSTERS = 30, 10, 10


@dataclass(frozen=True, eq=False)
class SeedRule:
    """What the seed's rule says about the teams of one ranking.

    Attributes
    ----------
    draws : Draws
        Oriented scores of every draw.
    pairs : DataFrame
        The table of :func:`neuroarena.statistics.compare` for the pairs of the rules.
    probabilities : DataFrame
        One row per team, best first, one column per rank.
    columns : dict of str to array
        By team, best first: `ci95_low` and `ci95_high` (oriented), what :func:`_against` returns for leader and next,
        `tie_group`, `p_top1`, `p_top3`, `p_top5`, `rank_low`, `rank_high`. Unknown where there is only one unit.
        How far teams are apart is measured only where the rules conclude from it.
    """

    draws: Draws
    pairs: pd.DataFrame
    probabilities: pd.DataFrame
    columns: dict[str, Any]


def apply_seed_rule(
    draws: Draws, teams: list[str], roles: Mapping[str, str], rules: Rules, breaks: Mapping[str, float] | None
) -> SeedRule:
    """Compare and group the teams, best first, by draws of :func:`draw_units`."""
    probabilities = rank_probabilities(draws).loc[teams]
    draws = _team_by_team(draws)
    pairs = _pairs(draws, teams, roles, rules)
    low, high = _interval(draws, [draws.position(team) for team in teams])
    measured = draws if rules.inference == "seed" else None
    columns = {
        "ci95_low": low,
        "ci95_high": high,
        **_against(measured, teams, pairs, [(teams[0], team) for team in teams[1:]], "leader"),
        **_against(measured, teams, pairs, list(pairwise(teams)), "next"),
        "tie_group": tie_groups(draws, tie_break=breaks).loc[teams].to_numpy(),
        **stability(probabilities, draws.n_draws),
    }
    if draws.n_units == 1:
        # One unit drawn again is always itself: an interval would claim certainty where nothing is known.
        points = ("delta_leader", "delta_next")
        columns |= {
            name: pd.array([pd.NA] * len(teams), dtype="boolean")
            if "significant" in name
            else np.full(len(teams), np.nan)
            for name in columns
            if name not in points
        }
        pairs = pairs.iloc[:0]
    return SeedRule(draws, pairs, probabilities, columns)


def draw_units(field: Field, manifest: Manifest, rules: Rules, about: Mapping[str, str]) -> Draws:
    """Draw units, or clusters first where the manifest names them and one owns several units.

    Raises
    ------
    InputError
        When the score is not defined in some draw.
    """
    judged = field.judged
    clusters = judged[0].clusters
    owns_several = len(set(clusters)) < len(clusters)
    labels = list(clusters) if rules.cluster and manifest.cluster is not None and owns_several else None
    seed = seed_of(rules, about)
    if manifest.combiner == "mean" and field.combine is None:
        scores: dict[str, Any] = {one.entry.team: manifest.sign * one.columns["score"] for one in judged}
        return bootstrap(scores, rules.n_draws, labels, rules.method, seed)
    combiner = COMBINERS.get(manifest.combiner)
    combine = field.combine or combiner.apply

    def oriented(summaries: dict[str, np.ndarray]) -> np.ndarray:
        return manifest.sign * np.asarray(combine(summaries))

    columns = {one.entry.team: one.columns for one in judged}
    over = combiner.over if field.combine is None else "sums"
    return bootstrap(columns, rules.n_draws, labels, rules.method, seed, combiner=oriented, over=over)


def seed_of(rules: Rules, about: Mapping[str, str]) -> int:
    """Return the seed of a ranking's draws; tracks that shared theirs would make a transfer score too sure."""
    return derive_seed(rules.seed, about["family"], about["task"], about["split"])


def seed_rows(found: SeedRule) -> pd.DataFrame:
    """Return the seed's pairs in the form of verdicts, for boards that conclude from them: "better" or "undecided"."""
    pairs = found.pairs
    sure = pairs["significant_after_holm"].to_numpy(dtype=bool)
    rows = {
        "a": pairs["team_a"].to_numpy(dtype=object),
        "c": pairs["team_c"].to_numpy(dtype=object),
        "delta": pairs["delta_point"].to_numpy(),
        "n_levels": found.draws.recipe.get("n_clusters") or found.draws.n_units,
        "ci95_low": pairs["ci95_low"].to_numpy(),
        "ci95_high": pairs["ci95_high"].to_numpy(),
        "p": pairs["p_boot"].to_numpy(),
        "p_holm": pairs["p_holm"].to_numpy(),
        "judged_low": pairs["ci95_low"].to_numpy(),
        "judged_high": pairs["ci95_high"].to_numpy(),
        "verdict": np.where(sure, BETTER, UNDECIDED).astype(object),
        "margin": "",
        "scope": "the rule of the challenge",
    }
    return pd.DataFrame(rows).reindex(columns=list(END_COLUMNS))


def seed_cautions(draws: Draws, manifest: Manifest) -> tuple[str, ...]:
    """Return what a reader should know about percentile intervals of this few units or clusters, in sentences."""
    said = []
    n_clusters = draws.recipe.get("n_clusters")
    if draws.n_units == 1:
        said.append("There is only one unit: no interval and no comparison are possible.")
    elif draws.n_units < VERY_FEW_UNITS:
        said.append(
            f"{draws.n_units} units are very few: the intervals are much too narrow, and no difference here "
            "is proven."
        )
    elif draws.n_units < FEW_UNITS:
        said.append(f"{draws.n_units} units are fewer than {FEW_UNITS}: the intervals are somewhat narrow.")
    if n_clusters is not None and n_clusters < FEW_CLUSTERS:
        said.append(
            f"The units belong to {n_clusters} cluster{'s' if n_clusters > 1 else ''} ({manifest.cluster}), "
            f"fewer than {FEW_CLUSTERS}: what holds for these may not hold for others."
        )
    return tuple(said)


def stability(probabilities: pd.DataFrame, n_draws: int) -> dict[str, np.ndarray]:
    """Read P(top 1, 3, 5) and the rank interval off the table of rank probabilities.

    The numbers are those of :func:`neuroarena.statistics.rank_stability`, without ranking every draw a
    second time: with 1,000 teams that is the most expensive step.
    """
    counts = np.rint(probabilities.to_numpy() * n_draws).astype(np.int64)
    cumulated = counts.cumsum(axis=1)
    n_teams = counts.shape[1]
    columns: dict[str, np.ndarray] = {
        f"p_top{best}": cumulated[:, min(best, n_teams) - 1] / n_draws for best in (1, 3, 5)
    }
    for name, share in (("rank_low", 0.025), ("rank_high", 0.975)):
        position = share * (n_draws - 1)
        below, above = int(np.floor(position)), int(np.ceil(position))
        # The value at place k of the sorted ranks is the first rank that more than k draws do not exceed.
        first = 1 + (cumulated > below).argmax(axis=1)
        second = 1 + (cumulated > above).argmax(axis=1)
        columns[name] = first + (second - first) * (position - below)
    return columns


def _team_by_team(draws: Draws) -> Draws:
    """Keep each team's draws together in memory, because every later step goes team by team.

    With 1,000 teams and 10,000 draws each of four steps would otherwise transpose 80 MB by itself.
    """
    scores = np.asfortranarray(draws.scores)
    return Draws(draws.teams, scores, draws.point, draws.n_units, draws.recipe)


def _pairs(draws: Draws, teams: Sequence[str], roles: Mapping[str, str], rules: Rules) -> pd.DataFrame:
    if rules.pairs != "neighbours":
        leader = [(teams[0], team) for team in teams[1:]]
        chosen = (
            leader
            if rules.pairs == "leader"
            else [(above, below) for at, above in enumerate(teams) for below in teams[at + 1 :]]
        )
    else:
        # Two teams with a floor between them are neighbours where prizes are concerned.
        takers = [team for team in teams if roles[team] not in rules.no_prizes]
        chosen = list(dict.fromkeys([*pairwise(teams), *pairwise(takers)]))
    pairs = compare(draws, chosen, rules.alpha)
    if draws.n_units < VERY_FEW_UNITS:
        # Intervals of this few units are much too narrow: nothing here is called significant.
        pairs["significant_after_holm"] = False
    return pairs


def _interval(draws: Draws, place: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of `Draws.interval`, in blocks: three times as fast for a thousand teams."""
    by_team = draws.scores.T
    blocks = [
        find_percentiles(by_team[start : start + BLOCK_TEAMS].copy(), [2.5, 97.5])
        for start in range(0, len(draws.teams), BLOCK_TEAMS)
    ]
    low, high = np.hstack(blocks)[:, place]
    return low, high


def _against(
    draws: Draws | None, teams: list[str], pairs: pd.DataFrame, wanted: list[tuple[str, str]], name: str
) -> dict[str, Any]:
    """Return the columns of the comparison of each team with the leader (above it) or the next (below it).

    Without draws: p and significance only, where the rules' pairs hold them.
    """
    at = 1 if name == "leader" else 0
    values = np.full((3, len(teams)), np.nan)
    p_holm = np.full(len(teams), np.nan)
    significant = pd.array([pd.NA] * len(teams), dtype="boolean")
    if wanted:
        known = {pair: row for row, pair in enumerate(zip(pairs["team_a"], pairs["team_c"], strict=True))}
        held = [known.get(pair) for pair in wanted]
        if draws is not None:
            chosen = [row for row in held if row is not None]
            found = pairs
            if len(chosen) < len(wanted):
                found, chosen = compare(draws, wanted), [*range(len(wanted))]
            for number, column in enumerate(("delta_point", "ci95_low", "ci95_high")):
                values[number, at : at + len(wanted)] = found[column].to_numpy()[chosen]
        p, sure = (pairs[column].to_numpy() for column in ("p_holm", "significant_after_holm"))
        for offset, row in enumerate(held):
            if row is not None:
                p_holm[at + offset], significant[at + offset] = p[row], bool(sure[row])
    if name == "leader":
        values[:, 0] = [0.0, np.nan, np.nan]
    suffix = "_leader" if name == "leader" else ""
    said = {f"p_holm{suffix}": p_holm, f"significant{suffix}": significant}
    if draws is None:
        return said
    ends = dict(zip((f"delta_{name}", f"delta_{name}_low", f"delta_{name}_high"), values, strict=True))
    return {**ends, **said}
