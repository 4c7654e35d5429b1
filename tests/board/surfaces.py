"""Reading a board back from what people see: terminal, HTML, CSV, JSON and compare, each by its own parser."""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
from html.parser import HTMLParser
from typing import Any, NamedTuple

from neuroarena.board import Board, print_board
from neuroarena.board.exports import verdict_table
from neuroarena.board.report import render_report
from neuroarena.board.terminal import make_console
from neuroarena.cli.comparing import Pairs, choose_pairs, describe_pairs

Pair = tuple[str, str]


class Seen(NamedTuple):
    """What one surface says: teams in order, letters, rank ranges, stars against the next, and decided pairs.

    `numbers` are the score, the ends of its interval and the p beside the star, NaN for what is not told; `sentence` is
    what is said about the leader.
    """

    order: list[str]
    letters: dict[str, str]
    ranks: dict[str, str]
    stars: dict[str, bool]
    better: set[Pair] | None = None
    verdicts: dict[Pair, str] | None = None
    numbers: dict[str, tuple[float, ...]] | None = None
    sentence: str = ""


class _Tables(HTMLParser):
    """Collects the cells of every table, by caption."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: dict[str, list[list[str]]] = {}
        self._caption = self._cell = self._rows = None
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        if tag == "table":
            self._rows, self._name = [], ""
        elif tag == "caption":
            self._caption = ""
        elif tag == "tr" and self._rows is not None:
            self._rows.append([])
        elif tag in ("td", "th") and self._rows:
            self._cell = ""

    def handle_data(self, data: str) -> None:
        if self._caption is not None:
            self._caption += data
        elif self._cell is not None:
            self._cell += data

    def handle_endtag(self, tag: str) -> None:
        if tag == "caption":
            self._name, self._caption = self._caption, None
        elif tag in ("td", "th") and self._cell is not None:
            self._rows[-1].append(" ".join(self._cell.split()))
            self._cell = None
        elif tag == "table":
            self.tables[self._name] = self._rows
            self._rows = None


def see_terminal(board: Board) -> Seen:
    output = io.StringIO()
    print_board(board, make_console(file=output, width=160))
    rows, text = [], output.getvalue()
    for line in text.splitlines():
        cells = re.split(r"\s{2,}", line.strip())
        if re.fullmatch(r"\d+", cells[0]) and len(cells) >= 7:
            rows.append(cells)
    # rank, team, score, behind, p, groups, P(1st), ranks
    return Seen(
        [row[1] for row in rows],
        {row[1]: row[-3] for row in rows},
        {row[1]: row[-1] for row in rows},
        {row[1]: row[-4].endswith("*") for row in rows},
        numbers={row[1]: _numbers(row[2], row[-4]) for row in rows},
        sentence=" ".join(text.split()),
    )


def see_html(board: Board) -> Seen:
    page = render_report(board)
    tables = _Tables(page).tables
    ranking = next(rows for name, rows in tables.items() if name.startswith("Ranking"))
    head, *rows = ranking
    at = {name: column for column, name in enumerate(head)}
    pairs = next((rows[1:] for name, rows in tables.items() if name.startswith("One verdict per pair")), [])
    words = {(row[0], row[1]): row[-1] for row in pairs}
    starred = {(row[0], row[1]) for row in pairs if row[4].endswith("*")}
    assert starred == {pair for pair, said in words.items() if said.startswith("better")}
    return Seen(
        [row[at["team"]] for row in rows],
        {row[at["team"]]: row[at["group"]] for row in rows},
        {row[at["team"]]: row[at["ranks"]] for row in rows},
        {row[at["team"]]: row[at["p next"]].endswith("*") for row in rows},
        starred,
        {pair: _word(said) for pair, said in words.items()},
        {row[at["team"]]: _numbers(row[at["score [95 %]"]], row[at["p next"]]) for row in rows},
        " ".join(html.unescape(page).split()),
    )


def see_csv(board: Board) -> Seen:
    rows = list(csv.DictReader(io.StringIO(board.frame().to_csv(index=False))))
    pairs = list(csv.DictReader(io.StringIO(verdict_table(board).to_csv(index=False))))
    return _plain(rows, pairs, lambda value: value == "True")


def see_json(board: Board) -> Seen:
    (ranking,) = json.loads(board.to_json())["rankings"]
    return _plain(ranking["table"], ranking["pairs"], bool)._replace(sentence=ranking["verdict"])


def see_compare(board: Board) -> dict[Pair, str]:
    (ranking,) = board.rankings
    found = describe_pairs(ranking, choose_pairs(ranking, None, Pairs.all, alone=False), alone=False)
    return {(row[0], row[1]): _word(row[-1]) for row in found}


def _plain(rows: list[dict[str, Any]], pairs: list[dict[str, Any]], flag: Any) -> Seen:
    return Seen(
        [row["team"] for row in rows],
        {row["team"]: row["letters"] or "–" for row in rows},
        {row["team"]: _range(row["rank_low"], row["rank_high"]) for row in rows},
        {row["team"]: flag(row["significant"]) for row in rows},
        {(row["team_a"], row["team_c"]) for row in pairs if flag(row["significant_after_holm"])},
        {(row["team_a"], row["team_c"]): row["verdict"] for row in pairs},
        {
            row["team"]: tuple(
                math.nan if row[name] in ("", None) else float(row[name])
                for name in ("score", "ci95_low", "ci95_high", "p_holm")
            )
            for row in rows
        },
    )


def _numbers(score: str, p: str) -> tuple[float, ...]:
    """Return score, ends of the interval and p from their cells."""
    found = [float(number) for number in re.findall(r"-?\d+\.\d+", score)]
    shown = p.removesuffix("*").strip()
    least = float(shown.removeprefix("< ")) if shown != "–" else math.nan
    return (*(found if len(found) == 3 else [found[0], math.nan, math.nan]), least)


def _range(low: Any, high: Any) -> str:
    if low in ("", None):
        return "–"
    first, last = int(float(low)), int(float(high))
    return str(first) if first == last else f"{first}–{last}"


def _word(said: str) -> str:
    """Return the verdict that a sentence begins with."""
    return "none" if said.startswith("no verdict") else re.split(r"[ :,]", said)[0]
