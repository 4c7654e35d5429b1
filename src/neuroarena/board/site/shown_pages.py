"""The page of a sealed board: the values that teams were shown, and why there is no more."""

from __future__ import annotations

import pandas as pd

from neuroarena.board.site.board_pages import describe_heat
from neuroarena.board.site.contests import Heat
from neuroarena.board.site.pages import Content, Page
from neuroarena.board.wording import clean_name

COLUMNS = ("rank", "team", "affiliation", "role", "shown", "scored", "last")


def make_shown_page(content: Content, heat: Heat) -> Page:
    """Make the page of a board whose unit scores are not public."""
    rows = [row.model_dump(mode="json") for row in heat.shown or ()]
    digits = count_digits(heat)
    view = {
        "contest": describe_heat(heat),
        "rows": [
            {
                **row,
                "team": clean_name(row["team"]),
                "affiliation": clean_name(row["affiliation"] or ""),
                "value": format_shown(row["shown"], digits),
                "last": str(row["last"])[:16].replace("T", " "),
                "address": content.entries.get(row["team"]),
            }
            for row in rows
        ],
        "affiliations": any(row["affiliation"] for row in rows),
        "metric": f"{heat.metric}, {heat.direction} is better",
        "benchmark": heat.benchmark,
        "why": heat.why,
        "lead": describe_shown_lead(heat),
        "simulated": heat.simulated,
    }
    data = {"snapshot": content.sources.snapshot, **heat.model_dump(mode="json")}
    table = pd.DataFrame(rows, columns=[*COLUMNS])
    table["shown"] = table["shown"].astype("float64")
    return Page(content.boards[heat.label], heat.title, "shown.html.j2", view, data, {"": table})


def describe_shown_lead(heat: Heat) -> dict[str, str]:
    """Return who leads a sealed board by the values that were shown; no verdict can be made from them."""
    first = [row for row in heat.shown or () if row.rank == 1]
    if not first:
        return {"look": "none", "sign": "–", "words": heat.why, "team": "", "score": "", "ahead": ""}
    names = ", ".join(clean_name(row.team) for row in first)
    words = "No verdict before the reveal"
    score = format_shown(first[0].shown, count_digits(heat))
    return {"look": "none", "sign": "–", "words": words, "team": names, "score": score, "ahead": ""}


def count_digits(heat: Heat) -> int:
    """Return how many digits after the point the values of a board have: as many as the longest of them."""
    values = [f"{row.shown:.12g}" for row in heat.shown or () if row.shown is not None]
    return max((len(value.partition(".")[2]) for value in values if "e" not in value), default=0)


def format_shown(value: float | None, digits: int) -> str:
    """Return a shown value with as many digits as all of its board: never one more than the step has.

    Examples
    --------
    >>> format_shown(0.8, 2), format_shown(120.0, 0), format_shown(None, 2)
    ('0.80', '120', '–')
    """
    return "–" if value is None else f"{value:.{digits}f}"
