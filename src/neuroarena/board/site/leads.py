"""Whether a lead is real: the one thing that a glance at a board should tell."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from neuroarena.board.ranking import Ranking
from neuroarena.board.wording import bounds_text, clean_name, interval_text, score_text
from neuroarena.statistics.verdicts import BETTER, EQUIVALENT, NONE, UNDECIDED

# How a verdict looks: a word for style sheets, and a sign beside it, so that colour is never the only one.
LOOKS = {BETTER: "sure", EQUIVALENT: "equal", UNDECIDED: "open", NONE: "none"}
SIGNS = {"sure": "●", "equal": "=", "open": "○", "none": "–"}
AGAINST_LEADER = {
    BETTER: "worse", EQUIVALENT: "equivalent", UNDECIDED: "undecided", NONE: "no verdict",
}  # fmt: skip
AGAINST_NEXT = {**AGAINST_LEADER, BETTER: "better"}


@dataclass(frozen=True)
class Lead:
    """Who leads a ranking, by how much, and whether that is real.

    Attributes
    ----------
    look : {"sure", "open", "none"}
    words : str
        Whether the lead is real, in a few words.
    team, score : str
        Empty where nobody is ranked.
    ahead : str
        By how much, and of whom; empty where there is nobody else.
    short : str
        Whether the lead is real, in a word or two for crowded tables.
    """

    look: str
    words: str
    team: str = ""
    score: str = ""
    ahead: str = ""
    short: str = ""

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
    bounds = bounds_text(top["judged_next_low"], top["judged_next_high"])
    second = clean_name(table["team"].iloc[1])
    level = table["rank"].iloc[1] == table["rank"].iloc[0]
    ahead = (
        f"level with {second}"
        if level
        else f"{score_text(top['delta_next'])} {bounds}".strip() + f" ahead of {second}"
    )
    said = table["verdict_leader"].iloc[1:].fillna(NONE).tolist()
    beaten, n = said.count(BETTER), len(said)
    if set(said) == {NONE}:
        return Lead("none", "No verdict is possible", team, score, ahead, "no verdict")
    if beaten == n:
        others = "the other" if n == 1 else f"all {n} others"
        return Lead("sure", f"The lead is real: better than {others}", team, score, ahead, "real")
    rest = "the other" if n == 1 else f"{n - beaten} of {n} others"
    return Lead(
        "open",
        f"The lead is not settled against {rest}",
        team,
        score,
        ahead,
        f"open against {n - beaten} of {n}",
    )
