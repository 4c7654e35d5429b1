"""A competition as a site shows it: phases, tracks, and of every board only what is public.

A competition writes this once (`contest.json` of an export, or straight from its folder); pages are made from it alone,
so that a site cannot show what was never put in.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import pandas as pd
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from neuroarena.board.entries import Entry, Role
from neuroarena.errors import InputError
from neuroarena.fingerprint import digest
from neuroarena.scoring import Manifest

FILE = "contest.json"


class Part(BaseModel):
    """A part of a contest: frozen, and without keys that nobody knows."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Stretch(Part):
    """A stretch of the timeline: a phase, the audit, or a moment.

    Attributes
    ----------
    title : str
    start, end : datetime
        Equal for a moment.
    words : str
        What holds in it, such as "sealed: values rise in steps".
    """

    title: str
    start: AwareDatetime
    end: AwareDatetime
    words: str = ""

    def state_at(self, time: datetime.datetime) -> Literal["to come", "open", "over"]:
        """Return whether it has begun or ended at a time."""
        return "to come" if time < self.start else "open" if time < self.end else "over"


class Fact(Part):
    """Something that a board says about its track: a name, a text, and where it leads to, if anywhere."""

    name: str
    text: str
    # A folder of a stranger can be made a site of: what it leads to is the web, and never a script.
    url: Annotated[str, Field(pattern=r"^https?://")] | None = None


class ShownRow(Part):
    """One row of a board whose unit scores are not public: what was shown, and nothing else."""

    rank: int | None
    team: str
    affiliation: str | None = None
    role: str = "team"
    shown: float | None
    scored: int
    last: AwareDatetime


class Heat(Part):
    """One board of a contest: a track in a phase, or its final ranking.

    Attributes
    ----------
    label : str
        The split under which its entries stand on a board; no other heat has it.
    title, track, phase : str
        As people read them.
    benchmark, split : str
        What was asked.
    metric, direction : str
        Title of the metric, and whether "higher" or "lower" is better.
    description : str
    facts : tuple of Fact
        Sponsor, constraint, audit, as the competition file says them.
    scored, received : int
        How many submissions have a score, and how many were received.
    shown : tuple of ShownRow, optional
        Where unit scores are not public: the values that teams were shown. None where entries are.
    why : str
        Why unit scores are not public.
    simulated : bool
    """

    label: str
    title: str
    track: str
    phase: str
    benchmark: str
    split: str
    metric: str
    direction: str
    description: str = ""
    facts: tuple[Fact, ...] = ()
    scored: int
    received: int
    shown: tuple[ShownRow, ...] | None = None
    why: str = ""
    simulated: bool = False


class Scored(Part):
    """One judged submission whose unit scores are public."""

    team: str
    label: str
    benchmark: str
    manifest: str
    time: AwareDatetime
    role: Role
    simulated: bool
    reason: str | None = None
    provenance: dict[str, Any]
    units: dict[str, list[Any]] | None


class Words(Part):
    """A page that the organisers wrote, in Markdown."""

    slug: str
    title: str
    text: str


class Contest(Part):
    """All that a site shows of a competition.

    Attributes
    ----------
    name, title, description, contact : str
    as_of : datetime
        The newest time that is recorded in the competition: what happened later is not in here.
    teams : int
    phases : tuple of Stretch
    heats : tuple of Heat
    manifests : mapping of str to Manifest
        By their hash.
    entries : tuple of Scored
    pages : tuple of Words
    """

    schema_version: Literal[1] = 1
    name: str
    title: str
    description: str = ""
    contact: str
    as_of: AwareDatetime
    teams: int
    phases: tuple[Stretch, ...]
    heats: tuple[Heat, ...]
    manifests: dict[str, Manifest]
    entries: tuple[Scored, ...]
    pages: tuple[Words, ...] = ()

    @property
    def scored(self) -> int:
        """How many submissions have a score; a final ranking counts none of them again."""
        return sum(heat.scored for heat in self.heats if not heat.label.endswith(FINAL))

    @property
    def received(self) -> int:
        """How many submissions were received."""
        return sum(heat.received for heat in self.heats if not heat.label.endswith(FINAL))

    @property
    def digest(self) -> str:
        """SHA-256 of the content."""
        return digest(self.model_dump(mode="json"))

    def list_entries(self) -> list[Entry]:
        """Return the judged submissions as entries of a board."""
        return [
            Entry(
                team=one.team,
                benchmark=one.benchmark,
                split=one.label,
                manifest=self.manifests[one.manifest],
                unit_scores=None if one.units is None else pd.DataFrame(one.units),
                time=one.time,
                role=one.role,
                simulated=one.simulated,
                reason=one.reason,
                provenance=one.provenance,
            )
            for one in self.entries
        ]


# Ends the label of a final ranking.
FINAL = ", final ranking"


def is_export(path: Path) -> bool:
    """Return whether a folder is an export of a competition."""
    return (path / FILE).is_file()


def read_contest(folder: Path) -> Contest:
    """Read what an export of a competition says for a site.

    Raises
    ------
    InputError
        Naming the file, when it cannot be read.
    """
    path = folder / FILE
    try:
        return Contest.model_validate_json(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: this file cannot be read; export the competition again.") from error
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f'{path}: "{where}": {first["msg"]}. Export the competition again with this version of neuroarena.'
        ) from error


def check_labels(contests: Sequence[Contest]) -> None:
    """Refuse two competitions of one name: their boards could not be told apart.

    Raises
    ------
    InputError
    """
    names = [contest.name for contest in contests]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f'Two of the sources are the competition "{name}". Pass one of them.')
