"""The table of a ranking: one row per team, every conclusion read off the verdicts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.inference import Breaks, Inference
from neuroarena.board.rules import Rules
from neuroarena.board.seed_rule import SeedRule, seed_rows, stability
from neuroarena.board.selection import Field
from neuroarena.scoring import METRICS, Manifest
from neuroarena.statistics import Draws, Moments, letters, rank_probabilities, rank_ranges, ranking
from neuroarena.statistics.letters import MOST_TEAMS
from neuroarena.statistics.ranks import RELATIVE_TOLERANCE
from neuroarena.statistics.verdicts import BETTER, NONE

CONCLUSIONS = (
    "ci95_low", "ci95_high", "tie_break",
    "delta_leader", "delta_leader_low", "delta_leader_high", "judged_leader_low", "judged_leader_high",
    "p_holm_leader", "significant_leader", "verdict_leader",
    "delta_next", "delta_next_low", "delta_next_high", "judged_next_low", "judged_next_high",
    "p_holm", "significant", "verdict_next", "letters",
    "p_top1", "p_top3", "p_top5", "rank_low", "rank_high",
)  # fmt: skip
SEED_COLUMNS = (
    "seed_ci95_low", "seed_ci95_high", "seed_p_holm_leader", "seed_significant_leader", "seed_p_holm",
    "seed_significant", "seed_tie_group", "seed_p_top1", "seed_p_top3", "seed_p_top5", "seed_rank_low",
    "seed_rank_high",
)  # fmt: skip
TABLE_COLUMNS = (
    "rank", "team", "role", "score", *CONCLUSIONS,
    "n_units", "n_levels", "n_entries", "simulated", "prize", "notes", *SEED_COLUMNS,
)  # fmt: skip
FLAGS = ("significant", "significant_leader", "simulated", "seed_significant", "seed_significant_leader")
WHOLE = ("rank", "seed_tie_group", "n_units", "n_levels", "n_entries", "prize")
WORDS = ("team", "role", "notes", "letters", "verdict_leader", "verdict_next")


@dataclass(frozen=True, eq=False)
class Conclusion:
    """What is concluded about the teams of a ranking, best first.

    Attributes
    ----------
    teams : list of str
    ranks : ndarray
        Equal teams share the smaller one.
    scores : ndarray
        Oriented: higher is better.
    rows : DataFrame
        One verdict per pair: see :func:`neuroarena.statistics.judge_ends`.
    probabilities : DataFrame
        Share of the draws in which each team (row) has each rank (column); empty where there are none.
    columns : dict of str to array
        `ci95_low` and `ci95_high` oriented, and the other conclusions of the table.
    """

    teams: list[str]
    ranks: np.ndarray
    scores: np.ndarray
    rows: pd.DataFrame
    probabilities: pd.DataFrame
    columns: dict[str, Any]


def conclude(
    inference: Inference, shares: Draws | None, manifest: Manifest, rules: Rules, breaks: Breaks
) -> Conclusion:
    """Read everything that a table shows off the verdicts; shares of ranks come from draws of whole levels."""
    moments = inference.moments
    teams, rows = [str(team) for team in moments.teams], inference.judge(manifest, rules)
    ranges = rank_ranges(rows, teams)
    known = inference.intervals.loc[teams]
    probabilities = pd.DataFrame()
    tops: dict[str, Any] = dict.fromkeys(("p_top1", "p_top3", "p_top5"), np.full(len(teams), np.nan))
    if shares is not None and inference.enough:
        probabilities = rank_probabilities(shares).loc[teams]
        tops = {name: stability(probabilities, shares.n_draws)[name] for name in tops}
    columns = {
        "ci95_low": known["low"].to_numpy(),
        "ci95_high": known["high"].to_numpy(),
        **_against(rows, leader_places(len(teams)), len(teams), "leader"),
        **_against(rows, neighbour_places(len(teams)), len(teams), "next"),
        "letters": _letters(rows, teams) if inference.enough else [None] * len(teams),
        **tops,
        "rank_low": ranges["rank_low"].to_numpy(),
        "rank_high": ranges["rank_high"].to_numpy(),
    }
    return Conclusion(teams, _ranks(moments, breaks), moments.scores, rows, probabilities, columns)


def conclude_by_seed(seed: SeedRule, breaks: Breaks) -> Conclusion:
    """Read everything that a table shows off the seed's rule."""
    order = ranking(seed.draws, breaks)
    teams = [str(team) for team in order["team"]]
    place = [seed.draws.position(team) for team in teams]
    columns = dict(seed.columns)
    groups = columns.pop("tie_group")
    columns["letters"] = [None if pd.isna(group) else group_letter(int(group)) for group in groups]
    for name, flag in (("leader", "significant_leader"), ("next", "significant")):
        columns[f"judged_{name}_low"] = columns[f"delta_{name}_low"]
        columns[f"judged_{name}_high"] = columns[f"delta_{name}_high"]
        columns[f"verdict_{name}"] = [
            None if pd.isna(sure) else BETTER if sure else "undecided" for sure in columns[flag]
        ]
    probabilities = seed.probabilities if seed.draws.n_units > 1 else pd.DataFrame()
    return Conclusion(
        teams, order["rank"].to_numpy(), seed.draws.point[place], seed_rows(seed), probabilities, columns
    )


def make_table(
    field: Field,
    found: Conclusion,
    seed: SeedRule | None,
    manifest: Manifest,
    rules: Rules,
    breaks: Breaks,
    n_levels: int,
) -> pd.DataFrame:
    """Make the table of a ranking; scores, tie-breaks and their intervals in the metrics' own directions."""
    teams, sign = found.teams, manifest.sign
    entries = {one.entry.team: one.entry for one in field.judged}
    roles = [entries[team].role for team in teams]
    break_sign = 1.0 if manifest.tie_break is None else METRICS.get(manifest.tie_break).sign
    columns = {
        "rank": found.ranks,
        "team": teams,
        "role": list(roles),
        "score": _orient(found.scores, sign),
        **found.columns,
        **_ends(found.columns, sign),
        "tie_break": [np.nan if breaks is None else break_sign * breaks[team] + 0.0 for team in teams],
        "n_units": len(field.judged[0].units),
        "n_levels": n_levels,
        "n_entries": [field.n_entries[team] for team in teams],
        "simulated": [entries[team].simulated for team in teams],
        "prize": _prize_ranks(found.ranks, roles, rules),
        "notes": ["; ".join(field.marks.get(team, ())) for team in teams],
    }
    if seed is not None:
        known = {**seed.columns, **_ends(seed.columns, sign)}
        columns |= {name: known[name.removeprefix("seed_")] for name in SEED_COLUMNS}
    else:
        for name in SEED_COLUMNS:
            unknown = pd.array([pd.NA] * len(teams), dtype="boolean")
            columns[name] = unknown if "significant" in name else np.full(len(teams), np.nan)
    return pd.DataFrame(columns)[list(TABLE_COLUMNS)]


def leader_places(n_teams: int) -> np.ndarray:
    """Return the rows of complete verdicts that compare the leader with each other team."""
    return np.arange(n_teams - 1)


def neighbour_places(n_teams: int) -> np.ndarray:
    """Return the rows of complete verdicts that compare each team with the next.

    Examples
    --------
    >>> neighbour_places(4).tolist()
    [0, 3, 5]
    """
    at = np.arange(n_teams - 1)
    places: np.ndarray = at * n_teams - at * (at + 1) // 2
    return places


def leave_leader_and_neighbours(rows: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of all pairs of at most 300 teams as they are, of more teams those of leader and neighbours.

    Parameters
    ----------
    rows : DataFrame
        One row per pair, in rank order; rows of some pairs only are returned as they are.
    """
    n_teams = round((1 + math.sqrt(1 + 8 * len(rows))) / 2)
    if n_teams <= MOST_TEAMS or n_teams * (n_teams - 1) // 2 != len(rows):
        return rows
    return rows.iloc[np.unique(np.concatenate([leader_places(n_teams), neighbour_places(n_teams)]))]


def group_letter(group: int) -> str:
    """Return the letter of a tie group of the seed's rule: A, B, ..., Z, AA, AB, ...

    Examples
    --------
    >>> group_letter(1), group_letter(27)
    ('A', 'AA')
    """
    number, found = group, ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        found = chr(ord("A") + rest) + found
    return found


def _letters(rows: pd.DataFrame, teams: Sequence[str]) -> list[str | None]:
    return [text or None for text in letters(rows, teams)]


def _ranks(moments: Moments, breaks: Breaks) -> np.ndarray:
    """Return the rank of each team: teams with equal scores and tie-breaks share the smaller one."""
    ranks = np.arange(1, len(moments.teams) + 1)
    equal = moments.delta[neighbour_places(len(moments.teams))] == 0
    for at, same in enumerate(equal, start=1):
        if same and breaks is not None:
            one, other = breaks[moments.teams[at - 1]], breaks[moments.teams[at]]
            same = abs(one - other) <= RELATIVE_TOLERANCE * max(abs(one), abs(other))
        if same:
            ranks[at] = ranks[at - 1]
    return ranks


def _against(rows: pd.DataFrame, places: np.ndarray, n_teams: int, name: str) -> dict[str, Any]:
    """Return the columns of the comparison of each team with the leader (above it) or the next (below it)."""
    of = slice(1, n_teams) if name == "leader" else slice(0, n_teams - 1)
    # Column by column: taking rows of a table of objects costs a millisecond, for every ranking twice.
    ends = ("ci95_low", "ci95_high", "judged_low", "judged_high")
    numbers = {key: np.full(n_teams, np.nan) for key in ("delta", "p_holm", *ends)}
    significant = pd.array([pd.NA] * n_teams, dtype="boolean")
    verdict = np.full(n_teams, None, dtype=object)
    if len(places):
        for key, values in numbers.items():
            values[of] = rows[key].to_numpy()[places]
        said = rows["verdict"].to_numpy()[places]
        decided = pd.array((said == BETTER).astype(bool), dtype="boolean")
        decided[(said == NONE).astype(bool)] = pd.NA
        significant[of], verdict[of] = decided, said
    if name == "leader":
        numbers["delta"][0] = 0.0
    suffix = "_leader" if name == "leader" else ""
    return {
        f"delta_{name}": numbers["delta"],
        f"delta_{name}_low": numbers["ci95_low"],
        f"delta_{name}_high": numbers["ci95_high"],
        f"judged_{name}_low": numbers["judged_low"],
        f"judged_{name}_high": numbers["judged_high"],
        f"p_holm{suffix}": numbers["p_holm"],
        f"significant{suffix}": significant,
        f"verdict_{name}": verdict,
    }


def _ends(columns: dict[str, Any], sign: float) -> dict[str, Any]:
    """Return the ends of the scores' intervals in the metric's own direction."""
    low, high = _orient(columns["ci95_low"], sign), _orient(columns["ci95_high"], sign)
    return {"ci95_low": low, "ci95_high": high} if sign > 0 else {"ci95_low": high, "ci95_high": low}


def _orient(values: np.ndarray, sign: float) -> np.ndarray:
    # 0.0 - x keeps an error of zero at 0.0, where -x would make it -0.0.
    return values if sign > 0 else 0.0 - values


def _prize_ranks(ranks: np.ndarray, roles: list[Any], rules: Rules) -> Any:
    takes = np.array([role not in rules.no_prizes for role in roles])
    prizes = [
        int((takes & (ranks < rank)).sum()) + 1 if take else pd.NA
        for rank, take in zip(ranks, takes, strict=True)
    ]
    return pd.array(prizes, dtype="Int64")
