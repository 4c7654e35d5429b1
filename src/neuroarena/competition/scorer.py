"""The scorer: open the truth, call score(), keep the sums in the vault, and publish what the phase allows."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from typing import Any

import pandas as pd
from sqlalchemy import Connection

from neuroarena.competition.answers import read_answers
from neuroarena.competition.arena import Arena
from neuroarena.competition.intake import read_submission
from neuroarena.competition.queue import Job, change_state
from neuroarena.competition.showing import show_score
from neuroarena.scoring import UnitScores, score


def score_run(arena: Arena, job: Job) -> None:
    """Score the predictions of a run and move it to "scored".

    The vault is written first; the public view and the new state follow in one transaction, so that a run that is
    "scored" always has its score.

    Raises
    ------
    Fenced
        When another worker has taken the run over.
    """
    row = read_submission(arena, job.submission)
    answers = read_answers(arena, row, job.run)
    units = score_answers(arena, row, answers)
    for part, scored in units.items():
        arena.vault.keep_scores(job.run, scored, part)

    def note(connection: Connection, now: datetime.datetime) -> None:
        change_state(connection, now, job, "scored")

    show_score(arena, row, job.run, units, answers, note)


def score_answers(
    arena: Arena, row: Mapping[str, Any], answers: Mapping[str, pd.DataFrame]
) -> dict[str, UnitScores]:
    """Score what was answered to a submission's sheet, part by part, with the truth of the vault."""
    sheet = arena.sheet(row["track"], row["phase"])
    return {
        part: score(table, arena.vault.truth(sheet, part), arena.manifest(sheet, part), source=row["file"])
        for part, table in answers.items()
    }
