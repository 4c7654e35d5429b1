"""Intake: take a submission, reserve its attempt, and check it before the attempt counts."""

from __future__ import annotations

import datetime
import secrets
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.artifacts import Artifact
from neuroarena.competition.configuration import Competition, Phase
from neuroarena.competition.queue import Job, change_state, claim, give_back, write_transition
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import RUN, SUBMISSION
from neuroarena.competition.teams import find_team, has_accepted
from neuroarena.competition.times import day_of, format_aoe, format_utc, next_day
from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import Submission, check_submission

MEGABYTE = 1 << 20
PRIORITY = {"predictions": 10}
MOST_NAME = 255


def submit(
    arena: Arena, token: str, track: str, file: str | Path, *, key: str | None = None, name: str | None = None
) -> str:
    """Take a file of predictions, check it, and queue it for scoring; return the id of the submission.

    Parameters
    ----------
    arena : Arena
    token : str
        Of the team, with the scope "submit".
    track : str
    file : path
    key : str, optional
        Repeated with the same key, a post is the same submission; by default every call is a new one.
    name : str, optional
        What messages call the file; by default its own name.

    Raises
    ------
    InputError
        When it is not taken: the reason is given, no attempt is counted and no row is written.
    """
    file = Path(file)
    team = find_team(arena, token, "submit")
    shown = _clean_name(name or file.name)
    arena.competition.track(track)
    key = key or secrets.token_hex(16)
    with arena.store.reading() as connection:
        earlier = _find_earlier(connection, team, key)
        if earlier is not None:
            return earlier
        size = file.stat().st_size if file.is_file() else 0
        admit(connection, arena, team, track, size)
    kept = arena.artifacts.keep(file, arena.competition.limits.file_mb * MEGABYTE)
    submission, run = _receive(arena, team, track, key, shown, kept)
    job = claim(arena.store, "intake", ["intake"], run=run)
    if job is not None:
        check_received(arena, job)
    return submission


def dry_run(arena: Arena, token: str, track: str, file: str | Path, *, accepting: bool = False) -> Submission:
    """Check a file and whether it would be taken now; nothing is written and no attempt is used.

    With `accepting`, as if the team accepted the terms with this submission.

    Raises
    ------
    InputError
        When it would not be taken, or would be refused.
    """
    file = Path(file)
    team = find_team(arena, token, "submit")
    arena.competition.track(track)
    checked = check_submission(file, arena.manifest(track), arena.ids(track))
    with arena.store.reading() as connection:
        admit(connection, arena, team, track, file.stat().st_size, accepting=accepting)
    return checked


def check_received(arena: Arena, job: Job) -> None:
    """Check a received file: queue it, or refuse it and free its attempt.

    Raises
    ------
    Fenced
        When another worker has taken it over.
    """
    with arena.store.reading() as connection:
        row = connection.execute(select(SUBMISSION).where(SUBMISSION.c.id == job.submission)).mappings().one()
    try:
        path = arena.artifacts.open(row["sha256"])
        manifest, ids = arena.manifest(row["track"]), arena.ids(row["track"])
    except (OSError, NeuroarenaError) as error:
        give_back(arena.store, job, f"The platform failed ({type(error).__name__}).")
        return
    try:
        found = check_submission(path, manifest, ids)
    except InputError as error:
        reason = str(error).replace(path.name, row["file"])
        with arena.store.writing() as connection:
            change_state(connection, arena.store.clock(connection), job, "refused", reason, "theirs")
        return
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        job = change_state(connection, now, job, "checked")
        job = change_state(connection, now, job, "queued")
        queued = {"label": "scorer", "owner": None, "lease_until": None, "tries": 0}
        connection.execute(RUN.update().where(RUN.c.id == job.run).values(**queued))
        said = {"model": found.model, "external_data": list(found.external_data)}
        connection.execute(SUBMISSION.update().where(SUBMISSION.c.id == job.submission).values(**said))


def withdraw(arena: Arena, token: str, submission: str) -> None:
    """Withdraw a submission that is not being scored yet.

    Raises
    ------
    InputError
        When the team has no such submission, or it is too late.
    """
    team = find_team(arena, token, "submit")
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        asked = select(RUN).where(RUN.c.submission == submission, RUN.c.team == team)
        row = connection.execute(asked.with_for_update(of=RUN)).mappings().first()
        if row is None:
            raise InputError(f'Your team has no submission "{submission}".')
        if row["state"] not in ("received", "queued"):
            raise InputError(
                f'The submission "{submission}" is {row["state"]} and cannot be withdrawn any more.'
            )
        job = Job(row["id"], submission, team, row["state"], row["label"], team, row["fence"], row["tries"])
        change_state(connection, now, job, "withdrawn", "Withdrawn by the team.")


def admit(
    connection: Connection, arena: Arena, team: str, track: str, n_bytes: int, *, accepting: bool = False
) -> Phase:
    """Return the phase a submission would count in now, or refuse it.

    Raises
    ------
    InputError
        When the competition is closed, no phase is open, the terms are not accepted, or a cap is reached.
    """
    competition, now = arena.competition, arena.store.clock(connection)
    if read_about(connection, "status") != "open":
        raise InputError(f"{competition.title} does not take submissions now: the organisers have closed it.")
    phase = competition.phase_at(now)
    if phase is None or not phase.takes(track):
        raise InputError(
            f'The track "{track}" takes no submissions now. {_next_phase(competition, track, now)}'
        )
    if not accepting and not has_accepted(connection, team, arena.terms_sha256):
        terms = " ".join(competition.terms.split())
        raise InputError(
            f'The team "{team}" has not accepted the terms: "{terms}". Accept them by adding --accept-terms.'
        )
    _check_quota(connection, competition, team, n_bytes)
    _check_caps(connection, phase, team, now)
    return phase


def count_attempts(connection: Connection, team: str, phase: str, day: str | None = None) -> int:
    """Return how many attempts of a team are reserved or used, on a day or in the whole phase."""
    asked = select(func.count()).where(
        SUBMISSION.c.team == team, SUBMISSION.c.phase == phase, SUBMISSION.c.slot.in_(("reserved", "used"))
    )
    if day is not None:
        asked = asked.where(SUBMISSION.c.utc_day == day)
    return int(connection.execute(asked).scalar_one())


def count_refunds(connection: Connection, team: str, phase: str, day: str) -> int:
    """Return how many attempts of earlier days were given back on a day; each is one more attempt then."""
    begun = next_day(day) - datetime.timedelta(days=1)
    asked = select(func.count()).where(
        SUBMISSION.c.team == team,
        SUBMISSION.c.phase == phase,
        SUBMISSION.c.utc_day < day,
        SUBMISSION.c.refunded >= begun,
        SUBMISSION.c.refunded < next_day(day),
    )
    return int(connection.execute(asked).scalar_one())


def _receive(
    arena: Arena, team: str, track: str, key: str, name: str, kept: Artifact
) -> tuple[str, str | None]:
    """Write the submission, its run and the events in one transaction, with the caps counted in it."""
    with arena.store.writing(f"team:{team}") as connection:
        earlier = _find_earlier(connection, team, key)
        if earlier is not None:
            return earlier, None
        phase = admit(connection, arena, team, track, kept.n_bytes)
        now = arena.store.clock(connection)
        submission, run = f"s{secrets.token_hex(5)}", f"r{secrets.token_hex(5)}"
        row: dict[str, Any] = {
            "id": submission,
            "team": team,
            "track": track,
            "phase": phase.name,
            "file": name,
        }
        row |= {"kind": "predictions", "sha256": kept.sha256, "bytes": kept.n_bytes, "key": key}
        row |= {"received": now, "utc_day": day_of(now), "slot": "reserved"}
        connection.execute(SUBMISSION.insert().values(**row))
        work: dict[str, Any] = {"id": run, "submission": submission, "team": team, "received": now}
        work |= {"state": "received", "label": "intake", "priority": PRIORITY["predictions"]}
        work |= {"fence": 0, "tries": 0, "not_before": now}
        connection.execute(RUN.insert().values(**work))
        write_transition(connection, now, run, "received", team, None)
    return submission, run


def _check_quota(connection: Connection, competition: Competition, team: str, n_bytes: int) -> None:
    limits = competition.limits
    total = connection.execute(
        select(func.coalesce(func.sum(SUBMISSION.c.bytes), 0)).where(SUBMISSION.c.team == team)
    ).scalar_one()
    if total + n_bytes > limits.team_mb * MEGABYTE:
        raise InputError(
            f"Your team's files would exceed {limits.team_mb} MB in all. Ask the organisers for room."
        )
    waiting = connection.execute(
        select(func.count()).where(RUN.c.team == team, RUN.c.state.not_in(TERMINAL))
    ).scalar_one()
    if waiting >= limits.unfinished:
        raise InputError(
            f"{waiting} submissions of your team have not ended yet; wait until one has, and try again."
        )


def _check_caps(connection: Connection, phase: Phase, team: str, now: datetime.datetime) -> None:
    today = day_of(now)
    if phase.in_total is not None and count_attempts(connection, team, phase.name) >= phase.in_total:
        raise InputError(f'All {phase.in_total} attempts of your team in "{phase.title}" are used.')
    if phase.per_day is None:
        return
    allowed = phase.per_day + count_refunds(connection, team, phase.name, today)
    if count_attempts(connection, team, phase.name, today) >= allowed:
        free = next_day(today)
        more = f"The next is free at {format_utc(free)} ({format_aoe(free)})." if free < phase.end else ""
        raise InputError(f"All {allowed} attempts of your team today are used. {more}".strip())


def _next_phase(competition: Competition, track: str, now: datetime.datetime) -> str:
    later = [phase for phase in competition.phases if phase.start > now and phase.takes(track)]
    if not later:
        return "No later phase takes any."
    return f'"{later[0].title}" begins at {format_utc(later[0].start)} ({format_aoe(later[0].start)}).'


def _find_earlier(connection: Connection, team: str, key: str) -> str | None:
    asked = select(SUBMISSION.c.id).where(SUBMISSION.c.team == team, SUBMISSION.c.key == key)
    return connection.execute(asked).scalar()


def _clean_name(name: str) -> str:
    name = Path(name).name
    return name if name.isprintable() and 0 < len(name) <= MOST_NAME else "submission.parquet"
