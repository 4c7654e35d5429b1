"""Benchmark names: ``family[@definition]/task``; a bare family is its suite."""

from __future__ import annotations

import re
from dataclasses import dataclass

from neuroarena.benchmarks.benchmark import Family
from neuroarena.benchmarks.standalone import family_of_file, family_of_object, is_file_name
from neuroarena.errors import InputError
from neuroarena.registry import Registry, unknown_name

FAMILIES: Registry[Family] = Registry("family", "neuroarena.families", plural="benchmarks")

_NAME = re.compile(r"(?P<family>[^@/\s]+)(@(?P<definition>[^@/\s]+))?(/(?P<task>[^@\s]+))?")


@dataclass(frozen=True)
class BenchmarkName:
    """A parsed name; what it leaves open is None.

    Examples
    --------
    >>> BenchmarkName.parse("neuroprobe@2025.09/onset")
    BenchmarkName(family='neuroprobe', definition='2025.09', task='onset')
    """

    family: str
    definition: str | None = None
    task: str | None = None

    @classmethod
    def parse(cls, text: str) -> BenchmarkName:
        """Split a name into its parts, or refuse it with the expected form."""
        match = _NAME.fullmatch(text)
        if match is None:
            raise InputError(
                f'"{text}" is not a benchmark name. Expected family[@definition]/task. See: neuroarena list benchmarks'
            )
        return cls(match["family"], match["definition"], match["task"])


def judges_models(family: Family) -> bool:
    """Return whether a family judges models that are shown stimuli, rather than decoders of recordings."""
    return getattr(family, "judges", "decoders") == "models"


def list_benchmarks(every_definition: bool = False, judges: str | None = None) -> list[str]:
    """List the names of all tasks.

    Parameters
    ----------
    every_definition : bool
        Those of older definitions too, each with its definition.
    judges : {"decoders", "models"}, optional
        Only the benchmarks of decoders of recordings, or of models that are shown stimuli.
    """
    names = []
    for family_name in FAMILIES.names():
        family = FAMILIES.get(family_name)
        if judges not in (None, getattr(family, "judges", "decoders")):
            continue
        for definition in family.definitions if every_definition else family.definitions[:1]:
            at = f"@{definition}" if every_definition else ""
            names += [f"{family_name}{at}/{task}" for task in family.tasks(definition)]
    return names


def canonical_order() -> list[str]:
    """List the names of tasks and splits of all families, in the order in which families list them."""
    families = [FAMILIES.get(name) for name in FAMILIES.names()]
    tasks = [
        task for family in families for definition in family.definitions for task in family.tasks(definition)
    ]
    splits = [
        split
        for family in families
        for definition in family.definitions
        for task in family.tasks(definition)
        for split in family.splits(task, definition)
    ]
    return list(dict.fromkeys([*tasks, *splits]))


def resolve(name: str) -> tuple[Family, str, tuple[str, ...]]:
    """Find the family, the definition and the tasks that a name stands for.

    The name of a file that ends in ``.toml``, and the address (``module:attribute``) of a benchmark, are benchmarks
    too: each is a family of its own.

    Raises
    ------
    UnknownName
        With the closest names.
    """
    if is_file_name(name):
        own = family_of_file(name)
        return own, own.definitions[0], own.tasks(own.definitions[0])
    parsed = BenchmarkName.parse(name)
    # module:attribute is the address of a family that nobody registered.
    if ":" not in parsed.family and parsed.family not in FAMILIES.names():
        owners = [
            each
            for each in FAMILIES.names()
            if name in FAMILIES.get(each).tasks(FAMILIES.get(each).definitions[0])
        ]
        if len(owners) == 1:
            # A task's own name is enough where only one family has it.
            return resolve(f"{owners[0]}/{name}")
        raise unknown_name("benchmark", name, [*FAMILIES.names(), *list_benchmarks()], "benchmarks")
    family = FAMILIES.get(parsed.family)
    if ":" in parsed.family:
        family = family_of_object(parsed.family, family)
    definition = parsed.definition or family.definitions[0]
    if definition not in family.definitions:
        known = [f"{parsed.family}@{each}" for each in family.definitions]
        raise unknown_name("definition", f"{parsed.family}@{definition}", known, "benchmarks --definitions")
    tasks = family.tasks(definition)
    if parsed.task is not None and parsed.task not in tasks and hasattr(family, "find_task"):
        return family, definition, (family.find_task(parsed.task),)
    if not tasks:
        form = getattr(family, "task_form", None)
        words = "has no tasks of its own; choose a benchmark" if form is None else f"needs a task: {form}"
        raise InputError(f'The family "{family.name}" {words}. See: neuroarena list benchmarks')
    if parsed.task is None:
        return family, definition, tasks
    if parsed.task not in tasks:
        at = f"@{parsed.definition}" if parsed.definition else ""
        raise unknown_name("benchmark", name, [f"{parsed.family}{at}/{task}" for task in tasks], "benchmarks")
    return family, definition, (parsed.task,)
