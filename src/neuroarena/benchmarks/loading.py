"""Load benchmarks by name, after checking the options of their families."""

from __future__ import annotations

from typing import Any

from neuroarena.benchmarks.benchmark import Benchmark, Family, Suite
from neuroarena.benchmarks.faces import find_face
from neuroarena.benchmarks.names import FAMILIES, BenchmarkName, resolve
from neuroarena.benchmarks.options import check_names, read_options
from neuroarena.benchmarks.standalone import is_file_name
from neuroarena.errors import InputError


def load_benchmarks(name: str, data: str | None = None, **options: Any) -> tuple[Benchmark, ...]:
    """Load every task that a name stands for, one or a whole suite.

    Raises
    ------
    InputError
        For an option that the family or one of these tasks does not have, or a value that it cannot have.
    """
    family, definition, tasks = resolve(name)
    model = find_face(family, "options")
    if model is None:
        for task in tasks:
            check_names(None, options, family.name, task)
        return tuple(_load(family, task, definition, data, len(tasks)) for task in tasks)
    checked = [read_options(model, options, family.name, task) for task in tasks]
    return tuple(
        _load(family, task, definition, data, len(tasks), chosen)
        for task, chosen in zip(tasks, checked, strict=True)
    )


def _load(
    family: Family, task: str, definition: str, data: str | None, n_tasks: int, *chosen: Any
) -> Benchmark:
    """Load one task; among several, a refusal names the one that cannot be loaded."""
    try:
        return family.load(task, definition, data, *chosen)
    except InputError as error:
        if n_tasks == 1:
            raise
        raise InputError(f"{family.name}/{task}, one of the {n_tasks} tasks asked for: {error}") from error


def load_benchmark(name: str, data: str | None = None, **options: Any) -> Benchmark | Suite:
    """Load a benchmark by its name, or a suite by the name of its family.

    Parameters
    ----------
    name : str
        ``family[@definition]/task``, or ``family[@definition]`` for the suite. A task's own name is enough
        where only one family has it. A file of one's own, ``my.toml``, and ``module:attribute`` are benchmarks too.
    data : str, optional
        Folder of the dataset; without it, where the dataset's environment variables point.
    **options
        Options of the family, as shown by ``neuroarena list options FAMILY``.

    Raises
    ------
    UnknownName
        With the closest names, when there is no such benchmark or option.
    """
    _, _, tasks = resolve(name)
    loaded = load_benchmarks(name, data, **options)
    if is_file_name(name):
        return loaded[0]
    if BenchmarkName.parse(name).task is None and (len(tasks) > 1 or name in FAMILIES.names()):
        return Suite(name, loaded)
    return loaded[0]
