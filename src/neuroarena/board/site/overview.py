"""The first page: every board at a glance, and what the site was built from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from neuroarena.board.board import records
from neuroarena.board.ranking import Ranking
from neuroarena.board.site.bars import axis_of_ranking
from neuroarena.board.site.board_pages import make_rows, summarise_boards
from neuroarena.board.site.leads import describe_lead
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.standings import Standings
from neuroarena.board.tree_views import tree_section
from neuroarena.board.wording import verdict

# As many boards are shown with their first rows; more are listed by task and split.
MOST_CARDS, ROWS_OF_CARD = 9, 5


def make_overview(content: Content, over_tracks: Mapping[str, Standings]) -> Page:
    """Make the first page; boards over tracks have pages of their own, which it names."""
    board, table = content.board, summarise_boards(content)
    cards = board.overall or board.rankings
    view: dict[str, Any] = {
        "totals": _totals(content),
        "cards": [_card(content, one) for one in cards[:MOST_CARDS]],
        "grids": _grids(content) if len(board.everything) > len(cards[:MOST_CARDS]) else [],
        "over_tracks": [{"title": one.title, "address": address} for address, one in over_tracks.items()],
        "notes": [*board.notes, *content.sources.notes],
        "trees": [tree_section(tree) for tree in board.trees],
        "readers": [f"{count} {name}" for name, count in content.sources.readers.items()],
        "entries": [
            {"team": team, "address": content.entries[team], "n": len(content.teams[team])}
            for team in dict.fromkeys((*board.teams, *content.teams))
        ],
    }
    data = {
        "schema_version": 1,
        "title": content.title,
        "snapshot": content.sources.snapshot,
        "last_update": content.sources.updated.isoformat(timespec="seconds"),
        "simulated": board.simulated,
        "frozen": content.frozen,
        "totals": {"entries": len(content.teams), "results": len(content.sources.entries)},
        "boards": records(table),
        "entries": [{"team": team, "page": f"{address}.html"} for team, address in content.entries.items()],
        "notes": list(view["notes"]),
    }
    return Page("index", content.title, "index.html.j2", view, data, {"": table, "all": board.frame()})


def _totals(content: Content) -> list[tuple[str, int]]:
    board = content.board
    ranked = {str(team) for one in board.rankings for team in one.table["team"]}
    return [
        (f"of {len(content.teams)} entries ranked", len(ranked)),
        ("tasks", len({(one.family, one.task) for one in board.rankings})),
        ("splits", len({(one.family, one.split) for one in board.rankings})),
        ("results", len(content.sources.entries)),
    ]


def _card(content: Content, ranking: Ranking) -> dict[str, Any]:
    rows = make_rows(content, ranking, axis_of_ranking(ranking))
    return {
        "title": ranking.title,
        "address": content.boards[ranking.name],
        "lead": describe_lead(ranking).to_dict(),
        "metric": ranking.metric_title,
        "rows": rows[:ROWS_OF_CARD],
        "more": max(0, len(rows) - ROWS_OF_CARD),
        "simulated": ranking.simulated,
        "verdict": verdict(ranking),
    }


def _grids(content: Content) -> list[dict[str, Any]]:
    """Return one table per family: tasks down, splits across, the leader of each in the cell."""
    grids = []
    for family in dict.fromkeys(one.family for one in content.board.rankings):
        own = [one for one in content.board.rankings if one.family == family]
        splits = list(dict.fromkeys(one.split for one in own))
        by_place = {(one.task, one.split): one for one in own}
        tasks = {one.task: one.manifest.title for one in own}
        rows = [
            {"task": title, "cells": [_cell(content, by_place.get((task, split))) for split in splits]}
            for task, title in tasks.items()
        ]
        first = own[0]
        grids.append({"title": f"{family}@{first.definition}", "splits": splits, "rows": rows})
    return grids


def _cell(content: Content, ranking: Ranking | None) -> dict[str, Any] | None:
    if ranking is None:
        return None
    return {"address": content.boards[ranking.name], "lead": describe_lead(ranking).to_dict()}
