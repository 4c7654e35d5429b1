"""The HTML report: one file, no network, no script."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from neuroarena import __version__
from neuroarena.atomic import write_text
from neuroarena.board.board import Board
from neuroarena.board.descriptions import (
    MOST_PAIRS,
    MOST_ROWS,
    count_left_out,
    count_pairs,
    describe_pairs,
    describe_rows,
    explain_columns,
    list_facts,
    list_origins,
    list_recipe,
)
from neuroarena.board.entries import BLIND_FLOORS
from neuroarena.board.figures import svg_text
from neuroarena.board.learning_curves import draw_curve, learning_curves
from neuroarena.board.phone_plots import phone_forest
from neuroarena.board.plots import PLOTS, alt_text, caption, possible_plots
from neuroarena.board.ranking import Ranking, plain_pairs
from neuroarena.board.suite_plots import board_looks, suite_alt_text, suite_caption, suite_figures
from neuroarena.board.table import leave_leader_and_neighbours
from neuroarena.board.tree_views import tree_section
from neuroarena.board.trees import Tree
from neuroarena.board.wording import (
    MEAN_RANK_WORDS,
    UNKNOWN,
    bounds_text,
    clean_name,
    column_heading,
    describe_scope,
    direction_words,
    group_names,
    interval_text,
    letters_text,
    levels_words,
    marks_of,
    mean_rank_heading,
    p_heading,
    ranks_text,
    rows_of,
    score_text,
    shared_warnings,
    verdict,
)
from neuroarena.scoring import METRICS

if TYPE_CHECKING:
    import pandas as pd

MOST_GROUPS = 12
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
    with _passing_over_what_stands():
        return _render(board, title)


@contextlib.contextmanager
def _passing_over_what_stands() -> Iterator[None]:
    """Let the collector of garbage pass over what stands: with 5,000 entries it took a quarter of a page's time."""
    if gc.get_freeze_count():  # somebody else keeps objects from it, and knows when to let them go
        yield
        return
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _render(board: Board, title: str | None) -> str:
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
        facts=list_facts(board),
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
        reading=explain_columns(board.rules),
        recipe=list_recipe(board),
        provenance=[list_origins(one) for one in board.everything],
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


def _suites(board: Board) -> list[dict[str, Any]]:
    overviews = [
        {
            "svg": _svg(figure, f"suite{at}", suite_alt_text(board, family)),
            "caption": suite_caption(board, family),
        }
        for at, (family, figure) in enumerate(suite_figures(board))
    ]
    looks = board_looks(board)
    curves = [
        {"svg": _svg(draw_curve(curve, looks), f"curve{at}", curve.alt_text), "caption": curve.caption}
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
        "rows": describe_rows(ranking),
        "left_out": max(0, len(table) - MOST_ROWS),
        "unranked": [
            {"team": clean_name(row.team), "reason": clean_name(row.reason)}
            for row in rows_of(ranking.unranked)
        ],
        "groups": letters[:MOST_GROUPS] if len(table) > 1 else [],
        "pairs": describe_pairs(ranking, ranking.pairs),
        "pairs_words": count_pairs(ranking),
        "besides": [*_on_these_tasks(ranking), *_by_mean_rank(ranking)],
    }


def _some(teams: list[str], most: int = 8) -> str:
    more = f" and {len(teams) - most} more" if len(teams) > most else ""
    return ", ".join(clean_name(team) for team in teams[:most]) + more


def _on_these_tasks(ranking: Ranking) -> list[dict[str, Any]]:
    """Return the verdicts that hold on these tasks alone, as one more table with its heading; none without any."""
    rows = ranking.on_these_tasks
    if rows is None or rows.empty:
        return []
    words = (
        "The verdicts above hold for other tasks like these. Those below hold on these tasks and no others."
    )
    found = {"heading": "On these tasks alone", "scope": _scope_of(rows), "words": words, "ranks": []}
    return [{**found, "pairs": _besides_pairs(ranking, rows)}]


def _scope_of(rows: pd.DataFrame) -> str:
    """Return what a table of verdicts is about, and how many of its pairs a page shows."""
    shown = min(len(leave_leader_and_neighbours(rows)), MOST_PAIRS)
    return f"{describe_scope(rows)}{count_left_out(len(rows), shown)}"


def _besides_pairs(ranking: Ranking, rows: pd.DataFrame) -> list[dict[str, str]]:
    return describe_pairs(ranking, plain_pairs(leave_leader_and_neighbours(rows)))


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
    return [
        {
            "heading": mean_rank_heading(found),
            "scope": _scope_of(found.verdicts),
            "words": MEAN_RANK_WORDS,
            "ranks": ranks,
            "pairs": _besides_pairs(ranking, found.verdicts),
        }
    ]
