"""The competition file: tracks, phases, caps and rules, as data."""

from __future__ import annotations

import datetime
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)

from neuroarena.competition.times import parse_time
from neuroarena.errors import InputError

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9\-]{0,39}$")]
Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Instant = Annotated[datetime.datetime, BeforeValidator(parse_time)]
Cap = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Kind = Literal["predictions"]
Display = Literal["full", "ladder", "blind"]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Track(_Part):
    """One track: a benchmark, and what is taken for it.

    Attributes
    ----------
    name, title : str
    benchmark, split : str
        What is asked: ``family[@definition]/task``, and the split whose test part is to be answered.
    data : str, optional
        Folder of the data, read once, when the truth is sealed.
    options : mapping
        Options of the benchmark's family.
    kinds : tuple of str
        What a team may hand in.
    """

    name: Name
    title: Words
    benchmark: Words
    split: Words | None = None
    data: Words | None = None
    options: dict[str, Any] = {}
    kinds: tuple[Kind, ...] = ("predictions",)


class Phase(_Part):
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
        The step of the ladder, in the metric's own units.
    per_day, in_total : int, optional
        How many attempts a team has on one UTC day, and in the phase; None for no cap.
    """

    name: Name
    title: Words
    start: Instant
    end: Instant
    tracks: tuple[Name, ...] = ()
    sealed: bool = False
    display: Display = "full"
    step: Positive | None = None
    per_day: Cap | None = None
    in_total: Cap | None = None

    @model_validator(mode="after")
    def _check(self) -> Phase:
        if self.end <= self.start:
            raise ValueError(f'phase "{self.name}" ends before it starts')
        if self.sealed and self.display == "full":
            raise ValueError(
                f'phase "{self.name}" is sealed and displays full scores, which reveal labels; '
                'choose display = "ladder" with a step, or "blind"'
            )
        if (self.display == "ladder") != (self.step is not None):
            raise ValueError(
                f'phase "{self.name}": a step belongs to display = "ladder", and a ladder needs one'
            )
        return self

    def takes(self, track: str) -> bool:
        """Return whether submissions to a track are taken in this phase."""
        return not self.tracks or track in self.tracks


class Limits(_Part):
    """How much a team may hand in: bytes of one file, bytes in all, and runs that have not ended."""

    file_mb: Cap = 512
    team_mb: Cap = 5120
    unfinished: Cap = 3


class Competition(_Part):
    """A competition, as its file says it.

    Attributes
    ----------
    name, title, contact : str
    terms : str
        What a team accepts before it may hand in anything.
    tracks, phases : tuple
    limits : Limits
    final_rule : str
        How a team's submission for the final ranking is chosen; a rule of boards, such as "best-of-last-5".
    """

    schema_version: Literal[1] = 1
    name: Name
    title: Words
    contact: Words
    terms: Words
    tracks: tuple[Track, ...] = Field(min_length=1)
    phases: tuple[Phase, ...] = Field(min_length=1)
    limits: Limits = Limits()
    final_rule: Words = "best-of-last-5"

    @model_validator(mode="after")
    def _check(self) -> Competition:
        for what, names in (
            ("track", [t.name for t in self.tracks]),
            ("phase", [p.name for p in self.phases]),
        ):
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise ValueError(f'two {what}s are called "{twice[0]}"')
        known = {track.name for track in self.tracks}
        for phase in self.phases:
            unknown = sorted(set(phase.tracks) - known)
            if unknown:
                raise ValueError(f'phase "{phase.name}" names the track "{unknown[0]}", which does not exist')
        for before, after in zip(self.phases, self.phases[1:], strict=False):
            if after.start < before.end:
                raise ValueError(f'phase "{after.name}" starts before "{before.name}" has ended')
        return self

    def track(self, name: str) -> Track:
        """Return a track by its name.

        Raises
        ------
        InputError
            When there is none; those there are, are listed.
        """
        for track in self.tracks:
            if track.name == name:
                return track
        known = ", ".join(track.name for track in self.tracks)
        raise InputError(f'{self.title} has no track "{name}". Tracks: {known}.')

    def phase_at(self, time: datetime.datetime) -> Phase | None:
        """Return the phase that is open at a time, or None between phases."""
        return next((phase for phase in self.phases if phase.start <= time < phase.end), None)

    def phase(self, name: str) -> Phase:
        """Return a phase by its name."""
        return next(phase for phase in self.phases if phase.name == name)


def read_competition(path: str | Path) -> Competition:
    """Read a competition file.

    Raises
    ------
    InputError
        At the first thing that is wrong; file and key are named.
    """
    path = Path(path)
    try:
        said = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(f"{path}: there is no such file. Expected a competition file (TOML).") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path.name}: this is not TOML: {error}. Nothing was read.") from error
    try:
        return Competition.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{path.name}: {where + ': ' if where else ''}{message}. Nothing was read."
        ) from error
