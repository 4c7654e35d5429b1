"""The tree of a suite in a terminal and on a page."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from neuroarena.board.terminal import FULL_WIDTH_OF_CELL, make_console
from neuroarena.board.trees import Tree
from neuroarena.board.wording import (
    UNKNOWN,
    bounds_text,
    clean_name,
    interval_text,
    is_known,
    letters_text,
    rows_of,
    score_text,
)

INDENT = "  "
# Columns between two columns of a table.
GAP = 3
RULE = (
    "Every node is the mean of its children. Squared errors add up: those of k children / k^2, and tasks that share "
    "images vary together. Verdicts and intervals hold on these tasks."
)


def print_tree(tree: Tree, console: Console | None = None) -> None:
    """Print the ranking of the root, then every node with the teams side by side."""
    console = console or make_console()
    title = Text(f"{tree.family} · {tree.root}", style="bold")
    if tree.simulated:
        title.append("   simulated", style="bold magenta")
    console.print(title)
    ranked = tree.node(tree.root).dropna(subset=["score"])
    if len(ranked):
        console.print(_root_table(tree))
    for team, reason in describe_missing(tree):
        console.print(Text(f"  not ranked  {clean_name(team)}: {reason}", style="red"))
    teams = tree.teams
    longest = max(len(INDENT) * node.depth + len(node.name) for node in tree.nodes)
    # A name is broken only where not even one team would stand beside it.
    named = min(longest, console.width - FULL_WIDTH_OF_CELL - GAP)
    fitting = max(1, (console.width - named) // (FULL_WIDTH_OF_CELL + GAP))
    for start in range(0, len(teams), fitting):
        console.print()
        console.print(_node_table(tree, teams[start : start + fitting], named))
    for note in tree.notes:
        console.print(Text(f"! {note}", style="yellow"))
    console.print(Text(RULE, style="dim"))


def describe_missing(tree: Tree) -> list[tuple[str, str]]:
    """Return why some teams are not ranked at the root: the tasks that they lack."""
    return [
        (str(row.team), f"no result on {row.missing}")
        for row in rows_of(tree.node(tree.root))
        if not is_known(row.score)
    ]


def _root_table(tree: Tree) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("#", justify="right", no_wrap=True)
    table.add_column("team", overflow="fold", min_width=12)
    table.add_column(f"{tree.root} [95 %]", no_wrap=True)
    table.add_column("group", justify="center", no_wrap=True)
    for row in rows_of(tree.node(tree.root).dropna(subset=["score"])):
        score = interval_text(row.score, row.ci95_low, row.ci95_high)
        table.add_row(str(row.rank), Text(clean_name(row.team)), score, letters_text(row.letters))
    return table


def _node_table(tree: Tree, teams: list[str], width: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1), show_edge=False)
    table.add_column("node", overflow="fold", width=width)
    for team in teams:
        table.add_column(Text(clean_name(team)), justify="right", overflow="fold")
    for node in tree.nodes:
        rows = {str(row.team): row for row in rows_of(tree.node(node.name))}
        name = Text(INDENT * node.depth + node.name, style="" if node.is_task else "bold")
        cells = [_cell(rows[team]) for team in teams]
        table.add_row(name, *(Text(f"{cell['score']}\n{cell['bounds']}".rstrip("\n")) for cell in cells))
    return table


def _cell(row: Any) -> dict[str, Any]:
    if not is_known(row.score):
        return {"score": UNKNOWN, "bounds": "", "best": False, "why": f"no result on {row.missing}"}
    return {
        "score": score_text(row.score),
        "bounds": bounds_text(row.ci95_low, row.ci95_high),
        "best": row.rank == 1,
        "why": "",
    }


def tree_section(tree: Tree) -> dict[str, Any]:
    """Return a tree as a page shows it: one row per node, one column per team."""
    teams = tree.teams
    rows = []
    for node in tree.nodes:
        own = {str(row.team): row for row in rows_of(tree.node(node.name))}
        rows.append(
            {
                "name": node.name,
                "depth": node.depth,
                "task": node.is_task,
                "cells": [{**_cell(own[team]), "letters": own[team].letters or ""} for team in teams],
            }
        )
    return {
        "title": f"{tree.family}, {tree.split}: {tree.root}",
        "teams": [clean_name(team) for team in teams],
        "rows": rows,
        "unranked": [{"team": clean_name(team), "reason": reason} for team, reason in describe_missing(tree)],
        "notes": tree.notes,
        "rule": RULE,
        "simulated": tree.simulated,
    }
