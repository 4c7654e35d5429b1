"""Checking a benchmark that is bound to data: examples, splits, recordings, truth and score."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks.benchmark import Benchmark
from neuroarena.checklist import Check, Point, run_points
from neuroarena.scoring import Manifest, score

# Examples whose windows are read.
_LOOKED_AT = 5
_EXAMPLES = "its examples have every column, and each an id of its own"


class _Trial:
    """A benchmark, and its splits, cut once."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark

    @functools.cached_property
    def splits(self) -> dict[str, Any]:
        return {name: self.benchmark.split(name) for name in self.benchmark.splits}

    @functools.cached_property
    def truth(self) -> pd.DataFrame:
        return self.benchmark.truth(self.splits[self.benchmark.splits[0]])


def check_benchmark(benchmark: Benchmark) -> list[Check]:
    """Check that a benchmark keeps its contract on the data it is bound to; no decoder is run.

    Parameters
    ----------
    benchmark : Benchmark

    Returns
    -------
    list of Check
        Those after examples that cannot be made are not run.
    """
    trial = _Trial(benchmark)
    return run_points(_POINTS, lambda: trial, vital={_EXAMPLES})


def _has_examples(trial: _Trial) -> str | None:
    return None if len(trial.benchmark.examples) else "there are no examples"


def _examples_are_steady(trial: _Trial) -> str | None:
    again = trial.benchmark.make_examples().reset_index(drop=True)
    same = again.astype(str).equals(trial.benchmark.examples.astype(str))
    return None if same else "two tables made of the same data differ"


def _cuts(trial: _Trial) -> str | None:
    if not trial.splits:
        return "it has no split"
    there = set(trial.benchmark.examples["id"])
    for name, split in trial.splits.items():
        for fold in split.folds:
            strange = {*fold.train, *fold.validation, *fold.test} - there
            if strange:
                return f'the split "{name}" names "{min(strange)}", which is no example'
    return None


def _ignores_order(trial: _Trial) -> str | None:
    shuffled = trial.benchmark.examples.sample(frac=1, random_state=0)
    for name, split in trial.splits.items():
        if trial.benchmark.split_rules[name](shuffled).hash != split.hash:
            return f'the folds of "{name}" depend on the order of the rows'
    return None


def _windows_are_there(trial: _Trial) -> str | None:
    examples = trial.benchmark.examples
    rows = np.unique(np.linspace(0, len(examples) - 1, _LOOKED_AT).round().astype(int))
    for row in examples.iloc[rows].itertuples(index=False):
        recording = trial.benchmark.recording(str(row.recording))
        start, stop = int(row.start), int(row.stop)  # type: ignore[arg-type]
        if not 0 <= start < stop <= recording.n_samples:
            return f'"{row.id}" is samples {start} to {stop} of a recording of {recording.n_samples}'
        window = recording.read(start, stop)
        if window.shape != (len(recording.channels), stop - start):
            return f'the window of "{row.id}" has the shape {window.shape}'
        if not np.isfinite(window).all():
            return f'the window of "{row.id}" holds NaN or infinity'
    return None


def _truth_fits(trial: _Trial) -> str | None:
    manifest = trial.benchmark.manifest
    if not manifest.classes:
        return None
    strange = set(trial.truth["target"].astype(str)) - set(manifest.classes)
    return f'the target "{min(strange)}" is no class of the manifest' if strange else None


def _right_beats_wrong(trial: _Trial) -> str | None:
    manifest, truth = trial.benchmark.manifest, trial.truth
    right = score(_answers(truth, manifest), truth, manifest).value
    # Answers one place further on: of the right kind, and mostly of another example.
    moved = truth.assign(target=list(np.roll(np.arange(len(truth)), 1)))
    moved["target"] = [truth["target"].iloc[place] for place in moved["target"]]
    wrong = score(_answers(moved, manifest), truth, manifest).value
    if not np.isfinite(right):
        return "the right answers have no score"
    if right == wrong and truth["target"].astype(str).nunique() > 1:
        return f"wrong answers score {wrong:g}, like the right ones"
    better = right >= wrong if manifest.direction == "higher" else right <= wrong
    return (
        None
        if better
        else f"the right answers score {right:g}, wrong ones {wrong:g}: {manifest.direction} is better"
    )


def _answers(truth: pd.DataFrame, manifest: Manifest) -> pd.DataFrame:
    """Write targets as predictions of the kind that the manifest asks for."""
    table = pd.DataFrame({"id": truth["id"]})
    targets = truth["target"]
    if manifest.prediction == "probabilities":
        for name, column in zip(manifest.classes, manifest.prediction_columns, strict=True):
            table[column] = (targets.astype(str) == name).astype(float)
        return table
    return table.assign(**{manifest.prediction_columns[0]: list(targets)})


_POINTS: tuple[Point[_Trial], ...] = (
    (_EXAMPLES, _has_examples),
    ("the same data give the same examples", _examples_are_steady),
    ("every split can be cut, of its own examples", _cuts),
    ("the order of the rows changes no fold", _ignores_order),
    ("windows lie in their recordings and hold numbers", _windows_are_there),
    ("every target is one that the manifest knows", _truth_fits),
    ("the right answers score better than wrong ones", _right_beats_wrong),
)
