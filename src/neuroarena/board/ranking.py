"""One ranking: the teams of one task and split in order, with what the data can show."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.columns import extra_columns
from neuroarena.board.entries import FLOORS, Judged
from neuroarena.board.rules import Rules
from neuroarena.board.selection import Field
from neuroarena.board.sizing import Resolution, resolution
from neuroarena.errors import InputError
from neuroarena.evaluation.intervals import derive_seed
from neuroarena.fingerprint import digest
from neuroarena.scoring import COMBINERS, METRICS, Manifest
from neuroarena.statistics import Draws, bootstrap, compare, rank_probabilities, ranking, tie_groups

# Percentile intervals of 30 units cover about 93 %, of 12 about 91 %; of 5 units, less than 85 %.
FEW_UNITS, VERY_FEW_UNITS, FEW_CLUSTERS = 30, 10, 10
BLOCK_TEAMS = 64

TABLE_COLUMNS = (
    "rank", "team", "role", "score", "ci95_low", "ci95_high", "tie_break",
    "delta_leader", "delta_leader_low", "delta_leader_high", "p_holm_leader", "significant_leader",
    "delta_next", "delta_next_low", "delta_next_high", "p_holm", "significant", "tie_group",
    "p_top1", "p_top3", "p_top5", "rank_low", "rank_high",
    "n_units", "n_entries", "simulated", "prize", "notes",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Ranking:
    """The order of the teams on one task and split.

    Attributes
    ----------
    family, task, definition, split : str
    kind : {"task", "overall"}
    manifest : Manifest
    table : DataFrame
        Best first, one row per team: `rank` (shared by equals), `team`, `role`, `score`, `ci95_low`,
        `ci95_high` and `tie_break` in the metrics' own directions; `delta_leader` (how far behind the
        leader) and `delta_next` (how far ahead of the next row), positive in either direction, with
        their 95 % intervals; `p_holm` and `significant` against the next row, `p_holm_leader` and
        `significant_leader` against the leader, where the rules' pairs hold that comparison;
        `tie_group`; `p_top1`, `p_top3`, `p_top5`, `rank_low`, `rank_high` over the draws; `n_units`,
        `n_entries`, `simulated`, `prize` (rank among those who may take one) and `notes`; then
        :attr:`extra_columns`.
    unranked : DataFrame
        `team`, `reason`.
    pairs : DataFrame
        The table of :func:`neuroarena.statistics.compare` for the pairs of the rules: `delta` is the
        advantage of `team_a`, positive in either direction.
    draws : Draws or None
        Oriented scores of every draw; None when nobody can be ranked.
    rank_probabilities : DataFrame
        One row per team in the order of the table, one column per rank.
    unit_scores : DataFrame
        One row per unit, one column per team, in the metric's own direction.
    clusters : tuple of str
        The cluster of each unit.
    warnings : tuple of str
    resolution : Resolution or None
    simulated : bool
    provenance : dict
    rules : Rules
    """

    family: str
    task: str
    definition: str
    split: str
    kind: str
    manifest: Manifest
    table: pd.DataFrame
    unranked: pd.DataFrame
    pairs: pd.DataFrame
    draws: Draws | None
    rank_probabilities: pd.DataFrame
    unit_scores: pd.DataFrame
    clusters: tuple[str, ...]
    warnings: tuple[str, ...]
    resolution: Resolution | None
    simulated: bool
    provenance: dict[str, Any]
    rules: Rules

    @property
    def benchmark(self) -> str:
        """The full name: ``family@definition/task``; a suite's overall has no task."""
        task = "" if self.kind == "overall" else f"/{self.task}"
        return f"{self.family}@{self.definition}{task}"

    @property
    def name(self) -> str:
        """The full name and the split."""
        return f"{self.benchmark} {self.split}"

    @property
    def title(self) -> str:
        """As a reader sees it."""
        return f"{self.manifest.title} · {self.split}"

    @property
    def metric_title(self) -> str:
        """The metric as a table heads it, with what it is measured in."""
        metric = METRICS.get(self.manifest.metric)
        return f"{metric.title} ({metric.unit_label})" if metric.unit_label else metric.title

    @property
    def n_units(self) -> int:
        """Number of units."""
        return len(self.unit_scores)

    @property
    def clustered(self) -> bool:
        """Whether clusters were drawn before units."""
        return self.draws is not None and self.draws.recipe.get("n_clusters") is not None

    @property
    def extra_columns(self) -> tuple[str, ...]:
        """The columns after the usual ones: additional metrics of the manifest, then those that the family adds."""
        return tuple(name for name in self.table.columns if name not in TABLE_COLUMNS)

    def tie_group_lists(self) -> list[list[str]]:
        """Return the teams of each tie group, best first."""
        groups: dict[int, list[str]] = {}
        if self.table["tie_group"].notna().all():
            for team, group in zip(self.table["team"], self.table["tie_group"], strict=True):
                groups.setdefault(int(group), []).append(str(team))
        return [groups[group] for group in sorted(groups)]


def rank_field(
    field: Field,
    rules: Rules,
    about: dict[str, str],
    manifest: Manifest,
    extra_warnings: tuple[str, ...] = (),
) -> Ranking:
    """Rank the teams of one task and split.

    Parameters
    ----------
    field
        The entry of each team that counts.
    rules
        Of the board.
    about
        family, task, definition, split, kind.
    manifest
        The rules of the task.
    extra_warnings
        Added to the warnings that this function finds.
    """
    judged = field.judged
    common: dict[str, Any] = {
        "unranked": pd.DataFrame(field.unranked, columns=["team", "reason"], dtype=object),
        "simulated": any(one.entry.simulated for one in judged),
        "rules": rules,
        "manifest": manifest,
        **about,
    }
    if not judged:
        return _nobody(common, extra_warnings)
    breaks = _tie_breaks(judged)
    try:
        draws = _draws(field, manifest, rules, about)
    except InputError as error:
        if about["kind"] == "overall":
            raise
        # A few units may leave a score undefined in some draws; the other tasks of the board can still be ranked.
        reasons = [*field.unranked, *((one.entry.team, str(error)) for one in judged)]
        common["unranked"] = pd.DataFrame(reasons, columns=["team", "reason"], dtype=object)
        return _nobody(common, extra_warnings)
    order = ranking(draws, breaks)
    teams = [str(team) for team in order["team"]]
    probabilities = rank_probabilities(draws).loc[teams]
    draws = _team_by_team(draws)
    pairs = _pairs(draws, teams, {one.entry.team: one.entry.role for one in judged}, rules)
    deciders = [one.entry.team for one in judged if one.entry.role not in ("chance", "dummy")]
    found = resolution(draws, manifest.nu, pairs, deciders)
    units = {one.entry.team: one.shown for one in judged}
    entries = {one.entry.team: one.entry for one in judged}
    index = pd.Index(judged[0].units, name="unit")
    return Ranking(
        table=_table(field, draws, order, breaks, pairs, probabilities, manifest, rules).assign(
            **extra_columns([entries[team] for team in teams], manifest, about, TABLE_COLUMNS)
        ),
        pairs=pairs if draws.n_units > 1 else pairs.iloc[:0],
        draws=draws,
        rank_probabilities=probabilities,
        unit_scores=pd.DataFrame({team: units[team] for team in teams}, index=index),
        clusters=judged[0].clusters,
        warnings=(*_warnings(field, draws, found, manifest, common["simulated"]), *extra_warnings),
        resolution=found,
        provenance=_provenance(judged, draws),
        **common,
    )


def _nobody(common: dict[str, Any], extra_warnings: tuple[str, ...]) -> Ranking:
    return Ranking(
        table=pd.DataFrame(columns=list(TABLE_COLUMNS)),
        pairs=pd.DataFrame(),
        draws=None,
        rank_probabilities=pd.DataFrame(),
        unit_scores=pd.DataFrame(),
        clusters=(),
        warnings=("Nobody can be ranked here; the reasons are listed below.", *extra_warnings),
        resolution=None,
        provenance={},
        **common,
    )


def _team_by_team(draws: Draws) -> Draws:
    """Keep each team's draws together in memory, because every later step goes team by team.

    With 1,000 teams and 10,000 draws each of four steps would otherwise transpose 80 MB by itself.
    """
    scores = np.asfortranarray(draws.scores)
    return Draws(draws.teams, scores, draws.point, draws.n_units, draws.recipe)


def _draws(field: Field, manifest: Manifest, rules: Rules, about: dict[str, str]) -> Draws:
    """Draw units, or clusters first where the manifest names them and one owns several units."""
    judged = field.judged
    clusters = judged[0].clusters
    owns_several = len(set(clusters)) < len(clusters)
    labels = list(clusters) if rules.cluster and manifest.cluster is not None and owns_several else None
    seed = derive_seed(rules.seed, about["family"], about["task"], about["split"])
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


def _tie_breaks(judged: list[Judged]) -> dict[str, float] | None:
    breaks = {one.entry.team: one.tie_break for one in judged}
    known = {team: value for team, value in breaks.items() if value is not None}
    return known if len(known) == len(judged) else None


def _pairs(draws: Draws, teams: list[str], roles: dict[str, str], rules: Rules) -> pd.DataFrame:
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


def _table(
    field: Field,
    draws: Draws,
    order: pd.DataFrame,
    breaks: dict[str, float] | None,
    pairs: pd.DataFrame,
    probabilities: pd.DataFrame,
    manifest: Manifest,
    rules: Rules,
) -> pd.DataFrame:
    teams = [str(team) for team in order["team"]]
    entries = {one.entry.team: one.entry for one in field.judged}
    place = [draws.position(team) for team in teams]
    roles = [entries[team].role for team in teams]
    low, high = _interval(draws, place, manifest.sign)
    break_sign = 1.0 if manifest.tie_break is None else METRICS.get(manifest.tie_break).sign
    table = pd.DataFrame(
        {
            "rank": order["rank"].to_numpy(),
            "team": teams,
            "role": list(roles),
            # 0.0 - x keeps an error of zero at 0.0, where -x would make it -0.0.
            "score": draws.point[place] if manifest.sign > 0 else 0.0 - draws.point[place],
            "ci95_low": low,
            "ci95_high": high,
            "tie_break": [np.nan if breaks is None else break_sign * breaks[team] + 0.0 for team in teams],
            **_against(draws, teams, pairs, [(teams[0], team) for team in teams[1:]], "leader"),
            **_against(draws, teams, pairs, list(pairwise(teams)), "next"),
            "tie_group": tie_groups(draws, tie_break=breaks).loc[teams].to_numpy(),
            **stability(probabilities, draws.n_draws),
            "n_units": draws.n_units,
            "n_entries": [field.n_entries[team] for team in teams],
            "simulated": [entries[team].simulated for team in teams],
            "prize": _prize_ranks(order["rank"].to_numpy(), roles, rules),
            "notes": ["; ".join(field.marks.get(team, ())) for team in teams],
        }
    )[list(TABLE_COLUMNS)]
    if draws.n_units > 1:
        return table
    # One unit drawn again is always itself: an interval would claim certainty where nothing is known.
    columns = list(table.columns)
    unknown = columns[columns.index("ci95_low") : columns.index("n_units")]
    points = ("tie_break", "delta_leader", "delta_next")
    for name in (name for name in unknown if name not in points):
        table[name] = pd.array([pd.NA] * len(table), dtype="boolean") if "significant" in name else np.nan
    return table


def _interval(draws: Draws, place: list[int], sign: float) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of `Draws.interval`, in blocks: three times as fast for a thousand teams."""
    blocks = [
        np.percentile(draws.scores.T[start : start + BLOCK_TEAMS], [2.5, 97.5], axis=1)
        for start in range(0, len(draws.teams), BLOCK_TEAMS)
    ]
    low, high = np.hstack(blocks)[:, place]
    return (low, high) if sign > 0 else (0.0 - high, 0.0 - low)


def _against(
    draws: Draws, teams: list[str], pairs: pd.DataFrame, wanted: list[tuple[str, str]], name: str
) -> dict[str, Any]:
    """Return the columns of the comparison of each team with the leader (above it) or the next (below it)."""
    at = 1 if name == "leader" else 0
    values = np.full((3, len(teams)), np.nan)
    p_holm = np.full(len(teams), np.nan)
    significant = pd.array([pd.NA] * len(teams), dtype="boolean")
    if wanted:
        known = {pair: row for row, pair in enumerate(zip(pairs["team_a"], pairs["team_c"], strict=True))}
        held = [known.get(pair) for pair in wanted]
        found = (
            pairs.iloc[[row for row in held if row is not None]]
            if None not in held
            else compare(draws, wanted)
        )
        values[:, at : at + len(wanted)] = found[["delta_point", "ci95_low", "ci95_high"]].to_numpy().T
        for offset, row in enumerate(held):
            if row is not None:
                p_holm[at + offset] = pairs["p_holm"].iloc[row]
                significant[at + offset] = bool(pairs["significant_after_holm"].iloc[row])
    if name == "leader":
        values[:, 0] = [0.0, np.nan, np.nan]
    suffix = "_leader" if name == "leader" else ""
    return {
        f"delta_{name}": values[0],
        f"delta_{name}_low": values[1],
        f"delta_{name}_high": values[2],
        f"p_holm{suffix}": p_holm,
        f"significant{suffix}": significant,
    }


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


def _prize_ranks(ranks: np.ndarray, roles: list[Any], rules: Rules) -> Any:
    takes = np.array([role not in rules.no_prizes for role in roles])
    prizes = [
        int((takes & (ranks < rank)).sum()) + 1 if take else pd.NA
        for rank, take in zip(ranks, takes, strict=True)
    ]
    return pd.array(prizes, dtype="Int64")


def _warnings(
    field: Field, draws: Draws, found: Resolution, manifest: Manifest, simulated: bool
) -> tuple[str, ...]:
    said = []
    if simulated:
        said.append("The data are simulated: these scores say nothing about brains.")
    if field.mixed:
        said.append(
            f"Entries of a different {' and '.join(field.mixed)} stand side by side here, as requested."
        )
    versions = sorted({str(one.entry.provenance.get("scorer_version")) for one in field.judged})
    if len(versions) > 1:
        said.append(f"Scores of several scorer versions stand side by side: {', '.join(versions)}.")
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
    if found.meets is False and found.half_width is not None:
        said.append(
            f"The half width of a score is {found.half_width:.3g}, above the {found.nu:.3g} aimed at "
            f"({found.required_units} units would be enough): read the tie groups, not the order."
        )
    return tuple(said)


def _provenance(judged: list[Judged], draws: Draws) -> dict[str, Any]:
    entries = [one.entry for one in judged]

    def values(name: str) -> list[str]:
        return sorted(
            {str(entry.provenance[name]) for entry in entries if entry.provenance.get(name) is not None}
        )

    return {
        "definitions": sorted({entry.definition for entry in entries}),
        "manifest_hashes": sorted({entry.manifest.hash for entry in entries}),
        "split_hashes": values("split_hash"),
        "scorer_versions": values("scorer_version"),
        "neuroarena_versions": values("neuroarena"),
        "run_seeds": values("seed"),
        "options": [dict(options) for options in _distinct(entries, "options")],
        "data_notes": sorted(
            {str(note) for entry in entries for note in entry.provenance.get("notes") or ()}
        ),
        "bootstrap": draws.recipe,
        "floors": [entry.team for entry in entries if entry.role in FLOORS],
        "entries": [
            {
                "team": entry.team,
                "time": entry.time.isoformat(timespec="seconds"),
                "run_key": entry.provenance.get("run_key"),
                "folder": entry.provenance.get("folder"),
            }
            for entry in entries
        ],
    }


def _distinct(entries: list[Any], name: str) -> list[Any]:
    found = {
        digest(entry.provenance[name]): entry.provenance[name]
        for entry in entries
        if entry.provenance.get(name)
    }
    return [found[key] for key in sorted(found)]
