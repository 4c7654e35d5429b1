"""Duties that come back: boards, retention and the like; each is a row that workers claim by lease and fence."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, and_, or_, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.audit.advancing import advance_audits
from neuroarena.competition.queue import Fenced
from neuroarena.competition.retention import remove_old_files
from neuroarena.competition.rules import Timetable
from neuroarena.competition.site_pages import publish_everything
from neuroarena.competition.tables import SCHEDULE

# A scorer moves an audit on when it has scored a replay; this finds those that were left when one was killed.
AUDITS_S = 60
LEASE = datetime.timedelta(minutes=10)


@dataclass(frozen=True)
class Duty:
    """What is done again and again.

    Attributes
    ----------
    label : str
        Of the workers that do it.
    every_s : callable
        Timetable -> seconds from one time to the next.
    act : callable
        Does it, and says in a sentence how it went.
    """

    label: str
    every_s: Callable[[Timetable], float]
    act: Callable[[Arena], str]


def try_walls(arena: Arena) -> str:
    """Let a hostile guest try every wall of the sandbox, and say how many stood; where no code is taken, say so."""
    from neuroarena.sandbox.selftest import run_self_test

    if not any("code" in track.kinds for track in arena.competition.tracks):
        return "no track takes code"
    test = run_self_test([arena.vault.folder, arena.folder])
    if test.open:
        return f"{len(test.open)} walls open, first: {test.open[0].name}"
    return f"{len(test.probes)} walls stood"


DUTIES: dict[str, Duty] = {
    "boards": Duty("scorer", lambda table: 60 * table.board_minutes, publish_everything),
    "self-test": Duty("cpu", lambda table: 3600 * table.self_test_hours, try_walls),
    "audits": Duty("scorer", lambda _: AUDITS_S, advance_audits),
    "retention": Duty("intake", lambda table: 3600 * table.retention_hours, remove_old_files),
}


@dataclass(frozen=True)
class Claimed:
    """A duty that this worker does now."""

    name: str
    owner: str
    fence: int


def enter_duties(arena: Arena) -> None:
    """Write the rows of duties that are not there yet, and change how often they come back to what the file says."""
    with arena.store.writing("schedules") as connection:
        now = arena.store.clock(connection)
        rows = connection.execute(select(SCHEDULE.c.name, SCHEDULE.c.every_s)).all()
        there = {str(row[0]): int(row[1]) for row in rows}
        for name, duty in DUTIES.items():
            every_s = max(1, round(duty.every_s(arena.competition.timetable)))
            if name not in there:
                row = {"name": name, "label": duty.label, "every_s": every_s, "due": now, "fence": 0}
                connection.execute(SCHEDULE.insert().values(**row))
            elif there[name] != every_s:
                connection.execute(SCHEDULE.update().where(SCHEDULE.c.name == name).values(every_s=every_s))


def claim_duty(arena: Arena, owner: str, labels: Sequence[str]) -> Claimed | None:
    """Take a duty that is due; None when there is none."""
    with arena.store.reading() as connection:
        # Most of the time nothing is due, and a look costs no lock.
        if _find_due(arena, connection, labels) is None:
            return None
    with arena.store.writing("schedules") as connection:
        row = _find_due(arena, connection, labels)
        if row is None:
            return None
        name, fence = row
        held = {"owner": owner, "fence": fence + 1, "lease_until": arena.store.clock(connection) + LEASE}
        connection.execute(SCHEDULE.update().where(SCHEDULE.c.name == name).values(**held))
        return Claimed(name, owner, fence + 1)


def finish_duty(arena: Arena, claimed: Claimed, outcome: str) -> None:
    """Write how a duty went, and when it is due again.

    Raises
    ------
    Fenced
        When another worker has taken it over meanwhile.
    """
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        mine = and_(SCHEDULE.c.name == claimed.name, SCHEDULE.c.fence == claimed.fence)
        every_s = connection.execute(select(SCHEDULE.c.every_s).where(mine)).scalar()
        if every_s is None:
            raise Fenced(f'The duty "{claimed.name}" was taken over by another worker.')
        after = {"owner": None, "lease_until": None, "last": now, "outcome": outcome}
        due = now + datetime.timedelta(seconds=every_s)
        connection.execute(SCHEDULE.update().where(mine).values(**after, due=due))


def _find_due(arena: Arena, connection: Connection, labels: Sequence[str]) -> tuple[str, int] | None:
    now = arena.store.clock(connection)
    free = or_(SCHEDULE.c.lease_until.is_(None), SCHEDULE.c.lease_until <= now)
    asked = (
        select(SCHEDULE.c.name, SCHEDULE.c.fence)
        .where(SCHEDULE.c.label.in_(labels), SCHEDULE.c.due <= now, free, SCHEDULE.c.name.in_(DUTIES))
        .order_by(SCHEDULE.c.due, SCHEDULE.c.every_s.desc())
        .limit(1)
    )
    row = connection.execute(asked).first()
    return None if row is None else (str(row[0]), int(row[1]))
