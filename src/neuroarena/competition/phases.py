"""Phases of a competition: when submissions are taken, how many, and how much of a score is shown; as data."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, model_validator

from neuroarena.competition.times import parse_time
from neuroarena.competition.tracks import Count, Name, Part, Positive, Words

Instant = Annotated[datetime.datetime, BeforeValidator(parse_time)]
Display = Literal["full", "ladder", "blind"]


class Phase(Part):
    """A stretch of time in which submissions are taken.

    Attributes
    ----------
    name, title : str
    start, end : datetime
        Taken from `start` on, and up to and including the last second before `end`.
    tracks : tuple of str
        The tracks that are open; empty for all.
    sealed : bool
        Whether the truth is secret: nothing but the public view leaves the vault.
    display : {"full", "ladder", "blind"}
        How much a team learns of its score: all of it, rises by at least a step, or nothing until the reveal.
    step : float, optional
        The step of the ladder, in the metric's own units. By default the standard error of the host's real baseline
        on each track, known once it was scored.
    steps : mapping of str to float
        The step of single tracks.
    per_day, in_total : int, optional
        How many attempts a team has on one UTC day, and in the phase; None for no cap.
    frozen_from : datetime, optional
        From then on until the end of the phase the public board stays as it was.
    """

    name: Name
    title: Words
    start: Instant
    end: Instant
    tracks: tuple[Name, ...] = ()
    sealed: bool = False
    display: Display = "full"
    step: Positive | None = None
    steps: dict[Name, Positive] = Field(default={})
    per_day: Count | None = None
    in_total: Count | None = None
    frozen_from: Instant | None = None

    @model_validator(mode="after")
    def _check(self) -> Phase:
        problem = None
        if self.end <= self.start:
            problem = "ends before it starts"
        elif self.sealed and self.display == "full":
            problem = (
                "is sealed and displays full scores, which reveal labels; "
                'choose display = "ladder", or "blind"'
            )
        elif self.display != "ladder" and (self.step is not None or self.steps):
            problem = 'has a step, which belongs to display = "ladder"'
        elif self.display == "ladder" and not self.sealed and self.step is None and not self.steps:
            problem = "is not sealed, so that no baseline sets its step; state one"
        elif self.frozen_from is not None and not self.start < self.frozen_from < self.end:
            problem = "freezes its board outside its own time"
        if problem:
            raise ValueError(f'phase "{self.name}" {problem}')
        return self

    def takes(self, track: str) -> bool:
        """Return whether submissions to a track are taken in this phase."""
        return not self.tracks or track in self.tracks

    def stated_step(self, track: str) -> float | None:
        """Return the step of the ladder that the file states for a track; None when the baseline sets it."""
        return self.steps.get(track, self.step)

    @property
    def all_attempts(self) -> int | None:
        """How many attempts a team has in this phase, on all UTC days that it touches; None for no cap."""
        last = self.end - datetime.timedelta(microseconds=1)
        days = (last.date() - self.start.date()).days + 1
        by_day = None if self.per_day is None else self.per_day * days
        caps = [cap for cap in (by_day, self.in_total) if cap is not None]
        return min(caps) if caps else None
