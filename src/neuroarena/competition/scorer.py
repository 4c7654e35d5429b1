"""The scorer: open the truth, call score(), keep the sums in the vault, and publish what the phase allows."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, func, select

from neuroarena.competition.arena import Arena
from neuroarena.competition.phases import Phase
from neuroarena.competition.queue import Job, change_state
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION
from neuroarena.evaluation.intervals import score_interval
from neuroarena.scoring import Manifest, UnitScores, check_submission, score

_ALMOST = 1e-9


@dataclass(frozen=True)
class PublicView:
    """What a team and the board may know of a score.

    Attributes
    ----------
    shown, low, high : float or None
        The score and its interval, in the metric's own direction, as precisely as the phase allows.
    n_units : int
    sentence : str
        The same in words.
    """

    shown: float | None
    low: float | None
    high: float | None
    n_units: int
    sentence: str


def score_run(arena: Arena, job: Job) -> None:
    """Score the predictions of a run and move it to "scored".

    The vault is written first; the public view and the new state follow in one transaction, so that a run that is
    "scored" always has its score.

    Raises
    ------
    Fenced
        When another worker has taken the run over.
    """
    with arena.store.reading() as connection:
        row = connection.execute(select(SUBMISSION).where(SUBMISSION.c.id == job.submission)).mappings().one()
    track, phase = arena.competition.track(row["track"]), arena.competition.phase(row["phase"])
    manifest = arena.manifest(track.name)
    path = arena.artifacts.open(row["sha256"])
    checked = check_submission(path, manifest, arena.ids(track.name))
    units = score(checked.table, arena.vault.truth(track.name), manifest, source=row["file"])
    arena.vault.keep_scores(job.run, units)
    interval = score_interval(units, manifest) if phase.display != "blind" else None
    with arena.store.writing(f"team:{job.team}") as connection:
        now = arena.store.clock(connection)
        best = find_shown_best(connection, job.team, track.name, phase.name, manifest)
        view = public_view(units, interval, phase, best, manifest)
        change_state(connection, now, job, "scored")
        connection.execute(
            PUBLIC_SCORE.insert().values(
                run=job.run, scorer_version=units.scorer_version, at=now, **view.__dict__
            )
        )


def public_view(
    units: UnitScores,
    interval: tuple[float, float] | None,
    phase: Phase,
    best: float | None,
    manifest: Manifest,
) -> PublicView:
    """Return what may be known of a score in a phase.

    Parameters
    ----------
    units : UnitScores
    interval : pair of float or None
        Of the score, in the metric's own direction.
    phase : Phase
        Its display decides: "full", "ladder" (only a rise by a step is shown, rounded to the step), or "blind".
    best : float or None
        The best value that was shown to this team on this track in this phase.
    manifest : Manifest
    """
    n_units = int(units.table["unit"].nunique())
    if phase.display == "blind":
        return PublicView(None, None, None, n_units, "scored; the value is shown at the reveal")
    low, high = interval if interval is not None else (None, None)
    if phase.step is None:
        return PublicView(units.value, low, high, n_units, f"{manifest.metric} {units.value:.6f}")
    sign = 1 if manifest.direction == "higher" else -1
    if best is not None and sign * (units.value - best) < phase.step - _ALMOST:
        return PublicView(None, None, None, n_units, f"no better than {best:g} by the step of {phase.step:g}")
    shown = round(units.value / phase.step) * phase.step
    if low is not None and high is not None:
        low = math.floor(low / phase.step) * phase.step
        high = math.ceil(high / phase.step) * phase.step
    return PublicView(shown, low, high, n_units, f"{manifest.metric} {shown:g}, in steps of {phase.step:g}")


def find_shown_best(
    connection: Connection, team: str, track: str, phase: str, manifest: Manifest
) -> float | None:
    """Return the best value that a team was shown on a track in a phase; None when none was."""
    best = func.max if manifest.direction == "higher" else func.min
    asked = (
        select(best(PUBLIC_SCORE.c.shown))
        .join(RUN, RUN.c.id == PUBLIC_SCORE.c.run)
        .join(SUBMISSION, SUBMISSION.c.id == RUN.c.submission)
        .where(SUBMISSION.c.team == team, SUBMISSION.c.track == track, SUBMISSION.c.phase == phase)
    )
    return connection.execute(asked).scalar()
