"""Hand in: the form, the checker's verdict before an attempt counts, and the submission itself."""

from __future__ import annotations

import dataclasses
import secrets
from pathlib import Path
from typing import Any, cast, get_args

from fastapi import Request
from starlette.concurrency import run_in_threadpool

from neuroarena.competition.admission import count_attempts, count_refunds
from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.checking import guess_kind
from neuroarena.competition.intake import Post, check_post, find_earlier, take_post
from neuroarena.competition.phases import Phase
from neuroarena.competition.teams import has_accepted
from neuroarena.competition.times import day_of, format_aoe, format_utc
from neuroarena.competition.tracks import Kind
from neuroarena.server import shapes
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import OpenArena, PageRouter
from neuroarena.server.sign_ins import find_rates
from neuroarena.server.uploads import Upload, receive_upload
from neuroarena.server.viewing import Done, View
from neuroarena.server.visitors import SubmittingMember, TeamMember

router = PageRouter()

MOST_WORDS = 200


@router.page("/submit", shape=shapes.SubmitForm)
def show_submit(arena: OpenArena, who: TeamMember) -> View:
    """Show the form with which a team hands in, what is open, and how many attempts are left."""
    team, competition = str(who.team), arena.competition
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
        phase = competition.phase_at(now)
        accepted = has_accepted(connection, team, arena.terms_sha256)
        is_open = read_about(connection, "status") == "open"
        attempts = None
        if phase is not None and phase.per_day is not None:
            today = day_of(now)
            attempts = {
                "used": count_attempts(connection, team, phase.name, today),
                "allowed": phase.per_day + count_refunds(connection, team, phase.name, today),
            }
    data: dict[str, Any] = {
        "team": team,
        "open": is_open and phase is not None,
        "phase": None if phase is None else describe_phase(phase),
        "tracks": [] if phase is None else list_tracks(arena, phase),
        "attempts": attempts,
        "terms_accepted": accepted,
        "terms": {"text": competition.terms, "sha256": arena.terms_sha256},
        "most_mb": competition.limits.file_mb,
        "external_data": competition.external_data,
        "key": secrets.token_hex(16),
    }
    return View("submit.html.j2", "Submit", data)


def describe_phase(phase: Phase) -> dict[str, Any]:
    """Return what a form says of the phase that is open."""
    return {
        "name": phase.name,
        "title": phase.title,
        "end_utc": format_utc(phase.end),
        "end_aoe": format_aoe(phase.end),
        "display": phase.display,
        "sealed": phase.sealed,
    }


def list_tracks(arena: Arena, phase: Phase) -> list[dict[str, Any]]:
    """List the tracks that a phase takes, with the kinds of submission that each does."""
    return [
        {"name": track.name, "title": track.title, "kinds": list(track.kinds_in(phase.name))}
        for track in arena.competition.tracks
        if phase.takes(track.name)
    ]


@router.action("/submit/check", shape=shapes.CheckedFile)
async def act_check(request: Request, arena: OpenArena, who: SubmittingMember) -> View:
    """Return what the checker finds in a file; nothing is written, and no attempt is used."""
    find_rates(request).checks.take(str(who.team))
    async with receive_upload(request, arena) as upload:
        track, kind = _read(upload, "track"), read_kind(upload)
        found = await run_in_threadpool(check_post, arena, str(who.team), track, upload.path, kind)
        data = {"file": upload.path.name, "track": track, "kind": kind, **dataclasses.asdict(found)}
    return View("checked.html.j2", "The checker's verdict", data)


@router.action("/submit", shape=shapes.Submitted, status=201)
async def act_submit(request: Request, arena: OpenArena, who: SubmittingMember) -> Done:
    """Take a file: it is checked first, and one that is refused costs no attempt.

    A form that is sent twice with the same `key` is one submission.
    """
    find_rates(request).checks.take(str(who.team))
    async with receive_upload(request, arena) as upload:
        post = make_post(upload)
        submission = await run_in_threadpool(hand_in, arena, str(who.team), post)
    return Done(f"/submissions/{submission}", {"submission": submission}, status=201)


def hand_in(arena: Arena, team: str, post: Post) -> str:
    """Check a file before its attempt counts, and take it; one that was taken before with its key is the same."""
    with arena.store.reading() as connection:
        earlier = find_earlier(connection, team, post.key)
    if earlier is not None:
        return earlier
    check_post(arena, team, post.track, post.file, post.kind)
    return take_post(arena, team, post)


def make_post(upload: Upload) -> Post:
    """Return what a form hands in.

    Raises
    ------
    Refusal
        When a field is missing or cannot be one.
    """
    fields = upload.fields
    named = tuple(word.strip() for word in fields.get("external_data", "").split(",") if word.strip())
    declared = bool(named) or fields.get("no_external_data") == "yes"
    model = fields.get("model", "").strip() or None
    if any(len(word) > MOST_WORDS or not word.isprintable() for word in (*named, model or "")):
        raise Refusal(422, f"model and external_data take at most {MOST_WORDS} printable characters each.")
    return Post(
        _read(upload, "track"),
        upload.path,
        read_kind(upload),
        upload.path.name,
        _read(upload, "key", secrets.token_hex(16)),
        model,
        named if declared else None,
        fields.get("commits", "").strip()[:16] or None,
    )


def read_kind(upload: Upload) -> Kind:
    """Return the kind of submission that a form states; without one, what the file's ending says.

    Raises
    ------
    Refusal
        When there is no such kind.
    """
    kind = upload.fields.get("kind", "") or guess_kind(Path(upload.path.name))
    if kind not in get_args(Kind):
        raise Refusal(422, f"kind: expected one of {', '.join(get_args(Kind))}.")
    return cast("Kind", kind)


def _read(upload: Upload, name: str, default: str | None = None) -> str:
    value = upload.fields.get(name, "") or default
    if value is None:
        raise Refusal(422, f"{name}: this is missing.")
    if len(value) > 64 or not value.isprintable():
        raise Refusal(422, f"{name}: this takes at most 64 printable characters.")
    return value
