"""Runs of Neuroprobe made by hand: whole results without any recording."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.evaluation import Result
from neuroarena.evaluation.record import read_record
from neuroarena.families.neuroprobe.family import FAMILY
from neuroarena.families.neuroprobe.submission_checks import EXPECTED_FOLDS, EXPECTED_SESSIONS, judged_items
from neuroarena.families.neuroprobe.tasks import TASKS
from neuroarena.fingerprint import digest
from neuroarena.scoring import UnitScores

SPLITS = tuple(EXPECTED_SESSIONS)
DEFINITION = "2025.10"


def make_scores(task: str, split: str, quality: float, definition: str, seed: int) -> pd.DataFrame:
    """Scores around a quality; accuracies are fractions of the items that are judged."""
    rng = np.random.default_rng([list(TASKS).index(task), SPLITS.index(split), seed])
    rows = []
    for session in sorted(EXPECTED_SESSIONS[split]):
        hardness = rng.normal(0, 0.03)
        for number in range(EXPECTED_FOLDS[split]):
            n = judged_items(task, split, session, number, definition) or 1000
            score = float(np.clip(quality + hardness + rng.normal(0, 0.02), 0, 1))
            rows.append(
                {
                    "unit": session,
                    "fold": f"{session}/{number}" if split == "within-session" else session,
                    "cluster": f"subject {session.removeprefix('btbank').partition('_')[0]}",
                    "n": n,
                    "score": score,
                    "accuracy": round(score * n) / n,
                }
            )
    return pd.DataFrame(rows)


def make_run(
    task: str = "onset",
    split: str = "within-session",
    decoder: str = "linear",
    *,
    quality: float = 0.7,
    definition: str = DEFINITION,
    seed: int = 0,
    simulated: bool = False,
    status: str = "complete",
    options: dict[str, Any] | None = None,
    scores: pd.DataFrame | None = None,
    notes: Iterable[str] = (),
    **about: Any,
) -> Result:
    """Make a run; `about` replaces parts of what the record says of the decoder."""
    manifest = FAMILY.manifest(task, definition)
    table = make_scores(task, split, quality, definition, len(decoder)) if scores is None else scores
    complete = status == "complete"
    unit_scores = UnitScores(
        table=table, name=manifest.name, definition=definition, manifest_hash=manifest.hash,
        metric=manifest.metric, tie_break=None, combiner=manifest.combiner,
        directions={"score": "higher", "accuracy": "higher"}, scorer_version="1",
    )  # fmt: skip
    cell = {"fold": table["fold"].iloc[0], "key": "k", "status": status}
    record = {
        "schema_version": 1,
        "run_key": digest([task, split, decoder, definition, seed, about]),
        "status": status,
        "simulated": simulated,
        "benchmark": {
            "name": f"neuroprobe@{definition}/{task}",
            "options": {"subset": "lite", "multiclass": False, **(options or {})},
            "notes": list(notes),
            "manifest_hash": manifest.hash,
        },
        "split": {"name": split, "hash": digest([task, split]), "folds": table["fold"].nunique()},
        "decoder": {
            "name": decoder,
            "role": "entry",
            "type": "x.Linear",
            "parameters": {"C": 1.0},
            "code": "c",
        }
        | about,
        "seed": seed,
        "score": unit_scores.value if complete else None,
        "metric": manifest.metric,
        "scorer_version": "1",
        "neuroarena": "0.1.0",
        "finished": "2026-05-02T10:00:00+00:00",
        "cells": [cell if complete else {**cell, "error": "ValueError: boom"}],
        "manifest": manifest.model_dump(mode="json"),
    }
    return Result(read_record(record, Path("made")), None, unit_scores if complete else None)


def make_runs(
    decoder: str = "linear",
    splits: Iterable[str] = SPLITS,
    tasks: Iterable[str] = tuple(TASKS),
    **fields: Any,
) -> list[Result]:
    return [make_run(task, split, decoder, **fields) for split in splits for task in tasks]
