"""One ranking: the teams of one task and split in order, with what the data can show."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.columns import extra_columns
from neuroarena.board.entries import FLOORS, Judged
from neuroarena.board.inference import Infer, add_training_noise, draw_shares, infer_field, margin_of
from neuroarena.board.mean_ranks import MeanRanks
from neuroarena.board.rules import Rules
from neuroarena.board.seed_rule import SeedRule, apply_seed_rule, draw_units, seed_cautions
from neuroarena.board.selection import Field
from neuroarena.board.sizing import Resolution, resolution, resolve_scores, resolve_verdicts
from neuroarena.board.table import (
    TABLE_COLUMNS,
    Conclusion,
    conclude,
    conclude_by_seed,
    leave_leader_and_neighbours,
    make_table,
)
from neuroarena.board.training_seeds import seed_scores
from neuroarena.errors import InputError, UndefinedScore
from neuroarena.fingerprint import digest
from neuroarena.scoring import METRICS, Manifest
from neuroarena.statistics import (
    Draws,
    Moments,
    Sensitivity,
    judge_ends,
    pair_ends,
    ranking,
    sensitivity,
)
from neuroarena.statistics.letters import MOST_TEAMS
from neuroarena.statistics.trees import SharedLevels
from neuroarena.statistics.verdicts import BETTER, END_COLUMNS

PAIR_COLUMNS = (
    "team_a", "team_c", "delta", "delta_point", "se", "df", "skew", "n_levels", "g_eff", "ci95_low", "ci95_high", "p",
    "p_holm", "level", "judged_low", "judged_high", "verdict", "margin", "scope", "p_signflip",
    "significant_after_holm",
)  # fmt: skip

SIMULATED = "The data are simulated: these scores say nothing about brains."


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
        the 95 % interval of this pair alone (`_low`, `_high`) and the one at which it was judged; `p_holm`,
        `significant` and `verdict_next` against the next row, `p_holm_leader`, `significant_leader` and
        `verdict_leader` against the leader; `letters`, shared by teams of which neither is better;
        `rank_low` and `rank_high`, the ranks that a team can have; `p_top1`, `p_top3`, `p_top5` over draws of whole
        levels; `n_units`, `n_levels`, `n_entries`, `simulated`, `prize` (rank among those who may take one) and
        `notes`; `seed_*`, what the challenge's rule says; then :attr:`extra_columns`.
    unranked : DataFrame
        `team`, `reason`.
    judgements : DataFrame
        One row per pair, in rank order: see :func:`neuroarena.statistics.judge_ends`. Everything that a board says
        about a pair is read from here; :attr:`verdicts` has the same rows with an interval in one column.
    moments : Moments or None
        What the verdicts were made from; None when nobody is ranked, or the rules conclude from the seed's rule.
    seed_pairs : DataFrame
        The table of :func:`neuroarena.statistics.compare` for the pairs of the rules.
    draws : Draws or None
        Oriented scores of every draw of the seed's rule; None when nobody can be ranked, or when some draw leaves the
        score undefined.
    rank_probabilities : DataFrame
        One row per team in the order of the table, one column per rank.
    levels : str
        What the independent levels are, in the plural.
    unit_scores : DataFrame
        One row per unit, one column per team, in the metric's own direction.
    clusters : tuple of str
        The cluster of each unit.
    cautions : tuple of str
        What a reader should know; :attr:`warnings` adds what other methods of ranking say.
    resolution : Resolution or None
    simulated : bool
    provenance : dict
    rules : Rules
    on_these_tasks : DataFrame or None
        Of a suite that is judged across tasks: the verdicts that hold on these tasks alone.
    shared : SharedLevels or None
        How scores vary over levels that other tasks of the suite may share, for its tree.
    mean_ranks : MeanRanks or None
        Of a suite of six tasks or more whose rules ask for it: the teams by their mean rank over tasks.
    draw_levels : callable
        Draws whole levels again, for shares of ranks over several tracks; they are not kept, because they are large.
    """

    family: str
    task: str
    definition: str
    split: str
    kind: str
    manifest: Manifest
    table: pd.DataFrame
    unranked: pd.DataFrame
    judgements: pd.DataFrame
    moments: Moments | None
    seed_pairs: pd.DataFrame
    draws: Draws | None
    rank_probabilities: pd.DataFrame
    unit_scores: pd.DataFrame
    clusters: tuple[str, ...]
    levels: str
    cautions: tuple[str, ...]
    resolution: Resolution | None
    simulated: bool
    provenance: dict[str, Any]
    rules: Rules
    on_these_tasks: pd.DataFrame | None = None
    shared: SharedLevels | None = None
    mean_ranks: MeanRanks | None = None
    draw_levels: Callable[[], Draws | None] = lambda: None

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

    @property
    def n_levels(self) -> int:
        """Number of independent levels."""
        return int(self.table["n_levels"].iloc[0]) if len(self.table) else 0

    @property
    def decides(self) -> bool:
        """Whether there are enough levels for verdicts."""
        return len(self.table) > 0 and bool(self.table["letters"].notna().any() or self.crowded)

    @property
    def crowded(self) -> bool:
        """Whether there are so many teams that pages and JSON hold leader and neighbour pairs only."""
        return len(self.table) > MOST_TEAMS

    @property
    def verdicts(self) -> pd.DataFrame:
        """One row per pair, as :func:`neuroarena.statistics.judge` returns it: `ci95` and `judged` are (low, high)."""
        return pair_ends(self.judgements)

    @functools.cached_property
    def pairs(self) -> pd.DataFrame:
        """The verdicts as plain columns, for tables and files; above 300 teams those of leader and neighbours."""
        return plain_pairs(leave_leader_and_neighbours(self.judgements))

    def verdict_of(self, first: str, second: str, alone: bool = False) -> pd.DataFrame:
        """Return the row of one pair as in :attr:`verdicts`; parameters and refusals are those of `judgement_of`."""
        return pair_ends(self.judgement_of(first, second, alone))

    def judgement_of(self, first: str, second: str, alone: bool = False) -> pd.DataFrame:
        """Return the row of one pair, the team that ranks above as `a`.

        Parameters
        ----------
        first, second : str
        alone : bool
            Whether to judge this pair alone, not corrected for the other teams.

        Raises
        ------
        InputError
            When a team is not ranked here, or the pair was not compared.
        """
        teams = self.table["team"].tolist()
        for team in (first, second):
            if team not in teams:
                raise InputError(f'{self.name}: no team "{team}"; there are: {", ".join(teams)}.')
        if alone and self.moments is not None:
            margin = margin_of(self.manifest, self.rules)
            return judge_ends(self.moments.between(first, second), nu=margin, alpha=self.rules.alpha)
        rows = self.judgements
        found = rows[rows["a"].isin((first, second)) & rows["c"].isin((first, second))]
        if found.empty:
            raise InputError(
                f'{self.name}: "{first}" and "{second}" were not compared by the rules of this board.'
            )
        return found

    @functools.cached_property
    def sensitivity(self) -> Sensitivity | None:
        """The ranks by other methods; None where nothing was judged, or there are more than 300 teams."""
        values = self.manifest.sign * self.unit_scores
        judged = self.moments is not None and len(self.judgements) > 0 and self.decides and not self.crowded
        if not judged or not np.isfinite(values.to_numpy()).all():
            return None
        scores = self.manifest.sign * self.table["score"]
        return sensitivity(values, self.judgements, dict(zip(self.table["team"], scores, strict=True)))

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a reader should know, in sentences."""
        return (*self.cautions, *(self.sensitivity.warnings if self.sensitivity else ()))

    @functools.cached_property
    def groups(self) -> list[list[str]]:
        """The teams of each letter, best first; empty where there are no letters."""
        found: dict[str, list[str]] = {}
        for team, shared in zip(self.table["team"], self.table["letters"], strict=True):
            names = [] if shared is None else [shared] if self.moments is None else list(shared)
            for letter in names:
                found.setdefault(letter, []).append(str(team))
        return list(found.values())


def rank_field(
    field: Field,
    rules: Rules,
    about: dict[str, str],
    manifest: Manifest,
    infer: Infer = infer_field,
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
    infer
        How the verdicts are made from the field.
    """
    common: dict[str, Any] = {
        "unranked": pd.DataFrame(field.unranked, columns=["team", "reason"], dtype=object),
        "simulated": any(one.entry.simulated for one in field.judged),
        "rules": rules,
        "manifest": manifest,
        **about,
    }
    if not field.judged:
        return _nobody(common)
    try:
        return _rank_judged(field, rules, about, manifest, infer, common)
    except InputError as error:
        if about["kind"] == "overall":
            raise
        # A few units may leave a score undefined without one of them; other tasks of the board can still be ranked.
        reasons = [*field.unranked, *((one.entry.team, str(error)) for one in field.judged)]
        common["unranked"] = pd.DataFrame(reasons, columns=["team", "reason"], dtype=object)
        return _nobody(common)


def _rank_judged(
    field: Field,
    rules: Rules,
    about: dict[str, str],
    manifest: Manifest,
    infer: Infer,
    common: dict[str, Any],
) -> Ranking:
    judged = field.judged
    breaks = _tie_breaks(judged)
    roles = {one.entry.team: one.entry.role for one in judged}
    if rules.inference == "verdicts":
        inference = add_training_noise(infer(field, manifest, breaks), seed_scores(field, manifest), manifest)
        draws = _draws_or_none(field, manifest, rules, about)
        draw_again = functools.partial(draw_shares, field, manifest, rules, about, inference)
        found = conclude(inference, draw_again(draws), manifest, rules, breaks)
        seed = None if draws is None else apply_seed_rule(draws, found.teams, roles, rules, breaks)
        # The seed's rule keeps the same draws in another order: holding both would double what a large board takes.
        again = functools.partial(draw_again, None if seed is None else seed.draws)
        moments, noun, n_levels = inference.moments, inference.noun, inference.n_levels
        degrees = inference.intervals["df"]
        said, fixed, shared = inference.cautions(found.rows), inference.fixed, inference.shared
    else:
        drawn = draw_units(field, manifest, rules, about)
        order = [str(team) for team in ranking(drawn, breaks)["team"]]
        seed = apply_seed_rule(drawn, order, roles, rules, breaks)
        found, moments, noun, degrees = conclude_by_seed(seed, breaks), None, "levels", None
        n_levels = drawn.recipe.get("n_clusters") or drawn.n_units
        said, fixed, shared, again = seed_cautions(drawn, manifest), None, None, None
    size = _resolution(found, degrees, seed, manifest, judged)
    units = {one.entry.team: one.shown for one in judged}
    entries = {one.entry.team: one.entry for one in judged}
    shown = pd.DataFrame(
        {team: units[team] for team in found.teams}, index=pd.Index(judged[0].units, name="unit")
    )
    return Ranking(
        table=make_table(field, found, seed, manifest, rules, breaks, n_levels).assign(
            **extra_columns([entries[team] for team in found.teams], manifest, about, TABLE_COLUMNS)
        ),
        judgements=found.rows,
        moments=moments,
        seed_pairs=pd.DataFrame() if seed is None else seed.pairs,
        draws=None if seed is None else seed.draws,
        rank_probabilities=found.probabilities,
        unit_scores=shown,
        clusters=judged[0].clusters,
        levels=noun,
        cautions=(*_warnings(field, common["simulated"]), *said, *_size_warnings(size, found)),
        resolution=size,
        provenance=_provenance(judged, None if seed is None else seed.draws),
        on_these_tasks=None
        if fixed is None
        else judge_ends(fixed, nu=margin_of(manifest, rules), alpha=rules.alpha),
        shared=shared,
        draw_levels=again or (lambda: None),
        **common,
    )


def plain_pairs(rows: pd.DataFrame) -> pd.DataFrame:
    """Return judgements under the names that tables and files use: `team_a` and `team_c`, whether it is significant."""
    found = rows.reset_index(drop=True).rename(columns={"a": "team_a", "c": "team_c"})
    found["delta_point"] = found["delta"]
    found["significant_after_holm"] = found["verdict"] == BETTER
    return found[list(PAIR_COLUMNS)]


def _nobody(common: dict[str, Any]) -> Ranking:
    return Ranking(
        table=pd.DataFrame(columns=list(TABLE_COLUMNS)),
        judgements=pd.DataFrame(columns=list(END_COLUMNS)),
        moments=None,
        seed_pairs=pd.DataFrame(),
        draws=None,
        rank_probabilities=pd.DataFrame(),
        unit_scores=pd.DataFrame(),
        clusters=(),
        levels="levels",
        cautions=("Nobody can be ranked here; the reasons are listed below.",),
        resolution=None,
        provenance={},
        **common,
    )


def _draws_or_none(field: Field, manifest: Manifest, rules: Rules, about: dict[str, str]) -> Draws | None:
    """Draw units for what is stored as ``seed_*``; None where some draw leaves a score undefined."""
    try:
        return draw_units(field, manifest, rules, about)
    except UndefinedScore:
        return None


def _tie_breaks(judged: list[Judged]) -> dict[str, float] | None:
    breaks = {one.entry.team: one.tie_break for one in judged}
    known = {team: value for team, value in breaks.items() if value is not None}
    return known if len(known) == len(judged) else None


def _resolution(
    found: Conclusion,
    degrees: pd.Series | None,
    seed: SeedRule | None,
    manifest: Manifest,
    judged: list[Judged],
) -> Resolution | None:
    if seed is None:
        return None
    deciders = [one.entry.team for one in judged if one.entry.role not in ("chance", "dummy")]
    measured = resolution(seed.draws, manifest.nu, seed.pairs, deciders)
    if degrees is None:
        return measured
    widths = (found.columns["ci95_high"] - found.columns["ci95_low"]) / 2
    own = [team in deciders or not deciders for team in found.teams]
    df = degrees.loc[found.teams].to_numpy(dtype=np.float64)[own]
    return resolve_verdicts(resolve_scores(measured, np.asarray(widths)[own], df), found.rows, deciders)


def _warnings(field: Field, simulated: bool) -> tuple[str, ...]:
    said = []
    if simulated:
        said.append(SIMULATED)
    if field.mixed:
        said.append(
            f"Entries of a different {' and '.join(field.mixed)} stand side by side here, as requested."
        )
    versions = sorted({str(one.entry.provenance.get("scorer_version")) for one in field.judged})
    if len(versions) > 1:
        said.append(f"Scores of several scorer versions stand side by side: {', '.join(versions)}.")
    return tuple(said)


def _size_warnings(size: Resolution | None, found: Conclusion) -> tuple[str, ...]:
    if size is None or size.meets is not False or size.half_width is None:
        return ()
    # More than 300 teams, or too many groups of them, have no letters.
    lettered = any(letter is not None for letter in found.columns["letters"])
    read = "the letters" if lettered else "the range of ranks of each team"
    return (
        f"The half width of a score is {size.half_width:.3g}, above the {size.nu:.3g} aimed at "
        f"({size.required_units} units would be enough): read {read}, not the order.",
    )


def _provenance(judged: list[Judged], draws: Draws | None) -> dict[str, Any]:
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
        "run_seeds": _all_seeds(entries),
        "options": [dict(options) for options in _distinct(entries, "options")],
        "data_notes": _said(entries, "notes"),
        "leaks": _said(entries, "leaks"),
        "crossings": _said(entries, "crossings"),
        "bootstrap": {} if draws is None else draws.recipe,
        "floors": [entry.team for entry in entries if entry.role in FLOORS],
        "entries": [
            {
                "team": entry.team,
                "time": entry.time.isoformat(timespec="seconds"),
                "run_key": entry.provenance.get("run_key"),
                "folder": entry.provenance.get("folder"),
                "n_train": entry.provenance.get("n_train"),
                "seeds": len(entry.provenance.get("seeds") or (0,)),
            }
            for entry in entries
        ],
    }


def _said(entries: list[Any], name: str) -> list[str]:
    """List the sentences that any entry brings, each once."""
    return sorted({str(note) for entry in entries for note in entry.provenance.get(name) or ()})


def _all_seeds(entries: list[Any]) -> list[str]:
    """List the training seeds of all entries, as texts."""
    known = (entry.provenance.get("seeds") or [entry.provenance.get("seed")] for entry in entries)
    return [str(seed) for seed in sorted({seed for seeds in known for seed in seeds if seed is not None})]


def _distinct(entries: list[Any], name: str) -> list[Any]:
    found = {
        digest(entry.provenance[name]): entry.provenance[name]
        for entry in entries
        if entry.provenance.get(name)
    }
    return [found[key] for key in sorted(found)]
