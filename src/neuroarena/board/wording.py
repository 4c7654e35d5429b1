"""How numbers and names are put into words, the same in every format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.ranking import VERY_FEW_UNITS, Ranking
from neuroarena.board.rules import Rules
from neuroarena.scoring import METRICS

UNKNOWN = "–"
ROLE_WORDS = {
    "entry": "",
    "chance": "floor: chance",
    "dummy": "floor: dummy",
    "classical": "floor: classical",
    "organiser": "organisers",
}


def rows_of(table: pd.DataFrame) -> list[Any]:
    """Return the rows of a table as named tuples."""
    return list(table.itertuples())


def known(value: Any) -> bool:
    """Return whether a number is known."""
    return value is not None and not pd.isna(value)


def shown_name(name: Any) -> str:
    """Return untrusted text without anything that could control a terminal or break a document.

    Examples
    --------
    >>> shown_name("a\\x1b[2J")
    'a\ufffd[2J'
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(name))


def score_text(value: Any) -> str:
    """Return a score with three decimals.

    Examples
    --------
    >>> score_text(0.74163), score_text(float("nan"))
    ('0.742', '–')
    """
    return f"{value:.3f}" if known(value) else UNKNOWN


def column_heading(ranking: Ranking, name: str) -> str:
    """Return the heading of a column: the title of a metric, the name of any other column."""
    metric = ranking.manifest.tie_break if name == "tie_break" else name
    if metric is not None and metric in ranking.manifest.metrics:
        return METRICS.get(metric).title
    return shown_name(name.replace("_", " "))


def cells_of(ranking: Ranking, columns: Sequence[str]) -> list[list[str]]:
    """Return the texts of some columns, row by row."""
    return [
        [cell_text(ranking.table[name].iloc[row]) for name in columns] for row in range(len(ranking.table))
    ]


def cell_text(value: Any) -> str:
    """Return a value of an extra column as text: a number with three decimals, untrusted text made harmless.

    Examples
    --------
    >>> cell_text(0.51234), cell_text("a1"), cell_text(None)
    ('0.512', 'a1', '–')
    """
    if not known(value):
        return UNKNOWN
    return shown_name(value) if isinstance(value, str) else score_text(value)


def bounds_text(low: Any, high: Any) -> str:
    """Return an interval as text, or nothing where there is none."""
    return f"[{low:.3f}, {high:.3f}]" if known(low) and known(high) else ""


def interval_text(value: Any, low: Any, high: Any) -> str:
    """Return a score with its interval.

    Examples
    --------
    >>> interval_text(0.742, 0.701, 0.78)
    '0.742 [0.701, 0.780]'
    """
    return f"{score_text(value)} {bounds_text(low, high)}".strip()


def p_text(p: Any, n_draws: int, comparisons: int = 1) -> str:
    """Return a p-value; with B draws the smallest that can be resolved is 1/B, and 0 is never printed.

    An adjusted one is resolved as finely as the smallest p times the number of comparisons.

    Examples
    --------
    >>> p_text(0.0, 10_000), p_text(0.0312, 10_000), p_text(1.0, 10_000), p_text(0.0, 10_000, comparisons=190)
    ('< 0.0001', '0.031', '1.000', '< 0.019')
    """
    if not known(p):
        return UNKNOWN
    smallest = min(1.0, comparisons / n_draws)
    if p < smallest:
        return f"< {np.format_float_positional(smallest, 2, unique=False, fractional=False, trim='-')}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}" if p < 0.0001 else f"{p:.4f}"


def p_heading(rules: Rules) -> str:
    """Head the column of p-values: which comparison of each row they belong to."""
    return "p leader" if rules.pairs == "leader" else "p next"


def p_cell(row: Any, rules: Rules, comparisons: int) -> tuple[str, bool]:
    """Return the adjusted p-value that a row of a ranking shows, and whether it is significant."""
    leader = rules.pairs == "leader"
    p, sure = (row.p_holm_leader, row.significant_leader) if leader else (row.p_holm, row.significant)
    return p_text(p, rules.n_draws, comparisons), bool(known(sure) and sure)


def share_text(share: Any) -> str:
    """Return a share of the draws in percent; 100 and 0 mean exactly all and none.

    Examples
    --------
    >>> share_text(0.437), share_text(0.9996), share_text(1.0)
    ('44 %', '> 99 %', '100 %')
    """
    if not known(share):
        return UNKNOWN
    percent = round(100 * share)
    if percent == 0 and share > 0:
        return "< 1 %"
    if percent == 100 and share < 1:
        return "> 99 %"
    return f"{percent} %"


def ranks_text(low: Any, high: Any) -> str:
    """Return the interval of ranks.

    Examples
    --------
    >>> ranks_text(1.0, 4.0), ranks_text(2.0, 2.0)
    ('1–4', '2')
    """
    if not (known(low) and known(high)):
        return UNKNOWN
    first, last = math.floor(low), math.ceil(high)
    return str(first) if first == last else f"{first}–{last}"


def group_letter(group: Any) -> str:
    """Return the letter of a tie group: A, B, ..., Z, AA, AB, ...

    Examples
    --------
    >>> group_letter(1), group_letter(27)
    ('A', 'AA')
    """
    if not known(group):
        return UNKNOWN
    number, letters = int(group), ""
    while number > 0:
        number, rest = divmod(number - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters


def direction_words(ranking: Ranking) -> str:
    """Return which scores are better, in words."""
    return f"{ranking.manifest.direction} is better"


def marks_of(row: Any) -> str:
    """Return what is shown beside a team: its role and its notes."""
    return ", ".join(shown_name(word) for word in (ROLE_WORDS.get(row.role, row.role), row.notes) if word)


def verdict(ranking: Ranking) -> str:
    """Describe in a sentence or two who leads and who cannot be told apart from the leader."""
    if ranking.table.empty:
        return "Nobody can be ranked."
    top = ranking.table.iloc[0]
    leader = shown_name(top["team"])
    metric = ranking.metric_title
    first = (
        f"{leader} has the best {metric}: {interval_text(top['score'], top['ci95_low'], top['ci95_high'])}."
    )
    groups = ranking.tie_group_lists()
    if len(ranking.table) == 1 or not groups:
        return first
    beside = [shown_name(team) for team in groups[0][1:]]
    if not beside and ranking.n_units < VERY_FEW_UNITS:
        return f"{first} It is ahead of every other entry, but {ranking.n_units} units prove little."
    if not beside:
        return f"{first} Every other entry is told apart from it."
    more = f" and {len(beside) - 4} more" if len(beside) > 4 else ""
    return f"{first} Not told apart from it: {', '.join(beside[:4])}{more}."


def shared_warnings(rankings: Sequence[Ranking]) -> list[str]:
    """Find the warnings that all rankings share, to be printed once; a single ranking shares none."""
    if len(rankings) < 2:
        return []
    first, *others = rankings
    return [text for text in first.warnings if all(text in one.warnings for one in others)]


PAIR_WORDS = {
    "neighbours": "neighbours in the order",
    "leader": "the leader against each",
    "all": "all pairs",
}


def column_notes(rules: Rules) -> list[str]:
    """Explain what the columns of a ranking mean."""
    return [
        f"[low, high]: 95 % interval, {rules.n_draws:,} bootstrap draws of the units, the same for every "
        "team. behind: distance from the leader.",
        "tie: teams with one letter are not told apart from the best of their group (the paired interval "
        "holds 0).",
        f"p: Holm-adjusted ({PAIR_WORDS[rules.pairs]}); * is significant at {rules.alpha:g}. "
        "P(1st): share of the draws in which a team is first. ranks: 95 % interval of the rank.",
    ]
