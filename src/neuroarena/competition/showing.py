"""What is shown of a score: the step of a ladder, the best that a team was shown, and the public view itself."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.judging import Judgement
from neuroarena.competition.phases import Phase
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, STEP, SUBMISSION
from neuroarena.competition.views import PublicView, choose_step, public_view
from neuroarena.errors import NeuroarenaError


def publish_score(
    connection: Connection,
    now: datetime.datetime,
    arena: Arena,
    row: Mapping[str, Any],
    run: str,
    version: str,
    judged: Judgement,
) -> PublicView:
    """Write the public view of a score inside the caller's transaction; the host's real baseline sets the step."""
    phase = arena.competition.phase(row["phase"])
    if row["baseline"] == "real":
        set_step(connection, now, phase, row["track"], run, judged)
    step = read_step(connection, phase, row["track"])
    # Parts that are joined by ranks have no value that could rise: only boards tell, when everything is revealed.
    ranked = judged.value is None
    if phase.display == "ladder" and step is None and row["baseline"] is None and not ranked:
        raise NeuroarenaError(f'The ladder of the phase "{phase.name}" has no step yet.')
    best = find_shown_best(connection, row, version, judged.sign)
    # A baseline that comes before the one that sets the step is scored, and its value waits for the reveal.
    display = "blind" if phase.display == "ladder" and (step is None or ranked) else phase.display
    view = public_view(judged, display, step, best)
    said = dataclasses.asdict(view)
    connection.execute(PUBLIC_SCORE.insert().values(run=run, scorer_version=version, at=now, **said))
    return view


def read_step(connection: Connection, phase: Phase, track: str) -> float | None:
    """Return the step of a ladder: what the file states, else what the baseline has set; None when neither is there."""
    stated = phase.stated_step(track)
    if stated is not None or phase.display != "ladder":
        return stated
    asked = select(STEP.c.step).where(STEP.c.phase == phase.name, STEP.c.track == track)
    found: float | None = connection.execute(asked).scalar()
    return found


def set_step(
    connection: Connection, now: datetime.datetime, phase: Phase, track: str, run: str, judged: Judgement
) -> None:
    """Let the standard error of the host's baseline be the step of the ladder; the first one that has one decides."""
    wanted = phase.display == "ladder" and read_step(connection, phase, track) is None
    if not wanted or not judged.standard_error:
        return
    step = choose_step(judged.standard_error)
    connection.execute(STEP.insert().values(phase=phase.name, track=track, step=step, run=run, at=now))
    append_event(connection, now, "scorer", "step", run, {"phase": phase.name, "track": track, "step": step})


def find_shown_best(
    connection: Connection, row: Mapping[str, Any], version: str, sign: float
) -> float | None:
    """Return the best value that a team was shown on a track in a phase; None when none was."""
    best = func.max if sign > 0 else func.min
    asked = (
        select(best(PUBLIC_SCORE.c.shown))
        .join(RUN, RUN.c.id == PUBLIC_SCORE.c.run)
        .join(SUBMISSION, SUBMISSION.c.id == RUN.c.submission)
        .where(
            SUBMISSION.c.team == row["team"],
            SUBMISSION.c.track == row["track"],
            SUBMISSION.c.phase == row["phase"],
            PUBLIC_SCORE.c.scorer_version == version,
        )
    )
    found: float | None = connection.execute(asked).scalar()
    return found
