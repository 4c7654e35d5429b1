"""Whether a lead is real: the one thing that a glance at a board should tell."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from neuroarena.board.ranking import Ranking
from neuroarena.board.wording import bounds_text, clean_name, interval_text, is_known, join_names, score_text
from neuroarena.statistics.verdicts import BETTER, EQUIVALENT, NONE, UNDECIDED

# How a verdict looks: a word for style sheets, and a sign beside it, so that colour is never the only one.
LOOKS = {BETTER: "sure", EQUIVALENT: "equal", UNDECIDED: "open", NONE: "none"}
SIGNS = {"sure": "●", "equal": "=", "open": "○", "none": "–"}
AGAINST_LEADER = {
    BETTER: "worse", EQUIVALENT: "equivalent", UNDECIDED: "undecided", NONE: "no verdict",
}  # fmt: skip
AGAINST_NEXT = {**AGAINST_LEADER, BETTER: "better"}


def describe_verdict(verdict: Any, words: Mapping[str, str]) -> dict[str, str] | None:
    """Return how a verdict looks and is said; None where there is nobody to compare with.

    `words` are `AGAINST_LEADER` for the lower of a pair, and `AGAINST_NEXT` for the higher.
    """
    if not is_known(verdict):
        return None
    lost = verdict == BETTER and words[verdict] == AGAINST_LEADER[BETTER]
    return {
        "look": "lost" if lost else LOOKS[verdict],
        "sign": SIGNS[LOOKS[verdict]],
        "words": words[verdict],
    }


@dataclass(frozen=True)
class Lead:
    """Who leads a ranking, by how much, and whether that is real.

    Attributes
    ----------
    look : {"sure", "equal", "open", "none"}
    words : str
        Whether the lead is real, in a few words.
    team, score : str
        Empty where nobody is ranked; several names where the first rank is shared.
    ahead : str
        By how much, and of whom; empty where there is nobody else.
    short : str
        Whether the lead is real, in a word or two for crowded tables.
    verb : str
        What the team does, or the teams do.
    """

    look: str
    words: str
    team: str = ""
    score: str = ""
    ahead: str = ""
    short: str = ""
    verb: str = "leads"

    def to_dict(self) -> dict[str, str]:
        """Return the lead as a template shows it, with the sign beside the words."""
        return {**dataclasses.asdict(self), "sign": SIGNS[self.look]}


def describe_lead(ranking: Ranking) -> Lead:
    """Read the lead of a ranking off the verdicts of its leader."""
    table = ranking.table
    if table.empty:
        return Lead("none", "Nobody can be ranked", short="nobody")
    top = table.iloc[0]
    team, score = clean_name(top["team"]), interval_text(top["score"], top["ci95_low"], top["ci95_high"])
    if len(table) == 1:
        return Lead("none", "The only entry", team, score, short="the only entry")
    sharers = table.loc[table["rank"] == top["rank"], "team"].tolist()
    if len(sharers) > 1:
        lead = Lead("open", "", join_names(sharers), score_text(top["score"]), verb="share the lead")
    else:
        bounds = bounds_text(top["judged_next_low"], top["judged_next_high"])
        # An interval without bounds says nothing about how far.
        behind = f"{score_text(top['delta_next'])} {bounds if bounds.startswith('[') else ''}".strip()
        lead = Lead("open", "", team, score, f"{behind} ahead of {clean_name(table['team'].iloc[1])}")
    return replace(lead, **_settle(table["verdict_leader"].iloc[1:].fillna(NONE).tolist()))


def _settle(said: list[str]) -> dict[str, str]:
    """Return look and words of a lead from the verdicts of the leader against each of the others."""
    beaten, alike, n = said.count(BETTER), said.count(EQUIVALENT), len(said)
    if set(said) == {NONE}:
        return {"look": "none", "words": "No verdict is possible", "short": "no verdict"}
    if beaten == n:
        others = "the other" if n == 1 else f"all {n} others"
        return {"look": "sure", "words": f"The lead is real: better than {others}", "short": "real"}
    if beaten + alike == n:
        others = "the other" if n == 1 else f"{alike} of {n} others"
        return {
            "look": "equal",
            "words": f"No lead that matters: equivalent to {others}",
            "short": "equivalent",
        }
    rest = n - beaten - alike
    against = "the other" if n == 1 else f"{rest} of {n} others"
    return {
        "look": "open",
        "words": f"The lead is not settled against {against}",
        "short": f"open against {rest} of {n}",
    }
