"""The receipt of a submission: what was received, every state with its time, whose fault a failure was, the score."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select

from neuroarena.competition.admission import count_attempts, count_refunds
from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.events import newest_hash
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION, TRANSITION
from neuroarena.competition.teams import find_team
from neuroarena.competition.times import format_aoe, format_utc
from neuroarena.errors import InputError

ATTEMPT = {"reserved": "reserved", "used": "counts", "freed": "free", "refunded": "refunded"}


def read_receipt(arena: Arena, token: str, submission: str) -> dict[str, Any]:
    """Return the receipt of one of the team's submissions, as plain data.

    Raises
    ------
    InputError
        When the team has no such submission.
    """
    team = find_team(arena, token, "read")
    with arena.store.reading() as connection:
        asked = select(SUBMISSION).where(SUBMISSION.c.id == submission, SUBMISSION.c.team == team)
        row = connection.execute(asked).mappings().first()
        if row is None:
            raise InputError(f'Your team has no submission "{submission}".')
        run = connection.execute(select(RUN).where(RUN.c.submission == submission)).mappings().one()
        states = connection.execute(
            select(TRANSITION).where(TRANSITION.c.run == run["id"]).order_by(TRANSITION.c.number)
        ).mappings()
        score = (
            connection.execute(
                select(PUBLIC_SCORE).where(PUBLIC_SCORE.c.run == run["id"]).order_by(PUBLIC_SCORE.c.at.desc())
            )
            .mappings()
            .first()
        )
        phase = arena.competition.phase(row["phase"])
        used = count_attempts(connection, team, phase.name, row["utc_day"])
        allowed = None
        if phase.per_day is not None:
            allowed = phase.per_day + count_refunds(connection, team, phase.name, row["utc_day"])
        return {
            "id": row["id"],
            "team": team,
            "track": row["track"],
            "phase": row["phase"],
            "received_utc": format_utc(row["received"]),
            "received_aoe": format_aoe(row["received"]),
            "file": row["file"],
            "sha256": row["sha256"],
            "bytes": row["bytes"],
            "kind": row["kind"],
            "model": row["model"],
            "state": run["state"],
            "reason": run["reason"],
            "fault": run["fault"],
            "attempt": ATTEMPT[row["slot"]],
            "used": f"{used} of {allowed}" if allowed is not None else f"{used}, no cap",
            "states": [
                {"state": each["state"], "at": format_utc(each["at"]), "reason": each["reason"]}
                for each in states
            ],
            "score": None if score is None else _describe_score(dict(score)),
            "manifest_hash": arena.manifest(row["track"]).hash,
            "truth_commitment": read_about(connection, f"sealed:{row['track']}"),
            "event_hash": newest_hash(connection),
            "replay": _replay_command(arena, dict(row)),
        }


def list_submissions(arena: Arena, token: str) -> list[dict[str, Any]]:
    """List a team's submissions, oldest first, one short row each."""
    team = find_team(arena, token, "read")
    asked = (
        select(SUBMISSION, RUN.c.state, RUN.c.reason, PUBLIC_SCORE.c.sentence)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .outerjoin(PUBLIC_SCORE, PUBLIC_SCORE.c.run == RUN.c.id)
        .where(SUBMISSION.c.team == team)
        .order_by(SUBMISSION.c.received, SUBMISSION.c.id)
    )
    with arena.store.reading() as connection:
        rows = connection.execute(asked).mappings().all()
    return [
        {
            "id": row["id"],
            "track": row["track"],
            "phase": row["phase"],
            "received_utc": format_utc(row["received"]),
            "file": row["file"],
            "state": row["state"],
            "attempt": ATTEMPT[row["slot"]],
            "score": row["sentence"],
            "reason": row["reason"],
        }
        for row in rows
    ]


def _describe_score(row: dict[str, Any]) -> dict[str, Any]:
    interval = None if row["low"] is None else [row["low"], row["high"]]
    return {
        "shown": row["shown"],
        "interval": interval,
        "n_units": row["n_units"],
        "sentence": row["sentence"],
        "scorer_version": row["scorer_version"],
        "at": format_utc(row["at"]),
    }


def _replay_command(arena: Arena, row: dict[str, Any]) -> str:
    """Return the command that gives the same number where the truth is public, else the checker's."""
    track = arena.competition.track(row["track"])
    if arena.competition.phase(row["phase"]).sealed:
        return f"neuroarena check submission {track.benchmark} {row['file']}"
    split = f" --split {track.split}" if track.split else ""
    chosen = "".join(f" -O {name}={value}" for name, value in track.options.items())
    return f"neuroarena score {track.benchmark} {row['file']}{split}{chosen}"
