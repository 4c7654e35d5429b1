"""What pages say about a board, as texts: rows, verdicts, how to read them, and how they were computed."""

from __future__ import annotations

from typing import Any

import pandas as pd

from neuroarena import __version__
from neuroarena.board.board import Board
from neuroarena.board.entries import BLIND_FLOORS
from neuroarena.board.ranking import Ranking
from neuroarena.board.rules import Rules
from neuroarena.board.wording import (
    UNKNOWN,
    alpha_words,
    bounds_text,
    cells_of,
    clean_name,
    direction_words,
    find_breaks,
    interval_text,
    is_known,
    letters_text,
    marks_of,
    p_cell,
    pair_p_text,
    ranks_text,
    rows_of,
    score_text,
    share_text,
    verdict_words,
)
from neuroarena.statistics.verdicts import BETTER

MOST_ROWS, MOST_PAIRS = 200, 60


def list_facts(board: Board) -> list[tuple[str, str]]:
    """List what a board is about: benchmarks, splits, metrics, units and the rule."""
    first = board.rankings[0]
    units = sorted({one.n_units for one in board.rankings if one.n_units})
    words: dict[str, list[Any]] = {
        "Benchmark": [one.benchmark for one in board.rankings],
        "Split": [one.split for one in board.rankings],
        "Metric": [f"{one.metric_title}, {direction_words(one)}" for one in board.rankings],
        "Unit": [one.manifest.unit for one in board.rankings],
        "Cluster": [one.manifest.cluster for one in board.rankings if one.clustered],
        "Question": [first.manifest.readable_question] if len(board.rankings) == 1 else [],
    }
    facts = [
        (name, ", ".join(dict.fromkeys(str(value) for value in values))) for name, values in words.items()
    ]
    facts.insert(
        4, ("Units", " to ".join(str(n) for n in dict.fromkeys((units[0], units[-1]))) if units else "0")
    )
    rule = board.rules.rule + (f", as of {board.rules.as_of:%Y-%m-%d %H:%M} UTC" if board.rules.as_of else "")
    return [(name, value) for name, value in [*facts, ("Rule", rule)] if value]


def describe_rows(ranking: Ranking, most: int | None = MOST_ROWS) -> list[dict[str, Any]]:
    """Return the rows of a ranking as texts, best first; at most so many, None for all."""
    rows, breaks = [], find_breaks(ranking)
    several = len(breaks) < len(ranking.table) - 1
    extras = cells_of(ranking, ranking.extra_columns)
    for at, (row, extra) in enumerate(zip(rows_of(ranking.table[:most]), extras, strict=False)):
        p, sure = p_cell(row, ranking)
        rows.append(
            {
                "rank": row.rank,
                "team": clean_name(row.team),
                "marks": marks_of(row),
                "floor": row.role in BLIND_FLOORS,
                "new_group": several and at in breaks,
                "score": score_text(row.score),
                "bounds": bounds_text(row.ci95_low, row.ci95_high),
                "tie_break": score_text(row.tie_break),
                "extra": extra,
                "behind": score_text(row.delta_leader),
                "behind_bounds": bounds_text(row.judged_leader_low, row.judged_leader_high),
                "ahead": score_text(row.delta_next),
                "ahead_bounds": bounds_text(row.judged_next_low, row.judged_next_high),
                "p": p + (" *" if sure else ""),
                "tie": letters_text(row.letters),
                "first": share_text(row.p_top1),
                "top3": share_text(row.p_top3),
                "top5": share_text(row.p_top5),
                "ranks": ranks_text(row.rank_low, row.rank_high),
                "prize": row.prize if is_known(row.prize) else UNKNOWN,
            }
        )
    return rows


def describe_pairs(
    ranking: Ranking, pairs: pd.DataFrame, most: int | None = MOST_PAIRS
) -> list[dict[str, str]]:
    """Return the verdicts of pairs (rows of `Ranking.pairs`) as texts; at most so many, None for all."""
    return [
        {
            "above": clean_name(row.team_a),
            "below": clean_name(row.team_c),
            "delta": interval_text(row.delta, row.ci95_low, row.ci95_high),
            "judged": bounds_text(row.judged_low, row.judged_high) or UNKNOWN,
            "p_holm": pair_p_text(ranking, row.p_holm),
            "words": verdict_words(row, ranking),
            "star": "*" if row.verdict == BETTER else "",
        }
        for row in rows_of(pairs[:most])
    ]


def count_pairs(ranking: Ranking, most: int = MOST_PAIRS) -> str:
    """Return a sentence with the level at which pairs were judged, and how many of them a page with `most` shows."""
    return f"{alpha_words(ranking)}{count_left_out(len(ranking.judgements), min(len(ranking.pairs), most))}"


def count_left_out(n_pairs: int, shown: int) -> str:
    """Return a clause that says how many pairs a page shows of all there are; nothing where it shows all.

    Examples
    --------
    >>> count_left_out(6, 6), count_left_out(190, 60)
    ('', '; the first 60 of 190 shown, neuroarena board --export verdicts writes all')
    """
    if n_pairs <= shown:
        return ""
    return f"; the first {shown} of {n_pairs:,} shown, neuroarena board --export verdicts writes all"


def explain_columns(rules: Rules) -> list[str]:
    """Explain how the tables of a page are read, in a few sentences."""
    prizes = (
        ["Floors (chance, dummy, classical) and organisers stand where their scores put them and take no prize; the "
         "prize column counts the others."]
        if rules.prizes
        else ["Floors (chance, dummy, classical) stand where their scores put them."]
    )  # fmt: skip
    failed = "A team whose run failed, or whose scores are not finite, is never ranked: it is listed with the reason."
    if rules.inference == "seed":
        return [*_seed_reading(rules), *prizes, failed]
    return [
        "Levels: what was sampled independently, people where units belong to people, otherwise units. "
        "Score [low, high]: the 95 % interval over the levels, each left out in turn. Fewer than six levels prove "
        "nothing: there is no interval, no p and no letter.",
        "Every pair of teams has one verdict, and stars, letters, ranks and sentences are read off it: better, "
        "equivalent (no difference that matters), undecided, or none.",
        f"p: two-sided, corrected after Holm over all pairs of the board; * marks better, at or below {rules.alpha:g}. "
        "The interval beside a difference is the one at which it was judged: it excludes 0 exactly when the verdict is "
        "better.",
        "Groups: two teams share a letter exactly when neither is better. Ranks: those that a team can have, below all "
        "that are better and above all that it is better than.",
        "Behind the leader and ahead of the next: positive numbers, in units of the score, whichever "
        "direction is better.",
        f"P(1st), P(top 3): how often a team has such a rank in {rules.n_draws:,} draws of whole levels; "
        "equals share a rank.",
        *prizes,
        failed,
    ]


def _seed_reading(rules: Rules) -> list[str]:
    first = "; where units belong to clusters, the clusters are drawn first." if rules.cluster else "."
    return [
        "This board concludes by the rule of its challenge, which is optimistic on few units: docs/statistics.md says "
        "by how much.",
        f"Score [low, high]: the 95 % interval from {rules.n_draws:,} bootstrap draws. Each draw picks the "
        f"units again with replacement, the same units for every team, so that differences are paired{first}",
        "Groups: going down the order, a team has its group's letter when the paired interval of its "
        "difference from the group's best contains 0. Read the groups before the ranks.",
        "p: two-sided, from the same draws, adjusted by Holm over the comparisons named; * marks those at or "
        f"below {rules.alpha:g}. With {rules.n_draws:,} draws no p-value below {1 / rules.n_draws:g} can be "
        "told.",
        "Behind the leader and ahead of the next: positive numbers, in units of the score, whichever "
        "direction is better.",
        "P(1st), P(top 3), ranks: how often a team has such a rank over the draws; equals share a rank.",
    ]


def list_recipe(board: Board) -> list[tuple[str, str]]:
    """List how a board was computed: versions, draws, seeds, level."""
    rules = board.rules
    drawn = next((one.draws.recipe for one in board.everything if one.draws is not None), {})
    made_by = sorted(
        {version for one in board.rankings for version in one.provenance.get("neuroarena_versions", [])}
    )
    times = [entry["time"] for one in board.rankings for entry in one.provenance.get("entries", [])]
    return [
        ("Report by", f"neuroarena {__version__}"),
        ("Results by", ", ".join(f"neuroarena {version}" for version in made_by) or "not recorded"),
        ("Newest entry", max(times, default=UNKNOWN)),
        (
            "Bootstrap",
            f"{rules.method}, {rules.n_draws:,} draws, seed {rules.seed}, {drawn.get('generator', UNKNOWN)}",
        ),
        ("Verdicts", f"{rules.inference}, alpha {rules.alpha:g}, Holm"),
        *([("No prizes for", ", ".join(rules.no_prizes) or "nobody is left out")] if rules.prizes else []),
    ]


def list_origins(ranking: Ranking) -> dict[str, str]:
    """Return what identifies a ranking: hashes of rules and splits, versions, seeds."""
    known_ = ranking.provenance
    drawn = known_.get("bootstrap", {})
    clusters = "" if drawn.get("n_clusters") is None else f", {drawn['n_clusters']} clusters"

    def some(name: str, length: int) -> str:
        return ", ".join(str(value)[:length] for value in known_.get(name, [])) or UNKNOWN

    return {
        "name": ranking.name,
        # The manifest of an overall ranking is the tasks' in common; the entries' own stand in their rows.
        "manifest": some("manifest_hashes", 12) if ranking.kind == "task" else "of its tasks",
        "split": some("split_hashes", 12) if ranking.kind == "task" else "of its tasks",
        "scorer": some("scorer_versions", 20),
        "seeds": some("run_seeds", 20),
        "crossings": " ".join(known_.get("crossings", ())) or "nobody, as far as was looked",
        "bootstrap": f"seed {drawn['seed']}, {drawn['n_units']} units{clusters}" if drawn else UNKNOWN,
    }
