"""The receipt of a submission: what was received, every state with its time, whose fault a failure was, the score."""

from __future__ import annotations

import shlex
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.competition.admission import count_attempts, count_refunds
from neuroarena.competition.arena import Arena
from neuroarena.competition.events import newest_hash
from neuroarena.competition.reveal import read_revealed
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION, TRANSITION
from neuroarena.competition.teams import find_team
from neuroarena.competition.times import day_of, format_aoe, format_utc, next_day
from neuroarena.errors import InputError

ATTEMPT = {"reserved": "reserved", "used": "counts", "freed": "free", "refunded": "refunded"}


def read_receipt(arena: Arena, token: str, submission: str) -> dict[str, Any]:
    """Return the receipt of one of the team's submissions, as plain data.

    Raises
    ------
    InputError
        When the team has no such submission.
    """
    return find_receipt(arena, find_team(arena, token, "read"), submission)


def find_receipt(arena: Arena, team: str, submission: str) -> dict[str, Any]:
    """Return the receipt of one of a team's submissions; who asks was checked.

    Raises
    ------
    InputError
        When the team has no such submission.
    """
    with arena.store.reading() as connection:
        asked = select(SUBMISSION).where(SUBMISSION.c.id == submission, SUBMISSION.c.team == team)
        row = connection.execute(asked).mappings().first()
        if row is None:
            raise InputError(f'Your team has no submission "{submission}".')
        return make_receipt(connection, arena, dict(row))


def make_receipt(connection: Connection, arena: Arena, row: dict[str, Any]) -> dict[str, Any]:
    """Return the receipt of a submission; of several runs the newest is told, and the others are listed."""
    runs = list(
        connection.execute(
            select(RUN)
            .where(RUN.c.submission == row["id"], RUN.c.purpose != "audit")
            .order_by(RUN.c.not_before, RUN.c.id)
        ).mappings()
    )
    run = dict(next((each for each in runs if each["purpose"] == "submission"), runs[0]))
    told = next((dict(each) for each in reversed(runs) if each["state"] == "scored"), run)
    score = find_score(connection, told["id"])
    about = arena.about(arena.sheet(row["track"], row["phase"]))
    return {
        "id": row["id"],
        "team": row["team"],
        "track": row["track"],
        "phase": row["phase"],
        "received_utc": format_utc(row["received"]),
        "received_aoe": format_aoe(row["received"]),
        "file": row["file"],
        "sha256": row["sha256"],
        "bytes": row["bytes"],
        "kind": row["kind"],
        "model": row["model"],
        "external_data": row["external_data"],
        "state": told["state"],
        "reason": told["reason"],
        "fault": told["fault"],
        "disqualified": row["disqualified"],
        **_describe_attempts(connection, arena, row),
        "states": [
            {"state": each["state"], "at": format_utc(each["at"]), "reason": each["reason"]}
            for each in _read_states(connection, run["id"])
        ],
        "reruns": [
            {"run": each["id"], "state": each["state"]} for each in runs if each["purpose"] == "rerun"
        ],
        "runtime_digest": told["runtime_digest"],
        "scorer_version": None if score is None else score["scorer_version"],
        "manifest_hash": about["manifest_hash"],
        "key_commitment": about["key_commitment"],
        "truth_commitment": about["truth_commitment"],
        "shown_score": None if score is None else score["shown"],
        "score": None if score is None else _describe_score(score),
        "revealed": read_revealed(arena, row["id"]),
        "event_hash": newest_hash(connection),
        "replay": _replay_command(arena, row),
    }


def list_submissions(arena: Arena, token: str) -> list[dict[str, Any]]:
    """List a team's submissions, oldest first, one short row each."""
    return list_own(arena, find_team(arena, token, "read"))


def list_own(arena: Arena, team: str) -> list[dict[str, Any]]:
    """List the submissions of a team, oldest first; who asks was checked."""
    asked = (
        select(SUBMISSION, RUN.c.id.label("run"), RUN.c.state, RUN.c.reason)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .where(SUBMISSION.c.team == team, SUBMISSION.c.deleted.is_(None), RUN.c.purpose == "submission")
        .order_by(SUBMISSION.c.received, SUBMISSION.c.id)
    )
    with arena.store.reading() as connection:
        rows = [dict(row) for row in connection.execute(asked).mappings()]
        scores = {row["id"]: find_score(connection, row["run"]) for row in rows}
    return [
        {
            "id": row["id"],
            "track": row["track"],
            "phase": row["phase"],
            "received_utc": format_utc(row["received"]),
            "file": row["file"],
            "state": row["state"],
            "attempt": ATTEMPT[row["slot"]],
            "score": (scores[row["id"]] or {}).get("sentence"),
            "reason": row["reason"],
        }
        for row in rows
    ]


def find_score(connection: Connection, run: str) -> dict[str, Any] | None:
    """Return the public score of a run by the newest scorer; None when it has none."""
    asked = select(PUBLIC_SCORE).where(PUBLIC_SCORE.c.run == run).order_by(PUBLIC_SCORE.c.at.desc())
    row = connection.execute(asked).mappings().first()
    return None if row is None else dict(row)


def _read_states(connection: Connection, run: str) -> list[dict[str, Any]]:
    asked = select(TRANSITION).where(TRANSITION.c.run == run).order_by(TRANSITION.c.number)
    return [dict(each) for each in connection.execute(asked).mappings()]


def _describe_attempts(connection: Connection, arena: Arena, row: dict[str, Any]) -> dict[str, Any]:
    """Return what a submission cost, how many attempts of that day are used, and when the next one is free.

    `next_free_utc` is None where nobody has to wait, or where the phase has no further day.
    """
    phase, team, day = arena.competition.phase(row["phase"]), row["team"], row["utc_day"]
    used = count_attempts(connection, team, phase.name, day)
    said = {"attempt": ATTEMPT[row["slot"]], "used": f"{used}, no cap", "next_free_utc": None}
    if phase.per_day is None:
        return said
    allowed = phase.per_day + count_refunds(connection, team, phase.name, day)
    said["used"] = f"{used} of {allowed}"
    # Only the day of the submission is told: another day has its own count.
    is_today = day == day_of(arena.store.clock(connection))
    if is_today and used >= allowed and next_day(day) < phase.end:
        said["next_free_utc"] = format_utc(next_day(day))
    return said


def _describe_score(row: dict[str, Any]) -> dict[str, Any]:
    interval = None if row["low"] is None else [row["low"], row["high"]]
    return {
        "shown": row["shown"],
        "interval": interval,
        "n_units": row["n_units"],
        "parts": row["parts"],
        "sentence": row["sentence"],
        "scorer_version": row["scorer_version"],
        "at": format_utc(row["at"]),
    }


def _replay_command(arena: Arena, row: dict[str, Any]) -> str:
    """Return the command that gives the same number where the truth is public, else the checker's."""
    # A stranger chose the name of the file; what is copied into a shell names it and does nothing else.
    track, file = arena.competition.track(row["track"]), shlex.quote(row["file"])
    if row["kind"] == "pipeline":
        return f"neuroarena submit {track.name} {file} --commits ID --dry-run"
    if arena.competition.phase(row["phase"]).sealed:
        # What is published of a sealed phase is in the competition's folder `public`; code is checked by itself.
        asked = "" if row["kind"] == "code" else f" --questions public/{track.sheet(row['phase'])}"
        return f"neuroarena check submission {track.benchmark} {file}{asked}"
    sheet = track.sheets.get(row["phase"])
    split = (sheet.split if sheet is not None else None) or track.split
    options = {**track.options, **(sheet.options if sheet is not None else {})}
    chosen = "".join(f" -O {name}={value}" for name, value in options.items())
    return f"neuroarena score {track.benchmark} {file}{f' --split {split}' if split else ''}{chosen}"
