"""Intake: take a submission, reserve its attempt, and check it before the attempt counts."""

from __future__ import annotations

import datetime
import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, select, union_all

from neuroarena.competition.admission import MEGABYTE, admit
from neuroarena.competition.arena import Arena
from neuroarena.competition.artifacts import Artifact
from neuroarena.competition.checking import ENDING, Checked, check_file, guess_kind
from neuroarena.competition.queue import Job, change_state, claim, give_back, hand_on, write_transition
from neuroarena.competition.tables import ANSWER, DOCUMENT, RUN, SUBMISSION
from neuroarena.competition.teams import find_team
from neuroarena.competition.times import day_of
from neuroarena.competition.tracks import Kind
from neuroarena.errors import InputError, NeuroarenaError

# Short work first: a thousand runs of code must not delay a file of predictions.
PRIORITY: dict[str, int] = {"predictions": 10, "pipeline": 5, "code": 0}
MOST_NAME = 255


@dataclass(frozen=True)
class Post:
    """What a team hands in.

    Attributes
    ----------
    track : str
    file : Path
    kind : {"predictions", "code", "pipeline"}
    name : str
        What messages call the file.
    key : str
        Repeated with the same key, a post is the same submission.
    model : str, optional
        What boards call it; files of predictions say it themselves.
    external_data : tuple of str, optional
        Data besides the track's own that code was trained on; files of predictions say it themselves.
    commits : str, optional
        The submission whose training a pipeline holds.
    """

    track: str
    file: Path
    kind: Kind
    name: str
    key: str
    model: str | None = None
    external_data: tuple[str, ...] | None = None
    commits: str | None = None


def submit(
    arena: Arena,
    token: str,
    track: str,
    file: str | Path,
    *,
    kind: Kind | None = None,
    key: str | None = None,
    name: str | None = None,
    model: str | None = None,
    external_data: tuple[str, ...] | None = None,
    commits: str | None = None,
) -> str:
    """Take a file, check it, and queue it; return the id of the submission.

    Parameters
    ----------
    arena : Arena
    token : str
        Of the team, with the scope "submit".
    track : str
    file : path
    kind : str, optional
        By default a zip is code, and everything else a file of predictions.
    key, name, model, external_data, commits
        See :class:`Post`; without a key every call is a new submission, and the file is called by its own name.

    Raises
    ------
    InputError
        When it is not taken: the reason is given, no attempt is counted and no row is written.
    """
    file = Path(file)
    team = find_team(arena, token, "submit")
    post = Post(
        track,
        file,
        kind or guess_kind(file),
        clean_name(name or file.name),
        key or secrets.token_hex(16),
        model,
        external_data,
        commits,
    )
    return take_post(arena, team, post)


def take_post(arena: Arena, team: str, post: Post) -> str:
    """Take what a team hands in, whose right to do so was checked; return the id of the submission.

    Raises
    ------
    InputError
        When it is not taken: the reason is given, no attempt is counted and no row is written.
    """
    arena.competition.track(post.track)
    with arena.store.reading() as connection:
        earlier = find_earlier(connection, team, post.key)
        if earlier is not None:
            return earlier
        _check_declared(connection, arena, team, post)
        admit(connection, arena, team, post.track, _measure(post.file), kind=post.kind)
    kept = arena.artifacts.keep(post.file, arena.competition.limits.file_mb * MEGABYTE, ENDING[post.kind])
    submission, run = _receive(arena, team, post, kept)
    job = claim(arena.store, "intake", ["intake"], run=run) if run is not None else None
    if job is not None:
        check_received(arena, job)
    return submission


def dry_run(
    arena: Arena,
    token: str,
    track: str,
    file: str | Path,
    *,
    kind: Kind | None = None,
    accepting: bool = False,
) -> Checked:
    """Check a file and whether it would be taken now; nothing is written and no attempt is used.

    With `accepting`, as if the team accepted the terms with this submission.

    Raises
    ------
    InputError
        When it would not be taken, or would be refused.
    """
    team = find_team(arena, token, "submit")
    return check_post(arena, team, track, Path(file), kind, accepting=accepting)


def check_post(
    arena: Arena, team: str, track: str, file: Path, kind: Kind | None = None, *, accepting: bool = False
) -> Checked:
    """Check a file of a team, and whether it would be taken now; nothing is written and no attempt is used.

    Raises
    ------
    InputError
        When it would not be taken, or would be refused.
    """
    kind = kind or guess_kind(file)
    arena.competition.track(track)
    with arena.store.reading() as connection:
        phase = admit(connection, arena, team, track, _measure(file), kind=kind, accepting=accepting)
    return check_file(arena, track, phase.name, kind, file)


def check_received(arena: Arena, job: Job) -> None:
    """Check a received file: queue it, or refuse it and free its attempt.

    Raises
    ------
    Fenced
        When another worker has taken it over.
    """
    row = read_submission(arena, job.submission)
    try:
        path = arena.artifacts.open(row["sha256"], ENDING[row["kind"]])
        # Without its rules a track judges nothing: they are ours to mend.
        arena.manifests(arena.sheet(row["track"], row["phase"]))
    except (OSError, NeuroarenaError) as error:
        give_back(arena.store, job, f"The platform failed ({type(error).__name__}).")
        return
    try:
        found = check_file(arena, row["track"], row["phase"], row["kind"], path)
    except InputError as error:
        reason = str(error).replace(path.name, row["file"])
        with arena.store.writing() as connection:
            change_state(connection, arena.store.clock(connection), job, "refused", reason, "theirs")
        return
    with arena.store.writing() as connection:
        now = arena.store.clock(connection)
        if row["kind"] == "pipeline":
            change_state(connection, now, job, "kept")
            return
        job = change_state(connection, now, job, "checked")
        hand_on(connection, now, job, "queued", choose_label(arena, row["track"], row["kind"]))
        said = {"model": found.model or row["model"]}
        if found.external_data is not None:
            said["external_data"] = list(found.external_data)
        connection.execute(SUBMISSION.update().where(SUBMISSION.c.id == job.submission).values(**said))


def choose_label(arena: Arena, track: str, kind: str) -> str:
    """Return the label of the workers that go on with a checked submission."""
    return "scorer" if kind == "predictions" else arena.competition.track(track).code.machine


def read_submission(arena: Arena, submission: str) -> dict[str, Any]:
    """Return the row of a submission."""
    with arena.store.reading() as connection:
        asked = select(SUBMISSION).where(SUBMISSION.c.id == submission)
        return dict(connection.execute(asked).mappings().one())


def withdraw(arena: Arena, token: str, submission: str) -> None:
    """Withdraw a submission that is not being scored yet.

    Raises
    ------
    InputError
        When the team has no such submission, or it is too late.
    """
    withdraw_own(arena, find_team(arena, token, "submit"), submission)


def withdraw_own(arena: Arena, team: str, submission: str) -> None:
    """Withdraw a submission of a team, whose right to do so was checked.

    Raises
    ------
    InputError
        When the team has no such submission, or it is too late.
    """
    with arena.store.writing(f"team:{team}") as connection:
        now = arena.store.clock(connection)
        withdraw_run(connection, now, team, submission, team, "Withdrawn by the team.")


def withdraw_run(
    connection: Connection, now: datetime.datetime, team: str, submission: str, actor: str, reason: str
) -> None:
    """Withdraw the run of a submission that nobody works on yet, inside the caller's transaction.

    Raises
    ------
    InputError
        When there is no such submission, or it is too late.
    """
    asked = select(RUN).where(RUN.c.submission == submission, RUN.c.team == team)
    asked = asked.where(RUN.c.purpose == "submission").with_for_update(of=RUN)
    row = connection.execute(asked).mappings().first()
    if row is None:
        raise InputError(f'Your team has no submission "{submission}".')
    if row["state"] not in ("received", "queued"):
        raise InputError(f'The submission "{submission}" is {row["state"]} and cannot be withdrawn any more.')
    job = Job(row["id"], submission, team, row["state"], row["label"], actor, row["fence"], row["tries"])
    change_state(connection, now, job, "withdrawn", reason)


def insert_submission(
    connection: Connection,
    now: datetime.datetime,
    team: str,
    phase: str,
    post: Post,
    kept: Artifact,
    **values: Any,
) -> tuple[str, str]:
    """Write a submission, its run and the events inside the caller's transaction; return both ids."""
    submission, run = f"s{secrets.token_hex(5)}", f"r{secrets.token_hex(5)}"
    row: dict[str, Any] = {"id": submission, "team": team, "track": post.track, "phase": phase}
    row |= {"file": post.name, "kind": post.kind, "sha256": kept.sha256, "bytes": kept.n_bytes}
    row |= {"key": post.key, "received": now, "utc_day": day_of(now), "slot": "reserved"}
    row |= {"model": post.model, "commits": post.commits}
    row["external_data"] = None if post.external_data is None else list(post.external_data)
    connection.execute(SUBMISSION.insert().values(**(row | values)))
    work: dict[str, Any] = {"id": run, "submission": submission, "team": team, "received": now}
    work |= {"state": "received", "label": "intake", "priority": PRIORITY[post.kind]}
    work |= {"fence": 0, "tries": 0, "not_before": now}
    connection.execute(RUN.insert().values(**work))
    write_transition(connection, now, run, "received", team, None)
    return submission, run


def find_earlier(connection: Connection, team: str, key: str) -> str | None:
    """Return the submission that a team posted with a key before; None when there is none."""
    asked = select(SUBMISSION.c.id).where(SUBMISSION.c.team == team, SUBMISSION.c.key == key)
    return connection.execute(asked).scalar()


def _receive(arena: Arena, team: str, post: Post, kept: Artifact) -> tuple[str, str | None]:
    """Write the submission, its run and the events in one transaction, with the caps counted in it."""
    with arena.store.writing(f"team:{team}", f"artifact:{kept.sha256}") as connection:
        earlier = find_earlier(connection, team, post.key)
        if earlier is not None:
            return earlier, None
        if not arena.artifacts.path(kept.sha256, ENDING[post.kind]).is_file():
            # The same content was left by a killed process, and went between our copy and our lock.
            arena.artifacts.keep(post.file, kept.n_bytes, ENDING[post.kind])
        phase = admit(connection, arena, team, post.track, kept.n_bytes, kind=post.kind)
        now = arena.store.clock(connection)
        return insert_submission(connection, now, team, phase.name, post, kept)


def drop_unclaimed(arena: Arena, file: Path) -> None:
    """Remove the kept copy of a file whose upload was cut short, unless something in the store names it."""
    with file.open("rb") as opened:
        sha256 = hashlib.file_digest(opened, "sha256").hexdigest()
    places = {arena.artifacts.path(sha256, ending) for ending in ENDING.values()}
    if not any(place.exists() for place in places):
        return
    with arena.store.writing(f"artifact:{sha256}") as connection:
        named = (
            select(table.c.sha256).where(table.c.sha256 == sha256) for table in (SUBMISSION, ANSWER, DOCUMENT)
        )
        if connection.execute(union_all(*named)).first() is None:
            for place in places:
                place.unlink(missing_ok=True)


def _check_declared(connection: Connection, arena: Arena, team: str, post: Post) -> None:
    """Refuse code that does not say what it was trained on where that is asked, and pipelines of nothing."""
    if post.kind == "code" and arena.competition.external_data == "declared" and post.external_data is None:
        raise InputError(
            "Say which data besides the track's own the code was trained on, with --external-data NAME for each, "
            "or --no-external-data."
        )
    if arena.competition.external_data == "forbidden" and post.external_data:
        raise InputError(
            f'The code was trained on external data ("{post.external_data[0]}"), which {arena.competition.title} does '
            "not allow."
        )
    if post.kind != "pipeline":
        return
    asked = select(SUBMISSION.c.track).where(SUBMISSION.c.id == post.commits, SUBMISSION.c.team == team)
    track = connection.execute(asked).scalar()
    if track != post.track:
        raise InputError(
            f'A pipeline commits the training of one submission: your team has no submission "{post.commits}" to '
            f'the track "{post.track}".'
        )


def _measure(file: Path) -> int:
    return file.stat().st_size if file.is_file() else 0


def clean_name(name: str) -> str:
    """Return the last part of a file's name, or "submission" where it cannot be printed."""
    name = Path(name).name
    return name if name.isprintable() and 0 < len(name) <= MOST_NAME else "submission"
