"""The first page: every board at a glance, and what the site was built from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from neuroarena.board.board import records
from neuroarena.board.ranking import Ranking
from neuroarena.board.site.bars import axis_of_ranking
from neuroarena.board.site.board_pages import make_rows, summarise_boards
from neuroarena.board.site.contests import Contest, Heat
from neuroarena.board.site.leads import describe_lead
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.site.shown_pages import count_digits, describe_shown_lead, format_shown
from neuroarena.board.site.standings_pages import HEADS, describe_overall_lead, find_score
from neuroarena.board.standings import Standings
from neuroarena.board.tree_views import tree_section
from neuroarena.board.trees import Tree
from neuroarena.board.wording import cell_text, clean_name, verdict

# As many boards are shown with their first rows; more are listed by task and split.
MOST_CARDS, ROWS_OF_CARD = 12, 5


def make_overview(content: Content, over_tracks: Mapping[str, Standings]) -> Page:
    """Make the first page; boards over tracks have pages of their own, which it names."""
    board, table = content.board, summarise_boards(content)
    plain = [one for one in board.rankings if one.split not in content.heats]
    cards = [one for one in board.overall if one.split not in content.heats] or plain
    view: dict[str, Any] = {
        "totals": [] if content.sources.contests and not plain else _totals(content, plain),
        "contests": [describe_contest(content, one) for one in content.sources.contests],
        "cards": [_card(content, one) for one in cards[:MOST_CARDS]],
        "grids": _grids(content, plain) if len(plain) > MOST_CARDS or cards != plain else [],
        "over_tracks": [_points_card(content, address, one) for address, one in over_tracks.items()],
        "notes": [*board.notes, *content.sources.notes],
        "trees": [_tree(content, tree) for tree in board.trees if tree.split not in content.heats],
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
        "simulated": content.simulated,
        "frozen": content.frozen,
        "totals": {"entries": len(content.teams), "results": len(content.sources.entries)},
        "competitions": [_summarise_contest(content, one) for one in content.sources.contests],
        "boards": records(table),
        "entries": [{"team": team, "page": f"{address}.html"} for team, address in content.entries.items()],
        "notes": list(view["notes"]),
    }
    return Page("index", content.title, "index.html.j2", view, data, {"": table, "all": board.frame()})


def _totals(content: Content, rankings: Sequence[Ranking]) -> list[tuple[str, int]]:
    own = [entry for entry in content.sources.entries if entry.split not in content.heats]
    ranked = {str(team) for one in rankings for team in one.table["team"]}
    return [
        (f"of {len({entry.team for entry in own})} entries ranked", len(ranked)),
        _count("task", len({(one.family, one.task) for one in rankings})),
        _count("split", len({(one.family, one.split) for one in rankings})),
        _count("result", len(own)),
    ]


def _count(noun: str, number: int) -> tuple[str, int]:
    return noun if number == 1 else f"{noun}s", number


def describe_contest(content: Content, contest: Contest) -> dict[str, Any]:
    """Return what the first page shows of a competition: its timeline, its totals, and a card for every board."""
    cards = []
    for heat in contest.heats:
        if heat.shown is not None:
            cards.append(_shown_card(content, heat))
            continue
        own = [one for one in content.board.everything if one.split == heat.label]
        overall = [one for one in own if one.kind == "overall"]
        cards += [_card(content, one) for one in overall or own]
    return {
        "title": contest.title,
        "description": contest.description,
        "contact": contest.contact,
        "totals": [
            _count("team", contest.teams),
            ("submissions scored", f"{contest.scored} of {contest.received}"),
            _count("track", len({heat.track for heat in contest.heats})),
        ],
        "phases": [
            {
                "title": phase.title,
                "words": phase.words,
                "state": phase.state_at(contest.as_of),
                # What a reader's clock is compared with: a page from a disk may be read long after it was made.
                "from": phase.start.isoformat(),
                "until": phase.end.isoformat(),
                "start": f"{phase.start:%Y-%m-%d %H:%M}",
                "end": "" if phase.end == phase.start else f"{phase.end:%Y-%m-%d %H:%M}",
            }
            for phase in contest.phases
        ],
        "cards": cards,
    }


def _summarise_contest(content: Content, contest: Contest) -> dict[str, Any]:
    said = contest.model_dump(mode="json", include={"name", "title", "as_of", "teams", "phases", "contact"})
    boards = [
        {
            "title": heat.title,
            "scored": heat.scored,
            "received": heat.received,
            "public": heat.shown is None,
            "pages": [f"{content.boards[heat.label]}.html"]
            if heat.shown is not None
            else [
                f"{content.boards[one.name]}.html"
                for one in content.board.everything
                if one.split == heat.label
            ],
        }
        for heat in contest.heats
    ]
    return {**said, "scored": contest.scored, "received": contest.received, "boards": boards}


def _shown_card(content: Content, heat: Heat) -> dict[str, Any]:
    rows, digits = heat.shown or (), count_digits(heat)
    return {
        "title": heat.title,
        "address": content.boards[heat.label],
        "lead": describe_shown_lead(heat),
        "metric": heat.metric,
        "rows": [
            {
                "rank": row.rank or "–",
                "team": clean_name(row.team),
                "score": format_shown(row.shown, digits),
                "tie": "",
                "bar": None,
                "floor": False,
                "address": content.entries.get(row.team),
            }
            for row in rows[:ROWS_OF_CARD]
        ],
        "more": max(0, len(rows) - ROWS_OF_CARD),
        "simulated": heat.simulated,
    }


def _points_card(content: Content, address: str, standings: Standings) -> dict[str, Any]:
    """Return the card of a board over tracks."""
    scored = find_score(standings)
    rows = [
        {
            "rank": int(row["rank"]),
            "team": clean_name(row["team"]),
            "score": cell_text(row[scored]),
            "tie": "",
            "bar": None,
            "floor": False,
            "address": content.entries.get(str(row["team"])),
        }
        for row in records(standings.table.head(ROWS_OF_CARD))
    ]
    return {
        "title": standings.title,
        "address": address,
        "lead": describe_overall_lead(standings).to_dict(),
        "metric": HEADS.get(scored, scored),
        "rows": rows,
        "more": max(0, len(standings.table) - ROWS_OF_CARD),
        "simulated": standings.simulated,
    }


def _card(content: Content, ranking: Ranking) -> dict[str, Any]:
    rows = make_rows(content, ranking, axis_of_ranking(ranking))
    return {
        "title": content.title_of(ranking),
        "address": content.boards[ranking.name],
        "lead": describe_lead(ranking).to_dict(),
        "metric": ranking.metric_title,
        "rows": rows[:ROWS_OF_CARD],
        "more": max(0, len(rows) - ROWS_OF_CARD),
        "simulated": ranking.simulated,
        "verdict": verdict(ranking),
    }


def _grids(content: Content, rankings: Sequence[Ranking]) -> list[dict[str, Any]]:
    """Return one table per family and view: tasks down, splits across, the leader of each in the cell."""
    grids = []
    views = dict.fromkeys((one.family, content.views[one.split][1]) for one in rankings)
    for family, view in views:
        own = [one for one in rankings if one.family == family and content.views[one.split][1] == view]
        splits = list(dict.fromkeys(content.views[one.split][0] for one in own))
        by_place = {(one.task, content.views[one.split][0]): one for one in own}
        tasks = {one.task: one.manifest.title for one in own}
        rows = [
            {"task": title, "cells": [_cell(content, by_place.get((task, split))) for split in splits]}
            for task, title in tasks.items()
        ]
        first = own[0]
        words = [
            f"{family}@{first.definition}",
            *(one for one in view.split(", ") if one != first.definition),
        ]
        title = f"{', '.join(one for one in words if one)} · {len(rows)} tasks"
        grids.append({"title": title, "splits": splits, "rows": rows})
    return grids


def _tree(content: Content, tree: Tree) -> dict[str, Any]:
    """Return a tree as the page shows it: every task leads to its board, and says its version."""
    own = {
        one.task: one
        for one in content.board.rankings
        if (one.family, one.split) == (tree.family, tree.split)
    }
    section = tree_section(tree)
    rows = [
        {
            **row,
            "address": content.boards[own[row["name"]].name] if row["name"] in own else None,
            "version": own[row["name"]].definition if row["name"] in own else "",
        }
        for row in section["rows"]
    ]
    return {**section, "rows": rows}


def _cell(content: Content, ranking: Ranking | None) -> dict[str, Any] | None:
    if ranking is None:
        return None
    return {"address": content.boards[ranking.name], "lead": describe_lead(ranking).to_dict()}
