"""How numbers and names are put into words, the same in every format."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board.inference import margin_of
from neuroarena.board.mean_ranks import MeanRanks
from neuroarena.board.ranking import Ranking
from neuroarena.board.rules import Rules
from neuroarena.scoring import METRICS
from neuroarena.statistics import MINIMUM_LEVELS
from neuroarena.statistics.letters import LETTERS
from neuroarena.statistics.seeds import join_scopes
from neuroarena.statistics.verdicts import (
    BETTER,
    BEYOND,
    EQUIVALENT,
    NONE,
    UNDECIDED,
    WITHIN,
    at_most,
    count_independent,
)

UNKNOWN = "–"
MEAN_RANK_WORDS = (
    "Every task counts alike, whatever its scale; a mean rank depends on who else stands on the board."
)
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


def is_known(value: Any) -> bool:
    """Return whether a number is known."""
    return value is not None and not pd.isna(value)


def clean_name(name: Any) -> str:
    """Return untrusted text without anything that could control a terminal or break a document.

    Examples
    --------
    >>> clean_name("a\\x1b[2J")
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
    return f"{value:.3f}" if is_known(value) else UNKNOWN


def column_heading(ranking: Ranking, name: str) -> str:
    """Return the heading of a column: the title of a metric, the name of any other column."""
    metric = ranking.manifest.tie_break if name == "tie_break" else name
    if metric is not None and metric in ranking.manifest.metrics:
        return METRICS.get(metric).title
    return clean_name(name.replace("_", " "))


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
    if not is_known(value):
        return UNKNOWN
    return clean_name(value) if isinstance(value, str) else score_text(value)


def bounds_text(low: Any, high: Any, form: str = ".3f") -> str:
    """Return an interval as text, or nothing where there is none.

    An end that is not 0 is not printed as 0: whether an interval excludes 0 is what a reader looks for.

    Examples
    --------
    >>> bounds_text(0.0002, 0.03), bounds_text(-0.1, 0.2, "+.4f"), bounds_text(float("-inf"), float("inf"))
    ('[0.0002, 0.030]', '[-0.1000, +0.2000]', 'unbounded')
    >>> bounds_text(-0.0, 2e-9)
    '[0.000, 2e-09]'
    """
    if not (is_known(low) and is_known(high)):
        return ""
    if not (math.isfinite(low) and math.isfinite(high)):
        return "unbounded"
    return f"[{_end_text(low, form)}, {_end_text(high, form)}]"


def _end_text(end: float, form: str) -> str:
    """Return an end of an interval, with as many decimals as it takes to tell it from 0."""
    end += 0.0  # no minus before a 0
    sign = "+" if form.startswith("+") else ""
    forms = [form, *(f"{sign}.{decimals}f" for decimals in range(4, 7)), f"{sign}.1g"]
    return next(text for each in forms if float(text := f"{end:{each}}") != 0 or end == 0)


def interval_text(value: Any, low: Any, high: Any) -> str:
    """Return a score with its interval.

    Examples
    --------
    >>> interval_text(0.742, 0.701, 0.78)
    '0.742 [0.701, 0.780]'
    """
    return f"{score_text(value)} {bounds_text(low, high)}".strip()


def p_text(p: Any, n_draws: int = 10_000, comparisons: int = 1) -> str:
    """Return a p-value; 0 is never printed, because no board can know it.

    With B draws the smallest p that can be resolved is 1/B, an adjusted one as many times that as there are
    comparisons; a p that was not drawn is printed down to 0.0001.

    Examples
    --------
    >>> p_text(0.0), p_text(0.0312), p_text(1.0), p_text(0.0, 10_000, comparisons=190)
    ('< 0.0001', '0.031', '1.000', '< 0.019')
    """
    if not is_known(p):
        return UNKNOWN
    smallest = min(1.0, comparisons / n_draws)
    if p < smallest:
        return f"< {np.format_float_positional(smallest, 2, unique=False, fractional=False, trim='-')}"
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1g}" if p < 0.0001 else f"{p:.4f}"


def pair_p_text(ranking: Ranking, p: Any, adjusted: bool = True) -> str:
    """Return the p of a pair as its ranking resolves it; what is printed is at most alpha exactly when p is."""
    if ranking.moments is not None:
        text = p_text(p)
    else:
        text = p_text(p, ranking.rules.n_draws, len(ranking.judgements) if adjusted else 1)
    alpha = ranking.rules.alpha
    if not is_known(p) or not text[0].isdigit():
        return text
    decimals = 3
    while (float(text) <= alpha) != at_most(p, alpha) and decimals < 12:
        decimals += 1
        text = f"{p:.{decimals}f}"
    return text


def p_heading(rules: Rules) -> str:
    """Head the column of p-values: which comparison of each row they belong to."""
    return "p leader" if rules.pairs == "leader" else "p next"


def p_cell(row: Any, ranking: Ranking) -> tuple[str, bool]:
    """Return the adjusted p-value that a row of a ranking shows, and whether its verdict is "better"."""
    leader = ranking.rules.pairs == "leader"
    p, sure = (row.p_holm_leader, row.significant_leader) if leader else (row.p_holm, row.significant)
    return pair_p_text(ranking, p), bool(is_known(sure) and sure)


def letters_text(letters: Any) -> str:
    """Return the letters of a team, or a dash where there are none.

    Examples
    --------
    >>> letters_text("ab"), letters_text(None)
    ('ab', '–')
    """
    return str(letters) if is_known(letters) else UNKNOWN


def group_names(ranking: Ranking) -> list[str]:
    """Return the letter of each group of a ranking, in the order of `Ranking.groups`."""
    if ranking.moments is None:
        return list(dict.fromkeys(str(name) for name in ranking.table["letters"] if is_known(name)))
    return list(LETTERS[: len(ranking.groups)])


def explain_letters(rules: Rules) -> str:
    """Explain in a clause what it means that teams share a letter."""
    if rules.inference == "seed":
        return "teams with one letter are not told apart from the best of their group"
    return "two teams share a letter exactly when neither is better"


def find_breaks(ranking: Ranking) -> set[int]:
    """Find the rows above which everybody is better than everybody below: no letter spans the line."""
    teams = ranking.table["team"].tolist()
    place = {team: at for at, team in enumerate(teams)}
    spanned = {at for group in ranking.groups for at in range(place[group[0]] + 1, place[group[-1]] + 1)}
    if not ranking.groups:
        return set()
    return set(range(1, len(teams))) - spanned


def share_text(share: Any) -> str:
    """Return a share of the draws in percent; 100 and 0 mean exactly all and none.

    Examples
    --------
    >>> share_text(0.437), share_text(0.9996), share_text(1.0)
    ('44 %', '> 99 %', '100 %')
    """
    if not is_known(share):
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
    if not (is_known(low) and is_known(high)):
        return UNKNOWN
    first, last = math.floor(low), math.ceil(high)
    return str(first) if first == last else f"{first}–{last}"


def direction_words(ranking: Ranking) -> str:
    """Return which scores are better, in words."""
    return f"{ranking.manifest.direction} is better"


def marks_of(row: Any) -> str:
    """Return what is shown beside a team: its role and its notes."""
    return ", ".join(clean_name(word) for word in (ROLE_WORDS.get(row.role, row.role), row.notes) if word)


def verdict(ranking: Ranking) -> str:
    """Describe in a sentence or two who leads, and what is known about the others.

    It is read off the verdicts of the leader's pairs, as every star and letter is.
    """
    if ranking.table.empty:
        return "Nobody can be ranked."
    top, equals = ranking.table.iloc[0], _equals_of_leader(ranking.table)
    sharers = ranking.table.loc[ranking.table["rank"] == top["rank"], "team"].tolist()
    # Teams with the same score on other units have intervals of their own.
    alone = len(sharers) == 1 or bool(equals)
    score = (
        interval_text(top["score"], top["ci95_low"], top["ci95_high"]) if alone else score_text(top["score"])
    )
    if len(ranking.table) == 1:
        return f"Only {clean_name(top['team'])} is ranked: {ranking.metric_title} {score}."
    leads = (
        f"{clean_name(top['team'])} leads" if len(sharers) == 1 else f"{join_names(sharers)} share the lead"
    )
    first = f"{leads}: {ranking.metric_title} {score}"
    if equals and ranking.moments is not None:
        first += "; identical on every unit"
    others = ranking.table.iloc[1 + len(equals) :]
    if others.empty:
        return f"{first}."
    said = others["verdict_leader"].fillna("not compared").tolist()
    names = [clean_name(team) for team in others["team"]]
    if set(said) <= {NONE, "not compared"}:
        return f"{first}. There are no verdicts here."
    # A rule that judges neighbours alone says nothing about the others, which is not "not better".
    compared = len(said) - said.count("not compared")
    who = "" if alone else f"{clean_name(top['team'])} is "
    parts = [
        f"{who}better than {said.count(BETTER)} of {compared}" + (" compared" if compared < len(said) else "")
    ]
    margin = margin_of(ranking.manifest, ranking.rules)
    alike = "identical" if margin is None else f"no difference above {margin:g}"
    for word, shown in ((EQUIVALENT, alike), (UNDECIDED, "undecided"), (NONE, "no verdict")):
        found = [name for name, own in zip(names, said, strict=True) if own == word]
        if found:
            more = f" and {len(found) - 4} more" if len(found) > 4 else ""
            parts.append(f"{shown}: {', '.join(found[:4])}{more}")
    return f"{first}; {'; '.join(parts)}."


def _equals_of_leader(table: pd.DataFrame) -> list[str]:
    """Return the teams that share the first rank and are identical to the leader, so that neither can be ahead."""
    shared = table.iloc[1:][(table["rank"] == table["rank"].iloc[0]).iloc[1:]]
    same = shared["judged_leader_low"].eq(0) & shared["judged_leader_high"].eq(0)
    # Others of the first rank have the same score on other units: their verdict is told with the rest.
    return shared["team"].tolist() if same.all() else []


def join_names(teams: list[str]) -> str:
    """Return names as a reader would list them, at most three.

    Examples
    --------
    >>> join_names(["a", "b"]), join_names(["a", "b", "c", "d"])
    ('a and b', 'a, b and 2 more')
    """
    names = [clean_name(team) for team in teams]
    shown = names if len(names) <= 3 else [*names[:2], f"{len(names) - 2} more"]
    return f"{', '.join(shown[:-1])} and {shown[-1]}"


def levels_words(ranking: Ranking) -> str:
    """Return how many units and independent levels a ranking has, in words."""
    units = f"{ranking.n_units} unit{'' if ranking.n_units == 1 else 's'}"
    if ranking.moments is None:
        return units
    words = scope_words(ranking)
    levels, _, fixed = words.partition("; ")
    if ranking.n_levels == ranking.n_units and " x " not in levels:
        return f"{units}; {fixed}" if fixed else units
    return f"{units} of {words}"


def scope_words(ranking: Ranking) -> str:
    """Return what the verdicts are about: which factors are random, and how many levels they have."""
    if ranking.n_levels == 1:
        return "one independent level"
    if len(ranking.judgements) and isinstance(ranking.judgements["scope"].iloc[0], str):
        return describe_scope(ranking.judgements)
    return f"{ranking.n_levels} {ranking.levels}"


def describe_scope(rows: pd.DataFrame) -> str:
    """Return what all verdicts of a table are about, in words; nothing for an empty table."""
    return join_scopes(rows["scope"].unique()).removeprefix("random: ")


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
    if rules.inference == "seed":
        return [
            f"[low, high]: 95 % interval, {rules.n_draws:,} bootstrap draws of the units, the same for every "
            "team. behind: distance from the leader.",
            "group: teams with one letter are not told apart from the best of their group (the paired interval "
            "holds 0).",
            f"p: Holm-adjusted ({PAIR_WORDS[rules.pairs]}); * is significant at {rules.alpha:g}. "
            "P(1st): share of the draws in which a team is first, alone or with its equals. "
            "ranks: 95 % interval of the rank.",
        ]
    return [
        "[low, high]: 95 % interval over the independent levels. behind: distance from the leader.",
        f"p: corrected after Holm over all pairs; * means better at {rules.alpha:g}. group: two teams share a letter "
        "exactly when neither is better.",
        "ranks: the ranks that a team can have. P(1st): share of draws of whole levels in which a team is first, "
        "alone or with its equals.",
    ]


def alpha_words(ranking: Ranking) -> str:
    """Return at which level the pairs of a ranking were judged, over how many, and what is random."""
    n = len(ranking.judgements)
    pairs = f"{n:,} pair{'' if n == 1 else 's'}"
    if ranking.moments is None:
        return f"{PAIR_WORDS[ranking.rules.pairs]}; Holm over {pairs}, alpha {ranking.rules.alpha:g}"
    if n and not ranking.decides:
        return f"no pair can be judged; {scope_words(ranking)}"
    counted = "the only pair" if n == 1 else f"all {pairs}"
    return f"Holm over {counted}, alpha {ranking.rules.alpha:g}; {scope_words(ranking)}"


def mean_rank_heading(found: MeanRanks) -> str:
    """Return the heading of the table of mean ranks."""
    return f"By mean rank over {found.n_tasks} tasks"


def verdict_words(row: Any, ranking: Ranking, alone: bool = False) -> str:
    """Return the verdict of a pair (a row of `Ranking.pairs`) in words.

    A pair that would be decided alone is undecided once all pairs are counted; `alone` says that this pair was judged
    alone.
    """
    if row.verdict == EQUIVALENT:
        # Rows that were judged without a margin, such as those of mean ranks, are equivalent where teams are identical.
        if row.margin != WITHIN:
            return "equivalent: identical"
        return f"equivalent: no difference above {margin_of(ranking.manifest, ranking.rules):g}"
    if row.verdict == NONE:
        return f"no verdict: {count_independent(row.scope)}, {MINIMUM_LEVELS} needed"
    n_pairs = 1 if alone or ranking.moments is None else len(ranking.judgements)
    if row.verdict == UNDECIDED and at_most(row.p, ranking.rules.alpha) and n_pairs > 1:
        return f"undecided once all {n_pairs:,} pairs are counted"
    words = {BEYOND: ", by {:g} or more", WITHIN: ", by {:g} at most"}.get(row.margin, "")
    if row.verdict != BETTER or not words:
        return str(row.verdict)
    return f"{row.verdict}{words.format(margin_of(ranking.manifest, ranking.rules))}"
