"""The scorer: open the truth, call score(), keep the sums in the vault, and publish what the phase allows."""

from __future__ import annotations

import dataclasses
import datetime
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.events import append_event
from neuroarena.competition.intake import read_submission
from neuroarena.competition.judging import Judgement, judge, keep_units
from neuroarena.competition.phases import Phase
from neuroarena.competition.queue import Job, change_state
from neuroarena.competition.tables import ANSWER, PUBLIC_SCORE, RUN, STEP, SUBMISSION
from neuroarena.competition.tracks import Range
from neuroarena.competition.views import PublicView, choose_step, public_view
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.code import find_contract
from neuroarena.scoring import Manifest, UnitScores, check_submission, read_predictions, score


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
    units = score_answers(arena, row, job.run)
    for part, scored in units.items():
        arena.vault.keep_scores(job.run, scored, part)
    judged = judge_shown(arena, row, units)
    with arena.store.writing(f"team:{job.team}") as connection:
        now = arena.store.clock(connection)
        change_state(connection, now, job, "scored")
        publish_score(connection, now, arena, row, job.run, next(iter(units.values())).scorer_version, judged)


def score_answers(arena: Arena, row: Mapping[str, Any], run: str) -> dict[str, UnitScores]:
    """Score what was answered, part by part, with the truth of the vault.

    Parameters
    ----------
    arena : Arena
    row : mapping
        Of the submission.
    run : str
    """
    if row["kind"] != "predictions":
        return score_kept(arena, row, run)
    sheet = arena.sheet(row["track"], row["phase"])
    (part,) = arena.parts(sheet)
    file = arena.artifacts.open(row["sha256"])
    table = check_submission(file, arena.manifest(sheet, part), arena.ids(sheet, part)).table
    return {part: score_table(arena, row, part, table)}


def score_kept(
    arena: Arena, row: Mapping[str, Any], run: str, *, by_code: bool = True
) -> dict[str, UnitScores]:
    """Score what a runner kept of a run: what code answered, or (`by_code` false) predictions that a replay wrote."""
    manifests = arena.manifests(arena.sheet(row["track"], row["phase"]))
    read = _read_answers if by_code else _read_predictions
    return {
        part: score_table(arena, row, part, read(arena, row, run, part, manifest))
        for part, manifest in manifests.items()
    }


def score_table(arena: Arena, row: Mapping[str, Any], part: str, table: pd.DataFrame) -> UnitScores:
    """Score predictions of one part as those of a submission are: numbers clipped, with the truth of the vault."""
    track = arena.competition.track(row["track"])
    sheet = track.sheet(row["phase"])
    manifest = arena.manifest(sheet, part)
    clipped = _clip(table, manifest, track.range_of(part))
    return score(clipped, arena.vault.truth(sheet, part), manifest, source=row["file"])


def judge_half(
    arena: Arena,
    row: Mapping[str, Any],
    units: Mapping[str, UnitScores],
    half: str | None = "public",
    *,
    with_interval: bool = True,
    with_error: bool = True,
) -> Judgement:
    """Judge the scores of one half of the people, or of all where there are no halves or `half` is None.

    A half that has too few people for a standard error of its own gets that of all, scaled to its number of units.
    """
    sheet = arena.sheet(row["track"], row["phase"])
    kept = units if half is None else select_half(arena, sheet, units, half)
    manifests, overall = arena.manifests(sheet), arena.overall(sheet)
    judged = judge(kept, manifests, overall, with_interval=with_interval, with_error=with_error)
    if not with_error or judged.standard_error is not None or half is None:
        return judged
    whole = judge(units, manifests, overall, with_interval=False)
    if whole.standard_error is None:
        return judged
    error = whole.standard_error * math.sqrt(whole.n_units / judged.n_units)
    return dataclasses.replace(judged, standard_error=error)


def judge_shown(arena: Arena, row: Mapping[str, Any], units: Mapping[str, UnitScores]) -> Judgement:
    """Judge what a phase may show: no interval where nothing is shown, an error only where a baseline sets a step."""
    blind = arena.competition.phase(row["phase"]).display == "blind"
    sets_step = row["baseline"] == "real"
    return judge_half(arena, row, units, with_interval=not blind, with_error=sets_step)


def select_half(
    arena: Arena, sheet: str, units: Mapping[str, UnitScores], half: str
) -> dict[str, UnitScores]:
    """Return the unit scores of one half of the people, or all where there are no halves."""
    kept = {}
    for part, scored in units.items():
        mine = arena.vault.public_units(sheet, part, "public" if half == "public" else "final")
        kept[part] = scored if mine is None else keep_units(scored, mine)
    return kept


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


def _read_answers(
    arena: Arena, row: Mapping[str, Any], run: str, part: str, manifest: Manifest
) -> pd.DataFrame:
    """Return the predictions of a part that follow from what code answered in this run."""
    lesson = arena.vault.read_lesson(arena.sheet(row["track"], row["phase"]), part)
    if lesson is None:
        return _read_predictions(arena, row, run, part, manifest)
    # What code answered are not predictions yet: heads are fitted here, where the labels are.
    contract: Any = find_contract(arena.competition.track(row["track"]).benchmark)[0]
    answered = pd.read_parquet(_find_answers(arena, run, part))
    concluded: pd.DataFrame = contract.conclude(lesson, answered, manifest)
    return concluded


def _read_predictions(
    arena: Arena, row: Mapping[str, Any], run: str, part: str, manifest: Manifest
) -> pd.DataFrame:
    """Read the predictions of a part that were kept of this run."""
    ids = arena.ids(arena.sheet(row["track"], row["phase"]), part)
    return read_predictions(_find_answers(arena, run, part), manifest, expected_rows=len(ids))


def _find_answers(arena: Arena, run: str, part: str) -> Path:
    with arena.store.reading() as connection:
        asked = select(ANSWER.c.sha256).where(ANSWER.c.run == run, ANSWER.c.part == part)
        sha256 = connection.execute(asked).scalar()
    if sha256 is None:
        raise NeuroarenaError(f'Run {run} has no answers to the part "{part}".')
    return arena.artifacts.open(sha256)


def _clip(table: pd.DataFrame, manifest: Manifest, ends: Range | None) -> pd.DataFrame:
    """Clip numbers to the declared range of labels: one far outlier would reveal the label that it stands for."""
    if ends is None or manifest.prediction != "number":
        return table
    (column,) = manifest.prediction_columns
    return table.assign(**{column: table[column].clip(*ends)})
