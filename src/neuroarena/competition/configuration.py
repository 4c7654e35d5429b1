"""The competition file: tracks, phases, caps and rules, as data."""

from __future__ import annotations

import datetime
import difflib
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError, model_validator

from neuroarena.competition.phases import Phase
from neuroarena.competition.rules import (
    AuditRule,
    Document,
    Eligibility,
    FinalRule,
    Halves,
    Limits,
    Retention,
    Timetable,
)
from neuroarena.competition.tracks import Name, Part, Track, Words
from neuroarena.errors import InputError


class Competition(Part):
    """A competition, as its file says it.

    Attributes
    ----------
    name, title, contact : str
    description : str, optional
    terms : str
        What a team accepts before it may hand in anything; other words are another version, to be accepted anew.
    tracks, phases : tuple
    documents : tuple of Document
        What a team must hand in to be ranked.
    external_data : {"free", "declared", "forbidden"}
        Whether a submission may rest on other data, and must say so.
    affiliations : {"hidden", "shown"}
        Whether an affiliation is shown before the team reveals it.
    halves : Halves, optional
        Present where boards show one half of the sealed people, and the final ranking counts the other.
    limits, retention, final, audit, eligibility, timetable
    """

    schema_version: Literal[1] = 1
    name: Name
    title: Words
    contact: Words
    description: Words | None = None
    terms: Words
    tracks: tuple[Track, ...]
    phases: tuple[Phase, ...]
    documents: tuple[Document, ...] = ()
    external_data: Literal["free", "declared", "forbidden"] = "declared"
    affiliations: Literal["hidden", "shown"] = "hidden"
    halves: Halves | None = None
    limits: Limits = Limits()
    retention: Retention = Retention()
    final: FinalRule = FinalRule()
    audit: AuditRule | None = None
    eligibility: Eligibility = Eligibility()
    timetable: Timetable = Timetable()

    @model_validator(mode="after")
    def _check(self) -> Competition:
        empty = [f"there are no {what}" for what in ("tracks", "phases") if not getattr(self, what)]
        problems = [*empty, *_repeated_names(self), *_unknown_names(self), *_clashes(self)]
        if problems:
            raise ValueError("; ".join(problems))
        return self

    @property
    def final_phase(self) -> Phase:
        """The phase that the final ranking is made of."""
        return self.phases[-1] if self.final.phase is None else self.phase(self.final.phase)

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

    def sheets(self) -> tuple[str, ...]:
        """List every set of questions, of every track and phase, by name."""
        names = [
            track.sheet(phase.name)
            for track in self.tracks
            for phase in self.phases
            if phase.takes(track.name)
        ]
        return tuple(dict.fromkeys(names))

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
        mistakes = [_describe_mistake(dict(each), said) for each in error.errors(include_url=False)]
        count = "" if len(mistakes) == 1 else f"{len(mistakes)} mistakes: "
        raise InputError(f"{path.name}: {count}{'; '.join(mistakes)}. Nothing was read.") from error


def _describe_mistake(mistake: dict[str, Any], said: Any) -> str:
    """Return one mistake of the file in words: where it stands, and what is wrong."""
    place = mistake["loc"]
    where = ".".join(str(part) for part in place)
    message = str(mistake["msg"]).removeprefix("Value error, ")
    if mistake["type"] == "missing":
        message = "this is missing"
    if mistake["type"] == "extra_forbidden":
        message = "there is no such key"
        close = difflib.get_close_matches(str(place[-1]), _keys_at(place[:-1]), n=1)
        message += f'; did you mean "{close[0]}"?' if close else ""
    named = _name_at(said, place)
    return f"{where + ': ' if where else ''}{message}{f' (of {named})' if named else ''}"


def _name_at(said: Any, place: tuple[Any, ...]) -> str | None:
    """Return the name of the track, phase or document that a place lies in."""
    if len(place) < 3 or not isinstance(place[1], int):
        return None
    name = said[place[0]][place[1]].get("name") if isinstance(said[place[0]][place[1]], dict) else None
    return f'"{name}"' if isinstance(name, str) else None


def _keys_at(place: tuple[Any, ...]) -> list[str]:
    """Return the keys that a table of the file may have."""
    kinds: dict[str, type[Part]] = {
        "tracks": Track,
        "phases": Phase,
        "documents": Document,
        "halves": Halves,
        "limits": Limits,
        "retention": Retention,
        "final": FinalRule,
        "audit": AuditRule,
        "eligibility": Eligibility,
        "timetable": Timetable,
    }
    kind = kinds.get(str(place[0])) if place else Competition
    return [] if kind is None else list(kind.model_fields)


def _repeated_names(competition: Competition) -> Iterable[str]:
    for what, things in (
        ("track", competition.tracks),
        ("phase", competition.phases),
        ("document", competition.documents),
    ):
        names = [thing.name for thing in things]
        for name in sorted({name for name in names if names.count(name) > 1}):
            yield f'two {what}s are called "{name}"'


def _unknown_names(competition: Competition) -> Iterable[str]:
    known = {track.name for track in competition.tracks}
    for phase in competition.phases:
        for name in sorted(({*phase.tracks} | {*phase.steps}) - known):
            yield f'phase "{phase.name}" names the track "{name}", which does not exist'
    phases = {phase.name for phase in competition.phases}
    for track in competition.tracks:
        for name in sorted({*track.sheets} - phases):
            yield f'track "{track.name}" has a sheet for the phase "{name}", which does not exist'
    for name in sorted(({*competition.audit.tracks} if competition.audit is not None else set()) - known):
        yield f'audit: there is no track "{name}"'
    final = competition.final.phase
    if final is not None and final not in phases:
        yield f'final: there is no phase "{final}"'


def _clashes(competition: Competition) -> Iterable[str]:
    for before, after in zip(competition.phases, competition.phases[1:], strict=False):
        if after.start < before.end:
            yield f'phase "{after.name}" starts before "{before.name}" has ended'
    if competition.halves is not None and not any(phase.sealed for phase in competition.phases):
        yield "halves: no phase is sealed, so that there is nothing to split"
    if competition.final.audited_only and competition.audit is None:
        yield "final: audited_only needs an [audit]"
    for track in competition.tracks:
        if "pipeline" in track.kinds and competition.audit is None:
            yield f'track "{track.name}" takes pipelines, which only an [audit] replays'
        mine = [phase for phase in competition.phases if phase.takes(track.name)]
        sealed = [phase for phase in mine if phase.sealed]
        shown = {track.sheet(phase.name): phase.name for phase in mine if not phase.sealed}
        for phase in sealed:
            if track.sheet(phase.name) in shown:
                yield (
                    f'track "{track.name}": "{shown[track.sheet(phase.name)]}" shows scores of the questions that '
                    f'"{phase.name}" seals; give that phase its own with [tracks.sheets.{phase.name}]'
                )
        for name, sheet in track.sheets.items():
            for kind in sorted({*(sheet.kinds or ())} - {*track.kinds}):
                yield f'track "{track.name}": its sheet for "{name}" takes {kind}, which the track does not'
        if track.code.windows == "as-scored" and sealed:
            yield f'track "{track.name}": windows = "as-scored" is for public truth only, and a sealed phase takes it'
