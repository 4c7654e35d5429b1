"""The organisers' desk: phases, queue and machines, decisions about submissions, audits, requests, events."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Form, Query
from sqlalchemy import func, select

from neuroarena.competition.arena import Arena, read_about
from neuroarena.competition.audit.requests import list_audits
from neuroarena.competition.decisions import delete, disqualify, rerun, undo, withdraw_for_team
from neuroarena.competition.events import newest_hash
from neuroarena.competition.opening import close_competition
from neuroarena.competition.overview import describe_queue
from neuroarena.competition.receipts import make_receipt
from neuroarena.competition.requests import ask, list_requests
from neuroarena.competition.tables import EVENT, RUN, SUBMISSION
from neuroarena.competition.times import format_aoe, format_utc
from neuroarena.server import desk_shapes
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import OpenArena, PageRouter, Paging, PagingRequest
from neuroarena.server.viewing import Done, View
from neuroarena.server.visitors import OrganiserOnly

router = PageRouter()

Reason = Annotated[str, Form(max_length=500)]
Words = Annotated[str, Query(max_length=64)]


@router.page("/organise", shape=desk_shapes.Desk)
def show_desk(arena: OpenArena, who: OrganiserOnly) -> View:  # noqa: ARG001 - the permission
    """Show phases, what waits, and what was asked for."""
    with arena.store.reading() as connection:
        now = arena.store.clock(connection)
        status = read_about(connection, "status")
        zones = read_about(connection, "zones")
    data = {
        "status": status,
        "zones": zones,
        "workers": len(describe_queue(arena)["workers"]),
        "now_utc": format_utc(now),
        "phases": [
            {
                "title": phase.title,
                "start_utc": format_utc(phase.start),
                "end_utc": format_utc(phase.end),
                "end_aoe": format_aoe(phase.end),
                "display": phase.display,
                "per_day": phase.per_day,
                "state": "to come" if now < phase.start else "over" if now >= phase.end else "open",
            }
            for phase in arena.competition.phases
        ],
        "tracks": [track.name for track in arena.competition.tracks],
        "requests": list_requests(arena, 10),
    }
    return View("organise.html.j2", "Organise", data)


@router.action("/organise/close", shape=desk_shapes.Status)
def act_close(arena: OpenArena, who: OrganiserOnly) -> Done:
    """Take no submissions until the competition is opened again."""
    close_competition(arena, actor=who.account)
    return Done("/organise", {"status": "closed"})


@router.action("/organise/open", shape=desk_shapes.AskedNow, status=202)
def act_open(arena: OpenArena, who: OrganiserOnly, accept_one_user: Annotated[bool, Form()] = False) -> Done:
    """Ask a scorer to open the competition: what must stand before is read from the vault."""
    asked = ask(arena, "open", {"accept_one_user": accept_one_user}, actor=who.account)
    return Done("/organise", {"request": asked}, status=202)


@router.action("/organise/rejudge", shape=desk_shapes.AskedNow, status=202)
def act_rejudge(
    arena: OpenArena, who: OrganiserOnly, track: Annotated[str, Form(max_length=40)] = ""
) -> Done:
    """Ask a scorer to judge everything, or a track, with the scorer of its version."""
    if track:
        arena.competition.track(track)
    asked = ask(arena, "rejudge", {"track": track} if track else {}, actor=who.account)
    return Done("/organise", {"request": asked}, status=202)


@router.action("/organise/boards", shape=desk_shapes.AskedNow, status=202)
def act_publish(arena: OpenArena, who: OrganiserOnly) -> Done:
    """Ask a scorer to publish the boards now."""
    return Done("/organise", {"request": ask(arena, "boards", actor=who.account)}, status=202)


@router.page("/organise/queue", shape=desk_shapes.Queue)
def show_queue(arena: OpenArena, who: OrganiserOnly) -> View:  # noqa: ARG001 - the permission
    """Show what waits, which machines work, what is kept for organisers, and when duties are due."""
    said = describe_queue(arena)
    data = {
        "waiting": said["waiting"],
        "workers": said["workers"],
        "kept": said["kept for you"],
        "duties": said["duties"],
    }
    return View("queue.html.j2", "Queue and machines", data)


@router.page("/organise/submissions", shape=desk_shapes.AllSubmissions)
def show_all(
    arena: OpenArena,
    who: OrganiserOnly,  # noqa: ARG001 - the permission
    paging: Paging,
    team: Words = "",
    state: Words = "",
) -> View:
    """List the submissions of all teams, newest first, those that were deleted too."""
    data = {"submissions": list_all(arena, paging, team, state), "team": team, "state": state}
    return View("all-submissions.html.j2", "All submissions", data)


def list_all(arena: Arena, paging: PagingRequest, team: str, state: str) -> dict[str, Any]:
    """Return one page of all submissions, of a team or in a state; the store counts and cuts."""
    mine = [RUN.c.purpose == "submission"]
    mine += [SUBMISSION.c.team == team] if team else []
    mine += [RUN.c.state == state] if state else []
    joined = SUBMISSION.join(RUN, RUN.c.submission == SUBMISSION.c.id)
    asked = (
        select(SUBMISSION, RUN.c.state)
        .select_from(joined)
        .where(*mine)
        .order_by(SUBMISSION.c.received.desc(), SUBMISSION.c.id)
    )
    with arena.store.reading() as connection:
        total = connection.execute(select(func.count()).select_from(joined).where(*mine)).scalar_one()
        first = (paging.page - 1) * paging.per_page
        rows = connection.execute(asked.limit(paging.per_page).offset(first)).mappings().all()
    return {
        "rows": [
            {
                "id": row["id"],
                "team": row["team"],
                "track": row["track"],
                "phase": row["phase"],
                "received_utc": format_utc(row["received"]),
                "file": row["file"],
                "state": row["state"],
                "disqualified": row["disqualified"],
                "deleted": row["deleted"] is not None,
            }
            for row in rows
        ],
        "page": paging.page,
        "pages": max(1, -(-total // paging.per_page)),
        "total": total,
    }


@router.page("/organise/submissions/{submission}", shape=desk_shapes.DecidePage)
def show_one(arena: OpenArena, who: OrganiserOnly, submission: str) -> View:  # noqa: ARG001 - the permission
    """Show the receipt of any submission as its team sees it, and what can be decided about it."""
    with arena.store.reading() as connection:
        row = connection.execute(select(SUBMISSION).where(SUBMISSION.c.id == submission)).mappings().first()
        if row is None:
            raise Refusal(404, f'There is no submission "{submission[:16]}".')
        receipt = make_receipt(connection, arena, dict(row))
    data = {"receipt": receipt, "team": row["team"], "deleted": row["deleted"] is not None}
    return View("decide.html.j2", f"Submission {submission}", data)


@router.action("/organise/submissions/{submission}/disqualify", shape=desk_shapes.Decided)
def act_disqualify(arena: OpenArena, who: OrganiserOnly, submission: str, reason: Reason) -> Done:
    """Take a submission off the boards; its team reads the reason."""
    disqualify(arena, submission, reason, actor=who.account)
    return _decided(submission, "disqualified")


@router.action("/organise/submissions/{submission}/delete", shape=desk_shapes.Decided)
def act_delete(arena: OpenArena, who: OrganiserOnly, submission: str, reason: Reason = "") -> Done:
    """Take a submission off boards and lists; nothing is removed, so that it can be undone."""
    delete(arena, submission, reason, actor=who.account)
    return _decided(submission, "deleted")


@router.action("/organise/submissions/{submission}/undo", shape=desk_shapes.Decided)
def act_undo(arena: OpenArena, who: OrganiserOnly, submission: str) -> Done:
    """Undo the disqualification and deletion of a submission."""
    undo(arena, submission, actor=who.account)
    return _decided(submission, "restored")


@router.action("/organise/submissions/{submission}/withdraw", shape=desk_shapes.Decided)
def act_withdraw(arena: OpenArena, who: OrganiserOnly, submission: str, reason: Reason) -> Done:
    """Withdraw a submission on behalf of its team."""
    withdraw_for_team(arena, submission, reason, actor=who.account)
    return _decided(submission, "withdrawn")


@router.action("/organise/submissions/{submission}/rerun", shape=desk_shapes.Decided)
def act_rerun(arena: OpenArena, who: OrganiserOnly, submission: str, reason: Reason) -> Done:
    """Run a submission again, with its original time."""
    rerun(arena, submission, reason, actor=who.account)
    return _decided(submission, "runs again")


def _decided(submission: str, what: str) -> Done:
    return Done(f"/organise/submissions/{submission}", {"submission": submission, "decided": what})


@router.page("/organise/audits", shape=desk_shapes.Audits)
def show_audits(arena: OpenArena, who: OrganiserOnly) -> View:  # noqa: ARG001 - the permission
    """List all audits with their verdicts; the scores of replays stay in the vault."""
    names = ("audit", "submission", "rule", "verdict", "reason")
    rows = [{name: row[name] for name in names} for row in list_audits(arena)]
    return View("audits.html.j2", "Audits", {"audits": rows})


@router.page("/organise/events", shape=desk_shapes.Events)
def show_events(arena: OpenArena, who: OrganiserOnly, paging: Paging) -> View:  # noqa: ARG001 - the permission
    """List what happened, newest first, with the hash that ends the chain."""
    with arena.store.reading() as connection:
        total = connection.execute(select(func.count()).select_from(EVENT)).scalar_one()
        asked = select(EVENT).order_by(EVENT.c.number.desc()).limit(paging.per_page)
        rows = connection.execute(asked.offset((paging.page - 1) * paging.per_page)).mappings().all()
        head = newest_hash(connection)
    events = {
        "rows": [
            {
                "number": row["number"],
                "at_utc": format_utc(row["at"]),
                "actor": row["actor"],
                "what": row["what"],
                "about": row["about"],
                "facts": row["facts"],
            }
            for row in rows
        ],
        "page": paging.page,
        "pages": max(1, -(-total // paging.per_page)),
        "total": total,
    }
    return View("events.html.j2", "Events", {"events": events, "hash": head})
