"""Overalls: how the scores of a suite's tasks become one number, as data in the suite's own file.

Everything that shows an overall (boards, code submissions, exports) asks this module, so that no aggregate is computed
in two places. A missing task leaves no number and is named; it is never counted as zero.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from neuroarena.errors import InputError
from neuroarena.scoring.combiners import COMBINERS

Sums = Mapping[str, np.ndarray]


class Node(NamedTuple):
    """A node of a tree of means, or a task at its end.

    Attributes
    ----------
    name, parent : str
        The root has no parent.
    depth : int
        0 for the root.
    weights : dict of str to float
        Task below it -> its weight in the node's mean; a task has itself.
    """

    name: str
    parent: str | None
    depth: int
    weights: dict[str, float]

    @property
    def is_task(self) -> bool:
        """Whether nothing is below it."""
        return self.name in self.weights


class Overall(BaseModel):
    """How the scores of tasks become one number.

    Parameters
    ----------
    kind : {"mean", "weighted", "tree"}
        The mean of the tasks, a weighted mean of them, or a tree in which every node is the mean of its children.
    of : {"scores", "ranks"}
        What is averaged: the scores of tasks, or the ranks of a team on them.
    tasks : tuple of str
        The tasks of a mean; when left out, all that there are.
    weights : mapping of str to float
        Task -> weight, of a weighted mean; they sum to 1.
    parents : mapping of str to str
        Task or node -> the node above it, of a tree. Exactly one node, the root, has none.

    Examples
    --------
    >>> Overall(kind="weighted", weights={"speed": 0.3, "mood": 0.7}).combine({"speed": 0.9, "mood": 1.0})
    0.97
    >>> tree = Overall(kind="tree", parents={"a": "V1", "b": "V1", "c": "IT", "V1": "overall", "IT": "overall"})
    >>> tree.nodes({"a": 0.2, "b": 0.4})
    {'V1': 0.30000000000000004, 'IT': None, 'overall': None}
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["mean", "weighted", "tree"] = "mean"
    of: Literal["scores", "ranks"] = "scores"
    tasks: tuple[str, ...] = ()
    weights: dict[str, float] = {}
    parents: dict[str, str] = {}

    @model_validator(mode="after")
    def _agree_with_itself(self) -> Overall:
        fields = {"mean": self.tasks, "weighted": self.weights, "tree": self.parents}
        named = {"mean": "tasks", "weighted": "weights", "tree": "parents"}
        for kind, value in fields.items():
            if value and kind != self.kind:
                raise ValueError(f'"{named[kind]}" does not belong to the kind "{self.kind}"')
        if self.kind != "mean" and not fields[self.kind]:
            raise ValueError(f'the kind "{self.kind}" needs "{named[self.kind]}"')
        if self.kind == "weighted" and not _are_weights(self.weights.values()):
            raise ValueError('"weights" must be positive and sum to 1')
        if self.kind == "tree":
            _check_tree(self.parents)
        return self

    @classmethod
    def from_toml(cls, path: str | Path) -> Overall:
        """Read an overall from a suite's own file.

        Raises
        ------
        InputError
            Naming the file and what is wrong in it.
        """
        try:
            return cls.model_validate(tomllib.loads(Path(path).read_text(encoding="utf-8")))
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise InputError(f"{path}: cannot be read as TOML: {error}.") from error
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            field = ".".join(str(part) for part in first["loc"])
            message = first["msg"].removeprefix("Value error, ")
            raise InputError(f"{path}: {f'{field}: ' if field else ''}{message}.") from error

    def leaves(self, given: Iterable[str] = ()) -> tuple[str, ...]:
        """List the tasks that count, in order; `given` are those there are."""
        if self.kind == "weighted":
            return tuple(self.weights)
        if self.kind == "tree":
            nodes = set(self.parents.values())
            return tuple(name for name in self.parents if name not in nodes)
        return self.tasks or tuple(given)

    def missing(self, given: Iterable[str]) -> tuple[str, ...]:
        """List the tasks that count and are not given."""
        there = list(given)
        return tuple(leaf for leaf in self.leaves(there) if leaf not in there)

    def combine(self, scores: Mapping[str, Any]) -> Any:
        """Combine the scores of tasks.

        Parameters
        ----------
        scores : mapping of str to float or ndarray
            Task -> its score; or arrays of one shape (units, draws), which are combined element by element. Tasks that
            do not count are left alone.

        Returns
        -------
        float or ndarray

        Raises
        ------
        InputError
            Naming the tasks that are missing.
        """
        missing = self.missing(scores)
        if missing or not scores:
            raise InputError(f"No overall score: there is no score of {', '.join(missing) or 'any task'}.")
        if self.kind == "weighted":
            return sum(weight * scores[task] for task, weight in self.weights.items())
        if self.kind == "tree":
            return self.nodes(scores)[_root(self.parents)]
        found = np.mean([scores[task] for task in self.leaves(scores)], axis=0)
        return found if found.ndim else float(found)

    def nodes(self, scores: Mapping[str, Any]) -> dict[str, Any]:
        """Return the value of every node of a tree, the root last; None where a task below it is missing."""
        children = self._children
        found: dict[str, Any] = {}

        def value(name: str) -> Any:
            if name not in children:
                return scores.get(name)
            below = [value(child) for child in children[name]]
            if any(each is None for each in below):
                found[name] = None
            else:
                mean = np.mean(below, axis=0)
                found[name] = mean if mean.ndim else float(mean)
            return found[name]

        if children:
            value(_root(self.parents))
        return found

    def walk(self) -> tuple[Node, ...]:
        """Return the nodes of a tree and its tasks, the root first and every node before what is below it.

        Examples
        --------
        >>> tree = Overall(kind="tree", parents={"a": "V1", "b": "V1", "c": "overall", "V1": "overall"})
        >>> [(node.name, node.depth, node.weights) for node in tree.walk()][:2]
        [('overall', 0, {'a': 0.25, 'b': 0.25, 'c': 0.5}), ('V1', 1, {'a': 0.5, 'b': 0.5})]
        """
        children = self._children
        found: list[Node] = []

        def visit(name: str, parent: str | None, depth: int) -> dict[str, float]:
            place = len(found)
            weights: dict[str, float] = {}
            below = children.get(name, [])
            # Nodes come before tasks, so that a reader meets what is summed up first.
            for child in sorted(below, key=lambda each: each not in children):
                own = visit(child, name, depth + 1)
                weights |= {leaf: weight / len(below) for leaf, weight in own.items()}
            weights = weights or {name: 1.0}
            ordered = {leaf: weights[leaf] for leaf in self.leaves() if leaf in weights}
            found.insert(place, Node(name, parent, depth, ordered))
            return weights

        if children:
            visit(_root(self.parents), None, 0)
        return tuple(found)

    @property
    def _children(self) -> dict[str, list[str]]:
        children: dict[str, list[str]] = {}
        for name, parent in self.parents.items():
            children.setdefault(parent, []).append(name)
        return children

    def describe(self, tasks: Sequence[str]) -> str:
        """Describe in words how the number is made from these tasks."""
        if self.kind == "weighted":
            return "The weighted mean " + " + ".join(
                f"{weight:g} x {task}" for task, weight in self.weights.items()
            )
        if self.kind == "tree":
            return f"A tree of means over {len(tasks)} tasks: {', '.join(tasks)}"
        return f"The mean over {len(tasks)} tasks: {', '.join(tasks)}"


@dataclass(frozen=True, eq=False)
class TaskUnits:
    """The units of one task, as a combiner takes them.

    Parameters
    ----------
    units, clusters : sequence of str
        One label per unit.
    columns : mapping of str to ndarray, (units,)
        What the combiner sums, without ``count``.
    combiner : str
    """

    units: Sequence[str]
    clusters: Sequence[str]
    columns: Mapping[str, np.ndarray]
    combiner: str


def join_units(
    tasks: Mapping[str, TaskUnits],
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, np.ndarray]]:
    """Put the units of several tasks into one table, so that a unit is drawn for all its tasks at once.

    Returns
    -------
    units, clusters : tuple of str
        Every unit of any task, in ascending order, and its cluster.
    columns : dict of str to ndarray, (units,)
        ``task/column``; zero where the unit is not in the task.

    Raises
    ------
    InputError
        When a unit lies in different clusters.
    """
    cluster_of: dict[str, str] = {}
    for own in tasks.values():
        for unit, cluster in zip(own.units, own.clusters, strict=True):
            if cluster_of.setdefault(unit, cluster) != cluster:
                raise InputError(f'The unit "{unit}" lies in different clusters on different tasks.')
    units = tuple(sorted(cluster_of))
    place = {unit: at for at, unit in enumerate(units)}
    columns: dict[str, np.ndarray] = {}
    for task, own in tasks.items():
        at = [place[unit] for unit in own.units]
        for name, values in {**own.columns, "count": np.ones(len(at))}.items():
            column = np.zeros(len(units))
            column[at] = values
            columns[f"{task}/{name}"] = column
    return units, tuple(cluster_of[unit] for unit in units), columns


def task_combiner(task: str, combiner: str) -> Callable[[Sums], np.ndarray]:
    """Return the function that computes the score of one task from the sums of joined columns."""
    names, function = COMBINERS.get(combiner).columns, COMBINERS.get(combiner).function

    def combined(sums: Sums) -> np.ndarray:
        return np.asarray(function({name: sums[f"{task}/{name}"] for name in names}))

    return combined


def overall_combiner(overall: Overall, combiners: Mapping[str, str]) -> Callable[[Sums], np.ndarray]:
    """Return the function that computes an overall from the sums of joined columns.

    Parameters
    ----------
    overall : Overall
    combiners : mapping of str to str
        Task -> name of its combiner.

    Returns
    -------
    callable
        ``{"task/column": sums} -> overall``, element by element over arrays of any shape; a bootstrap takes it.
    """
    tasks = {task: task_combiner(task, name) for task, name in combiners.items()}

    def combined(sums: Sums) -> np.ndarray:
        return np.asarray(overall.combine({task: function(sums) for task, function in tasks.items()}))

    return combined


def _are_weights(values: Iterable[float]) -> bool:
    listed = list(values)
    return all(math.isfinite(value) and value > 0 for value in listed) and abs(sum(listed) - 1) < 1e-9


def _root(parents: Mapping[str, str]) -> str:
    return next(parent for parent in parents.values() if parent not in parents)


def _check_tree(parents: Mapping[str, str]) -> None:
    roots = {parent for parent in parents.values() if parent not in parents}
    if len(roots) != 1:
        raise ValueError(f'"parents" must lead to one root, got {", ".join(sorted(roots)) or "a circle"}')
    for name in parents:
        seen = {name}
        while name in parents:
            name = parents[name]
            if name in seen:
                raise ValueError(f'"parents" goes round in a circle at "{name}"')
            seen.add(name)
