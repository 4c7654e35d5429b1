"""Score one submission on Codabench: ``python3 score.py INPUT OUTPUT``, as the platform lays out its folders.

Reads ``INPUT/ref`` (truth and rules) and ``INPUT/res`` (what was submitted); writes ``OUTPUT/scores.json`` and, where
the test set is not sealed, ``OUTPUT/detailed_results.html``. Exit code 1 means that there is no score.
"""

from __future__ import annotations

import html
import json
import math
import sys
from pathlib import Path

import pandas as pd

from neuroarena.errors import InputError, NeuroarenaError
from neuroarena.scoring import Manifest, UnitScores, check_submission, score

# The platform keeps a score as a decimal of 20 digits, ten of them behind the point.
DECIMALS = 10
LARGEST = 1e9


def main(source: Path, target: Path) -> int:
    """Score what lies in `source` into `target`, and return the exit code."""
    manifest = Manifest.model_validate_json((source / "ref" / "manifest.json").read_text(encoding="utf-8"))
    about = json.loads((source / "ref" / "about.json").read_text(encoding="utf-8"))
    try:
        path = find_predictions(source / "res")
        truth = pd.read_parquet(source / "ref" / "truth.parquet")
        checked = check_submission(path, manifest, truth[["id"]])
        units = score(checked.table, truth, manifest, source=path.name)
        scores = list_scores(units, manifest)
    except NeuroarenaError as error:
        print(f"No score: {error}", file=sys.stderr)
        return 1
    target.mkdir(parents=True, exist_ok=True)
    (target / "scores.json").write_text(json.dumps(scores, allow_nan=False) + "\n", encoding="utf-8")
    if not about["sealed"]:
        (target / "detailed_results.html").write_text(describe(scores, units, manifest), encoding="utf-8")
    print("scored")
    return 0


def find_predictions(folder: Path) -> Path:
    """Return the one file of predictions in a submission.

    Raises
    ------
    InputError
        When there is none, or more than one.
    """
    found = sorted(path for path in folder.glob("*.parquet") if path.is_file() and not path.is_symlink())
    if len(found) != 1:
        raise InputError(
            f"The submission has {len(found)} files that end in .parquet at its top level; expected one. "
            "Zip the file itself, not the folder it lies in."
        )
    return found[0]


def list_scores(units: UnitScores, manifest: Manifest) -> dict[str, float]:
    """Return what the board's columns show: the score, and the tie-break where there is one.

    Raises
    ------
    InputError
        When a value is not finite, or too large for the platform to keep.
    """
    scores = {"score": units.value}
    if manifest.tie_break is not None:
        scores["tie_break"] = units.values()[manifest.tie_break]
    for name, value in scores.items():
        if not math.isfinite(value) or abs(value) > LARGEST:
            raise InputError(f"The {name} is {value:g}, which the platform cannot keep.")
    return {name: round(float(value), DECIMALS) for name, value in scores.items()}


def describe(scores: dict[str, float], units: UnitScores, manifest: Manifest) -> str:
    """Return a page with the score and how it was made; scores of single units stay with the scorer."""
    rows = {
        manifest.metric: f"{scores['score']:.6f} ({manifest.direction} is better)",
        "units": f"{units.table['unit'].nunique()} ({manifest.unit}), combined by {units.combiner}",
        "rules": f"{manifest.name}, definition {manifest.definition}, {manifest.hash}",
        "scorer version": units.scorer_version,
    }
    if manifest.tie_break is not None:
        rows[f"tie-break: {manifest.tie_break}"] = f"{scores['tie_break']:.6f}"
    cells = "".join(
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(value)}</td></tr>" for name, value in rows.items()
    )
    head = f'<!doctype html><meta charset="utf-8"><title>{html.escape(manifest.title)}</title>'
    return f"{head}<h1>{html.escape(manifest.title)}</h1><table>{cells}</table>\n"


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
