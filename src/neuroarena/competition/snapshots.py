"""Snapshots of boards: published on a schedule or on demand, and the same when made again as of their time."""

from __future__ import annotations

import datetime
import hashlib
import json
from typing import Any

from sqlalchemy import func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.boards import find_phase, list_shown, rank_track
from neuroarena.competition.events import append_event, newest_hash
from neuroarena.competition.phases import Phase
from neuroarena.competition.reveal import find_reveal
from neuroarena.competition.tables import SNAPSHOT
from neuroarena.competition.times import format_utc
from neuroarena.errors import InputError

PUBLIC_RULE = "best-ever"


def make_board(arena: Arena, track: str, phase: str, as_of: datetime.datetime) -> dict[str, Any]:
    """Return the public board of a track and phase as of a time, as plain data.

    Where full scores are public, in an open phase or after the reveal, it holds intervals and verdicts, otherwise the
    values that teams were shown. While a board is frozen, it is the board of the time when it froze.
    """
    found = find_phase(arena, phase)
    seen = find_public_time(found, as_of)
    rows = list_shown(arena, track, phase, seen)
    said: dict[str, Any] = {"track": track, "phase": phase, "rule": PUBLIC_RULE, "rows": rows}
    has_values = any(row["shown"] is not None for row in rows) if found.display == "full" else bool(rows)
    if has_values and shows_scores(arena, found, as_of):
        ranked = rank_track(arena, track, phase, rule=PUBLIC_RULE, as_of=seen).to_dict()
        said["board"] = _without_time(ranked)
    return said


def shows_scores(arena: Arena, phase: Phase, time: datetime.datetime) -> bool:
    """Return whether full scores of a phase are public at a time: always, or since the truth was revealed."""
    revealed = find_reveal(arena)
    return phase.display == "full" or (revealed is not None and revealed <= time)


def find_public_time(phase: Phase, now: datetime.datetime) -> datetime.datetime:
    """Return the time as of which the public sees a board: now, or when it froze, until the phase has ended."""
    if phase.frozen_from is not None and phase.frozen_from <= now < phase.end:
        return phase.frozen_from
    return now


def publish_board(arena: Arena, track: str, phase: str) -> int | None:
    """Publish the board of a track and phase as it is now; return its number, or None when nothing has changed."""
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
    content = make_board(arena, track, phase, now)
    sha256 = hash_board(content)
    with arena.store.writing("boards") as connection:
        newest = (
            select(SNAPSHOT.c.sha256)
            .where(SNAPSHOT.c.track == track, SNAPSHOT.c.phase == phase)
            .order_by(SNAPSHOT.c.number.desc())
            .limit(1)
        )
        if connection.execute(newest).scalar() == sha256:
            return None
        number = (
            int(connection.execute(select(func.coalesce(func.max(SNAPSHOT.c.number), 0))).scalar_one()) + 1
        )
        row = {"number": number, "track": track, "phase": phase, "rule": PUBLIC_RULE, "as_of": now}
        head = newest_hash(connection)
        connection.execute(SNAPSHOT.insert().values(**row, event_hash=head, sha256=sha256, content=content))
        facts = {"track": track, "phase": phase, "sha256": sha256}
        append_event(connection, arena.store.clock(connection), "scorer", "board", str(number), facts)
    return number


def publish_boards(arena: Arena) -> str:
    """Publish the board of every track in every phase that has begun, and say how many have changed."""
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
    changed = [
        publish_board(arena, track.name, phase.name)
        for phase in arena.competition.phases
        if phase.start <= now
        for track in arena.competition.tracks
        if phase.takes(track.name)
    ]
    n_changed = sum(number is not None for number in changed)
    return f"{n_changed} of {len(changed)} boards changed"


def read_snapshot(
    arena: Arena, track: str, phase: str, as_of: datetime.datetime | None = None
) -> dict[str, Any]:
    """Return the board that was published last, or last before a time, with its number, hash and head of events.

    Raises
    ------
    InputError
        When none was published by then.
    """
    find_phase(arena, phase)
    arena.competition.track(track)
    asked = select(SNAPSHOT).where(SNAPSHOT.c.track == track, SNAPSHOT.c.phase == phase)
    if as_of is not None:
        asked = asked.where(SNAPSHOT.c.as_of <= as_of)
    with arena.store.reading() as connection:
        row = connection.execute(asked.order_by(SNAPSHOT.c.number.desc()).limit(1)).mappings().first()
    if row is None:
        raise InputError(f'No board of "{track}" in "{phase}" was published by then.')
    said = {"number": row["number"], "as_of": format_utc(row["as_of"]), "sha256": row["sha256"]}
    return {**said, "event_hash": row["event_hash"], **row["content"]}


def hash_board(content: dict[str, Any]) -> str:
    """Return the SHA-256 of a board as canonical JSON."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _without_time(ranked: dict[str, Any]) -> dict[str, Any]:
    """Return a board without the time as of which it was made: one that has not changed has the same hash."""
    plain: dict[str, Any] = json.loads(json.dumps(ranked, default=str))
    if isinstance(plain.get("rules"), dict):
        plain["rules"].pop("as_of", None)
    return plain
