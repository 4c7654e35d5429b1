"""A team's own submissions: the list, receipts, their state as it changes, and withdrawal."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

from fastapi import Request, Response
from sqlalchemy import select
from starlette.concurrency import run_in_threadpool
from starlette.responses import StreamingResponse

from neuroarena.competition.arena import Arena
from neuroarena.competition.intake import withdraw_own
from neuroarena.competition.people.rates import TooOften
from neuroarena.competition.publishing import name_board
from neuroarena.competition.receipts import find_receipt, list_own
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import PAGE, RUN, SUBMISSION
from neuroarena.errors import InputError
from neuroarena.server import shapes
from neuroarena.server.refusals import Refusal
from neuroarena.server.routing import OpenArena, PageRouter, Paging
from neuroarena.server.viewing import PRIVATE, Done, View
from neuroarena.server.visitors import SubmittingMember, TeamMember

router = PageRouter()

LOOK_S, QUIET_S = 1.0, 15.0
# After this a browser connects anew, and its right to look is checked again.
STREAM_S = 300.0
MOST_STREAMS = 10


@router.page("/submissions", shape=shapes.SubmissionList)
def show_submissions(arena: OpenArena, who: TeamMember, paging: Paging) -> View:
    """List the submissions of one's team, newest first."""
    rows = list_own(arena, str(who.team))[::-1]
    return View("submissions.html.j2", "Submissions", {"team": who.team, "submissions": paging.cut(rows)})


@router.get("/submissions/live", include_in_schema=False)
async def stream_states(request: Request, arena: OpenArena, who: TeamMember) -> Response:
    """Send the states of one's submissions whenever they change (server-sent events)."""
    streams: dict[str, int] = request.app.state.streams
    team = str(who.team)
    if streams.get(team, 0) >= MOST_STREAMS:
        raise TooOften(int(STREAM_S))
    headers = {"Cache-Control": PRIVATE, "X-Accel-Buffering": "no"}
    return StreamingResponse(
        _watch(request, arena, team, streams), media_type="text/event-stream", headers=headers
    )


async def _watch(request: Request, arena: Arena, team: str, streams: dict[str, int]) -> AsyncIterator[str]:
    streams[team] = streams.get(team, 0) + 1
    try:
        known: dict[str, Any] | None = None
        waited = quiet = 0.0
        yield "retry: 2000\n\n"
        while waited < STREAM_S and not await request.is_disconnected():
            states = await run_in_threadpool(read_states, arena, team)
            if states != known:
                known, quiet = states, 0.0
                yield f"event: states\ndata: {json.dumps(states)}\n\n"
            elif quiet >= QUIET_S:
                quiet = 0.0
                yield ": still here\n\n"
            await asyncio.sleep(LOOK_S)
            waited, quiet = waited + LOOK_S, quiet + LOOK_S
    finally:
        streams[team] -= 1
        if streams[team] <= 0:
            del streams[team]


def read_states(arena: Arena, team: str) -> dict[str, list[str | None]]:
    """Return the state and the stage of every submission of a team, by id."""
    asked = (
        select(SUBMISSION.c.id, RUN.c.state, RUN.c.stage)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .where(SUBMISSION.c.team == team, SUBMISSION.c.deleted.is_(None), RUN.c.purpose != "audit")
        .order_by(RUN.c.not_before, RUN.c.id)
    )
    with arena.store.reading() as connection:
        return {name: [state, stage] for name, state, stage in connection.execute(asked)}


@router.page("/submissions/{submission}", shape=shapes.ReceiptPage)
def show_receipt(arena: OpenArena, who: TeamMember, submission: str) -> View:
    """Show the receipt of one's own submission."""
    try:
        receipt = find_receipt(arena, str(who.team), submission)
    except InputError as error:
        raise Refusal(404, str(error)) from error
    ended = receipt["state"] in TERMINAL
    data = {
        "receipt": receipt,
        "ended": ended,
        "can_withdraw": receipt["state"] in ("received", "queued"),
        "board": find_board(arena, receipt["track"], receipt["phase"]),
    }
    return View("receipt.html.j2", f"Submission {submission}", data)


def find_board(arena: Arena, track: str, phase: str) -> str | None:
    """Return the address of the board of a track in a phase; None before it is published."""
    title = name_board(arena.competition.track(track), arena.competition.phase(phase))
    asked = select(PAGE.c.address).where(PAGE.c.title == title, PAGE.c.address.startswith("boards/"))
    with arena.store.reading() as connection:
        found: str | None = connection.execute(asked.order_by(PAGE.c.address)).scalars().first()
    return found


@router.action("/submissions/{submission}/withdraw", shape=shapes.Withdrawn)
def act_withdraw(arena: OpenArena, who: SubmittingMember, submission: str) -> Done:
    """Withdraw a submission that nobody works on yet."""
    withdraw_own(arena, str(who.team), submission)
    return Done(f"/submissions/{submission}", {"withdrawn": submission})
