"""The board: a pure function of entries and rules."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from neuroarena import __version__
from neuroarena.board.entries import Entry, Judge, describe_namesakes
from neuroarena.board.faces import apply_entry_rules, describe_known_answers
from neuroarena.board.inference import inference_of
from neuroarena.board.leak_notes import describe_leaks
from neuroarena.board.learning_curves import learning_curves
from neuroarena.board.ranking import Ranking, plain_pairs, rank_field
from neuroarena.board.rules import Rules
from neuroarena.board.selection import Field, group_entries, select
from neuroarena.board.suites import rank_suite
from neuroarena.board.table import FLAGS, TABLE_COLUMNS, WHOLE, WORDS, leave_leader_and_neighbours
from neuroarena.board.training_seeds import describe_training_noise
from neuroarena.board.trees import Tree, grow_tree
from neuroarena.board.wording import verdict
from neuroarena.errors import InputError
from neuroarena.statistics import Sensitivity

SCHEMA_VERSION = 1
HEAD_COLUMNS = ("kind", "benchmark", "split", "metric", "direction", "status")


class Board:
    """Rankings of entries, by rules, as of a time.

    Parameters
    ----------
    entries : iterable of Entry
        In any order; the order changes nothing.
    rules : Rules, optional
    allow_mixed : bool
        Whether entries of different definitions, manifests or splits may stand side by side, marked.
        An entry on other units than most is then listed as unranked: it cannot be paired.
    order : sequence of str
        Names of tasks and splits, in the order to show them in; the others follow alphabetically.
    allow_empty : bool
        Whether there may be no entry at all, as before anything was scored.

    Attributes
    ----------
    rankings : tuple of Ranking
        One per task and split.
    overall : tuple of Ranking
        One per family and split with several tasks, as the family's overall says; by default the score of a unit is
        its mean over the tasks.
    trees : tuple of Tree
        One per family and split whose overall is a tree of means.
    notes : tuple of str
        Why an overall ranking is missing, where it is; that training noise was not measured, where it was not.

    Raises
    ------
    InputError
        When there is no entry, or when entries are not comparable; both teams are named.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        rules: Rules | None = None,
        *,
        allow_mixed: bool = False,
        order: Sequence[str] = (),
        allow_empty: bool = False,
    ) -> None:
        self.rules = rules or Rules()
        everything = apply_entry_rules(entries, self.rules.as_of)
        groups = group_entries(everything, self.rules)
        if not groups and not allow_empty:
            when = f" as of {self.rules.as_of:%Y-%m-%d %H:%M} UTC" if everything and self.rules.as_of else ""
            raise InputError(f"There is no entry to rank{when}; pass at least one result.")
        place = {name: at for at, name in enumerate(order)}
        keys = sorted(groups, key=lambda key: (key[0], *(_order_by_place(place, name) for name in key[1:])))
        judge = Judge()
        fields = {key: select(groups[key], self.rules, judge, allow_mixed) for key in keys}
        self.rankings = tuple(_rank_task(key, groups[key], fields[key], self.rules) for key in keys)
        suites: dict[tuple[str, str], list[tuple[Ranking, Field]]] = {}
        for ranking, field in zip(self.rankings, fields.values(), strict=True):
            suites.setdefault((ranking.family, ranking.split), []).append((ranking, field))
        made = [rank_suite(parts, self.rules) for parts in suites.values() if len(parts) > 1]
        self.overall = tuple(
            _with_known_answers(one, [ranking.task for ranking, _ in suites[one.family, one.split]])
            for one in made
            if isinstance(one, Ranking)
        )
        grown = [grow_tree([ranking for ranking, _ in parts]) for parts in suites.values()]
        self.trees = tuple(one for one in grown if isinstance(one, Tree))
        noise = describe_training_noise(fields.values(), any(one.decides for one in self.everything))
        self.notes = (
            *(one for one in (*made, *grown) if isinstance(one, str)),
            *describe_namesakes(everything),
            *describe_leaks(self.rankings),
            *([] if noise is None else [noise]),
        )

    @property
    def simulated(self) -> bool:
        """Whether anything shown is simulated."""
        return any(ranking.simulated for ranking in self.rankings)

    @property
    def everything(self) -> tuple[Ranking, ...]:
        """The overall rankings, then those of the tasks."""
        return (*self.overall, *self.rankings)

    @functools.cached_property
    def teams(self) -> tuple[str, ...]:
        """Every team that is ranked anywhere, best mean rank first."""
        ranks: dict[str, list[float]] = {}
        for ranking in self.overall or self.rankings:
            for team, rank in zip(ranking.table["team"], ranking.table["rank"], strict=True):
                ranks.setdefault(str(team), []).append(float(rank))
        rest = {str(team) for ranking in self.rankings for team in ranking.table["team"]} - set(ranks)
        best_first = sorted(
            ranks, key=lambda team: (-len(ranks[team]), sum(ranks[team]) / len(ranks[team]), team)
        )
        return (*best_first, *sorted(rest))

    def ranking(self, task: str, split: str) -> Ranking:
        """Return the ranking of a task ("overall" for a suite's) and split.

        Raises
        ------
        InputError
            When there is no such ranking; the message lists those there are.
        """
        for ranking in self.everything:
            if ranking.task == task and ranking.split == split:
                return ranking
        known = ", ".join(f"{ranking.task} {ranking.split}" for ranking in self.everything)
        raise InputError(f'No ranking of "{task}" on "{split}" on this board; there are: {known}.')

    def frame(self) -> pd.DataFrame:
        """Return every ranking as one long table; unranked teams are rows with a reason and no numbers."""
        parts = []
        for ranking in self.everything:
            head = {
                "kind": ranking.kind,
                "benchmark": ranking.benchmark,
                "split": ranking.split,
                "metric": ranking.manifest.metric,
                "direction": ranking.manifest.direction,
            }
            ranked = ranking.table.assign(status="ranked", reason="", **head)
            if ranking.table.empty:
                ranked = ranked.astype({name: "boolean" for name in FLAGS if name != "simulated"})
            below = ranking.unranked.assign(status="unranked", **head)
            parts += [part for part in (ranked, below) if len(part)]
        extra = dict.fromkeys(name for ranking in self.everything for name in ranking.extra_columns)
        columns = [*HEAD_COLUMNS, *TABLE_COLUMNS, *extra, "reason"]
        if not parts:
            return _convert_types(pd.DataFrame(columns=columns, dtype=object))
        return _convert_types(pd.concat(parts, ignore_index=True).reindex(columns=columns))

    def rows(self) -> list[dict[str, Any]]:
        """Return :meth:`frame` as plain rows, None for what is not known."""
        return _plain_rows(self.frame())

    def to_dict(self) -> dict[str, Any]:
        """Return the board as plain data: no NaN, no arrays."""
        return {
            "schema_version": SCHEMA_VERSION,
            "neuroarena": __version__,
            "simulated": self.simulated,
            "rules": self.rules.model_dump(mode="json"),
            "notes": list(self.notes),
            "rankings": [describe_ranking(ranking) for ranking in self.everything],
            "trees": [_tree_dict(tree) for tree in self.trees],
            "learning_curves": [
                {"title": curve.title, "split": curve.split, "points": _plain_rows(curve.table)}
                for curve in learning_curves(self.rankings)
            ],
        }

    def to_json(self) -> str:
        """Return the board as JSON text; the same board gives the same text."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False, ensure_ascii=False)


def _order_by_place(place: dict[str, int], name: str) -> tuple[int, str]:
    return (place.get(name, len(place)), name)


def _rank_task(key: tuple[str, str, str], entries: list[Entry], field: Field, rules: Rules) -> Ranking:
    family, split, task = key
    ranked = [one.entry for one in field.judged] or entries
    definition = "+".join(sorted({entry.definition for entry in ranked}))
    about = {"family": family, "task": task, "definition": definition, "split": split, "kind": "task"}
    # When manifests mix, the newest definition heads the ranking; the others have the same metric.
    newest = max(ranked, key=lambda entry: (entry.definition, entry.manifest.hash))
    return _with_known_answers(rank_field(field, rules, about, newest.manifest, inference_of(family)), [task])


def _with_known_answers(ranking: Ranking, tasks: Iterable[str]) -> Ranking:
    """Put first, among the cautions of a ranking, that the answers of its tasks are known, where they are."""
    known = describe_known_answers(ranking.family, tasks)
    return dataclasses.replace(ranking, cautions=(*known, *ranking.cautions))


def describe_ranking(ranking: Ranking) -> dict[str, Any]:
    """Return a ranking as plain data: no NaN, no arrays."""
    manifest = ranking.manifest
    return {
        "kind": ranking.kind,
        "benchmark": ranking.benchmark,
        "family": ranking.family,
        "task": ranking.task,
        "definition": ranking.definition,
        "split": ranking.split,
        "title": manifest.title,
        "question": manifest.readable_question,
        "metric": manifest.metric,
        "direction": manifest.direction,
        "tie_break": manifest.tie_break,
        "extra_columns": list(ranking.extra_columns),
        "unit": manifest.unit,
        "cluster": manifest.cluster,
        "chance": manifest.chance,
        "simulated": ranking.simulated,
        "n_units": ranking.n_units,
        "inference": ranking.rules.inference,
        "levels": ranking.levels,
        "n_levels": ranking.n_levels,
        "verdict": verdict(ranking),
        "groups": ranking.groups,
        "n_pairs": len(ranking.judgements),
        "pairs_shown": "leader and neighbours" if len(ranking.pairs) < len(ranking.judgements) else "all",
        "warnings": list(ranking.warnings),
        "resolution": None if ranking.resolution is None else make_plain(ranking.resolution.to_dict()),
        "table": records(ranking.table),
        "unranked": records(ranking.unranked),
        "pairs": records(ranking.pairs),
        "sensitivity": None if ranking.sensitivity is None else _sensitivity_dict(ranking.sensitivity),
        "on_these_tasks": None if ranking.on_these_tasks is None else _pair_records(ranking.on_these_tasks),
        "mean_ranks": None
        if ranking.mean_ranks is None
        else {
            "n_tasks": ranking.mean_ranks.n_tasks,
            "table": records(ranking.mean_ranks.table),
            "pairs": _pair_records(ranking.mean_ranks.verdicts),
        },
        "seed_pairs": records(leave_leader_and_neighbours(ranking.seed_pairs)),
        "provenance": make_plain(ranking.provenance),
    }


def _tree_dict(tree: Tree) -> dict[str, Any]:
    return {
        "family": tree.family,
        "split": tree.split,
        "simulated": tree.simulated,
        "notes": list(tree.notes),
        "nodes": [
            {
                "name": node.name,
                "parent": node.parent,
                "depth": node.depth,
                "tasks": node.weights,
                "table": records(tree.node(node.name).drop(columns=["node", "parent", "depth", "task"])),
                "pairs": _pair_records(tree.verdicts[node.name]) if node.name in tree.verdicts else [],
            }
            for node in tree.nodes
        ],
    }


def _pair_records(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Return verdicts as plain rows; above 300 teams those of leader and neighbours."""
    return records(plain_pairs(leave_leader_and_neighbours(rows)))


def _sensitivity_dict(found: Sensitivity) -> dict[str, Any]:
    return {
        "ranks": records(found.ranks.reset_index()),
        "agreement": records(found.agreement),
        "warnings": list(found.warnings),
    }


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return a table as plain rows, None for what is not known."""
    columns = [[make_plain(value) for value in table[name]] for name in table.columns]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def make_plain(value: Any) -> Any:
    """Return a value as plain data: lists, texts and numbers of Python; None for what is not known."""
    if isinstance(value, dict):
        return {str(key): make_plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [make_plain(item) for item in value]
    if value is None or value is pd.NA:
        return None
    if isinstance(value, np.generic):
        value = value.item()
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _convert_types(table: pd.DataFrame) -> pd.DataFrame:
    """Convert the long table to one type per column, whatever it holds."""
    words = (*HEAD_COLUMNS, *WORDS, "reason")
    types: dict[str, Any] = {}
    for name in table.columns:
        types[name] = "Int64" if name in WHOLE else "boolean" if name in FLAGS else "float64"
        extra_words = name not in TABLE_COLUMNS and not pd.api.types.is_numeric_dtype(table[name].dtype)
        if name in words or extra_words:
            table[name] = table[name].where(table[name].notna(), "").astype(object)
            types[name] = object
    return table.astype(types)


def _plain_rows(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as plain values, None for what is not known."""
    columns = [[make_plain(value) for value in table[name]] for name in table.columns]
    return [dict(zip(table.columns, row, strict=True)) for row in zip(*columns, strict=True)]
