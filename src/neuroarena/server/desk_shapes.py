"""What the pages of organisers, and announcements, say to programs."""

from __future__ import annotations

from typing import Any

from neuroarena.server.shapes import Receipt, Rows, Shape, State


class Announcement(Shape):
    """Something that organisers announced."""

    number: int
    at_utc: str
    title: str
    text: str
    html: str
    removed: bool


class Announcements(Shape):
    """Announcements, newest first."""

    announcements: list[Announcement]


class AnnouncedNow(Shape):
    """The number of a new announcement."""

    number: int


class RemovedNow(Shape):
    """The number of an announcement that was removed."""

    removed: int


class RestoredNow(Shape):
    """The number of an announcement that is shown again."""

    restored: int


class DeskPhase(Shape):
    """A phase with its times and its cap."""

    title: str
    start_utc: str
    end_utc: str
    end_aoe: str
    display: str
    per_day: int | None
    state: State


class AskedRow(Shape):
    """Something that a worker was asked to do."""

    id: str
    what: str
    track: str | None
    asked_utc: str
    ended_utc: str | None
    outcome: str | None


class Desk(Shape):
    """Phases, what waits, and what was asked for."""

    status: str | None
    zones: str | None
    now_utc: str
    phases: list[DeskPhase]
    tracks: list[str]
    requests: list[AskedRow]
    workers: int


class Status(Shape):
    """Whether submissions are taken."""

    status: str


class AskedNow(Shape):
    """The id of what a worker is asked to do."""

    request: str


class WaitingRow(Shape):
    """Runs that wait, by state and label."""

    state: str
    label: str
    runs: int
    oldest_utc: str


class WorkerRow(Shape):
    """A worker that was seen."""

    worker: str
    labels: str
    seen_utc: str
    self_test: Any


class KeptRow(Shape):
    """A submission that waits for an organiser."""

    submission: str
    team: str
    track: str
    reason: str | None


class DutyRow(Shape):
    """Something that is done again and again."""

    duty: str
    due_utc: str
    outcome: str | None


class Queue(Shape):
    """What waits, which machines work, and when duties are due."""

    waiting: list[WaitingRow]
    workers: list[WorkerRow]
    kept: list[KeptRow]
    duties: list[DutyRow]


class AnySubmissionRow(Shape):
    """A submission of any team."""

    id: str
    team: str
    track: str
    phase: str
    received_utc: str
    file: str
    state: str
    disqualified: str | None
    deleted: bool


class AllSubmissions(Shape):
    """Submissions of all teams, and how the list was narrowed."""

    submissions: Rows[AnySubmissionRow]
    team: str
    state: str


class DecidePage(Shape):
    """A receipt as its team sees it, and whether it was deleted."""

    receipt: Receipt
    team: str
    deleted: bool


class Decided(Shape):
    """What was decided about a submission."""

    submission: str
    decided: str


class AuditRow(Shape):
    """An audit, without the scores of its replays."""

    audit: str
    submission: str
    rule: str
    verdict: str | None
    reason: str | None


class Audits(Shape):
    """All audits."""

    audits: list[AuditRow]


class EventRow(Shape):
    """Something that happened."""

    number: int
    at_utc: str
    actor: str
    what: str
    about: str | None
    facts: Any


class Events(Shape):
    """What happened, newest first, and the hash that ends the chain."""

    events: Rows[EventRow]
    hash: str | None
