"""One entry against each other one, board by board: the verdicts of its pairs, seen from its side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd

from neuroarena.board.ranking import Ranking
from neuroarena.board.site.leads import AGAINST_LEADER, AGAINST_NEXT, describe_verdict
from neuroarena.board.site.pages import Content
from neuroarena.board.wording import bounds_text, clean_name, is_known, pair_p_text, rows_of, score_text
from neuroarena.statistics.verdicts import BETTER

# On larger boards each page would have a thousand rows, and a site a million; the tables of verdicts have all of them.
MOST_TEAMS, MOST_ROWS = 100, 400
COLUMNS = ("board", "other", "delta", "low", "high", "p_holm", "verdict")


def list_duels(content: Content, team: str) -> tuple[list[dict[str, Any]], int]:
    """Return one row per board and other entry: the difference, positive where the team is ahead, and the verdict.

    Returns
    -------
    list of dict
        Texts for a page, and `data` with the numbers (`COLUMNS`); at most `MOST_ROWS`, of boards with at most
        `MOST_TEAMS` teams.
    int
        How many there are in all.
    """
    rows = [row for one in content.board.everything for row in _duels_on(content, one, team)]
    order = {str(other): at for at, other in enumerate(content.board.teams)}
    rows.sort(key=lambda row: order.get(row["data"]["other"], len(order)))
    return rows[:MOST_ROWS], len(rows)


def tabulate_duels(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Return the numbers of duels as a table."""
    table = pd.DataFrame([row["data"] for row in rows], columns=[*COLUMNS])
    return table.astype(dict.fromkeys(("delta", "low", "high", "p_holm"), "float64"))


def _duels_on(content: Content, ranking: Ranking, team: str) -> Iterator[dict[str, Any]]:
    if team not in content.places[ranking.name] or len(ranking.table) > MOST_TEAMS:
        return
    pairs = ranking.judgements
    for row in rows_of(pairs[(pairs["a"] == team) | (pairs["c"] == team)]):
        ahead = row.a == team
        ends = (row.judged_low, row.judged_high) if ahead else (-row.judged_high, -row.judged_low)
        delta = row.delta if ahead else -row.delta
        other, lost = str(row.c if ahead else row.a), row.verdict == BETTER and not ahead
        yield {
            "title": content.title_of(ranking),
            "address": content.boards[ranking.name],
            "other": clean_name(other),
            "delta": f"{_signed(delta)} {bounds_text(*ends)}".strip(),
            "p": pair_p_text(ranking, row.p_holm),
            "chip": describe_verdict(row.verdict, AGAINST_NEXT if ahead else AGAINST_LEADER),
            "data": {
                "board": content.boards[ranking.name],
                "other": other,
                "delta": _number(delta),
                "low": _number(ends[0]),
                "high": _number(ends[1]),
                "p_holm": _number(row.p_holm),
                "verdict": "worse" if lost else str(row.verdict),
            },
        }


def _signed(delta: float) -> str:
    """Return a difference with its sign; a 0 has none.

    Examples
    --------
    >>> _signed(0.1), _signed(-0.1), _signed(-0.0), _signed(float("nan"))
    ('+0.100', '-0.100', '0.000', '–')
    """
    text = score_text(delta).lstrip("-")
    if not is_known(delta) or not float(text):
        return text
    return f"{'-' if delta < 0 else '+'}{text}"


def _number(value: Any) -> float | None:
    return float(value) if is_known(value) else None
