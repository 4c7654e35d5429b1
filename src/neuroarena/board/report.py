"""The HTML report: one file, no network, no script."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

import pandas as pd

from neuroarena import __version__
from neuroarena.atomic import write_text
from neuroarena.board.board import Board
from neuroarena.board.entries import BLIND_FLOORS
from neuroarena.board.figures import svg_text
from neuroarena.board.learning_curves import draw_curve, learning_curves
from neuroarena.board.phone_plots import phone_forest
from neuroarena.board.plots import PLOTS, alt_text, caption, possible_plots
from neuroarena.board.ranking import Ranking, plain_pairs
from neuroarena.board.rules import Rules
from neuroarena.board.suite_plots import suite_alt_text, suite_caption, suite_figures
from neuroarena.board.tree_views import tree_section
from neuroarena.board.trees import Tree
from neuroarena.board.wording import (
    MEAN_RANK_WORDS,
    UNKNOWN,
    alpha_words,
    bounds_text,
    cells_of,
    clean_name,
    column_heading,
    direction_words,
    find_breaks,
    group_names,
    interval_text,
    is_known,
    letters_text,
    levels_words,
    marks_of,
    mean_rank_heading,
    p_cell,
    p_heading,
    pair_p_text,
    ranks_text,
    rows_of,
    score_text,
    share_text,
    shared_warnings,
    verdict,
    verdict_words,
)
from neuroarena.scoring import METRICS
from neuroarena.statistics.verdicts import BETTER

MOST_ROWS, MOST_PAIRS, MOST_GROUPS = 200, 60, 12
# Every plot costs about a fifth of a second: on a page of more rankings, tasks get only their forest plot.
MOST_FULL_RANKINGS = 16
WIDEST_MATRIX = 6


def write_report(board: Board, path: str | Path, title: str | None = None) -> None:
    """Write a board as one self-contained HTML page, completely or not at all.

    Parameters
    ----------
    board : Board
    path : path
    title : str, optional
        By default the benchmark's name.
    """
    write_text(path, render_report(board, title))


def render_report(board: Board, title: str | None = None) -> str:
    """Render a board as the text of an HTML page; the same board gives the same text."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    source = files(__package__).joinpath("report.html.j2").read_text(encoding="utf-8")
    families = ", ".join(dict.fromkeys(f"{one.family}@{one.definition}" for one in board.rankings))
    shared = shared_warnings(board.everything)
    alone = len(board.everything) == 1
    crowded = len(board.everything) > MOST_FULL_RANKINGS
    left_out = (
        "With this many rankings, tasks have only their forest plot; neuroarena board --plots writes all."
    )
    return environment.from_string(source).render(
        version=__version__,
        title=title or f"{families}: which differences are real",
        subtitle=_subtitle(board),
        simulated=board.simulated,
        facts=_facts(board),
        summary=[] if alone else [{"where": one.title, "words": verdict(one)} for one in _headlines(board)],
        shared_warnings=shared,
        notes=(*board.notes, *([left_out] if crowded else [])),
        suites=_suites(board),
        trees=[tree_section(tree) for tree in board.trees if _is_grown(tree)],
        matrices=[_matrix(board, own) for own in _by_split(board) if len(own) > 1],
        prizes=board.rules.prizes,
        rankings=[
            _ranking(one, at, alone, shared, crowded and one.kind == "task")
            for at, one in enumerate(board.everything)
        ],
        reading=_reading(board),
        recipe=_recipe(board),
        provenance=[_provenance(one) for one in board.everything],
    )


def _is_grown(tree: Tree) -> bool:
    """Return whether there is more to see than a single task."""
    return int(tree.table.loc[tree.table["task"] & tree.table["score"].notna(), "node"].nunique()) > 1


def _headlines(board: Board) -> tuple[Ranking, ...]:
    return board.overall or board.rankings


def _subtitle(board: Board) -> str:
    splits = list(dict.fromkeys(one.split for one in board.rankings))
    tasks = list(dict.fromkeys(f"{one.family}/{one.task}" for one in board.rankings))
    counts = [(len(board.teams), "team"), (len(tasks), "task"), (len(splits), "split")]
    return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in counts)


def _facts(board: Board) -> list[tuple[str, str]]:
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


def _suites(board: Board) -> list[dict[str, Any]]:
    overviews = [
        {
            "svg": _svg(figure, f"suite{at}", suite_alt_text(board, family)),
            "caption": suite_caption(board, family),
        }
        for at, (family, figure) in enumerate(suite_figures(board))
    ]
    curves = [
        {"svg": _svg(draw_curve(curve), f"curve{at}", curve.alt_text), "caption": curve.caption}
        for at, curve in enumerate(learning_curves(board.rankings))
    ]
    return [*curves, *overviews]


def _svg(figure: Any, prefix: str, description: str) -> Any:
    from markupsafe import Markup

    # matplotlib and ElementTree have escaped every text in it; a test puts a script there and looks.
    return Markup(svg_text(figure, prefix, description))


def _by_split(board: Board) -> list[list[Ranking]]:
    keys = list(dict.fromkeys((one.family, one.split) for one in board.rankings))
    everything = (*board.rankings, *board.overall)
    return [[one for one in everything if (one.family, one.split) == key] for key in keys]


def _matrix(board: Board, rankings: list[Ranking]) -> dict[str, Any]:
    found = {(str(row.team), one.task): (row, one) for one in rankings for row in rows_of(one.table)}
    teams = [team for team in board.teams if any((team, one.task) in found for one in rankings)][:MOST_ROWS]
    rows = []
    for team in teams:
        any_row = next(found[team, one.task][0] for one in rankings if (team, one.task) in found)
        cells = []
        for one in rankings:
            if (team, one.task) not in found:
                cells.append({"score": UNKNOWN, "bounds": "", "best": False})
                continue
            row = found[team, one.task][0]
            bounds = bounds_text(row.ci95_low, row.ci95_high)
            cells.append({"score": score_text(row.score), "bounds": bounds, "best": row.rank == 1})
        floor = any_row.role in BLIND_FLOORS
        rows.append({"team": clean_name(team), "marks": marks_of(any_row), "floor": floor, "cells": cells})
    first = rankings[0]
    caption_ = f"{first.family}@{first.definition}, {first.split}: {first.metric_title}"
    caption_ += " with 95 % interval, " if any(one.decides for one in rankings) else ", "
    caption_ += f"{direction_words(first)}; bold: the best of each task."
    names = [one.task for one in rankings]
    if len(names) > WIDEST_MATRIX and len(rows) < len(names):
        return {"caption": caption_, "corner": "task", **_transpose(names, rows)}
    return {"caption": caption_, "corner": "team", "columns": names, "rows": rows}


def _transpose(names: list[str], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Transpose a matrix: many tasks go down the page, few teams across it."""
    turned = [
        {"team": name, "marks": "", "floor": False, "cells": [row["cells"][at] for row in rows]}
        for at, name in enumerate(names)
    ]
    return {"columns": [row["team"] for row in rows], "rows": turned}


def _ranking(ranking: Ranking, at: int, alone: bool, shared: list[str], few_plots: bool) -> dict[str, Any]:
    kinds = possible_plots(ranking)
    if few_plots:
        kinds = kinds[:1]
    figures = {
        kind: {
            "svg": _svg(PLOTS[kind](ranking), f"r{at}{kind}", alt_text(kind, ranking)),
            "caption": caption(kind, ranking),
        }
        for kind in kinds
    }
    if kinds and not few_plots:
        figures["forest"]["phone"] = _svg(phone_forest(ranking), f"r{at}phone", alt_text("forest", ranking))
    manifest, table = ranking.manifest, ranking.table
    letters = [
        {"letter": letter, "teams": _some(group)}
        for letter, group in zip(group_names(ranking), ranking.groups, strict=True)
    ]
    top = table.iloc[0] if len(table) else None
    return {
        "id": f"ranking-{at}",
        "open": alone or at == 0,
        "title": ranking.title,
        "short": "nobody ranked" if top is None else f"{clean_name(top['team'])} {score_text(top['score'])}",
        "simulated": ranking.simulated,
        "question": manifest.readable_question,
        "metric": ranking.metric_title,
        "direction": direction_words(ranking),
        "n_units": levels_words(ranking),
        "unit": manifest.unit,
        "benchmark": ranking.benchmark,
        "verdict": verdict(ranking),
        "warnings": [text for text in ranking.warnings if text not in shared],
        "forest": figures.get("forest"),
        "figures": [figures[kind] for kind in kinds if kind != "forest"],
        "tie_break": None if manifest.tie_break is None else METRICS.get(manifest.tie_break).title,
        "extra_heads": [column_heading(ranking, name) for name in ranking.extra_columns],
        "p_head": p_heading(ranking.rules),
        "rows": _rows(ranking),
        "left_out": max(0, len(table) - MOST_ROWS),
        "unranked": [
            {"team": clean_name(row.team), "reason": clean_name(row.reason)}
            for row in rows_of(ranking.unranked)
        ],
        "groups": letters[:MOST_GROUPS] if len(table) > 1 else [],
        "pairs": _pair_rows(ranking, ranking.pairs),
        "pairs_words": _pairs_words(ranking),
        "besides": [*_on_these_tasks(ranking), *_by_mean_rank(ranking)],
    }


def _some(teams: list[str], most: int = 8) -> str:
    more = f" and {len(teams) - most} more" if len(teams) > most else ""
    return ", ".join(clean_name(team) for team in teams[:most]) + more


def _rows(ranking: Ranking) -> list[dict[str, Any]]:
    rows, breaks = [], find_breaks(ranking)
    several = len(breaks) < len(ranking.table) - 1
    extras = cells_of(ranking, ranking.extra_columns)
    for at, (row, extra) in enumerate(zip(rows_of(ranking.table.head(MOST_ROWS)), extras, strict=False)):
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
                "ranks": ranks_text(row.rank_low, row.rank_high),
                "prize": row.prize if is_known(row.prize) else UNKNOWN,
            }
        )
    return rows


def _pair_rows(ranking: Ranking, pairs: pd.DataFrame) -> list[dict[str, str]]:
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
        for row in rows_of(pairs.head(MOST_PAIRS))
    ]


def _on_these_tasks(ranking: Ranking) -> list[dict[str, Any]]:
    """Return the verdicts that hold on these tasks alone, as one more table with its heading; none without any."""
    rows = ranking.on_these_tasks
    if rows is None or rows.empty:
        return []
    scope = str(rows["scope"].iloc[0]).removeprefix("random: ")
    words = (
        "The verdicts above hold for other tasks like these. Those below hold on these tasks and no others."
    )
    found = {"heading": "On these tasks alone", "scope": scope, "words": words, "ranks": []}
    return [{**found, "pairs": _pair_rows(ranking, plain_pairs(rows))}]


def _by_mean_rank(ranking: Ranking) -> list[dict[str, Any]]:
    """Return the mean ranks over tasks and their verdicts, as one more table with its heading; none without any."""
    found = ranking.mean_ranks
    if found is None:
        return []
    ranks = [
        {
            "team": clean_name(row.team),
            "mean_rank": interval_text(row.mean_rank, row.ci95_low, row.ci95_high),
            "letters": letters_text(row.letters),
            "ranks": ranks_text(row.rank_low, row.rank_high),
        }
        for row in rows_of(found.table)
    ]
    scope = str(found.verdicts["scope"].iloc[0]).removeprefix("random: ") if len(found.verdicts) else ""
    return [
        {
            "heading": mean_rank_heading(found),
            "scope": scope,
            "words": MEAN_RANK_WORDS,
            "ranks": ranks,
            "pairs": _pair_rows(ranking, plain_pairs(found.verdicts)),
        }
    ]


def _pairs_words(ranking: Ranking) -> str:
    n, shown = len(ranking.verdicts), min(len(ranking.pairs), MOST_PAIRS)
    first = (
        f"; the first {shown} of {n:,} shown, neuroarena board --export verdicts writes all"
        if n > shown
        else ""
    )
    return f"{alpha_words(ranking)}{first}"


def _reading(board: Board) -> list[str]:
    rules = board.rules
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


def _recipe(board: Board) -> list[tuple[str, str]]:
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


def _provenance(ranking: Ranking) -> dict[str, str]:
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
        "bootstrap": f"seed {drawn['seed']}, {drawn['n_units']} units{clusters}" if drawn else UNKNOWN,
    }
