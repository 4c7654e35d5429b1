"""Hand-made submission folders of the Neuroprobe leaderboard."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from neuroarena.families.neuroprobe.submission_checks import EXPECTED_SESSIONS, judged_items
from neuroarena.families.neuroprobe.tasks import TASKS

FOLDERS = {
    "Within-Session": "within-session",
    "Cross-Session": "cross-session",
    "Cross-Subject": "cross-subject",
}


def metadata(**changes: Any) -> dict[str, Any]:
    said = {
        "model_name": "Model",
        "description": "A model.",
        "author": "Ada Example",
        "organization": "Lab",
        "organization_url": "https://example.org",
        "timestamp": 1758846454,
    }
    return {**said, **changes}


def block(*folds: dict[str, Any]) -> dict[str, Any]:
    return {"one_second_after_onset": {"time_bin_start": 0.0, "time_bin_end": 1.0, "folds": list(folds)}}


def population_file(split: str, task: str, definition: str | None = None) -> dict[str, Any]:
    """Make up a file; with a definition, its accuracies are fractions of the items that are judged."""
    rng = np.random.default_rng([list(FOLDERS).index(split), list(TASKS).index(task)])
    results = {}
    for session in EXPECTED_SESSIONS[FOLDERS[split]]:
        folds = []
        for fold in range(2 if split == "Within-Session" else 1):
            folds.append({"test_roc_auc": float(rng.uniform(0.4, 0.9))})
            if definition is not None:
                n = judged_items(task, FOLDERS[split], session, fold, definition) or 1000
                folds[-1]["test_accuracy"] = int(rng.integers(n // 2, n)) / n
        results[session] = {"population": block(*folds)}
    return {**metadata(), "evaluation_results": results}


def write_submission(
    folder: Path,
    splits: tuple[str, ...] = tuple(FOLDERS),
    tasks: tuple[str, ...] = tuple(TASKS),
    definition: str | None = None,
    **changes: Any,
) -> Path:
    folder.mkdir(parents=True)
    (folder / "metadata.json").write_text(json.dumps(metadata(**changes)))
    (folder / "PUBLICATION.bib").write_text("N/A")
    (folder / "ATTESTATION.txt").write_text("N/A")
    for split in splits:
        (folder / split).mkdir()
        for task in tasks:
            content = json.dumps(population_file(split, task, definition))
            (folder / split / f"population_{task}.json").write_text(content)
    return folder


def edit(path: Path, change: Callable[[dict[str, Any]], Any]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))
