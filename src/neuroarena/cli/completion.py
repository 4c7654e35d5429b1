"""Completion for shells: names that a command takes, found only while a shell asks for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, redirect_stderr
from io import StringIO
from typing import Any

import typer


def complete_families(incomplete: str) -> list[str]:
    """Complete names of benchmark families."""
    from neuroarena.benchmarks import FAMILIES

    return _matching(FAMILIES.names(), incomplete)


def complete_benchmarks(incomplete: str) -> list[str]:
    """Complete names of benchmarks: families first, then tasks; with ``@``, every definition."""
    from neuroarena.benchmarks import FAMILIES, list_benchmarks

    with _quietly():
        tasks = list_benchmarks(every_definition="@" in incomplete)
    return _matching([*FAMILIES.names(), *tasks], incomplete)


def complete_decoders(context: typer.Context, incomplete: str) -> list[str]:
    """Complete names of decoders, or of models where the benchmark that was named judges models."""
    from neuroarena.benchmarks.faces import find_face
    from neuroarena.decoders import DECODERS

    family = _family_of(context)
    models = None if family is None else find_face(family, "models")
    return _matching(DECODERS.names() if models is None else sorted(models), incomplete)


def complete_splits(context: typer.Context, incomplete: str) -> list[str]:
    """Complete splits of the benchmark that was named; those of all where none was."""
    from neuroarena.benchmarks import FAMILIES, resolve
    from neuroarena.errors import InputError

    named = _benchmark_of(context)
    with _quietly():
        try:
            chosen = [resolve(named)] if named else []
        except InputError:
            return []
        if not named:
            families = [FAMILIES.get(name) for name in FAMILIES.names()]
            chosen = [(each, each.definitions[0], each.tasks(each.definitions[0])) for each in families]
        splits = [
            split for family, at, tasks in chosen for task in tasks for split in family.splits(task, at)
        ]
    return _matching(dict.fromkeys(splits), incomplete)


def complete_options(context: typer.Context, incomplete: str) -> list[str]:
    """Complete ``name=value`` options of the family of the benchmark that was named."""
    from neuroarena.benchmarks.faces import find_face
    from neuroarena.benchmarks.options import list_options

    family = _family_of(context)
    if family is None:
        return []
    offered = list_options(find_face(family, "options"))
    texts = [f"{option.name}={choice}" for option in offered for choice in option.choices or ("",)]
    return _matching(texts, incomplete)


def complete_importer_options(context: typer.Context, incomplete: str) -> list[str]:
    """Complete ``name=`` options of the importer that ``--from`` names."""
    from neuroarena.board.importing import find_importer
    from neuroarena.errors import InputError

    try:
        offered = find_importer(context.params.get("source") or "").options
    except InputError:
        return []
    return _matching([f"{name}=" for name in offered], incomplete)


def complete_standings(incomplete: str) -> list[str]:
    """Complete names of boards over several tracks."""
    from neuroarena.benchmarks.faces import named_faces

    return _matching(sorted(named_faces("standings")), incomplete)


def complete_datasets(incomplete: str) -> list[str]:
    """Complete names of datasets."""
    from neuroarena.datasets import DATASETS

    return _matching(DATASETS.names(), incomplete)


def complete_importers(incomplete: str) -> list[str]:
    """Complete names of importers."""
    from neuroarena.benchmarks.faces import named_faces

    return _matching(sorted(named_faces("importers")), incomplete)


def _matching(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _benchmark_of(context: typer.Context) -> str | None:
    """Return the benchmark on an unfinished command line.

    An option that still lacks its value, which is the one being completed, keeps the parser from reading arguments:
    they are then the words that are left.
    """
    given: Any = context.params.get("benchmark") or next(
        (word for word in context.args if not word.startswith("-")), None
    )
    return given if isinstance(given, str) else None


def _family_of(context: typer.Context) -> Any:
    """Return the family of the benchmark on the command line; None when there is none, or it is unknown."""
    from neuroarena.benchmarks import resolve
    from neuroarena.errors import InputError

    named = _benchmark_of(context)
    with _quietly():
        try:
            return None if named is None else resolve(named)[0]
        except InputError:
            return None


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep warnings of third-party packages out of a command line that is being typed."""
    with redirect_stderr(StringIO()):
        yield
