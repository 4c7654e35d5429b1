"""The queue: the row of a run is its job, held by a lease and guarded by a fence."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from sqlalchemy import Connection, and_, func, or_, select

from neuroarena.competition.events import append_event
from neuroarena.competition.states import (
    CHANGES,
    LEASED,
    MOST_DEATHS,
    MOST_TRIES,
    TERMINAL,
    State,
    may_change,
)
from neuroarena.competition.store import Store
from neuroarena.competition.tables import AUDIT, RUN, SUBMISSION, TRANSITION
from neuroarena.errors import NeuroarenaError

LEASE = datetime.timedelta(seconds=60)
WAIT_AFTER_OUR_FAULT = datetime.timedelta(seconds=5)
CLAIMABLE: tuple[State, ...] = ("received", "queued", "running", "scoring")
# Made once: an alias of a table takes longer to make than the statement takes to run.
_OTHER = RUN.alias("other")
Fault = Literal["theirs", "ours"]


class Fenced(NeuroarenaError):
    """Another worker holds this run now: drop the work, write nothing."""


@dataclass(frozen=True)
class Job:
    """A run that this worker holds.

    Attributes
    ----------
    run, submission, team : str
    state : str
        What is to be done: "received" is to be checked, "running" to be run, "scoring" to be scored.
    label : str
        The kind of worker it needs.
    owner : str
    fence : int
        Rises with every claim; a write under an older fence is refused.
    tries : int
    purpose : {"submission", "rerun", "audit"}
        Only the first kind uses or frees an attempt.
    """

    run: str
    submission: str
    team: str
    state: State
    label: str
    owner: str
    fence: int
    tries: int
    purpose: str = "submission"


def claim(
    store: Store,
    owner: str,
    labels: Sequence[str],
    run: str | None = None,
    lease: datetime.timedelta = LEASE,
) -> Job | None:
    """Take the next run that is due, or whose worker went silent; None when there is nothing to do.

    Higher priority first, then the team with the fewest runs under way, then the oldest. A run whose tries are used
    up is set to broken here, and its attempt is given back.
    """
    while True:
        with store.writing() as connection:
            now = store.clock(connection)
            row = _next_row(connection, now, labels, run)
            if row is None:
                return None
            job = _job(row, owner)
            # Whoever gives a job back takes its name off; one that is still there belongs to a worker that went silent.
            deaths = row["deaths"] + (row["owner"] is not None)
            given_up = _reason_to_give_up(row, deaths)
            if given_up is not None:
                kept = {"deaths": deaths, "quarantined": deaths >= MOST_DEATHS}
                connection.execute(RUN.update().where(RUN.c.id == job.run).values(**kept))
                change_state(connection, now, job, "broken", given_up, "ours")
                continue
            taken = dataclasses.replace(job, fence=row["fence"] + 1, tries=row["tries"] + 1)
            held = {"owner": owner, "fence": taken.fence, "tries": taken.tries, "lease_until": now + lease}
            held["deaths"] = deaths
            connection.execute(RUN.update().where(RUN.c.id == job.run).values(**held))
            if job.state == "queued":
                after: State = "scoring" if job.label == "scorer" else "running"
                taken = change_state(connection, now, taken, after)
            return taken


def keep_alive(store: Store, job: Job, lease: datetime.timedelta = LEASE) -> None:
    """Prolong the lease of a job.

    Raises
    ------
    Fenced
        When another worker has it.
    """
    with store.writing() as connection:
        now = store.clock(connection)
        mine = and_(RUN.c.id == job.run, RUN.c.fence == job.fence, RUN.c.owner == job.owner)
        if connection.execute(RUN.update().where(mine).values(lease_until=now + lease)).rowcount != 1:
            raise Fenced(f"Run {job.run} was taken over by another worker.")


def change_state(
    connection: Connection,
    now: datetime.datetime,
    job: Job,
    after: State,
    reason: str | None = None,
    fault: Fault | None = None,
) -> Job:
    """Move a job to another state inside the caller's transaction, and return it as it is then.

    Raises
    ------
    Fenced
        When another worker has it, or it is in another state by now.
    """
    assert may_change(job.state, after), f"{job.state} -> {after}"
    values: dict[str, Any] = {"state": after, "reason": reason, "fault": fault}
    if after in TERMINAL:
        values |= {"owner": None, "lease_until": None}
    mine = and_(RUN.c.id == job.run, RUN.c.fence == job.fence, RUN.c.state == job.state)
    if connection.execute(RUN.update().where(mine).values(**values)).rowcount != 1:
        raise Fenced(f"Run {job.run} was taken over by another worker.")
    slot = CHANGES[job.state, after]
    if slot is not None and job.purpose == "submission":
        refunded = {"refunded": now} if slot == "refunded" else {}
        connection.execute(
            SUBMISSION.update().where(SUBMISSION.c.id == job.submission).values(slot=slot, **refunded)
        )
    write_transition(connection, now, job.run, after, job.owner, reason)
    return dataclasses.replace(job, state=after)


def hand_on(
    connection: Connection, now: datetime.datetime, job: Job, after: State, label: str, **values: Any
) -> Job:
    """Move a job to a state in which workers with another label take it over; its tries begin anew.

    Parameters
    ----------
    connection, now, job, after
        As for :func:`change_state`.
    label : str
        Of the workers that go on with it.
    **values
        Other columns of the run to set.

    Raises
    ------
    Fenced
    """
    job = change_state(connection, now, job, after)
    freed: dict[str, Any] = {"label": label, "owner": None, "lease_until": None, "tries": 0, "deaths": 0}
    connection.execute(RUN.update().where(RUN.c.id == job.run).values(**freed, stage=None, **values))
    return dataclasses.replace(job, label=label)


def give_back(store: Store, job: Job, reason: str, *, counts: bool = True) -> None:
    """Return a job to the queue: we failed, or the worker was asked to stop (`counts` false).

    Raises
    ------
    Fenced
    """
    with store.writing() as connection:
        now = store.clock(connection)
        if job.state != "received":
            job = change_state(connection, now, job, "queued", reason, "ours" if counts else None)
        values: dict[str, Any] = {"owner": None, "lease_until": None, "reason": reason}
        values["not_before"] = now + (WAIT_AFTER_OUR_FAULT * job.tries if counts else datetime.timedelta())
        if not counts:
            values["tries"] = job.tries - 1
        mine = and_(RUN.c.id == job.run, RUN.c.fence == job.fence, RUN.c.state == job.state)
        if connection.execute(RUN.update().where(mine).values(**values)).rowcount != 1:
            raise Fenced(f"Run {job.run} was taken over by another worker.")


def has_unfinished(store: Store, labels: Collection[str]) -> bool:
    """Return whether workers with these labels have, or will have, anything to do: a run, or an audit to move on.

    An audit none of whose replays is under way is about to get more of them, or to end.
    """
    waiting = select(RUN.c.id).where(RUN.c.state.not_in(TERMINAL), RUN.c.label.in_(labels))
    replayed = select(_OTHER.c.id).where(_OTHER.c.of == AUDIT.c.id, _OTHER.c.state.not_in(TERMINAL))
    between = select(AUDIT.c.id).where(AUDIT.c.ended.is_(None), ~replayed.exists())
    with store.reading() as connection:
        found = (connection.execute(asked.limit(1)).first() for asked in (waiting, between))
        return any(row is not None for row in found)


def _next_row(
    connection: Connection, now: datetime.datetime, labels: Sequence[str], run: str | None
) -> dict[str, Any] | None:
    under_way = (
        select(func.count())
        .select_from(_OTHER)
        .where(_OTHER.c.team == RUN.c.team, _OTHER.c.state.in_(LEASED), _OTHER.c.lease_until > now)
        .scalar_subquery()
    )
    free = or_(RUN.c.lease_until.is_(None), RUN.c.lease_until <= now)
    asked = (
        select(RUN)
        .where(RUN.c.state.in_(CLAIMABLE), RUN.c.label.in_(labels), RUN.c.not_before <= now, free)
        .order_by(RUN.c.priority.desc(), under_way, RUN.c.received, RUN.c.id)
        .limit(1)
        .with_for_update(of=RUN, skip_locked=True)
    )
    if run is not None:
        asked = asked.where(RUN.c.id == run)
    row = connection.execute(asked).mappings().first()
    return None if row is None else dict(row)


def write_transition(
    connection: Connection, now: datetime.datetime, run: str, state: State, by: str, reason: str | None
) -> None:
    """Write that a run is in a new state: a row for its receipt, and an event."""
    number = connection.execute(select(func.count()).where(TRANSITION.c.run == run)).scalar_one() + 1
    row = {"number": number, "state": state, "at": now, "by": by, "reason": reason}
    connection.execute(TRANSITION.insert().values(run=run, **row))
    append_event(connection, now, by, state, run, {"reason": reason} if reason else None)


def _reason_to_give_up(row: dict[str, Any], deaths: int) -> str | None:
    if deaths >= MOST_DEATHS:
        return f"{deaths} workers went silent on it; the organisers look at it."
    if row["tries"] >= MOST_TRIES:
        return f"Gave up after {MOST_TRIES} tries. {row['reason'] or 'Its worker went silent each time.'}"
    return None


def _job(row: dict[str, Any], owner: str) -> Job:
    return Job(
        run=row["id"],
        submission=row["submission"],
        team=row["team"],
        state=cast(State, row["state"]),
        label=row["label"],
        owner=owner,
        fence=row["fence"],
        tries=row["tries"],
        purpose=row["purpose"],
    )
