"""The pages of a site as data: what each shows, and the same content for programs."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import pandas as pd

from neuroarena.board.board import Board, make_plain
from neuroarena.board.entries import Entry
from neuroarena.board.ranking import Ranking
from neuroarena.board.site.bars import axis_of_ranking, draw_bars
from neuroarena.board.site.contests import Heat
from neuroarena.board.site.names import assign_slugs
from neuroarena.board.site.settings import Settings, TextPage, render_markdown
from neuroarena.board.site.sources import Sources
from neuroarena.board.wording import clean_name, rows_of
from neuroarena.statistics.verdicts import BETTER


@dataclass(frozen=True, eq=False)
class Page:
    """One page.

    Attributes
    ----------
    address : str
        Within the site, without an ending: ``boards/onset-within``.
    title, template : str
    view : mapping
        What the template shows: plain data, which survive JSON.
    data : mapping
        The same content for programs, written as JSON.
    tables : mapping of str to DataFrame
        Written as CSV and parquet; the name is put after that of the page, "" for the page's own.
    """

    address: str
    title: str
    template: str
    view: Mapping[str, Any]
    data: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Make the view plain, so that a server can keep it and render it later."""
        object.__setattr__(self, "view", make_plain(dict(self.view)))

    @property
    def root(self) -> str:
        """The way from the page to the top of the site, as links begin."""
        return "../" * self.address.count("/")


@dataclass(frozen=True, eq=False)
class Content:
    """Everything that the pages of a site are made from.

    Attributes
    ----------
    board : Board
    sources : Sources
    settings : Settings
    texts : tuple of TextPage
    frozen : bool
        Whether this is the last state of the board.
    """

    board: Board
    sources: Sources
    settings: Settings = field(default_factory=Settings)
    texts: tuple[TextPage, ...] = ()
    frozen: bool = False

    @property
    def title(self) -> str:
        """The title of the site."""
        contests = [one.title for one in self.sources.contests]
        families = [one.family for one in self.board.rankings if one.split not in self.heats]
        return self.settings.title or " and ".join(dict.fromkeys((*contests, *families)))

    @property
    def simulated(self) -> bool:
        """Whether anything shown is simulated."""
        return self.board.simulated or any(heat.simulated for heat in self.heats.values())

    @cached_property
    def heats(self) -> dict[str, Heat]:
        """Label -> board of a competition; its entries stand under the label as their split."""
        return {heat.label: heat for contest in self.sources.contests for heat in contest.heats}

    @cached_property
    def views(self) -> dict[str, tuple[str, str]]:
        """Split as boards name it -> the split itself, and which view of it this is; "" for the usual one."""
        return {
            entry.split: (
                str(entry.provenance.get("split") or entry.split),
                str(entry.provenance.get("view") or ""),
            )
            for entry in self.sources.entries
        }

    @cached_property
    def all_texts(self) -> tuple[TextPage, ...]:
        """Pages that somebody wrote; those of a competition, unless there is one of the same address."""
        taken = {text.slug for text in self.texts}
        own = (page for contest in self.sources.contests for page in contest.pages if page.slug not in taken)
        return (*self.texts, *(TextPage(page.slug, page.title, render_markdown(page.text)) for page in own))

    @cached_property
    def boards(self) -> dict[str, str]:
        """Name of a ranking, or label of a board without unit scores -> address of its page."""
        hidden = (heat.label for heat in self.heats.values() if heat.shown is not None)
        slugs = assign_slugs((*(one.name for one in self.board.everything), *hidden))
        return {name: f"boards/{slug}" for name, slug in slugs.items()}

    def title_of(self, ranking: Ranking) -> str:
        """Return the title of a ranking: on a board of a competition, its track and phase."""
        heat = self.heats.get(ranking.split)
        if heat is None:
            return ranking.title
        alone = sum(one.split == ranking.split for one in self.board.rankings) == 1
        return (
            heat.title if alone or ranking.kind == "overall" else f"{heat.title} · {ranking.manifest.title}"
        )

    def question_of(self, ranking: Ranking) -> str:
        """Return what a ranking asks, as people read it: a suite names its tasks by their titles."""
        question = ranking.manifest.readable_question
        if ranking.kind == "task":
            return question
        own = (
            one for one in self.board.rankings if (one.family, one.split) == (ranking.family, ranking.split)
        )
        titles = {one.task: clean_name(one.manifest.title) for one in own}
        names = "|".join(re.escape(name) for name in sorted(titles, key=len, reverse=True))
        return re.sub(rf"(?<![\w/-])({names or '(?!)'})(?![\w/-])", lambda found: titles[found[0]], question)

    @cached_property
    def frame(self) -> pd.DataFrame:
        """Every ranking of the board as one long table."""
        return self.board.frame()

    @cached_property
    def teams(self) -> dict[str, list[Entry]]:
        """Team -> its entries, oldest first."""
        found: dict[str, list[Entry]] = {}
        for entry in sorted(self.sources.entries, key=lambda one: (one.time, one.benchmark, one.split)):
            found.setdefault(entry.team, []).append(entry)
        return {team: found[team] for team in sorted(found)}

    @cached_property
    def entries(self) -> dict[str, str]:
        """Team -> address of its page."""
        return {team: f"entries/{slug}" for team, slug in assign_slugs(self.teams).items()}

    @cached_property
    def counted(self) -> dict[tuple[str, str, str], Entry]:
        """(team, benchmark, split) -> the entry that counts there, as far as the ranking says which."""
        chosen = {}
        for one in self.board.rankings:
            for said in one.provenance.get("entries", []):
                for entry in self.teams.get(said["team"], []):
                    same = (entry.family, entry.task, entry.split) == (one.family, one.task, one.split)
                    if (
                        same
                        and entry.time.isoformat(timespec="seconds") == said["time"]
                        and (entry.provenance.get("run_key") == said["run_key"])
                    ):
                        chosen[entry.team, one.name, one.split] = entry
        return chosen

    @cached_property
    def places(self) -> dict[str, dict[str, list[tuple[int, Any]]]]:
        """Name of a ranking -> team -> where it stands in the table, and its row."""
        found: dict[str, dict[str, list[tuple[int, Any]]]] = {}
        for one in self.board.everything:
            own = found.setdefault(one.name, {})
            for at, row in enumerate(rows_of(one.table)):
                own.setdefault(str(row.team), []).append((at, row))
        return found

    @cached_property
    def bars(self) -> dict[str, list[dict[str, Any]]]:
        """Name of a ranking -> the bar of every row."""
        return {one.name: draw_bars(one, axis_of_ranking(one)) for one in self.board.everything}

    @cached_property
    def verdict_counts(self) -> dict[tuple[str, str], list[int]]:
        """Ordered pair of teams -> on how many tasks the first is better, and on how many both stand."""
        counts: dict[tuple[str, str], list[int]] = {}
        for one in self.board.rankings:
            verdicts = one.judgements
            for above, below, said in zip(verdicts["a"], verdicts["c"], verdicts["verdict"], strict=True):
                for pair, better in (
                    ((str(above), str(below)), said == BETTER),
                    ((str(below), str(above)), False),
                ):
                    own = counts.setdefault(pair, [0, 0])
                    own[0] += better
                    own[1] += 1
        return counts

    def entry_of(self, ranking: Ranking, team: str) -> Entry:
        """Return the entry of a team that a ranking shows; on an overall, one of its newest."""
        return self.counted.get((team, ranking.name, ranking.split)) or self.teams[team][-1]
