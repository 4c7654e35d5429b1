"""Verdicts over the tasks of a suite: tasks as a sample of tasks where there are enough, and these tasks alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from neuroarena.board.entries import Judged
from neuroarena.board.inference import Breaks, Inference, infer_field
from neuroarena.board.mean_ranks import TASKS, MeanRanks, judge_mean_ranks
from neuroarena.board.selection import Field
from neuroarena.evaluation.levels import independent_levels, score_bounds
from neuroarena.scoring import Manifest
from neuroarena.scoring.overalls import Overall
from neuroarena.statistics import (
    MINIMUM_LEVELS,
    Cells,
    LeftOut,
    cells_of_table,
    crossed,
    crossed_intervals,
    draw_whole_levels,
    fix_tasks,
    jackknife,
    score_intervals,
)
from neuroarena.statistics.moments import Moments, rescope


@dataclass(frozen=True, eq=False)
class SuiteTasks:
    """The tasks of a suite, and how they become one number.

    Attributes
    ----------
    overall : Overall
    fields : mapping of str to Field
        Task -> its field.
    manifests : mapping of str to Manifest
        Task -> its rules.
    """

    overall: Overall
    fields: Mapping[str, Field]
    manifests: Mapping[str, Manifest]

    @property
    def weights(self) -> dict[str, float]:
        """Task -> its weight in the overall, which is linear in the scores of the tasks."""
        return {
            task: float(self.overall.combine({other: float(other == task) for other in self.fields}))
            for task in self.fields
        }

    def infer(self, field: Field, manifest: Manifest, breaks: Breaks) -> Inference:
        """Make the verdicts of the suite's overall ranking.

        Tasks that share people are crossed with them; tasks with units of their own are levels themselves. Fewer than
        six tasks are fixed: verdicts then hold on these tasks. With six or more, `Inference.fixed` holds what is known
        on these tasks alone.
        """
        teams = [one.entry.team for one in field.judged]
        if self._shared_people()[0]:
            people = replace_scope(infer_field(field, manifest, breaks), len(self.fields))
            if not self._can_cross():
                return people
            return self._cross(field, manifest, breaks, people)
        fixed = self._fix(teams, breaks)
        if len(self.fields) >= MINIMUM_LEVELS:
            return self._leave_out_tasks(field, manifest, breaks, fixed)
        found = infer_field(field, manifest, breaks)
        fewest = min(len(set(self._levels(task)[0])) for task in self.fields)
        intervals = found.intervals
        if fewest < MINIMUM_LEVELS:  # together the tasks have more levels, but a task alone proves nothing
            intervals = intervals.assign(low=np.nan, high=np.nan, se=np.nan, df=np.nan)
        return replace(found, moments=fixed, n_levels=fewest, labels=None, intervals=intervals)

    def judge_mean_ranks(self, field: Field, alpha: float) -> MeanRanks | None:
        """Judge the teams by their mean rank over tasks; people that tasks share are fixed. None below six tasks."""
        scores = self._task_scores([one.entry.team for one in field.judged])
        people, noun = self._shared_people()
        return judge_mean_ranks(scores, alpha, f"{people} {noun}" if people else None)

    def _shared_people(self) -> tuple[int, str]:
        """Return how many levels there are where tasks share some, otherwise 0, and what they are."""
        levels = {task: self._levels(task) for task in self.fields}
        owners = [set(labels) for labels, _ in levels.values()]
        everyone: set[str] = set().union(*owners)
        shared = sum(len(own) for own in owners) > len(everyone)
        return (len(everyone) if shared else 0), next(noun for _, noun in levels.values())

    def _task_scores(self, teams: list[str]) -> pd.DataFrame:
        """Return the score of every team on every task, higher is better (tasks, teams)."""
        found = {task: _scores(own.judged, teams) for task, own in self.fields.items()}
        return pd.DataFrame(found, index=teams).T

    def _levels(self, task: str) -> tuple[list[str], str]:
        first = self.fields[task].judged[0]
        labels, noun = independent_levels(first.units, first.clusters, self.manifests[task])
        return (list(first.units) if labels is None else labels), noun

    def _can_cross(self) -> bool:
        means = all(manifest.combiner == "mean" for manifest in self.manifests.values())
        return means and self.overall.kind == "mean" and len(self.fields) >= MINIMUM_LEVELS

    def _cross(
        self,
        field: Field,
        manifest: Manifest,
        breaks: Breaks,
        people: Inference,
    ) -> Inference:
        teams = [one.entry.team for one in field.judged]
        parts = []
        for task in self.fields:
            labels, _ = self._levels(task)
            own = {one.entry.team: one for one in self.fields[task].judged}
            values = pd.DataFrame({team: manifest.sign * own[team].columns["score"] for team in teams})
            parts.append(values.groupby(pd.Index(labels, name="level")).mean().assign(**{TASKS: task}))
        table = pd.concat(parts).reset_index()
        noun = people.noun
        cells = cells_of_table(
            table[teams], table[TASKS].tolist(), table["level"].tolist(), (TASKS, noun), equal_rows=True
        )
        # A person with more sessions than others counts more in the score than in the mean of the cells.
        cells = replace(cells, point=np.array([one.score for one in field.judged]))
        n_levels, noun = _random(cells)
        return Inference(
            crossed(cells, tie_break=breaks),
            crossed_intervals(cells, bounds=score_bounds(manifest)),
            noun,
            n_levels,
            people.labels,
            people.drawn,
            people.moments,
        )

    def _fix(self, teams: list[str], breaks: Breaks) -> Moments:
        moments = {}
        for task, field in self.fields.items():
            own = [one for one in field.judged if one.entry.team in set(teams)]
            moments[task] = infer_field(replace(field, judged=own), self.manifests[task], None).moments
        return fix_tasks(moments, self.weights, breaks)

    def _leave_out_tasks(self, field: Field, manifest: Manifest, breaks: Breaks, fixed: Moments) -> Inference:
        teams, weights = [one.entry.team for one in field.judged], self.weights
        scores = self._task_scores(teams)
        shares = np.array([weights[task] for task in scores.index])
        values = scores.to_numpy()
        point = shares @ values
        left = (point - shares[:, None] * values) / (1 - shares)[:, None]
        measured = LeftOut(tuple(teams), point, left, shares, tuple(scores.index), TASKS)
        drawn = draw_whole_levels({team: scores[team].to_numpy() for team in teams})
        return Inference(
            jackknife(measured, breaks),
            score_intervals(measured, bounds=score_bounds(manifest)),
            TASKS,
            len(values),
            None,
            drawn if np.allclose(shares, shares[0]) else None,
            fixed,
        )


def replace_scope(inference: Inference, n_tasks: int) -> Inference:
    """Return the inference with verdicts that hold for these tasks alone."""
    scope = np.array(
        [f"{scope}; for these {n_tasks} tasks" for scope in inference.moments.scope], dtype=object
    )
    return replace(inference, moments=rescope(inference.moments, scope))


def _random(cells: Cells) -> tuple[int, str]:
    """Return the number of levels that verdicts rest on, and their noun; a factor below six levels is fixed."""
    sizes = [len(count) for count in cells.counts]
    random = [at for at, size in enumerate(sizes) if size >= MINIMUM_LEVELS] or [int(np.argmax(sizes))]
    return min(sizes[at] for at in random), " and ".join(cells.nouns[at] for at in random)


def _scores(judged: list[Judged], teams: list[str]) -> list[float]:
    own = {one.entry.team: one.score for one in judged}
    return [own[team] for team in teams]
