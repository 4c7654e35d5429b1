"""Entries made by hand, for the tests of boards."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.board import Entry
from neuroarena.scoring import Manifest, Metric

BEGIN = datetime.datetime(2026, 1, 1, tzinfo=datetime.UTC)
EVIL = "<script>alert('x')</script>"

# A lower-is-better metric that is no mean of units: errors / characters, as corpus CER is.
ERROR_RATE = Metric(
    name="board_test_error_rate",
    direction="lower",
    predictions=("label",),
    function=lambda prediction, target, manifest: {"score": 0.0, "errors": 0.0},
    title="Error rate",
    unit_label="%",
    undefined="Defined for every unit.",
    columns=("n", "errors"),
    combiner="ratio",
    roles={"numerator": "errors", "denominator": "n"},
)


def make_manifest(task: str = "onset", **changes: Any) -> Manifest:
    values: dict[str, Any] = {
        "name": f"toy/{task}",
        "definition": "1",
        "title": task.capitalize(),
        "question": f"Is there {task}?",
        "metric": "accuracy",
        "prediction": "label",
        "classes": ("no", "yes"),
        "unit": "session",
        "split_rule": "by session",
        "chance": 0.5,
        "licence": "made up",
    }
    return Manifest.model_validate({**values, **changes})


def make_entry(
    team: str,
    scores: Sequence[float],
    *,
    task: str = "onset",
    split: str = "cross",
    hours: float = 0,
    manifest: Manifest | None = None,
    clusters: Sequence[str] | None = None,
    columns: dict[str, Sequence[float]] | None = None,
    split_hash: str = "a" * 64,
    **fields: Any,
) -> Entry:
    """Make an entry with one row a unit: units u00, u01, ..."""
    rules = manifest or make_manifest(task)
    units = [f"u{at:02d}" for at in range(len(scores))]
    table = pd.DataFrame(
        {
            "unit": units,
            "fold": "0",
            "cluster": clusters or units,
            "n": 10,
            "score": scores,
            **(columns or {}),
        }
    )
    return Entry(
        team=team,
        benchmark=f"toy@{rules.definition}/{task}",
        split=split,
        manifest=rules,
        unit_scores=table,
        time=BEGIN + datetime.timedelta(hours=hours),
        provenance={
            "run_key": f"{team} {task} {split} {hours}",
            "split_hash": split_hash,
            "scorer_version": "1",
            "neuroarena": "0.1.0",
            "seed": 0,
        },
        **fields,
    )


def crowd(n_units: int = 40, **fields: Any) -> list[Entry]:
    """Make several teams, a copy, floors, a failed run and an evil name, on the same units."""
    rng = np.random.default_rng(3)
    hardness = rng.normal(0, 0.05, n_units)
    clusters = [f"person {at // 4}" for at in range(n_units)]
    rules = make_manifest(cluster="person")

    def scores(level: float) -> list[float]:
        return np.clip(level + hardness + rng.normal(0, 0.04, n_units), 0, 1).tolist()

    def make(team: str, values: list[float], **more: Any) -> Entry:
        return make_entry(team, values, manifest=rules, clusters=clusters, **{**fields, **more})

    best = scores(0.8)
    return [
        make("alpha", best),
        make("beta", scores(0.78)),
        make("alpha again", best),
        make(EVIL, scores(0.7)),
        make("$x$ & 100 % {co}_1", scores(0.68)),
        make("guess", scores(0.5), role="chance"),
        make("logistic", scores(0.72), role="classical"),
        make("hosts", scores(0.81), role="organiser", notes=("after the deadline",)),
        make("broken", scores(0.6), reason="2 of 8 cells failed; the first, fold 3: ValueError: boom"),
    ]


def suite(**fields: Any) -> list[Entry]:
    """Make three teams on three tasks and two splits with four sessions, as the demo does."""
    rng = np.random.default_rng(5)
    entries = []
    for task, level in (("onset", 0.78), ("speech", 0.72), ("volume", 0.64)):
        for split in ("within", "cross"):
            for team, role, gain in (
                ("guess", "chance", None),
                ("plain", "entry", -0.1),
                ("fancy", "entry", 0.0),
            ):
                base = 0.5 if gain is None else level + gain
                scores = (base + rng.normal(0, 0.02, 4)).tolist()
                rules = make_manifest(task, cluster="person")
                entries.append(
                    make_entry(
                        team, scores, task=task, split=split, manifest=rules, role=role, simulated=True,
                        clusters=["p0", "p0", "p1", "p1"], **fields,
                    )
                )  # fmt: skip
    return entries
