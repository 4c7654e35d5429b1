"""Rules of a competition beyond tracks and phases: documents, limits, keeping, final ranking, audit; as data."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from neuroarena.competition.phases import Instant
from neuroarena.competition.tracks import Count, Name, Part, Positive, Words

Share = Annotated[float, Field(gt=0, lt=1)]
Days = Annotated[float, Field(ge=0, le=36500)]
FileEnding = Literal["pdf", "md", "txt"]
_RULE = re.compile(r"best-ever|latest|best-of-last-[1-9][0-9]{0,3}")


class Limits(Part):
    """How much a team may hand in: bytes of one file, bytes in all, and runs that have not ended."""

    file_mb: Count = 512
    team_mb: Count = 5120
    unfinished: Count = 3


class Retention(Part):
    """How long files are kept; hashes, receipts and scores stay for ever.

    Attributes
    ----------
    refused_days : float
        Files that were refused.
    logs_days : float
        What code printed.
    code_days : float
        Submitted code, after the audit has ended.
    """

    refused_days: Days = 7
    logs_days: Days = 90
    code_days: Days = 30


class Document(Part):
    """A document that a team must hand in to be ranked.

    Attributes
    ----------
    name, title : str
    description : str, optional
        What it must hold, such as "two pages".
    due : datetime, optional
        Until when; by default as long as the competition is open.
    formats : tuple of str
        Endings of the file.
    most_mb : int
    for_final_only : bool
        Whether only the final ranking asks for it; otherwise every board says that it is missing.
    """

    name: Name
    title: Words
    description: Words | None = None
    due: Instant | None = None
    formats: tuple[FileEnding, ...] = Field(default=("pdf",), min_length=1)
    most_mb: Count = 10
    for_final_only: bool = True


class Halves(Part):
    """Two halves of the sealed people: boards show one, the final ranking counts the other.

    Attributes
    ----------
    public_share : float
        Share of the people whose scores the board shows.
    """

    public_share: Share = 0.5


class FinalRule(Part):
    """How the final ranking is made.

    Attributes
    ----------
    rule : str
        Which of a team's submissions are looked at, such as "best-of-last-5".
    phase : str, optional
        The phase that counts; by default the last one.
    select_on : {"public", "final"}
        With two halves: whether a team's submission is chosen by its score on the public half, and ranked by the other;
        or chosen by the half that it is ranked by.
    audited_only : bool
        Whether only entries that the audit reproduced are ranked.
    code_release : int, optional
        The first so many teams publish their code to take a prize.
    """

    rule: Words = "best-of-last-5"
    phase: Name | None = None
    select_on: Literal["public", "final"] = "public"
    audited_only: bool = False
    code_release: Count | None = None

    @field_validator("rule")
    @classmethod
    def _known(cls, rule: str) -> str:
        if not _RULE.fullmatch(rule):
            raise ValueError(f'"{rule}" is not a rule; expected best-ever, latest or best-of-last-N')
        return rule


class ReplayLimits(Part):
    """What one replay of a track may use, where it differs from the others."""

    seconds: Positive | None = None
    memory_mb: Count | None = None


class AuditRule(Part):
    """How the best entries are replayed.

    Attributes
    ----------
    rule : {"replays", "two-sigma"}
        Several replays with new seeds and a test that few honest entries fail; or the seed's rule of one replay.
    first : int
        How many of each track are replayed.
    replays, most_replays : int
        How many replays, and how many more when they leave a doubt.
    alpha : float
        Level of the test over all audited entries.
    start, end : datetime, optional
    days : float
        How long a team has to mend a pipeline that did not run.
    seconds, memory_mb
        What one replay may use.
    tracks : mapping of str to ReplayLimits
        What replays of single tracks may use.
    """

    rule: Literal["replays", "two-sigma"] = "replays"
    first: Count = 3
    replays: Annotated[int, Field(ge=1, le=100)] = 3
    most_replays: Annotated[int, Field(ge=1, le=100)] = 10
    alpha: Share = 0.05
    start: Instant | None = None
    end: Instant | None = None
    days: Days = 7
    seconds: Positive = 6 * 3600.0
    memory_mb: Count = 8192
    tracks: dict[Name, ReplayLimits] = Field(default={})

    def limits_of(self, track: str) -> tuple[float, int]:
        """Return the seconds and megabytes that one replay of a track may use."""
        own = self.tracks.get(track, ReplayLimits())
        return own.seconds or self.seconds, own.memory_mb or self.memory_mb

    @model_validator(mode="after")
    def _check(self) -> AuditRule:
        if self.most_replays < self.replays:
            raise ValueError("audit: most_replays is smaller than replays")
        if self.start is not None and self.end is not None and self.end <= self.start:
            raise ValueError("the audit ends before it starts")
        return self


class Eligibility(Part):
    """Who may take a prize, in words, and whether the members of a team must be named."""

    prizes: Words = "Every team but those of the organisers."
    members_named: bool = False


class Timetable(Part):
    """How often things are done: boards, the self-test of the sandbox, and the removal of old files."""

    board_minutes: Positive = 15.0
    self_test_hours: Positive = 6.0
    retention_hours: Positive = 24.0
