"""Boards over several tracks: points, and one encoder for all."""

from __future__ import annotations

from typing import Any

import pandas as pd

from neuroarena.board.board import records
from neuroarena.board.faces import own_standings
from neuroarena.board.site.names import assign_slugs
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.standings import Standings
from neuroarena.board.wording import cell_text, clean_name


def name_standings(content: Content) -> dict[str, Standings]:
    """Return each board that a family offers over its own tasks, by its address; others are left out."""
    made = {
        name: one for name, one in own_standings(content.board.rankings).items() if isinstance(one, Standings)
    }
    slugs = assign_slugs(made)
    return {f"boards/over-{slugs[name]}": one for name, one in made.items()}


def make_standings_page(content: Content, address: str, standings: Standings) -> Page:
    """Make the page of a board over several tracks."""
    columns = [name for name in standings.table.columns if not name.startswith("seed_")]
    rows = [
        [{"text": _cell(name, value), "address": content.entries.get(str(value)) if name == "team" else None}
         for name, value in row.items()]
        for row in records(standings.table[columns])
    ]  # fmt: skip
    view: dict[str, Any] = {
        "rule": standings.rule,
        "heads": [clean_name(name.replace("_", " ")) for name in columns],
        "rows": rows,
        "unranked": records(standings.unranked),
        "simulated": standings.simulated,
    }
    data = {
        "snapshot": content.sources.snapshot,
        "title": standings.title,
        "rule": standings.rule,
        "tracks": list(standings.tracks),
        "table": records(standings.table),
        "unranked": view["unranked"],
    }
    table: pd.DataFrame = standings.table
    return Page(address, standings.title, "standings.html.j2", view, data, {"": table})


def _cell(name: str, value: Any) -> str:
    return str(int(value)) if name in ("rank", "n_tracks") and value is not None else cell_text(value)
