"""What a ranking concludes from: one verdict per pair of teams, and an interval of each score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from neuroarena.benchmarks.faces import face_of
from neuroarena.board.rules import Rules
from neuroarena.board.seed_rule import seed_of
from neuroarena.board.selection import Field
from neuroarena.errors import UndefinedScore
from neuroarena.evaluation.levels import independent_levels, measure_levels, score_bounds
from neuroarena.scoring import COMBINERS, Manifest
from neuroarena.statistics import (
    MINIMUM_LEVELS,
    Draws,
    LeftOut,
    LevelDraws,
    Moments,
    add_seeds,
    add_seeds_to_intervals,
    caution,
    draw_intervals,
    draw_whole_levels,
    jackknife,
    judge_ends,
    moments_of_draws,
    score_intervals,
    widen_draws,
)
from neuroarena.statistics.seeds import NOT_MEASURED
from neuroarena.statistics.trees import SharedLevels

Breaks = Mapping[str, float] | None


@dataclass(frozen=True, eq=False)
class Inference:
    """The verdicts of one ranking and what they were made from; higher is better everywhere.

    Attributes
    ----------
    moments : Moments
        Of every pair; its teams stand best first.
    intervals : DataFrame
        `score`, `low`, `high`, `se`, `df` by team; NaN below six levels.
    noun : str
        What the independent levels are, in the plural.
    n_levels : int
        How many there are; of two factors, the smaller number.
    labels : list of str or None
        The level of each unit; None where every unit is a level.
    drawn : Draws or None
        Draws of whole levels, where the moments were made from such.
    fixed : Moments or None
        Of a suite that is judged across tasks: what holds on these tasks alone.
    shared : SharedLevels or None
        How scores vary over levels that other tasks of the suite may share.
    """

    moments: Moments
    intervals: pd.DataFrame
    noun: str
    n_levels: int
    labels: list[str] | None = None
    drawn: Draws | None = None
    fixed: Moments | None = None
    shared: SharedLevels | None = None

    @property
    def enough(self) -> bool:
        """Whether there are enough levels for verdicts."""
        return self.n_levels >= MINIMUM_LEVELS

    def judge(self, manifest: Manifest, rules: Rules) -> pd.DataFrame:
        """Return the verdict of every pair: see :func:`neuroarena.statistics.judge_ends`."""
        return judge_ends(self.moments, nu=margin_of(manifest, rules), alpha=rules.alpha)

    def cautions(self, rows: pd.DataFrame) -> tuple[str, ...]:
        """Return what a reader should know about the verdicts, in sentences; also where there is only one team."""
        if not self.enough:
            number, noun = self.n_levels, self.noun
            if number == 1:
                return (f"There is only one independent level: no verdict, {MINIMUM_LEVELS} {noun} needed.",)
            if not len(rows):
                return (f"{number} independent {noun}: no interval, {MINIMUM_LEVELS} needed.",)
        # Whose training noise was not measured is said once for a board, by name: `Board.notes`.
        return tuple(said for said in caution(rows) if not said.lower().startswith(NOT_MEASURED))


Infer = Callable[[Field, Manifest, Breaks], Inference]


def margin_of(manifest: Manifest, rules: Rules) -> float | None:
    """Return the smallest difference that matters: the rules' rope, or nu of the manifest."""
    return manifest.nu if rules.rope is None else rules.rope


def infer_field(field: Field, manifest: Manifest, breaks: Breaks) -> Inference:
    """Leave out each level of a field in turn, or draw levels where the score is a median.

    Raises
    ------
    InputError
        When a score is not defined without some level; team and level are named.
    """
    judged = field.judged
    labels, noun = independent_levels(judged[0].units, judged[0].clusters, manifest)
    columns = {one.entry.team: one.columns for one in judged}
    measured = measure_levels(columns, manifest, labels, noun, field.combine)
    return infer_levels(measured, manifest, breaks, labels)


def inference_of(family: str) -> Infer:
    """Return how the verdicts of a family's tasks are made: its face ``inference``, or by leaving out levels.

    The face is a function of a field, its manifest and the tie-breaks, which returns an :class:`Inference`, or None
    where these entries do not hold what it needs.
    """
    face = face_of(family, "inference")
    if face is None:
        return infer_field

    def infer(field: Field, manifest: Manifest, breaks: Breaks) -> Inference:
        found: Inference | None = face(field, manifest, breaks)
        return infer_field(field, manifest, breaks) if found is None else found

    return infer


def infer_levels(
    measured: LeftOut | LevelDraws, manifest: Manifest, breaks: Breaks, labels: list[str] | None = None
) -> Inference:
    """Make the moments and the intervals of one random factor."""
    bounds = score_bounds(manifest)
    if isinstance(measured, LeftOut):
        moments = jackknife(measured, breaks)
        intervals = score_intervals(measured, bounds=bounds)
        return Inference(moments, intervals, measured.noun, measured.n_levels, labels)
    n_levels = len(measured.weights)
    return Inference(
        moments_of_draws(measured, breaks),
        draw_intervals(measured, bounds=bounds),
        measured.noun,
        n_levels,
        labels,
        widen_draws(Draws(list(measured.teams), measured.scores, measured.point, n_levels)),
    )


def add_training_noise(
    inference: Inference, seeds: Mapping[str, np.ndarray], manifest: Manifest
) -> Inference:
    """Add the noise of training to verdicts and intervals, where some team was trained with several seeds."""
    if not seeds:
        return inference
    fixed = None if inference.fixed is None else add_seeds(inference.fixed, seeds)
    return replace(
        inference,
        moments=add_seeds(inference.moments, seeds),
        intervals=add_seeds_to_intervals(inference.intervals, seeds, bounds=score_bounds(manifest)),
        fixed=fixed,
    )


def draw_shares(
    field: Field,
    manifest: Manifest,
    rules: Rules,
    about: Mapping[str, str],
    inference: Inference,
    seed_draws: Draws | None,
) -> Draws | None:
    """Draw whole levels for the shares of ranks; None where some draw leaves a score undefined.

    The seed's draws serve where units are the levels: drawn alike, they are widened for the number of levels.
    """
    if inference.drawn is not None or seed_draws is None:
        return inference.drawn
    if inference.labels is None:
        return widen_draws(seed_draws)
    combine = field.combine or COMBINERS.get(manifest.combiner).apply

    def oriented(summaries: dict[str, Any]) -> np.ndarray:
        return manifest.sign * np.asarray(combine(summaries))

    columns = {one.entry.team: one.columns for one in field.judged}
    seed = seed_of(rules, about)
    try:
        return draw_whole_levels(columns, inference.labels, oriented, rules.n_draws, rules.method, seed)
    except UndefinedScore:
        return None
