"""The overall ranking of a suite: its tasks combined by ``scoring``, as the suite's own file says."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from neuroarena.board.entries import Judged
from neuroarena.board.faces import overall_of
from neuroarena.board.ranking import Ranking, rank_field
from neuroarena.board.rules import Rules
from neuroarena.board.selection import Field
from neuroarena.board.suite_inference import SuiteTasks
from neuroarena.errors import InputError
from neuroarena.scoring import COMBINERS, Manifest
from neuroarena.scoring.overalls import Overall, TaskUnits, join_units, overall_combiner

NAMED = 5


class _Part(NamedTuple):
    """One task of a suite."""

    ranking: Ranking
    field: Field


def rank_suite(parts: list[tuple[Ranking, Field]], rules: Rules) -> Ranking | str | None:
    """Rank the teams of a suite by its overall.

    Parameters
    ----------
    parts : list of (Ranking, Field)
        The tasks of one family and split.
    rules : Rules

    Returns
    -------
    Ranking, str or None
        A sentence says why there is none; None where the suite is not one average of scores: a tree has an average at
        every node (:func:`neuroarena.board.trees.grow_tree`).
    """
    first = parts[0][0]
    overall = overall_of(first.family)
    if overall.of == "ranks" or overall.kind == "tree":
        return None
    where = f"{first.family}, {first.split}: no overall ranking"
    by_task = {ranking.task: _Part(ranking, field) for ranking, field in parts}
    missing = overall.missing(by_task)
    if missing:
        more = f" and {len(missing) - NAMED} more" if len(missing) > NAMED else ""
        return f"{where}, because there is no result on {', '.join(missing[:NAMED])}{more}."
    tasks = {task: by_task[task] for task in overall.leaves(by_task)}
    ranked = {task: part for task, part in tasks.items() if part.field.judged}
    if not ranked:
        return f"{where}, because nobody can be ranked on any task."
    problem = _problem(overall, list(ranked.values()))
    if problem is not None:
        return f"{where}, because {problem}."
    try:
        field = _suite_field(overall, tasks)
        about = {"family": first.family, "task": "overall", "split": first.split, "kind": "overall"}
        about["definition"] = "+".join(dict.fromkeys(part.ranking.definition for part in tasks.values()))
        suite = SuiteTasks(
            overall,
            {task: part.field for task, part in tasks.items()},
            {task: part.ranking.manifest for task, part in tasks.items()},
        )
        found = rank_field(field, rules, about, _suite_manifest(overall, tasks), suite.infer)
        if not rules.mean_rank or found.moments is None:
            return found
        return replace(found, mean_ranks=suite.judge_mean_ranks(field, rules.alpha))
    except InputError as error:
        return f"{where}, because it cannot be computed: {error}"


def _problem(overall: Overall, ranked: list[_Part]) -> str | None:
    """Return why the tasks cannot be combined, or None when they can."""
    manifests = [part.ranking.manifest for part in ranked]
    if any(COMBINERS.get(manifest.combiner).over == "medians" for manifest in manifests):
        return "medians over units are not combined over tasks"
    alike = len({(manifest.metric, manifest.combiner) for manifest in manifests}) == 1
    if overall.kind == "weighted":
        return None if alike else "the tasks do not share one metric"
    if not alike or manifests[0].combiner != "mean":
        return "the tasks do not share one metric that is a mean over units"
    return None


def _suite_field(overall: Overall, tasks: dict[str, _Part]) -> Field:
    fields = {task: part.field for task, part in tasks.items()}
    judged_on = {task: {one.entry.team: one for one in field.judged} for task, field in fields.items()}
    everyone = sorted({team for field in fields.values() for team in field.n_entries})
    judged, unranked = [], []
    for team in everyone:
        lacking = [task for task, own in judged_on.items() if team not in own]
        if lacking:
            unranked.append(
                (team, f"not ranked on {len(lacking)} of {len(tasks)} tasks: {', '.join(lacking)}")
            )
        else:
            judged.append(_judge(overall, {task: own[team] for task, own in judged_on.items()}))
    counts = {team: max(field.n_entries.get(team, 0) for field in fields.values()) for team in everyone}
    first = next(field for field in fields.values() if field.judged)
    marks = {team: first.marks.get(team, ()) for team in everyone}
    mixed = tuple(dict.fromkeys(name for field in fields.values() for name in field.mixed))
    combiners = {task: part.ranking.manifest.combiner for task, part in tasks.items()}
    combine = None if judged and "score" in judged[0].columns else overall_combiner(overall, combiners)
    return Field(judged, counts, unranked, marks, mixed, combine)


def _judge(overall: Overall, tasks: dict[str, Judged]) -> Judged:
    """Combine what one team has on all tasks; seed by seed too, where every task has as many training seeds."""
    made = _combine_tasks(overall, tasks)
    counts = {len(one.repeats) for one in tasks.values()}
    if len(counts) > 1:
        return made
    repeats = (
        _combine_tasks(overall, {task: one.repeats[at] for task, one in tasks.items()})
        for at in range(counts.pop())
    )
    return replace(made, repeats=tuple(repeats))


def _combine_tasks(overall: Overall, tasks: dict[str, Judged]) -> Judged:
    """Combine what one team has on all tasks: unit by unit where that is the same, else by additive columns."""
    first = next(iter(tasks.values()))
    sign = first.entry.manifest.sign
    manifests = {task: one.entry.manifest for task, one in tasks.items()}
    shared = len({(one.units, one.clusters) for one in tasks.values()}) == 1
    if shared and all(manifest.combiner == "mean" for manifest in manifests.values()):
        shown = overall.combine({task: one.shown for task, one in tasks.items()})
        columns = {"score": shown}
        return Judged(
            first.entry, first.units, first.clusters, shown, columns, sign * float(shown.mean()), None
        )
    own = {
        task: TaskUnits(one.units, one.clusters, one.columns, manifests[task].combiner)
        for task, one in tasks.items()
    }
    units, clusters, columns = join_units(own)
    combine = overall_combiner(overall, {task: each.combiner for task, each in own.items()})
    score = float(combine({name: np.asarray(column.sum()) for name, column in columns.items()}))
    return Judged(
        first.entry, units, clusters, _combine_shown(overall, tasks, units), columns, sign * score, None
    )


def _combine_shown(overall: Overall, tasks: dict[str, Judged], units: tuple[str, ...]) -> np.ndarray:
    """Combine the shown scores of each unit; NaN where a unit is not on all tasks."""
    place = {unit: at for at, unit in enumerate(units)}
    columns = {}
    for task, one in tasks.items():
        columns[task] = np.full(len(units), np.nan)
        columns[task][[place[unit] for unit in one.units]] = one.shown
    shown: np.ndarray = overall.combine(columns)
    return shown


def _suite_manifest(overall: Overall, tasks: dict[str, _Part]) -> Manifest:
    manifests = {task: part.ranking.manifest for task, part in tasks.items()}
    first = next(iter(manifests.values()))

    def combined(values: dict[str, float | None]) -> float | None:
        known = {task: value for task, value in values.items() if value is not None}
        return float(overall.combine(known)) if len(known) == len(values) else None

    return first.replace(
        name=f"{next(iter(tasks.values())).ranking.family}/overall",
        title=f"Overall, {len(tasks)} tasks",
        question=f"{overall.describe(list(tasks))}.",
        tie_break=None,
        additional_metrics=(),
        chance=combined({task: manifest.chance for task, manifest in manifests.items()}),
        ceiling=combined({task: manifest.ceiling for task, manifest in manifests.items()}),
        nu=first.nu if len({manifest.nu for manifest in manifests.values()}) == 1 else None,
        sigma=None,
        split_hashes={},
    )
