"""What a run answered, as predictions: from the file that was handed in, or from what a runner kept of code."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
from sqlalchemy import select

from neuroarena.competition.arena import Arena
from neuroarena.competition.tables import ANSWER
from neuroarena.errors import NeuroarenaError
from neuroarena.evaluation.code import find_contract
from neuroarena.scoring import Manifest, check_submission, read_predictions


def read_answers(arena: Arena, row: Mapping[str, Any], run: str) -> dict[str, pd.DataFrame]:
    """Return the predictions of a run, part by part, as they are scored: numbers are clipped to their range.

    Parameters
    ----------
    arena : Arena
    row : mapping
        Of the submission.
    run : str
    """
    if row["kind"] != "predictions":
        return read_kept_answers(arena, row, run)
    sheet = arena.sheet(row["track"], row["phase"])
    (part,) = arena.parts(sheet)
    file = arena.artifacts.open(row["sha256"])
    table = check_submission(file, arena.manifest(sheet, part), arena.ids(sheet, part)).table
    return {part: clip_answers(arena, row, part, table)}


def read_kept_answers(
    arena: Arena, row: Mapping[str, Any], run: str, *, by_code: bool = True
) -> dict[str, pd.DataFrame]:
    """Return what a runner kept of a run: what code answered, or (`by_code` false) predictions that a replay wrote."""
    manifests = arena.manifests(arena.sheet(row["track"], row["phase"]))
    read = _conclude if by_code else _read_predictions
    return {
        part: clip_answers(arena, row, part, read(arena, row, run, part, manifest))
        for part, manifest in manifests.items()
    }


def clip_answers(arena: Arena, row: Mapping[str, Any], part: str, table: pd.DataFrame) -> pd.DataFrame:
    """Clip numbers to the declared range of labels: one far outlier would reveal the label that it stands for."""
    track = arena.competition.track(row["track"])
    manifest, ends = arena.manifest(track.sheet(row["phase"]), part), track.range_of(part)
    if ends is None or manifest.prediction != "number":
        return table
    (column,) = manifest.prediction_columns
    return table.assign(**{column: table[column].clip(*ends)})


def _conclude(arena: Arena, row: Mapping[str, Any], run: str, part: str, manifest: Manifest) -> pd.DataFrame:
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
