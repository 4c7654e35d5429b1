"""Baselines of the host: a constant, shuffled labels and a real decoder go the way that every submission goes."""

from __future__ import annotations

import secrets
import tempfile
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from sqlalchemy import select

from neuroarena.competition.admission import MEGABYTE
from neuroarena.competition.arena import Arena
from neuroarena.competition.checking import ENDING, guess_kind
from neuroarena.competition.constant_answers import answer_constantly
from neuroarena.competition.intake import Post, check_received, insert_submission
from neuroarena.competition.judging import Judgement, judge_half
from neuroarena.competition.phases import Phase
from neuroarena.competition.queue import claim
from neuroarena.competition.states import TERMINAL
from neuroarena.competition.tables import PUBLIC_SCORE, RUN, SUBMISSION, TEAM
from neuroarena.competition.teams import add_team
from neuroarena.errors import InputError
from neuroarena.scoring import Manifest, write_submission

Baseline = Literal["constant", "shuffled", "real"]
BASELINES: tuple[Baseline, ...] = get_args(Baseline)
HOST = "host"
# How many standard errors above chance a baseline that knows nothing may score.
MOST_ERRORS = 3.0


def submit_baseline(
    arena: Arena, track: str, phase: str, baseline: Baseline, file: str | Path | None = None
) -> str:
    """Hand in a baseline of the host for a phase, also before it begins; return the id of the submission.

    Parameters
    ----------
    arena : Arena
    track, phase : str
    baseline : {"constant", "shuffled", "real"}
    file : path, optional
        What is handed in. The constant and the shuffled one are made here where the track asks one task.

    Raises
    ------
    InputError
        When the file is refused, or cannot be made here.
    """
    arena.competition.track(track)
    sheet = arena.sheet(track, phase)
    with tempfile.TemporaryDirectory() as folder:
        if file is None:
            file = _make_file(arena, sheet, baseline, Path(folder) / f"{baseline}.parquet")
        path = Path(file)
        kind = guess_kind(path)
        kept = arena.artifacts.keep(path, arena.competition.limits.file_mb * MEGABYTE, ENDING[kind])
    _let_host_in(arena)
    post = Post(track, path, kind, path.name, secrets.token_hex(16), model=f"{baseline} baseline")
    with arena.store.writing(f"team:{HOST}") as connection:
        now = arena.store.clock(connection)
        submission, run = insert_submission(connection, now, HOST, phase, post, kept, baseline=baseline)
    job = claim(arena.store, "intake", ["intake"], run=run)
    if job is not None:
        check_received(arena, job)
    with arena.store.reading() as connection:
        row = connection.execute(select(RUN.c.state, RUN.c.reason).where(RUN.c.id == run)).one()
    if row.state == "refused":
        raise InputError(f"The {baseline} baseline was refused: {row.reason}")
    return submission


def judge_baselines(
    arena: Arena, track: str, phase: str, half: str | None = "public"
) -> dict[str, Judgement]:
    """Return what the baselines of a track and phase scored, by kind; those that were not scored are left out.

    `half` is the half of the people that is looked at, where there are halves; None for all of them.
    """
    found = {}
    for name, row in find_scored_baselines(arena, track, phase).items():
        parts = arena.parts(arena.sheet(track, phase))
        units = {part: arena.vault.read_scores(row["run"], row["scorer_version"], part) for part in parts}
        there = {part: scored for part, scored in units.items() if scored is not None}
        if len(there) == len(units):
            found[name] = judge_half(arena, row, there, half)
    return found


def find_scored_baselines(arena: Arena, track: str, phase: str) -> dict[str, dict[str, Any]]:
    """Return submission, run and scorer version of the baselines of a track and phase, the last of each kind."""
    asked = (
        select(SUBMISSION, PUBLIC_SCORE.c.run, PUBLIC_SCORE.c.scorer_version)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .join(PUBLIC_SCORE, PUBLIC_SCORE.c.run == RUN.c.id)
        .where(SUBMISSION.c.track == track, SUBMISSION.c.phase == phase, SUBMISSION.c.baseline.is_not(None))
        .order_by(PUBLIC_SCORE.c.at)
    )
    with arena.store.reading() as connection:
        return {row["baseline"]: dict(row) for row in connection.execute(asked).mappings()}


def find_baseline_problems(arena: Arena, track: str, phase: Phase) -> list[str]:
    """List what is wrong with the baselines of a sealed phase, one sentence each."""
    # A leak would be anywhere: both halves are looked at, which also have more people to judge it by.
    judged = judge_baselines(arena, track, phase.name, half=None)
    unfinished = _list_waiting(arena, track, phase.name)
    waiting = [name for name in BASELINES if name in unfinished and name not in judged]
    missing = [name for name in BASELINES if name not in judged and name not in waiting]
    place, worker = f'"{track}" in "{phase.name}"', f"neuroarena worker --arena {arena.folder} --until-idle"
    problems = []
    if missing:
        problems += [
            f"{place} has no scored {' and no '.join(missing)} baseline: neuroarena admin baseline "
            f"{arena.folder} {track} --phase {phase.name}, then {worker}"
        ]
    if waiting:
        are = "baseline waits" if len(waiting) == 1 else "baselines wait"
        problems += [f"{place}: the {' and the '.join(waiting)} {are} for a worker: {worker}"]
    if problems:
        return problems
    chance = next(iter(arena.manifests(arena.sheet(track, phase.name)).values())).chance
    return [
        f"{place}: the {name} baseline is better than chance, so that the truth or its rules leak; look into it"
        for name in ("constant", "shuffled")
        if _beats_chance(judged[name], judged["real"], chance)
    ]


def _list_waiting(arena: Arena, track: str, phase: str) -> set[str]:
    """Return the baselines of a track and phase that were handed in and that no worker has finished yet."""
    asked = (
        select(SUBMISSION.c.baseline)
        .join(RUN, RUN.c.submission == SUBMISSION.c.id)
        .where(SUBMISSION.c.track == track, SUBMISSION.c.phase == phase, SUBMISSION.c.baseline.is_not(None))
        .where(RUN.c.state.not_in(TERMINAL))
    )
    with arena.store.reading() as connection:
        return set(connection.execute(asked).scalars())


def _beats_chance(judged: Judgement, real: Judgement, chance: float | None) -> bool:
    if judged.value is None or real.value is None:
        return False
    if chance is None or len(judged.part_values) > 1 or judged.standard_error is None:
        return judged.sign * (judged.value - real.value) >= 0
    slack = MOST_ERRORS * judged.standard_error + 1e-9
    return judged.sign * (judged.value - chance) > slack


def _make_file(arena: Arena, sheet: str, baseline: Baseline, place: Path) -> Path:
    parts = arena.parts(sheet)
    if baseline == "real" or len(parts) != 1:
        raise InputError(
            f'Name the file of the {baseline} baseline for "{sheet}": it cannot be made from the truth.'
        )
    manifest = arena.manifest(sheet, parts[0])
    if baseline == "constant":
        table = answer_constantly(manifest, arena.ids(sheet, parts[0]))
    else:
        table = shuffle_targets(arena.vault.truth(sheet, parts[0]), manifest, np.random.default_rng(0))
    write_submission(place, table, manifest, model=f"{baseline} baseline", contact=arena.competition.contact)
    return place


def shuffle_targets(truth: pd.DataFrame, manifest: Manifest, rng: np.random.Generator) -> pd.DataFrame:
    """Return predictions that are the right targets in a wrong order: what a decoder of shuffled labels can know."""
    shuffled = truth["target"].iloc[rng.permutation(len(truth))].reset_index(drop=True)
    table = pd.DataFrame({"id": truth["id"].to_numpy()})
    if manifest.prediction == "probabilities":
        for name, column in zip(manifest.classes, manifest.prediction_columns, strict=True):
            table[column] = (shuffled.astype(str) == name).astype(float)
        return table
    (column,) = manifest.prediction_columns
    table[column] = shuffled
    return table


def _let_host_in(arena: Arena) -> None:
    with arena.store.reading() as connection:
        there = connection.execute(select(TEAM.c.organiser).where(TEAM.c.name == HOST)).scalar()
    if there is None:
        add_team(arena, HOST, organiser=True)
    elif not there:
        raise InputError(f'A team is called "{HOST}" and does not belong to the organisers. Rename it.')
