"""What is shown of a score: the step of a ladder, the best that a team was shown, and the public view itself."""

from __future__ import annotations

import dataclasses
import datetime
from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd
from sqlalchemy import Connection, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.judging import Judgement, judge_shown
from neuroarena.competition.luck import measure_luck
from neuroarena.competition.phases import Phase
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, STEP, SUBMISSION
from neuroarena.competition.views import Best, Luck, choose_step, public_view
from neuroarena.errors import NeuroarenaError
from neuroarena.scoring import UnitScores


def show_score(
    arena: Arena,
    row: Mapping[str, Any],
    run: str,
    units: Mapping[str, UnitScores],
    answers: Mapping[str, pd.DataFrame],
    note: Callable[[Connection, datetime.datetime], None],
) -> None:
    """Write the public view of a score, with whatever belongs into the same transaction.

    Parameters
    ----------
    arena : Arena
    row : mapping
        Of the submission.
    run : str
    units : mapping of part to UnitScores
    answers : mapping of part to DataFrame
        The predictions that were scored.
    note : callable
        Called with connection and time inside the transaction, before the score is written.
    """
    version = next(iter(units.values())).scorer_version
    judged = judge_shown(arena, row, units)
    guarded = _guards(arena, row, judged)
    while True:
        best, luck = None, None
        if guarded:
            with arena.store.reading() as connection:
                best = find_shown_best(connection, row, version, judged.sign)
            luck = measure_luck(arena, row, answers, judged, best)
        with arena.store.writing(f"team:{row['team']}") as connection:
            found = find_shown_best(connection, row, version, judged.sign)
            if guarded and found != best:
                continue  # another run of this team was shown meanwhile, and luck begins there
            now = arena.store.clock(connection)
            note(connection, now)
            _publish(connection, now, arena, row, (run, version), judged, found, luck)
            return


def _guards(arena: Arena, row: Mapping[str, Any], judged: Judgement) -> bool:
    """Return whether a rise must be told from luck, for which nothing but the phase and the team may count.

    It takes time, which participants can see: it must not depend on how good the answers are.
    """
    phase = arena.competition.phase(row["phase"])
    return phase.sealed and phase.display == "ladder" and row["baseline"] is None and judged.value is not None


def _publish(
    connection: Connection,
    now: datetime.datetime,
    arena: Arena,
    row: Mapping[str, Any],
    scored: tuple[str, str],
    judged: Judgement,
    best: Best | None,
    luck: Luck | None,
) -> None:
    """Write the public view of a run and scorer version; the host's real baseline sets the step."""
    run, version = scored
    phase = arena.competition.phase(row["phase"])
    if row["baseline"] == "real":
        set_step(connection, now, phase, row["track"], run, judged)
    step = read_step(connection, phase, row["track"])
    # Parts that are joined by ranks have no value that could rise: only boards tell, when everything is revealed.
    ranked = judged.value is None
    if phase.display == "ladder" and step is None and row["baseline"] is None and not ranked:
        raise NeuroarenaError(f'The ladder of the phase "{phase.name}" has no step yet.')
    # A baseline that comes before the one that sets the step is scored, and its value waits for the reveal.
    display = "blind" if phase.display == "ladder" and (step is None or ranked) else phase.display
    view = public_view(judged, display, step, None if best is None else best.value, luck)
    said = dataclasses.asdict(view)
    connection.execute(PUBLIC_SCORE.insert().values(run=run, scorer_version=version, at=now, **said))


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


def find_shown_best(connection: Connection, row: Mapping[str, Any], version: str, sign: float) -> Best | None:
    """Return the best that a team was shown on a track in a phase; None when it was shown nothing."""
    shown = PUBLIC_SCORE.c.shown
    asked = (
        select(shown, PUBLIC_SCORE.c.run, RUN.c.submission)
        .join(RUN, RUN.c.id == PUBLIC_SCORE.c.run)
        .join(SUBMISSION, SUBMISSION.c.id == RUN.c.submission)
        .where(
            SUBMISSION.c.team == row["team"],
            SUBMISSION.c.track == row["track"],
            SUBMISSION.c.phase == row["phase"],
            PUBLIC_SCORE.c.scorer_version == version,
            shown.is_not(None),
        )
        .order_by(shown.desc() if sign > 0 else shown, PUBLIC_SCORE.c.at)
        .limit(1)
    )
    found = connection.execute(asked).one_or_none()
    return None if found is None else Best(*found)
