"""Judge again: a new scorer version scores everything anew, and the old scores stay."""

from __future__ import annotations

import datetime
from functools import partial
from typing import Any

from sqlalchemy import Connection, select

from neuroarena.competition.answers import read_answers
from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.scorer import score_answers
from neuroarena.competition.showing import show_score
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION
from neuroarena.scoring import SCORER_VERSION


def rejudge(arena: Arena, track: str | None = None) -> int:
    """Score every scored run by the scorer of this version, where it has not been, and return how many there were.

    Runs are judged in the order of their receipt, so that a ladder shows what it would have shown. Predictions of code
    are kept, so that no code runs again. Older scores stay, and boards as of an earlier time still show them.

    Parameters
    ----------
    arena : Arena
    track : str, optional
        Only this track.
    """
    done = 0
    for row in _list_unjudged(arena, track):
        answers = read_answers(arena, row, row["run"])
        units = score_answers(arena, row, answers)
        for part, scored in units.items():
            arena.vault.keep_scores(row["run"], scored, part)
        show_score(arena, row, row["run"], units, answers, partial(_note, row["run"]))
        done += 1
    return done


def _note(run: str, connection: Connection, now: datetime.datetime) -> None:
    append_event(connection, now, "scorer", "rejudged", run, {"scorer_version": SCORER_VERSION})


def _list_unjudged(arena: Arena, track: str | None) -> list[dict[str, Any]]:
    judged = select(PUBLIC_SCORE.c.run).where(PUBLIC_SCORE.c.scorer_version == SCORER_VERSION)
    asked = (
        select(SUBMISSION, RUN.c.id.label("run"))
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .where(RUN.c.state == "scored", RUN.c.purpose != "audit", RUN.c.id.not_in(judged))
        .order_by(SUBMISSION.c.received, SUBMISSION.c.id, RUN.c.not_before)
    )
    if track is not None:
        arena.competition.track(track)
        asked = asked.where(SUBMISSION.c.track == track)
    with arena.store.reading() as connection:
        return [dict(row) for row in connection.execute(asked).mappings()]
