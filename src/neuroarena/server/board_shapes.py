"""What the pages of boards say to programs."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from neuroarena.board.site.contests import Heat
from neuroarena.server.shapes import Shape, State


class Preview(Shape):
    """The first page before the first board was published."""

    title: str
    description: str | None
    phases: list[PreviewPhase]


class PreviewPhase(Shape):
    """A phase, by its name and times."""

    name: str
    title: str
    start_utc: str
    end_utc: str
    state: State


class PublishedPage(Shape):
    """What every published page says of the edition it belongs to."""

    board: int = Field(description="Number of the newest board in this edition")
    board_as_of: str
    event_hash: str


class Overview(PublishedPage):
    """The first page: every board, competition and entry."""

    schema_version: int
    title: str
    snapshot: str
    last_update: str
    simulated: bool
    frozen: bool
    totals: dict[str, int]
    competitions: list[dict[str, Any]]
    boards: list[dict[str, Any]]
    entries: list[EntryLink]
    notes: list[str]


class EntryLink(Shape):
    """Where the page of a team is."""

    team: str
    page: str


class BoardPage(PublishedPage):
    """A board whose unit scores are public."""

    snapshot: str
    kind: str
    benchmark: str
    family: str
    task: str
    definition: str
    split: str
    title: str
    question: str
    metric: str
    direction: Literal["higher", "lower"]
    tie_break: str | None
    extra_columns: list[str]
    unit: str
    cluster: str | None
    chance: float | None
    simulated: bool
    n_units: int | None
    inference: str
    levels: Any
    n_levels: Any
    verdict: str
    groups: Any
    n_pairs: int
    pairs_shown: Literal["leader and neighbours", "all"]
    warnings: list[str]
    resolution: dict[str, Any] | None
    table: list[dict[str, Any]]
    unranked: list[dict[str, Any]]
    pairs: list[dict[str, Any]]
    sensitivity: dict[str, Any] | None
    on_these_tasks: list[dict[str, Any]] | None
    mean_ranks: dict[str, Any] | None
    seed_pairs: list[dict[str, Any]]
    provenance: dict[str, Any]
    bibtex: str | None


class StandingsPage(PublishedPage):
    """A board over several tracks."""

    snapshot: str
    title: str
    rule: str
    tracks: list[str]
    table: list[dict[str, Any]]
    unranked: list[dict[str, Any]]


class ShownPage(PublishedPage, Heat):
    """A board whose unit scores are not public: the values that teams were shown."""

    snapshot: str


class EntryPage(PublishedPage):
    """A team: its boards, its entries, and how it compares with the others."""

    snapshot: str
    team: str
    role: str
    simulated: bool
    boards: list[dict[str, Any]]
    entries: list[dict[str, Any]]
    against: list[dict[str, Any]]
    bibtex: str | None


class MethodPage(PublishedPage):
    """How scoring works."""

    snapshot: str
    rules: dict[str, Any]
    metrics: list[dict[str, Any]]
    manifests: list[dict[str, Any]]


class WrittenPage(PublishedPage):
    """A page that the organisers wrote."""

    title: str
    html: str
